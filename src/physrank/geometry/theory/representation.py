"""What a response misses, exactly: δ − e = L⁻¹[ℓ + R_A(e)], and what of it reaches a task, linear or not.

Here w is the anchor, e = u − w its error, L δ = −A(w) + ℓ the response with its algebraic defect, and R_F(h) the part of a
function F beyond its tangent at w. `tangent(h)` is DF(w) h.
"""

from collections.abc import Callable

from physrank.geometry.space import Array

Map = Callable[[Array], Array]


def remainder(function: Map, tangent: Map, anchor: Array, step: Array) -> Array:
    """R_F(h) = F(w + h) − F(w) − DF(w) h."""
    return function(anchor + step) - function(anchor) - tangent(step)


def state_error(solve: Map, algebraic_defect: Array, beyond: Array) -> Array:
    """δ − e = L⁻¹[ℓ + R_A(e)]."""
    return solve(algebraic_defect + beyond)


def proxies(task: Map, tangent: Map, anchor: Array, correction: Array) -> tuple[Array, Array]:
    """(q_lin, q_eval) = (Q(w) + DQ(w) δ, Q(w + δ)); the two are one for a linear task."""
    return task(anchor) + tangent(correction), task(anchor + correction)


def proxy_errors(
    task: Map, tangent: Map, anchor: Array, error: Array, correction: Array, of_state: Array
) -> tuple[Array, Array]:
    """(q_lin − t, q_eval − t) = (DQ(w)(δ − e) − R_Q(e), DQ(w)(δ − e) + R_Q(δ) − R_Q(e)), from δ − e as `state_error` has it.

    Projected on the comparison subspace they are all that a decision sees.
    """
    pushed, of_truth = tangent(of_state), remainder(task, tangent, anchor, error)
    return pushed - of_truth, pushed + remainder(task, tangent, anchor, correction) - of_truth
