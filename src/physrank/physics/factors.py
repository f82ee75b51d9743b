"""Matrices on the host: factored once, when first needed, and solved with as they are and transposed."""

import inspect
import warnings
import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from physrank import _optional
from physrank.physics import petsc
from physrank.physics.solvers import UNEVEN, norm

Vector = Any  # a flat NumPy array
SHIFT = 1e-13  # of the largest entry, added to the diagonal of a matrix that is singular to the last bit
KEPT = 4  # matrices whose factors stay in memory: a list of many problems must not hold all of them
_norm: Callable[[Any], Any] = norm
REFINED = 1e-12  # ‖M x − r‖ / ‖r‖ above which a solution is refined once with the same factors


class Factored:
    """A square matrix M with a solver. Laws: `M @ solve(r) ≈ r`, `Mᴴ @ solve_adjoint(r) ≈ r`, for flat arrays r."""

    def __init__(self, matrix: Any, solver: Any = None):
        self.matrix, self.solver = matrix, solver
        self._prepared: dict[str, Any] = {}  # what the solver made of the matrix, and of its transpose

    def __reduce__(self) -> tuple[Any, ...]:
        """To another process without its factors, which no library lets travel; there, equal matrices share them."""
        return factored, (self.matrix, self.solver)

    def apply(self, x: Vector) -> Vector:
        return self.matrix @ x

    def apply_adjoint(self, z: Vector) -> Vector:
        return (self.matrix.T @ z.conj()).conj()

    def solve(self, rhs: Vector) -> Vector:
        return self._refined(_solve_of(self._ready("as it is")), self.apply, rhs)

    def solve_adjoint(self, rhs: Vector) -> Vector:
        own = getattr(self._ready("as it is"), "solve_adjoint", None)
        return self._refined(own or _solve_of(self._ready("transposed")), self.apply_adjoint, rhs)

    def _refined(self, solve: Callable[[Vector], Vector], apply: Callable[[Vector], Vector], rhs: Vector) -> Vector:
        if np.iscomplexobj(rhs) and self.matrix.dtype.kind != "c":  # solvers of real matrices take real vectors
            return self._refined(solve, apply, rhs.real.copy()) + 1j * self._refined(solve, apply, rhs.imag.copy())
        value = solve(rhs)
        left = rhs - apply(value)
        if not _norm(left) > REFINED * _norm(rhs):
            return value
        better = value + solve(left)
        return better if _norm(rhs - apply(better)) < _norm(left) else value

    def _ready(self, which: str) -> Any:
        """What the solver made of the matrix. A few matrices keep it; one that has been forgotten is prepared again."""
        found = self._prepared.get(which)
        if found is None:
            found = self._prepared[which] = self._prepare(which)
            if self not in _KEPT:
                if len(_KEPT) == KEPT:
                    _KEPT.pop(0)._prepared.clear()
                _KEPT.append(self)
        return found

    def _prepare(self, which: str) -> Any:
        sparse = hasattr(self.matrix, "nnz")
        if not np.all(np.isfinite(self.matrix.data if sparse else self.matrix)):
            return _Transposable(_unknown, _unknown)
        if which == "as it is":
            return _prepared(self.solver, self.matrix)
        flipped = self.matrix.conj().T
        return _prepared(self.solver, flipped.tocsc() if sparse else flipped)

    @cached_property
    def row_scale(self) -> Any:
        """1 / the size of each row where they are very different, else one: a large row must not hide the others."""
        squares = abs(self.matrix) ** 2 if not hasattr(self.matrix, "nnz") else abs(self.matrix).power(2)
        rows = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
        rows = np.where((rows > 0) & np.isfinite(rows), rows, rows.max(initial=0.0))
        return 1 / rows if rows.max(initial=0.0) > UNEVEN * rows.min(initial=np.inf) else 1.0

    def is_for(self, matrix: Any, solver: Any) -> bool:
        own = self.matrix
        if solver is not self.solver or type(own) is not type(matrix) or own.shape != matrix.shape:
            return False
        if not hasattr(own, "nnz"):
            return np.array_equal(own, matrix)
        parts = ("indptr", "indices", "data")
        return all(np.array_equal(getattr(own, part), getattr(matrix, part)) for part in parts)


_LIVE: "weakref.WeakSet[Factored]" = weakref.WeakSet()
_KEPT: list[Factored] = []


def factored(matrix: Any, solver: Any = None) -> Factored:
    """The matrix with its factors; those of an equal one that is in use already serve again."""
    for other in list(_LIVE):
        if other.is_for(matrix, solver):
            return other
    found = Factored(matrix, solver)
    _LIVE.add(found)
    return found


def as_matrix(what: str, matrix: Any, size: int | None = None) -> Any:
    """A copy in double precision, sparse by columns or dense; checked to be square, of the size of a state."""
    sparse = _optional.load("scipy.sparse")
    if sparse.issparse(matrix):
        kind = np.complex128 if matrix.dtype.kind == "c" else np.float64
        matrix = sparse.csc_array(matrix, dtype=kind, copy=True)
        matrix.sum_duplicates()
    else:
        try:
            matrix = np.array(matrix)
            matrix = matrix.astype(np.complex128 if matrix.dtype.kind == "c" else np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"{what} must be a SciPy sparse matrix or a two-dimensional array; got {type(matrix).__name__}. "
                "PETSc: scipy.sparse.csr_matrix(mat.getValuesCSR()[::-1], shape=mat.size)."
            ) from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or (size is not None and matrix.shape[0] != size):
        expected = "a square one" if size is None else f"{size} × {size}, one row for every number of a state"
        raise ValueError(f"{what} has shape {matrix.shape}; expected {expected}.")
    return matrix


def thin(matrix: Vector) -> Any:
    """A dense matrix that is mostly zero, as a sparse one."""
    if len(matrix) < 64 or np.count_nonzero(matrix) > 0.1 * matrix.size:
        return matrix
    return _optional.load("scipy.sparse").csc_array(matrix)


class _Transposable:
    """Factors that solve both ways."""

    def __init__(self, solve: Callable[[Vector], Vector], solve_adjoint: Callable[[Vector], Vector]):
        self.solve, self.solve_adjoint = solve, solve_adjoint


def _unknown(rhs: Vector) -> Vector:
    return np.full_like(rhs, np.nan)


def _lu(matrix: Any) -> _Transposable:
    """SuperLU for sparse matrices, LAPACK for dense ones."""
    if not hasattr(matrix, "nnz"):
        linalg = _optional.load("scipy.linalg")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", linalg.LinAlgWarning)
            factors = linalg.lu_factor(matrix)
            if np.any(np.diagonal(factors[0]) == 0):
                factors = linalg.lu_factor(matrix + SHIFT * np.abs(matrix).max() * np.eye(len(matrix)))
        return _Transposable(lambda r: linalg.lu_solve(factors, r), lambda r: linalg.lu_solve(factors, r, trans=2))
    try:
        factors = _superlu(matrix)
    except RuntimeError as error:
        if "singular" not in str(error):
            raise
        # What it does not determine is then found by `undetermined`, from the matrix as it is.
        sparse = _optional.load("scipy.sparse")
        shift = SHIFT * abs(matrix).max() if matrix.nnz else 1.0
        factors = _superlu(sparse.csc_array(matrix + shift * sparse.eye_array(matrix.shape[0])))

    def solve(rhs: Vector, trans: str = "N") -> Vector:
        return factors.solve(rhs.astype(matrix.dtype), trans)

    return _Transposable(solve, lambda rhs: solve(rhs, "H"))


def _superlu(matrix: Any) -> Any:
    """A symmetric pattern, as finite elements have it, is ordered as one, with pivots near the diagonal: less fill."""
    linalg, matrix = _optional.load("scipy.sparse.linalg"), matrix.tocsc()
    flipped = matrix.T.tocsc()
    matrix.sort_indices()
    flipped.sort_indices()
    if np.array_equal(matrix.indptr, flipped.indptr) and np.array_equal(matrix.indices, flipped.indices):
        return linalg.splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.01, options={"SymmetricMode": True})
    return linalg.splu(matrix)


def _pyamg(matrix: Any) -> Callable[[Vector], Vector]:
    """Smoothed aggregation, accelerated to 1e-12."""
    pyamg, sparse = _optional.load("pyamg"), _optional.load("scipy.sparse")
    rows = sparse.csr_matrix(matrix)
    symmetric = abs(rows - rows.conj().T).max() <= 1e-12 * abs(rows).max()
    levels = pyamg.smoothed_aggregation_solver(rows, symmetry="hermitian" if symmetric else "nonsymmetric")
    accel = "cg" if symmetric else "gmres"
    return lambda rhs: levels.solve(rhs, tol=1e-12, maxiter=min(200, len(rhs)), accel=accel)


def _ilu(matrix: Any) -> _Transposable:
    """GMRES to 1e-12 on an incomplete factorisation, for matrices whose factors would fill memory; the defect judges it."""
    linalg, sparse = _optional.load("scipy.sparse.linalg"), _optional.load("scipy.sparse")
    matrix = sparse.csc_array(matrix)
    rough = linalg.spilu(matrix, drop_tol=1e-4, fill_factor=10)

    def by(operator: Any, trans: str) -> Callable[[Vector], Vector]:
        inverse = linalg.LinearOperator(
            matrix.shape, lambda r: rough.solve(r.astype(matrix.dtype), trans), dtype=matrix.dtype
        )
        return lambda rhs: linalg.gmres(operator, rhs, M=inverse, rtol=1e-12, restart=50, maxiter=10)[0]

    return _Transposable(by(matrix, "N"), by(matrix.conj().T, "H"))


def _petsc(matrix: Any) -> _Transposable:
    return _Transposable(*petsc.factors(matrix))


NAMED: dict[str, Callable[[Any], Any]] = {"lu": _lu, "ilu": _ilu, "pyamg": _pyamg, "petsc": _petsc}
PACKAGES = {"pyamg": "pyamg", "petsc": "petsc4py"}


def check_matrix_solver(solver: Any) -> None:
    if solver is None or callable(solver):
        return
    if isinstance(solver, str) and solver in NAMED:
        if solver in PACKAGES:
            _optional.load(PACKAGES[solver])  # a missing one is told now
        return
    names = ", ".join(f'"{name}"' for name in NAMED)
    raise ValueError(
        f"solver must be {names} or a function that takes the matrix and returns solve(rhs), such as "
        f"scipy.sparse.linalg.factorized; got {solver!r:.60}."
    )


def _prepared(solver: Any, matrix: Any) -> Any:
    if solver is None or isinstance(solver, str):
        return NAMED[solver or "lu"](matrix)
    try:
        parameters = inspect.signature(solver).parameters.values()
        needed = [
            p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):  # built-ins without a signature
        needed = []
    if len(needed) == 2:  # solver(matrix, rhs), such as spsolve
        return lambda rhs: solver(matrix, rhs)
    return solver(matrix)


def _solve_of(found: Any) -> Callable[[Vector], Vector]:
    solve = getattr(found, "solve", None) or found
    if not callable(solve):
        raise ValueError(
            f"solver(matrix) returned {found!r:.60}; expected a function solve(rhs), or an object that has it."
        )
    return lambda rhs: np.asarray(solve(rhs)).reshape(rhs.shape)
