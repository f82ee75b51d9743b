"""One pass over a library and a population: every score that needs no reference, then the hidden losses.

The pass is cached by what it depends on (predictions, anchor, corrections), so studies share it and an interrupted one
goes on with what is missing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from physrank import compute, ranking, scale, tasks
from physrank.geometry import TaskSpace
from physrank.geometry.space import Array
from physrank.lab.inputs import shifted_strata
from physrank.lab.libraries import Library, Profile
from physrank.lab.references.reference import Reference, unresolved_pairs, unresolved_top1
from physrank.lab.store import predictions, references
from physrank.lab.store.files import digest, read_arrays, write_arrays
from physrank.lab.studies._kit import anchoring
from physrank.ranking import Ranking, scorers
from physrank.ranking.candidates import Candidates

VERSION = 1  # of this pass: raise it when its arithmetic changes
SCORES = ("shared", "raw", "mean centrality", "medoid centrality", "validation", "wrong input", "reversed")


@dataclass(frozen=True)
class Context:
    """Where things are, how large they are, and whom to tell."""

    store: Path
    profile: Profile
    progress: Callable[[str, int, int], None] = lambda what, done, total: None
    client: Any = (
        None  # of dask.distributed: its workers rank panels and judge cases, with the same results bit for bit
    )
    official: Path | None = None  # rollouts of a user's own data and checkpoints, for the study that takes them

    def panel(self, cases: Sequence[tuple[Any, dict[str, Array]]], **options: Any) -> ranking.Panel:
        """The rankings of (problem, candidates) of many inputs; unresolved ones answer, and say so."""
        problems, libraries = [p for p, _ in cases], [c for _, c in cases]
        options |= {"allow_unresolved": True, "failing": "raise", "client": self.client}
        return ranking.rank_panel(problems, libraries, **options)

    def each(
        self, what: str, function: Callable[..., Any], cases: Iterable[tuple[Any, ...]], total: int
    ) -> Iterator[Any]:
        """`function(*case)` of every case, in their order, here or by workers, and progress is told."""
        work = _Judged(function, compute.quickly())
        blocks = ([case] for case in cases)
        if self.client is None or not total:
            results: Any = (work(block) for block in blocks)
        else:
            results = scale.ordered(self.client, work, blocks, total)
        with closing(results):
            for k, (found,) in enumerate(results):
                if isinstance(found, scale.Lost):
                    raise RuntimeError(f"{what}, case {k}: {found.why}")
                self.progress(what, k + 1, total)
                yield found

    def content(self, library: Library, name: str, realization: str = "native") -> dict[str, Any]:
        """What results from stored predictions depend on: what they are, their bytes, and what judges them."""
        judged = {"references": references.settings(library.equation, "first")}
        return predictions.content(self.store, self.profile, library, name, realization) | judged

    def cached(self, what: str, key: dict[str, Any], make: Callable[[], dict[str, Array]]) -> dict[str, Array]:
        """Arrays stored under a hash of everything they depend on."""
        path = self._kept(what, key)
        if not path.exists():
            write_arrays(path, make())
        return read_arrays(path)

    def told(self, what: str, rows: Iterable[dict[str, Array]], total: int) -> dict[str, Array]:
        """Rows of arrays, one for every input, counted aloud as they come; stacked by name."""
        found = []
        for row in rows:
            found.append(row)
            self.progress(what, len(found), total)
        return stacked(found)

    def has(self, what: str, key: dict[str, Any]) -> bool:
        """Whether they are stored already."""
        return self._kept(what, key).exists()

    def _kept(self, what: str, key: dict[str, Any]) -> Path:
        full = {"what": what, "version": VERSION, **key}
        return self.store / "cache" / f"{what}-{digest(full)}.npz"


@dataclass(frozen=True)
class _Judged:
    """What is done with a case, wherever that is."""

    function: Callable[..., Any]
    quick: bool  # as in `compute.once`

    def __call__(self, block: list[tuple[Any, ...]]) -> list[Any]:
        with compute.once(self.quick):
            return [self.function(*case) for case in block]


def stacked(rows: Iterable[dict[str, Array]]) -> dict[str, Array]:
    """Arrays of one name above each other."""
    found = list(rows)
    return {name: np.stack([row[name] for row in found]) for name in found[0]}


@dataclass(frozen=True)
class Cases:
    """All inputs of one population for one library: `(inputs, candidates)` tables."""

    library: Library
    strata: tuple[str, ...]
    losses: Array
    changes: Array  # of the losses, from the coarse to the fine reference
    scores: dict[str, Array]
    proxy_loss: Array  # of q itself
    seconds: Array  # per input, of the shared response with its scoring

    @property
    def unresolved_pairs(self) -> np.ndarray:
        upper = np.triu_indices(self.losses.shape[1], 1)
        return np.stack([unresolved_pairs(a, b)[upper] for a, b in zip(self.losses, self.changes, strict=True)])

    @property
    def unresolved_top1(self) -> np.ndarray:
        return np.array([unresolved_top1(a, b) for a, b in zip(self.losses, self.changes, strict=True)])


def problems_and_candidates(
    context: Context, library: Library, name: str, realization: str = "native", limit: int | None = None
) -> Iterator[tuple[Any, dict[str, Array]]]:
    """(problem, candidates) of each input, in order."""
    data = predictions.read(context.store, context.profile, library, name, realization)
    yield from _cases_in(data, library, name, limit)


def _cases_in(
    data: xr.Dataset, library: Library, name: str, limit: int | None = None
) -> Iterator[tuple[Any, dict[str, Array]]]:
    """The same from predictions that were read already."""
    names = [str(candidate) for candidate in data["candidate"].values]
    cases = library.declared.population(name, data.sizes["input"])[:limit]
    for case, states in zip(cases, data["prediction"].values, strict=False):
        yield library.declared.problem(case), dict(zip(names, states, strict=True))


def references_of(context: Context, library: Library, name: str, level: str = "first") -> list[Reference]:
    count = predictions.count(context.profile, name)
    return references.references(context.store, library.equation, name, count, level, context.progress)


def evaluate(
    context: Context,
    library: Library,
    name: str | None = None,
    *,
    anchor: str = "mean",
    corrections: int = 1,
    realization: str = "native",
    level: str = "first",
    reveal: bool = True,
) -> Cases:
    """Score without the reference, then reveal it; `reveal=False` for populations whose references nobody needs."""
    name = name or library.instances
    count = predictions.count(context.profile, name)
    shown = references.settings(library.equation, level) if reveal else None
    key = context.content(library, name, realization) | {"anchor": anchor, "corrections": corrections, "level": shown}

    def make() -> dict[str, Array]:
        scored, rankings = _score(context, library, name, anchor, corrections, realization)
        return scored | (_reveal(rankings, references_of(context, library, name, level)) if reveal else {})

    found = context.cached("cases", key, make)
    return Cases(
        library=library,
        strata=tuple(shifted_strata(count)),
        losses=found.get("losses", np.empty((0, 0))),
        changes=found.get("changes", np.empty((0, 0))),
        scores={method: found[f"score {method}"] for method in SCORES},
        proxy_loss=found.get("proxy_loss", np.empty(0)),
        seconds=found["seconds"],
    )


def _score(
    context: Context, library: Library, name: str, anchor: str, corrections: int, realization: str
) -> tuple[dict[str, Array], list["_Small"]]:
    data = predictions.read(context.store, context.profile, library, name, realization)
    cases = list(_cases_in(data, library, name))
    losses = dict(zip(map(str, data["candidate"].values), data["validation_loss"].values, strict=True))
    ours: dict[str, scorers.Scorer] = {
        "shared": scorers.SharedResponse(corrections),
        "raw": scorers.RawResidual(),
        "mean centrality": scorers.MeanCentrality(),
        "medoid centrality": scorers.MedoidCentrality(),
        "validation": scorers.ValidationLoss(losses),
        "reversed": scorers.ReversedResponse(),
    }
    panel = context.panel(cases, anchor=anchoring.resolve(anchor, cases[0][0]), corrections=corrections)
    other = wrong_inputs(shifted_strata(len(cases)))
    rows: dict[str, dict[int, Array]] = {method: {} for method in SCORES}
    small, held = [], {}
    for k, result in enumerate(panel):
        small.append(_Small.of(result))
        for method, scorer in ours.items():
            rows[method][k] = trusted(scorer.of(result))
        held[k], wrong = result, rows["wrong input"]
        for j in [j for j in held if j not in wrong and other[j] in held]:
            wrong[j] = trusted(scorers.WrongInput(held[other[j]]).of(held[j]))
        needed = {other[j] for j in range(len(cases)) if j not in wrong}  # whole states of a population are too many
        held = {j: found for j, found in held.items() if j not in wrong or j in needed}
        context.progress(f"{library.name}, {name}, {anchor}", k + 1, len(cases))
    tables = {f"score {method}": np.stack([of[k] for k in range(len(cases))]) for method, of in rows.items()}
    return tables | {"seconds": np.array([one.seconds for one in small])}, small


def trusted(scores: ranking.Scores) -> Array:
    """Scores, or NaN for all candidates where they must not be trusted."""
    return np.full_like(scores.values, np.nan) if scores.unresolved else scores.values


def _reveal(rankings: list["_Small"], references: Sequence[Reference]) -> dict[str, Array]:
    both = [r.losses(s.space, s.outputs) for r, s in zip(references, rankings, strict=True)]
    return {
        "losses": np.stack([fine for fine, _ in both]),
        "changes": np.stack([change for _, change in both]),
        "proxy_loss": np.array(
            [float(s.space.norm_squared(s.proxy - r.fine)) for r, s in zip(references, rankings, strict=True)]
        ),
    }


@dataclass(frozen=True)
class _Small:
    """What the reveal needs of a ranking; the full states of a population would not fit in memory."""

    outputs: Array
    proxy: Array
    space: TaskSpace
    seconds: float

    @classmethod
    def of(cls, result: Ranking) -> "_Small":
        return cls(result.outputs, result.proxy, result.space, result.scoring.seconds)


def wrong_inputs(strata: Sequence[str]) -> list[int]:
    """For each input, the next one of its stratum, cyclically."""
    groups = {s: [k for k, found in enumerate(strata) if found == s] for s in set(strata)}
    following = {k: group[(i + 1) % len(group)] for group in groups.values() for i, k in enumerate(group)}
    return [following[k] for k in range(len(strata))]


def measure(
    context: Context,
    what: str,
    key: dict[str, Any],
    cases: Callable[[], Sequence[tuple[Any, dict[str, Array]]]],
    revealed: Callable[[], Sequence[Reference]],
    methods: dict[str, Callable[..., ranking.Scores]],
) -> dict[str, Array]:
    """Scores, seconds and hidden losses of any scorers on any cases: `score NAME`, `seconds NAME`, `losses`, `changes`."""

    def make() -> dict[str, Array]:
        given, found = list(cases()), {}
        for name, scorer in methods.items():
            rows = list(context.each(f"{what}: {name}", scorer, given, len(given)))
            found[f"score {name}"] = np.stack([trusted(r) for r in rows])
            found[f"seconds {name}"] = np.array([r.seconds for r in rows])
        losses = []
        for (problem, candidates), reference in zip(given, revealed(), strict=True):
            states = Candidates.of(candidates, problem).states
            task = tasks.resolve(None, problem)
            outputs = task.outputs(states)
            losses.append(reference.losses(task.space(outputs), outputs))
        return found | {"losses": np.stack([a for a, _ in losses]), "changes": np.stack([b for _, b in losses])}

    return context.cached(what, key | {"methods": {name: _described(method) for name, method in methods.items()}}, make)


def _described(method: Callable[..., Any]) -> str:
    """A scorer with its settings; a plain function by its name."""
    return getattr(method, "__qualname__", None) or repr(method)
