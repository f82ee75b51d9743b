"""The local Newton enclosure: a zero near the anchor, and how far it can be from the corrected state.

With v the point of the last linearisation, L = A'(v), L δ = −A(v) + ℓ, β ≥ ‖L⁻¹‖ and A' Lipschitz with constant Λ on the
ball of radius R₀ around v: if η ≥ ‖L⁻¹A(v)‖ and 4aη < 1, where a = βΛ/2, there is exactly one zero u within

    R = (1 − √(1 − 4aη)) / 2a ≤ R₀

of v, and u − s = −L⁻¹(ℓ + A(u) − A(v) − L(u − v)) has ‖ℓ + …‖ ≤ ‖ℓ‖ + ΛR²/2 =: κ. With an adjoint Lᵀz = c − ρ for the pair
direction c = Qᵀ W (y_i − y_j), the gap moves by at most 2(‖z‖ κ + ‖ρ‖ β κ). Norms are Euclidean on states.

Round-off: ℓ, ρ and the derivatives behind β and Λ are values of programs whose round-off is bounded operation by operation
(`enclosures/running.py`); where an operation has no bound, or a custom derivative stands for the function's own, the kind is
"estimate".
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank.certificates.actions import (
    compares_states,
    in_all_places,
    proxy_with_doubt,
    pull_back,
    pulled_differences,
    real,
)
from physrank.certificates.certificate import Assumption, Enclosure, Kind, Zero, all_hold, arithmetic, open_gaps
from physrank.certificates.enclosures.derivatives import departure, hessian, jacobian, third_derivative
from physrank.certificates.enclosures.matrices import inverse_norm
from physrank.certificates.enclosures.programs import affine, honest
from physrank.certificates.enclosures.rounding import gamma
from physrank.certificates.enclosures.running import evaluated
from physrank.certificates.ranked import Ranked
from physrank.geometry import GapIntervals, gaps_of
from physrank.geometry.space import Array
from physrank.physics import Problem, Solve

DENSE_LIMIT = 150  # unknowns up to which constants are computed
UP = 1 + 2.0**-40  # covers the few roundings of scalars in a bound


@dataclass(frozen=True)
class LocalNewton:
    """A certificate against the zero next to the anchor; whether that is the physical branch is not its business.

    - `inverse`: β ≥ ‖A'(v)⁻¹‖, or None to compute it from the dense Jacobian (small problems);
    - `lipschitz`: Λ, or None to compute it from the derivatives at v of a polynomial defect of degree `degree`;
    - `radius`: R₀, where Λ holds;
    - `degree`: of the defect as a polynomial in the state, 1, 2 or 3. Yours to know.
    """

    inverse: float | None = None
    lipschitz: float | None = None
    radius: float = np.inf
    degree: int | None = None

    def __post_init__(self) -> None:
        if self.lipschitz is None and self.degree not in (1, 2, 3):
            raise ValueError(
                f"Give lipschitz, a bound of how fast the derivative changes, or degree, 1 to 3, for a defect that is a "
                f"polynomial in the state; got degree={self.degree!r}."
            )
        for name, value, least in (("inverse", self.inverse, 0.0), ("radius", self.radius, 0.0)):
            if value is not None and not value > least:
                raise ValueError(f"{name} must be a number above {least:g}; got {value!r}.")
        if self.lipschitz is not None and not self.lipschitz >= 0:
            raise ValueError(f"lipschitz must be a number ≥ 0; got {self.lipschitz!r}.")

    def __call__(self, problem: Problem, ranking: Ranked) -> Enclosure:
        response = ranking.response
        if np.iscomplexobj(ranking.state):
            return _enclosure("theorem", np.inf, open_gaps(len(ranking.names)), (real(ranking),), 0, None)
        base, state = np.asarray(response.base, np.float64), np.asarray(ranking.state, np.float64)
        if not (np.isfinite(base).all() and np.isfinite(state).all()):
            finite = Assumption("state and anchor are finite", False, "they are not")
            return _enclosure("theorem", np.inf, open_gaps(len(ranking.names)), (finite,), 0, None)
        computed = self.inverse is None or self.lipschitz is None
        if computed and compute.on_host(problem):
            raise ValueError(
                f"Constants are computed by JAX, and {type(problem).__name__} is not written in it. Give both."
            )
        if computed and base.size > DENSE_LIMIT:
            raise ValueError(
                f"Constants are computed for up to {DENSE_LIMIT} unknowns; this state has {base.size}. "
                "Give inverse and lipschitz."
            )
        # From the definition, so that a shortened step or a solver's claim cannot hide anything.
        directions = pulled_differences(ranking)
        defect, pushed, reached, solves = compute.run(_linearised, problem, base, state, directions)
        bent = reached - defect - pushed
        seen = _Seen.of(problem, ranking, base, state, (defect, pushed, solves), self)
        beta, left = seen.beta, seen.left
        with np.errstate(all="ignore"):
            eta = UP * (_norm(state - base) + beta * left)
            bound, alone, curvature = self._radius(seen, eta)
            closeness = UP * 2 * beta * curvature * eta
        assumptions = (
            arithmetic(),
            Assumption("the response converged", ranking.unresolved is None, ranking.unresolved or "it did"),
            Assumption("the task is linear, as declared", ranking.task.linear, ranking.task.name),
            Assumption(
                "β and Λ are finite, and not negative" + self._stated(),
                bool(np.isfinite([beta, curvature]).all() and min(beta, curvature) >= 0),
                f"{beta:.3g}, {curvature:.3g}",
            ),
            _uncontradicted((state - base, pushed, bent, defect), beta, curvature),
            *self._polynomial(problem, base),
            Assumption("4aη < 1, where a = βΛ/2: the point of linearisation is close enough", closeness < 1, closeness),
            Assumption("the ball is inside the one where Λ holds", bound <= self.radius, float(bound)),
        )
        kind = "theorem" if seen.sure else "estimate"
        if not all_hold(assumptions):
            return _enclosure(kind, np.inf, open_gaps(len(ranking.names)), assumptions, len(directions), None)
        remainder = UP * (left + curvature * bound**2 / 2)
        bounds = UP * (2 * remainder * (seen.adjoint + beta * seen.missing) + seen.proxy_doubt)
        gaps = gaps_of(ranking.space, ranking.outputs, seen.proxy)
        enclosed = GapIntervals.around(gaps, in_all_places(bounds, ranking))
        zero = Zero(base, float(bound), float(alone))
        return _enclosure(kind, UP * beta * remainder, enclosed, assumptions, len(directions), zero)

    def curvatures(self, problem: Problem, at: Array) -> tuple[float, float, bool]:
        """Bounds of the second and the third derivative, as far as Λ needs them, and whether they are bounds."""
        if self.lipschitz is not None:
            return self.lipschitz, 0.0, True
        second, third, sure = 0.0, 0.0, True
        if self.degree != 1:
            found, known = evaluated(hessian, problem, at)
            second, sure = _norm(*found), known
        if self.degree == 3:
            (value, error), known = evaluated(third_derivative, problem, at)
            third, sure = UP * float(value + error), sure and known
        return second, third, sure

    def _stated(self) -> str:
        by_caller = [name for name, value in (("β", self.inverse), ("Λ", self.lipschitz)) if value is not None]
        return f"; {' and '.join(by_caller)} stated by the caller" if by_caller else ""

    def _polynomial(self, problem: Problem, at: Array) -> tuple[Assumption, ...]:
        """The stated degree, looked at along one direction: there, the Taylor polynomial must be the defect itself."""
        if self.lipschitz is not None or self.degree is None:
            return ()
        statement = (
            f"the defect is a polynomial of degree {self.degree} (stated by the caller; looked at along one line)"
        )
        off = departure(problem, at, self.degree)
        return (Assumption(statement, off <= 1e-8, off),)

    def _radius(self, seen: "_Seen", eta: float) -> tuple[float, float, float]:
        """(R, the radius within which the zero is alone, Λ): βΛr < 1 leaves no room for two zeros within r.

        For a cubic, Λ grows with the ball: the largest ball that R can need, 2η, is enough.
        """
        curvature, holds = seen.curvature, self.radius
        if self.lipschitz is None and self.degree == 3:
            curvature, holds = UP * (curvature + 2 * eta * seen.third), min(holds, 2 * eta)
        a = seen.beta * curvature / 2
        if a == 0:
            return eta, holds, curvature
        inside = 1 - UP * 4 * a * eta
        alone = min(holds, (1 - 1e-9) / (2 * a))
        return (np.inf if inside <= 0 else UP * 2 * eta / (1 + float(np.sqrt(inside)))), alone, curvature


def _enclosure(
    kind: Kind, bound: float, gaps: GapIntervals, assumptions: tuple[Assumption, ...], solves: int, zero: Zero | None
) -> Enclosure:
    return Enclosure(
        kind=kind,
        target=(
            "the zero of the discrete problem next to where it was last linearised (whether it is the physical one is "
            "not proved)"
        ),
        gaps=gaps,
        state_bound=bound,
        norm="the Euclidean norm of states",
        assumptions=assumptions,
        solves=solves,
        zero=zero,
    )


@dataclass(frozen=True, eq=False)
class _Seen:
    """What the bound is made of: upper bounds, if `sure`."""

    beta: float
    curvature: float  # of the second derivative at v, or Λ as it was stated
    third: float  # of the third derivative at v
    left: float  # ‖ℓ‖
    adjoint: Array  # (N, N): ‖z_ij‖
    missing: Array  # (N, N): ‖ρ_ij‖
    proxy: Array
    proxy_doubt: Array
    sure: bool

    @classmethod
    def of(
        cls, problem: Problem, ranking: Ranked, base: Array, state: Array, solved: tuple[Any, ...], method: LocalNewton
    ) -> "_Seen":
        outputs, (defect, pushed, solves) = ranking.outputs[ranking.candidates.valid], solved
        i, j = np.triu_indices(len(outputs), 1)
        padded = lambda rows: np.concatenate([np.zeros_like(base)[None], rows])  # noqa: E731
        z = padded(solves.value)[i] - padded(solves.value)[j]
        if getattr(problem, "host", False):  # its derivatives are not ours to trace
            missing = padded(solves.defect)
            left, rho = ((pushed + defect, 0.0), False), ((missing[i] - missing[j], 0.0), False)
        else:
            task = None if compares_states(ranking) else ranking.task.map
            left, pair = evaluated(_left, problem, base, state), (outputs[i], outputs[j])
            rho = evaluated(_adjoint_left, problem, task, base, state, ranking.space.weights, pair, z)
            left = left[0], left[1] and honest(problem.defect, base) and (task is None or affine(task, state))
        beta, sure_beta = (method.inverse, True) if method.inverse is not None else _inverse_norm(problem, base)
        second, third, sure_curved = method.curvatures(problem, base)
        proxy, doubt, sure_proxy = proxy_with_doubt(ranking)
        sure = left[1] and rho[1] and sure_beta and sure_curved and sure_proxy
        norms = (_norm(*left[0]), _in_pairs(z, 0.0), _in_pairs(*rho[0]))
        return cls(beta, second, third, *norms, proxy, doubt, sure)


def _norm(value: Array, error: Array | float = 0.0) -> float:
    """Not below the Euclidean norm, whatever is added to the value within the error."""
    with np.errstate(all="ignore"):
        size = np.ravel(np.abs(value) + error)
        largest = float(np.max(size, initial=0.0))
        if largest == 0.0:
            return 0.0
        scaled = float(np.linalg.norm(size / largest))  # at least one: what underflows here is lost in the rounding
        return UP * (1 + gamma(size.size + 8)) * scaled * largest


def _in_pairs(rows: Array, error: Array | float) -> Array:
    """Norms of the rows of all pairs, as a symmetric matrix."""
    errors = np.broadcast_to(error, rows.shape)
    count = round((1 + np.sqrt(1 + 8 * len(rows))) / 2)
    found = np.zeros((count, count))
    found[np.triu_indices(count, 1)] = [_norm(row, e) for row, e in zip(rows, errors, strict=True)]
    return found + found.T


def _left(problem: Problem, base: JaxArray, state: JaxArray) -> JaxArray:
    """ℓ = A(v) + L (s − v)."""
    defect, pushed = jax.jvp(problem.defect, (base,), (state - base,))
    return defect + pushed


def _adjoint_left(
    problem: Problem,
    task: Callable[[JaxArray], JaxArray] | None,
    base: JaxArray,
    state: JaxArray,
    weights: JaxArray,
    pair: tuple[JaxArray, JaxArray],
    z: JaxArray,
) -> JaxArray:
    """ρ = Qᵀ W (y_i − y_j) − Lᵀ z for every pair."""
    weighted = weights * (pair[0] - pair[1])
    covectors = weighted if task is None else pull_back(task, state, weighted)
    _, pull = jax.vjp(problem.defect, base)
    return covectors - jax.vmap(lambda row: pull(row)[0])(z)


def _uncontradicted(seen: tuple[Any, ...], beta: float, curvature: float) -> Assumption:
    """‖δ‖ ≤ β ‖Lδ‖ and ‖A(s) − A(v) − Lδ‖ ≤ ½Λ‖δ‖² for the correction itself; `seen` are δ, Lδ, that remainder, A(v)."""
    size, image, curved, at_base = (float(np.linalg.norm(np.ravel(x))) for x in seen)
    round_off = 1e-12 * (at_base + image) + 1e-14
    used = max(_ratio(size, beta * image), _ratio(max(curved - round_off, 0.0), curvature * size**2 / 2))
    return Assumption(
        "the correction contradicts neither β nor Λ (the larger share used, at most 1)", used <= 1 + 1e-6, used
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else (np.inf if part > 0 else 0.0)


def _linearised(
    problem: Problem, base: JaxArray, state: JaxArray, directions: JaxArray
) -> tuple[JaxArray, JaxArray, JaxArray, Solve]:
    """A(v), L(s − v), A(s), and the adjoint solves of all directions."""
    defect, tangent = problem.linearise(base)
    solves = compute.each(tangent.solve_adjoint, directions, problem, batch=1)
    return defect, tangent.apply(state - base), problem.defect(state), solves


def _inverse_norm(problem: Problem, at: Array) -> tuple[float, bool]:
    """‖L⁻¹‖ from above, L known up to its round-off, and whether that is known."""
    (matrix, error), known = evaluated(jacobian, problem, at)
    return inverse_norm(matrix, error), known
