"""`select`: one checkpoint for repeated use, from scores averaged over an unlabeled panel of inputs."""

from collections.abc import Iterable, Sized
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from physrank import geometry
from physrank.geometry.space import Array
from physrank.geometry.theory import mean_score_radius
from physrank.ranking.duels import Duels
from physrank.ranking.ranking import Ranking
from physrank.ranking.scores import Scores, UnresolvedError
from physrank.ranking.standing import Settled, Standing, error_of, stand


@dataclass(frozen=True, eq=False)
class Selection:
    """The chosen checkpoint and how settled the choice is."""

    names: tuple[str, ...]
    mean_scores: Array  # NaN for candidates excluded on any input
    inputs: int
    frequency: Array  # share of bootstrap resamples of the inputs in which each candidate wins
    radius: float | None  # concentration radius of every mean score, when a bound on scores was stated
    confidence: float
    excluded: dict[str, str]
    unresolved: dict[int, str]  # inputs that were let in although their scores are not to be trusted
    uncertainty: Array  # N × N: how far the mean gaps may still move, from the doubts of single inputs; NaN: not known
    open_inputs: int = 0  # inputs whose own best candidate is not settled
    standing: Standing | None = None  # what `until` found of the whole panel, else None

    @property
    def best(self) -> str:
        return self.names[int(np.nanargmin(self.mean_scores))]

    @property
    def order(self) -> list[str]:
        return [self.names[i] for i in geometry.best_first(self.mean_scores) if np.isfinite(self.mean_scores[i])]

    @property
    def stability(self) -> float:
        """How often the choice survives resampling the inputs: 1 is settled, 1/N is a coin toss."""
        return float(self.frequency[self.names.index(self.best)])

    @property
    def survives_doubt(self) -> bool | None:
        """Whether the choice on these inputs stays the best one whatever their uncertainties do; None when not known."""
        best = int(np.nanargmin(self.mean_scores))
        others = [k for k in np.flatnonzero(np.isfinite(self.mean_scores)) if k != best]
        gaps, doubt = self.mean_scores[others] - self.mean_scores[best], self.uncertainty[best, others]
        return None if np.isnan(doubt).any() else bool(np.all(gaps > doubt))

    @property
    def settled(self) -> bool | None:
        """Whether every other mean score is worse by more than twice the concentration radius and its own uncertainty.

        True means: with the stated confidence, the population winner of these scores is the one chosen, if inputs are
        independent draws from the deployment population, and the doubts of single inputs do not change that. None when no
        bound was stated, unless the doubts alone could change the choice: then it is not settled. With `until="settled"`,
        what `standing` says instead.
        """
        if self.standing is not None:
            return self.standing.settled
        if self.radius is None:
            return False if self.survives_doubt is False else None
        best = int(np.nanargmin(self.mean_scores))
        others = [k for k in np.flatnonzero(np.isfinite(self.mean_scores)) if k != best]
        doubt = np.where(np.isnan(self.uncertainty[best, others]), 0.0, self.uncertainty[best, others])
        gaps = self.mean_scores[others] - self.mean_scores[best]
        return bool(np.all(gaps > 2 * self.radius + doubt))

    def to_dict(self) -> dict[str, Any]:
        return {
            "best": self.best,
            "inputs": self.inputs,
            "stability": self.stability,
            "radius": self.radius,
            "confidence": self.confidence,
            "settled": self.settled,
            "survives_doubt": self.survives_doubt,
            "open_inputs": self.open_inputs,
            "standing": None if self.standing is None else self.standing.to_dict(),
            "candidates": {
                name: {"mean_score": None if np.isnan(score) else float(score), "frequency": float(share)}
                for name, score, share in zip(self.names, self.mean_scores, self.frequency, strict=True)
            },
            "excluded": self.excluded,
            "unresolved_inputs": {str(k): why for k, why in self.unresolved.items()},
        }

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [f"select {self.best}: best mean score over {self.inputs} inputs, in {self.stability:.0%} of resamples"]
        width = max(map(len, self.names))
        for name in self.order:
            i = self.names.index(name)
            lines.append(f"  {name:<{width}}  mean score {self.mean_scores[i]:<9.4g}  wins {self.frequency[i]:4.0%}")
        lines += [f"  {name:<{width}}  excluded: {why}" for name, why in self.excluded.items()]
        if self.unresolved:
            lines.append(f"  {len(self.unresolved)} of {self.inputs} inputs are UNRESOLVED and count all the same")
        if self.open_inputs:
            doubt = "that could change the choice" if self.survives_doubt is False else "the choice survives that"
            lines.append(f"  {self.open_inputs} of {self.inputs} inputs are open in themselves: {doubt}")
        if (found := self.standing) is not None:
            of, verdict = (
                "" if found.total is None else f" of {found.total}",
                "settled" if found.settled else "NOT SETTLED",
            )
            lines.append(f"  {verdict} after {found.inputs}{of} inputs at confidence {self.confidence:g}: {found.why}")
            lines.append(f"  about {found.about}, if {'; '.join(found.assumptions)}")
        elif self.radius is not None:
            verdict = "settled" if self.settled else "not settled"
            lines.append(f"  concentration radius {self.radius:.3g} at confidence {self.confidence:g}: {verdict}")
        return "\n".join(lines)


def select(
    rankings: Iterable[Ranking | Scores],
    *,
    bound: float | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    until: str | Settled | None = None,
) -> Selection:
    """Average scores over a panel of inputs and choose one checkpoint.

    Main arguments: `rankings`, results of `rank`, `rank_panel` or any scorer for the same candidates on many inputs; a
    generator is consumed one at a time and only its scores are kept.

    Other arguments: `bound`, a number that no score can exceed, stated by you, for the concentration radius
    bound · √(log(2N/δ) / 2m) of independent inputs; `confidence` 1 − δ; `resamples` and `seed` of the bootstrap;
    `until="settled"`: read no further once the choice of the whole panel is settled, so that the inputs of a generator that
    are left cost nothing. `physrank.Settled(tolerance=…, total=…)` says what would not matter and how long a generator's
    panel is; inputs must come in random order. See `race` for what the verdict rests on, and to save inference too.
    """
    _whole("resamples", resamples, 1)
    _whole("seed", seed, 0)
    error, rule = error_of(confidence), _rule(until, rankings)
    duels: Duels | None = None
    rows, excluded, unresolved, doubts, still_open = [], {}, {}, [], 0
    names: tuple[str, ...] = ()
    if isinstance(rankings, Ranking | Scores) or not isinstance(rankings, Iterable):
        got = "a single one" if isinstance(rankings, Ranking | Scores) else f"{rankings!r:.60}"
        raise ValueError(f"select needs the rankings of many inputs, such as a list of them; got {got}.")
    for k, item in enumerate(rankings):
        if not isinstance(item, Ranking | Scores):
            raise ValueError(f"Input {k} of the panel is {item!r:.60}; expected a Ranking or the Scores of a scorer.")
        scores = item.scoring if isinstance(item, Ranking) else item
        if scores.unresolved and not scores.allow_unresolved:
            raise UnresolvedError(
                f"Input {k} of the panel is unresolved: {scores.unresolved}. "
                "Leave it out, or rank with allow_unresolved=True."
            )
        if scores.unresolved:
            unresolved[k] = scores.unresolved
        names = names or scores.names
        if sorted(scores.names) == sorted(names):
            scores = scores.in_order(names)
        else:
            raise ValueError(
                f"Input {k} ranks {list(scores.names)}; expected the same candidates as input 0, {list(names)}."
            )
        for name, ok in zip(names, scores.valid, strict=True):
            if not ok:
                excluded.setdefault(name, f"no valid prediction on input {k}")
        rows.append(np.asarray(scores.values, dtype=float))
        doubts.append(np.full((len(names),) * 2, np.nan) if scores.uncertainty is None else scores.uncertainty)
        still_open += isinstance(item, Ranking) and not item.best_settled
        if rule is not None:
            duels = duels or Duels(
                len(names), tolerance=rule.tolerance, total=rule.total, reach=rule.reach, bound=bound
            )
            alive = np.array([name not in excluded for name in names])
            unknown = np.full((len(names),) * 2, np.inf)  # an unresolved input is let in, but helps to settle nothing
            duels.see(np.where(alive, scores.values, np.nan), unknown if scores.unresolved else doubts[-1])
            if alive.any() and duels.settled(alive, error):
                break
    if not rows:
        raise ValueError("No rankings: a panel needs at least one input (a generator can be read only once).")
    table = np.stack(rows)
    table[:, [name in excluded for name in names]] = np.inf  # never chosen
    if not np.any(np.isfinite(table)):
        raise ValueError(f"Every candidate is invalid on some input: {excluded}. Nothing is left to select.")
    means = table.mean(axis=0)
    selection = Selection(
        names=names,
        mean_scores=np.where(np.isfinite(means), means, np.nan),
        inputs=len(table),
        frequency=_bootstrap(table, resamples, seed),
        radius=_radius(table, bound, confidence),
        confidence=confidence,
        excluded=excluded,
        unresolved=unresolved,
        uncertainty=np.mean(doubts, axis=0),
        open_inputs=int(still_open),
    )
    if rule is None or duels is None:
        return selection
    alive = np.isfinite(selection.mean_scores)
    return replace(selection, standing=stand(duels, rule, names, names.index(selection.best), alive, confidence))


def _rule(until: Any, rankings: Any) -> Settled | None:
    if until is None:
        return None
    rule = Settled() if isinstance(until, str) and until == "settled" else until
    if not isinstance(rule, Settled):
        raise ValueError(f'until must be "settled" or a physrank.Settled(...); got {until!r}.')
    return replace(rule, total=len(rankings)) if rule.total is None and isinstance(rankings, Sized) else rule


def _whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number and at least {least}; got {value!r}.")


def _bootstrap(table: Array, resamples: int, seed: int) -> Array:
    """Share of resamples of the inputs (rows) in which each candidate has the lowest mean."""
    inputs, candidates = table.shape
    counts = np.random.default_rng(seed).multinomial(inputs, np.full(inputs, 1 / inputs), size=resamples)
    finite = np.isfinite(table).all(axis=0)
    means = np.full((resamples, candidates), np.inf)
    means[:, finite] = counts @ table[:, finite] / inputs
    return np.bincount(np.argmin(means, axis=1), minlength=candidates) / resamples


def _radius(table: Array, bound: float | None, confidence: float) -> float | None:
    if bound is None:
        return None
    if isinstance(bound, bool) or not isinstance(bound, Real):
        raise ValueError(f"bound must be a number that no score exceeds; got {bound!r}.")
    finite = table[np.isfinite(table)]
    if not (np.isfinite(bound) and finite.min() >= 0 and finite.max() <= bound):
        raise ValueError(
            f"bound must be a finite number that no score exceeds; got {bound}, but scores go from {finite.min():g} "
            f"to {finite.max():g}. The radius holds for scores from 0 to bound."
        )
    inputs, candidates = table.shape
    return mean_score_radius(bound, candidates, inputs, 1 - confidence)
