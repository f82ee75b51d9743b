"""Files: PDEBench, The Well, netCDF, zarr, npz, npy, torch tensors, safetensors and plain HDF5, read lazily."""

from physrank.readers.field import LazyField
from physrank.readers.file import File
from physrank.readers.limits import ReadError
from physrank.readers.read import LAYOUTS, read

__all__ = ["LAYOUTS", "File", "LazyField", "ReadError", "read"]
