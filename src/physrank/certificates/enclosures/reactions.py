"""Reactions g(u) that do not fall, on the cells of a mesh: g(ũ), a slope of it, and how far that is from secants."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from physrank.certificates.enclosures.discs import TINY, Disc, NotAnalytic
from physrank.certificates.enclosures.hypercircle import Known
from physrank.certificates.enclosures.jets import Function, evaluated
from physrank.certificates.enclosures.meshes import NODES, UP, Mesh
from physrank.geometry.space import Array

PARTS = 64  # discs that cover the values of a function
RINGS = 2.0 ** np.arange(-6, 5)  # their radii beyond, relative to the values


@dataclass(frozen=True)
class Cubic:
    """g(u) = λu + γu³, both ≥ 0."""

    linear: float
    cubic: float

    def plain(self, u: Array) -> tuple[Array, Array]:
        return self.linear * u + self.cubic * u**3, self.linear + 3 * self.cubic * u**2

    def of(self, mesh: Mesh, u: Disc) -> Known:
        """Of degree three, so that nothing is lost."""
        v = mesh.values(u, NODES[3])
        return Known(mesh.interpolated(v * self.linear + v * v * v * self.cubic), np.zeros(mesh.cells))

    def slope(self, mesh: Mesh, u: Disc) -> Known:
        v = mesh.values(u, NODES[2])
        return Known(mesh.interpolated(v * v * (3.0 * Disc.of(self.cubic)) + self.linear, 2), np.zeros(mesh.cells))

    def largest(self, force: float, per_force: float) -> float:
        """A bound of |u| where |f| ≤ force: what it is without a reaction, or what λu or γu³ holds alone."""
        held = [force / self.linear] if self.linear > 0 else []
        held += [float(np.cbrt(force) / np.cbrt(self.cubic))] if self.cubic > 0 else []
        return UP * min(per_force * force, *held, np.inf) + TINY

    def bend(self, values: float, largest: float) -> float:
        """u³ − v³ − 3v²(u − v) = (u − v)² (2v + u)."""
        return UP * self.cubic * (2 * values + largest)


@dataclass(frozen=True)
class Own:
    """A function of one's own, analytic and written with NumPy."""

    function: Function
    linear: float = 0.0

    def plain(self, u: Array) -> tuple[Array, Array]:
        value, (slope,) = evaluated(self.function, [Disc.of(u)])
        return np.broadcast_to(value.centre, u.shape), np.broadcast_to(slope.centre, u.shape)

    def of(self, mesh: Mesh, u: Disc) -> Known:
        return Known(*mesh.enclosed(self._value, 3, lambda at: _arguments(mesh, u, at)))

    def slope(self, mesh: Mesh, u: Disc) -> Known:
        slope: Callable[[list[Disc]], Disc] = lambda u: evaluated(self.function, u)[1][0]  # noqa: E731
        return Known(*mesh.enclosed(slope, 2, lambda at: _arguments(mesh, u, at)))

    def _value(self, u: list[Disc]) -> Disc:
        return evaluated(self.function, u, gradient=False)[0]

    def largest(self, force: float, per_force: float) -> float:
        """As if the reaction at zero were a force, and there were no other."""
        return UP * per_force * (force + self._value([Disc.of(np.zeros(1))]).largest) + TINY

    def bend(self, values: float, largest: float) -> float:
        """max |g″|/2 over all values: by Cauchy's inequality |g″| ≤ 2 m / ρ² where g is within m of a number for ρ around."""
        reach, found = UP * max(values, largest), np.inf
        middles = reach * (2 * np.arange(PARTS) + 1 - PARTS) / PARTS
        for ring in RINGS * reach:
            try:
                near = self._value([Disc(middles, np.full(PARTS, UP * (reach / PARTS + ring)))])
            except NotAnalytic:
                continue
            with np.errstate(all="ignore"):
                found = np.fmin(found, UP * np.max(np.broadcast_to(near.radius, PARTS)) / ring**2)
        return float(found)


def _arguments(mesh: Mesh, u: Disc, at: Any) -> list[Disc]:
    """ũ at nodes, or on discs: |Σ c_k s^k − c_0| ≤ Σ_{k ≠ 0} |c_k| R^{|k|} for a multilinear function."""
    if isinstance(at, tuple):
        return [mesh.values(u, at)]
    degrees = np.indices(u.centre.shape[: mesh.dims]).sum(axis=0)
    powers = np.where(degrees > 0, float(at) ** degrees, 0.0).reshape(*degrees.shape, *[1] * mesh.dims)
    first: Any = (slice(1),) * mesh.dims
    reach = np.sum(u.size * powers, axis=tuple(range(mesh.dims)), keepdims=True)
    return [Disc(u.centre[first], UP * (u.radius[first] + reach) + TINY)]
