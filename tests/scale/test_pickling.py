"""What travels: functions stay themselves, numbers keep their precision, handles are opened again."""

import pickle
import threading

import jax
import numpy as np
import pytest

import physrank as pr
from physrank.scale import pickling
from problems import burgers

pytest.importorskip("cloudpickle")


def there_and_back(value):
    return pickling.loads(pickling.dumps(value))


def test_functions_by_value_stay_one_and_the_same():
    def residual(u, f):
        return u - f

    one, other = there_and_back(pr.Stationary(residual, data=np.ones(3))), there_and_back((residual, lambda: residual))
    assert one.residual is residual and other[0] is residual
    sent = pickling.dumps(residual)
    pickling._functions.clear()  # as in another process
    pickling._sent.clear()
    first, second = pickling.loads(sent), pickling.loads(sent)
    assert first is second is not residual
    assert pickling.dumps(first) == sent  # so that it comes home as what it was


def test_few_functions_are_kept():
    for k in range(2 * pickling.KEPT):
        there_and_back(lambda k=k: k)
    assert len(pickling._functions) == len(pickling._sent) == pickling.KEPT


def test_problems_keep_double_precision():
    """Outside a double-precision context JAX would cut arrays to single as they arrive."""
    problem = burgers(32)
    sent = pickling.dumps(problem)
    with jax.enable_x64(False):
        found = pickling.loads(sent)
        cut = pickle.loads(sent)
    for kept, arrived in zip(jax.tree.leaves(problem), jax.tree.leaves(found), strict=True):
        assert arrived.dtype == kept.dtype
        np.testing.assert_array_equal(arrived, kept)
    assert any(leaf.dtype != kept.dtype for leaf, kept in zip(*map(jax.tree.leaves, (cut, problem)), strict=True))


def test_data_sets_are_opened_again(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["group/a"] = np.arange(6.0).reshape(2, 3)
    with h5py.File(tmp_path / "a.h5") as file:
        found = there_and_back({"a": file["group/a"]})["a"]
        np.testing.assert_array_equal(found[1], [3.0, 4.0, 5.0])
    pickling._file.cache_clear()


def test_what_cannot_travel_is_said():
    with pytest.raises(TypeError, match=r"cannot be sent to a worker: .* Give a function without arguments"):
        pickling.dumps({"a": threading.Lock()})
