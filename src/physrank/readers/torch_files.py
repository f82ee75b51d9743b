"""Tensors saved by torch: weights only, never a pickled module, mapped from the file and not loaded."""

import pickletools
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from physrank import _optional
from physrank.readers.contents import Contents
from physrank.readers.field import Fetch, Key, Variable
from physrank.readers.limits import Limit, ReadError, damage
from physrank.readers.numpy_files import check_member

LONGEST, DEEPEST = 1 << 24, 8  # bytes of the table of contents; levels of nested dictionaries
PLAIN = {"collections OrderedDict", "torch Size", "torch device", "torch.nn.parameter Parameter"}
REBUILD = {"torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_parameter", "torch.storage UntypedStorage"}


def read(path: Path, limit: Limit) -> Contents:
    found = Contents("torch", {})
    with damage(path, "torch"):
        _check(path)
        for name, value in _leaves(_loaded(path)):
            if isinstance(value, bool | int | float):
                found.numbers[name.rsplit("/", 1)[-1]] = float(value)
            elif hasattr(value, "untyped_storage"):
                _add(found, path, limit, name, value)
            else:
                found.skipped[name] = f"it is of type {type(value).__name__}, expected a tensor"
    return found


def _check(path: Path) -> None:
    """The archive is what it says, and its table of contents builds tensors and nothing else."""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            check_member(path, info)
            if info.compress_type != zipfile.ZIP_STORED:
                raise ReadError(f"{path}: {info.filename!r} is packed, which torch.save does not do.")
        tables = [info for info in archive.infolist() if info.filename.endswith("data.pkl")]
        if len(tables) != 1 or tables[0].file_size > LONGEST:
            raise ReadError(f"{path} has no readable table of contents (data.pkl); expected a file of torch.save.")
        table = archive.read(tables[0])
    for name in _globals(table):
        module, _, attribute = name.partition(" ")
        storage = module in ("torch", "torch.storage") and attribute.endswith("Storage")
        if name not in PLAIN | REBUILD and not storage:
            raise ReadError(
                f"{path} holds {module}.{attribute}, not only tensors; pickled objects can run code and are not loaded. "
                "Save tensors, torch.save({'name': tensor}, path) or safetensors; a whole model is saved by its state_dict()."
            )


def _globals(table: bytes) -> Iterator[str]:
    """Every name that a pickle would import, without running it."""
    recent: list[str] = []
    for code, value, _ in pickletools.genops(table):
        if code.name in ("GLOBAL", "INST"):
            yield str(value)
        elif code.name == "STACK_GLOBAL":
            yield " ".join(recent[-2:])
        elif isinstance(value, str):
            recent = [*recent[-1:], value]


def _loaded(path: Path) -> Any:
    torch = _optional.load("torch")
    return torch.load(path, map_location="cpu", weights_only=True, mmap=True)


def _leaves(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    nested = isinstance(value, Mapping) or (isinstance(value, list | tuple) and not hasattr(value, "untyped_storage"))
    if nested and depth < DEEPEST:
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, inner in pairs:
            yield from _leaves(inner, f"{name}/{key}" if name else str(key), depth + 1)
    else:
        yield name or "tensor", value


def _add(found: Contents, path: Path, limit: Limit, name: str, tensor: Any) -> None:
    if tensor.layout != _optional.load("torch").strided or tensor.is_quantized:
        found.skipped[name] = f"it is a {tensor.layout} tensor, expected a dense one"
        return
    if tensor.untyped_storage().nbytes() > path.stat().st_size:
        raise ReadError(f"{path}: {name!r} claims more bytes than the file has.")
    kind = str(tensor.dtype).removeprefix("torch.")
    shown = "float32" if kind == "bfloat16" else kind
    try:
        dtype = np.dtype(shown)
    except TypeError:
        found.skipped[name] = f"its values are of type {tensor.dtype}, expected numbers"
        return
    found.add(Variable(name, tuple(tensor.shape), dtype, _reader(path, name)))


def _reader(path: Path, name: str) -> Fetch:
    def fetch(key: Key) -> np.ndarray:
        with damage(path, "torch"):
            _check(path)
            tensor = dict(_leaves(_loaded(path)))[name].detach()[key]
            half = tensor.dtype == _optional.load("torch").bfloat16
            return (tensor.float() if half else tensor).numpy().copy()

    return fetch
