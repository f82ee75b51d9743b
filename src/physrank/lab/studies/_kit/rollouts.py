"""Rolled-out candidates with the trajectories they should have followed: of our own networks, or of a user's files."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from physrank.geometry.space import Array
from physrank.lab.libraries import RolloutLibrary
from physrank.lab.store import predictions, trajectories
from physrank.lab.store.files import StoreError, read_arrays, read_json
from physrank.lab.studies._kit.cases import Context, stacked

Case = tuple[
    Array, dict[str, Array]
]  # the trajectory in the data's variables, and candidates from its last observed frame


@dataclass(frozen=True)
class Rollouts:
    """Inputs with their candidates; `of(k)` reads one, `content` is what results depend on."""

    names: tuple[str, ...]
    inputs: tuple[str, ...]
    content: dict[str, Any]
    of: Callable[[int], Case]
    official: bool = False


def of_library(context: Context, library: RolloutLibrary) -> Rollouts:
    """What `physrank train` stored."""
    data = predictions.read(context.store, context.profile, library, library.instances)
    true = trajectories.trajectories(context.store, library, context.profile, library.instances)
    names = tuple(map(str, data["candidate"].values))
    known = predictions.content(context.store, context.profile, library, library.instances)
    return Rollouts(
        names=names,
        inputs=tuple(map(str, range(len(true)))),
        content=known | {"truth": hashlib.sha256(true.tobytes()).hexdigest()},
        of=lambda k: (true[k], dict(zip(names, data["prediction"].values[k], strict=True))),
    )


def of_files(folder: Path) -> Rollouts:
    """What `lab.training.official` rolled out from a user's data and checkpoints."""
    said = read_json(folder / "rollouts.json")
    names, inputs = tuple(said["candidates"]), tuple(said["inputs"])
    if missing := [name for name in inputs if not (folder / f"{name}.npz").exists()]:
        raise StoreError(f"{folder} lacks the rollouts of {len(missing)} inputs, the first is {missing[0]}.")

    def of(k: int) -> Case:
        found = read_arrays(folder / f"{inputs[k]}.npz")
        return found["truth"], {name: found[name] for name in names}

    return Rollouts(names, inputs, said, of, official=True)


def cached(context: Context, what: str, rollouts: Rollouts, make: Callable[..., dict[str, Array]], **more: Any) -> Any:
    """`make(truth, candidates)` of every input, each stored on its own, so that an interrupted study goes on; stacked over
    inputs."""
    keys = [{"content": rollouts.content, "input": name, **more} for name in rollouts.inputs]
    missing = [k for k, key in enumerate(keys) if not context.has(what, key)]
    made = context.each(what, make, (rollouts.of(k) for k in missing), len(missing))
    new = {k: context.cached(what, keys[k], lambda found=found: found) for k, found in zip(missing, made, strict=True)}
    return stacked(new[k] if k in new else context.cached(what, key, dict) for k, key in enumerate(keys))
