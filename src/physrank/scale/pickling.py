"""What travels between processes: bytes in which a function stays one and the same, so that it is compiled once.

A function of a user's script is sent by value. Unpickled with every task it would be a new function every time, and be
compiled every time: here it is unpickled once per process, and comes home as the function that left.
"""

import copyreg
import dis
import io
import os
import pickle
import threading
from collections import OrderedDict
from contextlib import suppress
from functools import cache, lru_cache
from types import CodeType, FunctionType
from typing import Any

import equinox as eqx

from physrank import _optional, compute

KEPT = 256  # functions that came by value, and files that are open
KEPT_BYTES = 1 << 26  # of such functions: those of single inputs may carry arrays
CHANGING = (dict, list, set, bytearray)  # what functions of a script may share in order to tell each other something
_functions: OrderedDict[bytes, Any] = OrderedDict()  # by what they are sent as, those in use last
_came: dict[int, bytes] = {}  # those that came from elsewhere, by identity; they are in `_functions` and so alive
_lock = threading.RLock()  # workers may have several threads


def dumps(value: Any) -> bytes:
    """As bytes, by reference where the other side can import it."""
    try:
        return _dumped(value)
    except Exception as error:  # whatever a class of somebody else's raises when it cannot be pickled
        raise TypeError(
            f"This cannot be sent to a worker: {error}. Give a function without arguments that opens or makes it there."
        ) from error


def loads(sent: bytes) -> Any:
    """What it was. In double precision: elsewhere JAX would cut arrays to single as they arrive, without a word."""
    with compute.double():
        return pickle.loads(sent)


def _dumped(value: Any, apart: Any = None) -> bytes:
    buffer = io.BytesIO()
    _pickler()(buffer, apart).dump(value)
    return buffer.getvalue()


@cache
def _pickler() -> type:
    by_value = _optional.load("cloudpickle").Pickler

    class Pickler(by_value):
        def __init__(self, buffer: Any, apart: Any = None):
            super().__init__(buffer)
            self.apart = apart  # the function whose bytes these are

        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, FunctionType):
                found = super().reducer_override(obj)
                if found is NotImplemented or isinstance(found, str) or obj is self.apart:
                    return found
                if self.apart is None:
                    return _function, (_as_bytes(obj),)
                # One that it refers to, such as the residual of a problem that a lambda states for every input: one and
                # the same too. Whole in itself, for a tree of such references would grow without bound.
                return (_function, (_whole(obj),)) if _alone(obj) else found
            if isinstance(obj, eqx.Module):
                return _reduced(obj)
            if type(obj).__module__.startswith("h5py.") and hasattr(obj, "chunks"):
                return Dataset, (os.path.abspath(obj.file.filename), obj.name)
            return super().reducer_override(obj)

    return Pickler


def _reduced(module: Any) -> Any:
    """As pickle does it, but for who makes the empty one: equinox keeps a hold on all that a module's `__new__` made until
    its `__init__` is done, which pickle never calls. A panel's problems would stay for good, wherever they arrive."""
    make, arguments, *rest = module.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
    return (_empty if make is copyreg.__newobj__ else make, arguments, *rest)  # pyright: ignore[reportAttributeAccessIssue]


def _empty(cls: Any) -> Any:
    return object.__new__(cls)


def _as_bytes(function: Any) -> bytes:
    """What a function by value is sent as: what it came as, or what it is now, for what it refers to may have changed."""
    return _came_as(function) or _remembered(_dumped(function, apart=function), function)


def _whole(function: Any) -> bytes:
    return _came_as(function) or _remembered(_optional.load("cloudpickle").dumps(function), function)


def _came_as(function: Any) -> bytes | None:
    with _lock:
        sent = _came.get(id(function))
        return sent if sent is not None and _functions.get(sent) is function else None


def _remembered(sent: bytes, function: Any) -> bytes:
    """So that it comes home as what it was."""
    with _lock:
        _keep(sent, function)
    return sent


def _function(sent: bytes) -> Any:
    with _lock:
        if sent in _functions:
            _functions.move_to_end(sent)
            return _functions[sent]
        made = pickle.loads(sent)
        _keep(sent, made)
        _came[id(made)] = sent
        return made


def _keep(sent: bytes, function: Any) -> None:
    _came.pop(id(_functions.pop(sent, None)), None)
    _functions[sent] = function
    while len(_functions) > 1 and (len(_functions) > KEPT or sum(map(len, _functions)) > KEPT_BYTES):
        _came.pop(id(_functions.popitem(last=False)[1]), None)


def _alone(function: Any) -> bool:
    """Whether it shares nothing that changes with the functions around it: a copy of its own then does the same."""
    todo, seen = [function], set()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        names, writes = _names(one.__code__)
        values = [one.__globals__[name] for name in names if name in one.__globals__]
        for cell in one.__closure__ or ():
            with suppress(ValueError):  # it is empty yet
                values.append(cell.cell_contents)
        if writes or any(isinstance(value, CHANGING) for value in values):
            return False
        todo += [value for value in values if isinstance(value, FunctionType) and not _importable(value)]
    return True


def _importable(function: Any) -> bool:
    return function.__module__ not in (None, "__main__") and "<" not in function.__qualname__


@lru_cache(maxsize=KEPT)
def _names(code: CodeType) -> tuple[frozenset[str], bool]:
    """Globals that it reads, and whether it sets any."""
    names, writes = set(), False
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.add(step.argval)
        writes = writes or step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            more, also = _names(inner)
            names, writes = names | more, writes or also
    return frozenset(names), writes


class Dataset:
    """An h5py data set, opened again where and when it is needed: a file that is not there costs its own input only."""

    def __init__(self, path: str, name: str):
        self.path, self.name = path, name

    @property
    def here(self) -> Any:
        state = os.stat(self.path)
        return _file(self.path, (state.st_ino, state.st_size, state.st_mtime_ns))[self.name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("path", "name"):
            raise AttributeError(name)
        return getattr(self.here, name)

    def __getitem__(self, key: Any) -> Any:
        return self.here[key]

    def __len__(self) -> int:
        return len(self.here)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.here.__array__(dtype)


@lru_cache(maxsize=KEPT)
def _file(path: str, _: Any) -> Any:
    """As long as it is the same file."""
    return _optional.load("h5py").File(path, "r")
