"""Energy certificates of Sine–Gordon: how far the corrected state is from the Verlet solution, or from the exact one.

The proofs are in docs/certificates/sine_gordon.md.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from physrank.certificates._terminal import channel_weights, enclose, from_initial, ready, unknown
from physrank.certificates.certificate import Assumption, Enclosure, all_hold
from physrank.certificates.enclosures.fourier import transform_error
from physrank.certificates.enclosures.rounding import UNIT
from physrank.certificates.paths.sine_gordon import multiplicity, reconstruct, verlet_stages, wavenumbers
from physrank.certificates.paths.trigonometric import scaled_nyquist
from physrank.certificates.ranked import Ranked
from physrank.equations import SineGordon
from physrank.geometry.space import Array

UP = 1 + 2.0**-46  # covers the few roundings of a factor or a sum in the recursions
SMALL = 2.0**-500  # above what underflow can take from a norm
MASSES = 2.0 ** (-np.arange(9) / 4)  # κ of the energies ‖v‖² + c²‖u_x‖² + κ²‖u‖²

TARGETS = {
    "grid": "the exact solution of the velocity-Verlet map on the same grid, from the same initial fields",
    "continuum": (
        "the exact solution of the Sine–Gordon equation in continuous space and time, whose initial fields and force are "
        "the trigonometric interpolants of the stored ones, the force linear in time within a substep"
    ),
}
NORMS = {
    "grid": "the periodic L² norm of terminal displacement and velocity on the grid",
    "continuum": "the L² norm of terminal displacement and velocity as functions",
}


@dataclass(frozen=True, eq=False)
class Energies:
    """Norms ‖v‖² + ‖ω u‖², ω acting on Fourier modes: one row of `frequencies` per κ.

    The frequencies are computed: the true ones are within a factor 1 ± `slack` of them.
    """

    frequencies: Array  # (energies, modes)
    slack: float
    reach: Array  # |u(x)| ≤ reach · norm, for every x
    length: float
    points: int

    @classmethod
    def verlet(cls, problem: SineGordon, step: float) -> "Energies":
        """ω² = Ω² (1 − (τΩ/2)²), Ω² = c²k² + κ²: the linear Verlet substep preserves this norm exactly.

        1 − (τΩ/2)² is off by 32u at most, 1/(1 − (τΩ/2)²) times that relative to itself.
        """
        full = (float(problem.speed) * wavenumbers(problem)) ** 2 + MASSES[:, None] ** 2
        left = 1 - step**2 * full / 4
        slack = 64 * UNIT * (1 + 1 / float(left.min()))
        frequencies = np.sqrt(full * left)  # NaN beyond the stable substep
        reach = np.sqrt(np.sum(multiplicity(problem.points) / frequencies**2, axis=1) / problem.length)
        slack = slack if 0 < slack < 0.01 else np.nan
        return cls(frequencies, slack, reach * (1 + 2 * slack) * UP, problem.length, problem.points)

    @classmethod
    def continuous(cls, problem: SineGordon) -> "Energies":
        """ω² = c²k² + κ² for all modes: Σ_k 1/(L ω²) = coth(κL/2c)/(2cκ)."""
        c = float(problem.speed)
        frequencies = np.hypot(c * wavenumbers(problem), MASSES[:, None])
        reach = np.sqrt(1 / np.tanh(MASSES * problem.length / (2 * c)) / (2 * c * MASSES))
        return cls(frequencies, 64 * UNIT, reach * UP, problem.length, problem.points)

    @property
    def floor(self) -> Array:
        """min ω: ‖u‖ ≤ norm / floor."""
        return self.frequencies.min(axis=1) * (1 - self.slack) / UP

    @property
    def ceiling(self) -> Array:
        """max ω."""
        return self.frequencies.max(axis=1) * (1 + self.slack) * UP

    def norms(self, rows: Array) -> Array:
        """Of rows `(n, 2, points)`: `(n, energies)`; a transform errs by φ ‖·‖, which ω multiplies by its largest value."""
        power = self.length * multiplicity(self.points) * np.abs(np.fft.rfft(rows, norm="forward")) ** 2
        size = np.sqrt(power[:, 0] @ self.frequencies.T**2 + power[:, 1].sum(axis=1)[:, None])
        u, v = np.sqrt(power.sum(axis=2)).T
        lost = (
            2 * transform_error(self.points) * (self.ceiling * u[:, None] + v[:, None]) + np.sqrt(self.points) * SMALL
        )
        return UP * (size * (1 + self.slack) + lost)

    def apart(self, displaced: Array, pushed: Array) -> Array:
        """The norm of anything whose displacement and velocity are so large in L²: `(…, energies)`."""
        return UP * (self.ceiling * np.asarray(displaced)[..., None] + np.asarray(pushed)[..., None])

    def improved(self, bounds: Array, to: "Energies | None" = None) -> Array:
        """The best bound of one vector in every norm of `to`, from its bounds in all of these."""
        other = to or self
        ratios = np.max(other.frequencies[None] / self.frequencies[:, None], axis=2)
        grown = UP * ratios * (1 + 2 * (self.slack + other.slack))
        if other is self:
            np.fill_diagonal(grown, 1.0)
        return np.min(bounds[:, None] * np.maximum(grown, 1.0), axis=0)

    def in_metric(self, bounds: Array, displacement: float, velocity: float) -> float:
        """√(displacement ‖u‖² + velocity ‖v‖²) from the bounds of (u, v)."""
        return UP * float(np.min(bounds * np.sqrt(np.maximum(displacement / self.floor**2, velocity))))


@dataclass(frozen=True)
class SineGordonEnergy:
    """‖s_N − u_N‖ in displacement and velocity from the defects of s, without a smallness condition.

    The error obeys e_tt = c² e_xx − σ e + defects with secant slopes |σ| ≤ 1 of the sine, so that the energies
    ‖e_t‖² + c²‖e_x‖² + κ²‖e‖² grow at the rate max|κ² − σ| / 2κ at most; near s, σ is near cos s. `target`: "grid" for
    the solution of the Verlet map, "continuum" for the solution of the equation itself, time step and grid included.
    """

    target: Literal["grid", "continuum"] = "grid"

    def __post_init__(self) -> None:
        if self.target not in TARGETS:
            raise ValueError(f'target must be "grid" or "continuum"; got {self.target!r}.')

    def __call__(self, problem: Any, ranking: Ranked) -> Enclosure:
        target, norm = TARGETS[self.target], NORMS[self.target]
        assumptions = ready(problem, ranking, SineGordon)
        if not all_hold(assumptions):
            return unknown(ranking, target, norm, assumptions)
        smooth = Assumption(
            "errors of transforms are bounded: the number of points has no large prime factor",
            bool(np.isfinite(transform_error(problem.points))),
            str(problem.points),
        )
        assumptions += (_stable(problem) if self.target == "grid" else _uniform(ranking), smooth)
        with np.errstate(all="ignore"):
            fields = None if self.target == "grid" else (_as_functions(ranking.outputs), _as_functions(ranking.proxy))
            energies, bounds = self.bounds(problem, ranking.state)
            weights, unit = channel_weights(ranking)
            radius, state_bound = (energies.in_metric(bounds, *pair) for pair in (weights, (1.0, 1.0)))
            radius *= UP * unit * float(np.sqrt(problem.points / problem.length))
        found = enclose(ranking, radius, state_bound, target=target, norm=norm, assumptions=assumptions, fields=fields)
        return replace(found, as_functions=self.target == "continuum")

    def bounds(self, problem: SineGordon, state: Array) -> tuple[Energies, Array]:
        """Bounds of s_N − u_N in every energy, for any trajectory s; its first row is taken from the problem."""
        state = from_initial(problem, state)
        return grid_bounds(problem, state) if self.target == "grid" else continuum_bounds(problem, state)


def grid_bounds(problem: SineGordon, state: Array) -> tuple[Energies, Array]:
    """The recursion over rows for the Verlet map.

    A substep is kick ∘ linear Verlet ∘ kick, and a kick v += ½τ(κ² − σ)u stretches by at most e^{asinh β/2} with
    β = ½τ max|κ² − σ| / min ω. What round-off adds in a substep enters where it arises, and grows from there.
    """
    steps = np.diff(np.asarray(problem.times)) / problem.substeps
    path = verlet_stages(problem, state)
    touched = path.displaced * np.sqrt(problem.points / problem.length) * UP  # at every point
    energies, bounds = Energies.verlet(problem, steps[0]), np.zeros(len(MASSES))  # e_0 = 0
    for n, step in enumerate(steps):
        ahead = Energies.verlet(problem, step)
        bounds, energies = energies.improved(bounds, to=ahead), ahead
        local = energies.apart(path.displaced[n], path.pushed[n])
        for j in range(problem.substeps):
            for stage, moved in ((j, 0.0), (j + 1, touched[n, j])):
                near = np.min(energies.reach * bounds) + moved
                mismatch = secant_mismatch(path.least[n, stage], path.largest[n, stage], near)
                bounds = UP * bounds * np.exp(np.arcsinh(step * mismatch / (4 * energies.floor)))
            bounds = bounds + local[j]
        jump = energies.norms(path.jumps[n : n + 1])[0] + energies.apart(*(part[n] for part in path.unsure))
        bounds = UP * (energies.improved(bounds) + jump)
    return energies, bounds


def continuum_bounds(problem: SineGordon, state: Array) -> tuple[Energies, Array]:
    """The recursion over rows for the equation itself: residuals and jumps are added, rates multiply."""
    steps = np.diff(np.asarray(problem.times)) / problem.substeps
    found, energies = reconstruct(problem, state), Energies.continuous(problem)
    jumps = energies.norms(found.jumps) + energies.apart(*found.unsure)
    local, bounds = energies.apart(found.displaced, found.pushed), np.zeros(len(MASSES))
    worst = slope_mismatch(-1.0, 1.0) / (2 * MASSES)
    for n, step in enumerate(steps):
        for j in range(problem.substeps):
            bounds = bounds + found.residuals[n, j] + local[n, j]
            near = np.min(energies.reach * np.exp(worst * step) * bounds) * UP  # during the whole substep
            mismatch = secant_mismatch(found.least[n, j], found.largest[n, j], near)
            bounds = UP * bounds * np.exp(step * mismatch / (2 * MASSES))
        bounds = UP * (energies.improved(bounds) + jumps[n])
    return energies, bounds


def secant_mismatch(least: float, largest: float, near: float) -> Array:
    """max |κ² − σ| over secant slopes σ = ∫ cos(s − θd) dθ with |d| ≤ near: |σ − cos s| ≤ ∫ θ|d| dθ = near/2."""
    return slope_mismatch(least - near / 2, largest + near / 2)


def slope_mismatch(least: float, largest: float) -> Array:
    """max |κ² − σ| over slopes σ in [least, largest] ∩ [−1, 1], for every κ."""
    return np.maximum(MASSES**2 - max(least, -1.0), min(largest, 1.0) - MASSES**2)


def _stable(problem: SineGordon) -> Assumption:
    step = float(np.diff(np.asarray(problem.times)).max()) / problem.substeps
    number = step * float(np.hypot(float(problem.speed) * wavenumbers(problem)[-1], MASSES.max()))
    return Assumption("every substep is stable: τ √(c²k² + 1) < 2 for all modes", number < 2, number)


def _uniform(ranking: Ranked) -> Assumption:
    weights = ranking.space.weights.reshape(2, -1)
    spread = float(np.max(np.ptp(weights, axis=1) / weights.max(axis=1)))
    return Assumption("the metric weighs all points of a field alike", spread == 0, spread)


def _as_functions(values: Array) -> Array:
    """Values whose grid products are the L² products of the interpolants: cos at the Nyquist mode has half the square."""
    return scaled_nyquist(values, np.sqrt(0.5))
