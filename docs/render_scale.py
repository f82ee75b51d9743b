"""The tables of panels on a cluster: targets, the cost model, and what it predicts."""

from collections.abc import Iterator
from typing import Any

from render_yardstick import SMALL, Target

MEGA = 1e6


def part(result: dict[str, Any], kind: str) -> dict[str, Any] | None:
    """What was measured; None: not yet, or it failed."""
    found = result["parts"].get(kind)
    return None if found is None or "failed" in found else found


def streams(result: dict[str, Any]) -> list[dict[str, Any]]:
    found = [value for name, value in result["parts"].items() if name.startswith("stream:") and "failed" not in value]
    return sorted(found, key=lambda row: row["inputs"])


def targets(result: dict[str, Any]) -> str:
    lines = ["| target | asked | measured | |", "|---|---:|---:|---|"]
    return "\n".join([*([SMALL, ""] if result["small"] else []), *lines, *(target.row for target in _targets(result))])


def _targets(result: dict[str, Any]) -> Iterator[Target]:
    what = "two processes against one, Burgers panels, ratio in one run"
    if (found := part(result, "processes")) is None:
        yield Target(what, "≥ 1.7", "not measured", None)
    else:
        cores = f"{found['ratio']:.2f} on {found['cores']} cores"
        yield Target(what, "≥ 1.7", cores, found["ratio"] >= 1.7, "The client and the scheduler share these cores.")
    what = "share of a worker's time that is not work, tasks of a size chosen by itself"
    if (found := part(result, "tasks")) is None:
        yield Target(what, "≤ 5 %", "not measured", None)
    else:
        yield Target(what, "≤ 5 %", f"{found['overhead']:.1%}", found["overhead"] <= 0.05)
    if len(rows := streams(result)) > 1:
        few, many = rows[0], rows[-1]
        ratio = many["peak_bytes"] / few["peak_bytes"]
        what = f"Burgers, 96 points: peak memory of {many['inputs']:,} inputs ÷ that of {few['inputs']:,}"
        yield Target(what, "≤ 1.2", f"{ratio:.2f}", ratio <= 1.2)
    else:
        yield Target("Burgers, 96 points: peak memory of 100,000 inputs ÷ that of 1,000", "≤ 1.2", "not measured", None)
    if (found := part(result, "candidates")) is not None:
        share = (found["peak_bytes"] - found["before_bytes"]) / found["bytes"]
        what = (
            f"{found['candidates']:,} candidates of {found['points']}², read at most twice: memory added ÷ their size"
        )
        yield Target(
            what, "< 1", f"{share:.2f} of {found['bytes'] / MEGA:,.0f} MB, {found['seconds']:.1f} s", share < 1
        )


def model(result: dict[str, Any]) -> str:
    cost, wire, tasks = (part(result, kind) for kind in ("model", "wire", "tasks"))
    lines = ["| what | |", "|---|---:|"]
    if cost is not None:
        compiled = [row["compile"] for row in cost["rows"] if row["candidates"] == cost["rows"][0]["candidates"]]
        lines += [
            f"| an input, whatever its size | {1e3 * cost['per_input']:.2f} ms |",
            f"| and for every 1,000 unknowns of it | {1e6 * cost['per_unknown']:.2f} ms |",
            f"| and for every 1,000 unknowns of every candidate | {1e6 * cost['per_unknown_and_candidate']:.3f} ms |",
            f"| this sum, at worst off by | {cost['worst']:.0%} |",
            f"| compilation, per worker and shape | {min(compiled):.1f} to {max(compiled):.1f} s |",
        ]
    if wire is not None:
        size = f"{wire['unknowns']:,} unknowns, {wire['candidates']} candidates"
        lines += [
            f"| bytes of an input sent as arrays ({size}) | {wire['arrays']:,.0f} |",
            f"| bytes of the same as functions that make or read it | {wire['functions']:,.0f} |",
            f"| bytes of its scores and doubts on their way back | {wire['scores']:,.0f} |",
        ]
    if tasks is not None:
        lines += [
            f"| a task that does nothing | {1e3 * tasks['empty_task_seconds']:.1f} ms |",
            f"| a task of the size chosen by itself | {tasks['task_seconds']:.2f} s, "
            f"{tasks['inputs'] / tasks['tasks']:.0f} inputs |",
        ]
    return "\n".join(lines)


def prediction(result: dict[str, Any]) -> str:
    found = part(result, "simulation")
    if found is None:
        return "*Not measured yet.*"
    lines = [
        f"| {found['tasks']:,} tasks on | a worker lives | predicted | simulated | off by | deaths | done again |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in found["rows"]:
        times = f"{row['predicted'] / 3600:.2f} h | {row['seconds'] / 3600:.2f} h | {row['off']:+.1%}"
        cells = f"{row['life'] / 60:.0f} min | {times} | {row['deaths']} | {row['again']}"
        lines.append(f"| {row['workers']} workers | {cells} |")
    far = found["far"]
    lines += [
        "",
        f"**{far['inputs']:,} inputs on {far['workers']} workers** ({far['tasks']:,} tasks): {far['hours']:.2f} hours "
        f"predicted, {far['simulated_hours']:.2f} simulated.",
    ]
    return "\n".join(lines)


TABLES = {"targets": targets, "model": model, "prediction": prediction}
