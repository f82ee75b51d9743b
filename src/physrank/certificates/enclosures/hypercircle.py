"""How far a function ũ with a flux σ is from the solution of −∇·(a∇u) + g(u) = f on a box, in energy and along others.

With e = u − ũ, r = f − g(ũ) + div σ, the misfit m = σ − a∇ũ, and μ the least eigenvalue of −∇·(a∇):

    M = ‖a^{−½} m‖,   O = (Σ_K h_K²/(π² a) ‖r − r̄‖²_K)^½ + ‖r̄‖/√μ,   ‖a^½ ∇e‖ ≤ E = M + O,
    ‖a^{−½}(a∇u − (a∇ũ + σ)/2)‖ ≤ H = (M²/4 + O E)^½,

where r̄ is the mean over a cell and h_K its longest side. For a weight ψ, with z̃ and τ and q = τ − a∇z̃, ρ = ψ − c̃ z̃ + div τ:

    ∫ e ψ = ∫ (f − g(ũ)) z̃ − ∫ a ∇ũ·∇z̃ + ½ ∫ m·q / a  ±  (H M* + E O* + k max|z̃| ‖e‖²),

|g(u) − g(ũ) − c̃ e| ≤ k e². The proof is in docs/certificates/reaction_diffusion_rough.md. Every integral is one of
polynomials on cells; a, f and g(ũ) are known up to a number per cell, which is counted everywhere.
"""

import math
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from physrank.certificates.enclosures.discs import TINY, Disc
from physrank.certificates.enclosures.meshes import UP, Mesh, added, length, summed
from physrank.certificates.enclosures.rounding import UNIT
from physrank.geometry.space import Array

SMALL = 2.0**-400


@dataclass(frozen=True, eq=False)
class Known:
    """A function that is within `error` of a polynomial on every cell."""

    field: Disc
    error: Array

    @property
    def means(self) -> Array:
        dims = self.field.centre.ndim // 2
        return self.field.centre[(0,) * dims]


@dataclass(frozen=True, eq=False)
class Weighted:
    """A vector of numbers, known up to one of at most `off` in length."""

    entries: Array
    off: float

    @classmethod
    def of(cls, field: Disc, squares: Array) -> "Weighted":
        """The length is (Σ squares · c²)^½, its weights rounded up."""
        roots = UP * np.sqrt(squares)
        entries = field.centre * roots
        return cls(entries.ravel(), length((field.radius + 8 * UNIT * np.abs(field.centre)) * roots))

    def __add__(self, other: "Weighted") -> "Weighted":
        return Weighted(np.concatenate([self.entries, other.entries]), self.off + other.off)

    def __sub__(self, other: "Weighted") -> "Weighted":
        return Weighted(self.entries - other.entries, self.off + other.off)

    @property
    def length(self) -> float:
        return UP * (length(self.entries) + self.off)


@dataclass(frozen=True, eq=False)
class Medium:
    """The coefficient on a mesh."""

    mesh: Mesh
    diffusion: Known

    @cached_property
    def middle(self) -> Array:
        """A number near a for every cell."""
        return self.diffusion.means

    @cached_property
    def spread(self) -> Array:
        """|a − middle| on every cell."""
        mean = np.zeros(self.diffusion.field.centre.shape)
        mean[(0,) * self.mesh.dims] = self.middle
        return UP * (self.mesh.sizes(self.diffusion.field - mean) + self.diffusion.error)

    @cached_property
    def least(self) -> Array:
        """Of a, on every cell."""
        return self.middle - UP * self.spread - 4 * UNIT * np.abs(self.middle)

    @cached_property
    def rate(self) -> float:
        """μ, rounded down: min a · π² Σ 1/L²."""
        sides = [Disc.of(x[-1]) - x[0] for x in self.mesh.axes]
        return float((2 - UP) * np.min(self.least) * math.pi**2 * sum(1 / side.largest**2 for side in sides))

    @cached_property
    def sides(self) -> Array:
        """The longest of every cell."""
        return reduce(np.maximum, [np.broadcast_to(h.size, self.mesh.cells) for h in self.mesh.widths])

    def times(self, field: Disc) -> Disc:
        """Its polynomial times one of degree one."""
        a, mesh, nodes = self.diffusion.field, self.mesh, (-1.0, -0.5, 0.5, 1.0)
        if a.centre.shape[: mesh.dims] == (1,) * mesh.dims:
            return a * field
        return mesh.interpolated(mesh.values(a, nodes) * mesh.values(field, nodes))


@dataclass(frozen=True, eq=False)
class Side:
    """A multilinear function, zero on the boundary, with a flux and a source whose −div it should be."""

    medium: Medium
    value: Disc
    flux: tuple[Disc, ...]
    source: Disc

    @cached_property
    def slopes(self) -> list[Disc]:
        return [self.medium.mesh.slope(self.value, d) for d in range(self.medium.mesh.dims)]

    @cached_property
    def misfits(self) -> list[Disc]:
        """σ − a ∂ũ, but for the error of a."""
        pairs = zip(self.flux, self.slopes, strict=True)
        return [added(along, -self.medium.times(slope)) for along, slope in pairs]

    @cached_property
    def left(self) -> Disc:
        """The source and div σ."""
        return added(self.source, *(self.medium.mesh.slope(along, d) for d, along in enumerate(self.flux)))

    def _squares(self, field: Disc) -> Array:
        return self.medium.mesh.weights(field.centre.shape[: self.medium.mesh.dims]).size

    @cached_property
    def misfit(self) -> Weighted:
        parts = [Weighted.of(field, self._squares(field) / self.medium.least) for field in self.misfits]
        return reduce(lambda x, y: x + y, parts)

    @cached_property
    def waves(self) -> Weighted:
        """‖r − r̄‖ of every cell, times h/(π √a)."""
        factors = UP * (self.medium.sides / math.pi) ** 2 / self.medium.least
        squares = self._squares(self.left) * factors
        squares[(0,) * self.medium.mesh.dims] = 0.0  # Legendre polynomials but the first have no mean
        return Weighted.of(self.left, squares)

    @cached_property
    def means(self) -> Weighted:
        return Weighted.of(_first(self.left), self.medium.mesh.volumes.size)

    @cached_property
    def doubted(self) -> Weighted:
        """∇ũ times what a may be off by, over √a."""
        return self._gradient(self.medium.diffusion.error**2 / self.medium.least)

    @cached_property
    def energy(self) -> float:
        """‖a^½ ∇ũ‖, with the least of a on every cell."""
        return self._gradient(self.medium.least).length

    def _gradient(self, factors: Array) -> Weighted:
        parts = [Weighted.of(field, self._squares(field) * factors) for field in self.slopes]
        return reduce(lambda x, y: x + y, parts)

    @cached_property
    def size(self) -> Weighted:
        """‖ũ‖."""
        return Weighted.of(self.value, self._squares(self.value))


@dataclass(frozen=True, eq=False)
class Primal:
    """ũ and σ, what its source may be off by, and what is known of the reaction."""

    side: Side
    off: Array  # of f − g(ũ), on every cell
    linear: float  # (g(u) − g(v))(u − v) ≥ linear (u − v)²
    bend: float  # k
    slope: Known  # c̃ and what g′(ũ) differs from it by

    @property
    def medium(self) -> Medium:
        return self.side.medium

    @cached_property
    def doubt(self) -> float:
        """‖ · ‖ of what the source may be off by."""
        return length(self.off * np.sqrt(UP * self.medium.mesh.volumes.size))

    @cached_property
    def mismatch(self) -> float:
        """M."""
        return UP * (self.side.misfit.length + self.side.doubted.length)

    @cached_property
    def oscillation(self) -> float:
        """O."""
        means = self.side.means.length + self.doubt
        return UP * (self.side.waves.length + means / math.sqrt(self.medium.rate))

    @cached_property
    def error(self) -> float:
        """E ≥ ‖a^½ ∇e‖; not so small that its square would underflow."""
        return max(UP * (self.mismatch + self.oscillation), SMALL)

    @cached_property
    def distance(self) -> float:
        """‖e‖: E²/μ and E²/(4 · linear) bound its square."""
        return UP * self.error / math.sqrt((2 - UP) * max(self.medium.rate, 4 * self.linear))

    @cached_property
    def half(self) -> float:
        """H, and what is lost where a number per cell stands for a."""
        medium = self.medium
        share = UP * medium.spread / medium.middle + 4 * UNIT
        lost = [Weighted.of(m, self.side._squares(m) * share**2 / medium.least).length for m in self.side.misfits]
        radius = math.hypot(self.mismatch / 2, math.sqrt(self.oscillation) * math.sqrt(self.error))
        return UP * (radius + (math.hypot(*lost) + self.side.doubted.length) / 2)

    def along(self, dual: Side) -> Disc:
        """The part of ∫ e ψ that is computed."""
        mesh = self.medium.mesh
        found = summed(mesh.product(self.side.source, dual.value))
        for d in range(mesh.dims):
            spent = mesh.product(self.medium.times(self.side.slopes[d]), dual.slopes[d])
            saved = mesh.product(self.side.misfits[d], dual.misfits[d]) * (0.5 / Disc.of(self.medium.middle))
            found = found + summed(saved - spent)
        return found

    def beyond(self, one: Side, other: Side, peak: float) -> float:
        """The part that is bounded, for the difference of two weights; `peak` bounds max |z̃| of it."""
        size, doubted = (one.size - other.size).length, (one.doubted - other.doubted).length
        waves, means = (one.waves - other.waves).length, (one.means - other.means).length
        ends = self.error * (waves + means / math.sqrt(self.medium.rate) + doubted) + self.side.energy * doubted
        curved = (
            self.bend * self.distance * (peak * self.distance) + float(np.max(self.slope.error)) * self.distance * size
        )
        return UP * (self.half * (one.misfit - other.misfit).length + ends + curved + self.doubt * size) + TINY


def _first(field: Disc) -> Disc:
    place: Any = (0,) * (field.centre.ndim // 2)
    return Disc(field.centre[place], field.radius[place])
