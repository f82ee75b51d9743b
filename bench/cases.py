"""What the yardstick measures: inputs of every equation, their candidates, and a target finer than the grid that judges."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import exponax as ex
import jax.numpy as jnp
import numpy as np
from ladder import library, solved

import physrank as pr
from physrank.lab.demo import LIBRARIES, DemoData, equation_of
from physrank.lab.equations import EQUATIONS
from physrank.lab.inputs import ShockTube, diffusion_reaction_cells, random_flow_2d
from physrank.lab.references import pdebench
from physrank.ranking.candidates import Candidates


@dataclass(frozen=True, eq=False)
class Input:
    """One input: its equation, what is to be ranked, and the task's output of a finer solution."""

    problem: Any
    candidates: Candidates
    finer: np.ndarray


@dataclass(frozen=True)
class Population:
    """Inputs of one equation on one grid."""

    title: str
    candidates: str
    finer: str  # what the finer target is
    make: Callable[[int], Iterator[Input]]  # so many inputs
    inputs: int
    repeats: int = 5
    edges: int = 0  # nodes per side that are no unknowns
    shorter: dict[str, dict[str, int]] = field(default_factory=dict)  # solves that also save in time


def trained(equation: str, count: int) -> Iterator[Input]:
    """The shipped inputs, with the trained networks of both libraries."""
    data = DemoData.load()
    names = [name for name in LIBRARIES if equation_of(name) == equation]
    for k in range(-(-count // len(names))):
        problem = data.problem(equation, k)
        for name in names:
            yield Input(problem, Candidates.of(data.candidates(name, k), problem), data.references[equation][k])


def large_fields(points: int, count: int) -> Iterator[Input]:
    """Judged on a grid, compared with every other node of one twice as fine."""
    declared = EQUATIONS["reaction_diffusion"]
    for k, case in enumerate(declared.population("development", count)):
        problem, fine = declared.problem(case, points), declared.problem(case, 2 * points + 1)
        edge = np.sin(np.pi * np.linspace(0, 1, points + 2)).clip(0) ** 0.25  # predictions keep the boundary values
        given = library(solution(problem), seed=k, window=np.outer(edge, edge))
        yield Input(problem, Candidates.of(given, problem), solution(fine)[::2, ::2])


def pendulums(count: int) -> Iterator[Input]:
    declared = EQUATIONS["sine_gordon"]
    cases = declared.population("development", count)
    for k, (case, reference) in enumerate(zip(cases, declared.references(cases, "first"), strict=True)):
        problem = declared.problem(case)
        yield Input(problem, Candidates.of(library(solution(problem), seed=k), problem), reference.fine)


def cells(count: int) -> Iterator[Input]:
    for k in range(count):
        frames = pdebench.diffusion_reaction(diffusion_reaction_cells("development", k), np.linspace(0, 5, 101))
        problem = pr.equations.DiffusionReaction(frames[9], np.linspace(0.45, 5, 92))
        yield Input(problem, Candidates.of(library(solution(problem), seed=k), problem), frames[-1])


def tubes(count: int) -> Iterator[Input]:
    def stated(tube: ShockTube, points: int) -> pr.equations.CompressibleFlow:
        start, times = pr.equations.conservative(tube.primitive(points), 1.4), np.linspace(0, 0.1, 11)
        return pr.equations.CompressibleFlow(start, times, "outflow", gamma=1.4, substeps=points // 4)

    for k in range(count):
        tube = ShockTube.sample("development", k)
        yield gas(stated(tube, 512), stated(tube, 1024), 1.4, k)


def winds(count: int) -> Iterator[Input]:
    def stated(k: int, points: int) -> pr.equations.CompressibleFlow:
        start = pr.equations.conservative(random_flow_2d("development", k, points), 5 / 3)
        options: dict[str, Any] = {"shear": 0.01, "bulk": 0.01, "substeps": 3 * points**2 // 2048}
        return pr.equations.CompressibleFlow(start, np.linspace(0, 0.05, 6), "periodic", **options)

    for k in range(count):
        yield gas(stated(k, 64), stated(k, 128), 5 / 3, k)


def gas(problem: Any, fine: Any, gamma: float, seed: int) -> Input:
    """Density, velocity and pressure off by some per cent, so that predictions stay a gas; means of the finer cells."""
    truth = pr.equations.primitive(solution(problem), gamma)
    off = library(np.ones_like(truth), seed=seed)
    given = {name: pr.equations.conservative(truth * factor, gamma) for name, factor in off.items()}
    means = solution(fine)
    for axis in range(2, means.ndim):
        means = means.reshape(*means.shape[:axis], -1, 2, *means.shape[axis + 1 :]).mean(axis=axis + 1)
    return Input(problem, Candidates.of(given, problem), means)


def vortices(count: int) -> Iterator[Input]:
    """Decaying two-dimensional turbulence: any exponax stepper would do."""
    rows = 21

    def stated(seed: int, points: int) -> pr.equations.ExponaxStepper:
        x, random = 2 * np.pi * np.arange(points) / points, np.random.default_rng(seed)
        waves = [(p, q) for p in range(-4, 5) for q in range(5) if p or q]
        phases, sizes = random.uniform(0, 2 * np.pi, len(waves)), random.standard_normal(len(waves))
        start = sum(
            size * np.cos(p * x[:, None] + q * x[None, :] + phase) / np.hypot(p, q)
            for (p, q), size, phase in zip(waves, sizes, phases, strict=True)
        )
        with pr.double():
            step = ex.stepper.NavierStokesVorticity(2, 2 * np.pi, points, 0.01, diffusivity=0.01)
            return pr.equations.ExponaxStepper(step, np.asarray(start)[None])

    for k in range(count):
        problem, fine = stated(k, 128), stated(k, 256)
        given = library(solution(problem, (rows, 1, 128, 128)), seed=k)
        target = solution(fine, (rows, 1, 256, 256))[-1, :, ::2, ::2]
        yield Input(problem, Candidates.of(given, problem), target)


def own(nodes: int, force: Any, coarse: bool = True) -> pr.Stationary:
    """−Δu + eᵘ = f, zero on the boundary: a user's problem that knows its coarser grids."""
    options: dict[str, Any] = {"coarsen": own_level} if coarse else {}
    solver = pr.Krylov(method="cg", max_steps=2000)
    return pr.Stationary(
        own_residual, force, grid=pr.Grid.nodes((nodes, nodes)), shape=(nodes, nodes), solver=solver, **options
    )


def own_residual(u: Any, force: Any) -> Any:
    """Boundary rows are of the size of the others and couple to none: conjugate gradients want symmetry."""
    scale, inside = (len(u) - 1) ** 2, jnp.pad(u[1:-1, 1:-1], 1)
    neighbours = inside[:-2, 1:-1] + inside[2:, 1:-1] + inside[1:-1, :-2] + inside[1:-1, 2:]
    interior = scale * (4 * inside[1:-1, 1:-1] - neighbours) + jnp.exp(u[1:-1, 1:-1]) - force[1:-1, 1:-1]
    return 4 * scale * (u - inside) + jnp.pad(interior, 1)


def own_level(level: int, problem: Any) -> pr.Stationary | None:
    nodes = (problem.shape[0] - 1) // 2**level + 1
    return own(nodes, problem.data[:: 2**level, :: 2**level], coarse=False) if nodes > 8 else None


def own_problems(count: int) -> Iterator[Input]:
    def stated(seed: int, nodes: int) -> pr.Stationary:
        x, random = np.linspace(0, 1, nodes), np.random.default_rng(seed)
        force = sum(
            30 * random.standard_normal() * np.outer(np.sin(np.pi * p * x), np.sin(np.pi * q * x))
            for p in range(1, 5)
            for q in range(1, 5)
        )
        return own(nodes, force)

    edge = np.sin(np.pi * np.linspace(0, 1, 129)).clip(0) ** 0.25
    for k in range(count):
        problem, fine = stated(k, 129), stated(k, 257)
        given = library(solution(problem), seed=k, window=np.outer(edge, edge))
        yield Input(problem, Candidates.of(given, problem), solution(fine)[::2, ::2])


def solution(problem: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    found = solved(problem, shape or problem.state_shape)
    if found.failed:
        raise RuntimeError(f"The solution to compare with was not found: {found.failed}.")
    return found.state


NETWORKS, MADE = "two trained libraries of eight networks", "eight made predictions, 2 to 6 % off in even steps"
FINER = "a solution on a grid twice as fine"
REFERENCE = "high-resolution solutions by another discretisation"
TENTH = {"rows": 10}

MEASURED = {
    "burgers": Population("Burgers, 384 × 47 steps", NETWORKS, REFERENCE, lambda n: trained("burgers", n), 24),
    "rd_128": Population(
        "reaction–diffusion, 128²", NETWORKS, REFERENCE, lambda n: trained("reaction_diffusion", n), 24, edges=2
    ),
    "rd_512": Population("reaction–diffusion, 512²", MADE, FINER, lambda n: large_fields(512, n), 6, 3, edges=2),
    "sine_gordon": Population(
        "Sine–Gordon, 384 × 47 steps",
        MADE,
        REFERENCE,
        pendulums,
        12,
        shorter={"96, 1 substep": {"points": 96, "substeps": 1}, "48, 1 substep": {"points": 48, "substeps": 1}},
    ),
    "diffusion_reaction": Population(
        "diffusion–reaction, 128² × 91 steps",
        MADE,
        "adaptive RK45 on the same cells",
        cells,
        6,
        3,
        shorter={"128², every 10th row": TENTH, "64², every 10th row": TENTH | {"points": 64}},
    ),
    "flow_1d": Population("compressible flow, 512 × 10 rows", MADE, FINER, tubes, 8, 3),
    "flow_2d": Population("compressible flow, 64² × 5 rows", MADE, FINER, winds, 8, 3),
    "exponax": Population("exponax vorticity, 128² × 20 steps", MADE, FINER, vortices, 6, 3),
    "own": Population("own Stationary, 127²", MADE, FINER, own_problems, 6, 3, edges=2),
}
