"""Evidence, pair by pair and input by input, that one candidate's mean score is below another's: valid whenever one looks.

Each ordered pair (i, j) is a bet against "j is at least as good as i". With y = S_j − S_i on each input, that hypothesis
says that inputs still to come have a mean y of at most μ: minus what was seen so far, shared among those that are left, when
the panel is finite and read in random order; 0 when inputs are independent draws. Who fears no y below −D multiplies a
capital of 1 by (y + D) / (μ + D) at every input: a fair game or worse, so the capital ever exceeds 1/α with probability at
most α (Ville; Waudby-Smith & Ramdas, "Estimating means of bounded random variables by betting"). No normality, no variance.

Nobody knows D. Capital is therefore spread over a grid of ranges, and only those gamblers count whose range is at least what
the data ask for when the decision is taken: `reach` times the largest lead that j had over i, and no less than the root mean
square of their differences (of the tolerance, for twins). Hence what holds: with the stated confidence no decision is wrong
*unless* some input not read gives j a lead beyond that range. A stated `bound` of all scores replaces that condition.

"j is the best" is false if it is false against any i, so its evidence is the mean over i: N − 1 bets share the error, not
N². The tolerance enters as y = (1 + tolerance) S_j − S_i. Capital never falls when the tolerance grows, so both questions
share one error probability.
"""

from typing import Any

import numpy as np

from physrank.geometry.space import Array

GRID = 2.0 ** np.arange(-1, 6, 0.5)  # ranges, in units of the first differences
FIRST = 3  # inputs that set this unit, and on which nobody bets yet
STEPS = 40  # of bisection


class Duels:
    """All bets between `candidates`, on a panel of `total` inputs (None: independent draws of a population)."""

    def __init__(
        self, candidates: int, *, tolerance: float, total: int | None, reach: float = 1.0, bound: float | None = None
    ):
        if bound is not None and not (np.isfinite(bound) and bound > 0):
            raise ValueError(f"bound must be a finite number > 0 that no score exceeds; got {bound}.")
        pairs = (candidates, candidates)
        self.factors = np.array([1.0, 1.0 + tolerance])[:, None, None]
        self.tolerance, self.total, self.reach, self.bound = tolerance, total, reach, bound
        self.rows: list[tuple[Array, Array] | None] = []  # scores and doubts of each input; None: it says nothing
        self.unit = np.full(pairs, 0.0 if bound is None else bound)
        self.begun = np.full(pairs, 0 if bound is not None else -1)  # the input from which a pair's bets count
        self.squares, self.leads, self.meetings = np.zeros(pairs), np.zeros(pairs), np.zeros(pairs)
        self.totals, self.met = np.zeros(candidates), np.zeros(candidates)  # of each candidate's scores, and how many
        self.racing = ~np.eye(candidates, dtype=bool)
        self.capital = np.ones((len(GRID), 2, *pairs))
        self.sums = np.zeros_like(self.capital)  # of y, none below −D
        self.exact = np.zeros((2, *pairs))  # of y
        self.evidence = np.zeros((2, *pairs)) + self.racing  # [0]: i is better than j; [1]: within the tolerance of j

    def see(self, scores: Array | None, doubt: Array | None = None) -> None:
        """One more input: scores (NaN for who was not run), and how far each gap may still move. None: unresolved."""
        if scores is not None:
            self._checked(scores)
            self.racing &= np.isfinite(scores)[:, None] & np.isfinite(scores)[None, :]
        known = np.zeros(self.unit.shape) if doubt is None else np.where(np.isnan(doubt), 0.0, doubt)
        row = None if scores is None else (scores, known)
        gains = self._gains(row)
        self._bet(gains)
        self.rows.append(row)
        self.exact = np.where(self.racing, self.exact + gains, self.exact)
        if scores is not None:
            gaps = np.where(self.racing, scores[None, :] - scores[:, None], 0.0)
            self.squares += np.where(self.racing, _sizes(scores[None, :], scores[:, None], self.tolerance), 0.0) ** 2
            self.leads = np.maximum(self.leads, -gaps)
            self.meetings += self.racing
            self.totals, self.met = self.totals + np.nan_to_num(scores), self.met + np.isfinite(scores)
        self._count()
        self._begin()

    @property
    def means(self) -> Array:
        """Of each candidate's scores, on the inputs that it ran; NaN without any."""
        return np.where(self.met > 0, self.totals / np.maximum(self.met, 1), np.nan)

    def best_so_far(self, alive: Array) -> int:
        """The least mean score among those that ran every input."""
        return int(np.argmin(np.where(alive, self.totals, np.inf)))

    def drop(self, alive: np.ndarray, error: float) -> dict[int, int]:
        """Who is not the best, and who tells: they leave `alive`. The best so far stays, whatever happened before."""
        lost = alive & (self.evidence[0].sum(axis=0) >= self._enough(error))
        lost[self.best_so_far(alive)] = False
        alive &= ~lost
        return {int(j): int(np.argmax(self.evidence[0][:, j])) for j in np.flatnonzero(lost)}

    def settled(self, alive: np.ndarray, error: float) -> bool:
        """Whether nobody left is better than the best so far by more than the tolerance."""
        return bool(np.all(self.good_enough(self.best_so_far(alive), error)[alive]))

    def good_enough(self, winner: int, error: float) -> np.ndarray:
        """Of whom it is known that they are not better than the winner by more than the tolerance."""
        mixed = self.evidence[0].copy()
        mixed[winner] = self.evidence[1][winner]
        found = mixed.sum(axis=0) >= self._enough(error)
        found[winner] = True
        return found

    def _enough(self, error: float) -> float:
        return (len(self.unit) - 1) / error

    def needed(self) -> Array:
        """The range that the data ask for, pair by pair."""
        if self.bound is not None:
            return self.unit
        return np.maximum(self.reach * self.leads, np.sqrt(self.squares / np.maximum(self.meetings, 1)))

    # -- the bets ----------------------------------------------------------------------------------------------------

    def _gains(self, row: tuple[Array, Array] | None) -> Array:
        """What is certain of y. An unresolved input counts as none: zero for every pair."""
        if row is None:
            return np.zeros_like(self.exact)
        scores, doubt = row
        return np.where(self.racing, self.factors * scores[None, None, :] - scores[None, :, None] - doubt, 0.0)

    def _bet(self, gains: Array) -> None:
        ranges = GRID[:, None, None, None] * self.unit
        gains = np.maximum(gains, -ranges)
        left = np.inf if self.total is None else self.total - len(self.rows)
        room = ranges - self.sums / left
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            grown = self.capital * _growth(gains + ranges, room, ranges)
        plays = self.racing & (self.begun >= 0) & (self.unit > 0)
        over = (self.capital == 0) | np.isinf(self.capital)
        self.capital = np.where(plays & ~over, grown, self.capital)
        self.sums = np.where(plays, self.sums + gains, self.sums)

    def _count(self) -> None:
        counted = GRID[:, None, None] * self.unit >= self.needed() * (1 - 1e-12)
        capital = np.where(counted[:, None] & (self.begun >= 0), self.capital, 0.0).sum(axis=0) / len(GRID)
        self.evidence = np.where(self.racing, capital, self.evidence)
        if self.total is not None and len(self.rows) >= self.total:  # all is known
            certain = np.stack([self.exact[0] > 0, self.exact[1] >= 0])
            self.evidence = np.where(self.racing, np.where(certain, np.inf, 0.0), self.evidence)

    def _begin(self) -> None:
        """Pairs whose unit is known now: they bet from the next input on, and know what they have seen."""
        ready = self.racing & (self.begun < 0) & (self.meetings >= FIRST) & (self.squares > 0)
        if not ready.any():
            return
        self.unit = np.where(ready, np.sqrt(self.squares / np.maximum(self.meetings, 1)), self.unit)
        self.begun = np.where(ready, len(self.rows), self.begun)
        ranges = GRID[:, None, None, None] * self.unit
        before = sum(np.maximum(self._gains(row), -ranges) for row in self.rows)
        self.sums = np.where(ready, before, self.sums)

    def _checked(self, scores: Array) -> None:
        found = scores[np.isfinite(scores)]
        if self.bound is not None and found.size and not (found.min() >= 0 and found.max() <= self.bound):
            raise ValueError(
                f"bound must be a number that no score exceeds; got {self.bound:g}, but input {len(self.rows)} has scores "
                f"from {found.min():g} to {found.max():g}. State a larger bound, or none."
            )

    # -- intervals ---------------------------------------------------------------------------------------------------

    def excess(self, winner: int, other: int, error: float, upto: int | None = None) -> tuple[float, float, float]:
        """The mean of S_other − S_winner over the inputs that both ran, and what its mean over all inputs may be.

        Each end holds at the error that a decision about one pair is given; infinite where nothing is known yet.
        """
        gone = (k for k, row in enumerate(self.rows) if row is not None and np.isnan(row[0][[winner, other]]).any())
        rows = self.rows[: min(next(gone, len(self.rows)), len(self.rows) if upto is None else upto)]
        gaps = [row[0][other] - row[0][winner] for row in rows if row is not None]
        mean = float(np.mean(gaps)) if gaps else np.nan
        return mean, self._least(winner, other, rows, error), -self._least(other, winner, rows, error)

    def _least(self, i: int, j: int, rows: list[tuple[Array, Array] | None], error: float) -> float:
        """The largest θ such that "the mean of S_j − S_i is at most θ" is refuted."""
        silent = np.array([row is None for row in rows], dtype=bool)
        y = np.array([0.0 if r is None else r[0][j] - r[0][i] - r[1][i, j] for r in rows])
        plain = np.array([0.0 if r is None else r[0][j] - r[0][i] for r in rows])
        if self.total is not None and len(rows) >= self.total and (~silent).any():
            return float(y[~silent].mean())
        begun = int(self.begun[i, j])
        if begun < 0 or len(rows) <= begun:
            return -np.inf
        needed = self.unit[i, j]
        if self.bound is None:
            sizes = [_sizes(r[0][i], r[0][j], self.tolerance) for r in rows if r is not None]
            needed = max(self.reach * np.max(-plain, initial=0.0), np.sqrt(np.mean(np.square(sizes))))
        ranges = GRID * self.unit[i, j]
        ranges = ranges[ranges >= needed * (1 - 1e-12)]
        if not ranges.size:
            return -np.inf
        below, above = -float(ranges[0]), float(np.max(y))
        for _ in range(STEPS):
            middle = (below + above) / 2
            capital = _capital(np.maximum(y, -ranges[:, None]), silent, begun, ranges, middle, self.total)
            refuted = capital / len(GRID) >= self._enough(error)
            below, above = (middle, above) if refuted else (below, middle)
        return below


def _sizes(one: Any, other: Any, tolerance: float) -> Any:
    """How large a difference between two is, where less than the tolerance would not matter."""
    return np.maximum(np.abs(one - other), tolerance * np.minimum(one, other))


def _capital(y: Array, silent: Array, begun: int, ranges: Array, level: float, total: int | None) -> float:
    """Of all gamblers together against "the mean of y is at most `level`"; `y` is (gamblers, inputs)."""
    z = np.where(silent, 0.0, y - level)
    before = np.cumsum(z, axis=1) - z
    left = np.inf if total is None else total - np.arange(z.shape[1])
    reach = (ranges + level)[:, None]
    room = reach - before / left
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        growth = _growth(z + reach, room, ranges[:, None])[:, begun:]
        impossible = np.isinf(growth).any(axis=1)
        return float(np.where(impossible, np.inf, np.prod(np.where(np.isinf(growth), 1.0, growth), axis=1)).sum())


def _growth(stake: Array, room: Array, ranges: Array) -> Array:
    """stake / room. Less than no room: the hypothesis contradicts the range. None at all, up to rounding: no bet."""
    nothing = 1e-9 * ranges
    return np.where(room > nothing, stake / room, np.where(room < -nothing, np.inf, 1.0))
