"""Trigonometric polynomials on a periodic interval by their coefficients, and the operators of viscous Burgers on them."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray
from numpy.typing import NDArray

from physrank import _optional
from physrank.certificates.enclosures.fourier import WIDE, WIDE_UNIT, transform_error
from physrank.certificates.enclosures.rounding import UNIT, gamma
from physrank.equations import Burgers
from physrank.geometry.space import Array

UP = 1 + 2.0**-46  # covers the rounding of a few scalars
SMALL = 2.0**-480  # above what underflow can take from a norm


def coefficients(rows: Array) -> NDArray[np.complex128]:
    """c_k, k = 0 … n/2, of the trigonometric interpolant Σ_{|k| ≤ n/2} c_k e^{2πikx/L} of real values on n points.

    In L² they are right to `coefficient_error` times the norm on the grid.
    """
    wide = np.fft.rfft(np.asarray(rows).astype(WIDE), norm="forward") * halves(rows.shape[-1])
    return wide.astype(np.complex128)


def coefficient_error(points: int) -> float:
    return 2 * transform_error(points, WIDE_UNIT) + 4 * UNIT


def scaled_nyquist(values: Array, factor: float) -> Array:
    """Real values with the last mode of an even grid multiplied: its coefficient is a sum with alternating signs.

    Every entry errs by less than 2⁻⁴⁶ of the largest (NumPy adds pairwise).
    """
    points = values.shape[-1]
    if points % 2:
        return values
    signs = np.where(np.arange(points) % 2, -1.0, 1.0)
    last = np.sum(values.astype(WIDE) * signs, axis=-1, keepdims=True) / points
    return values + np.asarray((factor - 1) * last, np.float64) * signs


def halves(points: int) -> Array:
    """The last coefficient of an even grid stands for both ±n/2."""
    factors = np.ones(points // 2 + 1)
    factors[-1] = 1.0 if points % 2 else 0.5
    return factors


class Line(eqx.Module):
    """Real trigonometric polynomials of degree K on [0, L), by their coefficients c_0 … c_K on the last axis."""

    viscosity: JaxArray
    length: float = eqx.field(static=True)
    degree: int = eqx.field(static=True)

    @classmethod
    def of(cls, problem: Burgers) -> "Line":
        """With the modes that the flow of `problem` resolves: |k| < n/3."""
        half = problem.points // 2
        return cls(problem.viscosity, problem.length, int(np.sum(np.arange(half + 1) < 2 / 3 * half)) - 1)

    @property
    def grid(self) -> int:
        """Points on which a product, of degree 2K, and the square of that are integrated exactly."""
        return _optional.load("scipy.fft").next_fast_len(4 * self.degree + 1, real=True)

    def wavenumber(self, count: int) -> JaxArray:
        return 2 * np.pi / self.length * jnp.arange(count, dtype=float)

    def values(self, c: JaxArray) -> JaxArray:
        return jnp.fft.irfft(c, n=self.grid, norm="forward")

    def modes(self, values: JaxArray, degree: int) -> JaxArray:
        return jnp.fft.rfft(values, norm="forward")[..., : degree + 1]

    def slope(self, c: JaxArray) -> JaxArray:
        """u_x."""
        return times(self.wavenumber(c.shape[-1]), 1j * c)

    @property
    def symbol(self) -> JaxArray:
        """Of ν ∂_xx."""
        return -self.viscosity * self.wavenumber(self.degree + 1) ** 2

    def advection(self, c: JaxArray, degree: int) -> JaxArray:
        """u u_x = ½ (u²)_x, its modes up to `degree` ≤ 2K."""
        return self.slope(self.modes(self.values(c) ** 2, degree)) / 2

    def explicit(self, c: JaxArray, force: JaxArray) -> JaxArray:
        """P_K (f − u u_x)."""
        return self.kept(force) - self.advection(c, self.degree)

    def rate(self, c: JaxArray, force: JaxArray) -> JaxArray:
        """P_K (ν u_xx − u u_x + f)."""
        return times(self.symbol, c) + self.explicit(c, force)

    def residual(self, c: JaxArray, c_t: JaxArray, force: JaxArray) -> JaxArray:
        """r = u_t − ν u_xx + u u_x − f, all modes of it."""
        count = max(2 * self.degree + 1, force.shape[-1])
        linear, product = c_t - times(self.symbol, c), self.advection(c, 2 * self.degree)
        return padded(linear, count) + padded(product, count) - padded(force, count)

    def kept(self, c: JaxArray) -> JaxArray:
        """P_K u."""
        return c[..., : self.degree + 1]

    def dropped(self, c: JaxArray) -> JaxArray:
        """(1 − P_K) u."""
        return c.at[..., : self.degree + 1].set(0)

    def smoothed(self, c: JaxArray) -> JaxArray:
        """|∂_x|⁻¹ (1 − P_K) u."""
        return times(1 / jnp.maximum(self.wavenumber(c.shape[-1]), self.wavenumber(2)[1]), self.dropped(c))

    def inner(self, a: JaxArray, b: JaxArray) -> JaxArray:
        """⟨u, v⟩ in L²."""
        products = (a * b.conj()).real
        return self.length * (products[..., 0] + 2 * jnp.sum(products[..., 1:], axis=-1))

    def norm(self, c: JaxArray) -> JaxArray:
        """Not below the L² norm, whatever falls below the smallest number on the way."""
        return self._summed(c) * jnp.sqrt(self.inner(c, c)) + SMALL * np.sqrt(self.length)

    @property
    def blur(self) -> float:
        """φ of the fine grid, and some roundings: what values on it are off by, relative to their norm."""
        return transform_error(self.grid) + 64 * UNIT

    def largest(self, c: JaxArray) -> JaxArray:
        """Σ |c_k| over all modes ≥ max_x |u|."""
        sizes = jnp.abs(c)
        return self._summed(c) * (sizes[..., 0] + 2 * jnp.sum(sizes[..., 1:], axis=-1))

    @staticmethod
    def _summed(c: JaxArray) -> float:
        """Covers the rounding of a sum over modes, in any order."""
        return UP * (1 + gamma(c.shape[-1] + 8))

    def pointwise(self, c: JaxArray) -> JaxArray:
        """What a computed value at a grid point can be off by."""
        return self.blur * np.sqrt(self.grid / self.length) * self.norm(c)

    def missed(self, c: JaxArray) -> JaxArray:
        """How far max_x u can be above its maximum on the grid.

        Where it is attained u_x = 0, and a grid point is within δ/2: at most δ²/8 · max |u_xx| ≤ δ²/8 · Σ k² |c_k|.
        """
        curvature = 2 * jnp.sum(self.wavenumber(c.shape[-1]) ** 2 * jnp.abs(c), axis=-1)
        return self._summed(c) * (self.length / self.grid) ** 2 / 8 * curvature


def times(factors: JaxArray | Array, c: JaxArray) -> JaxArray:
    """Real factors times coefficients."""
    return jnp.asarray(factors, c.dtype) * c


def padded(c: JaxArray, count: int) -> JaxArray:
    """With zeros up to `count` coefficients."""
    return jnp.pad(c, [(0, 0)] * (c.ndim - 1) + [(0, count - c.shape[-1])])
