"""One input of a race: models run, their predictions are ranked. Here when it is its turn, or ahead of it on a cluster."""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from physrank import compute, scale
from physrank.physics import Problem
from physrank.ranking.block import Failed, Failing
from physrank.ranking.rank import rank
from physrank.ranking.scores import Scores

Drawn = tuple[int, Any]  # an input and its place in the panel


@dataclass(frozen=True, eq=False)
class Part:
    """Input `k` of a handle to a file: read by whoever judges it."""

    handle: Any
    k: int

    def read(self) -> Any:
        return self.handle[self.k]


@dataclass(frozen=True, eq=False)
class Heat:
    """Models on one input: `heat(running, position, given)` is what decides between them."""

    problem_of: Callable[[Any], Problem]
    models: Mapping[str, Callable[[Any], Any]]
    options: dict[str, Any]
    failing: Failing

    def __call__(self, running: tuple[str, ...], position: int, given: Any) -> Scores | Failed:
        try:
            given = given.read() if isinstance(given, Part) else given
            predictions = {name: self._prediction(name, given, position) for name in running}
            return self._scores(predictions, given, position)
        except Exception as error:
            if self.failing == "raise":
                raise
            return Failed(position, f"{type(error).__name__}: {error}")

    def _prediction(self, name: str, given: Any, position: int) -> Any:
        try:
            return self.models[name](given)
        except Exception as error:
            raise RuntimeError(f"Model {name!r} failed on input {position}: {type(error).__name__}: {error}") from error

    def _scores(self, predictions: dict[str, Any], given: Any, position: int) -> Scores:
        try:
            return rank(self.problem_of(given), predictions, **self.options).scoring
        except ValueError as error:
            raise ValueError(f"Input {position} of the race: {error}") from error


class Here:
    """One input after the other."""

    def __init__(self, heat: Heat, drawn: Iterator[Drawn]):
        self.heat, self.drawn = heat, drawn

    def next(self, running: tuple[str, ...]) -> tuple[int, Scores | Failed] | None:
        """The next input with those who still run; None: there is no further one."""
        following = next(self.drawn, None)
        return None if following is None else (following[0], self.heat(running, *following))

    def close(self) -> None:
        """Nothing is under way."""


class Ahead:
    """Inputs judged by workers before it is their turn, and anew where somebody was dropped meanwhile: whom one ranks
    together decides where the physics starts, so that scores found with the dropped one would not be those of the race."""

    def __init__(self, client: Any, heat: Heat, drawn: Iterator[Drawn], total: int | None):
        self.client, self.heat, self.drawn, self.total = client, heat, drawn, total
        self.waiting: deque[Drawn] = deque()  # read, and not judged yet
        self.running: tuple[str, ...] = ()
        self.results: Generator[list[Any], None, None] | None = None
        self.taken = 0

    def next(self, running: tuple[str, ...]) -> tuple[int, Scores | Failed] | None:
        if self.results is None or running != self.running:
            self.close()
            models = {name: self.heat.models[name] for name in running}
            work = _Judging(replace(self.heat, models=models), running, compute.quickly())
            left = None if self.total is None else self.total - self.taken
            self.running, self.results = running, scale.ordered(self.client, work, self._blocks(), left)
        if (rows := next(self.results, None)) is None:
            return None
        (found,) = rows
        position, _ = self.waiting.popleft()
        self.taken += 1
        if isinstance(found, scale.Lost):
            if self.heat.failing == "raise":
                raise RuntimeError(f"Input {position} of the race: {found.why}")
            found = Failed(position, found.why)
        return position, found

    def close(self) -> None:
        """What is under way for those who do not run any more is cancelled."""
        if self.results is not None:
            self.results.close()

    def _blocks(self) -> Iterator[list[Drawn]]:
        yield from [[following] for following in self.waiting]
        for following in self.drawn:
            self.waiting.append(following)
            yield [following]


@dataclass(frozen=True, eq=False)
class _Judging:
    """What a worker does."""

    heat: Heat
    running: tuple[str, ...]
    quick: bool

    def __call__(self, block: list[Drawn]) -> list[Scores | Failed]:
        with compute.once(self.quick):
            return [self.heat(self.running, *following) for following in block]
