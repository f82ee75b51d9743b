"""Matrices that PETSc solves with, where `petsc4py` is installed."""

from collections.abc import Callable
from typing import Any

import numpy as np

from physrank import _optional

Vector = Any  # a flat NumPy array
PIVOTING = ("mumps", "superlu", "umfpack")  # PETSc's own factors do not pivot: saddle points need one of these


def factors(matrix: Any) -> tuple[Callable[[Vector], Vector], Callable[[Vector], Vector]]:
    """What solves with the matrix and with its adjoint: a sparse LU, or whatever -ksp_type and -pc_type on PETSc's own
    command line say. What PETSc cannot solve is not a number, so that nobody takes it for a solution."""
    petsc, sparse = _optional.load("petsc4py.PETSc"), _optional.load("scipy.sparse")
    if matrix.dtype.kind == "c" and np.dtype(petsc.ScalarType).kind != "c":
        raise ValueError(
            'The matrix is complex and this PETSc is built for real numbers. Leave out solver="petsc" (SuperLU solves with '
            "complex matrices), or install one built with --with-scalar-type=complex."
        )
    rows = _with_diagonal(sparse.coo_array(matrix, dtype=petsc.ScalarType))
    mat = petsc.Mat().createAIJ(
        size=rows.shape, csr=(rows.indptr.astype(petsc.IntType), rows.indices.astype(petsc.IntType), rows.data)
    )
    ksp = petsc.KSP().create()
    ksp.setOperators(mat)
    ksp.setType("preonly")
    _factored_by(ksp.getPC(), petsc.Error)
    ksp.setFromOptions()

    def by(method: Callable[..., None], rhs: Vector) -> Vector:
        right, found = mat.createVecs()
        right.setArray(rhs)
        try:
            method(right, found)
        except petsc.Error:
            return np.full(rhs.shape, np.nan, rhs.dtype)
        return found.getArray().astype(rhs.dtype)

    return lambda rhs: by(ksp.solve, rhs), lambda rhs: by(ksp.solveTranspose, rhs.conj()).conj()


def _with_diagonal(entries: Any) -> Any:
    """By rows, with every entry of the diagonal stored, zeros too: PETSc wants a place for them."""
    size = np.arange(entries.shape[0])
    values = np.concatenate([entries.data, np.zeros_like(entries.data, shape=size.shape)])
    places = tuple(np.concatenate([axis, size]) for axis in entries.coords)
    return type(entries)((values, places), shape=entries.shape).tocsr()


def _factored_by(pc: Any, error: type[Exception]) -> None:
    """The first package that this PETSc was built with and that pivots; else its own."""
    pc.setType("lu")
    for name in PIVOTING:
        try:
            pc.setFactorSolverType(name)
            pc.setFactorSetUpSolverType()
            return
        except error:
            continue
    pc.setFactorSolverType("petsc")
