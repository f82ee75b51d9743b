"""Two-field diffusion–reaction (FitzHugh–Nagumo type), the PDEBench system."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from physrank._precision import as_double
from physrank.equations._checks import finite_array, increasing_times, positive
from physrank.physics import Evolution, Krylov, Marching
from physrank.physics.cells import cosine_basis, neumann_laplacian
from physrank.physics.quadrature import Metric, cell_area
from physrank.physics.solvers import LinearMap


class DiffusionReaction(Evolution):
    """Activator and inhibitor on a square with no-flux walls.

        u_t = D_u Δu + u − u³ − k − v,   v_t = D_v Δv + u − v

    | | |
    |---|---|
    | state | `(times, 2, n, n)`: activator and inhibitor on cell centres, first row at `times[0]` (the last observed frame) |
    | defect | the known first frame; then the trapezoidal map w_{n+1} − w_n − Δt/2 (F(w_{n+1}) + F(w_n)) |
    | space | cell-centred five-point Laplacian, one-neighbour rows at walls |
    | response | forward substitution; BiCGStab per step (rtol 1e-10, atol 1e-12, 100 iterations), cosine preconditioner |
    | raw norm | Δx Δy Σ |r|² over fields, cells and rows; map defects contain their time step |
    | task | both terminal fields, cell-area L² |
    | good values | D = (1e-3, 5e-3), k = 5e-3 on [−1, 1]², 128² cells, Δt = 0.05 |
    | limits | second order in Δt and Δx; Δt ≲ 1 keeps the preconditioner close |

    Main arguments: `initial`, two fields `(2, n, n)` at `times[0]`; `times`.

    Other arguments: `diffusion` (D_u, D_v); `threshold` k; `length` of the side.
    """

    initial: Array
    times: Array
    diffusion: Array
    threshold: Float[Array, ""]
    length: float = eqx.field(static=True)

    def __init__(
        self,
        initial: Any,
        times: Any,
        *,
        diffusion: tuple[float, float] = (1e-3, 5e-3),
        threshold: float = 5e-3,
        length: float = 2.0,
    ):
        start = finite_array("initial", initial)
        if start.ndim != 3 or start.shape[0] != 2 or start.shape[1] != start.shape[2]:
            raise ValueError(f"initial must hold two square fields, shape (2, n, n); got {start.shape}.")
        coefficients = positive("diffusion", diffusion)
        if coefficients.shape != (2,):
            raise ValueError(f"diffusion must be two numbers (D_u, D_v); got {diffusion!r}.")
        self.initial = as_double(start)
        self.times = as_double(increasing_times(times))
        self.diffusion = as_double(coefficients)
        self.threshold = as_double(finite_array("threshold", threshold))
        self.length = float(length)

    @property
    def cells(self) -> int:
        return self.initial.shape[-1]

    @property
    def spacing(self) -> float:
        return self.length / self.cells

    def rate(self, state: Array, diffusion: Array, threshold: Array) -> Array:
        """F: the right-hand sides of both equations."""
        u, v = state
        du, dv = (d * neumann_laplacian(field, self.spacing) for d, field in zip(diffusion, state, strict=True))
        return jnp.stack([du + u - u**3 - threshold - v, dv + u - v])

    def trapezoid(self, after: Array, now: Array, data: tuple[Array, Array], interval: Array) -> Array:
        """The map defect of one step."""
        return after - now - interval / 2 * (self.rate(after, *data) + self.rate(now, *data))

    def precondition(self, after: Array, now: Array, data: tuple[Array, Array], interval: Array) -> LinearMap:
        """The step with its reaction factor d = 1 − Δt/2 (1 − 3u²) scaled to its mean from both sides, inverted exactly.

        A step is d(x) − Δt/2 D_u Δ with a small second part: the scaling takes care of the variable first part, and
        what remains has constant coefficients, a 2 × 2 system for every cosine mode.
        """
        del now
        matrix, values = cosine_basis(self.cells, self.spacing)
        laplacian, half = values[:, None] + values[None, :], interval / 2
        factor = 1 - half * (1 - 3 * after[0] ** 2)
        mean = jnp.mean(factor)
        scale = jnp.stack([jnp.sqrt(mean / factor), jnp.ones_like(factor)]).astype(jnp.float32)
        uu = mean - half * data[0][0] * laplacian
        vv = 1 - half * (data[0][1] * laplacian - 1)
        determinant = uu * vv + half**2
        # An approximate inverse needs no more than single precision.
        basis = jnp.asarray(matrix, jnp.float32)
        uu, vv, cross = ((a / determinant).astype(jnp.float32) for a in (uu, vv, jnp.full_like(uu, half)))

        def apply(r: Array) -> Array:
            u, v = basis @ (scale * r.astype(jnp.float32)) @ basis.T
            modes = jnp.stack([vv * u - cross * v, cross * u + uu * v])
            return (scale * (basis.T @ modes @ basis)).astype(r.dtype)

        return apply

    @property
    def marching(self) -> Marching:
        return Marching(
            self.trapezoid,
            self.initial,
            (self.diffusion, self.threshold),
            forcing=jnp.diff(self.times),
            implicit=True,
            solver=Krylov("bicgstab", rtol=1e-10, atol=1e-12, max_steps=100),
            preconditioner=self.precondition,
            weights=self.spacing**2,
        )

    def metric(self) -> Metric:
        return cell_area([self.length, self.length])

    @property
    def state_shape(self) -> tuple[int, ...]:
        return (self.times.shape[-1], *self.initial.shape)

    @property
    def grid_shape(self) -> tuple[int, ...]:
        return self.initial.shape[1:]

    @property
    def lift_kind(self) -> str:
        return "cosine"

    @property
    def batch_width(self) -> int:
        return 1
