"""Reaction–diffusion with data that are known only up to stated half-widths: what that adds to the state bound.

Let a, f, λ, γ be off by at most h_a, h_f, h_λ, h_γ, entry by entry, and let M⁻ be the metric with the smallest coefficients
that this admits. For every admissible problem A′ with solution u′, as quadratic forms M′ ≥ M⁻, so that

    ‖s − u′‖_{M⁻} ≤ ‖A′(s)‖_{M⁻⁻¹} ≤ ‖A(s)‖_{M⁻⁻¹} + ‖R‖_{M⁻⁻¹} + (Σ_faces (Δa_F δ_F s / h)² / a⁻_F)^½,

    R = h_λ |s| + h_γ |s|³ + h_f,    δ_F s the difference across a face, Δa_F what its coefficient may be off by.

All numbers here are rounded outwards.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import numpy as np

from physrank import compute
from physrank._arrays import as_double
from physrank.certificates.enclosures.rounding import Interval, above, below
from physrank.equations import ReactionDiffusion
from physrank.geometry.space import Array


@dataclass(frozen=True, eq=False)
class UncertainData:
    """What half-widths of the data mean for a certificate at one state."""

    smallest: (
        ReactionDiffusion  # the least coefficients; its forcing is such that its defect at s is the stated problem's
    )
    reach: Array | None  # R on all nodes: how far the defect may be off, entry by entry, without diffusion
    flux: float  # how far it may be off in the dual norm because of the diffusion

    @classmethod
    def of(cls, problem: ReactionDiffusion, widths: Mapping[str, Any], state: Array) -> "UncertainData":
        half = {
            name: np.asarray(widths.get(name, 0.0), np.float64) for name in ("diffusion", "forcing", "linear", "cubic")
        }
        size = Interval.of(np.abs(state))
        reach = size * half["linear"] + size.squared() * size * half["cubic"] + half["forcing"]
        smallest = {name: lowered(getattr(problem, name), half[name]) for name in ("diffusion", "linear", "cubic")}
        changed = eqx.tree_at(
            lambda p: [getattr(p, n) for n in smallest], problem, [as_double(v) for v in smallest.values()]
        )
        shift = compute.run(_defect, changed, state) - compute.run(_defect, problem, state)
        with compute.double():
            changed = eqx.tree_at(lambda p: p.forcing, changed, problem.forcing + shift)
        return cls(changed, reach.high, _flux(problem, half["diffusion"], smallest["diffusion"], state))


def lowered(values: Any, half: Array) -> Array:
    """values − half, not above it: exactly the values where nothing is uncertain."""
    values = np.asarray(values, np.float64)
    return np.where(half > 0, below(values - half), values)


def _flux(problem: ReactionDiffusion, half: Array, smallest: Array, state: Array) -> float:
    """‖ΔK s‖_{M⁻⁻¹}: since M⁻ ≥ K⁻, at most the norm of the changed fluxes, each divided by the root of its a⁻_F."""
    if not np.any(half):
        return 0.0
    if not np.all(smallest > 0):
        return np.inf
    a = np.asarray(problem.diffusion, np.float64)
    scale = Interval.of(float(a.shape[0] - 1)) / Interval.of(problem.length)  # 1/h
    total = Interval.of(0.0)
    for axis in range(a.ndim):
        least, stated, most = (faces(field, axis) for field in (smallest, a, above(a + half)))
        off = Interval.of(np.maximum(above(most.high - stated.low), above(stated.high - least.low)))
        low, high = sides(state, axis)
        steps = (Interval.of(high) - low) * scale
        total = total + ((off * steps).squared() / Interval(least.low, least.low)).total(a.ndim)
    return float(total.root().high)


def faces(a: Array, axis: int) -> Interval:
    """Harmonic means 2 a⁻ a⁺ / (a⁻ + a⁺) along an axis, at interior positions of the others: growing in both."""
    low, high = (Interval.of(side) for side in sides(a, axis))
    return 2.0 * low * high / (low + high)


def sides(nodes: Array, axis: int) -> tuple[Array, Array]:
    """The nodes below and above each face of an axis."""
    inner = [slice(None) if d == axis else slice(1, -1) for d in range(nodes.ndim)]
    found = nodes[tuple(inner)]
    cut = [tuple(s if d == axis else slice(None) for d in range(nodes.ndim)) for s in (slice(-1), slice(1, None))]
    return found[cut[0]], found[cut[1]]


def _defect(problem: ReactionDiffusion, state: Any) -> Any:
    return problem.defect(state)
