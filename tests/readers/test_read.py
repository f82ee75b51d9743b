"""What was written is read back, in physrank's order of axes, whatever the layout."""

import h5py
import numpy as np
import pytest

import files
import physrank as pr


@pytest.mark.parametrize("layout", files.WRITERS)
def test_what_was_written_is_read_back(layout, tmp_path):
    path, expected = files.written(tmp_path, layout)
    file = pr.read(path)
    assert (file.layout, file.path, file.samples) == (layout, path, len(expected))
    for sample in range(len(expected)):
        state = file.state(sample)
        assert state.dtype == np.float64
        np.testing.assert_array_equal(state, expected[sample])
    np.testing.assert_array_equal(file.candidates()[path.stem], expected[0])
    assert pr.read(path, layout).layout == layout


@pytest.mark.parametrize("layout", files.SEVERAL)
def test_candidates_along_an_axis(layout, tmp_path):
    path, expected = files.written(tmp_path, layout)
    file = pr.read(path)
    assert file.layout == layout.rstrip("23")
    found = file.candidates()
    assert list(found) == ["cno", "fno"]
    np.testing.assert_array_equal(list(found.values()), expected)
    assert file.numbers["nu"] == 0.5
    with pytest.raises(ValueError, match="several candidates"):
        file.state()


def test_a_layout_that_is_asked_for(tmp_path):
    """HDF5 as it lies where that is wanted, and netCDF under another name."""
    path, expected = files.written(tmp_path, "pdebench-2d-cfd")
    plain = pr.read(path, "hdf5")
    assert plain.layout == "hdf5"
    np.testing.assert_array_equal(plain.fields["Vx"][1], expected[1, :, 1])
    path, _ = files.written(tmp_path, "netcdf")
    assert pr.read(path, "hdf5").fields["u"].shape == (5, 2, 6, 7)  # axes by lengths, without their names
    other = path.rename(tmp_path / "data.h5")
    assert pr.read(other).layout == pr.read(other, "netcdf").layout == "netcdf"


def test_a_block_before_hdf5(tmp_path):
    with h5py.File(tmp_path / "matlab.mat", "w", userblock_size=512) as file:
        file["u"] = files.X
    content = (tmp_path / "matlab.mat").read_bytes()
    (tmp_path / "matlab.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(512) + content[512:])
    np.testing.assert_array_equal(pr.read(tmp_path / "matlab.mat").state(), files.X)


def test_only_coordinates(tmp_path):
    np.savez(tmp_path / "pair.npz", x=files.X, y=files.X**2)
    with pytest.raises(ValueError, match="x: it is taken for a coordinate; y: it is taken for a coordinate"):
        pr.read(tmp_path / "pair.npz")


def test_a_sample_of_many_reads_its_own_chunk_only(tmp_path):
    """A store whose other chunks are damaged still gives the sample that is not."""
    zarr = pytest.importorskip("zarr")
    stored = files.values(5, 4, 6)
    array = zarr.create_array(tmp_path / "u.zarr", shape=stored.shape, chunks=(1, 4, 6), dtype="f4",
                              dimension_names=("sample", "time", "x"))  # fmt: skip
    array[...] = stored
    (tmp_path / "u.zarr" / "c" / "3" / "0" / "0").write_bytes(b"damaged")
    file = pr.read(tmp_path / "u.zarr")
    np.testing.assert_array_equal(file.state(2), stored[2].astype(float))
    with pytest.raises(ValueError, match="not a readable zarr file"):
        file.state(3)


def test_hdf5_that_is_called_netcdf_needs_no_names_of_axes(tmp_path):
    """Without a word of warning: xarray would tell the reader how to call xarray."""
    with h5py.File(tmp_path / "plain.nc", "w") as file:
        file["u"] = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(pr.read(tmp_path / "plain.nc").state(), np.arange(6.0).reshape(2, 3))
