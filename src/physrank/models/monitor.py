"""A monitor for training loops: physics scores of the newest checkpoint without labels, and the best ones kept."""

import hashlib
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from physrank._arrays import Array, not_finite
from physrank.models.diary import Diary
from physrank.models.inference import Function, Inference, counted
from physrank.models.predict import problem_of
from physrank.models.running import is_module
from physrank.models.weights import fill, load, save, tensors_of
from physrank.ranking import Ranking, Selection, rank_panel, select
from physrank.tasks import Task


class PhysicsMonitor:
    """Scores a model in training by its governing equation, without labels, and keeps the best checkpoints.

    Main arguments: `problems`, one for each input or a function of an input; `inputs`, an unlabelled panel (a dozen will
    do); `folder`, where the best `keep` checkpoints (`epoch7.safetensors`), `history.csv` and `monitor.json` are written,
    each whole or not at all. A monitor made on a folder that has these goes on where they end.

    Other arguments: `encode`, `decode`, `batch` and `check` as for `physrank.models.predict`; `task` and further keywords
    as for `rank`.

    ```python
    monitor = pr.models.PhysicsMonitor(problem_of, inputs, "runs/monitor")
    for epoch in range(epochs):
        train_one_epoch(model)
        print(monitor.step(model, epoch)["error_estimate"], monitor.best)
    monitor.load_best(model)
    ```
    """

    def __init__(
        self,
        problems: Any,
        inputs: Any,
        folder: str | os.PathLike[str],
        *,
        keep: int = 3,
        task: Task | None = None,
        encode: Function | Mapping[str, Function] | None = None,
        decode: Function | Mapping[str, Function] | None = None,
        batch: int = 32,
        check: bool = True,
        **rank_options: Any,
    ):
        if isinstance(keep, bool) or not isinstance(keep, int) or keep < 1:
            raise ValueError(f"keep must be a whole number of checkpoints, at least 1; got {keep!r}.")
        self.inputs, self.keep = inputs, keep
        self.problems = [problem_of(problems, inputs, k) for k in range(counted(inputs))]
        self.how = Inference(encode, decode, batch, check, invalid="exclude")
        self.options: dict[str, Any] = {"task": task} | rank_options
        self.diary = Diary(Path(folder), _digest(self.problems))
        self._states: dict[int, Array] = {}  # predictions of the kept checkpoints

    @property
    def history(self) -> list[dict[str, Any]]:
        """One record for each epoch seen."""
        return self.diary.history

    @property
    def kept(self) -> dict[int, Path]:
        """Epoch → weights of the checkpoints that are kept, best first."""
        return {epoch: self.diary.weights(epoch) for epoch in self.diary.kept}

    @property
    def best(self) -> int | None:
        """The epoch of the best checkpoint so far."""
        return self.diary.kept[0] if self.diary.kept else None

    def load_best(self, model: Any) -> Any:
        """Fill `model` with the best checkpoint's weights."""
        if self.best is None:
            raise ValueError("No checkpoint is kept yet: call step(model, epoch) first.")
        path = self.diary.weights(self.best)
        return fill(model, load(path), str(path))

    def step(self, model: Any, epoch: int, **logged: Any) -> dict[str, Any]:
        """Score the model as it is now beside the checkpoints kept; returns the record, with `logged` in it.

        `score` is the mean squared task error as the equation estimates it, `error_estimate` its root. A model that yields
        NaN, or inputs on which the physics does not converge, end no training: the record says so in `note`.
        """
        if not is_module(model):
            raise ValueError(f"step needs the torch.nn.Module in training; got {model!r:.60}.")
        if isinstance(epoch, bool) or not isinstance(epoch, int) or epoch < 0:
            raise ValueError(f"epoch must be a whole number ≥ 0; got {epoch!r}.")
        started = time.perf_counter()
        self.diary.forget_from(epoch)  # a loop that was resumed from before does these epochs again
        notes = self._recall(model)
        states = self.how.states(f"epoch {epoch}", model, self.inputs, range(len(self.problems)), self.problems[0])
        record = {"epoch": epoch, **logged}
        order = list(self.diary.kept)
        if bad := not_finite(states):
            notes.append(f"not scored: it yields {bad}")
        else:
            found, why = self._scored(self._states | {epoch: states})
            notes += [why] if why else []
            record |= _figures(found, epoch)
            order = [int(name) for name in found.selection.order] if found.selection else [*order, epoch]
        order = order[: self.keep]
        record |= {"kept": epoch in order, "best": order[0] if order else None}
        record |= {"seconds": time.perf_counter() - started, "note": "; ".join(notes)}
        if epoch in order:
            save(self.diary.weights(epoch), model)
        self.diary.write(order, record)
        self._states = {kept: (self._states | {epoch: states})[kept] for kept in order}
        return record

    def _scored(self, states: Mapping[int, Array]) -> tuple["_Found", str]:
        libraries = ({str(epoch): batch[k] for epoch, batch in states.items()} for k in range(len(self.problems)))
        rankings = list(rank_panel(self.problems, libraries, **self.options))
        resolved = [ranking for ranking in rankings if not ranking.unresolved]
        left = [ranking.unresolved for ranking in rankings if ranking.unresolved]
        why = f"{len(left)} of {len(rankings)} inputs decide nothing: {left[0]}" if left else ""
        return _Found(resolved, select(resolved) if resolved else None), why

    def _recall(self, model: Any) -> list[str]:
        """Predictions of checkpoints that an earlier process kept: their weights pass through the model and out again."""
        absent = [epoch for epoch in self.diary.kept if epoch not in self._states]
        gone = [epoch for epoch in absent if not self.diary.weights(epoch).is_file()]
        self.diary.kept = [epoch for epoch in self.diary.kept if epoch not in gone]
        if len(absent) > len(gone):
            own = {name: tensor.clone() for name, tensor in tensors_of(model).items()}
            try:
                for epoch in (epoch for epoch in absent if epoch not in gone):
                    path = self.diary.weights(epoch)
                    fill(model, load(path), str(path))
                    self._states[epoch] = self.how.states(path.name, model, self.inputs, range(len(self.problems)))
            finally:
                fill(model, own)
        self._states = {epoch: self._states[epoch] for epoch in self.diary.kept}
        return [f"the weights of epoch {epoch} are gone" for epoch in gone]

    def __repr__(self) -> str:
        kept = ", ".join(map(str, self.diary.kept)) or "none"
        return f"PhysicsMonitor({len(self.problems)} inputs, {len(self.history)} epochs seen, best first: {kept})"


class _Found:
    """The rankings that decide, and what they choose together."""

    def __init__(self, rankings: list[Ranking], selection: Selection | None):
        self.rankings, self.selection = rankings, selection


def _figures(found: _Found, epoch: int) -> dict[str, Any]:
    if found.selection is None:
        return {}
    place = found.selection.names.index(str(epoch))
    score = float(found.selection.mean_scores[place])
    return {
        "score": score,
        "error_estimate": score**0.5,
        "relative_error": float(np.mean([ranking.relative_errors[place] for ranking in found.rankings])),
        "stability": found.selection.stability,
        "inputs": len(found.rankings),
        "settled_inputs": sum(ranking.best_settled for ranking in found.rankings),
    }


def _digest(problems: Iterable[Any]) -> str:
    """What tells one panel from another: the numbers of its problems."""
    known = hashlib.sha256()
    for problem in problems:
        known.update(type(problem).__name__.encode())
        for leaf in jax.tree.leaves(problem):
            if hasattr(leaf, "dtype"):
                known.update(np.asarray(leaf).tobytes())
    return known.hexdigest()
