"""The result of `choose`: which model to keep, how far that is settled, and what it took."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from physrank._io import write_json
from physrank.ranking import Race, Selection


@dataclass(frozen=True)
class Price:
    """What a choice took, and what running every model on every input would have taken besides."""

    runs: int  # of models: one for each model and input
    runs_saved: int
    solves: int
    model_seconds: float
    physics_seconds: float

    def __str__(self) -> str:
        saved = f", {self.runs_saved} saved" if self.runs_saved else ""
        return (
            f"{self.runs} model runs{saved} in {self.model_seconds:.3g} s, {self.solves} solves in "
            f"{self.physics_seconds:.3g} s"
        )


@dataclass(frozen=True, eq=False)
class Choice:
    """The chosen model. `found` is the `Selection` or the `Race` behind it."""

    best: str
    found: Selection | Race
    spent: Price
    unresolved: dict[int, str]  # inputs that decided nothing, and why
    models: Mapping[str, Any] = field(repr=False)

    @property
    def settled(self) -> bool | None:
        """Whether the choice is settled; None where nothing was asked that could tell (`until=`, `bound=`)."""
        return self.found.settled

    @property
    def stability(self) -> float | None:
        """How often the choice survives resampling the inputs; None for a race, which says `settled` instead."""
        return self.found.stability if isinstance(self.found, Selection) else None

    @property
    def path(self) -> Path | None:
        """The file of the chosen checkpoint; None where models did not come from files."""
        return getattr(self.models, "paths", {}).get(self.best)

    def load(self) -> Any:
        """The chosen model itself."""
        return self.models[self.best]

    def to_dict(self) -> dict[str, Any]:
        """Plain Python, ready for JSON."""
        return {
            "best": self.best,
            "path": None if self.path is None else self.path.as_posix(),
            "settled": self.settled,
            "stability": self.stability,
            "spent": vars(self.spent),
            "unresolved_inputs": {str(k): why for k, why in self.unresolved.items()},
            "found": self.found.to_dict(),
        }

    def to_json(self, path: str | os.PathLike[str]) -> Path:
        """Write `to_dict()`; an existing file stays intact until the new one is complete."""
        return write_json(path, self.to_dict())

    def __str__(self) -> str:
        where = "" if self.path is None else f" ({self.path})"
        lines = [f"keep {self.best}{where}", str(self.found), f"  spent: {self.spent}"]
        if self.unresolved and isinstance(self.found, Selection):
            lines.append(f"  {len(self.unresolved)} inputs are unresolved and were left out")
        return "\n".join(lines)

    __repr__ = __str__
