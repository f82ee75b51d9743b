"""`read`: a file of any known layout, recognised by what it holds and not by its name."""

import difflib
import os
import stat
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from physrank import _axes as axes
from physrank.readers import hdf5, netcdf, numpy_files, pdebench, safetensors, torch_files, well, zarr_stores
from physrank.readers.contents import COORDINATES, Contents, base, is_coordinate, line
from physrank.readers.file import File
from physrank.readers.limits import Limit, ReadError, damage

FORMATS = {
    "netcdf": netcdf.read,
    "zarr": zarr_stores.read,
    "npz": numpy_files.read_npz,
    "npy": numpy_files.read_npy,
    "torch": torch_files.read,
    "safetensors": safetensors.read,
    "hdf5": hdf5.read,
}
PDEBENCH = (
    "pdebench-2d-diffusion-reaction",
    "pdebench-groups",
    "pdebench-1d",
    "pdebench-1d-cfd",
    "pdebench-2d-cfd",
    "pdebench-3d-cfd",
)
LAYOUTS = ("auto", "pdebench", *PDEBENCH, "the-well", *FORMATS)
Dims = str | Sequence[str] | Mapping[str, str | Sequence[str]] | None


def read(
    path: str | os.PathLike[str], layout: str = "auto", *, dims: Dims = None, max_bytes: int | None = None
) -> File:
    """Open a file of predictions or solutions; nothing is read until values are asked for.

    Main arguments: `path`, a file of PDEBench or The Well, netCDF, zarr (a folder), npz, npy, `.pt` tensors, safetensors or
    plain HDF5. `layout`, "auto" or one of `physrank.readers.LAYOUTS` ("pdebench" for any of PDEBench's).

    Other arguments: `dims`, the names of the axes of fields that the file does not name, as "time,x,y,channel" or by
    field, `{"y": "sample,time,x"}`; `max_bytes`, what one read may take in memory (default: half of what is free).

    Nothing in a file is executed: pickles, objects, links to other files and filters that load code are refused.

    ```python
    file = pr.read("fno.h5", dims="time,x,y,channel")
    print(file.fields, file.numbers, file.state(0).shape)
    ```
    """
    where = Path(path)
    if layout not in LAYOUTS:
        near = difflib.get_close_matches(str(layout), LAYOUTS, 1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise ReadError(f"Unknown layout {layout!r}: {meant}Known are {', '.join(LAYOUTS)}.")
    if max_bytes is not None and (isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1):
        raise ReadError(f"max_bytes must be a whole number of bytes, at least 1; got {max_bytes!r}.")
    limit, kind = Limit(where, max_bytes), format_of(where)
    if {layout, kind} == {"hdf5", "netcdf"} and hdf5.is_hdf5(where):
        kind = layout  # netCDF 4 is HDF5: whoever asks for one of them gets it
    contents = _contents(where, kind, limit, plain=layout == "hdf5")
    _check_layout(where, layout, contents.layout)
    return File(where, _named(contents, dims, where), limit)


def _contents(path: Path, kind: str, limit: Limit, plain: bool) -> Contents:
    found = FORMATS[kind](path, limit)
    if kind == "hdf5" and not plain:
        found = pdebench.recognised(found, path, limit) or well.recognised(found, path) or found
    return hdf5.as_samples(found, path, limit) if found.layout == "hdf5" and found.series else found


def _check_layout(path: Path, asked: str, found: str) -> None:
    if asked in ("auto", found) or (asked == "pdebench" and found in PDEBENCH):
        return
    raise ReadError(f'{path} has the layout {found!r}; asked for {asked!r}. Use layout={found!r} or "auto".')


def format_of(path: Path) -> str:
    """Which format a file has, by its first bytes; an error for what is no file of numbers."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        if zarr_stores.is_store(path):
            return "zarr"
        raise ReadError(f"{path} is a folder; expected a file, or a zarr store (a folder with zarr.json or .zgroup).")
    if not stat.S_ISREG(mode):
        raise ReadError(f"{path} is not an ordinary file.")
    with path.open("rb") as file:
        head = file.read(4096)
    if not head:
        raise ReadError(f"{path} is empty (0 bytes).")
    if hdf5.begins(head):
        return "netcdf" if netcdf.is_netcdf4(path) else "hdf5"
    if head.startswith(netcdf.MAGICS):
        return "netcdf"
    if head.startswith(numpy_files.MAGIC):
        return "npy"
    if head.startswith(b"PK"):
        return _archive(path)
    if _pickled(path, head):
        raise ReadError(
            f"{path} is a pickle (or an old torch file, which is one). Pickles can run code when loaded, so they are never "
            "read. Load it yourself where you trust it and write np.savez, safetensors or torch.save({'name': tensor})."
        )
    if head.startswith(b"MATLAB 5.0"):
        raise ReadError(
            f"{path} is a MATLAB 5 file. Convert it: np.savez(out, **scipy.io.loadmat(path)) without __header__."
        )
    if path.suffix == ".safetensors" or (len(head) > 9 and head[8:9] == b"{" and head[6:8] == b"\0\0"):
        return "safetensors"
    raise ReadError(
        f"{path} is none of HDF5, netCDF, zarr, npz, npy, torch (zip) or safetensors: it begins with {head[:8]!r}."
    )


def _archive(path: Path) -> str:
    with damage(path, "zip"), zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    if any(name.endswith("data.pkl") for name in names):
        return "torch"
    if any(name.endswith(".npy") for name in names):
        return "npz"
    raise ReadError(f"{path} is a zip archive without arrays; expected npz (members .npy) or a file of torch.save.")


def _pickled(path: Path, head: bytes) -> bool:
    return path.suffix in (".pkl", ".pickle", ".joblib") or (head[0] == 0x80 and len(head) > 1 and 2 <= head[1] <= 5)


def _named(contents: Contents, dims: Dims, path: Path) -> Contents:
    """Axes as the caller names them, else as the file does, else by the lengths of its coordinates."""
    given = {name: v for name, v in contents.variables.items() if not is_coordinate(v)}
    lengths = {COORDINATES[base(n)]: line(v.shape) or 0 for n, v in contents.variables.items() if n not in given}
    used = False
    for name, variable in given.items():
        asked = dims.get(name) if isinstance(dims, Mapping) else dims
        wanted = None if asked is None else _split(asked)
        if wanted is not None and (len(wanted) == len(variable.shape) or isinstance(dims, Mapping)):
            if len(wanted) != len(variable.shape) or len(set(wanted)) < len(wanted):
                raise ReadError(
                    f"{path}: dims {wanted} for {name!r} of shape {variable.shape}; expected a name per axis."
                )
            given[name], used = replace(variable, dims=wanted), True
        elif variable.dims is None:
            given[name] = replace(variable, dims=axes.inferred(variable.shape, lengths))
    if dims is not None and not used:
        shapes = ", ".join(f"{name} {variable.shape}" for name, variable in given.items())
        raise ReadError(f"{path}: dims={dims!r} fits none of its fields: {shapes}.")
    contents.variables.update(given)
    return contents


def _split(dims: Any) -> tuple[str, ...]:
    parts = dims.replace(" ", ",").split(",") if isinstance(dims, str) else dims
    return tuple(str(part).strip() for part in parts if str(part).strip())
