"""How far the problem's own grid may be off, as coarser grids see it: for responses and solves, whatever the task."""

import numpy as np
import pytest

import physrank as pr
from helpers import solve as solved


@pytest.mark.parametrize(
    "make, most", [(lambda n: field_on(n), 4), (lambda n: wave_on(n), 100)], ids=["field", "march"]
)
def test_a_response_knows_how_far_its_grid_is_off(make, most):
    """What a coarser grid makes of its state is, order by order, what a much finer one finds; spectra promise no order."""
    problem, truth = make(32), solved(make(128))
    target = truth[::4, ::4] if truth.shape[0] == truth.shape[1] else truth[-1, ::4]
    own = solved(problem)
    library = {f"c{k}": own + 0.1 * (k + 1) * np.sin(np.arange(own.shape[-1]) + k) for k in range(3)}
    ranking = pr.rank(problem, library, effort="response")
    seen, size = ranking.rung.seen, ranking.space.norm
    left, off = 2 * size(seen.changes["discretisation"]), size(seen.further - target)
    assert off <= left <= most * off
    assert ranking.effort[-1].rung.startswith("a look at the grid of")
    several, part = np.triu_indices(3, 1), ranking.rung.parts["discretisation"]
    assert np.all(ranking.uncertainty[several] > part[several])
    assert ranking.corrected().rung.parts["discretisation"][several] == pytest.approx(part[several], rel=0.05)
    assert "discretisation" in ranking.rescore(pr.tasks.field()).rung.parts
    assert "discretisation" not in pr.rank(problem, library, effort=pr.Effort(levels=0)).rung.parts


def field_on(points):
    return pr.equations.ReactionDiffusion(
        lambda x, y: 1 + 0.5 * np.cos(np.pi * x) * y,
        lambda x, y: 20 * np.sin(2 * np.pi * x),
        1.0,
        0.5,
        points=points - 1,
    )


def wave_on(points):
    return pr.equations.Burgers(lambda x: np.sin(x), 0.05, np.linspace(0, 1.2, 13), points=points, substeps=points // 8)


def test_corrections_end_where_it_is_the_grid_that_leaves_pairs_open():
    problem = wave_on(32)
    truth = solved(problem)
    step = np.linspace(0, 1, len(truth))[:, None] * np.cos(np.arange(32))
    library = {"a": truth + 1e-4 * step, "b": truth - 1.01e-4 * step}
    ranking = pr.rank(problem, library, until="settled", max_corrections=4)
    assert not ranking.settled
    assert ranking.corrections < 4
    assert any("grid" in doubt for doubt in ranking.doubts)
