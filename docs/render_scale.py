"""The tables of panels on a cluster: targets, the cost model, and what it predicts."""

from collections.abc import Iterator
from typing import Any

from render_yardstick import Target

MEGA = 1e6
IDLE = 0.1  # share of the machine that others may take
KILLS = 200  # that were asked for


def part(result: dict[str, Any], kind: str) -> dict[str, Any] | None:
    """What was measured; None: not yet, or it failed."""
    found = result["parts"].get(kind)
    return None if found is None or "failed" in found else found


def numbered(result: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """What was measured for several numbers of inputs."""
    found = [value for name, value in result["parts"].items() if name.startswith(kind) and "failed" not in value]
    return sorted(found, key=lambda row: row["inputs"])


def targets(result: dict[str, Any]) -> str:
    lines = ["| target | asked | measured | |", "|---|---:|---:|---|"]
    return "\n".join([*_small(result), *lines, *(target.row for target in _targets(result))])


def _small(result: dict[str, Any]) -> list[str]:
    names = [name for name, found in result["parts"].items() if found["small"]]
    said = f"*Of a small run on a busy machine, for the shape of the tables: {', '.join(names)}. Times are not to be quoted.*"
    return [said, ""] if names else []


def _targets(result: dict[str, Any]) -> Iterator[Target]:
    what = "two processes against one, Burgers panels, ratio in one run"
    if (found := part(result, "processes")) is None:
        yield Target(what, "≥ 1.7", "not measured", None)
    else:
        cores = f"{found['ratio']:.2f} on {found['cores']} cores{_beside(found)}"
        met = found["ratio"] >= 1.7 if _idle(found) else None
        yield Target(what, "≥ 1.7", cores, met, "The client and the scheduler share these cores.")
    what = "share of a worker's time that is not work, tasks of a size chosen by itself"
    if (found := part(result, "tasks")) is None:
        yield Target(what, "≤ 5 %", "not measured", None)
    else:
        met = found["overhead"] <= 0.05 if _idle(found) else None
        yield Target(what, "≤ 5 %", f"{found['overhead']:.1%}{_beside(found)}", met)
    if len(rows := numbered(result, "stream:")) > 1:
        few, many = rows[0], rows[-1]
        ratio = many["peak_bytes"] / few["peak_bytes"]
        what = f"Burgers, 96 points: peak memory of {many['inputs']:,} inputs ÷ that of {few['inputs']:,}"
        yield Target(what, "≤ 1.2", f"{ratio:.2f}", ratio <= 1.2)
    else:
        yield Target("Burgers, 96 points: peak memory of 100,000 inputs ÷ that of 1,000", "≤ 1.2", "not measured", None)
    if len(rows := numbered(result, "memory:")) > 1:
        few, many = rows[0], rows[-1]
        for who in ("client", "worker"):
            ratio = many[f"{who}_bytes"] / few[f"{who}_bytes"]
            what = f"through a cluster: peak of the {who}, {many['inputs']:,} inputs ÷ {few['inputs']:,}"
            yield Target(what, "≤ 1.2", f"{ratio:.2f} of {few[f'{who}_bytes'] / MEGA:,.0f} MB", ratio <= 1.2)
    if (found := part(result, "candidates")) is not None:
        share = (found["peak_bytes"] - found["before_bytes"]) / found["bytes"]
        size = f"{found['candidates']:,} candidates of {found['points']}²"
        if "reads" in found:
            reads = f"{found['most_reads']} ({found['reads']:,} reads in all)"
            yield Target(f"{size}: times that any is read, at most", "≤ 2", reads, found["most_reads"] <= 2)
        measured = f"{share:.2f} of {found['bytes'] / MEGA:,.0f} MB, {found['seconds']:.1f} s"
        yield Target(f"{size}: memory added ÷ their size", "< 1", measured, share < 1)
    what = "workers killed at random moments: inputs lost, counted twice or other than here"
    if (found := part(result, "kills")) is None:
        yield Target(f"{KILLS} {what}", "0", "not measured", None)
    else:
        yield Target(f"{found['kills']} {what}", "0", f"0 of {found['inputs']:,}", found["kills"] >= KILLS)


def _idle(found: dict[str, Any]) -> bool:
    """On a machine that is not, times say little, and two processes get a larger share of it than one."""
    return found.get("elsewhere", 1.0) <= IDLE


def _beside(found: dict[str, Any]) -> str:
    taken = f"{found['elsewhere']:.0%}" if "elsewhere" in found else "an unknown part"
    return "" if _idle(found) else f", while others took {taken} of the machine"


def model(result: dict[str, Any]) -> str:
    cost, wire, tasks = (part(result, kind) for kind in ("model", "wire", "tasks"))
    lines = ["| what | |", "|---|---:|"]
    if cost is not None:
        compiled = [row["compile"] for row in cost["rows"] if row["candidates"] == cost["rows"][0]["candidates"]]
        lines += [
            f"| an input, whatever its size | {1e3 * cost['per_input']:.2f} ms |",
            f"| and for every candidate of it | {1e3 * cost['per_candidate']:.3f} ms |",
            f"| and for every 1,000 unknowns of it | {1e6 * cost['per_unknown']:.2f} ms |",
            f"| and for every 1,000 unknowns of every candidate | {1e6 * cost['per_unknown_and_candidate']:.3f} ms |",
            f"| this sum, at worst off by | {cost['worst']:.0%} |",
            f"| compilation, per worker and shape | {min(compiled):.1f} to {max(compiled):.1f} s |",
        ]
    if wire is not None:
        size = f"{wire['unknowns']:,} unknowns, {wire['candidates']} candidates"
        costs = [wire[key] for key in ("per_input", "per_candidate", "per_unknown", "per_unknown_and_candidate")]
        lines += [
            f"| bytes of an input sent as arrays ({size}) | {wire['arrays']:,.0f} |",
            "| of these: for the input, for every candidate, for every unknown, for every unknown of every candidate | "
            f"{costs[0]:,.0f}, {costs[1]:,.0f}, {costs[2]:.1f}, {costs[3]:.1f} |",
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
    if "real" in found:
        said = (
            f"{row['predicted']:.0f} inputs a second predicted, {row['measured']:.0f} measured on {row['workers']}"
            for row in found["real"]
        )
        lines += ["", f"The cost of an input against what real workers did: {'; '.join(said)}."]
    return "\n".join(lines)


TABLES = {"targets": targets, "model": model, "prediction": prediction}
