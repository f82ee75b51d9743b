"""`choose`: from models, inputs and their equation to the checkpoint to keep, in one call."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from physrank._arrays import Array
from physrank.models.choice import Choice, Price
from physrank.models.inference import Function, Inference, counted
from physrank.models.predict import Progress, named_models, predict, problem_of, reporting
from physrank.physics import Problem
from physrank.ranking import Ranking, Settled, UnresolvedError, race, rank_panel, select
from physrank.ranking.racing import drawn_order
from physrank.ranking.standing import rule_of
from physrank.tasks import Task


def choose(
    problems: Any,
    models: Any,
    inputs: Any,
    *,
    task: Task | None = None,
    until: str | Settled | None = None,
    encode: Function | Mapping[str, Function] | None = None,
    decode: Function | Mapping[str, Function] | None = None,
    batch: int = 32,
    progress: Progress = False,
    check: bool = True,
    invalid: str = "raise",
    confidence: float = 0.95,
    bound: float | None = None,
    seed: int = 0,
    **rank_options: Any,
) -> Choice:
    """Which of many models to keep, from unlabelled inputs and their governing equation.

    Main arguments: `problems`, one problem for each input or a function of an input; `models`, `inputs`, `encode`, `decode`,
    `batch`, `progress` and `check` as for `physrank.models.predict`; `task` as for `rank`. A model is given a batch, inputs
    along the first axis (`physrank.race` calls it with one input).

    `until="settled"` (or a `physrank.Settled(...)`) races the models: who cannot win any more is not run again, inputs
    are drawn in random order, and no more of them than the choice takes. Each model still in the race then runs on `batch`
    inputs ahead, so that a checkpoint is not read anew for every input. Without it every model runs on every input.

    Other arguments: `invalid="exclude"` goes on without models that yield NaN; `confidence`, `bound` and `seed` as for
    `select` and `race`; further keywords go to `rank`. Inputs whose physics does not converge decide nothing.

    ```python
    choice = pr.choose(problem_of, pr.models.checkpoints("run*/epoch*.safetensors", network), inputs)
    choice.best, choice.path, choice.stability
    ```
    """
    library, number = named_models(models), counted(inputs)
    how = Inference(encode, decode, batch, check, invalid)
    options: dict[str, Any] = {"task": task, "invalid": invalid} | rank_options
    if (rule := rule_of(until)) is not None:
        sure = {"confidence": confidence, "bound": bound, "seed": seed}
        return _raced(problems, library, inputs, how, rule, progress, sure | options)

    started = time.perf_counter()
    predictions = predict(
        library,
        inputs,
        problems=problems,
        encode=encode,
        decode=decode,
        batch=batch,
        progress=progress,
        check=check,
        invalid=invalid,
    )
    model_seconds = time.perf_counter() - started
    unresolved: dict[int, str] = {}
    solves = 0

    def resolved() -> Iterator[Ranking]:
        nonlocal solves
        stated = (problem_of(problems, inputs, k) for k in range(number))
        candidates = ({name: states[k] for name, states in predictions.items()} for k in range(number))
        for k, ranking in enumerate(rank_panel(stated, candidates, **options)):
            solves += ranking.scoring.solves
            if ranking.unresolved and not ranking.scoring.allow_unresolved:
                unresolved[k] = ranking.unresolved
            else:
                yield ranking

    started = time.perf_counter()
    rankings = list(resolved())
    if not rankings:
        raise UnresolvedError(f"No input to choose by: all {number} are unresolved: {next(iter(unresolved.values()))}")
    selection = select(rankings, bound=bound, confidence=confidence, seed=seed)
    spent = Price(number * len(library), 0, solves, model_seconds, time.perf_counter() - started)
    return Choice(selection.best, selection, spent, unresolved, library)


def _raced(
    problems: Any,
    library: Mapping[str, Any],
    inputs: Any,
    how: Inference,
    rule: Settled,
    progress: Progress,
    options: dict[str, Any],
) -> Choice:
    number = counted(inputs)
    with reporting(progress, number * len(library)) as report:
        ahead = _Ahead(library, inputs, how, drawn_order(number, options["seed"]), problems, report)
        runners = {name: ahead.model(name) for name in library}
        found = race(
            range(number),
            lambda position: problem_of(problems, inputs, position),
            runners,
            tolerance=rule.tolerance,
            reach=rule.reach,
            **options,
        )
    saved = number * len(library) - ahead.runs
    spent = Price(ahead.runs, saved, found.solves, ahead.seconds, found.seconds)
    return Choice(found.winner, found, spent, found.unresolved, library)


class _Ahead:
    """Models that run on a batch of the inputs to come, so that each checkpoint is read once for all of them."""

    def __init__(
        self,
        library: Mapping[str, Any],
        inputs: Any,
        how: Inference,
        order: list[int],
        problems: Any,
        report: Callable[[str, int], None],
    ):
        self.library, self.inputs, self.how, self.order = library, inputs, how, order
        self.problems, self.report = problems, report
        self.known: dict[str, dict[int, Array]] = {name: {} for name in library}
        self.runs, self.seconds = 0, 0.0

    def model(self, name: str) -> Callable[[int], Array]:
        return lambda position: self(name, position)

    def __call__(self, name: str, position: int) -> Array:
        known = self.known[name]
        if position not in known:
            known.clear()  # the order is read once: what came before is not asked for again
            place = self.order.index(position)
            coming = self.order[place : place + self.how.batch]
            started = time.perf_counter()
            problem: Problem | None = problem_of(self.problems, self.inputs, position)
            states = self.how.states(
                name, self.library[name], self.inputs, coming, problem, lambda count: self.report(name, count)
            )
            self.seconds += time.perf_counter() - started
            self.runs += len(coming)
            known |= dict(zip(coming, np.asarray(states), strict=True))
        return known[position]
