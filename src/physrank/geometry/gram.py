"""Task spaces with a full inner product ⟨x, y⟩ = xᵀ M y: mass matrices of finite elements, sparse or dense."""

from typing import Any

import numpy as np

from physrank import _optional
from physrank.geometry.space import Array, TaskSpace, as_real

SYMMETRIC = 1e-10  # |M − Mᵀ| over |M| up to which a matrix counts as symmetric: assembly rounds


class GramSpace(TaskSpace):
    """The space in which M = Cᵀ C, with C = √D Lᵀ in a fill-reducing order: `coordinates` are C y, without densifying.

    Single entries have no weights in it; outputs of k times the size of M have k fields.
    """

    matrix: Any  # M
    factor: Any  # C
    order: Any  # of the entries before C; None: as they are
    outline: tuple[int, ...]
    separable = False

    def __init__(self, matrix: Any, factor: Any, order: Any, shape: tuple[int, ...]):
        vars(self).update(matrix=matrix, factor=factor, order=order, outline=shape)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    @property
    def weights(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        raise ValueError(
            "This needs a metric of quadrature weights; a Gram matrix gives single entries none. Certificates are among what "
            "needs them: use metrics.weights, or the metric of a grid."
        )

    @classmethod
    def of(cls, matrix: Any) -> "GramSpace":
        """Checked: symmetric, and positive definite by the pivots of its factorisation."""
        sparse = _optional.load("scipy.sparse")
        known = sparse.csc_array(matrix, dtype=np.float64) if sparse.issparse(matrix) else _dense(matrix)
        if known.ndim != 2 or known.shape[0] != known.shape[1]:
            raise ValueError(f"A Gram matrix must be square; got shape {known.shape}.")
        values = np.asarray(known.data if sparse.issparse(known) else known)
        if values.size == 0 or not np.all(np.isfinite(values)):
            raise ValueError("A Gram matrix must have finite entries; got NaN, infinity or nothing at all.")
        skew, size = abs(known - known.T).max(), abs(known).max()
        if not skew <= SYMMETRIC * size:
            raise ValueError(
                f"A Gram matrix must be symmetric; M and its transpose differ by {skew:.3g}, with entries up to {size:.3g}."
            )
        factor, order = _sparse_root(known) if sparse.issparse(known) else (_dense_root(known), None)
        return cls(known, factor, order, known.shape[:1])

    def shaped(self, shape: tuple[int, ...]) -> "GramSpace":
        """For outputs of this shape."""
        size, entries = int(np.prod(shape)), self._entries
        if size % entries:
            raise ValueError(
                f"The Gram matrix is for outputs of {entries} numbers; the task output has shape {shape}, {size} numbers."
            )
        return GramSpace(self.matrix, self.factor, self.order, tuple(shape))

    @property
    def _entries(self) -> int:
        return self.matrix.shape[0]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.outline

    def coordinates(self, outputs: Array, overwrite: bool = False) -> Array:
        del overwrite
        outputs, lead = self._outputs(outputs)
        columns = outputs.reshape(-1, self._entries).T
        columns = columns if self.order is None else columns[self.order]
        return as_real((self.factor @ columns).T.reshape(*lead, -1))

    def vectors(self, coordinates: Array) -> Array:
        columns = coordinates.reshape(-1, self._entries).T
        if self.order is None:
            found = _optional.load("scipy.linalg").solve_triangular(self.factor, columns)
        else:
            solved = _optional.load("scipy.sparse.linalg").spsolve_triangular(self.factor.tocsr(), columns, lower=False)
            found = np.empty_like(solved)
            found[self.order] = solved
        return found.T.reshape(*coordinates.shape[:-1], *self.shape)

    def dual(self, outputs: Array) -> Array:
        outputs = np.asarray(outputs)
        return (self.matrix @ outputs.reshape(-1, self._entries).T).T.reshape(outputs.shape)

    @property
    def hashed(self) -> Array:
        return self.matrix.data if hasattr(self.matrix, "nnz") else self.matrix


def _dense(matrix: Any) -> Array:
    try:
        return np.array(matrix, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"A Gram matrix is SciPy sparse or a dense array; got {type(matrix).__name__}.") from None


def _not_positive(what: str) -> ValueError:
    return ValueError(
        f"A Gram matrix must be positive definite; {what}. Drop entries that should not count from the task."
    )


def _dense_root(matrix: Array) -> Any:
    try:
        return np.linalg.cholesky(matrix).T
    except np.linalg.LinAlgError:
        raise _not_positive("its Cholesky factorisation does not exist") from None


def _sparse_root(matrix: Any) -> tuple[Any, Any]:
    """C and the order with M[order][:, order] = Cᵀ C: SuperLU on the diagonal is L D Lᵀ, and D > 0 exactly when M is."""
    linalg, sparse = _optional.load("scipy.sparse.linalg"), _optional.load("scipy.sparse")
    symmetric = sparse.csc_array((matrix + matrix.T) / 2)
    try:
        factors = linalg.splu(
            symmetric, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError as error:
        raise _not_positive(str(error)) from None
    pivots = factors.U.diagonal()
    if not np.all(pivots > 0) or not np.array_equal(factors.perm_r, factors.perm_c):
        raise _not_positive(f"a pivot of its factorisation is {pivots.min():.3g}")
    order = np.argsort(factors.perm_c)
    return sparse.diags_array(np.sqrt(pivots)) @ factors.L.T, order
