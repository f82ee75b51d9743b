"""Stored results as figures ask for them: by study, and by what in it; what is missing is said with the command for it."""

from pathlib import Path
from typing import Any

from physrank.lab.store.files import read_json

SHIPPED = "shipped"  # results/figures.json: measured from the predictions that ship with the package


class Missing(Exception):
    """A figure cannot be drawn yet: which study it waits for, and why."""

    def __init__(self, study: str, why: str):
        super().__init__(f"{why}: run `{command(study)}`")
        self.study = study


def command(study: str) -> str:
    return "physrank figures --measure" if study == SHIPPED else f"physrank study {study}"


class Stored:
    """The results of one folder and profile; `used` collects what a figure was drawn from, `wanted` what it asked in vain."""

    def __init__(self, results: Path, profile: str = "laptop"):
        self.results, self.profile = results, profile
        self.used: list[str] = []
        self.wanted: list[str] = []

    def path(self, study: str) -> Path:
        return (
            self.results / "figures.json"
            if study == SHIPPED
            else self.results / "studies" / self.profile / f"{study}.json"
        )

    def of(self, study: str, *keys: str) -> Any:
        """What the study stored under these keys, one below the other."""
        path = self.path(study)
        found: Any = read_json(path) if path.exists() else {}
        for key in keys:
            if key not in found:
                self.wanted.append(study)
                what = f"no {' → '.join(keys)} in its stored result" if path.exists() else "no stored result"
                raise Missing(study, f"{study} has {what}")
            found = found[key]
        if study not in self.used:
            self.used.append(study)
        return found

    def has(self, study: str, *keys: str) -> bool:
        before = list(self.used)
        try:
            self.of(study, *keys)
        except Missing:
            return False
        self.used = before
        return True

    def population(self) -> tuple[dict[str, Any], str]:
        """Arrays of the primary study where it stored them, else those of the shipped predictions, and which they are."""
        if self.has("primary", "pictured"):
            found = self.of("primary", "pictured")
            return found, f"{found['cases']:,} cases of the eight primary libraries"
        found = self.of(SHIPPED, "population")
        return found, f"{found['cases']:,} cases of the four shipped libraries"
