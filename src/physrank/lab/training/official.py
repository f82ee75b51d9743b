"""Rollouts of PDEBench's own U-Nets on its own file, stored input by input. Needs the `lab` extra (`pip install .[lab]`)."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from physrank import models, readers
from physrank._io import write_json
from physrank.lab.equations import Rollout
from physrank.lab.models.stepping import Stepper
from physrank.lab.models.unet import DEPTH, UNet
from physrank.lab.store.files import StoreError, digest, sha256, write_arrays
from physrank.lab.training.lessons import rolled

PAPERS = range(901, 1000)  # the inputs of the official split that the paper reports
KINDS = (".pt", ".pth", ".tar", ".safetensors")


def roll_out(
    store: Path,
    equation: Rollout,
    data: Path,
    checkpoints: Path,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Path:
    """The folder of stored rollouts, of those inputs that the paper reports, or of all where the file has fewer."""
    files = sorted(path for path in checkpoints.iterdir() if path.suffix in KINDS)
    if len(files) < 2:
        raise StoreError(f"{checkpoints} holds {len(files)} checkpoints ({', '.join(KINDS)}); expected at least two.")
    steppers = {path.stem: unet(path, equation) for path in files}
    source = readers.read(data, "pdebench")
    chosen = [k for k in PAPERS if k < source.samples] or list(range(source.samples))
    said = {
        "equation": equation.name,
        "data": {"name": data.name, "bytes": data.stat().st_size},
        "candidates": {path.stem: sha256(path) for path in files},
        "inputs": [f"{k:04d}" for k in chosen],
    }
    folder = store / "official" / digest(said)
    for done, k in enumerate(chosen):
        target = folder / f"{k:04d}.npz"
        if not target.exists():
            truth = np.asarray(source.state(k), np.float32)
            write_arrays(target, {"truth": truth, **_rollouts(steppers, equation, truth, data)})
        progress(f"{equation.title}: rollouts", done + 1, len(chosen))
    write_json(folder / "rollouts.json", said)
    return folder


def _rollouts(steppers: dict[str, Stepper], equation: Rollout, truth: np.ndarray, data: Path) -> dict[str, np.ndarray]:
    if truth.shape[:2] != (len(equation.times), equation.channels):
        raise StoreError(
            f"{data} holds trajectories {truth.shape}; expected {len(equation.times)} frames of {equation.channels} channels."
        )
    seen, first = torch.from_numpy(truth[None, : equation.observed]), truth[equation.observed - 1 : equation.observed]
    steps = len(equation.compared) - 1
    return {name: np.concatenate([first, rolled(step, seen, steps)[0].numpy()]) for name, step in steppers.items()}


def unet(path: Path, equation: Rollout) -> Stepper:
    """A U-Net from PDEBench's weights; its width and the frames it sees are read off its first layer."""
    given = list(models.load(path).items())
    first = given[0][1]
    if first.ndim != 4 or first.shape[1] % equation.channels:
        raise StoreError(f"{path}: its first layer is {tuple(first.shape)}; expected a U-Net for {equation.title}.")
    features, seen = int(first.shape[0]), int(first.shape[1])
    network = UNet(seen, equation.channels, features=features)
    own, order = network.state_dict(), list(_in_their_order(network))
    shapes = [(tuple(tensor.shape), tuple(own[name].shape)) for (_, tensor), name in zip(given, order, strict=False)]
    if len(given) != len(order) or any(theirs != ours for theirs, ours in shapes):
        wrong = next((k for k, (theirs, ours) in enumerate(shapes) if theirs != ours), len(shapes) - 1)
        raise StoreError(
            f"{path} is no such U-Net: {len(given)} tensors, expected {len(order)}; {given[wrong][0]} has shape "
            f"{shapes[wrong][0]}, expected {shapes[wrong][1]}."
        )
    network.load_state_dict({name: tensor for (_, tensor), name in zip(given, order, strict=True)})
    return Stepper(network, seen // equation.channels).eval()


def _in_their_order(network: UNet) -> Iterator[Any]:
    """Our names in the order in which PDEBench's network holds its tensors: every way up is followed by its decoder."""
    upward = [f"{part}.{level}." for level in range(DEPTH) for part in ("up", "decoder")]
    for prefix in ("encoder.", "bottleneck.", *upward, "head."):
        yield from (name for name in network.state_dict() if name.startswith(prefix))
