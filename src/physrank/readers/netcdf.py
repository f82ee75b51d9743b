"""netCDF, versions 3 and 4, through xarray: dimension and coordinate names as stored."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from physrank import _optional
from physrank.readers import hdf5
from physrank.readers.contents import Contents, numbers_of
from physrank.readers.field import Fetch, Key, Variable
from physrank.readers.limits import Limit, ReadError, damage

MAGICS = (b"CDF\x01", b"CDF\x02", b"CDF\x05")


def is_netcdf4(path: Path) -> bool:
    """Whether an HDF5 file is called netCDF, or says that a netCDF library wrote it."""
    if path.suffix in (".nc", ".nc4", ".cdf"):
        return True
    with hdf5.opened(path) as file:
        return "_NCProperties" in file.attrs


def read(path: Path, limit: Limit) -> Contents:
    found, four = Contents("netcdf", {}), hdf5.is_hdf5(path)
    if four:
        # It refuses links, data that lie elsewhere, and texts that claim too much.
        for name, why in hdf5.read(path, limit, followed=True).skipped.items():
            if why == hdf5.PACKED:  # xarray reads the names of an axis as it opens a file
                raise ReadError(f"{path}: {name}: {why}.")
    with _opened(path, four) as data:
        found.numbers |= numbers_of(data.attrs)
        for name, item in data.variables.items():
            name, dims = str(name), tuple(map(str, item.dims))
            found.add(Variable(name, tuple(item.shape), np.dtype(item.dtype), _reader(path, four, name), dims))
    return found


@contextmanager
def _opened(path: Path, four: bool) -> Iterator[Any]:
    with damage(path, "netCDF"):
        engine: dict[str, str] = {"engine": "h5netcdf", "phony_dims": "access"} if four else {"engine": "scipy"}
        # Times stay numbers: a state's time axis is in the units of its equation.
        with _optional.load("xarray").open_dataset(path, **engine, decode_times=False, cache=False) as data:
            yield data


def _reader(path: Path, four: bool, name: str) -> Fetch:
    def fetch(key: Key) -> np.ndarray:
        with _opened(path, four) as data:
            return np.array(data.variables[name][key].values)

    return fetch
