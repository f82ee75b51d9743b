"""Elliptic equations whose solutions are known exactly: a product of polynomials that vanish at the ends of a box.

Coefficients are short dyadic numbers, so that those of derivatives are doubles too and the solution is one of the equation
that the functions state, not only up to rounding.
"""

from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

mp = mpmath.mpf


@dataclass(frozen=True, eq=False)
class Manufactured:
    """u = Π p_d(x_d), p_d(0) = p_d(L) = 0, and a = b_0 + b_1 Π e^{s_d x_d} + b_2 cos(s_1 x_1)²."""

    factors: list[np.ndarray]  # coefficients of powers, ascending
    growth: list[float]
    parts: tuple[float, float, float]
    length: float
    reaction: Any  # of numbers, jets and arrays alike

    @classmethod
    def draw(cls, random: np.random.Generator, dims: int, reaction: Any, steep: float = 1.0) -> "Manufactured":
        length = float(random.choice([0.5, 1.0, 4.0]))
        factors = []
        for d in range(dims):
            size = 2.0 ** int(random.integers(-12, 6)) if d == 0 else 1.0
            q = random.integers(-8, 9, 4) / 4 + np.array([0.125, 0, 0, 0])
            factors.append(size * np.convolve([0.0, length, -1.0], q / length ** np.arange(2.0, 6.0)))
        growth = (steep * random.integers(-8, 9, dims) / 4 / length).tolist()
        parts = tuple((random.choice([0.125, 1.0, 64.0]) * random.integers(1, 9, 3) / 4).tolist())
        return cls(factors, growth, parts, length, reaction)

    def diffusion(self, *x):
        wave = np.cos(self.growth[0] * x[0])
        return self.parts[0] + self.parts[1] * self._grown(x) + self.parts[2] * (wave * wave)

    def forcing(self, *x):
        a, grown = self.diffusion(*x), self.parts[1] * self._grown(x)
        wave = np.cos(self.growth[0] * x[0]) * np.sin(self.growth[0] * x[0])
        found = self.reaction(self._product(x, None, 0))
        for d, s in enumerate(self.growth):
            slope = s * grown
            if d == 0:
                slope = slope - 2.0 * (self.parts[2] * (s * wave))
            found = found - a * self._product(x, d, 2) - slope * self._product(x, d, 1)
        return found

    def solution(self, shape):
        """At the nodes of a grid, in many digits, flat."""
        sides = []
        for p, n in zip(self.factors, shape, strict=True):
            nodes = [mp(self.length) * (n - 1) / (shape[0] - 1) * j / (n - 1) for j in range(n)]
            sides.append([mpmath.polyval([mp(c) for c in p[::-1].tolist()], x) for x in nodes])
        found = sides[0]
        for side in sides[1:]:
            found = [a * b for a in found for b in side]
        return found

    def _grown(self, x):
        found = np.exp(self.growth[0] * x[0])
        for s, along in zip(self.growth[1:], x[1:], strict=True):
            found = found * np.exp(s * along)
        return found

    def _product(self, x, axis, order):
        found = None
        for d, (p, along) in enumerate(zip(self.factors, x, strict=True)):
            coefficients = np.polynomial.polynomial.polyder(p, order) if d == axis and order else p
            value = coefficients[-1] + 0.0 * along
            for c in coefficients[-2::-1]:
                value = value * along + float(c)
            found = value if found is None else found * value
        return found
