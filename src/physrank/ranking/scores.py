"""Scores: one number per candidate, lower is better, and the decisions that follow."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from physrank import geometry
from physrank._later import WhenAsked
from physrank.geometry.space import Array


class UnresolvedError(RuntimeError):
    """A decision was asked of a calculation that did not succeed."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores aligned with `names`; NaN for excluded candidates. What any scorer returns."""

    method: str
    names: tuple[str, ...]
    values: Array
    unresolved: str | None = None  # why the scores must not be trusted; None: they may be
    solves: int = 0  # physics solves spent
    seconds: float = 0.0
    allow_unresolved: bool = field(default=False, repr=False)
    excluded: dict[str, str] = field(default_factory=dict)  # candidate → why it has no score
    # N × N: how far each gap may still move; None: the method does not say
    uncertainty: Any = WhenAsked()  # noqa: RUF009
    unit: float = 1.0  # values are in units², where squares of the numbers themselves would leave float64
    best_settled: bool | None = None  # whether its best candidate is; None: nobody asked

    def __post_init__(self) -> None:
        valid = self.valid.tolist()
        missing = [name for name, ok in zip(self.names, valid, strict=True) if not ok and name not in self.excluded]
        if missing:
            object.__setattr__(self, "excluded", self.excluded | dict.fromkeys(missing, "its score is not finite"))
        if self.unresolved is None and not any(valid):
            object.__setattr__(self, "unresolved", "no candidate received a finite score")

    def timed(self, seconds: float) -> "Scores":
        """The same with what it took."""
        again = object.__new__(Scores)  # `replace` would ask for what nobody has asked for yet, and check all again
        vars(again).update(vars(self), seconds=seconds)
        return again

    @property
    def valid(self) -> np.ndarray:
        return np.isfinite(self.values)

    def in_order(self, names: tuple[str, ...]) -> "Scores":
        """The same scores with the candidates in another order."""
        if names == self.names:
            return self
        places = [self.names.index(name) for name in names]
        doubt = None if self.uncertainty is None else self.uncertainty[np.ix_(places, places)]
        return replace(self, names=names, values=np.asarray(self.values)[places], uncertainty=doubt)

    def in_unit(self, unit: float) -> "Scores":
        """The same scores in units² of another: numbers of different units must not be added."""
        if unit == self.unit:
            return self
        ratio = self.unit / unit
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            values = np.asarray(self.values) * ratio * ratio
            doubt = None if self.uncertainty is None else self.uncertainty * ratio * ratio
        if np.any(np.isfinite(self.values) & ~np.isfinite(values)):
            raise ValueError(
                f"Scores in units of {self.unit:.3g}² leave float64 in units of {unit:.3g}²: these inputs are of sizes too "
                "different to be averaged. Scale them, or choose for each kind by itself."
            )
        return replace(self, values=values, uncertainty=doubt, unit=unit)

    def choose(self, *, allow_unresolved: bool = False) -> str:
        """The best candidate's name; ties go to the earlier candidate."""
        return self.ordered(allow_unresolved=allow_unresolved)[0]

    def ordered(self, *, allow_unresolved: bool = False) -> list[str]:
        """Names best to worst, excluded candidates left out."""
        if self.unresolved and not (allow_unresolved or self.allow_unresolved):
            raise UnresolvedError(
                f"{self.method}: unresolved, because {self.unresolved}. The scores are kept for inspection; "
                "to read a choice from them all the same, call choose(allow_unresolved=True) "
                "or rank(..., allow_unresolved=True)."
            )
        if not self.valid.any():
            raise UnresolvedError(f"{self.method}: there is no finite score to choose by: {self.unresolved}.")
        return [self.names[i] for i in geometry.best_first(self.values) if self.valid[i]]

    @property
    def best(self) -> str:
        return self.choose()

    @property
    def order(self) -> list[str]:
        return self.ordered()

    @property
    def gaps(self) -> Array:
        """`gaps[i, j] = S_j − S_i`: positive where i is preferred to j."""
        return geometry.gap_matrix(self.values)

    def labels(self, tolerance: float = 0.0) -> np.ma.MaskedArray:
        """+1 where i is preferred to j, −1 where j is, 0 for a tie; masked where a candidate is excluded."""
        self.ordered()  # refuses when unresolved
        with np.errstate(invalid="ignore"):
            signs = geometry.pair_labels(np.where(self.valid, self.values, 0.0), self._in_units(tolerance))
        return np.ma.masked_array(signs, mask=~(self.valid[:, None] & self.valid[None, :]))

    def __str__(self) -> str:
        lines = [self.method] + ([f"UNRESOLVED: {self.unresolved}"] if self.unresolved else [])
        width = max(map(len, self.names))
        ordered = self.ordered(allow_unresolved=True) if self.valid.any() else []
        for place, name in enumerate(ordered, start=1):
            lines.append(f"{place:3d}  {name:<{width}}  score {self.values[self.names.index(name)]:.4g}")
        lines += [f"  –  {name:<{width}}  excluded: {why}" for name, why in self.excluded.items()]
        return "\n".join(lines)

    def winners(self, tolerance: float) -> list[str]:
        """Every candidate whose score is within `tolerance` of the best."""
        best = self.values[self.names.index(self.best)]
        most = best + self._in_units(tolerance)
        return [name for name, value in zip(self.names, self.values, strict=True) if value <= most]

    def _in_units(self, tolerance: float) -> float:
        with np.errstate(over="ignore"):  # in units that small, everything is within it
            return float(np.float64(tolerance) / self.unit / self.unit)
