"""`select`: one checkpoint for repeated use, from scores averaged over an unlabeled panel of inputs."""

from collections.abc import Generator, Iterable, Sized
from contextlib import closing
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from physrank import geometry
from physrank.geometry.space import Array
from physrank.ranking.block import Failed, Failing, failing_of
from physrank.ranking.duels import Duels
from physrank.ranking.rank_panel import Panel
from physrank.ranking.ranking import Ranking
from physrank.ranking.scores import Scores, UnresolvedError
from physrank.ranking.standing import Settled, Standing, error_of, rule_of, stand
from physrank.ranking.tally import Tally


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
    failed: dict[int, str] = field(default_factory=dict)  # inputs that have no part in the choice, and why
    unit: float = 1.0  # mean scores are in units², as the scores of the first input are

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
            "failed_inputs": {str(k): why for k, why in self.failed.items()},
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
        if self.failed:
            k, why = next(iter(self.failed.items()))
            lines.append(f"  {len(self.failed)} inputs have no part in it, the first is input {k}: {why}")
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
    rankings: Iterable[Ranking | Scores | Failed],
    *,
    bound: float | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    until: str | Settled | None = None,
    failing: Failing | None = None,
    client: Any = None,
) -> Selection:
    """Average scores over a panel of inputs and choose one checkpoint.

    Main arguments: `rankings`, results of `rank`, `rank_panel` or any scorer for the same candidates on many inputs; a
    generator is consumed one at a time and only sums of its scores are kept. `client`, of `dask.distributed`: the panel that
    `rank_panel` returned is ranked by its workers, and only scores travel.

    Other arguments: `bound`, a number that no score can exceed, stated by you, for the concentration radius
    bound · √(log(2N/δ) / 2m) of independent inputs; `confidence` 1 − δ; `resamples` and `seed` of the bootstrap;
    `until="settled"`: read no further once the choice of the whole panel is settled, so that the inputs of a generator that
    are left cost nothing. `physrank.Settled(tolerance=…, total=…)` says what would not matter and how long a generator's
    panel is; inputs must come in random order. See `race` for what the verdict rests on, and to save inference too.
    `failing`: inputs that are unresolved or could not be ranked "raise", or "report": they are left out, and listed in
    `selection.failed`. Default: "report" with a client, else "raise".

    ```python
    selection = pr.select(pr.rank_panel(problems, libraries))
    print(selection.best, selection.stability)
    ```
    """
    _whole("resamples", resamples, 1)
    _whole("seed", seed, 0)
    error, rule = error_of(confidence), _rule(until, rankings)
    if isinstance(rankings, Ranking | Scores) or not isinstance(rankings, Iterable):
        got = "a single one" if isinstance(rankings, Ranking | Scores) else f"{rankings!r:.60}"
        raise ValueError(f"select needs the rankings of many inputs, such as a list of them; got {got}.")
    report = failing_of(failing, client) == "report"
    tally: Tally | None = None
    duels: Duels | None = None
    unresolved, failed = {}, {}
    with closing(_scored(rankings, client)) as items:
        for k, item in enumerate(items):
            why = item.why if isinstance(item, Failed) else None if item.allow_unresolved else item.unresolved
            if why is not None and report:
                failed[k] = why
                if duels is not None:
                    duels.see(None)
                continue
            if why is not None:
                raise UnresolvedError(
                    f"Input {k} of the panel is unresolved: {why}. "
                    'Leave it out (failing="report"), or rank with allow_unresolved=True.'
                )
            assert isinstance(item, Scores)
            if item.unresolved:
                unresolved[k] = item.unresolved
            tally = tally or Tally(item.names, item.unit)
            if sorted(item.names) != sorted(tally.names):
                raise ValueError(
                    f"Input {k} ranks {list(item.names)}; expected the same candidates as input 0, {list(tally.names)}."
                )
            scores = item.in_order(tally.names).in_unit(tally.unit)
            tally.add(k, scores)
            if rule is not None:
                stated = None if bound is None else bound / tally.unit / tally.unit
                duels = duels or _duels(len(tally.names), rule, stated, len(failed))
                duels.see(np.where(tally.alive, scores.values, np.nan), tally.doubt(scores))
                if tally.alive.any() and duels.settled(tally.alive, error):
                    break
    if tally is None:
        left = f" All {len(failed)} failed; the first: {next(iter(failed.values()))}" if failed else ""
        raise ValueError(f"No rankings: a panel needs at least one input (a generator can be read only once).{left}")
    if not tally.alive.any():
        raise ValueError(f"Every candidate is invalid on some input: {tally.excluded}. Nothing is left to select.")
    selection = Selection(
        names=tally.names,
        mean_scores=tally.means,
        inputs=tally.inputs,
        frequency=tally.frequency(resamples, seed),
        radius=_radius(tally, bound, confidence),
        confidence=confidence,
        excluded=tally.excluded,
        unresolved=unresolved,
        uncertainty=tally.doubts / tally.inputs,
        open_inputs=tally.open_inputs,
        failed=failed,
        unit=tally.unit,
    )
    if rule is None or duels is None:
        return selection
    best = tally.names.index(selection.best)
    return replace(selection, standing=stand(duels, rule, tally.names, best, tally.alive, confidence))


def _scored(rankings: Iterable[Any], client: Any) -> Generator[Scores | Failed, None, None]:
    """What a choice needs of every input. A panel makes it where it ranks."""
    if client is not None and not isinstance(rankings, Panel):
        raise ValueError(
            "A client can rank what is not ranked yet: select(rank_panel(problems, libraries), client=client). Got "
            f"{rankings!r:.60}."
        )
    items = rankings.records(scoring, client) if isinstance(rankings, Panel) and client is not None else rankings
    try:
        for k, item in enumerate(items):
            if not isinstance(item, Ranking | Scores | Failed):
                raise ValueError(f"Input {k} of the panel is {item!r:.60}; expected a Ranking or a scorer's Scores.")
            yield scoring(item) if isinstance(item, Ranking) else item
    finally:
        if isinstance(rankings, Panel):
            rankings.close()


def scoring(ranking: Ranking) -> Scores:
    """The scores of a ranking, with all that a choice over many inputs asks."""
    return replace(ranking.scoring, best_settled=ranking.best_settled)


def _duels(candidates: int, rule: Settled, bound: float | None, silent: int) -> Duels:
    """After so many inputs that say nothing."""
    duels = Duels(candidates, tolerance=rule.tolerance, total=rule.total, reach=rule.reach, bound=bound)
    for _ in range(silent):
        duels.see(None)
    return duels


def _rule(until: Any, rankings: Any) -> Settled | None:
    rule = rule_of(until)
    if rule is None or rule.total is not None:
        return rule
    total = rankings.total if isinstance(rankings, Panel) else len(rankings) if isinstance(rankings, Sized) else None
    return replace(rule, total=total)


def _whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number and at least {least}; got {value!r}.")


def _radius(tally: Tally, bound: float | None, confidence: float) -> float | None:
    if bound is None:
        return None
    if isinstance(bound, bool) or not isinstance(bound, Real):
        raise ValueError(f"bound must be a number that no score exceeds; got {bound!r}.")
    return tally.radius(float(bound) / tally.unit / tally.unit, confidence)
