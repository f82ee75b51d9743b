"""Every study, end to end, on stored predictions whose errors are known: solutions plus smooth errors of stated size."""

import json
from collections import UserDict
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from crowds import threads
from lab_helpers import InThisProcess
from physrank.cli.program import app
from physrank.lab.equations import EQUATIONS
from physrank.lab.inputs import shifted_strata
from physrank.lab.libraries import GROUPS, PROFILES, ROLLED, equations_of
from physrank.lab.references import burgers, reaction_diffusion, sine_gordon
from physrank.lab.store import predictions
from physrank.lab.store.files import StoreError
from physrank.lab.studies import STUDIES as ALL
from physrank.lab.studies import composition, controls
from physrank.lab.studies._kit import cases, tables

STUDIES = {name: study for name, study in ALL.items() if name not in ROLLED}  # those have tests of their own
TINY = replace(PROFILES["smoke"], evaluation=3, panels=1, panel_size=3, deployment=3)  # one shape for all
TIMES = np.linspace(0, 0.2, 48)
SIZES = np.array([0.4, 0.2, 0.3, 0.15, 0.1, 0.25, 0.35, 0.05])  # of each candidate's error


def smooth_error(equation, k, shape):
    """One shape per candidate, zero where the constraints are."""
    rows, columns = (np.linspace(0, 1, n) for n in (shape[0], shape[-1]))
    if equation == "sine_gordon":
        return smooth_error("burgers", k, (len(rows), shape[-1]))[:, None] * np.array([1.0, 1 + k % 2])[:, None]
    if equation == "burgers":
        return rows[:, None] * np.sin((1 + k % 3) * 2 * np.pi * np.arange(shape[-1]) / shape[-1] + k)
    bump = 16 * rows[:, None] * (1 - rows[:, None]) * columns * (1 - columns)
    return bump * np.cos(k + np.pi * (1 + k % 2) * rows[:, None])


def solutions(equation, name, count):
    found = EQUATIONS[equation].population(name, count)
    if equation == "burgers":
        return burgers.solve(found, TIMES, 192, 4)[..., ::4]
    if equation == "sine_gordon":
        return sine_gordon.solve(found, TIMES * 5, 192, 47 * 16)[..., ::4]
    return np.stack([reaction_diffusion.interpolate(reaction_diffusion.solve(case, 65), 32) for case in found])


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store as `physrank train` would leave it, with errors of known size in place of networks."""
    folder = tmp_path_factory.mktemp("store")
    patch = pytest.MonkeyPatch()
    patch.setattr(burgers, "LEVELS", {"first": ((384, 4), (768, 4)), "second": ((384, 4), (768, 4))})
    patch.setattr(reaction_diffusion, "LEVELS", {"first": (47, 63), "second": (47, 63)})
    patch.setattr(sine_gordon, "LEVELS", {"first": ((384, 1024), (384, 2048))})
    patch.setitem(GROUPS, "sine_gordon", GROUPS["sine_gordon"][:1])
    for name, declared in EQUATIONS.items():  # one coarse solve: each is a compilation
        patch.setitem(EQUATIONS, name, replace(declared, coarse_solves=declared.coarse_solves[-1:]))
    patch.setitem(GROUPS, "primary", [library for library in GROUPS["primary"] if library.architecture == "fno"])
    patch.setitem(GROUPS, "additional", GROUPS["additional"][::4])
    patch.setattr(cases.references, "ProcessPoolExecutor", InThisProcess)
    patch.setattr(controls, "WARM_UPS", 0)
    patch.setattr(controls, "REPEATS", 1)
    patch.setattr(controls, "NUMBERS", (2, 16))
    patch.setattr(composition, "FARTHER", (1, 64))
    true = {
        (equation.name, name): solutions(equation.name, name, predictions.count(TINY, name))
        for equation in equations_of(GROUPS["primary"])
        for name in (*predictions.STORED_POPULATIONS, "additional", "stress")
    } | {("sine_gordon", "evaluation"): solutions("sine_gordon", "evaluation", TINY.evaluation)}
    for library in [one for group in ("primary", "additional", "stress", "sine_gordon") for one in GROUPS[group]]:
        for name in dict.fromkeys(name for name, _ in predictions.wanted(library)):
            exact = true[library.equation, name]
            scale = np.where([r == library.outlier for _, r, _ in library.candidates(TINY)], 8.0, 1.0) * SIZES / 4
            shapes = [smooth_error(library.equation, k, exact.shape[1:]) for k in range(8)]
            fields = np.stack([exact + s * e for s, e in zip(scale, shapes, strict=True)], axis=1)
            if library.equation == "burgers":
                fields[:, :, 0] = library.declared.features(library.declared.population(name, len(exact)))[:, :1, 0]
            strata = shifted_strata(len(exact))
            predictions.write(folder, TINY, library, name, "native", fields, strata, SIZES.tolist())
            if library.equation == "reaction_diffusion" and name == "evaluation":
                fine = np.pad(
                    np.repeat(np.repeat(fields[..., 1:-1, 1:-1], 4, -1), 4, -2), ((0, 0), (0, 0), (1, 1), (1, 1))
                )
                predictions.write(folder, TINY, library, name, "reinferred", fine, strata, SIZES.tolist())
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
    found = STUDIES[name].claims(result)
    assert found and all(isinstance(text, str) for text, _ in found)
    assert {type(holds) for _, holds in found} <= {bool, np.bool_}


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
    assert pooled["six of eight, mean of six"]["pairs_all"] == 4 * 3 * 15
    far = results["composition"][0]["farther"]["64"]
    assert far["medoid"]["strict_correct"] > far["mean"]["strict_correct"]
    assert far["auto, until settled"]["strict_correct"] >= far["auto"]["strict_correct"] > far["mean"]["strict_correct"]


def test_a_candidate_of_wrong_physics_is_the_ninth_and_does_not_spoil_the_anchor(results):
    for of in results["composition"][0]["composed"].values():
        row = of["wrong physics"]["auto, until settled"]
        assert row["pairs_all"] == row["cases"] * 36
        assert row["pairs_correct"] >= 0.97 * row["pairs"]


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
            STUDIES["panels"].run(cases.Context(store, TINY, stop))
        assert list(cache.glob("*.npz"))
        assert not list(cache.glob(".*partial"))
        assert STUDIES["panels"].run(cases.Context(store, TINY))[0] == results["panels"][0]
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
    for name, (result, figure) in results.items():
        tables.store(folder, name, result, figure)
    path = folder / "variational.json"
    stored = json.loads(path.read_text())
    stored["pooled"]["shared"]["pairs_correct"] = 10
    path.write_text(json.dumps(stored))
    verify = ["study", "verify", "--profile", "smoke", "--out", str(tmp_path)]
    found = CliRunner().invoke(app, verify)
    assert found.exit_code == 1 and "was edited" in found.output.replace("\n", " ")
    old = {key: value for key, value in results["composition"][0].items() if key != "farther"}
    tables.store(folder, "composition", old, results["composition"][1])
    found = CliRunner().invoke(app, verify)
    assert found.exit_code == 1 and "another version" in found.output.replace("\n", " ")
