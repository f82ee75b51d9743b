"""A rung's doubt: along a pair, and of what follows the next correction in any direction."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank.rungs.rung import SAFETY

NUMBER, PAIRS = 5, np.triu_indices(5, 1)


def exponential(u, d):
    return d["matrix"] @ u + d["strength"] * jnp.exp(u) - d["load"]


def quadratic(u, d):
    return d["matrix"] @ u + d["strength"] * (d["mixed"] @ u) * u - d["load"]


def torn(residual, seed):
    """A strongly nonlinear problem, its solution, and candidates on opposite sides of it, nearly equally far."""
    random = np.random.default_rng(seed)
    data = {
        "matrix": random.uniform(0.5, 2) * np.eye(6) + 0.3 * random.standard_normal((6, 6)),
        "mixed": 0.5 * random.standard_normal((6, 6)),
        "strength": np.asarray(10 ** random.uniform(-1.5, 1.0)),
        "load": np.zeros(6),
    }
    truth = random.standard_normal(6) * 10 ** random.uniform(-0.5, 0.5)
    data["load"] = np.asarray(residual(jnp.asarray(truth), data))
    error = np.linalg.norm(truth) / 3 * 10 ** random.uniform(-1.0, 0.3) * random.standard_normal(6)
    library = [truth + share * error for share in (1, -1.02, 0.5, -0.49, 2)]
    return pr.Stationary(residual, data), truth, library


def wrong(ranking, rung, truth):
    """How many pairs a rung would settle, and how many of them wrongly."""
    losses = np.mean((ranking.outputs - truth) ** 2, axis=1)
    settled = ranking.asked.pairs(rung)[PAIRS]
    return settled.sum(), (settled & (np.sign(rung.gaps) != np.sign(pr.geometry.gap_matrix(losses)))[PAIRS]).sum()


@pytest.mark.parametrize("residual, seeds", [(exponential, range(125, 140)), (quadratic, range(12))])
def test_a_correction_that_happens_not_to_move_a_pair_does_not_settle_it(residual, seeds):
    """The next correction is known up to the one after it, which is as much smaller and points anywhere."""
    found = np.zeros((2, 2), int)
    for seed in seeds:
        problem, truth, library = torn(residual, seed)
        ranking = pr.rank(problem, np.stack(library), effort="response", allow_unresolved=True)
        if ranking.unresolved:
            continue
        along = replace(ranking.rung, seen=replace(ranking.rung.seen, loose=0.0))
        found += [wrong(ranking, rung, truth) for rung in (ranking.rung, along)]
    assert found[0, 1] == 0, found
    assert found[1, 1] > 0, found  # what the next correction does along the pair is not enough
    assert found[0, 0] > 0.8 * found[1, 0], found  # and little else is left open


def test_what_follows_is_as_much_smaller_again_also_where_the_task_hardly_sees_the_next():
    problem, _, library = torn(quadratic, 1)
    ranking = pr.rank(problem, np.stack(library), effort="response")
    rung, (movement,) = ranking.rung, ranking.rung.evidence.movements.values()
    smaller = np.linalg.norm(movement) / np.linalg.norm(ranking.response.correction)
    assert 1e-3 < smaller < 1
    assert rung.after_next == pytest.approx(smaller * rung.size(rung.seen.changes["linearisation"]))
    hidden = replace(rung, seen=replace(rung.seen, changes={"linearisation": np.zeros(6)}))
    last = rung.size(ranking.response.correction)
    assert hidden.after_next == pytest.approx(smaller**2 * last)
    np.testing.assert_allclose(
        hidden.parts["linearisation"], 2 * SAFETY * smaller**2 * last * rung.question.distances, rtol=1e-9
    )
    assert hidden.reach >= SAFETY * hidden.after_next


def test_nothing_follows_a_march_that_has_been_solved():
    problem = pr.Marching(lambda u: u - 0.1 * u**3, np.linspace(0.5, 1.5, 4))
    ranking = pr.rank(problem, {"a": np.ones((5, 4)), "b": np.full((5, 4), 1.2)}, effort="response")
    assert ranking.rung.parts["linearisation"].max() > 0
    assert ranking.rung.after_next == 0
