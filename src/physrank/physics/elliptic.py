"""Variable-coefficient Dirichlet diffusion on a box in any dimension, and a fast solver for K + diag(c)."""

from functools import reduce

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from physrank.physics.monotone import SecantMetric
from physrank.physics.solvers import Krylov, LinearMap, Solve, norm, square
from physrank.physics.transforms import along, low_sines, sine_transform

MOST_STEPS = 1000
SMOOTH = 32  # modes a side that are left in an error once it has been through the inverse below


def _eigenvalues(points: int, spacing: float) -> np.ndarray:
    """Those of −d²/dx² on interior nodes."""
    return 4 / spacing**2 * np.sin(np.pi * np.arange(1, points + 1) / (2 * (points + 1))) ** 2


class DirichletDiffusion(eqx.Module):
    """−∇·(a∇u) by conservative differences with harmonic face coefficients; u lives on nodes, boundary included."""

    coefficient: Array  # a on all nodes
    faces: tuple[Array, ...]  # harmonic means along each axis, at interior positions of the other axes
    spacing: float = eqx.field(static=True)

    def __init__(self, coefficient: Array, spacing: float):
        self.coefficient = coefficient
        self.spacing = spacing
        ndim = coefficient.ndim
        faces = []
        for axis in range(ndim):
            a = coefficient[tuple(slice(None) if d == axis else slice(1, -1) for d in range(ndim))]
            low, high = _sides(a, axis)
            faces.append(2 * low * high / (low + high))
        self.faces = tuple(faces)

    @property
    def _coupled(self) -> list[tuple[int, Array, Array]]:
        """Per axis: the coefficients toward the lower and the upper neighbour, divided by h²."""
        pairs = []
        for axis, face in enumerate(self.faces):
            pairs.append((axis, *_sides(face / self.spacing**2, axis)))
        return pairs

    def apply(self, nodes: Array) -> Array:
        """K u at the interior nodes, from u on all nodes."""
        centre = _interior(nodes)
        result = jnp.zeros_like(centre)
        for axis, lower, upper in self._coupled:
            result = (
                result + (lower + upper) * centre - lower * _shifted(nodes, axis, -1) - upper * _shifted(nodes, axis, 1)
            )
        return result

    def solve(self, reaction: Array, rhs: Array, floor: Float[Array, ""], rtol: float = 1e-10) -> Solve:
        """(K + diag(reaction)) x = rhs on the interior, zero on the boundary; needs reaction ≥ 0."""
        krylov = Krylov(rtol=rtol, max_steps=MOST_STEPS, method="cg")
        return krylov.solve(self._with(reaction), rhs, floor, self.rough_inverse(reaction))

    def solve_roughly(self, reaction: Array, rhs: Array, floor: Float[Array, ""], tolerance: float) -> Array:
        """x to a few digits. The same iteration, which here ends before it preconditions what it leaves, and is not judged:
        of three or four preconditionings, the bulk of its price, that saves one."""
        operator, inverse = self._with(reaction), self.rough_inverse(reaction)
        size = jnp.max(jnp.abs(rhs))
        size = jnp.where((size > 0) & jnp.isfinite(size), size, 1.0)  # numbers of 1e-300 have squares too
        wanted = rhs / size
        enough = jnp.maximum(tolerance * norm(wanted), floor / size) ** 2

        def unfinished(carry: tuple[Array, ...]) -> Array:
            _, left, _, _, count = carry
            error = square(left)
            return ~(error <= enough) & (count < MOST_STEPS) & (jnp.isfinite(error) | (count == 0))

        def iterate(carry: tuple[Array, ...]) -> tuple[Array, ...]:
            x, left, direction, before, count = carry
            towards = inverse(left)
            now = jnp.sum(left * towards)
            direction = towards + now / before * direction
            pushed = operator(direction)
            length = now / jnp.sum(direction * pushed)
            return x + length * direction, left - length * pushed, direction, now, count + 1

        zero = jnp.zeros_like(wanted)
        start = (zero, wanted, zero, jnp.asarray(jnp.inf, wanted.dtype), jnp.asarray(0))
        return size * jax.lax.while_loop(unfinished, iterate, start)[0]

    def _with(self, reaction: Array) -> LinearMap:
        """K + diag(reaction) on interior nodes, zero on the boundary."""
        lower_upper = self._coupled
        diagonal = reaction + sum(lower + upper for _, lower, upper in lower_upper)

        def operator(x: Array) -> Array:
            padded = jnp.pad(x, 1)
            result = diagonal * x
            for axis, lower, upper in lower_upper:
                result = result - lower * _shifted(padded, axis, -1) - upper * _shifted(padded, axis, 1)
            return result

        return operator

    def _potential(self, reaction: Array) -> Array:
        """V = Δ√a/√a + c/a: what −∇·(a∇) + c is beyond a Laplacian, once scaled by √a."""
        root = jnp.sqrt(self.coefficient)
        centre = _interior(root)
        around = sum(_shifted(root, axis, -1) + _shifted(root, axis, 1) - 2 * centre for axis in range(root.ndim))
        return around / self.spacing**2 / centre + reaction / centre**2

    def roughness(self, reaction: Array) -> Float[Array, ""]:
        """max |V − V̄| / (λ₁ + V̄): how far the inverse below may be from the true one, mode by mode; zero: not at all."""
        potential = self._potential(reaction)
        mean = jnp.maximum(jnp.mean(potential), 0.0)
        lowest = sum(4 / self.spacing**2 * np.sin(np.pi / (2 * (n + 1))) ** 2 for n in potential.shape)
        return jnp.max(jnp.abs(potential - mean)) / (lowest + mean)

    def rough_inverse(self, reaction: Array) -> LinearMap:
        """√a-scaled sine inverse.

        With v = √a u, −∇·(a∇u) = √a (−Δ + Δ√a/√a) v: scaling by √a on both sides leaves a constant-coefficient
        Laplacian plus a bounded potential, of which the mean is kept. For smooth a the iteration count then hardly
        depends on h or on the contrast; for rough a the potential is large and the count grows.
        """
        centre, symbol = self._symbol(reaction)
        # An approximate inverse needs no more than single precision; the iteration around it is double throughout.
        inverse, scale = (1 / symbol).astype(jnp.float32), 1 / centre

        def precondition(r: Array) -> Array:
            smooth = sine_transform(inverse * sine_transform((scale * r).astype(jnp.float32)), back=True)
            return scale * smooth.astype(r.dtype)

        return precondition

    def smooth_inverse(self, reaction: Array, rhs: Array) -> tuple[Array, Float[Array, ""]]:
        """The same applied to `rhs` by its first `SMOOTH` modes a side, for a fraction of the price; and how large a bound of
        what the others would add is, in the Euclidean norm."""
        centre, symbol = self._symbol(reaction)
        modes = tuple(min(n, SMOOTH) for n in rhs.shape)
        bases = [jnp.asarray(low_sines(n, m)) for n, m in zip(rhs.shape, modes, strict=True)]
        scaled = rhs / centre
        low = reduce(lambda x, k: along(k, bases[k], x), reversed(range(rhs.ndim)), scaled)
        smooth = low / symbol[tuple(slice(m) for m in modes)]
        smooth = reduce(lambda x, k: along(k, bases[k].T, x), range(rhs.ndim), smooth)
        lowest = symbol[(0,) * rhs.ndim]
        higher = [
            symbol[tuple(m if d == k else 0 for d in range(rhs.ndim))] for k, m in enumerate(modes) if m < rhs.shape[k]
        ]
        beyond = reduce(jnp.minimum, higher, jnp.inf) if higher else lowest
        missed = jnp.sqrt(jnp.maximum(jnp.sum(scaled**2) - jnp.sum(low**2), 0.0)) / beyond
        return smooth / centre, missed / jnp.min(centre) if higher else jnp.zeros(())

    def _symbol(self, reaction: Array) -> tuple[Array, Array]:
        """√a on interior nodes, and the constant-coefficient operator mode by mode."""
        centre = _interior(jnp.sqrt(self.coefficient))
        potential = jnp.maximum(jnp.mean(self._potential(reaction)), 0.0)
        return centre, potential + sum(
            jnp.asarray(_eigenvalues(n, self.spacing)).reshape([-1 if d == axis else 1 for d in range(centre.ndim)])
            for axis, n in enumerate(centre.shape)
        )


class DirichletMetric(SecantMetric):
    """M_s = K + λ + ¾γ s² on interior nodes: (a³ − b³)(a − b) ≥ ¾a²(a − b)² makes the cubic term monotone."""

    residual: Array
    coercivity: Float[Array, ""]
    diffusion: DirichletDiffusion
    reaction: Array
    cubic: Float[Array, ""]
    smallest_diffusion: Float[Array, ""]
    linear_part: Float[Array, ""]

    def apply(self, direction: Array) -> Array:
        return self.diffusion.apply(jnp.pad(direction, 1)) + self.reaction * direction

    def solve(self, rhs: Array) -> Solve:
        # What the solve leaves enters a bound to second order: six digits are plenty.
        return self.diffusion.solve(self.reaction, rhs, jnp.zeros(()), rtol=1e-6)

    def free(self, covector: Array) -> Array:
        return _interior(covector)

    @property
    def hypotheses(self) -> dict[str, Float[Array, ""]]:
        return {
            "the cubic coefficient γ": self.cubic,
            "the smallest diffusion a": self.smallest_diffusion,
            "λ, or the least eigenvalue of K + λ": self.linear_part,  # else there may be several zeros
        }


def _sides(a: Array, axis: int) -> tuple[Array, Array]:
    """All entries but the last along one axis, and all but the first."""
    n = a.shape[axis]
    return jax.lax.slice_in_dim(a, 0, n - 1, axis=axis), jax.lax.slice_in_dim(a, 1, n, axis=axis)


def _interior(nodes: Array) -> Array:
    return nodes[(slice(1, -1),) * nodes.ndim]


def _shifted(nodes: Array, axis: int, by: int) -> Array:
    """Interior-shaped view of the neighbours one node away along `axis`."""
    return nodes[
        tuple(slice(1 + by, nodes.shape[d] - 1 + by) if d == axis else slice(1, -1) for d in range(nodes.ndim))
    ]
