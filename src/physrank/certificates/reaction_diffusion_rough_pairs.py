"""Gaps between candidates against the averages of a solution with jumping data, on one mesh."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from physrank.certificates.actions import in_all_places
from physrank.certificates.enclosures.discs import Disc, NotAnalytic
from physrank.certificates.enclosures.elliptic import inverse_bound
from physrank.certificates.enclosures.hypercircle import Known, Medium, Primal, Side
from physrank.certificates.enclosures.jets import evaluated
from physrank.certificates.enclosures.meshes import NODES, UP, Mesh, added, length
from physrank.certificates.enclosures.reactions import Cubic, Own
from physrank.certificates.enclosures.rounding import Interval
from physrank.certificates.paths.fluxes import Elements
from physrank.certificates.pieces import Pieces
from physrank.certificates.ranked import Ranked
from physrank.geometry import GapIntervals
from physrank.geometry.space import Array

Inverse = Callable[[Array], Array]
EXTREME = 2.0**300
SAME = 1e-9  # of the spacing: breaks that are closer to a node are that node


@dataclass(frozen=True, eq=False)
class Paired:
    """What one mesh says."""

    gaps: GapIntervals
    distance: float  # of the state's multilinear function to the solution, in L²
    error: float  # of ũ, in energy
    indicators: Array  # shares of its square, by cells
    solves: int
    mesh: Mesh
    values: Array  # ũ

    def lifted(self, axes: tuple[Array, ...]) -> Array:
        """ũ on another mesh."""
        found = self.values
        for d, (old, new) in enumerate(zip(self.mesh.axes, axes, strict=True)):
            found = np.apply_along_axis(lambda v, old=old, new=new: np.interp(new, old, v), d, found)
        return found


def with_breaks(axes: list[Array], pieces: list[Pieces]) -> tuple[Array, ...]:
    """The coordinates of nodes and jumps along every axis."""
    found = []
    for d, x in enumerate(axes):
        breaks = np.unique([b for piece in pieces for b in piece.breaks[d] if x[0] < b < x[-1]])
        apart = [b for b in breaks if np.abs(x - b).min() > SAME * np.diff(x).min()]
        found.append(np.sort(np.concatenate([x, apart])))
    return tuple(found)


def known(mesh: Mesh, pieces: Pieces, degree: int) -> Known:
    """Its polynomials on all cells: numbers, where there are no functions."""
    if not any(callable(piece) for _, piece in pieces.boxes):
        degree = 0
    centre, radius = (np.zeros((degree + 1,) * mesh.dims + mesh.cells) for _ in range(2))
    error = np.zeros(mesh.cells)
    ends = [
        [0, *(int(np.argmin(np.abs(x - b))) for b in breaks), len(x) - 1]
        for x, breaks in zip(mesh.axes, pieces.breaks, strict=True)
    ]
    for place, piece in pieces.boxes:
        here = tuple(slice(e[k], e[k + 1]) for e, k in zip(ends, place, strict=True))
        if any(s.stop <= s.start for s in here):  # what is left out could carry any resistance or force
            raise NotAnalytic(
                f"piece {place} has no cell: it lies outside of the box, or is thinner than {SAME:g} of the grid's spacing"
            )
        if not callable(piece):
            centre[(0,) * mesh.dims + here] = piece
            continue
        box = Mesh(tuple(x[s.start : s.stop + 1] for x, s in zip(mesh.axes, here, strict=True)))
        field, off = box.enclosed(
            lambda x, piece=piece: evaluated(piece, x, gradient=False)[0],
            degree,
            lambda at, box=box: box.coordinates(at) if isinstance(at, tuple) else box.around(at),
        )
        inside = (slice(None),) * mesh.dims + here
        centre[inside], radius[inside], error[here] = field.centre, field.radius, off
    return Known(Disc(centre, radius), error)


def paired(
    mesh: Mesh,
    axes: list[Array],
    pieces: list[Pieces],
    reaction: Cubic | Own,
    ranking: Ranked,
    state: Array,
    start: Array | None,
) -> Paired | str:
    """All gaps, from one mesh; or why there are none."""
    medium, force = Medium(mesh, known(mesh, pieces[0], 2)), known(mesh, pieces[1], 3)
    if not np.min(medium.least) > 0:
        return f"a may be as small as {np.min(medium.least):.3g}"
    sizes = [np.min(mesh.volumes.centre), np.max(mesh.volumes.size), np.min(medium.least), np.max(medium.middle)]
    if not all(1 / EXTREME < size < EXTREME for size in sizes):
        return (
            "the box or the coefficient are so large or small that products of them may underflow; choose another unit"
        )
    spread = [_spread(x, fine) for x, fine in zip(axes, mesh.axes, strict=True)]
    on_mesh = _along_all(Disc.of(state), spread)
    elements = Elements(mesh.axes, medium.middle)
    values, inverse, factored = elements.solved(force.means, reaction.plain, on_mesh.centre if start is None else start)
    if not np.all(np.isfinite(values)):
        return "the equation could not be solved on the mesh"
    if isinstance(reaction, Own):
        grows = evaluated(reaction.function, [Disc.of(values)])[1][0]
        if np.any(grows.centre + grows.radius < 0):
            return f"the reaction falls: its slope is {np.min(grows.centre):.3g} at a value of ũ"
    primal = _primal(medium, elements, force, reaction, values)
    averages = _averages(axes, mesh, Disc.of(values), spread)
    outputs, weights = ranking.outputs[ranking.candidates.valid], ranking.space.weights
    inner = np.pad(np.ones([len(x) - 2 for x in axes]), 1)  # u is known on the boundary
    shares = [Disc.of(weights) * (Disc.of(y) - outputs[0]) / _hats(axes) * inner for y in outputs]
    duals = [_dual(primal, elements, inverse, _along_all(share, spread)) for share in shares]
    found = _gaps(primal, duals, averages, outputs, weights)
    gaps = GapIntervals(in_all_places(found.low, ranking), in_all_places(found.high, ranking))
    apart = mesh.multilinear(on_mesh - values)
    away = length(apart.size * np.sqrt(UP * mesh.weights((2,) * mesh.dims).size))
    indicators = sum(mesh.product(m, m).centre for m in primal.side.misfits) / medium.middle
    solves = factored + 1 + 2 * len(duals)
    return Paired(gaps, UP * (away + primal.distance), primal.error, indicators, solves, mesh, values)


def _primal(medium: Medium, elements: Elements, force: Known, reaction: Cubic | Own, values: Array) -> Primal:
    mesh = medium.mesh
    field = mesh.multilinear(Disc.of(values))
    reacted = reaction.of(mesh, field)
    side = _side(medium, elements, field, added(force.field, -reacted.field))
    sides = [Disc.of(x[-1]) - x[0] for x in mesh.axes]
    volume = math.prod(side.largest for side in sides)
    strongest = float(np.max(mesh.sizes(force.field) + force.error))
    largest = reaction.largest(strongest, inverse_bound(sides, float(np.min(medium.least))) * math.sqrt(volume))
    bend = reaction.bend(float(np.abs(values).max()), largest)
    return Primal(side, UP * (force.error + reacted.error), reaction.linear, bend, reaction.slope(mesh, field))


def _side(medium: Medium, elements: Elements, field: Disc, source: Disc) -> Side:
    """With a flux whose divergence is that of the source on every cell."""
    faces = elements.flux(source.centre[(0,) * medium.mesh.dims])
    return Side(medium, field, tuple(medium.mesh.faces(d, Disc.of(s)) for d, s in enumerate(faces)), source)


@dataclass(frozen=True, eq=False)
class Dual:
    """z̃ with its flux, for one weight ψ."""

    side: Side
    values: Array  # z̃ at the nodes of the mesh
    along: Disc  # the part of ∫ e ψ that is computed


def _dual(primal: Primal, elements: Elements, inverse: Inverse, weight: Disc) -> Dual:
    mesh = primal.medium.mesh
    values = inverse(elements.load(weight.centre))
    field = mesh.multilinear(Disc.of(values))
    reacted = mesh.interpolated(mesh.values(primal.slope.field, NODES[3]) * mesh.values(field, NODES[3]))
    side = _side(primal.medium, elements, field, added(mesh.multilinear(weight), -reacted))
    return Dual(side, values, primal.along(side))


def _gaps(primal: Primal, duals: list[Dual], averages: Disc, outputs: Array, weights: Array) -> Interval:
    """G_ij(t) = G_ij(t̃) + 2 ∫ e ψ_ij, and t̃ is known up to its radius."""
    losses = (Interval.of(weights) * (Interval.of(outputs) - averages.centre).squared()).total(weights.ndim)
    found = losses[None, :] - losses[:, None]
    moved = np.zeros((len(duals),) * 2)
    for i, j in zip(*np.triu_indices(len(duals), 1), strict=True):
        one, other = duals[i], duals[j]
        peak = UP * float(np.max(np.abs(one.values - other.values)))
        off = length(averages.radius * np.sqrt(weights)) * length((outputs[i] - outputs[j]) * np.sqrt(weights))
        moved[i, j] = moved[j, i] = UP * (primal.beyond(one.side, other.side, peak) + off)
    along = [np.asarray([getattr(dual.along, part) for dual in duals]) for part in ("centre", "radius")]
    computed = Interval.around(*along)
    return found + 2.0 * (computed[:, None] - computed[None, :] + Interval(-moved, moved))


def _hats(axes: list[Array]) -> Disc:
    """∫ φ of every node."""
    found = Disc.of(1.0)
    for d, x in enumerate(axes):
        h = Disc.of(x[1:]) - x[:-1]
        left, right = (Disc(np.pad(h.centre, ends), np.pad(h.radius, ends)) for ends in ((1, 0), (0, 1)))
        both = (left + right) * 0.5
        shape = [-1 if k == d else 1 for k in range(len(axes))]
        found = found * Disc(both.centre.reshape(shape), both.radius.reshape(shape))
    return found


def _spread(x: Array, fine: Array) -> Disc:
    """From values at nodes to those of the piecewise linear function at others."""
    cell = np.clip(np.searchsorted(x, fine, side="right") - 1, 0, len(x) - 2)
    share = (Disc.of(fine) - x[cell]) / (Disc.of(x[cell + 1]) - x[cell])
    on_node = (fine == x[cell]) | (fine == x[cell + 1])
    centre, radius = (np.zeros((len(fine), len(x))) for _ in range(2))
    rows = np.arange(len(fine))
    for where, part in ((cell, 1.0 - share), (cell + 1, share)):
        centre[rows, where] = np.where(on_node, np.rint(part.centre), part.centre)
        radius[rows, where] = np.where(on_node, 0.0, part.radius)
    return Disc(centre, radius)


def _averages(axes: list[Array], mesh: Mesh, values: Disc, spread: list[Disc]) -> Disc:
    """∫ ũ φ / ∫ φ at interior nodes, zero on the boundary."""
    for d, (fine, to_fine) in enumerate(zip(mesh.axes, spread, strict=True)):
        h = Disc.of(fine[1:]) - fine[:-1]
        mass = Disc.of(np.zeros((len(fine),) * 2))
        for one, other, part in ((0, 0, 3), (1, 1, 3), (0, 1, 6), (1, 0, 6)):
            term = [np.zeros((len(fine),) * 2) for _ in range(2)]
            for entries, numbers in zip(term, ((h / float(part)).centre, (h / float(part)).radius), strict=True):
                entries[np.arange(one, one + len(h.centre)), np.arange(other, other + len(h.centre))] = numbers
            mass = mass + Disc(*term)
        values = values.along(d, mass.along(0, Disc(to_fine.centre.T, to_fine.radius.T)))
    return (values / _hats(axes)) * np.pad(np.ones([len(x) - 2 for x in axes]), 1)


def _along_all(values: Disc, matrices: list[Disc]) -> Disc:
    for d, matrix in enumerate(matrices):
        values = values.along(d, matrix)
    return values
