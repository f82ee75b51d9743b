"""Makes the demo's data from trained libraries: predictions of four of them on inputs of the demo population.

    physrank train primary --profile laptop && python -m physrank.lab.demo_library [--store STORE]

Needs the `lab` extra (`pip install .[lab]`). What it writes ships with the package, so the demo itself needs none of this.
"""

import argparse
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import torch

from physrank._io import write_json
from physrank._version import __version__
from physrank.lab import demo
from physrank.lab.inputs.streams import ROOT_SEED
from physrank.lab.libraries import LIBRARIES, PROFILES, RUNS, Profile, equations_of
from physrank.lab.models.networks import build
from physrank.lab.store import checkpoints
from physrank.lab.store.files import sha256, write_arrays
from physrank.lab.training.lessons import predict

INPUTS = 12  # per equation, four of each stratum


def collect(store: Path, profile: Profile) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays to ship, and what is known about them."""
    arrays: dict[str, np.ndarray] = {}
    bars: dict[str, float] = {}
    for equation in equations_of(LIBRARIES[name] for name in demo.LIBRARIES):
        cases = equation.population("demo", INPUTS)
        for field in dataclasses.fields(cases[0]):
            arrays[f"{equation.name} {field.name}"] = np.array([getattr(case, field.name) for case in cases])
        references = equation.references(cases, "first")
        arrays[f"{equation.name} reference"] = np.stack([r.fine for r in references])
        bars[equation.name] = max(r.difference for r in references)
    for name in demo.LIBRARIES:
        library = LIBRARIES[name]
        equation = library.declared
        inputs = torch.from_numpy(equation.features(equation.population("demo", INPUTS)))
        states, losses = [], []
        for _, run, epoch in library.candidates(profile):
            model = build(library, profile)
            directory = checkpoints.folder(store, profile, library, run)
            facts = checkpoints.load(directory, epoch, model, library.settings(profile, run))
            states.append(equation.states(predict(model, inputs)))
            losses.append(facts["validation_loss"])
        arrays[f"{name} predictions"] = np.stack(states, axis=1)
        arrays[f"{name} validation_loss"] = np.array(losses)
        arrays[f"{name} names"] = np.array([candidate for candidate, _, _ in library.candidates(profile)])
    settings = {name: [LIBRARIES[name].settings(profile, run) for run in range(RUNS)] for name in demo.LIBRARIES}
    return arrays, {"profile": profile.name, "settings": settings, "reference_refinement_difference": bars}


def main() -> None:
    parser = argparse.ArgumentParser(description="Store what the demo ships: predictions of trained libraries.")
    parser.add_argument("--store", type=Path, default=Path("store"))
    parser.add_argument("--profile", default="laptop", choices=list(PROFILES))
    parser.add_argument("--out", type=Path, default=demo.DATA)
    given = parser.parse_args()
    arrays, known = collect(given.store, PROFILES[given.profile])
    write_arrays(given.out, arrays, compressed=True)
    manifest = {
        "made_by": "python -m physrank.lab.demo_library",
        "physrank": __version__,
        "torch": torch.__version__,
        "root_seed": ROOT_SEED,
        **known,
        "sha256": sha256(given.out),
    }
    write_json(given.out.with_suffix(".json"), manifest)
    print(f"wrote {given.out} ({given.out.stat().st_size / 1e6:.2f} MB)")


if __name__ == "__main__":
    main()
