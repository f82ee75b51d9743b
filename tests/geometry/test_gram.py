"""Full inner products: the factor is an isometry, nothing is densified, and what is no metric is refused."""

import numpy as np
import pytest
from scipy import sparse

from physrank import metrics
from physrank.geometry import ComparisonSubspace

RNG = np.random.default_rng(0)
ROOT = sparse.random_array((40, 40), density=0.1, rng=RNG)
MASS = sparse.csr_array(ROOT @ ROOT.T + sparse.eye_array(40))


@pytest.mark.parametrize("matrix", [MASS, MASS.toarray()], ids=["sparse", "dense"])
@pytest.mark.parametrize("shape", [(40,), (5, 8), (3, 40)])
def test_coordinates_are_an_isometry(matrix, shape):
    space = metrics.gram(matrix).space(shape)
    x, y = RNG.standard_normal((2, 4, *shape))
    dense = np.kron(np.eye(int(np.prod(shape)) // 40), MASS.toarray())
    flat_x, flat_y = x.reshape(4, -1), y.reshape(4, -1)
    expected = np.einsum("ni,ij,nj->n", flat_x, dense, flat_y)
    np.testing.assert_allclose(space.inner(x, y), expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        np.sum(x * space.dual(y), axis=tuple(range(1, x.ndim))), expected, rtol=1e-10, atol=1e-10
    )
    np.testing.assert_allclose(space.vectors(space.coordinates(x)), x, atol=1e-10)
    z = x + 1j * y
    np.testing.assert_allclose(space.norm_squared(z), space.norm_squared(x) + space.norm_squared(y))


def test_the_comparison_subspace_is_orthonormal_in_it():
    space = metrics.gram(MASS).space((40,))
    subspace = ComparisonSubspace.of(space, RNG.standard_normal((4, 40)))
    products = subspace.basis @ MASS.toarray() @ subspace.basis.T
    np.testing.assert_allclose(products, np.eye(3), atol=1e-10)


def test_a_diagonal_one_is_a_metric_of_weights():
    weights = RNG.uniform(1, 2, 40)
    x = RNG.standard_normal(40)
    full = metrics.gram(sparse.diags_array(weights)).space((40,)).norm(x)
    assert full == pytest.approx(metrics.weights(weights).space((40,)).norm(x), rel=1e-12)


@pytest.mark.parametrize(
    "matrix, complaint",
    [
        (ROOT, "symmetric"),
        (-MASS, "positive definite"),
        (MASS - 5 * sparse.eye_array(40), "positive definite"),
        ((MASS - 5 * sparse.eye_array(40)).toarray(), "positive definite"),
        (MASS[:, :3], "square"),
        (sparse.csr_array(np.diag([1.0, np.nan])), "finite"),
        ("mass", "SciPy sparse or a dense array"),
    ],
)
def test_what_is_no_metric_is_refused(matrix, complaint):
    with pytest.raises(ValueError, match=complaint):
        metrics.gram(matrix).space((40,))


def test_symmetric_up_to_the_rounding_of_an_assembly_and_no_further():
    skew = sparse.csr_array(([1.0], ([0], [1])), shape=(40, 40))
    metrics.gram(MASS + 1e-13 * skew).space((40,))
    with pytest.raises(ValueError, match="symmetric"):
        metrics.gram(MASS + 1e-6 * skew).space((40,))


def test_an_output_of_another_size_is_refused():
    with pytest.raises(ValueError, match="outputs of 40 numbers"):
        metrics.gram(MASS).space((41,))


def test_it_has_no_weights_that_a_certificate_could_take_for_its_own():
    space = metrics.gram(MASS).space((40,))
    with pytest.raises(ValueError, match="metric of quadrature weights"):
        _ = space.weights
    assert space == space and space != metrics.gram(MASS).space((40,))
