"""What several test files need."""

from dataclasses import replace

import equinox as eqx


def with_state(ranking, state):
    """The ranking as if its response had ended at another state."""
    return with_response(ranking, eqx.tree_at(lambda r: r.state, ranking.response, state))


def with_response(ranking, response):
    return replace(ranking, rung=replace(ranking.rung, state=response.state, base=response.base, response=response))


def with_outputs(ranking, outputs):
    """The ranking as if its candidates had given other outputs."""
    question = replace(ranking.rung.question, outputs=outputs)
    return replace(ranking, rung=replace(ranking.rung, question=question))
