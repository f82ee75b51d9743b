"""Problems with levels below their grid, some with structure that no coarse grid sees."""

from functools import cache, partial

import jax.numpy as jnp
import numpy as np

import physrank as pr

POINTS, MODE = 64, 40


def field(amplitude=0.0):
    """Smooth reaction–diffusion, and if asked for a force at mode 40 that no coarse grid sees."""
    return pr.equations.ReactionDiffusion(
        lambda x, y: 1 + 0.5 * np.cos(np.pi * x) * y,
        lambda x, y: (
            20 * np.sin(np.pi * x) * np.sin(np.pi * y) + amplitude * np.sin(MODE * np.pi * x) * np.sin(MODE * np.pi * y)
        ),
        1.0,
        0.5,
        points=POINTS,
    )


def wave(amplitude=0.0, pulse=0.0):
    """Burgers over half a time unit, with structure at mode 40 from the start or by a short pulse."""
    return pr.equations.Burgers(
        lambda x: np.sin(x) + amplitude * np.sin(MODE * x),
        5e-4,
        np.linspace(0, 0.5, 41),
        lambda t, x: pulse * np.exp(-(((t - 0.33) / 0.006) ** 2)) * np.sin(MODE * x),
        points=192,
        substeps=8,
    )


def solved(problem):
    state, failed = pr.scorers.DirectSolve().solution(problem, problem.state_shape)
    assert failed is None
    return state


def blind_library(with_it, without):
    """Candidates that a grid blind to the structure would order the other way round."""
    offset = np.zeros_like(with_it)
    offset[..., :] = np.sin(3 * np.linspace(0, 2 * np.pi, with_it.shape[-1], endpoint=False))
    last = (with_it - without)[-1] if with_it.shape[0] != with_it.shape[-1] else with_it - without
    offset *= np.sqrt(np.mean(last**2) / np.mean(offset**2))
    return {
        "with": with_it + 0.7 * offset,
        "without": without + 0.1 * offset,
        "between": (with_it + without) / 2 + 0.2 * offset,
    }


@cache  # the same functions, so that they are compiled once
def cubic(level=0, xp=jnp):
    """−u'' + u³ = f on 127 nodes, or fewer; in NumPy, on the host."""
    n = 128 // 2**level - 1

    def residual(u, f):
        padded = xp.pad(u, 1)
        return (2 * u - padded[:-2] - padded[2:]) * (n + 1) ** 2 + u**3 - f

    force = 10 * np.sin(np.pi * np.arange(1, n + 1) / (n + 1))
    grid = pr.Grid.nodes(n, n / (n + 1), kind="polynomial")
    coarsen = partial(cubic, xp=xp) if level == 0 else None
    return pr.Stationary(residual, force, grid=grid, shape=(n,), host=xp is np, coarsen=coarsen)


@cache
def iterated(power=3):
    """−u'' + uᵖ = f by conjugate gradients, which need as many steps as there are nodes."""
    whole = cubic()
    return pr.Stationary(
        lambda u, f: whole.residual(u, f) - u**3 + u**power,
        whole.data,
        grid=whole.grid,
        shape=whole.shape,
        solver=pr.Krylov("cg", rtol=1e-12, max_steps=2000),
    )
