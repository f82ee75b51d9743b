"""Makes the demo's data: a small FNO library for reaction–diffusion, its predictions, and a reference.

    python -m physrank.lab.demo_library [--out FILE]

Four seeds, each trained on its own 512 inputs, checkpoints at half and full training: eight candidates, predicting 24
inputs shifted away from the training distribution. Needs the `lab` extra (`pip install .[lab]`) and prints its progress.
What it writes ships with the package, so the demo itself needs none of this.
"""

import argparse
import hashlib
import json
import time
from pathlib import Path

import numpy as np
import torch
from neuralop.models import FNO

from physrank._version import __version__
from physrank.geometry.space import Array
from physrank.lab.inputs import ReactionDiffusionInput
from physrank.lab.inputs.streams import ROOT_SEED, shifted_strata
from physrank.lab.references import chebyshev as reference

SETTINGS = {
    "nodes": 34,
    "seeds": [0, 1, 2, 3],
    "training_inputs": 512,
    "validation_inputs": 64,
    "epochs": 20,
    "checkpoints": [10, 20],
    "batch": 32,
    "learning_rate": 2e-3,
    "weight_decay": 1e-4,
    "width": 16,
    "modes": [12, 12],
    "layers": 4,
    "inputs": 24,
    "label_points": 24,
    "reference_points": 40,
}


def features(cases: list[ReactionDiffusionInput]) -> torch.Tensor:
    """Channels a, f, λ, γ on the training grid, brought to order one."""
    x = np.linspace(0, 1, SETTINGS["nodes"])
    grid = np.meshgrid(x, x, indexing="ij")
    rows = [
        np.stack(
            [
                case.diffusion(*grid) - 1.25,
                case.forcing(*grid) / 10,
                np.full_like(grid[0], case.linear - 1.1),
                np.full_like(grid[0], case.cubic - 0.65),
            ]
        )
        for case in cases
    ]
    return torch.tensor(np.stack(rows), dtype=torch.float32)


def labels(cases: list[ReactionDiffusionInput]) -> torch.Tensor:
    x = np.linspace(0, 1, SETTINGS["nodes"])
    fields = [reference.evaluate(reference.solve(case, SETTINGS["label_points"], rtol=1e-9), x) for case in cases]
    return torch.tensor(np.stack(fields)[:, None], dtype=torch.float32)


def boundary_factor() -> torch.Tensor:
    """16 x(1−x) y(1−y): the network's output times this vanishes on the boundary by construction."""
    x = torch.linspace(0, 1, SETTINGS["nodes"])
    bump = 4 * x * (1 - x)
    return bump[:, None] * bump[None, :]


def train(seed: int, inputs: torch.Tensor, targets: torch.Tensor) -> list[FNO]:
    """One run; returns the model at each checkpoint epoch."""
    torch.manual_seed(seed)
    model = build()
    optimizer = torch.optim.AdamW(model.parameters(), SETTINGS["learning_rate"], weight_decay=SETTINGS["weight_decay"])
    factor, snapshots = boundary_factor(), []
    for epoch in range(1, SETTINGS["epochs"] + 1):
        started, total = time.perf_counter(), 0.0
        for batch in torch.randperm(len(inputs)).split(SETTINGS["batch"]):
            optimizer.zero_grad()
            error = factor * model(inputs[batch]) - targets[batch]
            loss = torch.mean(error.flatten(1).norm(dim=1) / targets[batch].flatten(1).norm(dim=1))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        print(
            f"seed {seed} epoch {epoch:2d}: relative L2 {total / len(inputs):.4f} ({time.perf_counter() - started:.1f} s)",
            flush=True,
        )
        if epoch in SETTINGS["checkpoints"]:
            snapshot = build()
            snapshot.load_state_dict(model.state_dict())
            snapshots.append(snapshot)
    return snapshots


def build() -> FNO:
    return FNO(
        n_modes=tuple(SETTINGS["modes"]),
        in_channels=4,
        out_channels=1,
        hidden_channels=SETTINGS["width"],
        n_layers=SETTINGS["layers"],
    )


def predict(model: FNO, inputs: torch.Tensor) -> Array:
    model.eval()
    with torch.no_grad():
        return (boundary_factor() * model(inputs))[:, 0].numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the demo library and store its predictions.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "data" / "demo_reaction_diffusion.npz")
    out = parser.parse_args().out
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)
    sample = ReactionDiffusionInput.sample
    demo = [sample("demo", k, stratum) for k, stratum in enumerate(shifted_strata(SETTINGS["inputs"]))]
    validation = [sample("validation", k, "training") for k in range(SETTINGS["validation_inputs"])]
    validation_inputs, validation_targets = features(validation), labels(validation)
    names, predictions, losses = [], [], []
    for seed in SETTINGS["seeds"]:
        started = time.perf_counter()
        first = seed * SETTINGS["training_inputs"]
        cases = [sample("training", first + k, "training") for k in range(SETTINGS["training_inputs"])]
        inputs, targets = features(cases), labels(cases)
        print(f"seed {seed}: labels in {time.perf_counter() - started:.0f} s", flush=True)
        for epoch, model in zip(SETTINGS["checkpoints"], train(seed, inputs, targets), strict=True):
            names.append(f"fno-s{seed}-e{epoch}")
            predictions.append(predict(model, features(demo)))
            error = predict(model, validation_inputs) - validation_targets[:, 0].numpy()
            losses.append(
                float(
                    np.mean(np.sum(error**2, axis=(1, 2)) / np.sum(validation_targets[:, 0].numpy() ** 2, axis=(1, 2)))
                )
            )
    points = SETTINGS["reference_points"]
    fine = np.stack([reference.solve(case, points) for case in demo])
    coarse = np.stack([reference.solve(case, points - 8) for case in demo])
    uniform = np.linspace(0, 1, 130)
    bar = max(
        np.abs(reference.evaluate(a, uniform) - reference.evaluate(b, uniform)).max()
        for a, b in zip(fine, coarse, strict=True)
    )
    arrays = {
        "names": np.array(names),
        "predictions": np.stack(predictions, axis=1).astype(np.float32),
        "validation_loss": np.array(losses),
        "diffusion_coefficients": np.stack([case.diffusion_coefficients for case in demo]),
        "forcing_coefficients": np.stack([case.forcing_coefficients for case in demo]),
        "linear": np.array([case.linear for case in demo]),
        "cubic": np.array([case.cubic for case in demo]),
        "stratum": np.array([case.stratum for case in demo]),
        "reference": fine,
    }
    np.savez_compressed(out, **arrays)
    manifest = {
        "made_by": "python -m physrank.lab.demo_library",
        "physrank": __version__,
        "torch": torch.__version__,
        "settings": SETTINGS,
        "root_seed": ROOT_SEED,
        "reference_refinement_difference": float(bar),
        "sha256": hashlib.sha256(out.read_bytes()).hexdigest(),
    }
    out.with_suffix(".json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    print(f"wrote {out} ({out.stat().st_size / 1e6:.2f} MB)")


if __name__ == "__main__":
    main()
