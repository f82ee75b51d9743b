"""From checkpoints to stored predictions, with the library's admission checked on the way.

Needs the `lab` extra (`pip install .[lab]`).
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from physrank.lab.files import StoreError, digest
from physrank.lab.inputs import shifted_strata
from physrank.lab.libraries import checkpoints, predictions
from physrank.lab.libraries.networks import build
from physrank.lab.libraries.plan import Library, Profile
from physrank.lab.libraries.setups import SETUPS, population
from physrank.lab.libraries.training import predict


def store_predictions(
    store: Path,
    profile: Profile,
    library: Library,
    progress: Callable[[str], None] = lambda name: None,
) -> None:
    """Run every checkpoint on every population that is not stored yet; refuse a library that is not admissible."""
    for name, realization in predictions.wanted(library):
        target = predictions.path(store, profile, library, name, realization)
        if target.exists():
            stored = predictions.read(store, profile, library, name, realization)  # the right one, or an error
            if stored.attrs.get("weights") != digest(_weights(store, profile, library)):
                raise StoreError(
                    f"{target} was not made with the checkpoints beside it. Delete it to predict with these, or bring "
                    "back the checkpoints it came from."
                )
            continue
        progress(f"{library.name}: {name}, {realization}")
        setup, number = SETUPS[library.equation], predictions.count(profile, name)
        cases = population(library.equation, name, number)
        points = _comparison_points(library) if realization == "reinferred" else None
        inputs = torch.from_numpy(setup.features(cases, points))
        fields, losses = [], []
        for _, run, epoch in library.candidates(profile):
            model = build(library, profile)
            directory = checkpoints.folder(store, profile, library, run)
            facts = checkpoints.load(directory, epoch, model, library.settings(profile, run))
            fields.append(predict(model, inputs)[:, 0])
            losses.append(float(facts["validation_loss"]))
        stacked, strata = np.stack(fields, axis=1), shifted_strata(number)
        admit(library, stacked, losses, predictions.constraint_violation(library, stacked, cases))
        weights = _weights(store, profile, library)
        predictions.write(store, profile, library, name, realization, stacked, strata, losses, weights)


def _weights(store: Path, profile: Profile, library: Library) -> list[str]:
    """The hash of every checkpoint of a library, each checked against its file."""
    found = []
    for _, run, epoch in library.candidates(profile):
        settings = library.settings(profile, run)
        facts = checkpoints.describe(checkpoints.folder(store, profile, library, run), epoch, settings)
        found.append(facts["sha256"] if facts else "")
    return found


def admit(library: Library, fields: np.ndarray, losses: list[float], violation: float) -> None:
    """Finite predictions and metrics, in-distribution relative L² of at most one, exact constraints."""
    if not np.isfinite(fields).all() or not np.isfinite(losses).all():
        raise StoreError(f"{library.name} is not admitted: a prediction or a validation loss is not finite.")
    if max(losses) > 1:
        raise StoreError(f"{library.name} is not admitted: validation relative L² {max(losses):.3f} exceeds 1.")
    if violation != 0:
        raise StoreError(
            f"{library.name} is not admitted: constraints are violated by {violation:.1e}; expected exact."
        )


def _comparison_points(library: Library) -> int:
    diagnostic = SETUPS[library.equation].diagnostic
    return diagnostic + 2 if library.equation == "reaction_diffusion" else diagnostic
