"""The yardstick: accuracy against cost for every equation, growth, memory and cold starts, on one thread.

    python bench/yardstick.py [--out results/yardstick.json] [--only PART …] [--small]

Parts: `front:<equation>`, `size:2d-<points>`, `size:3d-<points>`, `candidates`, `steps`, `inputs`, `start:<equation>`; a name
without what follows its colon means all of that kind. Written after every part; an interrupted run goes on with what is
missing, and `--only` measures its parts anew. The pictures are drawn beside the results. `--small` tries everything on
little; what it stores says so.
"""

import argparse
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core, before any library starts its threads
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import fronts  # noqa: E402
import growth  # noqa: E402
import pictures  # noqa: E402
from cases import MEASURED  # noqa: E402

from physrank._io import write_json  # noqa: E402
from physrank.lab.store.provenance import stamp  # noqa: E402
from physrank.report import png  # noqa: E402

Parts = dict[str, Callable[[], dict[str, Any]]]
SIZES = {2: (64, 128, 256, 512, 1024, 2048), 3: (32, 64, 96, 128)}
SMALL_SIZES = {2: (64, 128, 256), 3: (16, 32)}


def parts(small: bool) -> Parts:
    found: Parts = {}
    for name, population in MEASURED.items():
        inputs, repeats = (2, 1) if small else (population.inputs, population.repeats)
        found[f"front:{name}"] = partial(fronts.measure, population, inputs, repeats)
    for dims, sizes in (SMALL_SIZES if small else SIZES).items():
        for points in sizes:
            repeats = 7 if points**dims <= 1 << 18 else 3
            found[f"size:{dims}d-{points}"] = partial(growth.child, "size", dims, points, repeats)
    powers = (2, 8, 32) if small else (2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
    found["candidates"] = partial(growth.candidates, powers, 5)
    found["steps"] = partial(growth.steps, (12, 24, 47) if small else (12, 24, 47, 94, 188, 376), 9)
    found["inputs"] = partial(growth.inputs, (1, 4, 16) if small else (1, 4, 16, 64, 256), 3)
    for name in ("burgers", "reaction_diffusion"):
        found[f"start:{name}"] = partial(growth.starts, name)
    return found


def wanted(names: list[str], only: list[str] | None, stored: dict[str, Any]) -> list[str]:
    """Those asked for, by name or by kind; else those that are missing or failed."""
    if only is None:
        return [name for name in names if "failed" in stored.get(name, {"failed": "never run"})]
    chosen = [name for name in names if any(name == part or name.startswith(f"{part}:") for part in only)]
    unknown = [part for part in only if not any(n == part or n.startswith(f"{part}:") for n in names)]
    if unknown:
        raise SystemExit(f"There is no part {unknown[0]!r}; expected one of {', '.join(names)}.")
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results/yardstick.json"))
    parser.add_argument("--only", nargs="+", metavar="PART")
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    stored: dict[str, Any] = {}
    if given.out.exists():
        before = json.loads(given.out.read_text(encoding="utf-8"))
        stored = before["parts"] if before["small"] == given.small else {}
    runs = parts(given.small)
    for name in wanted(list(runs), given.only, stored):
        print(f"{name} …", flush=True)
        try:
            found = runs[name]()
        except RuntimeError as error:  # kept and shown; the next run tries again
            found = {"failed": str(error)}
        print(f"   {summary(found)}", flush=True)
        # Parts of a resumed run may come from different commits.
        stored[name] = found | {"commit": stamp({})["provenance"]["commit"]}
        ordered = {key: stored[key] for key in runs if key in stored}
        write_json(given.out, stamp({"threads": 1, "small": given.small, "parts": ordered}))
    for suffix, figure in pictures.drawn({"small": given.small, "parts": stored}).items():
        given.out.with_name(f"{given.out.stem}{suffix}.png").write_bytes(png(figure))


def summary(found: dict[str, Any]) -> str:
    if "methods" in found:
        rows = found["methods"].items()
        said = [f"{name} {1e3 * row['seconds']:.3g} ms {row['right']}/{found['pairs']}" for name, row in rows]
        ratio = found["methods"]["auto"]["cpu_seconds"] / found["methods"][found["own_grid"]]["cpu_seconds"]
        return "; ".join([*said, f"auto ÷ {found['own_grid']} in processor time {ratio:.3f}"])
    return json.dumps(found, ensure_ascii=False)


if __name__ == "__main__":
    main()
