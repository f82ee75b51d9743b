"""The Well: constants, boundaries, and a flow among its fields."""

import h5py
import numpy as np

import files
import physrank as pr


def test_numbers_and_boundaries(tmp_path):
    file = pr.read(files.written(tmp_path, "the-well")[0])
    assert file.numbers["viscosity"] == 0.3
    assert file.boundaries == {"x": "periodic", "y": "periodic"}
    assert list(file.coordinates) == ["t", "x", "y"]
    assert file.fields["stress"].shape == (2, 5, 4, 6, 7)
    np.testing.assert_array_equal(file.fields["stress"][1, 2, 3], np.asarray(file.fields["stress"])[1, 2, 3])


def test_a_flow_has_its_channels_in_order_and_constants_are_left_out(tmp_path):
    density, velocity, pressure = files.values(2, 5, 6, 7), files.values(2, 5, 6, 7, 2), files.values(2, 5, 6, 7)
    with h5py.File(tmp_path / "flow.hdf5", "w") as file:
        file["t0_fields/pressure"], file["t0_fields/density"], file["t1_fields/velocity"] = pressure, density, velocity
        file["t0_fields/terrain"] = files.values(6, 7)
        for flag in ("sample_varying", "time_varying"):
            file["t0_fields/terrain"].attrs[flag] = False
    file = pr.read(tmp_path / "flow.hdf5", "the-well")
    expected = np.stack([density, *np.moveaxis(velocity, -1, 0), pressure], axis=2)
    np.testing.assert_array_equal(file.state(1), expected[1].astype(float))
    assert file.skipped == {"terrain": "it does not change in time"}
