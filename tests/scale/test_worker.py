"""What workers make of tasks: like the client in versions and precision, and what they cannot take is told."""

from functools import partial

import jax
import jax.numpy as jnp
import pytest

import physrank as pr
from crowds import HOW, Homebound, candidates, cubic, panel, same
from physrank.scale import worker


def test_what_no_worker_can_unpickle_fails_alone(client):
    stated = [Homebound(k, poisoned=(5,)) for k in range(8)]
    far = list(pr.rank_panel(stated, map(candidates, range(8)), client=client, **HOW))
    assert far[5] == pr.Failed(5, "a worker could not unpickle it: LookupError: input 5 stays at home")
    same(panel([k for k in range(8) if k != 5]), [one for k, one in enumerate(far) if k != 5])


class TwoWords(Exception):
    """Cannot be unpickled: its arguments are not what it is made of."""

    def __init__(self, one, other):
        super().__init__(f"{one} {other}")


def _complaining(_):
    raise TwoWords("no", "record") from TwoWords("for", "a reason")


def test_exceptions_that_cannot_be_unpickled_arrive_in_words(client):
    with pytest.raises(RuntimeError, match=r"^TwoWords: no record$"):
        list(panel(range(8), client=client).records(_complaining))


def test_other_versions_are_refused_in_a_sentence(client, monkeypatch):
    here = tuple((name, "0.1" if name == "jax" else version) for name, version in worker.versions())
    monkeypatch.setattr(worker, "versions", lambda: here)
    with pytest.raises(
        RuntimeError, match=r"A worker has jax .*, the client 0\.1: its results would not .* the same versions"
    ):
        list(panel(range(4), client=client))


def _stated_in_jax(k):
    return pr.Stationary(cubic, data=jnp.linspace(0.1, 1 / 3, 5) * (1 + k))


@pytest.mark.parametrize("x64", [True, False])
def test_workers_compute_in_the_precision_of_the_client(client, x64):
    """Functions of a user's run as he has set JAX up, not as a worker was started."""
    with jax.enable_x64(x64):
        problems = [partial(_stated_in_jax, k) for k in range(4)]
        assert (float(problems[0]().data[0]) == 0.1) == x64
        far = list(pr.rank_panel(problems, map(candidates, range(4)), client=client, **HOW))
        here = list(pr.rank_panel(problems, map(candidates, range(4)), **HOW))
    same(here, far)
