"""Task spaces refuse weights and outputs that make no sense."""

import numpy as np
import pytest

from physrank.geometry import TaskSpace


def test_task_space_refuses_bad_weights():
    for bad in ([1.0, 0.0], [1.0, np.nan], [-1.0, 1.0]):
        with pytest.raises(ValueError, match="positive, finite weights"):
            TaskSpace(np.array(bad))
    with pytest.raises(ValueError, match="Expected outputs of shape"):
        TaskSpace(np.ones(3)).norm(np.ones(4))


def test_complex_outputs_have_the_norm_of_both_parts():
    space, z = TaskSpace(np.array([1.0, 4.0])), np.array([3 + 4j, 1j])
    assert space.norm_squared(z) == 25 + 4
    assert space.distances(np.stack([z, 0 * z]))[0, 1] == np.sqrt(29)


def test_the_dual_is_the_covector_of_the_inner_product():
    space, (x, y) = TaskSpace(np.array([1.0, 4.0, 9.0])), np.random.default_rng(0).standard_normal((2, 3))
    np.testing.assert_allclose(np.sum(x * space.dual(y)), space.inner(x, y), rtol=1e-14)
    np.testing.assert_allclose(space.vectors(space.coordinates(x)), x, rtol=1e-14)
