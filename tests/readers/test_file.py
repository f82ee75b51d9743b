"""From fields to states and candidates: axes by name, channels in order, and errors where a file leaves a choice open."""

import re

import h5py
import numpy as np
import pytest
import xarray as xr

import files
import physrank as pr
from fuzz import everything
from helpers import solve
from problems import diffusion_reaction


def save(path, **arrays):
    np.savez(path, **arrays)
    return path


def test_axes_are_named_by_the_caller(tmp_path):
    u = files.values(5, 4, 3, 2)
    path = save(tmp_path / "u.npz", u=u, coefficient=files.values(5, 3))
    file = pr.read(path, dims="x,time,sample,channel")
    assert (file.samples, file.fields["u"].dims) == (3, ("sample", "time", "channel", "x"))
    np.testing.assert_array_equal(file.state(2, "u"), np.transpose(u, (2, 1, 3, 0))[2].astype(float))
    assert file.fields["coefficient"].dims is None
    both = pr.read(path, dims={"u": "x,time,sample,channel", "coefficient": ["x", "sample"]})
    assert both.state(1, "coefficient").shape == (5,)
    for dims, words in (("x,y,z", "fits none"), ({"u": "x,y"}, "a name per axis"), ("x,x,y,z", "a name per axis")):
        with pytest.raises(ValueError, match=words):
            pr.read(path, dims=dims)


def test_axes_are_named_by_the_lengths_of_coordinates(tmp_path):
    u = files.values(2, 5, 6, 7)
    grid = {"t": files.T, "x": files.X, "y": files.Y}
    first = pr.read(save(tmp_path / "first.npz", u=u, **grid))
    assert first.fields["u"].dims == ("sample", "t", "x", "y")
    last = pr.read(save(tmp_path / "last.npz", u=np.moveaxis(u, 0, -1), **grid))
    assert last.fields["u"].dims == ("t", "channel", "x", "y")
    turned = pr.read(save(tmp_path / "turned.npz", u=u.swapaxes(2, 3)[0], **grid))
    np.testing.assert_array_equal(turned.state(), u[0].astype(float))
    # Time and space of one length, or coordinates of no axis, tell nothing: the array stays as it is.
    for name, wrong in (
        ("same", {"t": files.X, "x": files.X}),
        ("none", {"x": files.X[:4]}),
        ("samples or times", {"x": files.X}),
    ):
        file = pr.read(save(tmp_path / f"{name}.npz", u=files.values(6, 6), **wrong))
        assert file.fields["u"].dims is None
        assert file.state().shape == (6, 6)
        with pytest.raises(ValueError, match='say so: read\\(path, dims="sample,time,x"\\)'):
            file.state(1)


def test_grid_and_coordinates(tmp_path):
    file = pr.read(files.written(tmp_path, "pdebench-1d")[0])
    np.testing.assert_array_equal(file.coordinates["t"], files.T[:-1])  # one longer than the data
    assert file.coordinates["x"].dtype == np.float64
    grid = file.grid()
    assert (grid["axes"], grid["points"], grid["uniform"]) == (("x",), (6,), True)
    np.testing.assert_allclose([grid["spacing"][0], grid["length"][0]], [0.36, 6 * 0.36])
    bent = pr.read(save(tmp_path / "bent.npz", u=files.values(6), x=files.X**3))
    assert not bent.grid()["uniform"]


def test_candidates_by_group_and_by_field(tmp_path):
    a, b = files.values(5, 6), files.values(5, 6)
    with h5py.File(tmp_path / "groups.h5", "w") as file:
        file["fno/u"], file["nested/cno/u"], file["x"] = a, b, files.X
    groups = pr.read(tmp_path / "groups.h5").candidates()
    assert list(groups) == ["fno", "nested/cno"]
    np.testing.assert_array_equal(groups["nested/cno"], b.astype(float))
    fields = pr.read(save(tmp_path / "fields.npz", fno=a, cno=b)).candidates()
    assert list(fields) == ["fno", "cno"]
    with h5py.File(tmp_path / "flows.h5", "w") as file:
        for name in ("pressure", "Vx", "density"):
            file.create_dataset(f"fno/{name}", data=a).attrs["dims"] = ["time", "x"]
            file.create_dataset(f"cno/{name}", data=b).attrs["dims"] = ["time", "x"]
    flows = pr.read(tmp_path / "flows.h5").candidates()
    assert {name: state.shape for name, state in flows.items()} == {"cno": (5, 3, 6), "fno": (5, 3, 6)}


def test_names_of_any_script(tmp_path):
    names = ["модель", "模型 1", "größe/ω", "a.b"]
    data = xr.DataArray(files.values(4, 5, 6), dims=("model", "time", "x"), coords={"model": names}, name="u")
    data.to_netcdf(tmp_path / "наука.nc", engine="h5netcdf")
    assert list(pr.read(tmp_path / "наука.nc").candidates()) == names
    data.assign_coords(model=["a", "b", "a", "c"]).to_netcdf(tmp_path / "twice.nc", engine="h5netcdf")
    with pytest.raises(ValueError, match=r"names \['a', 'b', 'a', 'c'\]; expected 4 different names"):
        pr.read(tmp_path / "twice.nc").candidates()


def test_open_choices_are_asked_for(tmp_path):
    path = save(
        tmp_path / "two.npz",
        u=files.values(5, 6),
        v=files.values(5, 6),
        w=files.values(3),
        z=1j * files.X,
        s=["a", "b"],
    )
    file = pr.read(path, dims="time,x")
    assert file.state(fields=["u", "v"]).shape == (5, 2, 6)
    for fields, words in (
        (None, "holds 4 fields. Choose with fields=: u (5, 6), v (5, 6), w (3,), z (6,)."),
        ([], "fields is empty"),
        ("q", "has no field 'q': Choose with fields="),
        ("s", "has no field 's': its values are of type <U1, expected numbers"),
        ("z", "is complex; a state is real"),
        (["u", "w"], "does not name the axes of u, w"),
    ):
        with pytest.raises(ValueError, match=re.escape(words)):
            file.state(fields=fields)
    mixed = pr.read(path, dims={"u": "time,x", "w": "x"})
    with pytest.raises(ValueError, match="cannot be the channels of one state"):
        mixed.state(fields=["u", "w"])
    with pytest.raises(ValueError, match="has 1 sample"):
        file.state(3, "u")


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.bool_, np.float16, ">f4", np.longdouble])
def test_numbers_of_any_kind(dtype, tmp_path):
    stored = (10 * files.values(4, 3)).astype(dtype)
    for state in everything(save(tmp_path / "u.npz", u=stored)):
        assert state.dtype == np.float64
        np.testing.assert_array_equal(state, stored.astype(float))


def test_slips_of_an_unlabelled_file_are_found_by_the_defect(tmp_path):
    """Channels last, space transposed, or both: `check` says what to do, and done so the floor is that of the truth."""
    problem = diffusion_reaction()
    known = solve(problem)
    right = pr.check(problem, known).floor
    for name, stored, words in (
        ("last", np.moveaxis(known, 1, -1), "channels moved before space"),
        ("turned", known.swapaxes(-1, -2), "its last two axes exchanged"),
        ("both", np.moveaxis(known.swapaxes(-1, -2), 1, -1), "channels moved before space, and space transposed"),
    ):
        np.save(tmp_path / f"{name}.npy", stored)
        verdict = pr.check(problem, pr.read(tmp_path / f"{name}.npy").state())
        assert not verdict.passes or verdict.floor == right
        assert verdict.suggestions[0].what == words
        assert verdict.suggestions[0].floor == pytest.approx(right, abs=1e-9)
