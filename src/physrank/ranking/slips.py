"""What people mix up in a known solution, each slip undone once: axes, channels, end points, rows, signs, units."""

from collections.abc import Callable, Iterator

import numpy as np

from physrank._arrays import Array
from physrank.physics import Problem, capabilities, fits
from physrank.ranking.misstated import marches


def undone(problem: Problem, known: Array) -> Iterator[tuple[str, Array]]:
    """(slip, what the solution would be): where two slips come to the same, it has the first one's name."""
    seen: list[Array] = []
    for name, fixed in _every(problem, known):
        if not any(np.array_equal(fixed, other) for other in seen):
            seen.append(fixed)
            yield name, fixed


def _every(problem: Problem, known: Array) -> Iterator[tuple[str, Array]]:
    """What people mix up, each undone: where the result has the problem's shape, it is tried."""
    grid = capabilities.grid(problem)
    dims = len(grid.shape) if grid is not None else max(known.ndim - 1, 1)

    def lifted(field: Array) -> Array:
        return capabilities.lift(problem, field)

    if known.ndim >= 2:
        which = "its axes exchanged" if known.ndim == 2 else "its last two axes exchanged"
        yield which, lifted(np.swapaxes(known, -1, -2))
        yield "its first two axes exchanged", lifted(np.swapaxes(known, 0, 1))
    if known.ndim > dims:
        moved = np.moveaxis(known, -1, -dims - 1)
        yield "channels moved before space", lifted(moved)
        if dims > 1:
            yield "channels moved before space, and space transposed", lifted(np.swapaxes(moved, -1, -2))
    cut = (..., *[slice(None, -1)] * dims)
    if min(known.shape[known.ndim - dims :]) > 2:
        yield "the repeated end point dropped", lifted(known[cut])
    yield "the opposite sign", lifted(-known)
    if marches(problem) and len(known) > 2:
        later, earlier = (2 * known[[-1]] - known[[-2]]), (2 * known[[0]] - known[[1]])
        yield "its rows shifted by one (row 0 dropped)", lifted(np.concatenate([known[1:], later]))
        yield "its rows shifted by one (a row missing at the start)", lifted(np.concatenate([earlier, known[:-1]]))
        yield "its rows reversed in time", lifted(known[::-1].copy())
    convert: Callable[[Array], Array] | None = getattr(problem, "from_primitive", None)
    if convert is not None and fits(known.shape, problem.state_shape):
        yield "conservative variables made from primitive ones", convert(known)
    if fits(np.shape(state := lifted(known)), problem.state_shape) and marches(problem):
        initial = np.asarray(problem.initial)  # pyright: ignore[reportAttributeAccessIssue]
        if initial.shape == state[0].shape and float(np.std(state[0])) > 0 and float(np.std(initial)) > 0:
            scale = float(np.std(initial) / np.std(state[0]))
            units = scale * (state - state[0].mean()) + initial.mean()
            if abs(scale - 1) > 1e-3 or float(abs(initial.mean() - state[0].mean())) > 1e-3 * float(np.std(initial)):
                yield "units as of the initial state (it looks normalised)", units
