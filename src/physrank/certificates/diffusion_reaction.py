"""Energy certificate of two-field diffusion–reaction: how far the corrected state is from the trapezoidal solution.

The proof is in docs/certificates/diffusion_reaction.md.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from physrank.certificates._terminal import ROUND_OFF, channel_weights, enclose, from_initial, ready, together, unknown
from physrank.certificates.certificate import Assumption, Enclosure, all_hold
from physrank.certificates.diffusion_reaction_pairs import Rows, along, laplacian
from physrank.certificates.enclosures.rounding import UNIT, gamma
from physrank.certificates.ranked import Ranked
from physrank.equations import DiffusionReaction
from physrank.geometry import GapIntervals, gaps_of
from physrank.geometry.space import Array

TARGET = "the exact solution of the trapezoidal map on the same grid, from the same initial frame"
NORM = "the cell-area L² norm of the terminal fields"

SHARES = np.array([0.0, 0.25, 0.5, 0.75, 0.999])  # of the largest coupling that diffusion still dissipates
INHIBITOR = np.array([0.4, 0.63, 1.0, 1.6, 2.5])
LOCALISATIONS = 2
UP = 1 + 2.0**-34  # covers the round-off of a few scalars, and of the norms of 2 × 2 forms that `largest` compares
SMALL = 2.0**-900  # above what underflow can take from a product, and from a quotient by the area of a cell

Form = tuple[Array | float, Array | float, Array | float]  # a x² + 2 b x y + c y²


def largest(form: Form, energy: Form) -> Array:
    """max form(x, y) / energy(x, y) for an energy x² + 2 g x y + q y²: the larger eigenvalue of C⁻¹ F C⁻ᵀ, energy = C Cᵀ.

    q − g² is right to 1000 units for the couplings used here, so this errs by less than 4000u (|s₁₁| + |s₁₂| + |s₂₂|).
    """
    (a, b, c), (_, g, q) = form, energy
    square = q - g * g
    s11, s12, s22 = a, (b - g * a) / np.sqrt(square), (c - 2 * g * b + g * g * a) / square
    middle, root = (s11 + s22) / 2, np.hypot((s11 - s22) / 2, s12)
    # Where the two terms of `middle + root` cancel, the larger root comes from the product of both.
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(middle >= 0, middle + root, (s11 * s22 - s12 * s12) / (middle - root))


@dataclass(frozen=True, eq=False)
class Energies:
    """Norms ‖(a, b)‖² = ‖a‖² + 2g⟨a, b⟩ + c‖b‖² of errors in activator and inhibitor, one per entry of `coupling` g.

    Diffusion dissipates every one of them: g² (D_u + D_v)² ≤ 4c D_u D_v.
    """

    coupling: Array
    inhibitor: Array

    @classmethod
    def of(cls, problem: DiffusionReaction) -> "Energies":
        first, second = np.asarray(problem.diffusion)
        limit = 2 * np.sqrt(first) * np.sqrt(second) / (first + second)  # their product may underflow
        share, inhibitor = (grid.ravel() for grid in np.meshgrid(SHARES, INHIBITOR))
        return cls(-share * limit * np.sqrt(inhibitor), inhibitor)

    @property
    def form(self) -> Form:
        return 1.0, self.coupling, self.inhibitor

    def norms(self, rows: Array, cell: float) -> Array:
        """‖r_n‖ of rows `(n, 2, cells, cells)` in every energy: `(n, energies)`, the round-off of their sums added."""
        u, v = rows.reshape(len(rows), 2, -1).transpose(1, 0, 2)
        uu, uv, vv = (cell * np.einsum("nx,nx->n", a, b)[:, None] for a, b in ((u, u), (u, v), (v, v)))
        lost = 4 * gamma(u.shape[1] + 16) * (uu + self.inhibitor * vv) + u.shape[1] * SMALL
        return UP * np.sqrt(np.maximum(uu + 2 * self.coupling * uv + self.inhibitor * vv, 0.0) + lost)

    def sizes(self, rows: Array, cell: float) -> Array:
        """The same for anything with entries of at most this size: ‖(a, b)‖ ≤ ‖a‖ + √c ‖b‖."""
        u, v = np.sqrt(cell * np.sum(rows.reshape(len(rows), 2, -1) ** 2, axis=2)).T
        return UP * (u[:, None] + np.sqrt(self.inhibitor) * v[:, None])

    def rates(self, slope: float) -> Array:
        """ν with ⟨J(a, b), (a, b)⟩ ≤ ν ‖(a, b)‖² for the reaction J = [[1 − ξ, −1], [1, −1]], ξ = `slope`.

        The entries below are at most 1000 (1 + ξ), as is what they are computed from: 1e-9 (1 + ξ) covers their round-off.
        """
        g, c = self.coupling, self.inhibitor
        found = largest((1 - slope + g, (c - 1 - g * slope) / 2, -(g + c)), self.form)
        return found + 1e-9 * (1 + np.abs(slope))

    def factors(self, form: Form) -> Array:
        """κ with √form ≤ κ ‖·‖, for every energy; forms are not negative, so that the errors are relative to them."""
        return UP * np.sqrt(largest(form, self.form))

    @property
    def ratios(self) -> Array:
        """`[k, l]`: ‖·‖_l ≤ ratio ‖·‖_k."""
        pairs = zip(self.coupling, self.inhibitor, strict=True)
        found = np.stack([self.factors((1.0, g, c)) for g, c in pairs], axis=1)
        np.fill_diagonal(found, 1.0)
        return found


@dataclass(frozen=True)
class DiffusionReactionEnergy:
    """‖s_N − u_N‖ from the row defects of s, without a smallness condition.

    With e = s − u and the difference of right-hand sides ΔF, the rows y_n = e_n − ½Δt ΔF_n obey

        y_{n+1} = e_n + ½Δt ΔF_n + r_{n+1},    ‖e_n + ½Δt ΔF_n‖ ≤ (1 + ½Δtν)/(1 − ½Δtν) ‖y_n‖,    (1 − ½Δtν)‖e_n‖ ≤ ‖y_n‖

    in every norm in which ⟨ΔF, e⟩ ≤ ν‖e‖². Many norms are carried at once, and each may improve the others. `pairs`: where
    that leaves a pair open, look at its own direction by adjoint states, one for every candidate but the first.
    """

    pairs: bool = True

    @property
    def quick(self) -> "DiffusionReactionEnergy":
        """Without adjoint states: while a state is being corrected, one more correction costs less than they do."""
        return DiffusionReactionEnergy(pairs=False)

    def __call__(self, problem: Any, ranking: Ranked) -> Enclosure:
        assumptions = ready(problem, ranking, DiffusionReaction)
        if not all_hold(assumptions):
            return unknown(ranking, TARGET, NORM, assumptions)
        with np.errstate(all="ignore"):
            longest = float(np.diff(np.asarray(problem.times)).max())
            state = from_initial(problem, ranking.state)
            defect, doubt = row_defects(problem, state)
            energies, each = carry(problem, state, defect, doubt)
            bounds = each[-1]
            (weight_u, weight_v), unit = channel_weights(ranking)
            radius = UP * np.min(bounds * energies.factors((weight_u, 0.0, weight_v))) * unit / problem.spacing
            state_bound = np.min(bounds * energies.factors((1.0, 0.0, 1.0)))
        least = float(np.asarray(problem.diffusion).min())
        diffusive = Assumption("both diffusion coefficients are positive", least > 0, least)
        short = Assumption("every step is shorter than 2, so that it has exactly one solution", longest < 2, longest)
        assumptions += (diffusive, short)
        found = enclose(ranking, float(radius), float(state_bound), target=TARGET, norm=NORM, assumptions=assumptions)
        valid = ranking.candidates.valid
        open_pairs = np.any(found.gaps.signs[np.ix_(valid, valid)] + np.eye(valid.sum()) == 0)
        if not (self.pairs and open_pairs and all_hold(found.assumptions)):
            return found
        with np.errstate(all="ignore"):
            whole, activator = (
                UP * np.min(each * energies.factors(form), axis=1) / problem.spacing
                for form in ((1.0, 0.0, 1.0), (1.0, 0.0, 0.0))
            )
        return self._by_pairs(problem, ranking, found, Rows(state, defect, doubt, whole, activator))

    def _by_pairs(self, problem: DiffusionReaction, ranking: Ranked, found: Enclosure, rows: Rows) -> Enclosure:
        """G_ij(u) = G_ij(s) − 2 ⟨W (y_i − y_j), e⟩."""
        known, off = along(problem, ranking, rows)
        valid = np.flatnonzero(ranking.candidates.valid)
        i, j = (valid[k] for k in np.triu_indices(len(valid), 1))
        gaps, moved, radius = (
            gaps_of(ranking.space, ranking.outputs, ranking.proxy),
            *np.full((2, *found.gaps.low.shape), np.nan),
        )
        moved[i, j], moved[j, i] = -2 * known, 2 * known
        radius[i, j] = radius[j, i] = 2 * off
        with np.errstate(all="ignore"):
            own = GapIntervals.around(gaps + moved, UP * (radius + 8 * UNIT * (np.abs(gaps) + np.abs(moved))))
        both, apart = together(found.gaps, own)
        agree = Assumption("energies and adjoint states do not contradict each other", apart <= ROUND_OFF, apart)
        solves = len(valid) - 1
        return replace(found, gaps=both, assumptions=(*found.assumptions, agree), solves=solves)

    def bounds(self, problem: DiffusionReaction, state: Array) -> tuple[Energies, Array]:
        """Bounds of ‖s_N − u_N‖ in every energy, for any trajectory s; its first row is taken from the problem."""
        state = from_initial(problem, state)
        energies, each = carry(problem, state, *row_defects(problem, state))
        return energies, each[-1]


def row_defects(problem: DiffusionReaction, state: Array) -> tuple[Array, Array]:
    """The defects of all rows but the first, and what they may be off by: γ₃₂ times the same formula with all terms positive.

    No term passes through more than 24 roundings, those of h, D and the step included.
    """
    now, after, area = state[:-1], state[1:], problem.spacing**2
    half = np.diff(np.asarray(problem.times))[:, None, None] / 2
    diffusion, threshold = np.asarray(problem.diffusion), float(problem.threshold)

    def reacted(u: Array, v: Array, sign: float) -> tuple[Array, Array]:
        """u − u³ − k − v and u − v; with sign 1, their terms added up."""
        return u + sign * (u**3 + (threshold if sign < 0 else abs(threshold)) + v), u + sign * v

    def defect(now: Array, after: Array, sign: float) -> Array:
        both = after + now
        fields = []
        for k in (0, 1):
            change = [reacted(row[:, 0], row[:, 1], sign)[k] for row in (after, now)]
            rate = diffusion[k] * laplacian(both[:, k], sign) / area + change[0] + change[1]
            fields.append(after[:, k] + sign * now[:, k] + sign * half * rate)
        return np.stack(fields, axis=1)

    return defect(now, after, -1.0), gamma(32) * defect(np.abs(now), np.abs(after), 1.0) + SMALL


def carry(problem: DiffusionReaction, state: Array, defect: Array, doubt: Array) -> tuple[Energies, Array]:
    """The recursion over rows, from the defects of all rows but the first: bounds of every row's error, in every energy."""
    energies, steps = Energies.of(problem), np.diff(np.asarray(problem.times))
    added, ratios = energies.norms(defect, problem.spacing**2), energies.ratios
    added = added + energies.sizes(doubt, problem.spacing**2)
    size = np.abs(state[1:, 0]).reshape(len(steps), -1)
    carried, found = np.zeros_like(energies.coupling), []  # e_0 = 0
    for n, (step, following) in enumerate(zip(steps, [*steps[1:], steps[-1]], strict=True)):
        bounds = UP * (carried + added[n])  # of y_{n+1}
        rates = local_rates(energies, bounds, step, size[n].min(), size[n].max(), problem.spacing)
        carried = improved(UP * growth(rates, step, following) * bounds, ratios)  # of e_{n+1} + ½Δt' ΔF_{n+1}
        found.append(UP * improved(bounds * inverse(rates, step), ratios))
    return energies, np.stack(found)


def local_rates(energies: Energies, bounds: Array, step: float, least: float, most: float, spacing: float) -> Array:
    """ν of one row: (s³ − u³)/(s − u) = ξ ≥ ¾s², and near s, |s − u| ≤ ε, also 3s² − 3|s|ε ≤ ξ ≤ 3s² + 3|s|ε + ε².

    Rates are convex in ξ, so the ends of its range suffice; without a coupling they fall with ξ, and the upper end is
    not needed. Those energies bound ‖e‖, hence ε = ‖e‖/h, before anything is known about u.
    """
    plain, activator = energies.coupling == 0, energies.factors((1.0, 0.0, 0.0))
    low = 0.75 * least**2
    rates = np.where(plain, energies.rates(low), np.inf)
    for _ in range(LOCALISATIONS):
        reach = UP * np.fmin.reduce(bounds * activator * inverse(rates, step)) / spacing  # 0 · ∞ is no bound
        if not np.isfinite(reach):
            break
        low = max(low, 3 * least**2 - 3 * least * reach)
        high = 3 * most**2 + 3 * most * reach + reach**2
        at_low = energies.rates(low)
        rates = np.where(plain, at_low, np.maximum(at_low, energies.rates(high)))
    return rates


def inverse(rates: Array, step: float) -> Array:
    """1/(1 − ½Δtν): ‖e‖ ≤ inverse ‖e − ½Δt ΔF‖; ∞ where the step is too long for the rate."""
    left = 1 - step * rates / 2 - 1e-15 * (1 + step * np.abs(rates))  # less its own round-off
    return np.where(left > 0, 1 / left, np.inf)


def growth(rates: Array, step: float, following: float) -> Array:
    """‖e + ½Δt' ΔF‖ / ‖e − ½Δt ΔF‖ ≤ (1 + ½Δt'ν)/(1 − ½Δtν); not below θ = Δt'/Δt, as stiff parts do not decay."""
    ratio = following / step
    stiff = 1 - ratio + following * rates < 0  # not so for NaN, which must stay no bound
    return np.where(stiff, ratio, (1 + following * rates / 2) * inverse(rates, step))


def improved(bounds: Array, ratios: Array) -> Array:
    """The best bound of one vector in every norm, from its bounds in all of them; NaN and ∞ bound nothing."""
    return np.min(np.where(np.isfinite(bounds)[:, None], bounds[:, None] * ratios, np.inf), axis=0)
