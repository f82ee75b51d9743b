"""Made candidates have the errors they state; a way that leaves something open is never the cheapest."""

import numpy as np
import pytest

from physrank.lab.equations import EQUATIONS
from physrank.lab.studies import phase


@pytest.mark.parametrize(("equation", "shape"), [("burgers", (48, 32)), ("reaction_diffusion", (34, 34))])
def test_errors_are_of_the_stated_size_and_roughness(equation, shape):
    truth = 3.0 * np.ones(shape)
    errors = phase._errors(EQUATIONS[equation], truth, 3, np.random.default_rng(0))
    assert errors.shape == (phase.CANDIDATES, *shape)
    np.testing.assert_allclose(np.sqrt(np.mean(errors**2, axis=(1, 2))), 3.0)
    if equation == "burgers":
        assert np.abs(errors[:, 0]).max() == 0  # the initial row is exact
        assert np.abs(np.fft.rfft(errors)[..., 4:]).max() < 1e-9
    else:
        assert max(np.abs(errors[:, edge]).max() for edge in (0, -1)) < 1e-12


def test_only_ways_that_settle_everything_count():
    seconds = np.array([[[[1.0, 2.0, 3.0, 9.0], [1.0, 2.0, 3.0, 9.0]]]])
    settled = np.ones(seconds.shape, bool)
    found = {"seconds": seconds, "settled": settled, "wrong": np.zeros(seconds.shape, int)}
    assert phase._table(found)["cheapest"] == [[0]]
    settled[0, 0, 1, 0] = False
    row = phase._table(found)
    assert row["cheapest"] == [[1]] and row["seconds"] == [[[None, 2.0, 3.0, 9.0]]] and row["settled"] == [1, 2, 2, 2]
    seconds[..., 3] = 0.5  # the ladder is none of the ways that it chooses from
    assert phase._table(found)["cheapest"] == [[1]]
    settled[...] = False
    assert phase._table(found)["cheapest"] == [[-1]]
    result = {"table": {"burgers": {"96": row}}}
    assert phase._beside_the_cheapest(result) == [4.5]
