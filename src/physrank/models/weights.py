"""Weights on disk: what is plain data is read, what would run code is refused unless its file is trusted."""

import difflib
import os
import pickle
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from physrank._io import write_whole
from physrank._optional import load as package
from physrank.models.running import is_module

HELD_IN = ("model_state_dict", "state_dict", "model", "net")  # where PDEBench, Lightning and others put the weights
WRAPPERS = ("module.", "_orig_mod.")  # of DataParallel and torch.compile


def tensors_of(module: Any) -> dict[str, Any]:
    """Weights and buffers of a torch module; neuraloperator also puts a description of itself among them, not data."""
    torch = package("torch")
    return {name: t.detach() for name, t in module.state_dict().items() if isinstance(t, torch.Tensor)}


def save(path: str | os.PathLike[str], module: Any) -> Path:
    """Write a module's weights as safetensors: whole or not at all."""
    tensors = {name: t.cpu().contiguous().clone() for name, t in unwrapped(tensors_of(module)).items()}
    return write_whole(path, lambda draft: package("safetensors.torch").save_file(tensors, draft))


def fill(module: Any, tensors: Mapping[str, Any], source: str = "the weights") -> Any:
    """Put weights into a module, all of them or none; names that do not match are told with the nearest ones."""
    given, own = unwrapped(tensors), tensors_of(module)
    named = {next(iter(unwrapped({name: t}))): name for name, t in own.items()} if set(given) != set(own) else {}
    given = {named.get(name, name): t for name, t in given.items()}
    missing, unknown = [name for name in own if name not in given], [name for name in given if name not in own]
    if missing or unknown:
        raise ValueError(_mismatch(source, missing, unknown, list(own)))
    for name, tensor in given.items():
        if tensor.shape != own[name].shape:
            raise ValueError(
                f"{source}: {name!r} has shape {tuple(tensor.shape)}; the network's has {tuple(own[name].shape)}. The "
                "factory must build the network with the sizes that it was trained with."
            )
    module.load_state_dict(given, strict=False)
    return module


def _mismatch(source: str, missing: list[str], unknown: list[str], own: list[str]) -> str:
    told = [f"{source} does not fit the network that the factory builds."]
    for name in unknown[:3]:
        near = difflib.get_close_matches(name, missing or own, 1, 0.5)
        told.append(f"It holds {name!r}, which the network has not" + (f": {near[0]!r}?" if near else "."))
    if missing:
        told.append(f"It lacks {', '.join(map(repr, missing[:3]))}{' …' if missing[3:] else ''}.")
    return " ".join(told) + f" ({len(unknown)} names too many, {len(missing)} missing.)"


def load(path: str | os.PathLike[str], *, trust: bool = False) -> Any:
    """What a file holds: weights as a mapping name → tensor, or with `trust=True` a whole torch module.

    Safetensors and state dicts hold data; what a state dict mentions besides, such as the activation functions in
    neuraloperator's, is passed over. TorchScript archives and pickled modules run code when they are loaded: `trust=True`
    says that you know where the file comes from.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"There is no file {os.fspath(path)!r}.")
    if path.suffix == ".safetensors":
        try:
            return package("safetensors.torch").load_file(path)
        except Exception as error:  # its own class, not always importable from one place
            raise ValueError(f"{path} is not a readable safetensors file: {error}") from None
    if _is_script(path):
        if not trust:
            raise ValueError(
                f"{path} is a TorchScript archive, which runs its own code when it is loaded. If you trust where it comes "
                "from, say trust=True; else ask for its weights as safetensors."
            )
        return package("torch").jit.load(path, map_location="cpu")
    return weights_in(_unpickled(path, trust), str(path))


def _unpickled(path: Path, trust: bool) -> Any:
    torch = package("torch")
    try:
        return torch.load(path, map_location="cpu", weights_only=not trust)
    except pickle.UnpicklingError as error:
        found = re.search(r"GLOBAL ([\w.]+)", str(error))
        if trust or not found:
            raise ValueError(f"{path} is damaged, or no checkpoint of torch: {str(error).splitlines()[0]}") from None
        try:
            return weights_in(_beside_objects(path), str(path))
        except (pickle.UnpicklingError, AttributeError, ValueError):
            raise ValueError(
                f"{path} holds Python objects ({found.group(1)}), and loading them runs code. If you trust where it comes "
                "from, say trust=True; else have its weights stored alone: physrank.models.save(path, model), or "
                "torch.save(model.state_dict(), path)."
            ) from None
    except Exception as error:  # torch reports damaged archives in many ways
        raise ValueError(f"{path} is not a readable checkpoint: {type(error).__name__}: {error}") from None


class _Mentioned:
    """Stands where a file mentions a class or function: neither imported nor called. Takes whatever it is given."""

    def __init__(self, *_: Any, **__: Any):
        return None

    def __setstate__(self, _: Any) -> None:
        return None


def _beside_objects(path: Path) -> Any:
    """A state dict that describes itself beside its weights, as neuraloperator's do, without what it mentions."""
    serialization = package("torch").serialization
    mentioned = serialization.get_unsafe_globals_in_checkpoint(path)
    with serialization.safe_globals([(_Mentioned, name) for name in mentioned]):
        return package("torch").load(path, map_location="cpu", weights_only=True)


def _is_script(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any("/code/" in name for name in archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return False


def weights_in(content: Any, source: str) -> Any:
    """The weights of whatever a training script put around them; a module as it is."""
    torch = package("torch")
    if is_module(content):
        return content
    if isinstance(content, Mapping):
        for key in HELD_IN:
            if isinstance(content.get(key), Mapping) or is_module(content.get(key)):
                return weights_in(content[key], source)
        tensors = {name: value for name, value in content.items() if isinstance(value, torch.Tensor)}
        if tensors and all(isinstance(name, str) for name in tensors):
            return tensors
    got = (
        f"entries {', '.join(map(str, list(content)[:6]))}" if isinstance(content, Mapping) else type(content).__name__
    )
    raise ValueError(
        f"{source} holds no weights that are recognised: got {got}; expected a state dict, or one under "
        f"{', '.join(map(repr, HELD_IN))}."
    )


def unwrapped(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Names without what DataParallel or torch.compile put before every one of them."""
    for wrapper in WRAPPERS:
        if tensors and all(name.startswith(wrapper) for name in tensors):
            return unwrapped({name.removeprefix(wrapper): t for name, t in tensors.items()})
    return dict(tensors)
