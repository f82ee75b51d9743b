"""Fills the marked tables in README and docs from stored results, so that no number is typed by hand."""

import contextlib
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGES = (
    "results",
    "laboratory",
    "cost",
    "scale",
    "devices",
    "figures",
    "certificates/index",
    "certificates/reaction_diffusion_rough",
)
RENDERED = ("README.md", "CONTRIBUTING.md", *(f"docs/{page}.md" for page in PAGES))
DRAWN = "docs/assets/figures/index.json"  # written by `physrank figures`
sys.path.insert(0, str(Path(__file__).parent))

import render_deeper  # noqa: E402
import render_further  # noqa: E402
import render_scale  # noqa: E402
import render_studies  # noqa: E402
import render_words  # noqa: E402
import render_yardstick  # noqa: E402

from physrank.lab.studies import STUDIES  # noqa: E402

BRIEFLY = ("ladder", "shared response", "raw residual", "validation loss", "direct solve, same grid")


def demo_table(result: dict[str, Any], shown: tuple[str, ...] | None = None) -> str:
    """Every method, or the `shown` ones."""
    lines = ["| | method | pairs | | top-1 | regret | ms per input |", "|---|---|---:|---:|---:|---:|---:|"]
    for equation, methods in result["equations"].items():
        for name, row in methods.items():
            if shown and name not in shown:
                continue
            share = row["pairs_correct"] / row["pairs"]
            cells = [
                render_studies.titled(equation),
                name,
                f"{row['pairs_correct']}/{row['pairs']}",
                f"{share:.1%}",
                f"{row['top1_tolerant']}/{row['cases']}",
                f"{row['mean_normalized_regret']:.4f}",
                f"{1e3 * row['median_seconds_per_input']:.1f}",
            ]
            lines.append("| " + " | ".join(f"**{c}**" if name == "ladder" else c for c in cells) + " |")
    direct = result["direct_use_of_proxy"]
    lines += [
        "",
        f"The proxy itself was no worse than the best candidate in {direct['cases_no_worse_than_best_candidate']} of "
        f"{direct['cases']} cases.",
        "",
        source(result, "make demo"),
    ]
    return "\n".join(lines)


def bench_table(result: dict[str, Any], about: str = "") -> str:
    """Every ratio, or those that are `about` something."""
    lines = ["| what | ratio | asked |", "|---|---:|---:|"]
    for row in result["results"].values():
        if about not in row["what"]:
            continue
        if "ratio" in row:
            lines.append(f"| {row['what']} | {row['ratio']:.3g} | {row['asked']} |")
        else:
            lines.append(f"| {row['what']} | {row['megabytes']:.0f} | |")
    return "\n".join([*lines, "", source(result, "make bench")])


def trials_table(result: dict[str, Any]) -> str:
    lines = [
        "| certificate | trials | nothing claimed | pairs decided | false | commit |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for name, row in result["results"].items():
        decided = f"{row['decided']:,} of {row['pairs']:,}"
        counts = f"{row['trials']:,} | {row['abstained']:,} | {decided} | {row['false']:,}"
        lines.append(f"| {name} | {counts} | {', '.join(row['commits'])} |")
    minutes = sum(row["cpu_seconds"] for row in result["results"].values()) / 60
    said = f"{minutes:.0f} minutes of processor time in all."
    return "\n".join([*lines, "", said, "", source(result, "make trials")])


def sharpness_table(result: dict[str, Any]) -> str:
    found = result["results"]
    lines = ["| contrast | bound, residual in plain arithmetic | bound, in twice the precision | the error itself |"]
    lines.append("|---:|---:|---:|---:|")
    for row in found["floor"]:
        bounds = " | ".join(f"{row[name]:.1e}" for name in ("singly", "doubly", "truth"))
        lines.append(f"| {row['contrast']:g} | {bounds} |")
    radius, adjoints = (sorted(row[name] for row in found["pairs"]) for name in ("radius", "adjoints"))
    said = (
        f"Diffusion–reaction, {len(radius)} cases: in the median over pairs, gaps are bounded by {radius[0]:.0f} to "
        f"{radius[-1]:.0f} times what the proxy misses them by where only the radius is used, {adjoints[0]:.3f} to "
        f"{adjoints[-1]:.3f} times with adjoint states."
    )
    return "\n".join([*lines, "", said, "", source(result, "python bench/sharpness.py --out results/sharpness.json")])


def jumps_table(result: dict[str, Any]) -> str:
    lines = ["| where a is not 1 | contrast | interior nodes | lines | pairs decided | width | cost, in responses |"]
    lines.append("|---|---:|---:|---|---:|---:|---:|")
    for row in result["results"]:
        where = "on nodes" if (row["points"] + 1) % 4 == 0 else "between nodes"
        cost = f"{row['responses']:.0f} (at most {row['most_responses']:.0f})"
        lines.append(
            f"| a {row['shape']} | {row['contrast']:g} | {row['points']}² | {where} | {row['decided']} of {row['pairs']} | "
            f"{100 * row['width']:.1f} % | {cost} |"
        )
    return "\n".join([*lines, "", source(result, "python bench/jumps.py --out results/jumps.json")])


def references_table(result: dict[str, Any]) -> str:
    lines = ["| references of one population | inputs | minutes | coarse to fine: median change | worst | commit |"]
    lines.append("|---|---:|---:|---:|---:|---|")
    for name, row in result["results"].items():
        changes = f"{row['median']:.1e} | {row['largest']:.1e}"
        lines.append(
            f"| {name.replace('_', ' ')} | {row['inputs']} | {row['minutes']:.1f} | {changes} | {row['commit']} |"
        )
    return "\n".join([*lines, "", source(result, "make bench-references")])


def devices_table(result: dict[str, Any]) -> str:
    """Collectives and bytes on every device; one row per program and number of devices."""
    kinds = ("all-to-all", "collective-permute", "all-reduce", "all-gather")
    lines = ["| | devices | arguments | results | temporary | " + " | ".join(kinds) + " | largest | off |"]
    lines.append("|---|---:|" + "---:|" * (5 + len(kinds)))
    for case, programs in result["results"].items():
        for what in ("response", "solve"):
            for row in programs[what]:
                first = row["devices"] == 1
                sizes = [f"{row[part] / 2**20:.2f}" for part in ("arguments", "results", "temporary")]
                travels = "–" if first else f"{max(row['largest'].values()) / programs['state']:.1%}"
                counts = [str(row["collectives"].get(kind, 0)) for kind in kinds]
                cells = [f"{case}: {what}" if first else "", str(row["devices"]), *sizes, *counts, travels]
                lines.append("| " + " | ".join([*cells, f"{row['difference']:.0e}"]) + " |")
    return "\n".join([*lines, "", source(result, "python bench/devices.py --out results/devices.json")])


def forcing_table(result: dict[str, Any]) -> str:
    """Both readings of the paper's forcing, on every number it reports that depends on it."""

    def said(row: dict[str, Any], law: str) -> str:
        value = row[law]
        if value is None:
            return "not stored" if result["studies"][law] else "not measured yet"
        return "–".join(f"{end:.2e}" for end in value) if isinstance(value, list) else f"{value:.3g}"

    def nearer(row: dict[str, Any]) -> str:
        if row["nearer"] is None:
            return "–"
        off = dict(row["factor_off"])
        return f"{row['nearer']}: off by {off.pop(row['nearer']):.2f}, not {min(off.values()):.2f}"

    lines = ["| number | paper | plain, sin · sin | orthonormal, 2 sin · sin | nearer |", "|---|---:|---:|---:|---|"]
    for row in result["numbers"].values():
        cells = [row["what"], *(said(row, law) for law in ("paper", "plain", "orthonormal")), nearer(row)]
        lines.append("| " + " | ".join(cells) + " |")
    studies = "; ".join(
        f"{law}: {', '.join(f'{name} of commit {commit}' for name, commit in found.items()) or 'not measured yet'}"
        for law, found in result["studies"].items()
    )
    return "\n".join([*lines, "", f"Studies: {studies}.", "", source(result, "python bench/forcing_law.py")])


def mutants_sentence(result: dict[str, Any]) -> str:
    """How many faults were put in, room by room, and how many of them no test noticed."""
    rooms: dict[str, int] = {}
    for file, row in result["results"].items():
        room = file.partition("/")[0] if "/" in file else "doors"
        rooms[room] = rooms.get(room, 0) + row["faults"]
    survive = sum(row["survive"] for row in result["results"].values())
    where = ", ".join(f"{room} {count}" for room, count in rooms.items())
    return f"{survive} of {sum(rooms.values())} faults survive ({where}).\n\n" + source(result, "make mutants")


def lanes_table(result: dict[str, Any]) -> str:
    names = ("jax", "equinox", "lineax", "numpy", "scipy", "xarray", "h5py")
    lines = [f"| lane | day | Python | {' | '.join(names)} |", "|---|---|---|" + "---|" * len(names)]
    for lane, row in result["results"].items():
        versions = " | ".join(row["versions"][name] for name in names)
        lines.append(f"| `make test-{lane}` | {row['date']} | {row['python']} | {versions} |")
    return "\n".join(lines)


def yardstick_tables(result: dict[str, Any]) -> dict[str, str]:
    doubt, race = (stored(f"studies/laptop/{name}.json") for name in ("doubt", "race"))
    tables = {
        "targets": render_yardstick.targets(result, doubt, race),
        "fronts": render_yardstick.fronts(result),
        "growth": render_yardstick.growth(result),
        "starts": render_yardstick.starts(result),
    }
    said = source(result, "make yardstick")
    return {f"yardstick-{name}": f"{table}\n\n{said}" for name, table in tables.items()}


def scale_tables(result: dict[str, Any]) -> dict[str, str]:
    said = source(result, "make scale")
    return {f"scale-{name}": f"{table(result)}\n\n{said}" for name, table in render_scale.TABLES.items()}


def source(result: dict[str, Any], command: str) -> str:
    stamp = result["provenance"]
    return f"<sub>From `{command}`: physrank {stamp['physrank']}, commit {stamp['commit']}, JAX {stamp['jax']}.</sub>"


def snippet_output(text: str) -> str:
    """What README's first Python block prints."""
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert code
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code.group(1), "README.md", "exec"), {})
    return printed.getvalue()


def study_table(name: str, table: Callable[[dict[str, Any]], str]) -> str:
    if not measured(name):
        return "*Not run yet in this profile.*"
    result = stored(f"studies/laptop/{name}.json")
    picture = f"![{name} study](assets/study_{name}.png)"
    return "\n".join([table(result), "", picture, "", source(result, f"physrank study {name}")])


def measured(name: str) -> bool:
    return (ROOT / f"results/studies/laptop/{name}.json").exists()


def claimed() -> list[tuple[str, str, bool]]:
    """(study, claim, does it hold): what stored studies support, as `physrank study verify` checks it."""
    found = {
        name: study.claims(stored(f"studies/laptop/{name}.json")) for name, study in STUDIES.items() if measured(name)
    }
    return [(name, claim, bool(holds)) for name, claims in found.items() for claim, holds in claims]


def claims_list() -> str:
    lines = [f"- {name}: {claim}" + ("" if holds else " — **does not hold**") for name, claim, holds in claimed()]
    return "\n".join(lines or ["*No study has been run yet in the laptop profile.*"])


def claims_briefly() -> str:
    """The first claim of every study, and whatever does not hold."""
    every = claimed()
    firsts = {name: claim for name, claim, _ in reversed(every)}
    failing = [(name, claim) for name, claim, holds in every if not holds]
    lines = [f"- {name}: {claim}" for name, claim in reversed(firsts.items()) if (name, claim) not in failing]
    lines += [f"- **does not hold**: {name}: {claim}" for name, claim in failing]
    said = f"{len(every) - len(failing)} of {len(every)} claims of {len(firsts)} studies hold."
    return "\n".join([f"{said} The first of each, and what does not hold:", "", *lines])


def if_stored(path: str, table: Callable[[dict[str, Any]], str]) -> str:
    return table(stored(path)) if (ROOT / "results" / path).exists() else "*Not run yet.*"


def stored(path: str) -> dict[str, Any]:
    return json.loads((ROOT / "results" / path).read_text(encoding="utf-8"))


def render(text: str) -> str:
    tables = {
        "demo": demo_table(stored("demo/demo.json")),
        "demo-briefly": demo_table(stored("demo/demo.json"), BRIEFLY),
        "bench": bench_table(stored("bench.json")),
        "bench-briefly": bench_table(stored("bench.json"), about="rank ÷"),
        "trials": trials_table(stored("trials.json")),
        "sharpness": sharpness_table(stored("sharpness.json")),
        "jumps": jumps_table(stored("jumps.json")),
        "references": references_table(stored("references.json")),
        "forcing": forcing_table(stored("forcing_law.json")),
        "devices": devices_table(stored("devices.json")),
        "lanes": if_stored("lanes.json", lanes_table),
        "mutants": if_stored("mutants.json", mutants_sentence),
        **yardstick_tables(stored("yardstick.json")),
        **scale_tables(stored("scale.json")),
    }
    for name, table in (render_studies.STUDIES | render_further.STUDIES | render_deeper.STUDIES).items():
        tables[f"study-{name}"] = study_table(name, table)
    tables |= {"claims": claims_list(), "claims-briefly": claims_briefly()}
    known = {name: stored(f"studies/laptop/{name}.json") for name in STUDIES if measured(name)}
    tables["law"] = render_words.law(known)
    tables |= {f"words-{name}": said(known[name]) for name, said in render_words.WORDS.items() if name in known}
    tables["figures"] = render_words.figures(json.loads((ROOT / DRAWN).read_text(encoding="utf-8")))
    for name, table in tables.items():
        text = re.sub(
            rf"(<!-- table:{name} -->\n).*?(<!-- end -->)",
            lambda m, t=table: m[1] + t + "\n" + m[2],
            text,
            flags=re.DOTALL,
        )
    if "prints\n\n```text" in text:
        output = snippet_output(text)
        text = re.sub(r"(prints\n\n```text\n).*?(```)", lambda m: m[1] + output + m[2], text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    picture = ROOT / "docs/assets/demo.png"
    picture.parent.mkdir(exist_ok=True)
    picture.write_bytes((ROOT / "results/demo/demo.png").read_bytes())
    for picture in sorted((ROOT / "results/studies/laptop").glob("*.png")):
        (ROOT / "docs/assets" / f"study_{picture.name}").write_bytes(picture.read_bytes())
    for picture in sorted((ROOT / "results").glob("yardstick*.png")):
        (ROOT / "docs/assets" / picture.name).write_bytes(picture.read_bytes())
    for path in (ROOT / name for name in RENDERED):
        path.write_text(render(path.read_text(encoding="utf-8")), encoding="utf-8")
