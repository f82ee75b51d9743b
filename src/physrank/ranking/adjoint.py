"""The pairwise adjoint view: one primal response equals every pair's own adjoint estimate."""

import jax.numpy as jnp
import numpy as np

from physrank import compute
from physrank.physics import Problem
from physrank.physics.problem import pullback
from physrank.ranking.ranking import Ranking
from physrank.ranking.scores import UnresolvedError


def adjoint_gap(ranking: Ranking, first: str, second: str) -> float:
    """G_ij estimated by the pair's own adjoint: J_ij(w) − ⟨z, A(w)⟩ + ⟨z, ℓ⟩ with Lᵀ z = 2 Qᵀ M (y_i − y_j).

    For a linear task and one full correction it equals `ranking.gaps[i, j]` to round-off; it costs one adjoint solve
    per pair where the shared response costs one solve for all.

    ```python
    print(pr.adjoint_gap(ranking, "fno", "cno"), ranking.gaps)
    ```
    """
    for name in (first, second):
        if name not in ranking.names or not ranking.scoring.valid[ranking.names.index(name)]:
            raise ValueError(f"{name!r} is not among the valid candidates of this ranking: {', '.join(ranking.names)}.")
    i, j = (ranking.names.index(name) for name in (first, second))
    if not ranking.task.linear or float(ranking.response.multiplier) != 1.0 or ranking.response.variant.midpoint:
        raise ValueError("The adjoint identity needs a linear task and a full correction (step 1, no midpoint).")
    base = np.asarray(ranking.response.base)
    y = ranking.outputs
    at_base = ranking.task.outputs(base[None])[0]
    contrast = ranking.space.norm_squared(at_base - y[j]) - ranking.space.norm_squared(at_base - y[i])
    direction = 2 * ranking.space.dual(y[i] - y[j])
    defect = ranking.response.algebraic_defect
    change, remaining = compute.run(_correction, ranking.problem, ranking.task.map, base, direction, defect)
    if not float(remaining) <= 1e-6:
        raise UnresolvedError(f"The adjoint solve did not converge: relative defect {float(remaining):.2g}.")
    return float(contrast + change)


def _correction(problem: Problem, task, base, direction, algebraic):
    residual, tangent = problem.linearise(base)
    (rhs,) = pullback(task, base)(direction)
    solve = tangent.solve_adjoint(rhs)
    remaining = jnp.linalg.norm(solve.defect.ravel()) / jnp.maximum(
        jnp.linalg.norm(rhs.ravel()), jnp.finfo(rhs.dtype).tiny
    )
    return jnp.real(jnp.vdot(solve.value, algebraic - residual)), remaining
