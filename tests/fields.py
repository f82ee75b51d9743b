"""Reaction–diffusion fields to certify, with candidates around their zero."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import physrank as pr
from physrank.geometry import gaps_of

solved = eqx.filter_jit(lambda problem, guess: problem.solve(guess).state)


def random_problem(seed: int, dims: int, points: int, *, size: float = 1.0) -> pr.equations.ReactionDiffusion:
    random = np.random.default_rng(seed)
    shape = (points + 2,) * dims
    a = np.exp(random.standard_normal(shape))
    f = size * 20 * random.standard_normal(shape)
    return pr.equations.ReactionDiffusion(a, f, random.uniform(0.1, 2), random.uniform(0.1, 2), length=0.7)


def interior(state: np.ndarray) -> np.ndarray:
    return np.asarray(state)[(slice(1, -1),) * np.ndim(state)]


def candidates_around(
    problem, seed: int, count: int = 5, noise: float = 0.3, ties: float = 0.0
) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed + 1000)
    with pr.double():
        centre = np.asarray(solved(problem, jnp.zeros(problem.state_shape)))
    scale = np.abs(centre).max()
    found = {}
    for k in range(count):
        error = np.zeros_like(centre)
        error[(slice(1, -1),) * centre.ndim] = noise * scale * random.standard_normal(interior(centre).shape)
        found[f"c{k}"] = centre + error
    if ties:  # the mirror image about the solution is an exact tie; then a hair's breadth of it
        found["mirror"] = (
            2 * centre - found["c0"] + ties * scale * np.sign(interior(centre)).mean() * (found["c0"] != 0)
        )
    return found


NODES = 17


def field_problem(seed=0, **options):
    random = np.random.default_rng(seed)
    a, f = 10 ** random.uniform(-0.5, 0.5, NODES), 5 * random.standard_normal(NODES)
    return pr.equations.ReactionDiffusion(a, f, options.get("linear", 1.0), options.get("cubic", 2.0))


def zero_of(problem):
    with pr.double():
        return np.asarray(solved(problem, jnp.zeros(NODES)))


def bump(random, size):
    return size * np.pad(random.standard_normal(NODES - 2), 1)


def contained(certificate, ranking, truth):
    gaps = gaps_of(ranking.space, ranking.outputs, ranking.task.outputs(truth[None])[0])
    slack = 1e-14 * np.abs(gaps).max()
    return bool(np.all((certificate.gaps.low - slack <= gaps) & (gaps <= certificate.gaps.high + slack)))


IDENTITY = pr.tasks.linear(lambda state: state, field_problem().metric())
