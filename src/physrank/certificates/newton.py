"""The local Newton enclosure: a zero near the anchor, and how far it can be from the corrected state.

With v the point of the last linearisation, L = A'(v), L δ = −A(v) + ℓ, β ≥ ‖L⁻¹‖ and A' Lipschitz with constant Λ on the
ball of radius R₀ around v: if η ≥ ‖L⁻¹A(v)‖ and 4aη < 1, where a = βΛ/2, there is exactly one zero u within

    R = (1 − √(1 − 4aη)) / 2a ≤ R₀

of v, and u − s = −L⁻¹(ℓ + A(u) − A(v) − L(u − v)) has ‖ℓ + …‖ ≤ ‖ℓ‖ + ΛR²/2 =: κ. With an adjoint Lᵀz = c − ρ for the pair
direction c = Qᵀ W (y_i − y_j), the gap moves by at most 2(‖z‖ κ + ‖ρ‖ β κ). Norms are Euclidean on states.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank.certificates.certificate import Assumption, Enclosure, all_hold, open_gaps
from physrank.certificates.monotone import in_all_places, proxy_of, pulled_differences
from physrank.certificates.ranked import Ranked
from physrank.geometry import GapIntervals, gaps_of
from physrank.geometry.space import Array
from physrank.physics import Problem, Solve

DENSE_LIMIT = 150  # unknowns up to which constants are computed


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
        base, state = np.asarray(response.base, np.float64), np.asarray(response.state, np.float64)
        if not (np.isfinite(base).all() and np.isfinite(state).all()):
            finite = Assumption("state and anchor are finite", False, "they are not")
            return self._enclosure(ranking, np.inf, open_gaps(len(ranking.names)), (finite,), 0)
        if (self.inverse is None or self.lipschitz is None) and base.size > DENSE_LIMIT:
            raise ValueError(
                f"Constants are computed for up to {DENSE_LIMIT} unknowns; this state has {base.size}. "
                "Give inverse and lipschitz."
            )
        # From the definition, so that a shortened step or a solver's claim cannot hide anything.
        directions = pulled_differences(ranking)
        defect, pushed, reached, solves = compute.run(_linearised, problem, base, state, directions)
        left, bent = float(np.linalg.norm(pushed + defect)), reached - defect - pushed
        beta = self.inverse if self.inverse is not None else _inverse_norm(problem, base)
        eta = float(np.linalg.norm(state - base)) + beta * left
        bound, curvature = self._radius(problem, base, beta, eta)
        closeness = 2 * beta * curvature * eta
        assumptions = (
            Assumption("the response converged", ranking.unresolved is None, ranking.unresolved or "it did"),
            Assumption("the task is linear, as declared", ranking.task.linear, ranking.task.name),
            Assumption(
                "β and Λ are finite" + self._stated(),
                bool(np.isfinite([beta, curvature]).all()),
                f"{beta:.3g}, {curvature:.3g}",
            ),
            _uncontradicted((state - base, pushed, bent, defect), beta, curvature),
            *self._polynomial(problem, base),
            Assumption("4aη < 1, where a = βΛ/2: the point of linearisation is close enough", closeness < 1, closeness),
            Assumption("the ball is inside the one where Λ holds", bound <= self.radius, float(bound)),
        )
        if not all_hold(assumptions):
            return self._enclosure(ranking, np.inf, open_gaps(len(ranking.names)), assumptions, len(directions))
        remainder = left + curvature * bound**2 / 2
        adjoint, missing = (np.pad(x.reshape(-1, base.size), [(1, 0), (0, 0)]) for x in (solves.value, solves.defect))
        bounds = 2 * remainder * (_distances(adjoint) + beta * _distances(missing))
        gaps = gaps_of(ranking.space, ranking.outputs, proxy_of(ranking))
        enclosed = GapIntervals.around(gaps, in_all_places(bounds, ranking))
        return self._enclosure(ranking, beta * remainder, enclosed, assumptions, len(directions))

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
        departure = _departure(problem, at, self.degree)
        return (Assumption(statement, departure <= 1e-8, departure),)

    def _radius(self, problem: Problem, at: Array, beta: float, eta: float) -> tuple[float, float]:
        """(R, Λ). For a cubic, Λ grows with the ball: the largest ball that R can need, 2η, is enough."""
        curvature = self.lipschitz
        if curvature is None:
            curvature = 0.0 if self.degree == 1 else float(compute.run(_second_derivative, problem, at))
            if self.degree == 3:
                curvature += 2 * eta * float(compute.run(_third_derivative, problem, at))
        a = beta * curvature / 2
        if a == 0:
            return eta, curvature
        inside = 1 - 4 * a * eta
        return (float("inf"), curvature) if inside <= 0 else (2 * eta / (1 + float(np.sqrt(inside))), curvature)

    def _enclosure(
        self, ranking: Ranked, bound: float, gaps: GapIntervals, assumptions: tuple[Assumption, ...], solves: int
    ) -> Enclosure:
        return Enclosure(
            kind="theorem",
            target=(
                "the zero of the discrete problem next to where it was last linearised (whether it is the physical one is "
                "not proved)"
            ),
            gaps=gaps,
            state_bound=bound,
            norm="the Euclidean norm of states",
            assumptions=assumptions,
            solves=solves,
        )


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


def _departure(problem: Problem, at: Array, degree: int) -> float:
    """‖A(v + h) − Taylor polynomial‖ relative to its terms, for one random h of the size of v."""
    size = float(np.abs(at).max()) or 1.0
    along = size * np.random.default_rng(0).standard_normal(at.shape)
    reached, terms = compute.run(_taylor_terms, problem, at, along, degree)
    scale = sum(float(np.linalg.norm(term)) for term in terms)
    return float(np.linalg.norm(reached - sum(terms))) / (scale or 1.0)


def _taylor_terms(problem: Problem, at: JaxArray, along: JaxArray, degree: int) -> tuple[JaxArray, list[JaxArray]]:
    """A(v + h), and the terms of its Taylor polynomial in h."""
    term = lambda t: problem.defect(at + t * along)  # noqa: E731
    reached, terms = term(jnp.ones(())), []
    for k in range(degree + 1):
        terms.append(term(jnp.zeros(())) / math.factorial(k))
        term = partial(_slope, term)
    return reached, terms


def _slope(function: Callable[[JaxArray], JaxArray], t: JaxArray) -> JaxArray:
    return jax.jvp(function, (t,), (jnp.ones(()),))[1]


def _distances(rows: Array) -> Array:
    return np.stack([np.linalg.norm(rows - row, axis=1) for row in rows])


def _flat(problem: Problem, at: JaxArray):
    return lambda x: problem.defect(x.reshape(at.shape)).ravel()


def _linearised(
    problem: Problem, base: JaxArray, state: JaxArray, directions: JaxArray
) -> tuple[JaxArray, JaxArray, JaxArray, Solve]:
    """A(v), L(s − v), A(s), and the adjoint solves of all directions."""
    defect, tangent = problem.linearise(base)
    return defect, tangent.apply(state - base), problem.defect(state), jax.lax.map(tangent.solve_adjoint, directions)


def _jacobian(problem: Problem, at: JaxArray) -> JaxArray:
    return jax.jacfwd(_flat(problem, at))(at.ravel())


def _inverse_norm(problem: Problem, at: Array) -> float:
    """1 / σ_min of the dense Jacobian."""
    smallest = float(np.linalg.svd(compute.run(_jacobian, problem, at), compute_uv=False)[-1])
    return np.inf if smallest == 0 else 1 / smallest


def _second_derivative(problem: Problem, at: JaxArray) -> JaxArray:
    """An upper bound of ‖A''(v)‖: the Frobenius norm of the tensor."""
    hessian = jax.jacfwd(jax.jacfwd(_flat(problem, at)))(at.ravel())
    return jnp.sqrt(jnp.sum(hessian**2))


def _third_derivative(problem: Problem, at: JaxArray) -> JaxArray:
    """An upper bound of ‖A'''(v)‖, accumulated direction by direction: the tensor itself would be large."""
    flat = _flat(problem, at)

    def slice_energy(direction: JaxArray) -> JaxArray:
        along = jax.jacfwd(lambda x: jax.jvp(flat, (x,), (direction,))[1])
        return jnp.sum(jax.jacfwd(along)(at.ravel()) ** 2)

    return jnp.sqrt(jnp.sum(jax.lax.map(slice_energy, jnp.eye(at.size))))
