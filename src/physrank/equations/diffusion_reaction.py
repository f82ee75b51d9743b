"""Two-field diffusion–reaction (FitzHugh–Nagumo type), the PDEBench system."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from physrank._arrays import as_double
from physrank.equations._checks import clear_keywords, finite_array, increasing_times, positive
from physrank.geometry.grid import Grid
from physrank.geometry.lifts import lift
from physrank.physics import Evolution, Krylov, Marching
from physrank.physics.levels import altered, every
from physrank.physics.marching import initial_mismatch
from physrank.physics.neumann import cosine_basis, neumann_laplacian
from physrank.physics.solvers import LinearMap
from physrank.physics.transforms import orthogonal_transform


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
    | accuracy | PDEBench's trajectories to 1e-4 (rms): what their RK45 tolerance and Δt = 0.05 allow |
    | good values | D = (1e-3, 5e-3), k = 5e-3 on [−1, 1]², 128² cells, Δt = 0.05 |
    | limits | second order in Δt and Δx; Δt < 2, checked; Δt ≲ 1 keeps the preconditioner close |

    Main arguments: `initial`, two fields `(2, n, n)` at `times[0]`; `times`.

    Other arguments: `diffusion` (D_u, D_v); `threshold` k; `length` of the side.
    """

    output = "terminal"
    order = 2
    leaps = True  # every row is an implicit solve

    initial: Array
    times: Array
    diffusion: Array
    threshold: Float[Array, ""]
    length: float = eqx.field(static=True)

    @clear_keywords
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
        self.length = float(positive("length", length))
        self.check_stable()

    def check_stable(self) -> None:
        longest = float(np.diff(np.asarray(self.times)).max())
        if longest >= 2:
            raise ValueError(
                f"times are up to {longest:g} apart; expected less than 2, where a trapezoidal step can become singular."
            )

    @property
    def cells(self) -> int:
        return self.initial.shape[-1]

    @property
    def spacing(self) -> float:
        return self.length / self.cells

    def reaction(self, state: Array, threshold: Array) -> Array:
        """The right-hand sides without diffusion."""
        u, v = state
        return jnp.stack([u - u**3 - threshold - v, u - v])

    def trapezoid(self, after: Array, now: Array, data: tuple[Array, Array], interval: Array) -> Array:
        """The map defect of one step; diffusion is linear, so one Laplacian serves both ends."""
        diffusion, threshold = data
        spread = diffusion[:, None, None] * neumann_laplacian(after + now, self.spacing)
        return after - now - interval / 2 * (spread + self.reaction(after, threshold) + self.reaction(now, threshold))

    def precondition(self, after: Array, now: Array, data: tuple[Array, Array], interval: Array) -> LinearMap:
        """The step with its reaction factor d = 1 − Δt/2 (1 − 3u²) scaled to its mean from both sides, inverted exactly.

        A step is d(x) − Δt/2 D_u Δ with a small second part: the scaling takes care of the variable first part, and
        what remains has constant coefficients, a 2 × 2 system for every cosine mode. What the scaling misses is rough,
        and one damped Jacobi step on u, a tenth of the cost, takes most of it away.
        """
        del now
        (diffusion, _), half = data, interval / 2
        matrix, values = cosine_basis(self.cells, self.spacing)
        laplacian = values[:, None] + values[None, :]
        factor = 1 - half * (1 - 3 * after[0] ** 2)
        mean = jnp.mean(factor)
        uu = mean - half * diffusion[0] * laplacian
        vv = 1 - half * (diffusion[1] * laplacian - 1)
        determinant = uu * vv + half**2
        weight = 1 / (factor + 4 * half * diffusion[0] / self.spacing**2)  # 1 / the diagonal
        # An approximate inverse needs no more than single precision.
        single = lambda *arrays: [jnp.asarray(a, jnp.float32) for a in arrays]  # noqa: E731
        uu, vv, cross = single(*(a / determinant for a in (uu, vv, jnp.full_like(uu, half))))
        basis, factor, weight, spread, scale = single(
            matrix, factor, weight, half * diffusion[0], jnp.stack([jnp.sqrt(mean / factor), jnp.ones_like(factor)])
        )
        coupling = half.astype(jnp.float32)

        def apply(r: Array) -> Array:
            rough = r.astype(jnp.float32)
            u, v = orthogonal_transform(basis, scale * rough)
            modes = jnp.stack([vv * u - cross * v, cross * u + uu * v])
            u, v = scale * orthogonal_transform(basis, modes, back=True)
            left = rough[0] - (factor * u - spread * neumann_laplacian(u, self.spacing) + coupling * v)
            return jnp.stack([u + weight * left, v]).astype(r.dtype)

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
            residual_weights=self.spacing**2,
        )

    def concerns(self, state: np.ndarray) -> list[str]:
        return initial_mismatch(state, np.asarray(self.initial))

    @property
    def steps_per_row(self) -> None:
        return None

    def stated_on(self, points: int, substeps: int, rows: int) -> "DiffusionReaction":
        del substeps
        initial = as_double(lift(self.initial, (points, points), "cosine"))
        return altered(self, initial=initial, times=self.times[every(rows, len(self.times))])

    @property
    def grid(self) -> Grid:
        return Grid.cells(self.initial.shape[1:], self.length)

    @property
    def state_shape(self) -> tuple[int, ...]:
        return (self.times.shape[-1], *self.initial.shape)
