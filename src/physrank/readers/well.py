"""The Well's HDF5 layout: fields by tensor order, `t0_fields`, `t1_fields`, `t2_fields`, with trajectories first."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from physrank.readers.contents import Contents, base
from physrank.readers.field import Fetch, Key, Variable
from physrank.readers.hdf5 import attributes, dataset_at, inside, opened

ORDERS = {"t0_fields": 0, "t1_fields": 1, "t2_fields": 2}
SPACE = ("x", "y", "z")


def recognised(found: Contents, path: Path) -> Contents | None:
    """The same contents with axes named, or None where this is no file of The Well."""
    own = {name: v for name, v in found.variables.items() if name.split("/")[0] in ORDERS and name.count("/") == 1}
    if not own:
        return None
    with opened(path) as file:
        fields = [_field(v, ORDERS[name.split("/")[0]], attributes(dataset_at(file, name))) for name, v in own.items()]
        boundaries = _boundaries(file) if "boundary_conditions" in file else {}
    lines = {
        base(name): replace(v, name=base(name))
        for name, v in found.variables.items()
        if name.split("/")[0] == "dimensions" and len(v.shape) == 1
    }
    changing = {field.name: field for field in fields if "time" in (field.dims or ())}
    constant = {field.name: field for field in fields if field.name not in changing}
    return replace(
        found,
        layout="the-well",
        variables=(changing or constant) | lines,
        boundaries=boundaries,
        stacked=True,
        skipped=found.skipped | ({name: "it does not change in time" for name in constant} if changing else {}),
    )


def _field(variable: Variable, order: int, info: dict[str, Any]) -> Variable:
    lead = [
        dim
        for dim, flag in (("sample", "sample_varying"), ("time", "time_varying"))
        if bool(np.all(info.get(flag, True)))
    ]
    space = len(variable.shape) - len(lead) - order
    name = base(variable.name)
    if not 1 <= space <= 3:
        return replace(variable, name=name)
    dims = (*lead, *SPACE[:space])
    if order == 0:
        return replace(variable, name=name, dims=dims)
    kept = len(dims)
    flat = (*variable.shape[:kept], int(np.prod(variable.shape[kept:])))
    fetch = variable.fetch if order == 1 else _flattened(variable.fetch, variable.shape[kept:])
    return Variable(name, flat, variable.dtype, fetch, (*dims, "channel"))


def _flattened(fetch: Fetch, last: tuple[int, ...]) -> Fetch:
    """The components of a tensor as one axis of channels."""

    def flat(key: Key) -> np.ndarray:
        values = fetch((*key[:-1], *[slice(0, n, 1) for n in last]))
        return values.reshape(*values.shape[: values.ndim - len(last)], -1)[..., key[-1]]

    return flat


def _boundaries(file: Any) -> dict[str, str]:
    group, found = inside(file, "boundary_conditions"), {}
    for name in list(group)[:100]:
        info = attributes(inside(group, name))
        kind, where = info.get("bc_type", name), info.get("associated_dims", name)
        found[str(np.ravel(where)[0])] = str(kind).lower()
    return found
