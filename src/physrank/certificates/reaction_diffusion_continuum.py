"""Reaction–diffusion against the equation itself: −∇·(a∇u) + g(u) = f on a box, u = 0 on its boundary, given by functions.

A polynomial ũ, zero on the boundary, is corrected until it nearly solves the equation; what it leaves is enclosed on the
whole box, not sampled, and bounds the error at every point: for g that does not fall,

    max |u − ũ| ≤ C_d |Ω|^{2/d − 1/2} ‖−∇·(a∇ũ) + g(ũ) − f‖ / min a,    C = 1/√48, 1/√8π, 0.128 for d = 1, 2, 3.

The proof is in docs/certificates/reaction_diffusion_continuum.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from physrank.certificates._functions import own_grid
from physrank.certificates.actions import compares_states, in_all_places, real
from physrank.certificates.certificate import Assumption, Enclosure, Stated, all_hold, arithmetic, open_gaps
from physrank.certificates.enclosures.discs import Disc, NotAnalytic
from physrank.certificates.enclosures.elliptic import SMALL, Defect, inverse_bound
from physrank.certificates.enclosures.jets import Function, evaluated, is_pointwise
from physrank.certificates.enclosures.rounding import SMALLEST, UNIT, Interval, above, below, gamma
from physrank.certificates.paths.reaction_diffusion import Equation, reconstruct
from physrank.certificates.ranked import Ranked
from physrank.equations import ReactionDiffusion
from physrank.geometry import GapIntervals
from physrank.geometry.space import Array
from physrank.physics import Problem

TARGET = (
    "the solution of the differential equation itself, whose coefficient and force are the functions given, at the nodes of "
    "the grid"
)
NORM = "the largest difference at any node"
AGREE = 1e-6  # of the largest value: functions that differ more from what the problem holds at its nodes are others


@dataclass(frozen=True)
class ContinuumReactionDiffusion:
    """The certificate of a ranking of whole fields against the solution of the differential equation.

    Main arguments: `diffusion` and `forcing`, the functions of the coordinates (or numbers) that the problem was made of,
    analytic and written with NumPy; their constants are the doubles that Python computes.

    Other arguments: `reaction`, for a problem of your own on `Grid.nodes` with −∇·(a∇u) + g(u) = f and zero boundary values:
    g, written with NumPy, which must not fall. `ReactionDiffusion` knows its own.
    """

    diffusion: Function | float
    forcing: Function | float
    reaction: Function | None = None

    def __call__(self, problem: Problem, ranking: Ranked) -> Enclosure:
        reaction, given = self._reaction(problem)
        (shape, lengths), state = _box(problem), np.asarray(np.real(ranking.state), np.float64)
        fits = state.shape == shape and 1 <= len(shape) <= 3 and min(shape) >= 3 and bool(np.all(np.isfinite(state)))
        assumptions = (
            arithmetic(),
            real(ranking),
            Assumption("the task is the whole field", compares_states(ranking), ranking.task.name),
            Assumption("the state is finite, a field in one to three dimensions", fits, str(state.shape)),
            *given,
        )
        found: Solved | str = "nothing was solved"
        if all_hold(assumptions):
            found = solved(lengths, self.diffusion, self.forcing, reaction, state)
            assumptions += (_enclosed(found),)
        gaps, bound, solves, said = open_gaps(len(ranking.names)), np.inf, 0, ()
        if isinstance(found, Solved):
            gaps, bound, solves, said = found.gaps(ranking), found.distance(state), found.corrections, found.said
        target = Stated((self.diffusion, self.forcing, self.reaction), said)
        return Enclosure("theorem", TARGET, gaps, bound, NORM, assumptions, solves, zero=target)

    def _reaction(self, problem: Problem) -> tuple[Function, tuple[Assumption, ...]]:
        """g and what it rests on."""
        if self.reaction is not None:
            said = "u = 0 on the boundary, and the reaction does not fall"
            return self.reaction, (Assumption(said, True, "stated by you"),)
        if type(problem) is not ReactionDiffusion:  # a derived class may have another defect
            raise ValueError(
                f"Without reaction= this certificate is for equations.ReactionDiffusion; got {type(problem).__name__}."
            )
        linear, cubic = float(problem.linear), float(problem.cubic)
        apart = max(self._apart(problem, name) for name in ("diffusion", "forcing"))
        given = (
            Assumption("λ ≥ 0 and γ ≥ 0", linear >= 0 and cubic >= 0, min(linear, cubic)),
            Assumption("the functions have the values that the problem holds at its nodes", apart <= AGREE, apart),
        )
        return lambda u: linear * u + cubic * (u * u * u), given

    def _apart(self, problem: ReactionDiffusion, name: str) -> float:
        """How far a function is from the problem's values, relative to the largest; infinite where it is no number."""
        held = np.asarray(getattr(problem, name), np.float64)
        try:
            nodes = np.meshgrid(*(problem.spacing * np.arange(n) for n in held.shape), indexing="ij")
            off = float(np.max(np.abs(np.asarray(_plain(getattr(self, name))(*nodes), np.float64) - held)))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{name}= must be a number or a function of the {held.ndim} coordinates that returns values like "
                f"np.sin(x); calling it on the problem's nodes gave: {error}"
            ) from None
        return off / (float(np.max(np.abs(held))) + 1e-300) if np.isfinite(off) else np.inf


def _enclosed(found: "Solved | str") -> Assumption:
    statement = "a > 0, and what the functions leave of the equation is enclosed"
    if isinstance(found, Solved):
        measured = f"max |u − ũ| ≤ {found.error:.3g} after {found.corrections} corrections"
        return Assumption(statement, True, measured)
    return Assumption(f"{statement}; of rough data nothing is known here, only against the same grid", False, found)


@dataclass(frozen=True, eq=False)
class Solved:
    """ũ at the nodes of a grid, and a bound of its distance to the solution at every point."""

    at_nodes: Disc
    error: float
    corrections: int
    said: tuple[bytes, ...]  # by the functions, at a few places

    @property
    def reach(self) -> Array:
        """|t − centre| at every node."""
        return above(above(self.at_nodes.radius) + self.error)

    def distance(self, state: Array) -> float:
        return float(np.max(above(above(np.abs(state - self.at_nodes.centre)) + self.reach)))

    def gaps(self, ranking: Ranked) -> GapIntervals:
        """G_ij(t) = Σ w (y_i − y_j)(2t − y_i − y_j): it moves by at most 2 reach Σ w |y_i − y_j|."""
        outputs, weights = ranking.outputs[ranking.candidates.valid], ranking.space.weights
        losses = (Interval.of(weights) * (Interval.of(outputs) - self.at_nodes.centre).squared()).total(weights.ndim)
        middle, axes = losses[None, :] - losses[:, None], tuple(range(1, outputs.ndim))
        apart = np.stack([np.sum(weights * np.abs(outputs - y), axis=axes) for y in outputs])
        lost = gamma(weights.size + 8) * apart + weights.size * SMALLEST  # by the sums and their products
        moved = (2.0 * Interval.of(float(np.max(self.reach))) * (Interval.of(apart) + lost)).high
        low, high = below(middle.low - moved), above(middle.high + moved)
        return GapIntervals(in_all_places(low, ranking), in_all_places(high, ranking))


def solved(lengths: list[Disc], diffusion: Any, forcing: Any, reaction: Function, state: Array) -> Solved | str:
    """The reconstruction and its error; or why there is none."""
    sides = tuple(float(length.centre) for length in lengths)
    try:
        with np.errstate(all="ignore"):
            plain = Equation(_plain(diffusion), _plain(forcing), lambda u: _with_slope(reaction, u), sides)
            coefficients, corrections = reconstruct(plain, state)
            if not np.all(np.isfinite(coefficients)):
                return "the corrections did not converge"
            defect = Defect(diffusion, forcing, reaction, lengths, coefficients)
            least, size = defect.least_diffusion(), defect.norm()
            functions = (diffusion, forcing)
            pointwise = all(_is_pointwise(function, sides, state.shape) for function in functions)
            said, again = ((*(_said(f, len(sides)) for f in functions), _said(reaction, 1)) for _ in range(2))
    except NotAnalytic as reason:
        return str(reason)
    except (TypeError, AttributeError, ValueError, ArithmeticError, LookupError) as error:  # of the user's functions
        return f"they could not be evaluated on discs ({error}); write them with NumPy"
    if said != again:
        return "a function gives other values when it is asked again"
    if not pointwise:
        return "a function gives other values on arrays than point by point"
    if not least > 0:
        return f"a may be as small as {least:.3g}"
    if not np.isfinite(size):
        return "they are not analytic close to the box, or grow too fast there"
    at_nodes = defect.at_uniform(state.shape)
    if not np.isfinite(at_nodes.largest):
        return "the polynomial overflows"
    grows = evaluated(reaction, [at_nodes])[1][0]
    if np.any(grows.centre + grows.radius < 0):
        return f"the reaction falls: its slope is {np.min(grows.centre):.3g} at a value of ũ"
    return Solved(at_nodes, max((1 + UNIT) * inverse_bound(lengths, least) * size, SMALL), corrections, said)


def _is_pointwise(function: Function | float, sides: tuple[float, ...], shape: tuple[int, ...]) -> bool:
    """Whether it says the same of the nodes one by one and together."""
    nodes = np.meshgrid(*(side * np.linspace(0, 1, n) for side, n in zip(sides, shape, strict=True)), indexing="ij")
    return not callable(function) or is_pointwise(function, nodes)


def _said(function: Function | float, arguments: int) -> bytes:
    """What it makes of a few places."""
    places = [Disc.of(np.linspace(0.1, 0.9, 7)) for _ in range(arguments)]
    return np.asarray(evaluated(function, places, gradient=False)[0].centre).tobytes()


def _plain(function: Function | float) -> Callable[..., Array]:
    return function if callable(function) else lambda *nodes: np.full(nodes[0].shape, float(function))


def _with_slope(reaction: Function, u: Array) -> tuple[Array, Array]:
    value, (slope,) = evaluated(reaction, [Disc.of(u)])
    return value.centre, np.broadcast_to(slope.centre, u.shape)


def _box(problem: Problem) -> tuple[tuple[int, ...], list[Disc]]:
    """The nodes along the sides, and the lengths of these."""
    if isinstance(problem, ReactionDiffusion):
        shape = problem.diffusion.shape
        return shape, [Disc.of(problem.length) * float(n - 1) / float(shape[0] - 1) for n in shape]
    grid = own_grid(problem)
    return grid.shape, [Disc.of(length) for length in grid.lengths]
