"""Energy certificate for periodic viscous Burgers, against the solution of the differential equation itself.

A function ŝ(t, x) is built from the corrected rows (`paths/burgers.py`). With r = ŝ_t − ν ŝ_xx + ŝ ŝ_x − f and e = u − ŝ,

    ½ d/dt ‖e‖² + ν ‖e_x‖² = −½ ∫ ŝ_x e² dx − ⟨r, e⟩

bounds ‖e(T)‖ without any smallness condition, and the backward equation (`paths/burgers_backward.py`) bounds the direction of
each pair to second order. The proofs are in docs/certificates/burgers.md.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from physrank import tasks
from physrank.certificates._terminal import ROUND_OFF, ordinary, together
from physrank.certificates.certificate import Assumption, Enclosure, all_hold, arithmetic, open_gaps
from physrank.certificates.enclosures.rounding import UNIT
from physrank.certificates.paths.burgers import Measures, Path, measure, reconstruct
from physrank.certificates.paths.burgers_backward import functionals
from physrank.certificates.paths.burgers_growth import growth_with_half_viscosity
from physrank.certificates.paths.trigonometric import SMALL, UP, coefficient_error, coefficients
from physrank.certificates.ranked import Ranked
from physrank.equations import Burgers
from physrank.geometry import GapIntervals, TaskSpace, gaps_of, margin_radius
from physrank.geometry.space import Array

TARGET = (
    "the solution of u_t − ν u_xx + u u_x = f itself, with trigonometric interpolants of the initial state and of the "
    "force, and the force interpolated in time from its samples"
)
STEEP = 2.0  # growth factors above it are worth an eigenfunction of every row


@dataclass(frozen=True)
class BurgersEnergy:
    """The certificate for the terminal state of `equations.Burgers` in L².

    - `forcing_error`: your bound of ∫ ‖f_true − f‖_{L²} dt, where f is the interpolant of the stored samples of the
      force. Zero means that the interpolant is the force.
    - `pairs`: bound pairs that the radius leaves open by the backward equation as well.
    """

    forcing_error: float = 0.0
    pairs: bool = True

    def __post_init__(self) -> None:
        if not (self.forcing_error >= 0 and np.isfinite(self.forcing_error)):
            raise ValueError(f"forcing_error must be a finite number ≥ 0; got {self.forcing_error}.")

    def __call__(self, problem: Burgers, ranking: Ranked) -> Enclosure:
        basis = before(problem, ranking)
        if all_hold(basis):
            basis += (_transforms(problem),)
        if not all_hold(basis):
            return _enclosure(open_gaps(len(ranking.names)), np.inf, basis)
        path = reconstruct(problem, ranking.state)
        found = measure(path)
        if STEEP < found.growth_factor < np.inf:
            found = replace(found, viscous=growth_with_half_viscosity(path))
        radius = found.radius(self.forcing_error)
        basis += (*_measured(found, radius), stated_force(self.forcing_error))
        if not all_hold(basis):
            return _enclosure(open_gaps(len(ranking.names)), np.inf, basis)
        centre = _Centre.of(problem, ranking, path)
        with np.errstate(over="ignore", invalid="ignore"):
            gaps = GapIntervals.around(centre.gaps, centre.reach(radius))
        valid = ranking.candidates.valid
        if self.pairs and np.any(gaps.signs[np.ix_(valid, valid)] + np.eye(valid.sum()) == 0):
            gaps, apart = together(gaps, self._by_pairs(ranking, path, found, centre))
            basis += (
                Assumption("radius and backward equation do not contradict each other", apart <= ROUND_OFF, apart),
            )
        return _enclosure(gaps, UP * (radius + float(found.terminal)), basis)

    def _by_pairs(self, ranking: Ranked, path: Path, found: Measures, centre: "_Centre") -> GapIntervals:
        """G_ij(ŝ) + 2 ⟨e(T), y_i − y_j⟩ by the backward equation."""
        gaps, valid = centre.gaps, np.flatnonzero(ranking.candidates.valid)
        result, error = functionals(path, coefficients(ranking.outputs[valid])), self.forcing_error
        unknown = result.unknown(found.radii(error), found.radius(error), error)
        i, j = (valid[k] for k in np.triu_indices(len(valid), 1))
        known, radius = np.full((2, *gaps.shape), np.nan)
        known[i, j], known[j, i] = result.known, -result.known
        radius[i, j] = radius[j, i] = unknown
        with np.errstate(over="ignore", invalid="ignore"):
            lost = centre.lost + 4 * UNIT * (np.abs(gaps) + 2 * np.abs(known))
            return GapIntervals.around(gaps + 2 * known, UP * (2 * radius + lost))


def _enclosure(gaps: GapIntervals, radius: float, basis: tuple[Assumption, ...]) -> Enclosure:
    return Enclosure("theorem", TARGET, gaps, radius, "L²", basis, as_functions=True)


def stated_force(error: float) -> Assumption:
    statement = "the force is the interpolant of its samples in time, up to ∫ ‖difference‖ dt ≤ forcing_error"
    return Assumption(statement, error >= 0, float(error))


def _transforms(problem: Burgers) -> Assumption:
    statement = "errors of transforms are bounded: the number of points has no large prime factor"
    return Assumption(statement, bool(np.isfinite(coefficient_error(problem.points))), str(problem.points))


def before(problem: Any, ranking: Ranked) -> tuple[Assumption, ...]:
    """What must hold before anything can be computed."""
    name = type(problem).__name__
    equation = Assumption("the equation is periodic viscous Burgers", type(problem) is Burgers, name)
    if not equation.holds:
        return (equation,)
    state, task = np.asarray(ranking.state), ranking.task
    fits = state.shape == problem.state_shape and bool(np.isfinite(state).all())
    size = float(np.abs(state).max()) if fits else f"shape {state.shape}, {(~np.isfinite(state)).sum()} not finite"
    viscosity, shortest = float(problem.viscosity), float(np.diff(np.asarray(problem.times)).min())
    return (
        equation,
        arithmetic(),
        ordinary(problem.length),
        Assumption("the viscosity is positive", viscosity > 0, viscosity),
        Assumption("time increases from row to row", shortest > 0, shortest),
        Assumption(
            "the task is the terminal state in the periodic L² norm of the equation",
            task == tasks.terminal(problem.metric()),
            f"{task.name}, {task.metric.name}",
        ),
        Assumption("the response converged", ranking.unresolved is None, ranking.unresolved or "it did"),
        Assumption("the corrected state is finite, on the grid of the problem", fits, size),
    )


def _measured(found: Measures, radius: float) -> tuple[Assumption, ...]:
    """These fail only when a number overflows: all that is measured here is part of the bound."""
    values = {
        "the growth factor exp ∫ ½ max (−ŝ_x)₊ dt is finite": found.growth_factor,
        "the residual ∫ ‖P_K r‖ dt of the reconstruction is finite": np.sum(found.residual),
        "its truncated part (∫ ‖|∂_x|⁻¹ (1 − P_K) r‖² dt / 2ν)^½ is finite": np.sqrt(np.sum(found.truncation)),
        "the mismatch Σ ‖s_{n+1} − Φ(s_n)‖ of the rows is finite": np.sum(found.jumps),
        "the initial mismatch ‖u₀ − P_K s(0)‖ is finite": found.initial,
        "the terminal modes above the band limit, ‖s(T) − P_K s(T)‖, are finite": found.terminal,
        "together they bound ‖u(T) − P_K s(T)‖": radius,
    }
    return tuple(Assumption(what, bool(np.isfinite(value)), float(value)) for what, value in values.items())


@dataclass(frozen=True)
class _Centre:
    """Gaps around ŝ(T) in the L² norm of trigonometric interpolants: a sum over an even grid counts its last mode twice."""

    space: TaskSpace
    outputs: Array
    gaps: Array
    lost: Array  # what they may be off by: coefficients of y_i are computed
    blur: Array  # and the distances of y_i and y_j

    @classmethod
    def of(cls, problem: Burgers, ranking: Ranked, path: Path) -> "_Centre":
        weights = np.full((2, problem.points // 2 + 1), 2 * problem.length)
        weights[:, 0] = problem.length
        space, end = TaskSpace(weights), np.array(path.end, np.complex128)
        end[path.line.degree + 1 :] = 0
        outputs, proxy = (np.stack([np.real(c), np.imag(c)], axis=-2) for c in (coefficients(ranking.outputs), end))
        with np.errstate(over="ignore", invalid="ignore"):
            sizes, far = space.norm(outputs) + SMALL, space.norm(outputs - proxy) + SMALL
            blur = (coefficient_error(problem.points) + 2.0**-44) * (sizes[:, None] + sizes + 2 * space.norm(proxy))
            return cls(space, outputs, gaps_of(space, outputs, proxy), 2 * blur * (far[:, None] + far), blur)

    def reach(self, radius: float) -> Array:
        """How far the gaps can be from those of any function within this radius."""
        return UP * (margin_radius(self.space, self.outputs, radius) + 2 * radius * self.blur + self.lost)
