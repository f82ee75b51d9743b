"""Provenance: what every stored result says about where it came from."""

import hashlib
import json
import platform
import subprocess
from pathlib import Path
from typing import Any

import jax
import numpy as np

from physrank._version import __version__


def stamp(result: dict[str, Any]) -> dict[str, Any]:
    """`result` with version, commit, software and a hash of its content."""
    provenance = {
        "physrank": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "jax": jax.__version__,
        "numpy": np.__version__,
        "content_sha256": _hash(result),
    }
    return {**result, "provenance": provenance}


def unchanged(stamped: dict[str, Any]) -> bool:
    """Whether a stored result is what its stamp says."""
    result = {key: value for key, value in stamped.items() if key != "provenance"}
    return _hash(result) == stamped.get("provenance", {}).get("content_sha256")


def _hash(result: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(result, sort_keys=True, allow_nan=False).encode()).hexdigest()


def _commit() -> str | None:
    """The checkout's commit, with a mark when files differ from it; None outside a checkout."""
    folder = Path(__file__).parent
    try:
        commit = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"], cwd=folder, capture_output=True, text=True, check=True
        )
        changed = subprocess.run(
            ["git", "status", "--porcelain", "--", ":/", ":(top,exclude)results"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit.stdout.strip() + ("+changes" if changed.stdout.strip() else "")
