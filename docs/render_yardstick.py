"""The tables of the yardstick: every target beside what was measured, every method of every front, growth and starts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from physrank.physics.transforms import SINE_FROM

GIB = 2**30
WITHIN = 0.9  # a solve dominates when it costs less than so much of ranking and orders no fewer pairs rightly
SMALL = (
    "*A small run, for the shape of the tables: two inputs per equation, one repetition, a busy machine. Times are not to be "
    "quoted.*"
)


@dataclass(frozen=True)
class Target:
    """What was asked, what was found, and why where it is not met."""

    what: str
    asked: str
    found: str
    met: bool | None  # None: not measured
    why: str = ""

    @property
    def row(self) -> str:
        verdict = {None: "", True: "met", False: f"**not met.** {self.why}".strip()}[self.met]
        return f"| {self.what} | {self.asked} | {self.found} | {verdict} |"


def measured(result: dict[str, Any], kind: str) -> dict[str, Any]:
    found = {name: part for name, part in result["parts"].items() if name.split(":")[0] == kind}
    return {name.split(":")[-1]: part for name, part in found.items() if "failed" not in part}


def targets(result: dict[str, Any], doubt: dict[str, Any], race: dict[str, Any]) -> str:
    rows = [
        *_decisions(result, doubt),
        *_costs(result),
        *_dominated(result),
        *_growth(result),
        *_large(result),
        _race(race),
    ]
    met, tried = sum(target.met is True for target in rows), sum(target.met is not None for target in rows)
    lines = [
        f"{met} of the {tried} measured ones are met.",
        "",
        "| target | asked | measured | |",
        "|---|---:|---:|---|",
    ]
    return "\n".join([*([SMALL, ""] if result["small"] else []), *lines, *(target.row for target in rows)])


def _decisions(result: dict[str, Any], doubt: dict[str, Any]) -> Iterator[Target]:
    """Trained networks: on the evaluation populations, by the doubt study; every equation: on the fronts' inputs."""
    studied = {f"{name.replace('_', '–')}, evaluation inputs": row for name, row in doubt["ladder"].items()}
    fronts = {
        part["title"]: {"non_ties": part["pairs"], "wrong": auto["settled_wrong"], **auto}
        for part, auto in ((part, part["methods"]["auto"]) for part in measured(result, "front").values())
    }
    for name, row in (studied | fronts).items():
        right, settled = row["right"] / row["non_ties"], 1 - row["wrong"] / max(row["settled"], 1)
        opened = 1 - row["settled"] / row["non_ties"]
        yield Target(
            f"{name}: non-tie pairs right · settled pairs right · left open",
            "≥ 99.95 % · ≥ 99.9 % · ≤ 2 %",
            f"{right:.2%} · {settled:.2%} · {opened:.2%} of {row['non_ties']:,}",
            right >= 0.9995 and settled >= 0.999 and opened <= 0.02,
            "Pairs stay open where two grids differ, along the difference of the two candidates, by more than their gap: "
            "the order of the scheme is what limits them, not the work."
            if opened > 0.02
            else "",
        )


def _costs(result: dict[str, Any]) -> Iterator[Target]:
    fronts = measured(result, "front")
    asked = {"rd_128": 4, "rd_512": 12, "burgers": 3, "sine_gordon": 3, "diffusion_reaction": 5}
    for name, part in ((name, fronts[name]) for name in asked if name in fronts):
        ratio = _ratio(part, part["own_grid"])
        bound = 1 / asked[name]
        what = f"{part['title']}: rank ÷ a solve on its own grid"
        yield Target(what, f"≤ {bound:.3f}", f"{ratio:.3f}", ratio <= bound, _why_not_cheaper(part))
    if "rd_128" in fronts:
        part = fronts["rd_128"]
        ratio = _ratio(part, "raw residual")
        what = f"{part['title']}: rank ÷ the raw residuals of eight"
        yield Target(what, "≤ 1", f"{ratio:.2f}", ratio <= 1, _why_not_cheaper(part))


def _ratio(part: dict[str, Any], under: str) -> float:
    return part["methods"]["auto"]["seconds"] / part["methods"][under]["seconds"]


def _why_not_cheaper(part: dict[str, Any]) -> str:
    """From what was measured: how much of a call is physics, and how little coarser grids save."""
    rows = part["methods"]
    whole = rows[part["own_grid"]]["seconds"]
    coarse = [(name, row) for name, row in rows.items() if name.startswith("solve") and "," not in name][1:3]
    saved = " and ".join(f"{row['seconds'] / whole:.2f} on {name.removeprefix('solve ')}" for name, row in coarse)
    physics = rows["auto"]["physics_share"]
    return (
        f"Of a call, {physics:.0%} is physics; the rest chooses where to start, scores and finds the doubts. A whole solve "
        f"on a coarser grid costs, in units of the one on the grid itself, {saved}"
        + (": the rows of a march stay, however few its points." if "steps" in part["title"] else ".")
    )


def _dominated(result: dict[str, Any]) -> Iterator[Target]:
    for part in measured(result, "front").values():
        rows, auto = part["methods"], part["methods"]["auto"]
        cheaper = {
            name: row["seconds"] / auto["seconds"]
            for name, row in rows.items()
            if name.startswith("solve") and row["right"] >= auto["right"]
        }
        best = min(cheaper, key=lambda name: cheaper[name], default=None)
        if best is None:
            found, share = "no solve orders as many", 1.0
        else:
            share = cheaper[best]
            found = f"{best}: {share:.2f} of rank"
        yield Target(
            f"{part['title']}: the cheapest solve that orders as many pairs rightly",
            f"≥ {WITHIN} of rank",
            found,
            share >= WITHIN,
            "What coarser grids left open had to be decided on the problem's own, and their cost came on top."
            if best == part["own_grid"]
            else "Its grid was chosen afterwards: see below.",
        )


def curves(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All that grows: what, over which sizes, and how fast; the two kinds of unknowns from the large cases."""
    for dims in (2, 3):
        rows = [row for name, row in measured(result, "size").items() if name.startswith(f"{dims}d")]
        if len(rows) > 1:
            sizes, seconds = [row["unknowns"] for row in rows], [row["seconds"] for row in rows]
            yield {"what": f"reaction–diffusion, {dims}-D: unknowns", "sizes": sizes, "seconds": seconds}
    for kind in ("candidates", "steps", "inputs"):
        yield from measured(result, kind).values()


def slope(sizes: list[float], seconds: list[float]) -> float:
    """Least squares in logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _growth(result: dict[str, Any]) -> Iterator[Target]:
    for curve in curves(result):
        if "unknowns" in curve["what"]:
            found = slope(curve["sizes"], curve["seconds"])
            last = slope(curve["sizes"][-2:], curve["seconds"][-2:])
            why = (
                f"Between the two largest it is {last:.2f}. Sine transforms of fewer than {SINE_FROM} nodes a side are "
                "products with a matrix, unknowns times nodes a side; from there on they are fast ones."
            )
            yield Target(f"{curve['what']}, exponent of the time", "≤ 1.1", f"{found:.2f}", found <= 1.1, why)


def _large(result: dict[str, Any]) -> Iterator[Target]:
    for name, label in (("2d-2048", "2048²"), ("3d-128", "128³")):
        part = result["parts"].get(f"size:{name}", {})
        if "peak_bytes" in part:
            found, met = f"{part['peak_bytes'] / GIB:.1f} GiB, {part['seconds']:.3g} s", part["peak_bytes"] <= 24 * GIB
        else:
            found, met = part.get("failed", "not measured"), False if part else None
        yield Target(f"reaction–diffusion {label}: peak memory", "≤ 24 GiB", found, met)
    many = measured(result, "candidates").get("candidates")
    if many and many["sizes"][-1] >= 1000:
        ratio = many["seconds"][-1] / many["reading_seconds"][-1]
        what = f"{many['sizes'][-1]:,} candidates of 128²: rank ÷ reading them once"
        why = (
            "Outputs are read twice, for their range and for their products with the proxy and with every movement in doubt, "
            "and each part is centred, weighted and squared while it is in the cache."
        )
        yield Target(what, "about 1, ≤ 2", f"{ratio:.1f}", ratio <= 2, why)


def _race(race: dict[str, Any]) -> Target:
    size = race["sizes"][-1]
    row = race["table"][str(size)]["0.05"]
    share = row["within_tolerance"] / row["races"]
    return Target(
        f"race, panels of {size}: the full panel's choice up to 5 % of its score · inputs · inference",
        "≥ 95 % · ≤ 50 % · ≤ 33 %",
        f"{share:.1%} · {row['inputs']:.0%} · {row['inference']:.0%}",
        share >= 0.95 and row["inputs"] <= 0.5 and row["inference"] <= 1 / 3,
    )


def fronts(result: dict[str, Any]) -> str:
    """Every method of every equation."""
    lines = ["| method | ms | mean | ÷ solve | pairs right | of a finer target | settled | wrong | proxy off by |"]
    lines.append("|---|" + "---:|" * 8)
    for part in measured(result, "front").values():
        whole, shares = part["methods"][part["own_grid"]]["seconds"], (part["pairs"], part["pairs_finer"])
        lines.append(f"| **{part['title']}**, {part['inputs']} inputs, {part['candidates']} |" + " |" * 8)
        for name, row in part["methods"].items():
            right = [f"{row[key]:,}/{of:,}" for key, of in zip(("right", "right_finer"), shares, strict=True)]
            settled = (
                ["", ""] if row["settled"] is None else [f"{row['settled'] / shares[0]:.1%}", str(row["settled_wrong"])]
            )
            off = "" if row["proxy_error"] is None else f"{row['proxy_error']:.2g}"
            cells = [name, *(f"{1e3 * row[key]:.3g}" for key in ("seconds", "mean_seconds"))]
            cells += [f"{row['seconds'] / whole:.2f}", *right, *settled, off]
            lines.append("| " + " | ".join(f"**{c}**" if name == "auto" and c else c for c in cells) + " |")
    return "\n".join(lines)


def growth(result: dict[str, Any]) -> str:
    lines = ["| what | from | to | seconds | exponent | of the last two |", "|---|---:|---:|---:|---:|---:|"]
    for curve in curves(result):
        sizes, seconds = curve["sizes"], curve["seconds"]
        spent = f"{seconds[0]:.3g} to {seconds[-1]:.3g}"
        fitted = f"{slope(sizes, seconds):.2f} | {slope(sizes[-2:], seconds[-2:]):.2f}"
        lines.append(f"| {curve['what']} | {sizes[0]:,} | {sizes[-1]:,} | {spent} | {fitted} |")
    lines += [
        "",
        "| reaction–diffusion | seconds | peak memory, GiB | of it candidates | ended on |",
        "|---|---:|---:|---:|---|",
    ]
    for name, row in measured(result, "size").items():
        dims, points = name.split("d-")
        memory = f"{row['peak_bytes'] / GIB:.2f} | {row['candidate_bytes'] / GIB:.2f}"
        lines.append(f"| {points}{'²³'[int(dims) - 2]} | {row['seconds']:.3g} | {memory} | {row['ended_on']} |")
    return "\n".join(lines)


def starts(result: dict[str, Any]) -> str:
    lines = [
        "| a process ranks | compilation cache | first | second | later | whole process |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for name, part in measured(result, "start").items():
        for effort in ("auto", "response"):
            for cache, row in part[effort].items():
                cells = " | ".join(f"{row[key]:.3g}" for key in ("first", "second", "later", "process"))
                lines.append(f"| {name.replace('_', '–')}, {effort} | {cache} | {cells} |")
    return "\n".join([*lines, "", "Seconds."])
