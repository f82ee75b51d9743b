"""A polynomial close to the solution of −∇·(a∇u) + g(u) = f on a box, zero on its boundary, from a state on a grid.

Deferred correction: the residual is evaluated spectrally, on Chebyshev nodes, and every correction solves for it by GMRES
with the √a-scaled inverse of the Laplacian as preconditioner. Nothing here is rounded outwards: what the polynomial leaves
of the equation is enclosed by whoever uses it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from physrank.certificates.enclosures.chebyshev import derivative
from physrank.geometry.space import Array

DEGREES = {1: (32, 64, 128, 256), 2: (28, 36, 48, 72), 3: (16, 24, 32, 40)}  # one correction each
SMALL = 1e-12  # relative to the solution: coefficients and corrections below it end the corrections
KRYLOV, RTOL = 60, 1e-9


@dataclass(frozen=True, eq=False)
class Equation:
    """What the reconstruction solves, in plain numbers."""

    diffusion: Callable[..., Array]
    forcing: Callable[..., Array]
    reaction: Callable[[Array], tuple[Array, Array]]  # g and g′
    lengths: tuple[float, ...]

    @property
    def dims(self) -> int:
        return len(self.lengths)


def reconstruct(equation: Equation, state: Array) -> tuple[Array, int]:
    """Coefficients p of Σ p_k Π (T_k − T_{k+2}) over the axes, and the number of corrections."""
    coefficients, used = _of_grid(state, DEGREES[equation.dims][0]), 0
    for degree in DEGREES[equation.dims]:
        nodes = Collocation(equation, degree)
        values = nodes.values(_padded(coefficients, degree + 1))
        step = nodes.correction(values)
        coefficients, used = nodes.coefficients(values + step), used + 1
        size = np.abs(values + step).max()
        edge = max(np.abs(np.moveaxis(coefficients, d, 0)[-3:]).max() for d in range(equation.dims))
        if not (np.isfinite(size) and max(edge, np.abs(step).max() ** 2 / (size + 1e-300)) > SMALL * size):
            break
    return _to_basis(coefficients), used


@dataclass(frozen=True, eq=False)
class Collocation:
    """The equation on Chebyshev–Lobatto nodes of one degree."""

    equation: Equation
    degree: int

    @property
    def _to_values(self) -> Array:
        return _values_of_coefficients(self.degree)

    @property
    def _to_coefficients(self) -> Array:
        return _coefficients_of_values(self.degree)

    @property
    def _first(self) -> Array:
        return _slopes(self.degree, 1)

    @property
    def _second(self) -> Array:
        return _slopes(self.degree, 2)

    @cached_property
    def fields(self) -> tuple[Array, Array, list[Array]]:
        """a, f and the gradient of a on all nodes."""
        sides = [length * (1 + self._to_values[:, 1]) / 2 for length in self.equation.lengths]
        grid, shape = np.meshgrid(*sides, indexing="ij"), (self.degree + 1,) * self.equation.dims
        a, f = (
            np.array(np.broadcast_to(np.asarray(field(*grid), np.float64), shape))
            for field in (self.equation.diffusion, self.equation.forcing)
        )
        return a, f, [2 / length * _along(d, self._first, a) for d, length in enumerate(self.equation.lengths)]

    def values(self, coefficients: Array) -> Array:
        found = _everywhere(self._to_values, coefficients)
        return np.pad(_interior(found), 1)  # zero on the boundary

    def coefficients(self, values: Array) -> Array:
        return _everywhere(self._to_coefficients, values)

    def diffused(self, values: Array) -> Array:
        """−∇·(a∇v)."""
        a, _, slopes = self.fields
        found = np.zeros_like(values)
        for d, length in enumerate(self.equation.lengths):
            first, second = (_along(d, matrix, values) for matrix in (self._first, self._second))
            found -= slopes[d] * first * (2 / length) + a * second * (2 / length) ** 2
        return found

    def correction(self, values: Array) -> Array:
        """δ of (−∇·a∇ + g′(v)) δ = −residual, on all nodes."""
        e, (a, f, _) = self.equation, self.fields
        value, reaction = e.reaction(values)
        residual = self.diffused(values) + value - f
        root = np.sqrt(np.abs(_interior(a)))
        (modes, back, rates), shape = _laplacian(self.degree), root.shape
        symbol = np.mean(_interior(reaction) / root**2)
        for d, length in enumerate(e.lengths):
            symbol = symbol + (rates * (2 / length) ** 2).reshape([-1 if k == d else 1 for k in range(e.dims)])

        def precondition(r: Array) -> Array:
            return _everywhere(modes, _everywhere(back, r.reshape(shape) / root) / symbol).ravel() / root.ravel()

        def apply(v: Array) -> Array:
            full = np.pad(v.reshape(shape), 1)
            return _interior(self.diffused(full) + reaction * full).ravel()

        return np.pad(_gmres(apply, precondition, -_interior(residual).ravel()).reshape(shape), 1)


def _gmres(apply: Callable[[Array], Array], precondition: Callable[[Array], Array], rhs: Array) -> Array:
    """P y with A P y ≈ b: Arnoldi with one reorthogonalisation, the least-squares problem solved anew at every step."""
    size = np.linalg.norm(rhs)
    if not (np.isfinite(size) and size > 0):
        return np.zeros_like(rhs)
    basis, images, hessenberg = [rhs / size], [], np.zeros((KRYLOV + 1, KRYLOV))
    weights = np.zeros(0)
    for k in range(KRYLOV):
        images.append(precondition(basis[k]))
        new, known = apply(images[k]), np.stack(basis)
        for _ in range(2):
            part = known @ new
            hessenberg[: k + 1, k] += part
            new = new - part @ known
        hessenberg[k + 1, k] = np.linalg.norm(new)
        small, goal = hessenberg[: k + 2, : k + 1], np.eye(k + 2)[0] * size
        if not np.all(np.isfinite(small)):
            return np.zeros_like(rhs)
        weights = np.linalg.lstsq(small, goal)[0]
        if np.linalg.norm(small @ weights - goal) <= RTOL * size or hessenberg[k + 1, k] <= 1e-14 * size:
            break
        basis.append(new / hessenberg[k + 1, k])
    return weights @ np.stack(images[: len(weights)])


def _of_grid(state: Array, degree: int) -> Array:
    """Chebyshev coefficients of the sine interpolant of a state on uniform nodes, its boundary taken for zero."""
    nodes = (1 + _values_of_coefficients(degree)[:, 1]) / 2
    values = _interior(state)
    for d, n in enumerate(state.shape):
        k = np.arange(1, n - 1)
        waves = np.sin(np.pi * np.outer(k, k) / (n - 1)) * 2 / (n - 1)
        values = _along(d, np.sin(np.pi * np.outer(nodes, k)) @ waves, values)
    return _everywhere(_coefficients_of_values(degree), values)


@cache  # of a few degrees
def _slopes(degree: int, order: int) -> Array:
    """The matrix of a derivative, from values to values."""
    matrix = np.linalg.matrix_power(derivative(degree), order)
    return _values_of_coefficients(degree) @ matrix @ _coefficients_of_values(degree)


@cache
def _laplacian(degree: int) -> tuple[Array, Array, Array]:
    """Modes of −d²/dx² with zero ends, their inverse, and their rates."""
    rates, modes = np.linalg.eig(-_slopes(degree, 2)[1:-1, 1:-1])
    return np.real(modes), np.linalg.inv(np.real(modes)), np.real(rates)


@cache
def _values_of_coefficients(degree: int) -> Array:
    """T_k at the Chebyshev–Lobatto nodes, the second column of which are the nodes."""
    k = np.arange(degree + 1)
    return np.cos(np.pi * np.outer(k, k) / degree)


@cache
def _coefficients_of_values(degree: int) -> Array:
    """The inverse of that matrix: itself, with halved ends on both sides, times 2/degree."""
    halves = np.where(np.isin(np.arange(degree + 1), (0, degree)), 0.5, 1.0)
    return 2 / degree * halves[:, None] * _values_of_coefficients(degree) * halves


def _to_basis(coefficients: Array) -> Array:
    """p_k = u_k + p_{k−2} along every axis: the inverse of T_k − T_{k+2}."""
    found = coefficients
    for d in range(found.ndim):
        rows = np.moveaxis(found, d, 0).copy()
        for k in range(2, len(rows)):
            rows[k] += rows[k - 2]
        found = np.moveaxis(rows[:-2], 0, d)
    return found


def _padded(coefficients: Array, size: int) -> Array:
    return np.pad(coefficients, [(0, size - n) for n in coefficients.shape])


def _along(axis: int, matrix: Array, values: Array) -> Array:
    return np.moveaxis(np.tensordot(matrix, values, (1, axis)), 0, axis)


def _everywhere(matrix: Array, values: Array) -> Array:
    for d in range(values.ndim):
        values = _along(d, matrix, values)
    return values


def _interior(nodes: Array) -> Array:
    return nodes[(slice(1, -1),) * nodes.ndim]
