"""The validated certificate of cubic reaction–diffusion: the strongly monotone bound with every number enclosed.

A theorem about the discrete problem that the stored floating-point numbers state (a, f, λ, γ, the length, the corrected
state, the candidates' outputs and the task weights), whatever rounding happened on the way to it. Inverse actions are
only approximate, and may be: for any ẑ with ρ = b − M ẑ,

    ‖b‖²_{M⁻¹} = b·ẑ + ρ·ẑ + ‖ρ‖²_{M⁻¹} ≤ b·ẑ + ρ·ẑ + ‖ρ‖²/μ.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from physrank import _optional
from physrank.certificates.actions import (
    InverseActions,
    common_assumptions,
    compares_states,
    in_all_places,
    inverse_actions,
    proxy_of,
)
from physrank.certificates.certificate import Assumption, Enclosure, all_hold, open_gaps
from physrank.certificates.enclosures.double_double import DoubleDouble
from physrank.certificates.enclosures.rounding import SMALLEST, Interval, above, below, gamma, product_bounds
from physrank.certificates.monotone import TARGET, StronglyMonotone
from physrank.certificates.ranked import Ranked
from physrank.certificates.reaction_diffusion_data import UncertainData, faces, sides
from physrank.equations import ReactionDiffusion
from physrank.geometry import GapIntervals
from physrank.geometry.space import Array
from physrank.physics import Problem

OPERATIONS = 16  # more than the roundings on the way of any term through a stencil, in up to three dimensions


@dataclass(frozen=True)
class ValidatedReactionDiffusion:
    """The certificate of a reaction–diffusion ranking that compares whole fields; other linear tasks get the theorem."""

    def __call__(self, problem: Problem, ranking: Ranked) -> Enclosure:
        if type(problem) is not ReactionDiffusion:  # a derived class may have another defect
            raise ValueError(f"This certificate is for equations.ReactionDiffusion; got {type(problem).__name__}.")
        if np.shape(ranking.state) != problem.state_shape:
            return StronglyMonotone()(problem, ranking)
        state, widths = np.asarray(ranking.state, np.float64), ranking.data_half_widths
        data = UncertainData.of(problem, widths, state) if widths else UncertainData(problem, None, 0.0)
        if not (compares_states(ranking) and _has_faces(data.smallest)):
            found = StronglyMonotone()(problem, ranking, data.reach, data.flux, data.smallest)
            return replace(found, covers_data=bool(widths))
        operator, stated = EnclosedOperator(data.smallest, state), residual(problem, state)
        actions = inverse_actions(data.smallest, ranking, StronglyMonotone(), data.reach, stated.middle)
        assumptions = (
            *common_assumptions(ranking, actions),
            Assumption("the metric is coercive: μ > 0, enclosed", operator.coercivity > 0, operator.coercivity),
        )
        gaps, state_bound = open_gaps(len(ranking.names)), np.inf
        if all_hold(assumptions):
            gaps, state_bound = _enclose(operator, stated, ranking, actions, data)
        return Enclosure(
            kind="validated",
            target=TARGET,
            gaps=gaps,
            state_bound=state_bound,
            norm="the energy norm of M",
            assumptions=assumptions,
            solves=actions.solves,
            covers_data=bool(widths),
        )


def _has_faces(problem: ReactionDiffusion) -> bool:
    """Whether every harmonic mean is a number: not so between two neighbours that are zero."""
    a = np.asarray(problem.diffusion)
    return all(
        np.all(np.minimum(*(np.abs(s) for s in (low, high))) + np.maximum(np.abs(low), np.abs(high)) > 0)
        and np.all(low + high != 0)
        for low, high in (sides(a, axis) for axis in range(a.ndim))
    )


def _enclose(
    operator: "EnclosedOperator", stated: Interval, ranking: Ranked, actions: InverseActions, data: UncertainData
) -> tuple[GapIntervals, float]:
    rhs, values, pairs = actions.rhs, actions.values, actions.directions
    valid = ranking.candidates.valid
    outputs, weights, mu = ranking.outputs[valid], ranking.space.weights, operator.coercivity
    inside = (slice(None), *[slice(1, -1)] * weights.ndim)
    # What the stored right-hand sides stand for: the residual, W (y_k − y_1), what the residual may be off by; all inside.
    differences = (Interval.of(weights) * (Interval.of(outputs[1:]) - outputs[0]))[inside]
    reach = [] if data.reach is None else [Interval.of(data.reach[None][inside])]
    exact = _stacked(stated[None], differences, *reach)
    missing = (exact - rhs.reshape(exact.shape)).magnitude
    shaped = values.reshape(exact.shape)
    defects = rhs.reshape(exact.shape) - operator.metric(shaped)
    dims = weights.ndim
    lost = _norms(defects, dims)  # ‖ρ‖
    unstated = _norms(Interval.of(missing), dims)
    mixed = _gram(rhs, defects, values)  # b_i·ẑ_j + ρ_i·ẑ_j
    state_bound = Interval.of(data.flux)
    for row in (0, -1) if actions.reaches else (0,):
        norm_squared = Interval.of(mixed.high[row, row]) + _over(Interval.of(lost[row]).squared(), mu)
        state_bound = state_bound + norm_squared.root() + _over(Interval.of(unstated[row]), np.sqrt(mu), root=True)
    squared = _pairwise(mixed[pairs, pairs]) + _over((_sums(lost[pairs])).squared(), mu)
    distances = Interval(np.zeros(squared.shape), np.maximum(squared.high, 0.0)).root()
    distances = distances + _over(_sums(unstated[pairs]), np.sqrt(mu), root=True)
    bounds = (2.0 * state_bound * distances).high
    losses = (Interval.of(weights) * (Interval.of(outputs) - proxy_of(ranking)).squared()).total(dims)
    gaps = losses[None, :] - losses[:, None]
    low, high = below(gaps.low - bounds), above(gaps.high + bounds)
    return GapIntervals(in_all_places(low, ranking), in_all_places(high, ranking)), float(state_bound.high)


class EnclosedOperator:
    """M_s and μ of a reaction–diffusion problem, enclosed, on interior nodes."""

    def __init__(self, problem: ReactionDiffusion, state: Array):
        a = np.asarray(problem.diffusion)
        linear, cubic = float(problem.linear), float(problem.cubic)
        self.dims, inside = a.ndim, (slice(1, -1),) * a.ndim
        scale = Interval.of(float(a.shape[0] - 1)).squared() / Interval.of(problem.length).squared()  # 1/h²
        along = [faces(a, axis) for axis in range(self.dims)]
        self.neighbours = [(axis, *_both(face * scale, axis)) for axis, face in enumerate(along)]
        diagonal = Interval.of(np.zeros(a[inside].shape))
        for _, lower, upper in self.neighbours:
            diagonal = diagonal + lower + upper
        square = Interval.of(state[inside]).squared()
        self.diagonal = diagonal + linear + Interval.of(cubic) * 0.75 * square
        smallest_face = min(float(face.low.min()) for face in along)
        laplacian = Interval.of(0.0)
        for n in a.shape:
            laplacian = laplacian + 4.0 * scale * _sine_squared(n - 1)
        smallest = Interval.of(max(smallest_face, 0.0)) * laplacian + linear
        smallest = smallest + Interval.of(cubic) * 0.75 * Interval.of(max(float(square.low.min()), 0.0))
        self.coercivity = float(smallest.low)

    def metric(self, values: Array) -> Interval:
        """M_s z for rows of interior values: a sum of 1 + 2d products, so that |fl(M̃ z) − M z| ≤ (γ |M̃| + |M − M̃|) |z|."""
        coefficients = [self.diagonal, *(c for _, lower, upper in self.neighbours for c in (-lower, -upper))]
        middles = [c.middle for c in coefficients]
        doubts = [
            above(above(gamma(OPERATIONS) * c.magnitude) + np.maximum(above(c.high - m), above(m - c.low)))
            for c, m in zip(coefficients, middles, strict=True)
        ]
        with np.errstate(all="ignore"):
            value, reach = self._stencil(middles, values), self._stencil(doubts, np.abs(values))
            reach = above(reach / below(np.asarray(1 - gamma(OPERATIONS)))) + OPERATIONS * SMALLEST
            return Interval.around(value, reach)

    def _stencil(self, coefficients: list[Array], values: Array) -> Array:
        """Σ c_k z_k over a node and its neighbours, in plain arithmetic."""
        lead = values.ndim - self.dims
        padded = np.pad(values, [(0, 0)] * lead + [(1, 1)] * self.dims)
        places = [(axis, by) for axis, _, _ in self.neighbours for by in (-1, 1)]
        result = coefficients[0] * values
        for c, (axis, by) in zip(coefficients[1:], places, strict=True):
            result += c * _shifted(padded, lead, axis, by)
        return result


def residual(problem: ReactionDiffusion, state: Array) -> Interval:
    """A(s) on interior nodes, where terms cancel: with twice the precision, or rounded outwards where that overflows."""
    found = _residual(problem, state, DoubleDouble.of).interval()
    if np.all(np.isfinite(found.low) & np.isfinite(found.high)):
        return found
    return _residual(problem, state, Interval.of)


def _residual(problem: ReactionDiffusion, state: Array, number: Callable[[Any], Any]) -> Any:
    """Fluxes a_F (s⁺ − s⁻)/h² across faces, what leaves a node less what enters it, and the reaction."""
    a, f, dims = np.asarray(problem.diffusion), np.asarray(problem.forcing), problem.diffusion.ndim
    inside = (slice(1, -1),) * dims
    u, padded, length = number(state[inside]), np.pad(state[inside], 1), number(problem.length)
    scale, diffused = number(2 * float(a.shape[0] - 1) ** 2) / (length * length), number(0.0)  # the 2 of harmonic means
    for axis in range(dims):
        (low, high), (before, after) = (map(number, sides(field, axis)) for field in (a, padded))
        entering, leaving = _both((after - before) * (low * high / (low + high)), axis)
        diffused = diffused + (entering - leaving)
    reaction = number(float(problem.linear)) * u + number(float(problem.cubic)) * (u * u * u)
    return diffused * scale + (reaction - f[inside])


def _both(face: Any, axis: int) -> tuple[Any, Any]:
    """The faces below and above each interior node."""
    cut = [(slice(None),) * axis + (s,) for s in (slice(-1), slice(1, None))]
    return face[cut[0]], face[cut[1]]


def _shifted(nodes: Array, lead: int, axis: int, by: int) -> Array:
    dims = nodes.ndim - lead
    inner = [slice(1 + by, nodes.shape[lead + d] - 1 + by) if d == axis else slice(1, -1) for d in range(dims)]
    return nodes[(slice(None),) * lead + tuple(inner)]


def _sine_squared(intervals: int) -> Interval:
    """sin²(π / 2n), enclosed."""
    iv = _optional.load("mpmath").iv
    value: Any = iv.sin(iv.pi / (2 * intervals))
    ends = [np.asarray(float(end)) for end in (value.a, value.b)]
    return Interval(below(ends[0]), above(ends[1])).squared()


def _stacked(*rows: Interval) -> Interval:
    return Interval(np.concatenate([r.low for r in rows]), np.concatenate([r.high for r in rows]))


def _norms(rows: Interval, dims: int) -> Array:
    """Upper bounds of the Euclidean norm of each row."""
    return rows.squared().total(dims).root().high


def _gram(rhs: Array, defects: Interval, values: Array) -> Interval:
    """(b_i + ρ_i)·ẑ_j for all pairs, where ρ is only known to lie in an interval."""
    flat = defects.reshape(len(rhs), -1)
    middle = flat.middle
    radius = np.maximum(above(flat.high - middle), above(middle - flat.low))
    reach = product_bounds(radius, np.abs(values)).high
    return product_bounds(rhs, values) + product_bounds(middle, values) + Interval(-reach, reach)


def _pairwise(gram: Interval) -> Interval:
    """g_ii + g_jj − g_ij − g_ji, with a zero row and column for the first candidate."""
    padded = Interval(*(np.pad(end, ((1, 0), (1, 0))) for end in (gram.low, gram.high)))
    sizes = Interval(np.diag(padded.low), np.diag(padded.high))
    return sizes[:, None] + sizes[None, :] - padded - Interval(padded.low.T, padded.high.T)


def _sums(norms: Array) -> Interval:
    """‖·‖_i + ‖·‖_j for pairs of candidates, the first of which has none."""
    padded = Interval.of(np.concatenate([[0.0], norms]))
    total = padded[:, None] + padded[None, :]
    return Interval(np.maximum(total.low, 0.0), total.high)


def _over(value: Interval, divisor: float, *, root: bool = False) -> Interval:
    """value / divisor, where a divisor that is itself a rounded root is first moved down."""
    return value / Interval.of(float(below(np.asarray(divisor))) if root else divisor)
