"""One self-contained HTML page from a ranking's dictionary and its figure."""

import base64
from collections.abc import Iterable
from html import escape
from typing import Any

from physrank.report.figure import Figure, png
from physrank.report.words import about, climbed, estimate, headline, standing

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.3rem .9rem;border-bottom:1px solid #d8dee4;text-align:left}
td.n{text-align:right;font-variant-numeric:tabular-nums}img{max-width:100%}
.doubt{background:#fff8e1;border-left:4px solid #b58900;padding:.1rem 1rem}
.bad{background:#fdecea;border-left:4px solid #b00020;padding:.6rem 1rem}.muted{color:#57606a}
"""


def html_report(result: dict[str, Any], figure: Figure) -> str:
    """Decision, table, picture, diagnostics, certificate."""
    unresolved, verdict = result["unresolved"], escape(headline(result))
    found = result["response"] or {}
    known = ((name.replace("_", " "), value) for name, value in found.items() if value is not None)
    response, sentence = "".join(_row(name, _fact(value)) for name, value in known), standing(result)
    described = f"{result['method']}; {about(result)}; physrank {result['physrank']}"
    parts = [
        f"<h1>{verdict}</h1>",
        f"<p class=bad>{escape(unresolved)}</p>"
        if unresolved
        else f"<p>{escape(sentence[:1].upper() + sentence[1:])}.</p>",
        f"<div class=doubt>{_list(result['doubts'])}</div>" if result["doubts"] and not unresolved else "",
        f"<p class=muted>{escape(described)}</p>",
        f"<p class=muted>Holds for {escape(stated)}, as stated.</p>" if (stated := result.get("stated")) else "",
        _candidates(result),
        "<p class=muted>Estimated errors and what follows ± are estimates, not bounds. What follows ± moves all candidates "
        f"together; pairs are judged one by one. {_proved(result)}</p>",
        '<img alt="candidates, proxy and estimated errors" '
        f'src="data:image/png;base64,{base64.b64encode(png(figure)).decode()}">',
        f"<h2>Effort</h2><p>{escape(climbed(result, timed=True))}</p>",
        f"<h2>The response</h2><table>{response}</table>" if response else "",
        f"<h2>Notes</h2>{_list(result['notes'])}" if result["notes"] else "",
        "" if result["certificate"] is None else _certificate(result["certificate"]),
    ]
    head = f"<meta charset=utf-8><title>physrank: {verdict}</title><style>{STYLE}</style>"
    return "<!doctype html><html lang=en>" + head + "\n".join(part for part in parts if part) + "</html>\n"


def _proved(result: dict[str, Any]) -> str:
    return "Nothing here is proved." if result["certificate"] is None else "What is proved stands at the end."


def _candidates(result: dict[str, Any]) -> str:
    scored = {name: entry for name, entry in result["candidates"].items() if entry["score"] is not None}
    order = list(scored) if result["unresolved"] else result["order"]  # no order where there is no decision
    rows = [
        f"<tr><td class=n>{'' if result['unresolved'] else place}</td><td>{escape(name)}</td>"
        f"<td class=n>{escape(estimate(scored[name], result['error_uncertainty']))}</td>"
        f"<td class=n>{scored[name]['score']:.4g}</td></tr>"
        for place, name in enumerate(order, start=1)
    ]
    rows += [
        f"<tr><td class=n>–</td><td>{escape(name)}</td><td colspan=2>excluded: {escape(entry['excluded'])}</td></tr>"
        for name, entry in result["candidates"].items()
        if entry["excluded"]
    ]
    head = "<tr><th></th><th>candidate</th><th>estimated error</th><th>score</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _certificate(found: dict[str, Any]) -> str:
    """What was proved, against which target, and what it rests on."""
    decided = f"{found['best']} is the best candidate" if found["best"] else "which candidate is best stays open"
    facts = [
        ("kind", found["kind"]),
        ("against", found["target"]),
        ("decided", f"{decided}; {found['pairs_certified']} of {found['pairs']} pairs"),
        *([("beware", found["contradiction"])] if found.get("contradiction") else []),
        ("within the tolerance of the best for certain", ", ".join(found["safe"]) or "none"),
        ("the state is within", f"{_fact(found['state_bound'])} in {found['norm']}"),
    ]
    rests = [f"{'✓' if a['holds'] else '✗'} {a['statement']} ({_fact(a['measured'])})" for a in found["assumptions"]]
    table = "".join(_row(name, str(value)) for name, value in facts)
    return f"<h2>Certificate</h2><table>{table}</table><p>It rests on:</p>{_list(rests)}"


def _row(name: str, value: str) -> str:
    return f"<tr><td>{escape(name)}</td><td class=n>{escape(value)}</td></tr>"


def _list(lines: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _fact(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
