"""Cubic reaction–diffusion equation with a variable coefficient."""

from fractions import Fraction
from functools import lru_cache, reduce
from operator import or_
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from physrank._arrays import as_double
from physrank.compute import double
from physrank.equations._checks import clear_keywords, finite_array, not_negative_number, positive
from physrank.geometry.grid import Grid
from physrank.geometry.lifts import namespace, sampled
from physrank.physics import NonlinearSolve, Problem, Solve, Tangent
from physrank.physics.elliptic import DirichletDiffusion, DirichletMetric
from physrank.physics.levels import LEAST, altered, check_level, halved, size
from physrank.physics.newton import ROUGHLY, damped_newton, preconditioned
from physrank.physics.problem import Refined, probe_magnitude, roundoff_floor
from physrank.physics.solvers import ROUGH, norm

LINES, FLAT, JUMP = 64, 1e-6, 0.5  # along an axis, where jumps are looked for; of a field, of a difference
STEPPABLE = 1.5  # roughness of the scaled operator up to which preconditioned steps do the work of a solve


class DirichletTangent(Tangent):
    """L = [identity on boundary rows; K + diag(c) on interior rows, coupled to the boundary]."""

    at: Array
    diffusion: DirichletDiffusion
    reaction: Array  # c, on interior nodes

    def apply(self, direction: Array) -> Array:
        interior = self.diffusion.apply(direction) + self.reaction * _interior(direction)
        return _with_interior(direction, interior)

    def apply_adjoint(self, covector: Array) -> Array:
        return jax.linear_transpose(self.apply, self.at)(covector)[0]

    def solve(self, rhs: Array) -> Solve:
        return _on_all_nodes(rhs, self.diffusion.solve(*self._system(rhs)))

    def solve_roughly(self, rhs: Array) -> Array:
        """The solution to two digits."""
        return _with_interior(rhs, self.diffusion.solve_roughly(*self._system(rhs), ROUGH))

    def solve_adjoint(self, rhs: Array) -> Solve:
        solve = self.diffusion.solve(self.reaction, _interior(rhs), jnp.zeros(()))  # a covector is of no known size
        pulled = jax.linear_transpose(self.diffusion.apply, self.at)(solve.value)[0]
        return _on_all_nodes(rhs - pulled, solve)

    def _system(self, rhs: Array) -> tuple[Array, Array, Float[Array, ""]]:
        """Boundary rows fix the boundary; what they contribute to interior rows moves to the right-hand side."""
        boundary = _with_interior(rhs, jnp.zeros_like(self.reaction))
        interior = _interior(rhs) - self.diffusion.apply(boundary)
        return self.reaction, interior, roundoff_floor(self.magnitude(), self.at)

    def magnitude(self) -> Float[Array, ""]:
        return probe_magnitude(self.apply, self.at)


class ReactionDiffusion(Problem):
    """Cubic reaction–diffusion on a box with zero Dirichlet conditions; 1-D, 2-D or 3-D.

        −∇·(a ∇u) + λ u + γ u³ = f,   u = 0 on the boundary

    | | |
    |---|---|
    | state | `(points + 2, …)`, boundary nodes included |
    | defect | boundary rows: u; interior rows: conservative differences, harmonic face coefficients |
    | response | boundary eliminated exactly, interior by √a-scaled sine-preconditioned conjugate gradients |
    | raw norm | h^{d−1} Σ_boundary |r|² + h^d Σ_interior |r|² |
    | task | the whole field, tensor-product trapezoid rule |
    | good values | a from 0.3 to 5, λ from 0.3 to 2.2, γ from 0.1 to 1.4; strongly monotone for λ, γ > 0 |
    | limits | second order: ‖u_h − u‖ ≈ C h², first order where a or f jumps; the same spacing along every axis |

    Main arguments: `diffusion` a > 0 and `forcing` f on all nodes, boundary included, or functions of the coordinates;
    `linear` λ ≥ 0; `cubic` γ ≥ 0.

    Other arguments: `length` of the first side; `points` and `dims`, the interior nodes per side and the dimension,
    used when both fields are functions. Candidates of other resolution are sine-lifted to this grid.
    """

    diffusion: Array
    forcing: Array
    linear: Float[Array, ""]
    cubic: Float[Array, ""]
    length: float = eqx.field(static=True)

    @clear_keywords
    def __init__(
        self,
        diffusion: Any,
        forcing: Any,
        linear: float,
        cubic: float,
        *,
        length: float = 1.0,
        points: int = 128,
        dims: int = 2,
    ):
        shape = next((np.shape(field) for field in (diffusion, forcing) if np.ndim(field)), (points + 2,) * dims)
        if min(shape) < 3:
            raise ValueError(f"A reaction–diffusion grid needs at least one interior node per side; got shape {shape}.")
        length = float(positive("length", length))
        spacing = length / (shape[0] - 1)
        nodes = np.meshgrid(*(spacing * np.arange(n) for n in shape), indexing="ij")
        a = positive("diffusion", diffusion(*nodes) if callable(diffusion) else diffusion)
        f = finite_array("forcing", forcing(*nodes) if callable(forcing) else forcing)
        for name, field in (("diffusion", a), ("forcing", f)):
            if field.ndim and field.shape != shape:
                raise ValueError(f"{name} has shape {field.shape}; expected {shape}, all nodes with the boundary.")
        self.diffusion = as_double(np.broadcast_to(a, shape))
        self.forcing = as_double(np.broadcast_to(f, shape))
        self.linear = as_double(not_negative_number("linear", linear))
        self.cubic = as_double(not_negative_number("cubic", cubic))
        self.length = float(length)

    @property
    def spacing(self) -> float:
        return self.length / (self.diffusion.shape[0] - 1)

    @property
    def _dims(self) -> int:
        return self.diffusion.ndim

    @property
    def order(self) -> Any:
        """Two, or one where a or f jumps on this grid: nodes know a line between pieces to half a spacing only."""
        smooth = _is_smooth(self.diffusion) & _is_smooth(self.forcing)
        return namespace(smooth).where(smooth, 2, 1)

    @property
    def operator(self) -> DirichletDiffusion:
        """K: the diffusion part alone."""
        return DirichletDiffusion(self.diffusion, self.spacing)

    def defect(self, state: Array) -> Array:
        u = _interior(state)
        interior = self.operator.apply(state) + self.linear * u + self.cubic * u**3 - _interior(self.forcing)
        return _with_interior(state, interior)

    def linearise(self, at: Array) -> tuple[Array, DirichletTangent]:
        reaction = self.linear + 3 * self.cubic * _interior(at) ** 2
        return self.defect(at), DirichletTangent(at, self.operator, reaction)

    def refine(self, base: Array, state: Array) -> Refined:
        """The next correction, to two digits."""
        del base
        defect, tangent = self.linearise(state)
        return defect, tangent.solve_roughly(-defect)

    def polishes_well(self, state: Array) -> Bool[Array, ""]:
        """Smooth coefficients of moderate contrast. Beyond, modes exist that a step hardly touches, and that hide behind the
        others: steps would seem to contract and leave most of the error."""
        return self.operator.roughness(self.linearise(state)[1].reaction) <= STEPPABLE

    def polish(self, state: Array) -> Array:
        defect, tangent = self.linearise(state)
        return _with_interior(-defect, self.operator.rough_inverse(tangent.reaction)(-_interior(defect)))

    def polish_smooth(self, state: Array) -> tuple[Array, Float[Array, ""]]:
        defect, tangent = self.linearise(state)
        step, beyond = self.operator.smooth_inverse(tangent.reaction, -_interior(defect))
        return _with_interior(-defect, step), beyond

    def solve(self, guess: Array) -> NonlinearSolve:
        return damped_newton(self.linearise, self.defect, guess)

    def solve_roughly(self, guess: Array) -> NonlinearSolve:
        """Where a grid is so coarse that a few digits will do: preconditioned steps, then Newton's if those do not serve."""
        target = ROUGHLY * norm(self.defect(jnp.zeros_like(guess)))
        inverse = self.operator.rough_inverse(self.linearise(guess)[1].reaction)

        def step(defect: Array) -> Array:
            return _with_interior(-defect, inverse(-_interior(defect)))

        start = preconditioned(step, self.defect, guess, target)
        return damped_newton(self.linearise, self.defect, start, target=target)

    def residual_energy(self, defect: Array) -> Float[Array, ""]:
        h, interior = self.spacing, jnp.sum(_interior(defect) ** 2)
        boundary = jnp.sum(jnp.where(_boundary(defect.shape), defect**2, 0))
        return h ** (self._dims - 1) * boundary + h**self._dims * interior

    def dual_energy(self, state: Array, *, adapted: bool = False) -> tuple[Float[Array, ""], Bool[Array, ""]]:
        """‖A(v)‖² in the dual energy norm, an upper bound of the squared error of v (zero boundary values).

        Common: H = K + λ bounds ‖v − u_h‖²_H. Adapted: M = H + ¾γ v², divided by its coercivity constant μ, bounds the
        discrete L² error. A violated boundary value adds its raw energy. Also whether the inverse action converged.
        """
        u, h = _interior(state), self.spacing
        reaction = self.linear + (0.75 * self.cubic * u**2 if adapted else jnp.zeros_like(u))
        operator, defect = self.operator, self.defect(state)
        floor = roundoff_floor(DirichletTangent(state, operator, reaction).magnitude(), state)
        residual = _interior(defect)
        solve = operator.solve(reaction, residual, floor)
        energy = h**self._dims * jnp.sum(residual * solve.value)
        converged = norm(solve.defect) <= 1e-8 * norm(residual) + floor
        boundary = h ** (self._dims - 1) * jnp.sum(jnp.where(_boundary(defect.shape), defect**2, 0))
        return energy / (self.coercivity(state) if adapted else 1.0) + boundary, converged

    def secant_metric(self, state: Array) -> DirichletMetric:
        """M_s: the residual in its dual norm bounds ‖s − u_h‖ in its norm, for any s with zero boundary values."""
        reaction = self.linear + 0.75 * self.cubic * _interior(state) ** 2
        residual, constant = _interior(self.defect(state)), self.coercivity(state)
        least = jnp.where(self.linear >= 0, self.linear, self.linear + (1 - 1e-12) * self._least_of_diffusion())
        return DirichletMetric(residual, constant, self.operator, reaction, self.cubic, jnp.min(self.diffusion), least)

    def _least_of_diffusion(self) -> Float[Array, ""]:
        """A lower bound of the eigenvalues of K."""
        smallest_face = jnp.min(jnp.stack([jnp.min(face) for face in self.operator.faces]))
        return smallest_face * sum(
            4 / self.spacing**2 * np.sin(np.pi / (2 * (n - 1))) ** 2 for n in self.diffusion.shape
        )

    def coercivity(self, state: Array) -> Float[Array, ""]:
        """Analytic lower bound μ of K + λ + ¾γ v²."""
        return self.linear + self._least_of_diffusion() + 0.75 * self.cubic * jnp.min(_interior(state) ** 2)

    def coarsen(
        self, *, points: int | None = None, substeps: int | None = None, rows: int | None = None
    ) -> "ReactionDiffusion":
        """On `points` interior nodes per side; coefficient and force at new nodes by fifth-degree interpolation."""
        if substeps is not None or rows is not None:
            raise ValueError(f"Reaction–diffusion has no time; got substeps={substeps}, rows={rows}.")
        present = self.diffusion.shape[0] - 2
        points = present if points is None else size("points", points, 1, present)
        intervals = self._intervals(points)
        if any(n % 1 for n in intervals):
            raise ValueError(
                f"{points} points on the first side leave another side with {[float(n) for n in intervals]} intervals; "
                "expected whole numbers."
            )
        shape = tuple(int(n) + 1 for n in intervals)
        with double():
            a, f = (as_double(sampled(field, shape)) for field in (self.diffusion, self.forcing))
            # The interpolant undershoots where the coefficient jumps; it must stay a diffusion.
            return altered(self, diffusion=jnp.maximum(a, jnp.min(self.diffusion) / 2), forcing=f)

    def coarser(self, level: int) -> "ReactionDiffusion | None":
        """Half as many interior nodes on the first side, `level` times."""
        if check_level(level) == 0:
            return self
        points = halved(self.diffusion.shape[0] - 2, level)
        if points is None or any(n % 1 or n - 1 < LEAST for n in self._intervals(points)):
            return None
        return self.coarsen(points=points)

    def _intervals(self, points: int) -> list[Fraction]:
        """Along every axis, with `points` interior nodes on the first."""
        return [Fraction((n - 1) * (points + 1), self.diffusion.shape[0] - 1) for n in self.diffusion.shape]

    def concerns(self, state: np.ndarray) -> list[str]:
        boundary = np.array(state)
        boundary[(slice(1, -1),) * state.ndim] = 0
        if np.max(np.abs(boundary)) <= 1e-3 * np.max(np.abs(state)):
            return []
        return ["boundary values are not zero; states include their boundary nodes"]

    @property
    def grid(self) -> Grid:
        return _grid(self.diffusion.shape, self.length)

    @property
    def state_shape(self) -> tuple[int, ...]:
        return self.diffusion.shape


@lru_cache(maxsize=64)
def _grid(shape: tuple[int, ...], length: float) -> Grid:
    """Asked for more often than some of what is done there takes."""
    spacing = length / (shape[0] - 1)
    return Grid.nodes(shape, [spacing * (n - 1) for n in shape])


def _is_smooth(field: Array) -> Bool[Array, ""]:
    """Whether differences change little from node to node, on some lines along every axis: of a wave of m half periods by
    mπ of a spacing, of a jump by itself."""
    xp = namespace(field)
    values, smooth = xp.asarray(field), True
    for axis in range(values.ndim):
        thin = [slice(None) if d == axis else slice(None, None, max(n // LINES, 1)) for d, n in enumerate(values.shape)]
        steps = xp.diff(values[tuple(thin)], axis=axis)
        largest, bend = xp.abs(steps).max(), xp.abs(xp.diff(steps, axis=axis)).max()
        smooth = smooth & ((largest <= FLAT * xp.abs(values).max()) | (bend <= JUMP * largest))
    return xp.asarray(smooth)


def _interior(nodes: Array) -> Array:
    return nodes[(slice(1, -1),) * nodes.ndim]


def _with_interior(nodes: Array, interior: Array) -> Array:
    """`nodes` with its interior replaced, boundary kept."""
    # Not nodes.at[…].set(…): batched with one lane over a constant operand, that returned uninitialised memory (XLA CPU).
    return jnp.where(_boundary(nodes.shape), nodes, jnp.pad(interior, 1))


def _on_all_nodes(boundary: Array, interior: Solve) -> Solve:
    """An interior solve completed by known boundary values, whose rows hold exactly."""
    zero = jnp.zeros_like(boundary)
    return Solve(
        _with_interior(boundary, interior.value),
        _with_interior(zero, interior.defect),
        interior.iterations,
        interior.solved,
    )


def _boundary(shape: tuple[int, ...]) -> Array:
    """Computed where it is needed: as a constant, every device would have all of it."""
    places = [jax.lax.broadcasted_iota(np.int32, shape, axis) for axis in range(len(shape))]
    return reduce(or_, ((k == 0) | (k == n - 1) for k, n in zip(places, shape, strict=True)))
