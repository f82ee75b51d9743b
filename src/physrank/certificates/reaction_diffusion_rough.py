"""Reaction–diffusion with jumping data against the equation itself: −∇·(a∇u) + g(u) = f on a box, u = 0 on its boundary.

A multilinear ũ and a flux σ on a mesh that contains the lines of the jumps; the difference of the two bounds the error in
energy, and that of a dual pair z̃, τ for every difference of candidates makes it a bound of the square: with the averages t of
u over the hats φ of the nodes,

    G_ij(t) = G_ij(t̃) + 2 ∫ (u − ũ) ψ_ij,    ψ_ij = Σ_nodes w (y_i − y_j) φ / ∫φ.

The proof is in docs/certificates/reaction_diffusion_rough.md.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from physrank.certificates._functions import own_grid
from physrank.certificates.actions import compares_states, real
from physrank.certificates.certificate import Assumption, Enclosure, Stated, all_hold, arithmetic, open_gaps
from physrank.certificates.enclosures.discs import Disc, NotAnalytic
from physrank.certificates.enclosures.jets import Function, evaluated, is_pointwise
from physrank.certificates.enclosures.meshes import Mesh
from physrank.certificates.enclosures.reactions import Cubic, Own
from physrank.certificates.paths.fluxes import refined
from physrank.certificates.pieces import Piece, Pieces
from physrank.certificates.ranked import Ranked
from physrank.certificates.reaction_diffusion_rough_pairs import SAME, paired, with_breaks
from physrank.equations import ReactionDiffusion
from physrank.geometry import GapIntervals
from physrank.geometry.space import Array
from physrank.physics import Problem

TARGET = (
    "the solution of the differential equation itself, whose coefficient and force are the pieces given (lines closer to a "
    "node than 1e-9 of the spacing are that node): its averages over the hat functions of the nodes, and zero on the boundary"
)
NORM = "L² of the box, as a multilinear function"
AGREE = 1e-6  # of the largest value: functions that differ more from what the problem holds at its nodes are others
PLACES = 7  # along an axis, where functions are asked what they say
MOST = {1: 2048, 2: 160**2, 3: 24**3}  # cells


@dataclass(frozen=True)
class RoughReactionDiffusion:
    """The certificate of a ranking of whole fields against the solution of a differential equation whose data jump.

    Main arguments: `diffusion` and `forcing`, each a `Pieces`, a number, or a function of the coordinates that is analytic on
    the whole box and written with NumPy. Jumps may lie anywhere, on nodes of the grid or between them.

    Other arguments: `reaction`, for a problem of your own on `Grid.nodes` with −∇·(a∇u) + g(u) = f and zero boundary values:
    g, written with NumPy, which must not fall. `ReactionDiffusion` knows its own. `cells`, the most that the mesh is refined
    to while pairs are open (default: 2,048, 25,600 and 13,824 in one, two and three dimensions; never fewer than the grid's).
    """

    diffusion: Pieces | Piece
    forcing: Pieces | Piece
    reaction: Function | None = None
    cells: int | None = None

    def __call__(self, problem: Problem, ranking: Ranked) -> Enclosure:
        reaction, axes = self._reaction(problem), _axes(problem)
        shape, state = tuple(map(len, axes)), np.asarray(np.real(ranking.state), np.float64)
        fits = state.shape == shape and 1 <= len(shape) <= 3 and min(shape) >= 3 and bool(np.all(np.isfinite(state)))
        assumptions = (
            arithmetic(),
            real(ranking),
            Assumption("the task is the whole field", compares_states(ranking), ranking.task.name),
            Assumption("the state is finite, a field in one to three dimensions", fits, str(state.shape)),
            *self._given(problem, axes, reaction),
        )
        gaps, bound, solves, said = open_gaps(len(ranking.names)), np.inf, 0, ()
        if all_hold(assumptions):
            found = self._found(axes, reaction, ranking, state)
            statement = "a > 0, and the pieces are analytic, each around its own box"
            if isinstance(found, str):
                assumptions += (Assumption(statement, False, found),)
            else:
                gaps, bound, solves, measured, said = found
                assumptions += (Assumption(statement, True, measured),)
        target = Stated((self.diffusion, self.forcing, self.reaction), said)
        return Enclosure("theorem", TARGET, gaps, bound, NORM, assumptions, solves, zero=target)

    def _reaction(self, problem: Problem) -> Cubic | Own:
        if self.reaction is not None:
            return Own(self.reaction)
        if type(problem) is not ReactionDiffusion:  # a derived class may have another defect
            raise ValueError(
                f"Without reaction= this certificate is for equations.ReactionDiffusion; got {type(problem).__name__}."
            )
        return Cubic(float(problem.linear), float(problem.cubic))

    def _given(self, problem: Problem, axes: list[Array], reaction: Cubic | Own) -> tuple[Assumption, ...]:
        if isinstance(reaction, Own):
            grows = Assumption("u = 0 on the boundary, and the reaction does not fall", True, "stated by you")
        else:
            least = min(reaction.linear, reaction.cubic)
            grows = Assumption("λ ≥ 0 and γ ≥ 0", least >= 0, least)
        if not isinstance(problem, ReactionDiffusion):
            return (grows,)
        apart = {name: _apart(getattr(self, name), problem, name, axes) for name in ("diffusion", "forcing")}
        worst = max(apart, key=apart.__getitem__)
        said = f"{worst} differs by {apart[worst]:.3g} of its largest value" if apart[worst] > AGREE else apart[worst]
        statement = "the pieces have the values that the problem holds at nodes off the lines"
        return grows, Assumption(statement, apart[worst] <= AGREE, said)

    def _found(self, axes: list[Array], reaction: Cubic | Own, ranking: Ranked, state: Array) -> Any:
        """Gaps, the bound of the state, solves, what functions said and what was measured; or why there is nothing."""
        pieces = [Pieces.of(given, len(axes)) for given in (self.diffusion, self.forcing)]
        try:
            with np.errstate(all="ignore"):
                if not all(is_pointwise(*asked) for given in pieces for asked in _asked(given, axes)):
                    return "a function gives other values on arrays than point by point"
                said = _said(pieces, axes, reaction)
                found = self._climbed(pieces, axes, reaction, ranking, state)
                if said != _said(pieces, axes, reaction):
                    return "a function gives other values when it is asked again"
                return found if isinstance(found, str) else (*found, said)
        except NotAnalytic as reason:
            return str(reason)
        except (TypeError, AttributeError, ValueError, ArithmeticError, LookupError, RuntimeError) as error:
            return (
                f"they could not be evaluated on discs, or the equation not be solved ({error}); write them with NumPy"
            )

    def _climbed(
        self, pieces: list[Pieces], axes: list[Array], reaction: Cubic | Own, ranking: Ranked, state: Array
    ) -> Any:
        """On the grid with the lines of the jumps, then on finer meshes while pairs are open; what all of them say holds."""
        lines = with_breaks(axes, pieces)
        most, solves = max(self.cells or MOST[len(axes)], math.prod(len(x) - 1 for x in lines)), 0
        gaps, bound, start = open_gaps(len(ranking.names)), np.inf, None
        while True:
            found = paired(Mesh(lines), axes, pieces, reaction, ranking, state, start)
            if isinstance(found, str):  # on this mesh
                finer = refined(lines, np.ones([len(x) - 1 for x in lines]), most)
                if all(map(np.array_equal, finer, lines)):
                    return found
                lines, start = finer, None
                continue
            gaps = GapIntervals(np.fmax(gaps.low, found.gaps.low), np.fmin(gaps.high, found.gaps.high))
            bound, solves = min(bound, found.distance), solves + found.solves
            finer = refined(lines, found.indicators, most)
            if _settled(gaps, ranking) or all(map(np.array_equal, finer, lines)):
                cells = " × ".join(str(len(x) - 1) for x in lines)
                return gaps, bound, solves, f"‖a^½ ∇(u − ũ)‖ ≤ {found.error:.3g} on {cells} cells"
            lines, start = finer, found.lifted(finer)


def _settled(gaps: GapIntervals, ranking: Ranked) -> bool:
    """Whether every pair has a sign, but for outputs that are equal or could not be scored."""
    flat = ranking.outputs.reshape(len(ranking.outputs), -1)
    equal = np.stack([np.all(flat == row, axis=1) for row in flat])
    valid = ranking.candidates.valid
    return not np.any((gaps.signs == 0) & ~equal & np.outer(valid, valid))


def _axes(problem: Problem) -> list[Array]:
    """The nodes, which are the doubles of the grid; the last is at the end of the box."""
    if isinstance(problem, ReactionDiffusion):
        shape = problem.diffusion.shape
        ends = [problem.length * (n - 1) / (shape[0] - 1) for n in shape]
        return [np.append(x[:-1], end) for x, end in zip(problem.grid.axes, ends, strict=True)]
    grid = own_grid(problem)
    return [np.append(x[:-1], side) for x, side in zip(grid.axes, grid.lengths, strict=True)]


def _apart(given: Pieces | Piece, problem: ReactionDiffusion, name: str, axes: list[Array]) -> float:
    """How far pieces are from the problem's values off the lines, relative to the largest; infinite where they are none."""
    held, pieces = np.asarray(getattr(problem, name), np.float64), Pieces.of(given, len(axes))
    off_lines = np.ones(held.shape, bool)
    for d, (x, breaks) in enumerate(zip(axes, pieces.breaks, strict=True)):
        near = [np.abs(x - b) <= SAME * np.diff(x).min() for b in breaks]
        np.moveaxis(off_lines, d, 0)[np.any(near, axis=0)] = False
    try:
        values = pieces(*np.meshgrid(*axes, indexing="ij"))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name}= must hold numbers or functions of the {held.ndim} coordinates that return values like np.sin(x); "
            f"calling it on the problem's nodes gave: {error}"
        ) from None
    off = float(np.max(np.abs(values - held)[off_lines], initial=0.0))
    return off / (float(np.max(np.abs(held))) + 1e-300) if np.isfinite(off) else np.inf


def _asked(pieces: Pieces, axes: list[Array]) -> Iterator[tuple[Function, list[Array]]]:
    """The functions, and a few places in the box of each."""
    for place, piece in pieces.boxes:
        if callable(piece):
            ends = [(x[0], *breaks, x[-1]) for x, breaks in zip(axes, pieces.breaks, strict=True)]
            sides = [np.linspace(end[k], end[k + 1], PLACES) for end, k in zip(ends, place, strict=True)]
            yield piece, list(np.meshgrid(*sides, indexing="ij"))


def _said(pieces: list[Pieces], axes: list[Array], reaction: Cubic | Own) -> tuple[bytes, ...]:
    """What functions make of a few places."""
    asked = [pair for given in pieces for pair in _asked(given, axes)]
    asked += [(reaction.function, [np.linspace(-0.9, 0.9, PLACES)])] if isinstance(reaction, Own) else []
    values = [evaluated(f, [Disc.of(x) for x in places], gradient=False)[0].centre for f, places in asked]
    return tuple(np.asarray(value).tobytes() for value in values)
