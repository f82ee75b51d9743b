"""Training one run, epoch by epoch, so that it can stop anywhere and end with the same weights.

Needs the `lab` extra (`pip install .[lab]`).

After every epoch the weights and the optimiser's state are stored; the order of batches depends on the seed and the
epoch alone. One thread per run: sums come out alike however many runs share the machine.
"""

import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from physrank._io import write_bytes
from physrank.lab.libraries import AnyLibrary, Library, Profile, RolloutLibrary
from physrank.lab.models.networks import build
from physrank.lab.store import checkpoints, trajectories
from physrank.lab.store.files import StoreError, check_settings
from physrank.lab.store.locks import alone
from physrank.lab.training.lessons import Fields, Lessons, Windows
from physrank.models.weights import fill, tensors_of

Report = Callable[[int, float], None]  # epochs done, relative L² of the last one


def train_run(
    store: Path,
    profile: Profile,
    library: AnyLibrary,
    run: int,
    report: Report = lambda epoch, loss: None,
    stop: Callable[[], bool] = lambda: False,
) -> bool:
    """Train until both checkpoints exist; True when they do, False when `stop` asked for a pause.

    One trainer at a time: a second one in the same folder raises and changes nothing.
    """
    directory, settings = checkpoints.folder(store, profile, library, run), library.settings(profile, run)
    profile = library.sized(profile)
    if all(_stored(directory, profile, settings).values()):  # needs no lock, and so no permission to write one
        report(profile.epochs, float("nan"))
        return True
    with alone(directory, "training"):
        return _train(store, directory, settings, profile, library, run, report, stop)


def _stored(directory: Path, profile: Profile, settings: dict[str, Any]) -> dict[int, dict[str, Any] | None]:
    return {epoch: checkpoints.describe(directory, epoch, settings) for epoch in profile.checkpoints}


def _train(
    store: Path,
    directory: Path,
    settings: dict[str, Any],
    profile: Profile,
    library: AnyLibrary,
    run: int,
    report: Report,
    stop: Callable[[], bool],
) -> bool:
    stored = _stored(directory, profile, settings)
    if all(stored.values()):  # by another trainer, a moment ago
        report(profile.epochs, float("nan"))
        return True
    torch.set_num_threads(1)
    torch.manual_seed(settings["seed"])
    model = build(library, profile, run)
    optimizer = torch.optim.AdamW(
        model.parameters(), settings["learning_rate"], weight_decay=settings["weight_decay"], foreach=True
    )
    lessons = _lessons(store, profile, library, run, settings)
    known = lessons.sha256
    done = _resume(directory, model, optimizer, settings | {"data_sha256": known})
    _check_progress(directory, stored, done, known)
    report(done, float("nan"))
    for epoch in range(done + 1, profile.epochs + 1):
        if stop():
            return False
        started = time.perf_counter()
        loss = _epoch(model, optimizer, lessons, settings, epoch)
        if not np.isfinite(loss):
            raise RuntimeError(f"{library.name} run {run}: the loss became {loss} in epoch {epoch}.")
        if epoch in profile.checkpoints:
            facts = {
                "architecture": library.architecture,
                "equation": library.equation,
                "training_loss": loss,
                "validation_loss": lessons.validation(model),
                "data_sha256": known,
                "torch": torch.__version__,
                "seconds_last_epoch": time.perf_counter() - started,
            }
            checkpoints.save(directory, epoch, model, settings, facts)
        _keep(directory, model, optimizer, settings | {"data_sha256": known}, epoch)
        report(epoch, loss)
    (directory / "state.pt").unlink(missing_ok=True)
    return True


def _check_progress(directory: Path, stored: dict[int, dict[str, Any] | None], done: int, data_hash: str) -> None:
    """Checkpoints, the state to go on from and the data must belong together: nothing is overwritten otherwise."""
    half, full = sorted(stored)
    if not 0 <= done <= full:
        raise StoreError(f"{directory / 'state.pt'} is at epoch {done}; expected 0 to {full}. Delete {directory}.")
    if (done >= half or stored[full]) and not stored[half]:
        raise StoreError(
            f"{directory} is past epoch {half}, whose checkpoint is missing. Delete the folder to train this run anew."
        )
    for epoch, facts in stored.items():
        if facts and facts.get("data_sha256") != data_hash:
            raise StoreError(
                f"{directory} holds a checkpoint of epoch {epoch} trained on other data: the input law has changed. "
                "Use another --store, or delete the folder."
            )


def _lessons(store: Path, profile: Profile, library: AnyLibrary, run: int, settings: dict[str, Any]) -> Lessons:
    if isinstance(library, RolloutLibrary):
        equation = library.declared
        made = [trajectories.trajectories(store, library, profile, name) for name in ("training", "validation")]
        learnt, unseen = (torch.from_numpy(np.stack([equation.encoded(one) for one in several])) for several in made)
        return Windows(learnt, unseen, equation.networks[run], settings["windows"], equation.observed)
    learnt = data(library, "training", settings["first_training_input"], settings["training"])
    return Fields(*learnt, data(library, "validation", library.number * 256, settings["validation"]))


def data(library: Library, population: str, first: int, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Features and labels of unshifted inputs."""
    equation = library.declared
    cases = [equation.input.sample(population, first + k, "training") for k in range(count)]
    return torch.from_numpy(equation.features(cases)), torch.from_numpy(equation.labels(cases))


def _epoch(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    lessons: Lessons,
    settings: dict[str, Any],
    epoch: int,
) -> float:
    order = torch.Generator().manual_seed(settings["seed"] * 1000 + epoch)
    total = 0.0
    for batch in torch.randperm(lessons.count, generator=order).split(settings["batch"]):
        optimizer.zero_grad()
        loss = lessons.loss(model, batch, order)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / lessons.count


def _keep(
    directory: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer, settings: dict[str, Any], epoch: int
) -> None:
    state = {
        "epoch": epoch,
        "settings": settings,
        "model": tensors_of(model),
        "optimizer": optimizer.state_dict(),
    }
    content = io.BytesIO()  # written by Python, which says why a disk refuses; torch does not
    torch.save(state, content)
    write_bytes(directory / "state.pt", content.getbuffer())


def _resume(directory: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer, settings: dict[str, Any]) -> int:
    path = directory / "state.pt"
    if not path.exists():
        return 0
    try:
        state = torch.load(path, weights_only=True)  # tensors and plain numbers only: nothing executes
        check_settings(path, state["settings"], settings)
        fill(model, state["model"])
        optimizer.load_state_dict(state["optimizer"])
        return int(state["epoch"])
    except StoreError:
        raise
    except Exception as problem:  # torch reports damaged archives in many ways
        raise StoreError(f"{path} cannot be resumed from ({problem}). Delete it to train this run anew.") from None
