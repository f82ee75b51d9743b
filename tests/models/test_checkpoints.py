"""Checkpoints by glob: in natural order, named by their paths, read when they are asked for."""

from pathlib import Path

import numpy as np
import pytest
import torch

import physrank as pr
from physrank.models.checkpoints import names_of
from surrogates import POINTS, Network, network, problem_of, starts


@pytest.fixture
def folder(tmp_path):
    for run in (1, 2):
        for epoch in (2, 10, 9):
            pr.models.save(tmp_path / f"run{run}" / f"epoch{epoch}.safetensors", network(10 * run + epoch))
    return tmp_path


def test_natural_order_and_names(folder):
    found = pr.models.checkpoints(f"{folder}/run*/epoch*.safetensors", Network)
    assert list(found) == [f"run{run}/epoch{epoch}" for run in (1, 2) for epoch in (2, 9, 10)]
    assert list(pr.models.checkpoints(folder / "run1" / "*", Network)) == ["epoch2", "epoch9", "epoch10"]
    assert list(pr.models.checkpoints(f"{folder}/**/epoch9.*", Network)) == ["run1/epoch9", "run2/epoch9"]
    twice = [folder / "run1" / "epoch2.safetensors", f"{folder}/run1/*2.safetensors"]
    assert list(pr.models.checkpoints(twice, Network)) == ["epoch2"]
    assert found.paths["run2/epoch10"] == folder / "run2" / "epoch10.safetensors"
    assert names_of([Path("a/x.pt"), Path("a/x.safetensors")]) == ["x.pt", "x.safetensors"]


def test_each_is_the_network_that_was_stored(folder):
    found = pr.models.checkpoints(f"{folder}/run*/*", Network)
    assert torch.equal(found["run2/epoch9"].last.weight, network(29).last.weight)
    assert found["run2/epoch9"] is not found["run2/epoch9"]  # nothing is held
    predictions = pr.models.predict(found, starts(2))
    by_hand = network(12).double()(torch.tensor(starts(2))).detach().numpy()
    np.testing.assert_allclose(predictions["run1/epoch2"], by_hand, atol=1e-5)


def test_nothing_is_read_before_it_is_asked_for(folder):
    (folder / "run1" / "epoch3.safetensors").write_bytes(b"broken")
    found = pr.models.checkpoints(f"{folder}/run1/*", Network)
    assert found["epoch2"] and len(found) == 4
    with pytest.raises(ValueError, match=r"epoch3.safetensors is not a readable"):
        found["epoch3"]


def test_a_factory_may_look_at_the_path(folder):
    pr.models.save(folder / "run3" / "epoch1.safetensors", network(width=8))
    found = pr.models.checkpoints(f"{folder}/run*/*", lambda path: Network(8 if path.parent.name == "run3" else 32))
    assert found["run3/epoch1"].first.out_features == 8 and found["run1/epoch2"].first.out_features == 32


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch's older exporter, which needs nothing installed
def test_onnx_files_need_no_factory_and_give_what_was_exported(tmp_path):
    exported = {f"net{k}": network(k).eval() for k in range(2)}
    for name, model in exported.items():
        torch.onnx.export(
            model,
            (torch.zeros(2, POINTS),),
            tmp_path / f"{name}.onnx",
            dynamo=False,
            input_names=["start"],
            output_names=["rows"],
            dynamic_axes={"start": {0: "batch"}, "rows": {0: "batch"}},
        )
    library = pr.models.checkpoints(tmp_path / "*.onnx")
    found = pr.models.predict(library, starts(5), problems=problem_of, batch=2)
    for name, expected in pr.models.predict(exported, starts(5)).items():
        np.testing.assert_allclose(found[name], expected, atol=1e-5)


def test_what_is_missing_is_said(folder):
    with pytest.raises(ValueError, match=r"No file matches .*; the folder '.*' holds run1, run2"):
        pr.models.checkpoints(f"{folder}/rnu*/*", Network)
    with pytest.raises(ValueError, match="weights without their network"):
        pr.models.checkpoints(f"{folder}/run1/*")["epoch2"]
    with pytest.raises(ValueError, match="factory must be a function"):
        pr.models.checkpoints(f"{folder}/run1/*", network())  # a module is callable, but no factory
    with pytest.raises(ValueError, match="factory must return"):
        pr.models.checkpoints(f"{folder}/run1/*", lambda: 3)["epoch2"]
