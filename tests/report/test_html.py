"""The report escapes names, shows failure and contains the certificate."""

import html

import numpy as np

import physrank as pr
from libraries import ROOT, SMALL, library
from physrank.report.html import html_report
from physrank.report.words import duration
from problems import bratu


def test_report_escapes_names_and_shows_failure(tmp_path, no_rescue):
    ranking = pr.rank(ROOT, {"<script>alert(1)</script>": np.zeros(3), "b": np.ones(3)})
    page = ranking.report(tmp_path / "r.html").read_text()
    assert "<script>" not in page and "Nothing here is proved." in page
    hard = pr.Stationary(bratu, data=1.0, solver=pr.Krylov(method="cg", max_steps=2))
    page = pr.rank(hard, library("stationary, dense")).report(tmp_path / "u.html").read_text()
    assert "<h1>Unresolved</h1>" in page
    assert "Trust" not in page


def test_the_report_contains_the_certificate(tmp_path):
    case = SMALL["reaction-diffusion 2-D"]
    ranking = pr.rank(case.problem, library("reaction-diffusion 2-D"), until="certified", max_corrections=2)
    page = ranking.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h2>Certificate</h2>" in page
    assert "validated" in page and "Nothing here is proved." not in page
    assert all(html.escape(a.statement) in page for a in ranking.certificate.enclosure.assumptions)


def test_the_report_says_what_is_proved_the_other_way_round():
    case = SMALL["reaction-diffusion 2-D"]
    ranking = pr.rank(case.problem, library("reaction-diffusion 2-D"), until="certified", max_corrections=2)
    result = ranking.on_grid.to_dict()
    assert "beware" not in html_report(result, ranking.plot())
    result["certificate"]["contradiction"] = "THE OTHER <WAY>"
    page = html_report(result, ranking.plot())
    assert "beware" in page and "THE OTHER &lt;WAY&gt;" in page


def test_nothing_in_a_page_is_taken_for_markup():
    """Names, reasons, notes, doubts, facts of the response and of the certificate: whatever they say, they say it as text."""
    ranking = pr.rank(ROOT, {"a": np.zeros(3), "b": np.ones(3), "c": np.full(3, np.nan)}, invalid="exclude")
    said = "<b>& so on"
    result = ranking.on_grid.to_dict()
    result["candidates"]["c"]["excluded"] = result["method"] = said
    result |= {"notes": [said], "doubts": [said], "response": {said: said}}
    result["certificate"] = {
        **dict.fromkeys(("best", "kind", "target", "norm"), said),
        "pairs_certified": 0,
        "pairs": 1,
        "safe": [said],
        "state_bound": 1.0,
        "assumptions": [{"holds": True, "statement": said, "measured": said}],
    }
    page = html_report(result, ranking.plot())
    assert said not in page
    assert page.count(html.escape(said)) >= 10


def test_times_are_told_in_units_that_fit():
    assert [duration(seconds) for seconds in (0.0021, 0.25, 1.85, 75.0)] == ["2.1 ms", "250 ms", "1.9 s", "75.0 s"]
