"""After a lane has passed: on what, and on which day, kept in results/lanes.json.

.venv-oldest/bin/python requirements/lanes.py oldest
"""

import json
import platform
import re
import sys
import tomllib
from datetime import date
from importlib.metadata import version
from pathlib import Path

from physrank._io import write_json
from physrank.lab.store.provenance import stamp

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "results" / "lanes.json"


def seen() -> dict:
    """The day, the interpreter and every package that the instrument itself names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.split(r"[^\w-]", each)[0] for each in project["dependencies"]]
    versions = {name: version(name) for name in names}
    return {"date": date.today().isoformat(), "python": platform.python_version(), "versions": versions}


if __name__ == "__main__":
    old = json.loads(KEPT.read_text(encoding="utf-8"))["results"] if KEPT.exists() else {}
    write_json(KEPT, stamp({"results": old | {sys.argv[1]: seen()}}))
