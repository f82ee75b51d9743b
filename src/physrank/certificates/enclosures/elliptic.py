"""What a polynomial leaves of −∇·(a∇u) + g(u) = f on a box, enclosed everywhere, and what that says about its error."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from physrank.certificates.enclosures import chebyshev
from physrank.certificates.enclosures.discs import Disc, NotAnalytic
from physrank.certificates.enclosures.jets import Function, evaluated
from physrank.geometry.space import Array

ELLIPSES = (1.1, 1.25, 1.5, 1.75, 2.2, 3.0, 5.0)
CELLS = {1: 1024, 2: 64, 3: 32}  # along every axis, for the least a
MOST = {1: 4096, 2: 400, 3: 48}  # the highest degree whose values fit in memory
SMALL = 2.0**-960  # numbers that are the last of a few products, above what underflow can take
GOAL = 1e-13  # what may lie beyond the degree, relative to the size of the equation's terms


def inverse_bound(lengths: list[Disc], least: float) -> float:
    """C of max |e| ≤ C ‖r‖ for −∇·(a∇e) + c e = r, c ≥ 0, a ≥ its least value, e = 0 on the boundary of the box.

    Talenti's comparison with the ball of the same volume V: C = ‖∫_t^V s^{2/d − 2} ds‖ / (d² ω_d^{2/d} min a) in L²(0, V).
    """
    dims = len(lengths)
    volume = np.prod([length.largest for length in lengths])
    with np.errstate(all="ignore"):
        kernel = [volume**1.5 / np.sqrt(3), np.sqrt(2 * volume), 3 * volume ** (1 / 6)][dims - 1]
        ball = math.pi ** (dims / 2) / math.gamma(dims / 2 + 1)
        found = float(chebyshev.UP * kernel / (dims**2 * ball ** (2 / dims) * least))
    return found if min(volume, kernel, found) > SMALL else np.inf  # what underflows is no bound


@dataclass(frozen=True, eq=False)
class Defect:
    """r = −∇·(a∇ũ) + g(ũ) − f for a polynomial that is zero on the boundary, whatever its coefficients are."""

    diffusion: Function | float
    forcing: Function | float
    reaction: Function
    lengths: list[Disc]
    coefficients: Array  # of Π (T_k − T_{k+2})

    @property
    def dims(self) -> int:
        return len(self.lengths)

    @property
    def degree(self) -> int:
        return len(self.coefficients) + 1

    def _series(self, axis: int | None = None, order: int = 0) -> Disc:
        """Chebyshev coefficients of ũ, or of a derivative of it along an axis."""
        found = Disc.of(self.coefficients)
        for d in range(self.dims):
            found = found.along(d, Disc.of(chebyshev.conforming(self.degree)))
        for _ in range(order):
            assert axis is not None
            found = found.along(axis, Disc.of(chebyshev.derivative(self.degree))) * (2.0 / self.lengths[axis])
        return found

    def _places(self, side: Disc) -> list[Disc]:
        """The coordinates of a tensor product of points or discs in [−1, 1]."""
        shapes = [[-1 if k == d else 1 for k in range(self.dims)] for d in range(self.dims)]
        sides = [Disc(side.centre.reshape(s), side.radius.reshape(s)) for s in shapes]
        return [(s + 1.0) * length * 0.5 for s, length in zip(sides, self.lengths, strict=True)]

    def least_diffusion(self) -> float:
        places = self._places(chebyshev.cells(CELLS[self.dims]))
        return evaluated(self.diffusion, places, gradient=False)[0].least

    def at_uniform(self, shape: tuple[int, ...]) -> Disc:
        """ũ at the nodes of the grid."""
        return _transformed(self._series(), [chebyshev.at_uniform(n - 1, self.degree) for n in shape])

    def _of(self, places: list[Disc], value: Callable[[Disc], Any]) -> Any:
        """r where `value` makes a number of a series: its values, or a bound of its size."""
        a, slopes = evaluated(self.diffusion, places)
        f, g = (
            evaluated(function, where, gradient=False)[0]
            for function, where in ((self.forcing, places), (self.reaction, [value(self._series())]))
        )
        found = g - f
        for d in range(self.dims):
            found = found - slopes[d] * value(self._series(d, 1)) - a * value(self._series(d, 2))
        return found

    def in_ellipses(self, rho: float) -> float:
        """A bound of |r| in the polyellipse: |T_k| ≤ ρᵏ there, and the extremes of a, ∇a and f are on the boundary."""

        def size(series: Disc) -> Disc:
            powers = Disc(np.zeros((1, self.degree + 1)), rho ** np.arange(self.degree + 1.0)[None] * chebyshev.UP)
            return _transformed(Disc.of(series.size), [powers] * self.dims)

        return self._of(self._places(chebyshev.ellipse(rho)), size).largest

    def norm(self) -> float:
        """‖r‖ in L² of the box."""
        sizes, degrees, goal = {}, [np.inf], np.nan
        for rho in ELLIPSES:
            try:
                sizes[rho] = self.in_ellipses(rho)
            except NotAnalytic:
                break
            goal = goal if goal > 0 else GOAL * sizes[rho] + 1e-290
            degrees.append(chebyshev.degree_for(sizes[rho], rho, self.dims, goal))
            if not degrees[-1] < degrees[-2]:  # the function grows faster than the ellipse pays
                break
        if not any(np.isfinite(size) for size in sizes.values()):
            return np.inf
        degree = int(min(max(min(degrees), 1), MOST[self.dims]))
        left = min(chebyshev.tail(size, rho, degree, self.dims) for rho, size in sizes.items())
        matrix = chebyshev.at_zeros(2 * degree + 1, self.degree)
        side = Disc(matrix.centre[:, 1], matrix.radius[:, 1])
        at_nodes = self._of(self._places(side), lambda series: _transformed(series, [matrix] * self.dims))
        unit = max(at_nodes.largest, SMALL)  # squares of small numbers would underflow
        squares = (np.broadcast_to(at_nodes.size, (len(side.centre),) * self.dims) / unit) ** 2
        for _ in range(self.dims):
            squares = np.tensordot(squares, chebyshev.fejer(2 * degree + 1).size, (0, 0))
        volume = math.prod(length.largest for length in self.lengths)
        found = chebyshev.UP * (unit * math.sqrt(squares * volume / 2**self.dims) + 2 * left * math.sqrt(volume))
        return max(found, SMALL) if np.isfinite(found) and volume > SMALL else np.inf


def _transformed(series: Disc, matrices: list[Disc]) -> Disc:
    for d, matrix in enumerate(matrices):
        series = series.along(d, matrix)
    return series
