"""PDEBench's layouts: their numbers, and what a file must have to be one of them."""

import h5py
import numpy as np
import pytest

import files
import physrank as pr


def test_numbers(tmp_path):
    reaction = pr.read(files.written(tmp_path, "pdebench-2d-diffusion-reaction")[0])
    assert reaction.numbers == {"Du": 1e-3, "Dv": 5e-3, "k": 5e-3}
    assert reaction.grid()["points"] == (6, 7)
    flow = pr.read(files.written(tmp_path, "pdebench-2d-cfd")[0])
    assert flow.numbers == {"eta": 0.01, "zeta": 0.02, "M": 0.1}
    burgers = pr.read(files.written(tmp_path, "pdebench-1d")[0], "pdebench")
    assert burgers.numbers == {"nu": 0.02, "viscosity": pytest.approx(0.02 / np.pi)}  # its diffusion is ν/π


@pytest.mark.parametrize("name, numbers", [("1D_Burgers_Sols_Nu0.004", {"nu": 0.004, "viscosity": 0.004 / np.pi}),
                                           ("1D_Advection_Sols_beta0.4", {"beta": 0.4}),
                                           ("ReacDiff_Nu0.5_Rho2.0", {"nu": 0.5, "rho": 2.0})])  # fmt: skip
def test_numbers_from_the_name_of_the_file(name, numbers, tmp_path):
    path = tmp_path / f"{name}.hdf5"
    files.burgers(path)
    with h5py.File(path, "r+") as file:
        del file.attrs["Nu"]
    assert pr.read(path).numbers == numbers


def test_other_groups_and_other_channels(tmp_path):
    with h5py.File(tmp_path / "sorption.h5", "w") as file:
        for k in range(12):
            file[f"{k}/data"], file[f"{k}/grid/x"] = np.full((5, 6, 1), float(k)), files.X
    sorption = pr.read(tmp_path / "sorption.h5")
    assert (sorption.layout, sorption.samples) == ("pdebench-groups", 12)
    assert sorption.state(10)[0, 0, 0] == 10  # in the order of numbers, not of letters
    with h5py.File(tmp_path / "own.h5", "w") as file:
        for k in range(3):
            file[f"{k}/u"] = np.full((5, 6), float(k))
    own = pr.read(tmp_path / "own.h5")
    assert (own.layout, own.samples, own.state(2)[0, 0]) == ("hdf5", 3, 2)


def test_a_sample_of_another_shape_is_refused(tmp_path):
    path, _ = files.written(tmp_path, "pdebench-2d-diffusion-reaction")
    with h5py.File(path, "r+") as file:
        del file["0001/data"]
        file["0001/data"] = np.zeros((5, 4, 4, 2))
    file = pr.read(path)
    file.state(2)
    with pytest.raises(ValueError, match=r"'0001/data' has shape \(5, 4, 4, 2\); expected \(5, 6, 7, 2\)"):
        file.state(1)


def test_another_layout_is_named(tmp_path):
    path, _ = files.written(tmp_path, "pdebench-2d-cfd")
    with pytest.raises(ValueError, match="has the layout 'pdebench-2d-cfd'; asked for 'pdebench-1d'"):
        pr.read(path, "pdebench-1d")
    with pytest.raises(ValueError, match="did you mean 'pdebench-2d-cfd'"):
        pr.read(path, "pdebench-2d-cdf")
    with pytest.raises(ValueError, match=r"Unknown layout 7: Known are auto, pdebench, .*, hdf5"):
        pr.read(path, 7)
    with pytest.raises(ValueError, match="max_bytes must be a whole number"):
        pr.read(path, max_bytes="1 GB")
