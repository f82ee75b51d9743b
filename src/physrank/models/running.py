"""One model of any kind as a function from a batch of features to a batch of outputs, as it would run in deployment."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from physrank import compute
from physrank._optional import load

Run = Callable[[Any], Any]  # features (an array; a tuple or mapping of several) → what the model returns
ONNX_TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16}


@contextmanager
def running(model: Any) -> Iterator[Run]:
    """The model, ready to be called: without gradients, in evaluation mode, which is taken back afterwards."""
    if is_module(model):
        with evaluating(model):
            yield _module(model)
    elif isinstance(model, str | os.PathLike) or hasattr(model, "get_inputs"):
        yield _onnx(model)
    elif isinstance(model, eqx.Module):
        yield _equinox(model)
    elif callable(model):
        with _no_gradients():
            yield lambda features: _called(model, features, lambda value: value)
    else:
        raise ValueError(
            f"It is {model!r:.60}; expected a torch.nn.Module, a JAX callable, an equinox module or the path of an ONNX file."
        )


def is_module(model: Any) -> bool:
    """Whether it is a torch.nn.Module; where torch was never imported, nothing is."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


@contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """A torch module in evaluation mode without gradients; every submodule's own mode returns, whatever happens."""
    modes = [(part, part.training) for part in module.modules()]
    try:
        module.eval()
        with _no_gradients():
            yield
    finally:
        for part, mode in modes:
            part.training = mode


def _no_gradients() -> AbstractContextManager[Any]:
    torch = sys.modules.get("torch")
    return nullcontext() if torch is None else torch.no_grad()


def _called(model: Callable[..., Any], features: Any, place: Callable[[Any], Any]) -> Any:
    if isinstance(features, tuple):
        return model(*map(place, features))
    if isinstance(features, dict):
        return model(**{name: place(value) for name, value in features.items()})
    return model(place(features))


def _module(module: Any) -> Run:
    """Features go where the weights are, in their precision."""
    torch = load("torch")
    tensors = list(chain(module.parameters(), module.buffers()))
    real = [t.dtype for t in tensors if t.is_floating_point()]
    double_complex = any(t.dtype == torch.complex128 for t in tensors)
    dtype = real[0] if real else torch.float64 if double_complex else torch.get_default_dtype()
    device = tensors[0].device if tensors else None

    def place(value: Any) -> Any:
        tensor = value.detach() if hasattr(value, "detach") else torch.from_numpy(np.array(value))
        return tensor.to(device=device, dtype=tensor.dtype if tensor.is_complex() else dtype)

    return lambda features: _called(module, features, place)


def _mapped(module: Any, features: Any) -> Any:
    return _called(jax.vmap(module), features, lambda value: value)


def _equinox(module: Any) -> Run:
    """Equinox modules take one sample; dropout and the like are switched off on a copy."""
    module = eqx.nn.inference_mode(module)
    kinds = [leaf.dtype for leaf in jax.tree.leaves(module) if eqx.is_inexact_array(leaf) and leaf.dtype.kind != "c"]
    dtype = kinds[0] if kinds else jnp.zeros(()).dtype

    def run(features: Any) -> Any:
        with compute.double() if dtype == np.float64 else nullcontext():
            placed = jax.tree.map(lambda value: jnp.asarray(_plain(value), dtype), features)
            return compute.compiled(_mapped, module, placed)

    return run


def _onnx(source: Any) -> Run:
    """An ONNX graph; one exported for a fixed batch is filled up to it. ONNX files hold no code of their own."""
    session = source if hasattr(source, "get_inputs") else _session(os.fspath(source))
    takes = session.get_inputs()
    fixed = takes[0].shape[0] if takes[0].shape and isinstance(takes[0].shape[0], int) else None

    def once(parts: list[np.ndarray]) -> list[np.ndarray]:
        return session.run(None, {given.name: part for given, part in zip(takes, parts, strict=True)})

    def run(features: Any) -> Any:
        named = features if isinstance(features, dict) else None
        values = [named[given.name] for given in takes] if named else features if takes[1:] else [features]
        parts = [
            np.ascontiguousarray(_plain(value), ONNX_TYPES.get(given.type))
            for given, value in zip(takes, values, strict=True)
        ]
        count = len(parts[0])
        if fixed is None or fixed == count:
            found = once(parts)
        else:
            blocks = [once([_filled(part[k : k + fixed], fixed) for part in parts]) for k in range(0, count, fixed)]
            found = [np.concatenate(pieces)[:count] for pieces in zip(*blocks, strict=True)]
        return found[0] if len(found) == 1 else tuple(found)

    return run


def _session(path: str) -> Any:
    if not path.endswith((".onnx", ".ort")):
        raise ValueError(
            f"{path!r} is a path, but not of an ONNX file. Weights need the network that they belong to: "
            f"physrank.models.checkpoints({path!r}, factory); a whole module: physrank.models.load({path!r}, trust=True)."
        )
    if not os.path.exists(path):
        raise ValueError(f"There is no file {path!r}.")
    runtime = load("onnxruntime")
    try:
        return runtime.InferenceSession(path, providers=runtime.get_available_providers())
    except Exception as error:  # onnxruntime has an exception of its own for every way in which a file can be broken
        raise ValueError(f"{path!r} is not a readable ONNX file: {error}") from None


def _filled(part: np.ndarray, length: int) -> np.ndarray:
    return np.concatenate([part, np.repeat(part[-1:], length - len(part), axis=0)])


def _plain(value: Any) -> Any:
    return value.detach().cpu().numpy() if hasattr(value, "detach") else value
