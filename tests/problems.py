"""The table of problems over which the laws run: every equation, problem type and solver, small."""

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from scipy import sparse
from scipy.sparse.linalg import factorized

import physrank as pr

TIMES = np.linspace(0.0, 0.3, 6)


@dataclass(frozen=True)
class Case:
    problem: pr.Problem
    state: Callable[[int], np.ndarray]  # a generic state, by seed
    scale: float = 1.0  # size of perturbations that keep the state sensible
    accuracy: float = 1e-13  # of the tangent against its own adjoint
    against: float = 1e-13  # of the tangent against a Jacobian found in another way


def _smooth(shape, seed, scale=1.0):
    """A random state, damped along every axis but not special in any way."""
    values = np.random.default_rng(seed).standard_normal(shape)
    for axis in range(len(shape)):
        values = (values + np.roll(values, 1, axis)) / 2
    return scale * values


def burgers(points=32, **options) -> pr.equations.Burgers:
    return pr.equations.Burgers(
        lambda x: np.sin(x) + 0.3 * np.cos(2 * x),
        0.05,
        TIMES,
        lambda t, x: 0.2 * np.sin(x) * np.cos(5 * t),
        points=points,
        substeps=2,
        **options,
    )


def sampled_burgers(**options) -> pr.equations.Burgers:
    """Burgers as somebody states it who has arrays on 32 points; any of its data may be stated otherwise."""
    x = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    stated = {
        "initial": np.sin(x) + 0.3 * np.cos(2 * x),
        "viscosity": 0.05,
        "times": TIMES,
        "forcing": 0.2 * np.sin(x),
        "substeps": 16,
    }
    return pr.equations.Burgers(**stated | options, points=32)


def reaction_diffusion(dims=2, points=6, cubic=0.7) -> pr.equations.ReactionDiffusion:
    return pr.equations.ReactionDiffusion(
        lambda *x: 0.5 + np.exp(0.5 * np.cos(np.pi * sum(x))),
        lambda *x: 20 * np.sin(np.pi * x[0]) * np.cos(sum(x)),
        0.9,
        cubic,
        points=points,
        dims=dims,
    )


def sine_gordon(points=16, substeps=2) -> pr.equations.SineGordon:
    return pr.equations.SineGordon(
        lambda x: 1.5 * np.sin(x),
        lambda x: 0.5 * np.cos(2 * x),
        TIMES,
        1.2,
        lambda t, x: 0.3 * np.cos(x - t),
        points=points,
        substeps=substeps,
    )


def diffusion_reaction(cells=6) -> pr.equations.DiffusionReaction:
    return pr.equations.DiffusionReaction(
        np.random.default_rng(1).standard_normal((2, cells, cells)), np.linspace(0, 0.2, 4), diffusion=(0.02, 0.05)
    )


def flow(dims=1, cells=10, **options) -> pr.equations.CompressibleFlow:
    """A smooth state without symmetries, so that no two wave speeds tie."""
    x = np.meshgrid(*[(np.arange(cells) + 0.5) / cells] * dims, indexing="ij")
    angle = 2 * np.pi * sum((k + 1) * c for k, c in enumerate(x))
    fields = [1 + 0.2 * np.sin(angle + 0.3), *(0.3 * np.cos(angle + k) for k in range(dims)), 1 + 0.1 * np.cos(angle)]
    state = pr.equations.conservative(np.stack(fields), 5 / 3)
    defaults = {"boundary": "periodic", "substeps": 2, "shear": 0.01, "bulk": 0.005}
    return pr.equations.CompressibleFlow(state, [0.0, 0.02, 0.05], **defaults | options)


def near(problem: pr.equations.CompressibleFlow):
    """States close enough to the initial one to stay admissible."""
    rows = np.broadcast_to(np.asarray(problem.initial), problem.state_shape)
    return lambda seed: rows + 0.02 * np.random.default_rng(seed).standard_normal(rows.shape)


def shock_tube(cells, **options):
    x = (np.arange(cells) + 0.5) / cells
    start = np.stack([np.where(x < 0.5, 1.0, 0.125), 0 * x, np.where(x < 0.5, 1.0, 0.1)])
    return pr.equations.CompressibleFlow(
        pr.equations.conservative(start, 1.4),
        np.linspace(0, 0.2, 11),
        "outflow",
        gamma=1.4,
        substeps=cells // 10,
        **options,
    ), x


def _second_difference(u):
    padded = jnp.pad(u, 1)
    return (padded[2:] - 2 * padded[1:-1] + padded[:-2]) * (len(u) + 1) ** 2


def bratu(u, strength):
    """−u'' = strength · exp(u), zero at both ends."""
    return -_second_difference(u) - strength * jnp.exp(u)


def linear_stationary(u, f):
    """A non-symmetric linear problem."""
    return -_second_difference(u) + 3 * (jnp.roll(u, 1) - u) + u - f


def explicit_step(u, data, forcing):
    return u - 0.1 * data * (u**3 - jnp.roll(u, 1)) + forcing


def linear_step(u, data):
    return 0.9 * u + data * jnp.roll(u, 1)


def trapezoid_residual(after, now, data):
    rate = lambda u: -(u**3) + data * (jnp.roll(u, 1) - u)  # noqa: E731
    return after - now - 0.1 * (rate(after) + rate(now))


def host_trapezoid_residual(after, now, data):
    rate = lambda u: -(u**3) + data * (np.roll(u, 1) - u)  # noqa: E731
    return after - now - 0.1 * (rate(after) + rate(now))


def host_trapezoid_jacobian(after, now, data):
    del now
    shifted = np.roll(np.eye(after.size), 1, axis=0)
    return sparse.csc_array(np.eye(after.size) - 0.1 * (-np.diag(3 * after**2) + data * (shifted - np.eye(after.size))))


def linear_implicit(after, now, data):
    return after - now - 0.2 * (jnp.roll(after, 1) - 2 * after) - data


def _jacobi(u, strength):
    return lambda r: r / (2 * (len(u) + 1) ** 2)


def _matrix(points):
    """−u'' as a sparse matrix."""
    return (points + 1) ** 2 * sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(points, points)).tocsr()


def host_bratu(u, strength):
    return _matrix(u.size) @ u.ravel() - strength * np.exp(u.ravel())


def host_bratu_jacobian(u, strength):
    return _matrix(u.size) - sparse.diags_array(strength * np.exp(u.ravel()))


def host_step(u, data, forcing):
    return u - 0.1 * data * (u**3 - np.roll(u, 1)) + forcing


def timed_step(u, data, t):
    return u - 0.1 * data * jnp.cos(t) * u**3


def host_timed_step(u, data, t):
    return u - 0.1 * data * np.cos(t) * u**3


def indefinite(points=9):
    """A Helmholtz operator with eigenvalues on both sides of zero, not symmetric."""
    return _matrix(points) - 60 * sparse.eye_array(points) + 3 * sparse.eye_array(points, k=1)


_FORCING = 0.1 * np.random.default_rng(3).standard_normal((5, 7))
_INITIAL = _smooth((7,), 11)

CASES = {
    "burgers": Case(burgers(), lambda seed: _smooth((6, 32), seed, 0.5)),
    "reaction-diffusion 1-D": Case(reaction_diffusion(1, 9), lambda seed: _smooth((11,), seed)),
    "reaction-diffusion 2-D": Case(reaction_diffusion(2, 6), lambda seed: _smooth((8, 8), seed)),
    "reaction-diffusion 3-D": Case(reaction_diffusion(3, 4), lambda seed: _smooth((6, 6, 6), seed)),
    "sine-gordon": Case(sine_gordon(), lambda seed: _smooth((6, 2, 16), seed)),
    "diffusion-reaction": Case(diffusion_reaction(), lambda seed: _smooth((4, 2, 6, 6), seed)),
    "flow 1-D": Case(flow(1), near(flow(1)), scale=0.02),
    "flow 1-D, outflow": Case(flow(1, boundary="outflow"), near(flow(1)), scale=0.02),
    "flow 2-D": Case(flow(2, 5), near(flow(2, 5)), scale=0.002),
    "stationary, dense": Case(pr.Stationary(bratu, data=1.0), lambda seed: _smooth((9,), seed, 0.3)),
    "stationary, GMRES": Case(
        pr.Stationary(bratu, data=1.0, solver=pr.Krylov(), preconditioner=_jacobi),
        lambda seed: _smooth((9,), seed, 0.3),
    ),
    "stationary, CG": Case(
        pr.Stationary(bratu, data=1.0, solver=pr.Krylov(method="cg")), lambda seed: _smooth((9,), seed, 0.3)
    ),
    "marching, explicit": Case(
        pr.Marching(explicit_step, _INITIAL, data=0.8, forcing=_FORCING), lambda seed: _smooth((6, 7), seed)
    ),
    "marching, implicit dense": Case(
        pr.Marching(trapezoid_residual, _INITIAL, data=0.5, implicit=True), lambda seed: _smooth((6, 7), seed)
    ),
    "marching, implicit GMRES": Case(
        pr.Marching(trapezoid_residual, _INITIAL, data=0.5, implicit=True, solver=pr.Krylov()),
        lambda seed: _smooth((6, 7), seed),
    ),
    "marching, times": Case(
        pr.Marching(timed_step, _INITIAL, data=0.8, times=TIMES), lambda seed: _smooth((6, 7), seed)
    ),
    "assembled": Case(
        pr.Assembled(host_bratu, host_bratu_jacobian, data=1.0), lambda seed: _smooth((9,), seed, 0.3), against=1e-9
    ),
    "assembled, 3 × 3, own solver": Case(
        pr.Assembled(host_bratu, host_bratu_jacobian, data=1.0, solver=factorized),
        lambda seed: _smooth((3, 3), seed, 0.3),
        against=1e-9,
    ),
    "stationary, host": Case(
        pr.Stationary(host_bratu, data=1.0, host=True), lambda seed: _smooth((9,), seed, 0.3), against=1e-8
    ),
    "stationary, host GMRES": Case(
        pr.Stationary(host_bratu, data=1.0, host=True, solver=pr.Krylov()),
        lambda seed: _smooth((9,), seed, 0.3),
        accuracy=1e-7,
        against=1e-6,
    ),
    "marching, host": Case(
        pr.Marching(host_step, _INITIAL, data=0.8, forcing=_FORCING, host=True),
        lambda seed: _smooth((6, 7), seed),
        accuracy=1e-7,
        against=1e-6,
    ),
    "marching, host, implicit": Case(
        pr.Marching(host_trapezoid_residual, _INITIAL, data=0.5, implicit=True, host=True),
        lambda seed: _smooth((6, 7), seed),
        accuracy=1e-7,
        against=1e-6,
    ),
    "marching, host, implicit, Jacobian": Case(
        pr.Marching(
            host_trapezoid_residual, _INITIAL, data=0.5, implicit=True, host=True, jacobian=host_trapezoid_jacobian
        ),
        lambda seed: _smooth((6, 7), seed),
        accuracy=1e-7,
        against=1e-6,
    ),
    "marching, host, times": Case(
        pr.Marching(host_timed_step, _INITIAL, data=0.8, times=TIMES, host=True),
        lambda seed: _smooth((6, 7), seed),
        accuracy=1e-7,
        against=1e-6,
    ),
}

LINEAR_CASES = {
    "reaction-diffusion 1-D": Case(reaction_diffusion(1, 9, cubic=0.0), lambda seed: _smooth((11,), seed)),
    "reaction-diffusion 2-D": Case(reaction_diffusion(2, 6, cubic=0.0), lambda seed: _smooth((8, 8), seed)),
    "reaction-diffusion 3-D": Case(reaction_diffusion(3, 4, cubic=0.0), lambda seed: _smooth((6, 6, 6), seed)),
    "stationary, dense": Case(
        pr.Stationary(linear_stationary, data=np.linspace(1, 2, 9)), lambda seed: _smooth((9,), seed)
    ),
    "stationary, GMRES": Case(
        pr.Stationary(linear_stationary, data=np.linspace(1, 2, 9), solver=pr.Krylov()),
        lambda seed: _smooth((9,), seed),
    ),
    "marching, explicit": Case(pr.Marching(linear_step, _INITIAL, data=0.2), lambda seed: _smooth((6, 7), seed)),
    "marching, implicit": Case(
        pr.Marching(linear_implicit, _INITIAL, data=0.2, implicit=True), lambda seed: _smooth((6, 7), seed)
    ),
    "linear, indefinite": Case(
        pr.Linear(indefinite(), np.linspace(1, 2, 9).reshape(3, 3)), lambda seed: _smooth((3, 3), seed)
    ),
    "linear, dense": Case(pr.Linear(indefinite().toarray(), np.linspace(1, 2, 9)), lambda seed: _smooth((9,), seed)),
    "stationary, host": Case(
        pr.Stationary(lambda u, f: indefinite() @ u - f, data=np.linspace(1, 2, 9), host=True),
        lambda seed: _smooth((9,), seed),
    ),
    "marching, host": Case(
        pr.Marching(lambda u, data: 0.9 * u + data * np.roll(u, 1), _INITIAL, data=0.2, host=True),
        lambda seed: _smooth((6, 7), seed),
    ),
}
