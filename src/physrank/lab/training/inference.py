"""From checkpoints to stored predictions, with the library's admission checked on the way.

Needs the `lab` extra (`pip install .[lab]`).
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch

from physrank.lab.libraries import AnyLibrary, Library, Profile, RolloutLibrary
from physrank.lab.models.networks import build
from physrank.lab.store import checkpoints, predictions, trajectories
from physrank.lab.store.files import StoreError, digest
from physrank.lab.training.lessons import predict, rolled


def store_predictions(
    store: Path,
    profile: Profile,
    library: AnyLibrary,
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
        made = _rollouts if isinstance(library, RolloutLibrary) else _fields
        states, losses, violation = made(store, profile, library, name, realization)  # pyright: ignore[reportArgumentType]
        admit(library, states, losses, violation)
        strata, weights = library.strata(len(states)), _weights(store, profile, library)
        predictions.write(store, profile, library, name, realization, states, strata, losses, weights)


Made = tuple[
    np.ndarray, list[float], float
]  # states (inputs, candidates, *state), validation losses, constraint violation


def _fields(store: Path, profile: Profile, library: Library, name: str, realization: str) -> Made:
    equation, number = library.declared, predictions.count(profile, name)
    features = equation.features(equation.population(name, number), equation.grid_of(realization)[-1])
    inputs, emitted, losses = torch.from_numpy(features), [], []
    for model, loss in _trained(store, profile, library):
        emitted.append(predict(model, inputs))
        losses.append(loss)
    stacked = np.stack(emitted, axis=1)
    return equation.states(stacked), losses, equation.constraint.violation(stacked, features)


def _rollouts(store: Path, profile: Profile, library: RolloutLibrary, name: str, realization: str) -> Made:
    del realization
    equation, true = library.declared, trajectories.trajectories(store, library, profile, name)
    seen = torch.from_numpy(np.stack([equation.encoded(one[: equation.observed]) for one in true]))
    emitted, losses, first = [], [], true[:, equation.observed - 1 : equation.observed]
    for model, loss in _trained(store, profile, library):
        ahead = rolled(model, seen, len(equation.compared) - 1).numpy()
        emitted.append(np.concatenate([first, np.stack([equation.decoded(one) for one in ahead])], axis=1))
        losses.append(loss)
    stacked = np.stack(emitted, axis=1)
    return stacked, losses, float(np.abs(stacked[:, :, 0] - first).max())


def _trained(store: Path, profile: Profile, library: AnyLibrary) -> Iterator[tuple[torch.nn.Module, float]]:
    """Every candidate's network with its validation loss."""
    for _, run, epoch in library.candidates(profile):
        model = build(library, profile, run)
        directory = checkpoints.folder(store, profile, library, run)
        facts = checkpoints.load(directory, epoch, model, library.settings(profile, run))
        yield model, float(facts["validation_loss"])


def _weights(store: Path, profile: Profile, library: AnyLibrary) -> list[str]:
    """The hash of every checkpoint of a library, each checked against its file."""
    found = []
    for _, run, epoch in library.candidates(profile):
        settings = library.settings(profile, run)
        facts = checkpoints.describe(checkpoints.folder(store, profile, library, run), epoch, settings)
        found.append(facts["sha256"] if facts else "")
    return found


def admit(library: AnyLibrary, fields: np.ndarray, losses: list[float], violation: float) -> None:
    """Finite predictions and metrics, in-distribution relative L² of at most one, exact constraints."""
    if not np.isfinite(fields).all() or not np.isfinite(losses).all():
        raise StoreError(f"{library.name} is not admitted: a prediction or a validation loss is not finite.")
    if max(losses) > 1:
        raise StoreError(f"{library.name} is not admitted: validation relative L² {max(losses):.3f} exceeds 1.")
    if violation != 0:
        raise StoreError(
            f"{library.name} is not admitted: constraints are violated by {violation:.1e}; expected exact."
        )
