"""Whether what a model emits is a state of the problem, and which step of decoding is missing if it is not."""

from itertools import permutations

import numpy as np

from physrank._arrays import Array
from physrank.physics import Problem, capabilities, fits


def check_fit(state: Array, problem: Problem) -> None:
    """Raises where a state is none of this problem, also after lifting it to the problem's grid."""
    if not _fits(state, problem):
        expected = str(tuple("rows" if n is None else n for n in problem.state_shape or ())).replace("'rows'", "rows")
        hint = _hint(state, problem) or "Give decode=, a function from a batch of outputs to a batch of states."
        raise ValueError(
            f"yields states of shape {state.shape}; a state of this problem has shape {expected}, or another resolution "
            f"that its grid can lift. {hint}"
        )


def _fits(state: Array, problem: Problem) -> bool:
    return fits(capabilities.lift(problem, state).shape, problem.state_shape)


def _hint(state: Array, problem: Problem) -> str | None:
    for axis in (k for k in range(state.ndim) if state.shape[k] == 1):
        if _fits(np.squeeze(state, axis), problem):
            index = ", ".join([":"] * (axis + 1) + ["0"])
            return f"It has an axis of length one too many: decode=lambda y: y[{index}]."
    shape = problem.state_shape
    if shape is not None and state.ndim == len(shape) and shape[0] is not None and len(state) == shape[0] - 1:
        return (
            "The first row of a trajectory is the initial state: put it in front, "
            "decode=lambda y, inputs: torch.cat([inputs[:, None], y], 1) or the like."
        )
    if state.ndim <= 4:
        for order in permutations(range(state.ndim)):
            if order != tuple(range(state.ndim)) and _fits(np.transpose(state, order), problem):
                axes = (0, *(k + 1 for k in order))
                return f"Its axes are in another order: decode=lambda y: y.permute{axes} (NumPy: y.transpose{axes})."
    return None
