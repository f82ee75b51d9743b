"""PDEBench's files: a small one of its layout, U-Nets under other names, rolled out as they would be by hand."""

import json

import h5py
import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from networks import randomised
from physrank.cli.program import app
from physrank.lab.equations import ROLLOUTS
from physrank.lab.inputs import diffusion_reaction_cells
from physrank.lab.models import UNet
from physrank.lab.references import pdebench
from physrank.lab.store.files import StoreError
from physrank.lab.studies._kit import rollouts
from physrank.lab.training import official

EQUATION = ROLLOUTS["diffusion_reaction"]


def theirs(network):
    """Its tensors under other names, every way up followed by its decoder."""
    own = network.state_dict()
    order = [name for name in own if name.startswith(("encoder", "bottleneck"))]
    for level in range(4):
        order += [n for n in own if n.startswith(f"up.{level}.")] + [
            n for n in own if n.startswith(f"decoder.{level}.")
        ]
    order += [name for name in own if name.startswith("head")]
    return {f"layer{k}": own[name] for k, name in enumerate(order)}


def write_pdebench(path, trajectories):
    """Trajectories `(time, channel, y, x)` as PDEBench lays them out."""
    with h5py.File(path, "w") as file:
        for k, data in enumerate(trajectories):
            group, line = file.create_group(f"{k:04d}"), np.linspace(-1, 1, data.shape[-1])
            group["data"] = np.moveaxis(data, 1, -1)
            for name, values in (("x", line), ("y", line), ("t", EQUATION.times)):
                group[f"grid/{name}"] = values.astype(np.float32)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("official")
    truth = np.random.default_rng(0).standard_normal((2, 101, 16, 16, 2)).astype(np.float32)
    write_pdebench(folder / "2D_diff-react_NA_NA.h5", np.moveaxis(truth, -1, 2))
    (folder / "checkpoints").mkdir()
    torch.manual_seed(0)
    networks = {name: randomised(UNet(seen, 2, features=4)) for name, seen in (("one", 20), ("two", 4))}
    for name, network in networks.items():
        held = {"epoch": 3, "model_state_dict": theirs(network), "optimizer_state_dict": {}, "loss": 0.1}
        torch.save(held, folder / "checkpoints" / f"{name}.pt")
    return folder, truth, networks


def test_checkpoints_are_rolled_out_as_by_hand(files, tmp_path):
    folder, truth, networks = files
    data, checkpoints = folder / "2D_diff-react_NA_NA.h5", folder / "checkpoints"
    made = official.roll_out(tmp_path, EQUATION, data, checkpoints)
    known = rollouts.of_files(made)
    assert known.official and known.names == ("one", "two") and known.inputs == ("0000", "0001")
    true, candidates = known.of(1)
    np.testing.assert_array_equal(true, np.moveaxis(truth[1], -1, 1))
    frames = [torch.from_numpy(frame) for frame in true[:10]]
    network = networks["two"].eval()
    with torch.no_grad():
        for _ in range(91):
            frames.append(network(torch.cat(frames[-2:])[None])[0])
    np.testing.assert_allclose(candidates["two"], torch.stack(frames[9:]).numpy(), rtol=1e-4, atol=1e-5)
    stamp = (made / "0001.npz").stat().st_mtime_ns
    assert official.roll_out(tmp_path, EQUATION, data, checkpoints) == made
    assert (made / "0001.npz").stat().st_mtime_ns == stamp  # stored once
    (made / "0000.npz").unlink()
    with pytest.raises(StoreError, match="lacks the rollouts of 1 inputs"):
        rollouts.of_files(made)


def test_what_is_no_such_network_or_file_is_told(files, tmp_path):
    folder, _, networks = files
    data = folder / "2D_diff-react_NA_NA.h5"
    with pytest.raises(StoreError, match="expected at least two"):
        official.roll_out(tmp_path, EQUATION, data, tmp_path)
    shuffled = dict(reversed(list(theirs(networks["two"]).items())))
    torch.save({"model_state_dict": shuffled}, tmp_path / "other.pt")
    with pytest.raises(StoreError, match="its first layer is"):
        official.unet(tmp_path / "other.pt", EQUATION)
    short = dict(list(theirs(networks["two"]).items())[:-1])
    torch.save({"model_state_dict": short}, tmp_path / "short.pt")
    with pytest.raises(StoreError, match="is no such U-Net"):
        official.unet(tmp_path / "short.pt", EQUATION)


def test_the_study_takes_a_users_files(tmp_path):
    """From the command line to the table: networks that answer with constants, whose losses are known."""
    start = diffusion_reaction_cells("development", 0, 32)
    truth = pdebench.diffusion_reaction(start, EQUATION.times).astype(np.float32)
    write_pdebench(tmp_path / "2D_diff-react_NA_NA.h5", [truth])
    (tmp_path / "checkpoints").mkdir()
    answers = {"nought": 0.0, "tenth": 0.1, "whole": 1.0}
    for name, answer in answers.items():
        network = UNet(20, 2, features=4)
        with torch.no_grad():
            network.head.weight.zero_()
            network.head.bias.fill_(answer)
        torch.save({"model_state_dict": theirs(network)}, tmp_path / "checkpoints" / f"{name}.pt")
    told = ["study", "diffusion_reaction", "--profile", "smoke", "--store", str(tmp_path), "--out", str(tmp_path)]
    files = ["--data", str(tmp_path / "2D_diff-react_NA_NA.h5"), "--checkpoints", str(tmp_path / "checkpoints")]
    found = CliRunner().invoke(app, [*told, *files])
    assert found.exit_code == 0, found.output
    result = json.loads((tmp_path / "smoke/diffusion_reaction_official.json").read_text(encoding="utf-8"))
    assert (result["data"], result["candidates"], result["inputs"]) == ("official files", list(answers), 1)
    losses = [np.mean((truth[-1] - answer) ** 2) for answer in answers.values()]
    terminal = result["objectives"]["terminal squared L²"]
    assert terminal["winners"] == [int(k == np.argmin(losses)) for k in range(3)]
    assert terminal["routing"]["oracle"] == pytest.approx(4 * 2 * min(losses), rel=1e-5)  # an area of four, two fields
    assert result["terminal"]["as it comes"]["pairs_correct"] == terminal["pairs"] == 3
    assert (
        result["failed"] == 1 and terminal["matched"]["pairs_correct"] == 0
    )  # one response from so far decides nothing
