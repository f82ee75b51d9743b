"""Problem files: a little TOML that names a built-in equation, its grid, its numbers and the task. Nothing in it is run."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from physrank.cli.naming import plain, unknown

MOST_BYTES = 100_000
KEYS: dict[str, tuple[type, ...]] = {
    "equation": (str,),
    "task": (str,),
    "layout": (str,),
    "dims": (str,),
    "fields": (str,),
    "from_frame": (int,),
    "decide": (str,),
    "effort": (str,),
    "tolerance": (int, float),
}
TABLES = ("grid", "numbers", "uncertainty")
CODE = ("python", "module", "import", "exec", "script", "code", "factory")


@dataclass(frozen=True)
class ProblemFile:
    """What a file states, and where in it."""

    path: str = ""
    text: str = field(default="", repr=False)
    top: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)
    uncertainty: dict[str, Any] = field(default_factory=dict)

    def where(self, table: str, key: str) -> str:
        """problem.toml, line 7, [numbers] viscosity."""
        return _where(self.path, self.text, table, key)


def load(path: Path) -> ProblemFile:
    """Read and check a problem file; every error names the file, the line and the key."""
    text = _text(path)
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as problem:
        why = "it is nested too deeply" if isinstance(problem, RecursionError) else problem
        raise ValueError(f"{path} is not a TOML file: {why}.") from None
    found: dict[str, Any] = {"top": {}} | {table: {} for table in TABLES}
    for key, value in content.items():
        where = _where(str(path), text, "", key)
        if key in CODE:
            raise ValueError(
                f"{where}: a problem file names no code, because files are passed on and code runs. Name it on the line, "
                "where you see it: --python my_pde.py:problem_of."
            )
        if key in TABLES:
            found[key] = _table(path, text, key, value)
        elif key not in KEYS:
            raise ValueError(f"{where}: {unknown('key', key, [*KEYS, *TABLES])}")
        elif not isinstance(value, KEYS[key]) or isinstance(value, bool):
            kinds = " or ".join({int: "a whole number", float: "a number", str: "a text"}[kind] for kind in KEYS[key])
            raise ValueError(f"{where}: expected {kinds}; got {value!r:.60}.")
        else:
            found["top"][key] = value
    return ProblemFile(str(path), text, **found)


def _table(path: Path, text: str, table: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{_where(str(path), text, '', table)}: expected a table, [{table}]; got {value!r:.60}.")
    for key, entry in value.items():
        if not plain(entry):
            where = _where(str(path), text, table, key)
            raise ValueError(f"{where}: expected a number, a word or a list of numbers; got {entry!r:.60}.")
    return {key: tuple(entry) if isinstance(entry, list) else entry for key, entry in value.items()}


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise ValueError(f"{path} is not a file; expected a problem file. `physrank init` writes one.")
        if (size := path.stat().st_size) > MOST_BYTES:
            raise ValueError(f"{path} has {size} bytes; a problem file has at most {MOST_BYTES}.")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text in UTF-8.") from None
    except OSError as problem:
        raise ValueError(f"{path} cannot be read: {problem.strerror}.") from None


def _where(path: str, text: str, table: str, key: str) -> str:
    """tomllib forgets where things were: the first line of that table which begins with the key."""
    inside, named = "", re.compile(rf"""["']?{re.escape(key)}["']?\s*[=.]""")
    header = re.compile(rf"""\[+\s*["']?{re.escape(key)}["']?\s*[.\]]""")
    shown = f"[{table}] {key}" if table else key
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not table and header.match(stripped):
            return f"{path}, line {number}, [{key}]"
        if found := re.match(r"\[+\s*([^\]]+?)\s*\]", stripped):
            inside = found.group(1).strip("\"'")
        elif inside == table and named.match(stripped):
            return f"{path}, line {number}, {shown}"
    return f"{path}, {shown}"
