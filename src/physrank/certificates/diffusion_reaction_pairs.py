"""Diffusion–reaction, pair by pair: the error in the direction of a pair, from adjoint states marched backwards.

With e = s − u, J_n = F'(s_n) and q_n = F(s_n) − F(u_n) − J_n e_n, rows of the trapezoidal map satisfy

    (1 − ½τ_{n−1} J_n) e_n − ½τ_{n−1} q_n = (1 + ½τ_{n−1} J_{n−1}) e_{n−1} + ½τ_{n−1} q_{n−1} + r_n,    e_0 = q_0 = 0.

Multiplied by any z_n and added up, with ρ_n = [n = N] c + (1 + ½τ_n J_n)ᵀ z_{n+1} − (1 − ½τ_{n−1} J_n)ᵀ z_n and z_{N+1} = 0,

    ⟨c, e_N⟩ = Σ ⟨z_n, r_n⟩ + Σ ⟨ρ_n, e_n⟩ + Σ ⟨½τ_{n−1} z_n + ½τ_n z_{n+1}, q_n⟩,

of which the first sum is known, and the others are bounded by what is known of e_n: q_n = (3 s_n a² − a³, 0) where a is the
error of the activator. The proof is in docs/certificates/diffusion_reaction.md.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank.certificates.enclosures.rounding import UNIT, gamma
from physrank.certificates.ranked import Ranked
from physrank.equations import DiffusionReaction
from physrank.geometry.space import Array

UP = 1 + 2.0**-34
SMALL, ROOT_SMALL = 2.0**-1000, 2.0**-500  # above what underflow can take from a product, and from a norm


@dataclass(frozen=True, eq=False)
class Rows:
    """What is known of the errors of all rows but the first, in Euclidean norms over the cells."""

    state: Array  # (rows, 2, cells, cells), the first row included
    defect: Array  # r_n, of all rows but the first
    doubt: Array  # what it may be off by, entry by entry
    whole: Array  # ≥ ‖e_n‖
    activator: Array  # ≥ ‖a_n‖, and so ≥ |a_n| in every cell


def along(problem: DiffusionReaction, ranking: Ranked, rows: Rows) -> tuple[Array, Array]:
    """⟨W (y_i − y_j), e_N⟩ for all pairs i < j of valid candidates: a number, and how far it may be off."""
    outputs = ranking.outputs[ranking.candidates.valid]
    weights = ranking.space.weights
    last = np.zeros((len(outputs) - 1, *rows.state.shape))
    last[:, -1] = weights * (outputs[1:] - outputs[0])
    solved = compute.run(_adjoints, problem, rows.state, last)
    z = np.concatenate([np.zeros_like(last[:1]), np.where(np.isfinite(solved), solved, 0.0)])[:, 1:]
    with np.errstate(all="ignore"):
        found = [
            _one(problem, rows, z[i] - z[j], weights * (outputs[i] - outputs[j]))
            for i, j in zip(*np.triu_indices(len(outputs), 1), strict=True)
        ]
    known, off = np.reshape(found, (-1, 2)).T
    return known, np.where(np.isfinite(known + off), off, np.inf)


def _adjoints(problem: DiffusionReaction, state: JaxArray, directions: JaxArray) -> JaxArray:
    """z with A'(s)ᵀ z ≈ direction: what it misses is charged."""
    _, tangent = problem.linearise(state)
    return compute.each(tangent.solve_adjoint, directions, problem, batch=1).value


def _one(problem: DiffusionReaction, rows: Rows, z: Array, c: Array) -> tuple[float, float]:
    half = np.diff(np.asarray(problem.times))[:, None, None, None] / 2
    after = np.concatenate([z[1:], np.zeros_like(z[:1])])  # z_{n+1}
    following = np.concatenate([half[1:], np.zeros_like(half[:1])])  # ½τ_n
    grow = gamma(z.size + 16)
    known = float(np.sum(z * rows.defect))
    off = float(np.sum(np.abs(z) * (rows.doubt + grow * np.abs(rows.defect))))
    # ρ_n, and what its rounding may add: no term passes through more than 24 operations.
    left = _pulled(problem, rows.state[1:], z, after, half, following, -1.0)
    sizes = [np.abs(x) for x in (rows.state[1:], z, after)]
    lost = gamma(32) * _pulled(problem, sizes[0], sizes[1], sizes[2], half, following, 1.0)
    left[-1] += c
    lost[-1] += 8 * UNIT * np.abs(c)
    missing = np.sqrt(np.sum((np.abs(left) + lost) ** 2, axis=(1, 2, 3))) * (1 + grow) + ROOT_SMALL
    # |q_n| ≤ (3|s| + |a|) a² in every cell, of the activator alone.
    felt = np.abs(half * z + following * after)[:, 0] * (3 * np.abs(rows.state[1:, 0]) + rows.activator[:, None, None])
    bent = felt.max(axis=(1, 2)) * rows.activator**2
    total = off + float(np.sum(missing * rows.whole)) + float(np.sum(bent)) + z.size * SMALL
    return known, UP * (1 + grow) * total


def _pulled(
    problem: DiffusionReaction, s: Array, z: Array, after: Array, half: Array, following: Array, sign: float
) -> Array:
    """(1 + ½τ_n J_n)ᵀ z_{n+1} − (1 − ½τ_{n−1} J_n)ᵀ z_n for all rows; with sign 1, all its terms added up."""
    moved = half * z + following * after
    u, v = moved[:, 0], moved[:, 1]
    diffusion, area = np.asarray(problem.diffusion), problem.spacing**2
    turned = (
        diffusion[0] * laplacian(u, sign) / area + u + sign * 3 * s[:, 0] ** 2 * u + v,
        diffusion[1] * laplacian(v, sign) / area + sign * u + sign * v,
    )
    return after + sign * z + np.stack(turned, axis=1)


def laplacian(cells: Array, sign: float) -> Array:
    """Second differences without flux through walls; with sign 1, all their terms added up."""
    total = np.zeros_like(cells)
    for axis in (-2, -1):
        pad: Any = [(1, 1) if d == axis % cells.ndim else (0, 0) for d in range(cells.ndim)]
        low, high = (np.take(cells, range(s, cells.shape[axis] + s - 1), axis=axis) for s in (0, 1))
        faces = np.pad(high + sign * low, pad)
        after, before = (np.take(faces, range(s, cells.shape[axis] + s), axis=axis) for s in (1, 0))
        total = total + (after + sign * before)
    return total
