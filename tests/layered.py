"""Elliptic equations whose data jump and whose solutions are known exactly: polynomials of stretched coordinates.

Along every axis s(x) is continuous, a polynomial on every layer, and rises at the rate ρ = s′ > 0. With A = 1/ρ and
a = A_1(x_1) ⋯ A_d(x_d), the function u = Π P_d(s_d) has continuous fluxes A_d ∂_d u = P_d′(s_d) across all lines, and

    −∂_d(a ∂_d u) = −(Π_{k≠d} P_k / ρ_k) P_d″(s_d) ρ_d.

All numbers are short dyadic ones, so that it solves the equation that the pieces state, not only up to rounding.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np

from physrank.certificates import Pieces

mp = mpmath.mpf


@dataclass(frozen=True, eq=False)
class Axis:
    """s = s_left + c0 (x − left) + c1 (x − left)² on every layer, and P(s) = s (S − s) q(s)."""

    ends: tuple[float, ...]
    rates: tuple[tuple[float, float], ...]  # c0 and c1
    q: tuple[float, ...]  # ascending

    @classmethod
    def draw(cls, random, length, layers, contrast, bent=False):
        breaks = np.sort(random.choice(np.arange(1, 16), layers - 1, replace=False)) / 16 * length
        rates = [(2.0 ** -float(random.integers(0, contrast + 1)), 0.0) for _ in range(layers)]
        if bent:
            rates = [(c, c * float(random.integers(0, 5)) / 8 / length) for c, _ in rates]
        q = random.integers(-4, 5, 3) / 4 + np.array([0.125, 0, 0])
        return cls((0.0, *breaks.tolist(), length), tuple(rates), tuple(q.tolist()))

    @property
    def starts(self):
        """s at the ends of layers."""
        found = [0.0]
        for (c0, c1), left, right in zip(self.rates, self.ends, self.ends[1:], strict=False):
            found.append(found[-1] + c0 * (right - left) + c1 * (right - left) ** 2)
        return found

    @property
    def powers(self):
        """Coefficients of P."""
        return np.convolve([0.0, self.starts[-1], -1.0], self.q)

    def stretched(self, layer, x):
        c0, c1 = self.rates[layer]
        along = x - self.ends[layer]
        return self.starts[layer] + along * c0 + (along * along * c1 if c1 else 0.0)

    def rate(self, layer, x):
        c0, c1 = self.rates[layer]
        return c0 + (2.0 * c1) * (x - self.ends[layer]) if c1 else c0

    def polynomial(self, layer, x, order=0):
        """P or a derivative of it with respect to s."""
        s, coefficients = self.stretched(layer, x), np.polynomial.polynomial.polyder(self.powers, order)
        value = coefficients[-1] + 0.0 * s
        for c in coefficients[-2::-1]:
            value = value * s + float(c)
        return value

    def in_digits(self, layer):
        """P(s(x)) as a polynomial of x − left, ascending, in many digits."""
        s = [mp(self.starts[layer]), *map(mp, self.rates[layer])]
        found = [mp(0)]
        for c in self.powers[::-1].tolist():
            found = added(times(found, s), [mp(c)])
        return found

    def moments(self, nodes):
        """∫ P(s(x)) φ dx over the hat of every node, exact but for the digits."""
        found = [mp(0)] * len(nodes)
        for k, (left, right) in enumerate(pairwise(nodes)):
            h = mp(right) - mp(left)
            for layer, (begin, end) in enumerate(pairwise(self.ends)):
                a, b = max(left, begin), min(right, end)
                if a < b:
                    p, at = self.in_digits(layer), mp(begin)
                    for node, hat in ((k, [(mp(right) - at) / h, -1 / h]), (k + 1, [(at - mp(left)) / h, 1 / h])):
                        found[node] += integral(times(p, hat), mp(a) - at, mp(b) - at)
        return found

    def square(self):
        """∫ P(s(x))² dx."""
        layers = enumerate(pairwise(self.ends))
        return sum(integral(times(p := self.in_digits(k), p), mp(0), mp(b) - mp(a)) for k, (a, b) in layers)


@dataclass(frozen=True, eq=False)
class Layered:
    """The equation on the box of all axes, with a reaction of numbers, jets and arrays alike."""

    axes: tuple[Axis, ...]
    size: float  # of u, a power of two
    reaction: Any

    @classmethod
    def draw(cls, random, dims, reaction, contrast=10, bent=False):
        length = float(random.choice([0.5, 1.0, 4.0]))
        axes = tuple(Axis.draw(random, length, int(random.integers(1, 4)), contrast, bent) for _ in range(dims))
        power = int(random.integers(-8, 8)) if random.random() < 0.9 else int(random.choice([-500, -300, 200]))
        return cls(axes, 2.0**power, reaction)

    @property
    def length(self):
        return self.axes[0].ends[-1]

    def _pieces(self, make):
        def nested(place):
            if len(place) == len(self.axes):
                return make(place)
            return tuple(nested((*place, k)) for k in range(len(self.axes[len(place)].rates)))

        return Pieces(tuple(axis.ends[1:-1] for axis in self.axes), nested(()))

    @property
    def diffusion(self):
        def make(place):
            if all(axis.rates[k][1] == 0 for axis, k in zip(self.axes, place, strict=True)):
                return float(np.prod([1 / axis.rates[k][0] for axis, k in zip(self.axes, place, strict=True)]))
            return lambda *x: 1.0 / self._rates(place, x)

        return self._pieces(make)

    @property
    def forcing(self):
        return self._pieces(lambda place: lambda *x: self._force(place, x))

    def _rates(self, place, x):
        found = 1.0
        for axis, k, along in zip(self.axes, place, x, strict=True):
            found = found * axis.rate(k, along)
        return found

    def _force(self, place, x):
        parts = list(zip(self.axes, place, x, strict=True))
        u = self.size
        for axis, k, along in parts:
            u = u * axis.polynomial(k, along)
        found = self.reaction(u)
        for d, (axis, k, along) in enumerate(parts):
            term = self.size * axis.polynomial(k, along, 2) * axis.rate(k, along)
            for other, (across, layer, y) in enumerate(parts):
                if other != d:
                    term = term * across.polynomial(layer, y) / across.rate(layer, y)
            found = found - term
        return found

    def averages(self, nodes):
        """∫ u φ / ∫ φ at interior nodes, zero on the boundary, in many digits, flat."""
        found = [mp(self.size)]
        for axis, x in zip(self.axes, nodes, strict=True):
            means = [2 * m / (mp(b) - mp(a)) for m, a, b in zip(axis.moments(x)[1:-1], x, x[2:], strict=False)]
            found = [v * m for v in found for m in [mp(0), *means, mp(0)]]
        return found

    def distance(self, state, nodes):
        """‖v − u‖ in L² for the multilinear function v of a state, in many digits."""
        moments, mass = [mp(self.size)], np.array([[mp(1)]], object)
        for axis, x in zip(self.axes, nodes, strict=True):
            moments = [v * m for v in moments for m in axis.moments(x)]
            mass = np.kron(mass, _mass([mp(t) for t in x]))
        v = np.array([mp(float(t)) for t in np.ravel(state)], object)
        square = mp(self.size) ** 2 * mpmath.fprod(axis.square() for axis in self.axes)
        return mpmath.sqrt(abs(v @ mass @ v - 2 * (v @ np.array(moments, object)) + square))


def _mass(x):
    found = np.full((len(x), len(x)), mp(0), object)
    for k in range(len(x) - 1):
        h = x[k + 1] - x[k]
        for i, j, part in ((k, k, 3), (k + 1, k + 1, 3), (k, k + 1, 6), (k + 1, k, 6)):
            found[i, j] += h / part
    return found


def times(p, q):
    found = [mp(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            found[i + j] += a * b
    return found


def added(p, q):
    longer, shorter = (p, q) if len(p) >= len(q) else (q, p)
    return [a + (shorter[k] if k < len(shorter) else 0) for k, a in enumerate(longer)]


def integral(p, a, b):
    return mpmath.fsum(c * (b ** (k + 1) - a ** (k + 1)) / (k + 1) for k, c in enumerate(p))
