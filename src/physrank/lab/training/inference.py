"""From checkpoints to stored predictions, with the library's admission checked on the way.

Needs the `lab` extra (`pip install .[lab]`).
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from physrank.lab.inputs import shifted_strata
from physrank.lab.libraries import Library, Profile
from physrank.lab.models.networks import build
from physrank.lab.store import checkpoints, predictions
from physrank.lab.store.files import StoreError, digest
from physrank.lab.training.run import predict


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
        equation, number = library.declared, predictions.count(profile, name)
        features = equation.features(equation.population(name, number), equation.grid_of(realization)[-1])
        inputs, emitted, losses = torch.from_numpy(features), [], []
        for _, run, epoch in library.candidates(profile):
            model = build(library, profile)
            directory = checkpoints.folder(store, profile, library, run)
            facts = checkpoints.load(directory, epoch, model, library.settings(profile, run))
            emitted.append(predict(model, inputs))
            losses.append(float(facts["validation_loss"]))
        stacked, strata = np.stack(emitted, axis=1), shifted_strata(number)
        admit(library, stacked, losses, equation.constraint.violation(stacked, features))
        states, weights = equation.states(stacked), _weights(store, profile, library)
        predictions.write(store, profile, library, name, realization, states, strata, losses, weights)


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
