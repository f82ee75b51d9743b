"""PDEBench's HDF5 layouts: numbered groups with channels last, one tensor, or one dataset per variable of a flow."""

import math
import re
from dataclasses import replace
from pathlib import Path

from physrank.readers.contents import Contents
from physrank.readers.hdf5 import as_samples, attributes, dataset_at, opened
from physrank.readers.limits import Limit

SPACE = ("x", "y", "z")
VELOCITIES = ("Vx", "Vy", "Vz")
SPELLED = {name.lower(): name for name in ("nu", "eta", "zeta", "M", "beta", "rho", "k", "Du", "Dv", "D")}


def recognised(found: Contents, path: Path, limit: Limit) -> Contents | None:
    """The same contents with axes named, or None where this is no PDEBench file."""
    result = _groups(found, path, limit) if found.series else _tensor(found, path) or _flow(found)
    if result is not None:
        result.numbers = {SPELLED.get(name.lower(), name): value for name, value in result.numbers.items()}
        nu = result.numbers.get("nu")
        if result.layout == "pdebench-1d" and nu is not None and not {"rho", "beta"} & set(result.numbers):
            result.numbers["viscosity"] = nu / math.pi  # PDEBench's Burgers: u_t + u u_x = ν/π u_xx
    return result


def _groups(found: Contents, path: Path, limit: Limit) -> Contents | None:
    found = as_samples(found, path, limit)
    data = found.variables.get("data")
    if data is None or not 4 <= len(data.shape) <= 6:
        return None
    dims = ("sample", "time", *SPACE[: len(data.shape) - 3], "channel")
    lines = {name: v for name, v in found.variables.items() if name.startswith("grid/")}
    two = len(data.shape) == 5 and data.shape[-1] == 2
    return replace(
        found,
        layout="pdebench-2d-diffusion-reaction" if two else "pdebench-groups",
        variables={"data": replace(data, dims=dims), **lines},
        numbers=found.numbers | _config(path, found.series[0]),
    )


def _config(path: Path, group: str) -> dict[str, float]:
    """The numbers of the generator's settings, a text of lines `name: value` on the group or the file."""
    with opened(path) as file:
        texts = [attributes(thing).get("config", b"") for thing in (file, dataset_at(file, group))]
    found = {}
    for text in texts:
        text = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
        for name, value in re.findall(r"\b(Du|Dv|k|D|por|rho_s|k_f|n_f|g)\s*:\s*([-+.\deE]+)\s*$", text, re.MULTILINE):
            try:
                found[name] = float(value)
            except ValueError:
                continue
    return found


def _tensor(found: Contents, path: Path) -> Contents | None:
    tensor = found.variables.get("tensor")
    if tensor is None or len(tensor.shape) != 3 or "x-coordinate" not in found.variables:
        return None
    named = {
        name.lower(): float(value)
        for name, value in re.findall(r"(Nu|Rho|beta)(\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)", path.stem)
    }
    variables = found.variables | {"tensor": replace(tensor, dims=("sample", "time", "x"))}
    return replace(found, layout="pdebench-1d", variables=variables, numbers=named | found.numbers)


def _flow(found: Contents) -> Contents | None:
    names = [name for name in ("density", *VELOCITIES, "pressure") if name in found.variables]
    count = len(names) - 2
    if count < 1 or names != ["density", *VELOCITIES[:count], "pressure"]:
        return None
    shapes = {found.variables[name].shape for name in names}
    dims = ("sample", "time", *SPACE[:count])
    if len(shapes) != 1 or len(next(iter(shapes))) != len(dims) or any(found.variables[name].dims for name in names):
        return None
    variables = {name: replace(found.variables[name], dims=dims) for name in names}
    lines = {name: v for name, v in found.variables.items() if name.endswith("-coordinate")}
    return replace(found, layout=f"pdebench-{count}d-cfd", variables=variables | lines, stacked=True)
