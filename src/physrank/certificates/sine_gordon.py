"""Energy certificates of Sine–Gordon: how far the corrected state is from the Verlet solution, or from the exact one.

The proofs are in docs/certificates/sine_gordon.md.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from physrank.certificates.paths.sine_gordon import multiplicity, reconstruct, verlet_slopes, wavenumbers
from physrank.certificates._terminal import channel_weights, defects, enclose, from_initial, ready, unknown
from physrank.certificates.certificate import Assumption, Enclosure, all_hold
from physrank.certificates.ranked import Ranked
from physrank.certificates.paths.trigonometric import scaled_nyquist
from physrank.equations import SineGordon
from physrank.geometry.space import Array

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
    """Norms ‖v‖² + ‖ω u‖², ω acting on Fourier modes: one row of `frequencies` per κ."""

    frequencies: Array  # (energies, modes)
    reach: Array  # |u(x)| ≤ reach · norm, for every x
    length: float
    points: int

    @classmethod
    def verlet(cls, problem: SineGordon, step: float) -> "Energies":
        """ω² = Ω² (1 − (τΩ/2)²), Ω² = c²k² + κ²: the linear Verlet substep preserves this norm exactly."""
        full = (float(problem.speed) * wavenumbers(problem)) ** 2 + MASSES[:, None] ** 2
        frequencies = np.sqrt(full * (1 - step**2 * full / 4))  # NaN beyond the stable substep
        reach = np.sqrt(np.sum(multiplicity(problem.points) / frequencies**2, axis=1) / problem.length)
        return cls(frequencies, reach, problem.length, problem.points)

    @classmethod
    def continuous(cls, problem: SineGordon) -> "Energies":
        """ω² = c²k² + κ² for all modes: Σ_k 1/(L ω²) = coth(κL/2c)/(2cκ)."""
        c = float(problem.speed)
        frequencies = np.hypot(c * wavenumbers(problem), MASSES[:, None])
        reach = np.sqrt(1 / np.tanh(MASSES * problem.length / (2 * c)) / (2 * c * MASSES))
        return cls(frequencies, reach, problem.length, problem.points)

    @property
    def floor(self) -> Array:
        """min ω: ‖u‖ ≤ norm / floor."""
        return self.frequencies.min(axis=1)

    def norms(self, rows: Array) -> Array:
        """Of rows `(n, 2, points)`: `(n, energies)`."""
        power = self.length * multiplicity(self.points) * np.abs(np.fft.rfft(rows, norm="forward")) ** 2
        return np.sqrt(power[:, 0] @ self.frequencies.T**2 + power[:, 1].sum(axis=1)[:, None])

    def improved(self, bounds: Array, to: "Energies | None" = None) -> Array:
        """The best bound of one vector in every norm of `to`, from its bounds in all of these."""
        others = (to or self).frequencies
        ratios = np.max(others[None] / self.frequencies[:, None], axis=2)
        return np.min(bounds[:, None] * np.maximum(ratios, 1.0), axis=0)

    def in_metric(self, bounds: Array, displacement: float, velocity: float) -> float:
        """√(displacement ‖u‖² + velocity ‖v‖²) from the bounds of (u, v)."""
        return float(np.min(bounds * np.sqrt(np.maximum(displacement / self.floor**2, velocity))))


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
        assumptions += (_stable(problem) if self.target == "grid" else _uniform(ranking),)
        with np.errstate(all="ignore"):
            fields = None if self.target == "grid" else (_as_functions(ranking.outputs), _as_functions(ranking.proxy))
            energies, bounds = self.bounds(problem, ranking.state)
            weights = channel_weights(ranking) * problem.points / problem.length
            radius, state_bound = (energies.in_metric(bounds, *pair) for pair in (weights, (1.0, 1.0)))
        found = enclose(ranking, radius, state_bound, target=target, norm=norm, assumptions=assumptions, fields=fields)
        return replace(found, as_functions=self.target == "continuum")

    def bounds(self, problem: SineGordon, state: Array) -> tuple[Energies, Array]:
        """Bounds of s_N − u_N in every energy, for any trajectory s; its first row is taken from the problem."""
        state = from_initial(problem, state)
        if self.target == "grid":
            return grid_bounds(problem, state, defects(problem, state))
        return continuum_bounds(problem, state)


def grid_bounds(problem: SineGordon, state: Array, defect: Array) -> tuple[Energies, Array]:
    """The recursion over rows for the Verlet map, from the defects of all rows but the first.

    A substep is kick ∘ linear Verlet ∘ kick, and a kick v += ½τ(κ² − σ)u stretches by at most e^{asinh β/2} with
    β = ½τ max|κ² − σ| / min ω.
    """
    steps = np.diff(np.asarray(problem.times)) / problem.substeps
    least, largest = verlet_slopes(problem, state)
    energies, bounds = Energies.verlet(problem, steps[0]), np.zeros(len(MASSES))  # e_0 = 0
    for n, step in enumerate(steps):
        ahead = Energies.verlet(problem, step)
        bounds, energies = energies.improved(bounds, to=ahead), ahead
        for j in range(problem.substeps):
            for stage in (j, j + 1):
                near = np.min(energies.reach * bounds)
                mismatch = slope_mismatch(least[n, stage] - near, largest[n, stage] + near)
                bounds = bounds * np.exp(np.arcsinh(step * mismatch / (4 * energies.floor)))
        bounds = energies.improved(bounds) + energies.norms(defect[n : n + 1])[0]
    return energies, bounds


def continuum_bounds(problem: SineGordon, state: Array) -> tuple[Energies, Array]:
    """The recursion over rows for the equation itself: residuals and jumps are added, rates multiply."""
    steps = np.diff(np.asarray(problem.times)) / problem.substeps
    found, energies = reconstruct(problem, state), Energies.continuous(problem)
    jumps, bounds = energies.norms(found.jumps), np.zeros(len(MASSES))
    worst = slope_mismatch(-1.0, 1.0) / (2 * MASSES)
    for n, step in enumerate(steps):
        for j in range(problem.substeps):
            bounds = bounds + found.residuals[n, j]
            near = np.min(energies.reach * np.exp(worst * step) * bounds)  # during the whole substep
            mismatch = slope_mismatch(found.least[n, j] - near, found.largest[n, j] + near)
            bounds = bounds * np.exp(step * mismatch / (2 * MASSES))
        bounds = energies.improved(bounds) + jumps[n]
    return energies, bounds


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
    return Assumption("the metric weighs all points of a field alike", spread < 1e-12, spread)


def _as_functions(values: Array) -> Array:
    """Values whose grid products are the L² products of the interpolants: cos at the Nyquist mode has half the square."""
    return scaled_nyquist(values, np.sqrt(0.5))
