"""Checkpoints: weights as safetensors, and a small JSON that says what they are.

Needs the `lab` extra (`pip install .[lab]`).
"""

from pathlib import Path
from typing import Any

import torch

from physrank import models
from physrank._io import write_json
from physrank.lab.libraries import AnyLibrary, Profile
from physrank.lab.store.files import StoreError, check_settings, read_json, sha256

MAX_BYTES = 2_000_000_000


def folder(store: Path, profile: Profile, library: AnyLibrary, run: int) -> Path:
    return store / profile.name / library.name / f"run{run}"


def paths(directory: Path, epoch: int) -> tuple[Path, Path]:
    return directory / f"epoch{epoch}.safetensors", directory / f"epoch{epoch}.json"


def save(directory: Path, epoch: int, model: torch.nn.Module, settings: dict[str, Any], facts: dict[str, Any]) -> None:
    """Weights first, their description last: a description without whole weights cannot exist."""
    weights, description = paths(directory, epoch)
    models.save(weights, model)
    write_json(description, {"settings": settings, "epoch": epoch, **facts, "sha256": sha256(weights)})


def describe(directory: Path, epoch: int, settings: dict[str, Any]) -> dict[str, Any] | None:
    """The description of a finished checkpoint, or None; other settings or damaged weights are errors."""
    weights, description = paths(directory, epoch)
    if not description.exists():
        return None
    facts = read_json(description)
    check_settings(description, facts.get("settings", {}), settings)
    if not weights.exists():
        raise StoreError(f"{weights} is missing although {description.name} describes it. Delete the description.")
    if weights.stat().st_size > MAX_BYTES:
        raise StoreError(f"{weights} has {weights.stat().st_size} bytes; expected at most {MAX_BYTES}.")
    if (found := sha256(weights)) != facts.get("sha256"):
        raise StoreError(
            f"{weights} does not match its description (sha256 {found[:12]}…, expected {str(facts.get('sha256'))[:12]}…): "
            "truncated or not ours. Delete both and train again."
        )
    return facts


def load(directory: Path, epoch: int, model: torch.nn.Module, settings: dict[str, Any]) -> dict[str, Any]:
    """Fill `model` with stored weights; returns their description. Safetensors cannot execute anything."""
    facts = describe(directory, epoch, settings)
    weights, description = paths(directory, epoch)
    if facts is None:
        raise StoreError(f"{description} does not exist: the run has not reached epoch {epoch}. Run `physrank train`.")
    try:
        models.fill(model, models.load(weights), str(weights))
    except (RuntimeError, ValueError, OSError) as problem:
        raise StoreError(str(problem)) from None
    return facts
