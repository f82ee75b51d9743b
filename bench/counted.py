"""Adversarial trials of every certificate, counted: no claim of kind `theorem` or `validated` may be false.

    python bench/counted.py --out results/trials.json [--trials 10000] [--only TEXT] [--part 1000] [--parts N]

Each lane is that of a file tests/certificates/test_*_trials.py: references in many digits or exact solutions, anchors that
are computed solutions, growth, bad condition, extreme scales, near ties along the error. Parts are counted as they end, each
with a seed of its own and the commit it ran at, the lane that lags behind first; a run goes on where the last one stopped:
delete the file to count anew. Several may run side by side. Exits with 1 where a claim was false. Compiled programs are kept
in the folder that PHYSRANK_COMPILATIONS names, if it does.
"""

import argparse
import contextlib
import fcntl
import importlib
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax

from physrank._io import write_json
from physrank.lab.store.provenance import stamp

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "certificates")]

import trials  # noqa: E402

LANES = {  # of which certificate: the file, the trial in it
    "StronglyMonotone, reaction–diffusion": ("test_reaction_diffusion_trials", "theorem"),
    "StronglyMonotone, other linear tasks": ("test_monotone_trials", "trial"),
    "StronglyMonotone, metric of one's own": ("test_monotone_trials", "stated"),
    "ValidatedReactionDiffusion": ("test_reaction_diffusion_trials", "trial"),
    "ContinuumReactionDiffusion": ("test_reaction_diffusion_continuum_trials", "trial"),
    "ContinuumReactionDiffusion, reaction of one's own": ("test_reaction_diffusion_continuum_trials", "own"),
    "RoughReactionDiffusion": ("test_reaction_diffusion_rough_trials", "trial"),
    "RoughReactionDiffusion, reaction of one's own": ("test_reaction_diffusion_rough_trials", "own"),
    "BurgersEnergy": ("test_burgers_trials", "trial"),
    "ValidatedBurgers": ("test_burgers_trials", "validated"),
    "SineGordonEnergy, same grid": ("test_sine_gordon_trials", "on_the_grid"),
    "SineGordonEnergy, continuum": ("test_sine_gordon_trials", "in_the_continuum"),
    "DiffusionReactionEnergy": ("test_diffusion_reaction_trials", "trial"),
    "LocalNewton": ("test_newton_trials", "trial"),
    "EnclosedZero": ("test_own_stationary_trials", "trial"),
    "EnclosedMarch": ("test_own_marching_trials", "trial"),
}
FIRST_SEED = 10_000


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--out", type=Path, required=True)
    asked.add_argument("--trials", type=int, default=10_000)
    asked.add_argument("--part", type=int, default=1_000)
    asked.add_argument("--parts", type=int, default=10**9, help="how many of them to run, at most")
    asked.add_argument("--only", default="")
    given = asked.parse_args()
    if folder := os.environ.get("PHYSRANK_COMPILATIONS"):
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    chosen = [name for name in LANES if given.only in name]
    for _ in range(given.parts):
        name = max(chosen, key=lambda name: _missing(given.out, name, given.trials))
        number = min(given.part, _missing(given.out, name, given.trials))
        if number <= 0:
            break
        _run_part(given.out, name, number)
        jax.clear_caches()  # programs of other lanes only take memory
    stored = _stored(given.out)
    sys.exit(any(stored[name]["false"] for name in chosen if name in stored))


def _run_part(out: Path, name: str, number: int) -> None:
    with _alone(out):  # takes the next seed
        stored = _stored(out)
        row = stored.setdefault(name, {"parts": 0, "cpu_seconds": 0.0, "commits": []} | asdict(trials.Verdict()))
        seed, row["parts"] = FIRST_SEED + row["parts"], row["parts"] + 1
        _write(out, stored)
    started, (file, what) = time.process_time(), LANES[name]
    found = trials.lane(getattr(importlib.import_module(file), what), number, seed)
    with _alone(out):
        stored = _stored(out)
        row, commit = stored[name], stamp({})["provenance"]["commit"]
        row |= {key: row[key] + value for key, value in asdict(found).items()}
        row["cpu_seconds"] = round(row["cpu_seconds"] + time.process_time() - started, 1)
        row["commits"] = sorted({*row["commits"], str(commit)})
        _write(out, stored)
    said = f"{row['abstained']} abstained, {row['decided']} of {row['pairs']} pairs decided, {row['false']} false"
    print(f"{name}: {row['trials']} trials, {said} ({row['cpu_seconds']:.0f} s)", flush=True)


@contextlib.contextmanager
def _alone(out: Path) -> Iterator[None]:
    with open(out.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _stored(out: Path) -> dict[str, Any]:
    return json.loads(out.read_text())["results"] if out.exists() else {}


def _write(out: Path, results: dict[str, Any]) -> None:
    ordered = {name: results[name] for name in [*LANES, *results] if name in results}  # others may know more lanes
    write_json(out, stamp({"first_seed": FIRST_SEED, "results": ordered}))


def _missing(out: Path, name: str, wanted: int) -> int:
    return wanted - _stored(out).get(name, {"trials": 0})["trials"]


if __name__ == "__main__":
    main()
