"""A certificate: what is proved about a ranking, against which target, and what it rests on."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from physrank._io import write_json
from physrank.certificates._reversed import in_words
from physrank.certificates.enclosures.rounding import rounds_to_nearest
from physrank.geometry import GapIntervals
from physrank.geometry.space import Array

Kind = Literal["validated", "theorem", "estimate"]

MEANING = {
    "validated": "a theorem, with every number in it enclosed by outward rounding",
    "theorem": "a theorem, evaluated in double precision with a bound of its round-off",
    "estimate": "an estimate: part of it is sampled or assumed, so it can be wrong",
}


@dataclass(frozen=True)
class Assumption:
    """One thing the bound rests on, with what was measured."""

    statement: str
    holds: bool
    measured: float | str

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", bool(self.holds))
        if not isinstance(self.measured, str):
            object.__setattr__(self, "measured", float(self.measured))

    def __str__(self) -> str:
        value = f"{self.measured:.4g}" if isinstance(self.measured, float) else self.measured
        return f"{'✓' if self.holds else '✗'} {self.statement} ({value})"


@dataclass(frozen=True, eq=False)
class Zero:
    """Which zero a local enclosure is about: it is within one radius of the centre, and the only one within another."""

    centre: Array
    within: float
    alone: float

    def is_surely(self, other: Any) -> bool:
        """Whether one of the two zeros lies where the other is the only one."""
        if not isinstance(other, Zero):
            return False
        apart = float(np.linalg.norm(np.ravel(self.centre - other.centre))) * (1 + 1e-9)
        return apart + self.within < other.alone or apart + other.within < self.alone


@dataclass(frozen=True)
class Stated:
    """Which equation an enclosure is about, where functions state it that the problem does not hold."""

    functions: tuple[Any, ...]
    said: tuple[bytes, ...] = ()  # what they made of a few places: a function may close over what changes

    def is_surely(self, other: Any) -> bool:
        """Whether the other is about the same functions, not only about ones that agree somewhere."""
        return isinstance(other, Stated) and (self.functions, self.said) == (other.functions, other.said)


@dataclass(frozen=True)
class Enclosure:
    """What a method found out: where the true gaps G_ij(t) lie, and why.

    A failed assumption leaves every gap open: give `open_gaps` then, or let `Certificate` do so.
    """

    kind: Kind
    target: str
    gaps: GapIntervals
    state_bound: float  # of ‖s − u‖ in the norm that `norm` names
    norm: str
    assumptions: tuple[Assumption, ...]
    solves: int = 0  # inverse actions it took
    bounded: str = "the target"  # what the state is within the bound of
    as_functions: bool = False  # gaps are those of trigonometric interpolants, not of grid values
    covers_data: bool = False  # the bound holds for all data within their stated half-widths
    zero: Zero | Stated | None = None  # where the target is one of several zeros, or of several equations: which


@dataclass(frozen=True, eq=False)
class Certificate:
    """Decisions that the enclosure proves; what it does not prove is open."""

    names: tuple[str, ...]
    proxy_gaps: Array  # G_ij(q)
    enclosure: Enclosure
    tolerance: float
    seconds: float = 0.0
    wanted: Literal["pairs", "best"] = "pairs"  # what must be decided for `settled`
    fingerprint: str = ""  # of problem, candidates and discrepancy: what other certificates of the same thing share
    excluded: tuple[str, ...] = ()  # candidates that could not be scored: nothing is said about them

    @property
    def kind(self) -> Kind:
        return self.enclosure.kind

    @property
    def target(self) -> str:
        return self.enclosure.target

    @property
    def failed(self) -> tuple[Assumption, ...]:
        """Assumptions that do not hold. With one of them, nothing is certified."""
        return tuple(a for a in self.enclosure.assumptions if not a.holds)

    @cached_property
    def gaps(self) -> GapIntervals:
        """Where each true gap lies; everything is open when an assumption fails."""
        found = self.enclosure.gaps
        return found.widened(np.full_like(found.low, np.inf)) if self.failed else found

    # -- decisions -------------------------------------------------------------------------------------------------

    @property
    def signs(self) -> np.ndarray:
        """+1 where i is certainly better than j, −1 where it is certainly worse, 0 where it is open."""
        return self.gaps.signs

    @property
    def best(self) -> str | None:
        """The candidate that is certainly the only best one; None: open."""
        if self.failed:
            return None
        winner = self._scored.winner
        return None if winner is None else self.names[self._rows[winner]]

    @property
    def safe(self) -> list[str]:
        """Candidates whose loss certainly exceeds the smallest by no more than `tolerance`."""
        if self.failed:
            return []
        return [self.names[self._rows[k]] for k in self._scored.within(self.tolerance)]

    @property
    def regret_bounds(self) -> dict[str, float]:
        """The most that each candidate's loss can exceed the smallest one by."""
        found = dict.fromkeys(self.names, np.inf)
        if not self.failed:
            found |= {self.names[k]: float(r) for k, r in zip(self._rows, self._scored.worst_regret, strict=True)}
        return found

    @property
    def _rows(self) -> np.ndarray:
        return np.flatnonzero([name not in self.excluded for name in self.names])

    @property
    def _scored(self) -> GapIntervals:
        """Among the candidates that could be scored."""
        rows = np.ix_(self._rows, self._rows)
        return GapIntervals(self.gaps.low[rows], self.gaps.high[rows])

    @property
    def certified_pairs(self) -> tuple[int, int]:
        """(certified, all) among pairs of candidates that could be scored."""
        scored = self._scored.signs
        return int(np.sum(scored != 0)) // 2, len(scored) * (len(scored) - 1) // 2

    @property
    def open_pairs(self) -> list[tuple[str, str]]:
        """Pairs without a sign whose gap may exceed the tolerance; two candidates within it need none."""
        within = (self.gaps.low >= -self.tolerance) & (self.gaps.high <= self.tolerance)
        undecided = np.triu((self.signs == 0) & ~within, 1)
        pairs = [(self.names[i], self.names[j]) for i, j in np.argwhere(undecided)]
        return [pair for pair in pairs if not set(pair) & set(self.excluded)]

    @property
    def reversed(self) -> list[tuple[str, str]]:
        """Pairs (better, worse) that are proved the other way round than the ranking has them."""
        against = np.argwhere((self.signs > 0) & (self.proxy_gaps < 0))
        pairs = [(self.names[i], self.names[j]) for i, j in against]
        return [pair for pair in pairs if not set(pair) & set(self.excluded)]

    @property
    def contradiction(self) -> str | None:
        """The same as a sentence that names both targets; None where nothing is proved against the ranking."""
        if not self.reversed:
            return None
        first = self._rows[np.argmin((self.proxy_gaps[np.ix_(self._rows, self._rows)] < 0).sum(axis=1))]
        return in_words(self.reversed, self.best, self.names[first], self.target)

    @property
    def settled(self) -> bool:
        """Whether nothing that was asked for is open: every pair, or the choice of a candidate within the tolerance."""
        if self.failed:
            return False
        return bool(self.safe) if self.wanted == "best" else not self.open_pairs

    # -- what they rest on -----------------------------------------------------------------------------------------

    @property
    def bounds(self) -> Array:
        """B_ij: how far the true gap can be from the proxy's."""
        return np.maximum(self.gaps.high - self.proxy_gaps, self.proxy_gaps - self.gaps.low)

    @property
    def margins(self) -> Array:
        """|G_ij(q)|."""
        return np.abs(self.proxy_gaps)

    @property
    def ratios(self) -> Array:
        """B_ij / |G_ij(q)|; below one certifies the pair."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.margins > 0, self.bounds / self.margins, np.inf)

    def to_dict(self) -> dict[str, Any]:
        done, total = self.certified_pairs
        return {
            "kind": self.kind,
            "target": self.target,
            "names": list(self.names),
            "excluded": list(self.excluded),
            "best": self.best,
            "safe": self.safe,
            "tolerance": self.tolerance,
            "pairs_certified": done,
            "pairs": total,
            "reversed": [list(pair) for pair in self.reversed],
            "contradiction": self.contradiction,
            "regret_bounds": {name: _number(value) for name, value in self.regret_bounds.items()},
            "state_bound": _number(self.enclosure.state_bound),
            "norm": self.enclosure.norm,
            "largest_ratio": _number(_largest(self.ratios)),
            "signs": self.signs.tolist(),
            "gaps": {
                "low": [[_number(x) for x in row] for row in self.gaps.low],
                "high": [[_number(x) for x in row] for row in self.gaps.high],
                "proxy": [[_number(x) for x in row] for row in self.proxy_gaps],
            },
            "assumptions": [
                {
                    "statement": a.statement,
                    "holds": a.holds,
                    "measured": _number(a.measured) if isinstance(a.measured, float) else a.measured,
                }
                for a in self.enclosure.assumptions
            ],
            "solves": self.enclosure.solves,
            "seconds": self.seconds,
        }

    def to_json(self, path: str | os.PathLike[str]) -> Path:
        """Write `to_dict()`; an existing file stays intact until the new one is complete."""
        return write_json(path, self.to_dict())

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        done, total = self.certified_pairs
        if self.failed:
            lines = [
                f"No certificate against {self.target}.",
                "Nothing is certified: what it would rest on does not hold.",
            ]
        else:
            lines = [f"Certificate ({self.kind}: {MEANING[self.kind]}) against {self.target}."]
            decided = f"{self.best!r} is the best candidate" if self.best else "Which candidate is best stays open"
            lines.append(
                f"{decided}; {done} of {total} pairs are decided. The corrected state is within "
                f"{self.enclosure.state_bound:.3g} of {self.enclosure.bounded} in {self.enclosure.norm}."
            )
            lines += [self.contradiction or "", self._regret()]
            if self.excluded:
                lines.append(f"{', '.join(map(repr, self.excluded))} was excluded: nothing is said about it.")
            lines.append("It rests on:")
        lines += [f"  {assumption}" for assumption in self.enclosure.assumptions]
        return "\n".join(line for line in lines if line)

    def _regret(self) -> str:
        least = min(self.regret_bounds, key=lambda name: self.regret_bounds[name])
        value = self.regret_bounds[least]
        if not np.isfinite(value):
            return ""
        if value <= 0:
            return f"Choosing {least!r} costs nothing against any other choice."
        return f"Choosing {least!r} costs at most {value:.3g} of squared loss against the best choice."


def open_gaps(number: int) -> GapIntervals:
    """Nothing known about any pair."""
    return GapIntervals.around(np.zeros((number, number)), np.inf)


def arithmetic() -> Assumption:
    """What every bound of round-off rests on, as this thread of the processor has it now."""
    holds = rounds_to_nearest()
    statement = "the processor rounds to nearest, with gradual underflow"
    return Assumption(
        statement, holds, "it was asked" if holds else "it was told otherwise, perhaps by another package"
    )


def all_hold(assumptions: Iterable[Assumption]) -> bool:
    return all(a.holds for a in assumptions)


def _largest(ratios: Array) -> float:
    upper = ratios[np.triu_indices(len(ratios), 1)]
    known = upper[~np.isnan(upper)]
    return float(known.max()) if known.size else float("nan")


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
