"""The bound of Burgers term by term: what each one must be, alone, and what the gaps around ŝ(T) are."""

import numpy as np
import pytest

import physrank as pr
from physrank.certificates import BurgersEnergy
from physrank.certificates.paths.burgers import Measures
from physrank.certificates.paths.burgers_backward import Functionals

POINTS = 16
X = np.arange(POINTS) * 2 * np.pi / POINTS
STILL = pr.equations.Burgers(np.zeros(POINTS), 0.1, np.linspace(0, 0.1, 3), points=POINTS)  # whose solution is zero
LAST = np.array([0.0, 0.0, 1.0])[:, None]


def measures(**terms):
    """Two rows of two substeps; what is not given is zero."""
    rows = {name: np.zeros((2, 2)) for name in ("residual", "truncation", "growth")}
    ends = {"jumps": np.zeros(2), "initial": np.zeros(()), "terminal": np.zeros(())}
    return Measures(**rows | ends | {name: np.asarray(value, float) for name, value in terms.items()})


GROWTH = np.array([[0.1, 0.2], [0.3, 0.4]])


@pytest.mark.parametrize(
    "terms, expected",
    [
        ({"initial": 3.0}, 3 * np.exp(1.0)),
        ({"residual": [[0, 2.0], [0, 0]]}, 2 * np.exp(0.9)),
        ({"truncation": [[0, 4.0], [0, 0]]}, 2 * np.exp(0.9)),  # a square: its root grows as the others do
        ({"jumps": [5.0, 0.0]}, 5 * np.exp(0.7)),  # where the second row begins
        ({"jumps": [0.0, 5.0]}, 5.0),
        ({"initial": 1.0, "truncation": [[0, 0], [0, 9.0]]}, np.exp(1.0) + 3 * np.exp(0.4)),
    ],
)
def test_every_contribution_grows_from_where_it_enters(terms, expected):
    found = measures(growth=GROWTH, **terms).radius()
    assert expected * (1 - 1e-13) <= found <= expected * (1 + 1e-9)


def test_an_error_of_the_force_enters_at_the_start():
    assert measures(growth=GROWTH).radius(0.5) == pytest.approx(0.5 * np.exp(1.0), rel=1e-9)


@pytest.mark.parametrize(
    "terms, expected",
    [
        ({"slopes": 3.0}, 4 * 3 * 0.5**2 / 2),  # ½ ∫ ‖e‖² max |z_x| dt
        ({"residuals": 3.0}, 4 * 3 * 0.5),  # ∫ ‖e‖ ‖ρ‖ dt
        ({"sizes": 3.0}, 0.25 * 3),  # the force's error times max ‖z‖
        ({"beyond": 3.0}, 0.7 * 3),  # ‖e(T)‖ times what z does not see
        ({"unsure": 3.0}, 3.0),
    ],
)
def test_every_term_of_the_backward_bound_counts_as_stated(terms, expected):
    shapes = {name: (2, 2, 1) for name in ("slopes", "residuals")}
    given = {
        name: np.full(shapes.get(name, (1,)), terms.get(name, 0.0))
        for name in ("known", "slopes", "residuals", "sizes", "beyond", "unsure")
    }
    found = Functionals(**given).unknown(np.full((2, 2), 0.5), 0.7, 0.25)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def enclosed(state, candidates):
    """The gap of the first two, for a trajectory as it is."""
    ranking = pr.rank(STILL, candidates, anchor=state, corrections=pr.Correction(step=0.0))
    gaps = BurgersEnergy()(STILL, ranking).gaps
    return gaps.low[0, 1], gaps.high[0, 1]


def test_the_mean_counts_once():
    """∫ c² = 2π c², and ∫ (a sin x)² = π a²."""
    low, high = enclosed(0 * LAST * X, {"shifted": 0.3 * LAST + 0 * X, "wave": 0.4 * LAST * np.sin(X)})
    true = np.pi * 0.4**2 - 2 * np.pi * 0.3**2
    assert low <= true <= high < low + 1e-6


def test_modes_that_the_path_drops_are_no_part_of_the_centre():
    """A last row of mode 7, which the flow on 16 points does not carry: the solution is zero, and zero is the centre."""
    low, high = enclosed(0.2 * LAST * np.cos(7 * X), {"same": 0.5 * LAST * np.cos(7 * X), "zero": 0 * LAST * X})
    true = -np.pi * 0.5**2
    assert low <= true <= high < low + 1e-6
