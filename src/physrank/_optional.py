"""The one door for packages that are slow to load or need not be installed: imported when first used."""

import importlib
from functools import cache
from typing import Any

EXTRA = {
    "dask": "dask",
    "distributed": "dask",
    "cloudpickle": "dask",
    "torch": "torch",
    "safetensors": "torch",
    "onnxruntime": "onnx",
    "neuralop": "lab",
    "zarr": "zarr",
    "exponax": "exponax",
}


@cache
def load(module: str) -> Any:
    """The module, or an error that says how to get it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        package = (missing.name or module).split(".")[0]
        wanted = f"physrank[{EXTRA[package]}]" if package in EXTRA else package
        raise ModuleNotFoundError(
            f"This needs {package}, which is not installed: pip install '{wanted}'.", name=missing.name
        ) from None
