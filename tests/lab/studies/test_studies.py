"""Every study, end to end, on stored predictions whose errors are known: solutions plus smooth errors of stated size."""

import json
import sys
from collections import UserDict
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from crowds import threads
from physrank.cli.program import app
from physrank.lab.libraries import GROUPS, ROLLED, equations_of
from physrank.lab.store import predictions
from physrank.lab.store.files import StoreError
from physrank.lab.studies import STUDIES as ALL
from physrank.lab.studies._kit import cases, tables
from study_store import SIZES, TINY, fill

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))
import render_deeper
import render_further
import render_studies
import render_words

PAGES = (render_deeper.STUDIES, render_further.STUDIES, render_studies.STUDIES, render_words.WORDS)
STUDIES = {name: study for name, study in ALL.items() if name not in ROLLED}  # those have tests of their own


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder, patch = tmp_path_factory.mktemp("store"), pytest.MonkeyPatch()
    fill(folder, patch)
    yield folder
    patch.undo()


class Results(UserDict):
    """Every study's result, each made when it is first looked at."""

    def __init__(self, context):
        super().__init__(dict.fromkeys(STUDIES))
        self.context = context

    def __getitem__(self, name):
        if self.data[name] is None:
            self.data[name] = STUDIES[name].run(self.context)
        return self.data[name]


@pytest.fixture(scope="module")
def results(store):
    return Results(cases.Context(store, TINY))


@pytest.mark.parametrize("name", list(STUDIES))
def test_a_study_gives_a_table_a_picture_and_claims(results, name):
    result, figure = results[name]
    json.dumps(result, allow_nan=False)
    assert figure.axes
    assert all(len(written(result)) > 20 for pages in PAGES for written in [pages.get(name)] if written)
    found = STUDIES[name].claims(result)
    assert found and all(isinstance(text, str) for text, _ in found)
    assert {type(holds) for _, holds in found} <= {bool, np.bool_}


def test_predictions_that_were_scored_are_not_read_again(results, monkeypatch):
    """Reading a library costs as much as its table: what the pass kept of it is enough."""
    table = results["quality"][0]["table"]
    monkeypatch.setattr(predictions, "read", None)
    assert STUDIES["quality"].run(results.context)[0]["table"] == table


def test_known_errors_are_ranked_and_controls_are_not(results):
    pooled = results["primary"][0]["pooled"]
    assert pooled["shared"]["pairs_correct"] >= 0.97 * pooled["shared"]["pairs"]
    assert pooled["reversed"]["pairs_correct"] < 0.8 * pooled["shared"]["pairs_correct"]
    assert pooled["validation"]["pairs_correct"] > 0.8 * pooled["shared"]["pairs"]  # here it states the sizes
    assert results["primary"][0]["direct_use_of_q"]["no_worse_than_best_candidate"] >= 10  # of 12


def test_a_third_equation_is_counted_strictly(results):
    found = results["sine_gordon"][0]
    row = found["pooled"]["shared"]
    assert row["strict_correct"] >= 0.95 * row["pairs_all"] and row["pairs_all"] == 3 * 28
    assert row["pair_interval"]["seed"] == 95090001
    assert found["unresolved"]["pairs"] <= row["pairs_all"] - row["strict_correct"]
    assert found["second_method"]["within_error_bar"] == found["second_method"]["inputs"] == 3


def test_an_outlier_pulls_the_mean_and_not_the_medoid(results):
    pooled = results["composition"][0]["pooled"]
    assert pooled["eight, medoid anchor"]["strict_correct"] >= pooled["eight, mean anchor"]["strict_correct"]
    assert pooled["six of eight, mean of six"]["pairs_all"] == 2 * 3 * 15
    far = results["outliers"][0]["pooled"]["64"]
    assert far["medoid"]["strict_correct"] > far["mean"]["strict_correct"]
    assert far["auto, until settled"]["strict_correct"] >= far["auto"]["strict_correct"] > far["mean"]["strict_correct"]


def test_a_candidate_of_wrong_physics_is_the_ninth_and_does_not_spoil_the_anchor(results):
    for of in results["outliers"][0]["cells"].values():
        row = of["wrong physics"]["auto, until settled"]
        assert row["pairs_all"] == row["cases"] * 36
        assert row["pairs_correct"] >= 0.97 * row["pairs"]


def test_partial_corrections_lead_from_the_anchor_to_the_proxy(results):
    found = results["mechanism"][0]
    assert found["identity"] < 1e-12
    for name, path in found["paths"].items():
        for kind in ("state", "task", "comparison"):
            ratios = path["errors"][kind]["median"]
            assert ratios[0] == 1 > ratios[1] > ratios[2] > ratios[4]
            assert name in ROLLED or ratios[4] < 0.2  # data of rollouts are only as exact as their tolerance
        assert path["decisions"][4]["correct"] >= path["decisions"][0]["correct"]
    before, after = (sum(path["decisions"][k]["correct"] for path in found["paths"].values()) for k in (0, 4))
    assert after > before
    for cell in found["cells"].values():
        assert cell["crossed_less_than_margin"] == 0
    for name, of in found["margins"].items():
        assert sum(of["right"]) + sum(of["flipped"]) == of["pairs"] == 2 * 3 * 28, name
    assert (
        found["paths"]["burgers"]["decisions"][4]["correct"]
        == results["primary"][0]["by_equation"]["burgers"]["shared"]["strict_correct"]
    )


def test_gaps_are_accounted_for_from_grid_to_grid(results):
    found = results["resolution"][0]
    for of in found["screen"].values():
        for row in of.values():
            assert row["largest_closure"] < 1e-14
            assert row["pairs_covered_wrong"] == row["top1_covered_wrong"] == 0 < row["pairs_covered"]
    fixed, again = (found["screen"][name]["fno"] for name in ("fixed candidates", "re-inference"))
    assert fixed["pairs_covered"] >= again["pairs_covered"]
    assert sum(found["flips"][key] for key in ("none", "both", "diagnostic_only", "truth_only")) == 4 * 3 * 28
    for row in found["transitions"].values():
        assert row["strict_flips"] <= row["tolerance_transitions"] and row["cases"] == 2 * 3


def test_settled_orders_of_made_candidates_are_right_whatever_the_way(results):
    found = results["phase"][0]["table"]["reaction_diffusion"]["32"]
    assert found["wrong"] == [0] * 4 and found["cases"] == 4
    assert min(found["settled"][:3]) >= 3
    assert all(0 <= k < 3 for row in found["cheapest"] for k in row)


def test_growing_libraries_obey_their_identities(results):
    found = results["beyond"][0]
    for row in found["growing"].values():
        assert row["anchor_identity"] < 1e-12 and row["gap_identity"] < 1e-12
        assert row["sizes"] == list(range(3, 17)) and len(row["damping"]) == 14
        assert max(row["damping"]) < 1  # near a root the anchor's moves are damped
    for row in found["mixed"].values():
        assert row["candidates"] == 4 and row["methods"]["shared"]["cases"] == 3
        assert row["coarse_solver_wins"] >= 2  # errors of the others are a hundred times larger
    for table in found["nonlinear"].values():
        for row in table.values():
            assert row["evaluated"]["strict_correct"] >= 0.8 * row["evaluated"]["pairs_all"]
            assert row["median_distance"] > 0


def test_another_method_confirms_the_references(results):
    for row in results["controls"][0]["second_method"].values():
        assert row["inputs"] == 2 and row["pairs"] == 2 * 2 * 28
        assert row["pairs_changed"] <= 5 and row["largest_relative_loss_change"] < 0.5  # references are coarse here


def test_choices_are_counted_by_library(results):
    panels, long = results["panels"][0], results["selection"][0]
    for method in ("shared", "candidate-wise", "medoid centrality"):
        cells = panels["cells"][method]
        assert len(cells) == 4 and sum(row["exact"] for row in cells.values()) == panels["table"][method]["3"]["exact"]
    assert panels["table"]["shared"]["3"]["top2"] == panels["table"]["candidate-wise"]["3"]["top2"]
    assert long["table"]["shared, medoid anchor"]["routes"] == len(long["cells"]["raw"]) == 4
    assert long["table"]["shared, medoid anchor"]["top2"] >= 3
    assert long["groups"]["raw"].keys() == {
        "burgers-fno",
        "burgers-cno",
        "reaction_diffusion-fno",
        "reaction_diffusion-cno",
    }


def test_cross_fit_and_candidate_wise_agree_on_clear_cases(results):
    eight = results["controls"][0]["eight"]
    assert eight["cross-fit"]["pairs_correct"] >= 0.9 * eight["pairs"]
    assert eight["candidate-wise"]["pairs_correct"] >= 0.9 * eight["pairs"]


def test_certificates_of_known_candidates_are_never_wrong(results):
    found = results["certificates"][0]
    rows = [row for table in (found["all"], found["energies"]) for steps in table.values() for row in steps]
    assert rows and not any(row["wrong"] for row in rows)
    for steps in [*found["all"].values(), *found["energies"].values()]:
        decided = [row["non_ties_certified"] for row in steps]
        assert decided == sorted(decided)  # another correction never loses a decision here
    for equation, steps in (found["all"] | found["energies"]).items():
        if not equation.endswith("continuum"):  # where the scheme's own error stays
            assert steps[-1]["non_ties_certified"] == steps[-1]["non_ties"] > 0
    against = found["continuum"]["reaction_diffusion"]
    assert against["wrong"] == 0 and against["non_ties_certified"] == against["non_ties"] > 0
    enclosed = found["validated"]
    assert not any(row["wrong"] for row in enclosed)
    assert enclosed[-1]["non_ties_certified"] >= 0.95 * enclosed[-1]["non_ties"] > 0


def test_a_second_run_reads_what_the_first_one_stored(store, results, monkeypatch):
    """Resumed equals uninterrupted: with the cache in place nothing is solved again, and the table is the same."""
    monkeypatch.setattr(cases, "_score", None)
    again, _ = STUDIES["primary"].run(cases.Context(store, TINY))
    assert again == results["primary"][0]


def test_an_interrupted_study_ends_like_an_uninterrupted_one(store, results, tmp_path):
    class Stop(Exception):
        pass

    def stop(what, done, total):
        if "reaction_diffusion-fno-e1" in what:
            raise Stop

    cache = store / "cache"
    kept = cache.rename(tmp_path / "cache")
    try:
        with pytest.raises(Stop):
            STUDIES["primary"].run(cases.Context(store, TINY, stop))
        assert list(cache.glob("*.npz"))
        assert not list(cache.glob(".*partial"))
        again, uninterrupted = STUDIES["primary"].run(cases.Context(store, TINY))[0], results["primary"][0]
        timed = "median_seconds_shared"
        assert again | {timed: None} == uninterrupted | {timed: None}
    finally:
        for path in cache.glob("*"):
            path.unlink()
        cache.rmdir()
        kept.rename(cache)


def test_predictions_are_read_once_per_pass(store, results, monkeypatch):
    """With nothing cached, one evaluation opens the netCDF file once."""
    reads, read = [], predictions.read
    monkeypatch.setattr(predictions, "read", lambda *given: reads.append(given) or read(*given))
    monkeypatch.setattr(cases.Context, "cached", lambda self, what, key, make: make())
    found = cases.evaluate(cases.Context(store, TINY), GROUPS["primary"][0])
    np.testing.assert_array_equal(found.scores["validation"][0], SIZES)
    assert len(reads) == 1


def test_panels_of_studies_are_ranked_by_workers(store, results, monkeypatch):
    """With nothing cached, and a client, the tables are those of this process."""
    pytest.importorskip("distributed")
    before = cases.evaluate(cases.Context(store, TINY), GROUPS["primary"][0])
    monkeypatch.setattr(cases.Context, "cached", lambda self, what, key, make: make())
    with threads() as client:
        found = cases.evaluate(cases.Context(store, TINY, client=client), GROUPS["primary"][0])
    for name, table in before.scores.items():
        np.testing.assert_array_equal(found.scores[name], table)


def test_primary_results_say_under_which_input_law_they_were_measured(results):
    found = results["primary"][0]
    assert found["input_fingerprint"] == {e.name: e.input_fingerprint for e in equations_of(GROUPS["primary"])}
    for row in found["losses"].values():
        assert 0 < row["proxy_mean"] < row["best_candidate_mean"] < row["best_candidate_q90"] * 10
        assert 0 <= row["tie_share"] < 1


def test_changed_predictions_are_not_answered_from_the_cache(store, results):
    """Other bytes, another key: what was computed from them before is not reused, and damage is seen."""
    library, context = GROUPS["primary"][0], cases.Context(store, TINY)
    target = predictions.path(store, TINY, library, "evaluation")
    kept, before = target.read_bytes(), cases.evaluate(context, library).losses
    data = predictions.read(store, TINY, library, "evaluation")
    fields, strata = data["prediction"].values, [str(s) for s in data["stratum"].values]
    options = (store, TINY, library, "evaluation", "native")
    try:
        predictions.write(*options, 0.5 * fields, strata, SIZES.tolist())
        assert not np.allclose(cases.evaluate(context, library).losses, before)
        predictions.write(*options, np.where(fields == fields.max(), np.nan, fields), strata, SIZES.tolist())
        with pytest.raises(StoreError, match="not finite"):
            cases.evaluate(context, library)
        predictions.write(*options, fields[:, :, :20], strata, SIZES.tolist())
        with pytest.raises(StoreError, match="its fields have shape"):
            cases.evaluate(context, library)
        predictions.write(*options, fields, strata[::-1], SIZES.tolist())
        with pytest.raises(StoreError, match="other strata"):
            cases.evaluate(context, library)
        target.unlink()
        with pytest.raises(StoreError, match="does not exist"):
            cases.evaluate(context, library)
    finally:
        target.write_bytes(kept)
    np.testing.assert_array_equal(cases.evaluate(context, library).losses, before)


def test_verification_sees_what_was_edited_or_is_too_old(results, tmp_path):
    folder = tmp_path / "smoke"
    for name in ("primary", "sine_gordon"):
        tables.store(folder, name, *results[name])
    path = folder / "primary.json"
    stored = json.loads(path.read_text())
    stored["pooled"]["shared"]["pairs_correct"] = 10
    path.write_text(json.dumps(stored))
    verify = ["study", "verify", "--profile", "smoke", "--out", str(tmp_path)]
    found = CliRunner().invoke(app, verify)
    assert found.exit_code == 1 and "was edited" in found.output.replace("\n", " ")
    old = {key: value for key, value in results["sine_gordon"][0].items() if key != "pooled"}
    tables.store(folder, "sine_gordon", old, results["sine_gordon"][1])
    found = CliRunner().invoke(app, verify)
    assert found.exit_code == 1 and "another version" in found.output.replace("\n", " ")
