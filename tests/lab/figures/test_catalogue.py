"""Figures are drawn from stored results, say what they wait for, and tell methods apart without colour."""

import json
from pathlib import Path

import matplotlib as mpl
import pytest

from physrank.lab.figures import style
from physrank.lab.figures.catalogue import FIGURES
from physrank.lab.figures.stored import SHIPPED, Missing, Stored
from physrank.lab.studies import STUDIES

ROOT = Path(__file__).parents[3]
INDEX = json.loads((ROOT / "docs/assets/figures/index.json").read_text(encoding="utf-8"))


def test_the_index_is_that_of_the_catalogue():
    """`physrank figures` was run after the last change of a caption, and every picture it names is there, and no other."""
    assert list(INDEX) == list(FIGURES)
    for name, row in INDEX.items():
        entry = FIGURES[name]
        assert (row["paper"], row["title"], row["caption"]) == (entry.paper, entry.title, entry.caption)
        assert (ROOT / f"docs/assets/figures/{name}.png").exists() == row["drawn"]
        assert all((ROOT / "results" / path).exists() for path in row["drawn_from"])
        assert row["drawn"] or row["waits_for"]


@pytest.mark.parametrize("name", ["concordance", "certificate"])
def test_a_figure_is_drawn_from_what_is_stored(name):
    stored = Stored(ROOT / "results")
    with mpl.rc_context(style.SIZES):
        drawn = FIGURES[name].draw(stored)
    assert stored.used and len(style.png(drawn)) > 10_000


def test_every_method_of_the_panels_has_its_looks(tmp_path):
    """Whatever the studies of panels store is drawn, and what is not stored yet is an empty panel that says so."""
    methods = ("shared", "raw", "mean centrality", "medoid centrality", "validation", "candidate-wise")
    row = {size: {"mean_normalized_regret": 0.1} for size in ("3", "24")}
    path = Stored(tmp_path).path("panels")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"table": dict.fromkeys(methods, row), "regret": {}}), encoding="utf-8")
    stored = Stored(tmp_path)
    with mpl.rc_context(style.SIZES):
        drawn = FIGURES["deployment"].draw(stored)
    assert stored.used == ["panels"] and set(stored.wanted) == {"diffusion_reaction", "selection"}
    (legend,) = [part.legends[0] for part in drawn.subfigs if part.legends]
    assert [text.get_text() for text in legend.get_texts()] == list(methods)


def test_what_is_missing_is_said_with_its_command(tmp_path):
    for name, entry in FIGURES.items():
        stored = Stored(tmp_path)
        with pytest.raises(Missing, match=r"run `physrank (study \w+|figures --measure)`"), mpl.rc_context(style.SIZES):
            entry.draw(stored)
        assert set(stored.wanted) <= {SHIPPED, "mechanism", "resolution", *STUDIES}, name


def test_a_result_without_the_arrays_is_not_enough(tmp_path):
    path = Stored(tmp_path).path("primary")
    path.parent.mkdir(parents=True)
    path.write_text('{"pooled": {}}', encoding="utf-8")
    stored = Stored(tmp_path)
    assert stored.has("primary", "pooled") and not stored.has("primary", "pictured")
    assert stored.used == []
    with pytest.raises(Missing, match="no pictured"):
        stored.of("primary", "pictured")


def test_methods_differ_in_more_than_colour():
    compared = (
        "shared",
        "raw",
        "validation",
        "mean centrality",
        "medoid centrality",
        "wrong input",
        "reversed",
        "candidate-wise",
    )
    assert len({style.COLOURS[m] for m in compared}) == len(compared)
    assert len({str(style.DASHES[m]) for m in compared}) == len({style.MARKERS[m] for m in compared}) == len(compared)
