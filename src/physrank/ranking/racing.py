"""`race`: which of many models to keep, with as few inputs, inferences and solves as that takes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import closing
from typing import Any

import numpy as np

from physrank.geometry.space import Array
from physrank.physics import Problem
from physrank.ranking.block import Failed, Failing, failing_of
from physrank.ranking.candidates import is_handle
from physrank.ranking.duels import Duels
from physrank.ranking.heats import Ahead, Heat, Here, Part
from physrank.ranking.race import Dropped, Race
from physrank.ranking.scores import Scores
from physrank.ranking.standing import Settled, error_of, stand
from physrank.tasks import Task


def race(
    inputs: Iterable[Any],
    problem_of: Callable[[Any], Problem],
    models: Mapping[str, Callable[[Any], Any]],
    *,
    task: Task | None = None,
    confidence: float = 0.95,
    tolerance: float = 0.05,
    reach: float = 1.0,
    bound: float | None = None,
    seed: int | None = 0,
    failing: Failing | None = None,
    client: Any = None,
    progress: Callable[[int, int | None], None] | None = None,
    **rank_options: Any,
) -> Race:
    """Race models over inputs: who cannot win any more is not run again, and the race ends when the winner is settled.

    Main arguments: `inputs`, anything to iterate over, or a handle to a file with inputs along its first axis;
    `problem_of(input)`, its governing equation; `models`, a mapping name → callable(input) → prediction; `task`, as for
    `rank`. What is minimised is the mean score, as in `select`. Each model is called with one input as it stands; networks
    and checkpoints, which take batches, race in `choose(..., until="settled")`.

    Other arguments: `confidence` of the verdict; `tolerance`, an excess of the mean score that would not matter, as a share
    of the better one's; `seed` of the order in which a panel of known length is read (None: as it stands; the verdict then
    rests on that order being random); `client`, of `dask.distributed`: its workers run models and physics, some inputs ahead
    (again where a model was dropped meanwhile), and the race is the local one bit for bit; `failing`: an input on which a
    model or the problem fails must "raise", or "report" itself in `unresolved` and decide nothing (default with a client);
    `progress(done, total)` is called after every input, with None where the length cannot be seen; further keywords go to
    `rank`.

    A panel of known length is judged as a panel: the verdict is about the choice that all its inputs would make. Anything
    else, such as a generator, is a stream of independent draws, and the verdict is about their population. With the stated
    confidence the verdict is right, unless an unread input gives a candidate a lead over another of more than `reach` times
    its largest lead so far (or than their root-mean-square difference, if that is larger). `bound`, a number that no score
    can exceed, stated by you, replaces this condition and costs more inputs. The uncertainty of each input's own ranking
    widens what is known; inputs that are unresolved decide nothing.

    ```python
    race = pr.race(inputs, problem_of, {"fno": fno, "cno": cno})
    print(race.winner, race.means)
    ```
    """
    rule, error, names = Settled(tolerance, reach), error_of(confidence), _names(models)
    total, drawn = _drawn(inputs, seed)
    duels = Duels(len(names), tolerance=tolerance, total=total, reach=reach, bound=bound)
    unit = None if bound is None else 1.0  # scores are compared in the first input's, or in that of the bound
    alive, settled = np.ones(len(names), dtype=bool), False
    dropped: dict[str, Dropped] = {}
    unresolved: dict[int, str] = {}
    order: list[int] = []
    runs, solves, seconds = 0, 0, 0.0
    heat = Heat(problem_of, models, {"task": task} | rank_options, failing_of(failing, client))
    judged = Here(heat, drawn) if client is None else Ahead(client, heat, drawn, total)
    with closing(judged):
        while not settled:
            running = tuple(names[i] for i in np.flatnonzero(alive))
            if (following := judged.next(running)) is None:
                break
            position, found = following
            order.append(position)
            runs += len(running)
            if isinstance(found, Failed) or found.unresolved:
                unresolved[position] = found.why if isinstance(found, Failed) else str(found.unresolved)
                duels.see(None)
            else:
                for name, why in found.excluded.items():
                    alive[names.index(name)] = False
                    dropped[name] = Dropped(len(order), None, f"on input {position} it {why}")
                unit = unit or found.unit
                duels.see(*_spread(found.in_unit(unit), names))
            if isinstance(found, Scores):
                solves, seconds = solves + found.solves, seconds + found.seconds
            for j, i in duels.drop(alive, error).items():
                dropped[names[j]] = Dropped(len(order), names[i], f"worse than {names[i]} in the mean")
            settled = duels.settled(alive, error)
            if progress is not None:
                progress(len(order), total)
    if len(unresolved) == len(order):
        found = f"all {len(order)} are unresolved: {next(iter(unresolved.values()))}" if order else "there are none"
        raise ValueError(f"No input to decide by: {found}. A generator can be read only once.")
    best = duels.best_so_far(alive)
    standing = stand(duels, rule, names, best, alive, confidence, drawn_here=seed is not None)
    return Race(
        names, names[best], standing, dropped, duels.means, unresolved, tuple(order), runs, solves, seconds, duels
    )


def _names(models: Any) -> tuple[str, ...]:
    if not isinstance(models, Mapping) or len(models) < 2:
        got = list(models) if isinstance(models, Mapping) else models
        raise ValueError(f"models must be a mapping name → callable(input) with at least two entries; got {got!r:.80}.")
    silent = [name for name, model in models.items() if not callable(model)]
    if silent:
        raise ValueError(f"Model {silent[0]!r} is {models[silent[0]]!r:.60}; expected a callable(input) → prediction.")
    return tuple(models)


def _drawn(inputs: Any, seed: int | None) -> tuple[int | None, Iterator[tuple[int, Any]]]:
    """How many inputs there are, if that is known, and each with its position, in random order where that is possible."""
    if is_handle(inputs):
        total = int(inputs.shape[0])
        return total, ((k, Part(inputs, k)) for k in (range(total) if seed is None else drawn_order(total, seed)))
    if not isinstance(inputs, Sized):
        return None, enumerate(inputs)
    total = len(inputs)
    if seed is None:
        return total, enumerate(inputs)  # pyright: ignore[reportArgumentType]
    if isinstance(inputs, Mapping | set | frozenset) or not hasattr(inputs, "__getitem__"):
        raise ValueError(
            f"inputs is a {type(inputs).__name__}, whose order cannot be drawn at random. Give a list or an array, a "
            "generator of independent draws, or seed=None if the order is random already."
        )
    return total, ((k, inputs[k]) for k in drawn_order(total, seed))  # pyright: ignore[reportIndexIssue]


def drawn_order(total: int, seed: int) -> list[int]:
    """The order in which a panel is read: whoever prepares predictions ahead needs it too."""
    return np.random.default_rng(seed).permutation(total).tolist()


def _spread(scores: Scores, names: tuple[str, ...]) -> tuple[Array, Array]:
    """Scores and uncertainties of those who ran, at the places of all."""
    places = [names.index(name) for name in scores.names]
    values, doubt = np.full(len(names), np.nan), np.zeros((len(names),) * 2)
    values[places] = scores.values
    doubt[np.ix_(places, places)] = scores.uncertainty
    return values, doubt
