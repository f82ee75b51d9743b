"""What travels: functions stay themselves, numbers keep their precision, handles are opened again."""

import gc
import os
import pickle
import threading
import weakref

import jax
import numpy as np
import pytest
from scipy import sparse

import crowds
import physrank as pr
from physrank.scale import pickling
from problems import burgers

pytest.importorskip("cloudpickle")


def there_and_back(value):
    return pickling.loads(pickling.dumps(value))


def elsewhere():
    """As in another process."""
    pickling._functions.clear()
    pickling._came.clear()


def test_functions_by_value_stay_one_and_the_same():
    def residual(u, f):
        return u - f

    one, other = there_and_back(pr.Stationary(residual, data=np.ones(3))), there_and_back((residual, lambda: residual))
    assert one.residual is residual and other[0] is residual
    sent = pickling.dumps(residual)
    elsewhere()
    first, second = pickling.loads(sent), pickling.loads(sent)
    assert first is second is not residual
    assert pickling.dumps(first) == sent  # so that it comes home as what it was


def test_few_functions_are_kept():
    for k in range(2 * pickling.KEPT):
        there_and_back(lambda k=k: k)
    assert len(pickling._functions) == pickling.KEPT and len(pickling._came) <= pickling.KEPT


def test_few_bytes_are_kept(monkeypatch):
    """Functions of single inputs may carry arrays."""
    monkeypatch.setattr(pickling, "KEPT_BYTES", 50_000)
    arrays = [np.full(1000, float(k)) for k in range(20)]
    sent = [pickling.dumps(lambda a=a: a) for a in arrays]
    elsewhere()
    for one in sent:
        pickling.loads(one)
    assert 1 <= len(pickling._functions) <= 6 and set(pickling._came.values()) == set(pickling._functions)


def test_a_function_in_use_is_not_forgotten():
    def residual(u):
        return u

    sent = pickling.dumps(residual)
    elsewhere()
    kept = pickling.loads(sent)
    for k in range(2 * pickling.KEPT):
        there_and_back(lambda k=k: k)
        assert pickling.loads(sent) is kept


def test_functions_are_sent_as_they_are_now():
    factor = 2

    def times(x):
        return factor * x

    def at_home_and_elsewhere(x):
        sent = pickling.dumps(times)
        elsewhere()
        return times(x), pickling.loads(sent)(x)

    assert at_home_and_elsewhere(3) == (6, 6)
    factor = 5
    assert at_home_and_elsewhere(3) == (15, 15)


def test_no_function_is_taken_for_one_that_was_at_its_place():
    """Functions of equal bytes come and go, and others get their addresses."""

    def made(k):
        return (lambda: 1) if k % 2 else (lambda: 2)

    for k in range(400):
        one, other = made(k), made(k)
        assert there_and_back(one)() == there_and_back(other)() == one()


def test_what_a_function_of_every_input_refers_to_is_one_and_the_same():
    """Else a residual would be compiled for every input."""

    def residual(u, f):
        return u - f

    sent = [pickling.dumps(lambda k=k: pr.Stationary(residual, data=np.full(3, float(k)))) for k in range(3)]
    elsewhere()
    problems = [pickling.loads(one)() for one in sent]
    assert len({id(problem.residual) for problem in problems}) == 1
    assert [float(problem.data[0]) for problem in problems] == [0.0, 1.0, 2.0]


SCRIPT = """
box, count = {}, 0

def put():
    box["a"] = 7

def raised():
    global count
    count += 3

def get():
    return box["a"]

def both():
    put()
    return get()

def counted():
    raised()
    return count
"""


def test_functions_that_tell_each_other_something_stay_together():
    script = {"__name__": "__main__"}
    exec(SCRIPT, script)
    sent = pickling.dumps((script["both"], script["counted"]))
    elsewhere()
    both, counted = pickling.loads(sent)
    assert both() == 7 and counted() == 3


def test_functions_that_call_each_other_travel():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n > 0 and even(n - 1)

    sent = pickling.dumps((even, odd))
    elsewhere()
    there = pickling.loads(sent)
    assert there[0](10) and there[1](7) and not there[0](3)


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


def test_problems_and_rankings_that_came_are_let_go():
    """equinox would keep them: a client and its workers would hold every input of a panel in the end."""
    for here in (burgers(32), pr.rank(crowds.problem(0), crowds.candidates(0), effort="response")):
        there = there_and_back(here)
        seen = [weakref.ref(one) for one in (there, getattr(there, "problem", there))]
        del there
        gc.collect()
        assert [one() for one in seen] == [None, None]


def test_problems_on_the_host_travel_without_their_factors():
    """No library lets its factors travel; what a problem found out otherwise goes along."""
    matrix, load = sparse.diags_array([2.0, -1.0, -1.0], offsets=[0, 1, -1], shape=(6, 6)), np.arange(6.0)
    given = {"a": np.ones(6), "b": np.zeros(6)}
    for problem in (
        pr.Linear(matrix, load),
        pr.Assembled(lambda u: matrix @ u + u**3 - load, lambda u: matrix + sparse.diags_array(3 * u**2)),
        pr.Stationary(lambda u: matrix @ u - load, host=True),
    ):
        here = pr.rank(problem, given)
        there = there_and_back(here)
        np.testing.assert_array_equal(there.scores, here.scores)
        np.testing.assert_array_equal(pr.rank(there.problem, given).scores, here.scores)


def test_data_sets_are_opened_again(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["group/a"] = np.arange(6.0).reshape(2, 3)
    with h5py.File(tmp_path / "a.h5") as file:
        found = there_and_back({"a": file["group/a"]})["a"]
        np.testing.assert_array_equal(found[1], [3.0, 4.0, 5.0])
    assert found.shape == (2, 3) and len(found) == 2 and np.asarray(found).sum() == 15
    os.remove(tmp_path / "a.h5")
    again = there_and_back(found)  # opened when it is read, and not before
    with pytest.raises(FileNotFoundError):
        again[0]
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["group/a"] = np.zeros((2, 3))
    np.testing.assert_array_equal(again[1], 0.0)  # another file of the same name
    pickling._file.cache_clear()


def test_what_cannot_travel_is_said():
    with pytest.raises(TypeError, match=r"cannot be sent to a worker: .* Give a function without arguments"):
        pickling.dumps({"a": threading.Lock()})
