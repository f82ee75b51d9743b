"""What travels between processes: bytes in which a function stays one and the same, so that it is compiled once.

A function of a user's script is sent by value. Unpickled with every task it would be a new function every time, and be
compiled every time: here it is unpickled once per process, and comes home as the function that left.
"""

import io
import pickle
from collections import OrderedDict
from functools import cache, lru_cache
from types import FunctionType
from typing import Any

from physrank import _optional, compute

KEPT = 256  # functions that came by value, and files that are open
_functions: OrderedDict[bytes, Any] = OrderedDict()  # by what they are sent as
_sent: dict[int, bytes] = {}  # the other way round, by identity: those of `_functions` are alive


def dumps(value: Any) -> bytes:
    """As bytes, by reference where the other side can import it."""
    buffer = io.BytesIO()
    try:
        _pickler()(buffer).dump(value)
    except (TypeError, pickle.PicklingError) as error:
        raise TypeError(
            f"This cannot be sent to a worker: {error}. Give a function without arguments that opens or makes it there."
        ) from error
    return buffer.getvalue()


def loads(sent: bytes) -> Any:
    """What it was. In double precision: elsewhere JAX would cut arrays to single as they arrive, without a word."""
    with compute.double():
        return pickle.loads(sent)


@cache
def _pickler() -> type:
    by_value = _optional.load("cloudpickle").Pickler

    class Pickler(by_value):
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, FunctionType):
                found = super().reducer_override(obj)
                return found if found is NotImplemented or isinstance(found, str) else (_function, (_as_bytes(obj),))
            if type(obj).__module__.startswith("h5py.") and hasattr(obj, "chunks"):
                return _dataset, (obj.file.filename, obj.name)
            return super().reducer_override(obj)

    return Pickler


def _as_bytes(function: Any) -> bytes:
    """What a function by value is sent as: what it came as, or what cloudpickle makes of it."""
    if (known := _sent.get(id(function))) is not None:
        return known
    made = _optional.load("cloudpickle").dumps(function)
    _keep(made, function)
    return made


def _function(sent: bytes) -> Any:
    if sent not in _functions:
        _keep(sent, pickle.loads(sent))
    return _functions[sent]


def _keep(sent: bytes, function: Any) -> None:
    _functions[sent] = function
    _sent[id(function)] = sent
    if len(_functions) > KEPT:
        _, oldest = _functions.popitem(last=False)
        _sent.pop(id(oldest), None)


@lru_cache(maxsize=KEPT)
def _file(path: str) -> Any:
    return _optional.load("h5py").File(path, "r")


def _dataset(path: str, name: str) -> Any:
    """An h5py data set, opened again where it is needed."""
    return _file(path)[name]
