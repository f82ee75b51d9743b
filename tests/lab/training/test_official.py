"""PDEBench's files: a small one of its layout, U-Nets under other names, rolled out as they would be by hand."""

import h5py
import numpy as np
import pytest
import torch

from networks import randomised
from physrank.lab.equations import ROLLOUTS
from physrank.lab.models import UNet
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


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("official")
    truth = np.random.default_rng(0).standard_normal((2, 101, 16, 16, 2)).astype(np.float32)
    with h5py.File(folder / "2D_diff-react_NA_NA.h5", "w") as file:
        for k, data in enumerate(truth):
            group = file.create_group(f"{k:04d}")
            group["data"] = data
            for name, line in (("x", np.linspace(-1, 1, 16)), ("y", np.linspace(-1, 1, 16)), ("t", EQUATION.times)):
                group[f"grid/{name}"] = line.astype(np.float32)
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
