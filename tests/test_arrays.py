"""Arrays of any kind enter by one door: initial states, data, weights, right-hand sides."""

import jax.numpy as jnp
import numpy as np
import pytest
import xarray

import physrank as pr
from physrank._arrays import as_host, to_numpy

ARRAY = np.linspace(0.5, 1.0, 8)
CANDIDATES = {"a": np.zeros((3, 8)), "b": np.ones((3, 8))}


@pytest.mark.parametrize(
    "convert",
    [xarray.DataArray, jnp.asarray, list, np.ma.masked_array],
    ids=lambda given: getattr(given, "__name__", str(given)),
)
@pytest.mark.parametrize("host", [False, True], ids=["JAX", "host"])
def test_problems_take_arrays_of_any_kind(convert, host):
    def scores(u, data):
        march = pr.Marching(lambda v, f: 0.9 * v + f["f"], u, data={"f": data}, host=host)
        return pr.rank(march, CANDIDATES, task=pr.tasks.terminal(pr.metrics.weights(u))).scores

    data = convert(ARRAY) if convert is not list else ARRAY  # a list is a pytree of numbers, not an array
    np.testing.assert_allclose(scores(convert(ARRAY), data), scores(ARRAY, ARRAY), rtol=1e-12)
    linear = pr.Linear(np.eye(8), convert(ARRAY))
    np.testing.assert_array_equal(linear.rhs, ARRAY)


def test_host_data_are_numpy_in_double_precision():
    found = as_host({"a": jnp.ones(2, jnp.float32), "b": 3, "c": 0.5, "d": "name", "e": np.arange(3)})
    assert found["a"].dtype == np.float64 and type(found["a"]) is np.ndarray
    assert found["b"] == 3 and found["c"] == 0.5 and found["d"] == "name" and found["e"].dtype == np.arange(3).dtype


def test_complex_numbers_pass_only_where_they_make_sense():
    assert to_numpy("x", [1j], allow_complex=True).dtype == np.complex128
    with pytest.raises(ValueError, match="x is complex"):
        to_numpy("x", [1j])
    with pytest.raises(ValueError, match="times is complex"):
        pr.Marching(lambda u, t: u, ARRAY, times=1j * ARRAY)
