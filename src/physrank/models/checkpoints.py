"""Checkpoints by glob: a lazy library of models, of which one is in memory at a time."""

import glob
import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from physrank.models.running import is_module
from physrank.models.weights import fill, load


class Checkpoints(Mapping[str, Any]):
    """Name → model, read from its file each time it is asked for. `paths` tells where each one lies."""

    def __init__(self, paths: Mapping[str, Path], factory: Callable[..., Any] | None, trust: bool):
        self.paths = dict(paths)
        self.factory = factory
        self.trust = trust

    def __getitem__(self, name: str) -> Any:
        path = self.paths[name]
        if path.suffix in (".onnx", ".ort"):
            return str(path)
        found = load(path, trust=self.trust)
        if is_module(found):
            return found
        if self.factory is None:
            raise ValueError(
                f"{path} holds weights without their network. Give a factory: checkpoints(pattern, lambda: Network(...))."
            )
        return fill(_built(self.factory, path), found, str(path))

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        return f"Checkpoints({', '.join(self.paths)})"


def checkpoints(
    pattern: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    factory: Callable[..., Any] | None = None,
    *,
    trust: bool = False,
) -> Checkpoints:
    """Models from files: `checkpoints("run*/epoch*.safetensors", lambda: FNO(...))`, in natural order, named by their paths.

    Main arguments: `pattern`, a glob (`**` for any depth) or several; `factory()` or `factory(path)`, the network that the
    weights belong to. Safetensors, state dicts in `.pt` files (also inside the dictionaries of PDEBench and Lightning)
    and ONNX files, which need no factory, are read as data.

    Other arguments: `trust=True` also reads TorchScript and pickled modules, which run code when they are loaded.
    """
    patterns = [pattern] if isinstance(pattern, str | os.PathLike) else list(pattern)
    if factory is not None and (is_module(factory) or not callable(factory)):
        raise ValueError(f"factory must be a function that builds the network; got {factory!r:.60}.")
    found: dict[str, Path] = {}
    for entry in patterns:
        given = os.fspath(entry)
        matched = [path for path in glob.glob(os.path.expanduser(given), recursive=True) if os.path.isfile(path)]
        if not matched:
            raise ValueError(_nothing(given))
        found |= {os.path.abspath(path): Path(path) for path in matched}
    paths = [found[key] for key in sorted(found, key=natural)]
    return Checkpoints(dict(zip(names_of(paths), paths, strict=True)), factory, trust)


def natural(text: str) -> list[tuple[bool, int, str]]:
    """A key that sorts epoch9 before epoch10."""
    parts = re.split(r"(\d+)", text)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def names_of(paths: list[Path]) -> list[str]:
    """Paths below their common folder, without suffix where they differ without it."""
    full = [Path(os.path.abspath(path)) for path in paths]
    common = Path(os.path.commonpath([path.parent for path in full]))
    below = [path.relative_to(common) for path in full]
    short = [path.with_suffix("").as_posix() for path in below]
    return short if len(set(short)) == len(short) else [path.as_posix() for path in below]


def _nothing(pattern: str) -> str:
    folder = Path(os.path.expanduser(pattern)).parent
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    there = sorted((entry.name for entry in folder.iterdir()), key=natural)
    listed = f"holds {', '.join(there[:6])}{' …' if there[6:] else ''}" if there else "is empty"
    return f"No file matches {pattern!r}; the folder {str(folder)!r} {listed}."


def _built(factory: Callable[..., Any], path: Path) -> Any:
    try:
        wants = [p for p in inspect.signature(factory).parameters.values() if p.default is p.empty]
        takes_path = len(wants) == 1 and wants[0].kind in (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        )
    except (TypeError, ValueError):
        takes_path = False
    module = factory(path) if takes_path else factory()
    if not is_module(module):
        raise ValueError(f"factory must return a torch.nn.Module; got {module!r:.60}.")
    return module
