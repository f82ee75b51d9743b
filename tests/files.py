"""Small files of every layout, written as their own libraries write them, with the values that should come back."""

import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr

RANDOM = np.random.default_rng(5)
X, Y, T = np.linspace(-0.9, 0.9, 6), np.linspace(-0.9, 0.9, 7), np.linspace(0, 1, 5)


def values(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def diffusion_reaction(path, samples=3):
    """PDEBench 2D_diff-react: groups 0000… with data (time, x, y, channel) and grid; settings as text."""
    stored = values(samples, len(T), len(X), len(Y), 2)
    with h5py.File(path, "w") as file:
        for k, data in enumerate(stored):
            group = file.create_group(f"{k:04d}")
            group["data"] = data
            for name, line in (("x", X), ("y", Y), ("t", T)):
                group[f"grid/{name}"] = line.astype(np.float32)
            group.attrs["config"] = "sim:\n  Du: 1e-3\n  Dv: 5e-3\n  k: 0.005\n  seed: 3\n"
    return np.moveaxis(stored, -1, 2).astype(float)


def burgers(path, samples=3):
    """PDEBench 1D_Burgers: one tensor, one time more than rows, the attribute Nu."""
    stored = values(samples, len(T) - 1, len(X))
    with h5py.File(path, "w") as file:
        file["tensor"], file["x-coordinate"], file["t-coordinate"] = stored, X, T
        file.attrs["Nu"] = 0.02
    return stored.astype(float)


def flow(path, dims=2, samples=3):
    """PDEBench CFD: a dataset per variable."""
    names = ["density", *["Vx", "Vy", "Vz"][:dims], "pressure"]
    lines = {"x-coordinate": X, "y-coordinate": Y, "z-coordinate": X[:4]}
    used = dict(list(lines.items())[:dims])
    stored = {name: values(samples, len(T) - 1, *map(len, used.values())) for name in names}
    with h5py.File(path, "w") as file:
        for name, data in (stored | used | {"t-coordinate": T}).items():
            file[name] = data
        file.attrs["eta"], file.attrs["zeta"], file.attrs["M"] = 0.01, 0.02, 0.1
    return np.stack([stored[name] for name in names], axis=2).astype(float)


def well(path, samples=2):
    """The Well: fields by tensor order, components last."""
    shape = (samples, len(T), len(X), len(Y))
    density, velocity, stress = values(*shape), values(*shape, 2), values(*shape, 2, 2)
    with h5py.File(path, "w") as file:
        file["t0_fields/density"], file["t1_fields/velocity"], file["t2_fields/stress"] = density, velocity, stress
        file["dimensions/x"], file["dimensions/y"], file["dimensions/time"] = X, Y, T
        file["scalars/viscosity"] = 0.3
        for axis in "xy":
            wall = file.create_group(f"boundary_conditions/{axis}_periodic")
            wall.attrs["bc_type"], wall.attrs["associated_dims"] = "PERIODIC", [axis]
        file.attrs["grid_type"], file.attrs["n_trajectories"] = "cartesian", samples
    parts = [density[..., None], velocity, stress.reshape(*shape, 4)]
    return np.moveaxis(np.concatenate(parts, axis=-1), -1, 2).astype(float)


def dataset(names=("cno", "fno")):
    """Candidates along a named axis, with the axes of their states in an unusual order."""
    stored = values(len(Y), len(X), len(T), len(names))
    lines = {"x": X, "y": Y, "time": T, "model": list(names)}
    data = xr.DataArray(stored, dims=("y", "x", "time", "model"), coords=lines, name="u")
    return data.to_dataset().assign_attrs(nu=0.5), np.transpose(stored, (3, 2, 1, 0)).astype(float)


def netcdf(path):
    data, states = dataset()
    data.to_netcdf(path, engine="h5netcdf")
    return states


def netcdf3(path):
    data, states = dataset()
    data.to_netcdf(path, engine="scipy")
    return states


def zarr(path, version=3):
    data, states = dataset()
    pytest.importorskip("zarr")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that version 3 does not specify text of fixed length
        data.to_zarr(path, zarr_format=version, consolidated=False)
    return states


def npz(path):
    stored = values(len(T), len(X), len(Y), 2)
    np.savez_compressed(path, data=stored, x=X, y=Y, t=T, nu=0.1)
    return np.moveaxis(stored, -1, 1)[None].astype(float)


def npy(path):
    stored = values(len(T), len(X))
    np.save(path, stored)
    return stored[None].astype(float)


def torch(path):
    library, stored = pytest.importorskip("torch"), values(len(T), len(X))
    library.save({"u": library.tensor(stored), "epoch": 3}, path)
    return stored[None].astype(float)


def safetensors(path):
    library, stored = pytest.importorskip("safetensors.numpy"), values(len(T), len(X))
    library.save_file({"u": stored}, path)
    return stored[None].astype(float)


def plain(path):
    stored = values(len(X), len(T), 2)
    with h5py.File(path, "w") as file:
        file.create_dataset("u", data=stored, compression="gzip", chunks=(2, 2, 2)).attrs["dims"] = "x,time,channel"
        file.attrs["nu"] = 0.25
    return np.transpose(stored, (1, 2, 0))[None].astype(float)


# layout → (file name, writer that returns all samples in physrank's order)
WRITERS = {
    "pdebench-2d-diffusion-reaction": ("2D_diff-react_NA_NA.h5", diffusion_reaction),
    "pdebench-1d": ("1D_Burgers_Sols_Nu0.02.hdf5", burgers),
    "pdebench-1d-cfd": ("1D_CFD.hdf5", lambda path: flow(path, 1)),
    "pdebench-2d-cfd": ("2D_CFD.hdf5", flow),
    "pdebench-3d-cfd": ("3D_CFD.hdf5", lambda path: flow(path, 3)),
    "the-well": ("well.hdf5", well),
    "npz": ("one.npz", npz),
    "npy": ("one.npy", npy),
    "torch": ("one.pt", torch),
    "safetensors": ("one.safetensors", safetensors),
    "hdf5": ("one.h5", plain),
}
# The same for files with a candidate axis; the layout is the name without its number.
SEVERAL = {
    "netcdf": ("many.nc", netcdf),
    "netcdf3": ("old.nc", netcdf3),
    "zarr": ("many.zarr", zarr),
    "zarr2": ("old.zarr", lambda path: zarr(path, 2)),
}


def written(folder: Path, layout: str):
    """(path, what all samples or candidates should read as)"""
    name, write = (WRITERS | SEVERAL)[layout]
    return folder / name, write(folder / name)
