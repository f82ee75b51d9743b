"""Small faults that tests must notice, read from tests/mutants/*.txt; `make mutants` puts them in one by one.

    [certificates/sine_gordon.py] certificates/test_sine_gordon.py      the file, and the tests that should notice
    near / 2, largest + near / 2 ⇒ near / 3, largest + near / 3        what stands there once, and the fault
    least - near ⇒ least ⇐ certificates/test_terminal.py::test_name    … which other tests should notice

A line break in a text is written ⏎; a test with a minus before it is left out, because it is slow and others notice.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parent
LISTS = TESTS / "mutants"


@dataclass(frozen=True)
class Mutant:
    """One fault: `text`, which stands once in `file`, replaced."""

    file: str  # in the checkout
    text: str
    replacement: str
    tests: tuple[str, ...]  # files or functions of tests; with a minus: not these

    def applied(self, source: str) -> str:
        if (found := source.count(self.text)) != 1:
            raise ValueError(f"{self.file} has {self.text!r} {found} times; expected once. Mend tests/mutants.")
        return source.replace(self.text, self.replacement)

    def __str__(self) -> str:
        return f"{self.file.removeprefix('src/physrank/')}: {self.text} ⇒ {self.replacement}".replace("\n", "⏎")


def mutants() -> list[Mutant]:
    return [mutant for path in sorted(LISTS.glob("*.txt")) for mutant in read(path.read_text(encoding="utf-8"))]


def read(text: str) -> Iterator[Mutant]:
    file, tests = "", ()
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if heading := re.fullmatch(r"\[(\S+)\] (.+)", line):
            file, tests = f"src/physrank/{heading[1]}", tuple(heading[2].split())
            continue
        change, _, instead = line.partition(" ⇐ ")
        original, arrow, replacement = change.partition(" ⇒")
        if not (file and arrow):
            raise ValueError(f"Expected “text ⇒ replacement” after a heading “[file] tests”; got {line!r}.")
        text, fault = (part.strip().replace("⏎", "\n") for part in (original, replacement))
        yield Mutant(file, text, fault, tuple(instead.split()) or tests)
