"""Studies whose runs are long, on numbers made by hand: what they count, what they claim, and that they can fail.

Everything that computes goes through `Context.cached`; here it answers with losses and scores of known order instead.
`test_studies.py` runs the same studies whole, in the slow lane.
"""

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from physrank.lab.libraries import GROUPS, PROFILES
from physrank.lab.studies import STUDIES, beyond, certificates, controls, mechanism, outliers, resolution
from physrank.lab.studies._kit import cases, crossing

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))
import render_deeper
import render_studies
import render_words

PAGES = render_studies.STUDIES | render_deeper.STUDIES
WORDS = render_words.WORDS
PROFILE = replace(PROFILES["smoke"], panels=1, long_panels=1)
INPUTS = PROFILE.evaluation  # of every population
WEAK = ("raw", "mean centrality", "medoid centrality", "common energy", "adapted majorant", "median", "mean")
PAIRS = 28
MADE = ("sine_gordon, same grid", "sine_gordon, continuum")


def losses_of(candidates):
    """Of every input another order, and no ties."""
    return np.random.default_rng(candidates).permuted(np.tile(0.1 * np.arange(1, candidates + 1), (INPUTS, 1)), axis=1)


@dataclass(frozen=True)
class Made(cases.Context):
    """Answers with scores that order candidates as their losses do, but for WEAK methods and for those in `misled`."""

    misled: tuple[str, ...] = ()

    def content(self, library, name, realization="native"):
        return {}

    def scores(self, method, losses):
        """Reversed where it is misled; the weak think less of every other candidate."""
        if method in self.misled:
            return -losses
        return losses + 0.45 * (np.arange(losses.shape[1]) % 2) * (method in WEAK)

    def cached(self, what, key, make):
        losses = losses_of(16 if "pooled" in what else 6 if what == "six" else 8)
        known = {"losses": losses, "changes": 1e-3 * losses, "proxy_loss": 0.5 * losses.min(1)}
        composed = {"composed": outliers.COMPOSED, "climbed": outliers.LADDER}.get(what, ())
        match what:
            case "cross-fit":
                return {
                    "cross-fit correct": np.full(INPUTS, PAIRS - 1.0),
                    "cross-fit pairs": np.full(INPUTS, 1.0 * PAIRS),
                }
            case "one-by-one":
                return {"scores": self.scores("candidate-wise", losses)}
            case "certificates":
                return self.proofs(key["most"])
            case "doubt":
                return self.doubts(losses)
            case "partial":
                return self.walk(losses)
            case "crossed":
                return self.account(losses)
            case "growing":
                steps = np.ones((INPUTS, 14))
                kept = {
                    "anchor": steps,
                    "proxy": 0.1 * steps,
                    "changed": 0 * steps,
                    "older": steps,
                    "unforeseen": 0.01 * steps,
                }
                return kept | {"anchor identity": 1e-15 * steps, "gap identity": 1e-15 * steps}
            case "quantities":
                ways = {"losses": losses, "linear": self.scores("linear", losses), "evaluated": losses}
                table = {f"{name} {way}": rows for name in beyond.QUANTITIES for way, rows in ways.items()}
                return table | {f"{name} apart": np.ones(INPUTS) for name in beyond.QUANTITIES}
        for method in (*key.get("methods", composed or cases.SCORES),):
            known[f"score {method}"] = self.scores(method, losses)
            known[f"seconds {method}"] = np.full(INPUTS, 0.5 if method.startswith("direct") else 0.1)
            known[f"settled {method}"] = np.full(INPUTS, method not in self.misled)
        return known | {"seconds": np.full(INPUTS, 0.1)}

    def walk(self, losses):
        """Errors fall with 1 − 0.9 α, and so do those of the scores, which are reversed at the anchor."""
        left = 1 - 0.9 * np.minimum(mechanism.ALPHAS, 1.0)
        errors = dict.fromkeys(mechanism.ERRORS, np.tile(left, (INPUTS, 1)))
        scores = np.stack([losses if a > 0.5 else -losses for a in mechanism.ALPHAS], axis=1)
        rest = {"best": np.full(INPUTS, 0.5), "moved": np.zeros((INPUTS, PAIRS)), "closure": np.full(INPUTS, 1e-15)}
        return errors | {"scores": scores, "losses": losses} | rest

    def doubts(self, losses):
        """Small gaps are open; `misled` has all gaps the wrong way round."""
        i, j = np.triu_indices(8, 1)
        true, misled = losses[:, j] - losses[:, i], "doubt" in self.misled
        each = {
            "best settled": np.ones(INPUTS),
            "best right": np.full(INPUTS, not misled),
            "left out": np.zeros(INPUTS),
        }
        table = {"true": true, "gaps": -true if misled else true, "uncertainty": np.full(true.shape, 0.15)}
        return table | each | {"doubt": 0 * true, "rung": np.full(INPUTS, "response")}

    def account(self, losses):
        """The fine grid says what the coarse one says, but for the misled; the screen decides one pair in two."""
        i, j = np.triu_indices(8, 1)
        gaps, decided = losses[:, j] - losses[:, i], np.arange(PAIRS) % 2
        fine = self.scores("fine", losses)
        terms = {name: gaps for name in crossing.TERMS} | {"remainder": 0.01 * gaps, "candidates_only": 0.02 * gaps}
        known = {"signs": np.sign(gaps) * decided, "winner": losses.argmin(1), "closure": np.full(INPUTS, 1e-16)}
        return terms | known | {"scores coarse": losses, "scores fine": fine}

    def proofs(self, most):
        """One pair in seven is open after the first correction; `misled` has all decided the wrong way."""
        gaps = np.tile(np.linspace(0.1, 1, PAIRS) * (-1.0) ** np.arange(PAIRS), (INPUTS, 1))
        decided = np.stack([(np.arange(PAIRS) % 7 > 0) | (k > 0) for k in range(most)])
        signs = np.sign(gaps)[:, None] * decided * (-1 if "certificates" in self.misled else 1)
        margins, each = np.abs(gaps)[:, None] * np.ones((most, 1)), np.ones((INPUTS, most))
        bounds = np.where(decided, 0.1, 2.0) * margins
        facts = {"validated": each, "strict": each, "tolerant": each, "seconds": each}
        state = {"state_bound": 1.0005 * each, "errors": each, "gaps": gaps, "doubt": 0 * gaps}
        return {"signs": signs, "bounds": bounds, "margins": margins} | facts | state


def row(corrections, right=10):
    return {
        "corrections": corrections,
        "cases": 2,
        "non_ties": 10,
        "non_ties_certified": right,
        "wrong": 0,
        "median_responses": 30.0,
        "median_radius": 0.2,
        "median_distance": 0.1,
        "responses": 7.0,
        "certified": right,
        "pairs": 10,
    }


@pytest.fixture(autouse=True)
def nothing_is_computed(monkeypatch):
    monkeypatch.setattr(
        controls, "_cost", lambda *_: {str(n): {"shared": 1.0, "candidate-wise": 0.9 * n} for n in controls.NUMBERS}
    )
    second = {"inputs": 2, "pairs": 56, "pairs_changed": 0, "outcomes_changed": 0, "winners_changed": 0}
    second |= {"largest_relative_loss_change": 0.0}
    monkeypatch.setattr(controls, "second_method", lambda *_: second)
    monkeypatch.setattr(certificates.energies, "coverage", lambda _: {name: [row(1, 5), row(2)] for name in MADE})
    monkeypatch.setattr(certificates.continuum, "coverage", lambda _: {"reaction_diffusion": row(2)})
    monkeypatch.setattr(certificates.validated, "coverage", lambda *_: [row(1, 5), row(2)])
    monkeypatch.setattr(mechanism, "_rolled", lambda made: made.walk(losses_of(8)))
    for group in ("primary", "stress"):
        monkeypatch.setitem(GROUPS, group, [library for library in GROUPS[group] if library.architecture == "fno"])


def claimed(name, *misled):
    """The result, and which claims hold; its tables and sentences can be written."""
    result, figure = STUDIES[name].run(Made(None, PROFILE, misled=misled))
    result = json.loads(json.dumps(result, allow_nan=False))
    assert figure.axes
    for written in (PAGES.get(name), WORDS.get(name)):
        assert written is None or len(written(result)) > 20
    return result, [bool(holds) for _, holds in STUDIES[name].claims(result)]


def test_controls():
    result, hold = claimed("controls")
    libraries = len(GROUPS["primary"])
    assert all(hold)
    assert result["eight"]["cross-fit"] == {"pairs_correct": libraries * INPUTS * (PAIRS - 1)}
    assert result["eight"]["pairs"] == result["eight"]["shared"]["pairs"] == libraries * INPUTS * PAIRS
    assert result["sixteen"]["same_choice"] == result["sixteen"]["shared"]["cases"] == libraries // 2 * INPUTS
    assert result["sixteen"]["raw"]["pairs_correct"] < result["sixteen"]["shared"]["pairs_correct"]
    assert not claimed("controls", "candidate-wise")[1][0]


def test_direct():
    result, hold = claimed("direct")
    assert all(hold)
    for rows in result["table"].values():
        assert rows["shared"]["pairs_correct"] == rows["shared"]["pairs"] > rows["raw"]["pairs_correct"]
        assert rows["shared"]["median_seconds"] == 0.1
    assert not all(claimed("direct", "shared, 2 corrections")[1])


def test_variational():
    result, hold = claimed("variational")
    assert hold == [True, True, False, True]  # here a dual norm is as weak as the raw residual
    assert result["pooled"]["shared"]["pairs"] == 2 * result["by_realization"]["native"]["shared"]["pairs"]
    assert claimed("variational", "raw")[1] == [True] * 4
    assert claimed("variational", "shared")[1] == [False, False, False, False]


def test_panels():
    result, hold = claimed("panels")
    libraries, rows = len(GROUPS["primary"]), result["table"]["shared"]
    assert all(hold) and result["libraries"] == libraries == len(result["cells"]["shared"])
    assert rows == result["table"]["candidate-wise"]
    assert rows[str(INPUTS)]["mean_normalized_regret"] == 0 and rows[str(INPUTS)]["exact"] == libraries
    misled, hold = claimed("panels", "shared")
    assert not hold[1] and misled["table"]["shared"][str(INPUTS)]["exact"] == 0


def test_composition():
    result, hold = claimed("composition")
    assert all(hold)
    assert result["pooled"]["six of eight, mean of six"]["pairs_all"] == len(GROUPS["stress"]) * INPUTS * 15


def test_outliers():
    result, hold = claimed("outliers")
    assert all(hold)
    far = result["pooled"][str(outliers.FARTHER[-1])]
    assert far["medoid"]["strict_correct"] == far["medoid"]["pairs_all"] > far["mean"]["strict_correct"]
    assert claimed("outliers", "ladder")[1] != hold


def test_certificates():
    result, hold = claimed("certificates")
    assert all(hold)
    for steps in result["all"].values():
        assert [row["wrong"] for row in steps] == [0] * len(steps)
        assert steps[0]["certified"] == steps[0]["pairs"] * 24 // 28 and steps[-1]["certified"] == steps[-1]["pairs"]
        assert steps[0]["within_a_thousandth"] == [steps[0]["cases"]] * 2
    assert not claimed("certificates", "certificates")[1][0]


def test_beyond():
    result, hold = claimed("beyond")
    assert all(hold)
    for row in result["growing"].values():
        assert row["sizes"] == list(range(3, 17)) and np.allclose(row["damping"], 0.1)
    assert claimed("beyond", "shared")[1].count(False) == len(result["mixed"])


def test_selection():
    result, hold = claimed("selection")
    assert all(hold)
    ours = result["table"]["shared, medoid anchor"]
    assert ours["top2"] == ours["routes"] == result["libraries"] == len(result["cells"]["raw"])
    both = result["on_the_same"]
    assert both["same_choice"] == both["candidate-wise"]["routes"] == result["libraries"] * both["panels"]
    assert result["regret"]["candidate-wise"][-1] == 0 < result["regret"]["raw"][-1]
    assert claimed("selection", "shared")[1] == [False, False, False]
    assert claimed("selection", "candidate-wise")[1] == [True, True, False]


def test_mechanism():
    result, hold = claimed("mechanism")
    assert hold
    for path in result["paths"].values():
        np.testing.assert_allclose(path["errors"]["task"]["median"][:5], 1 - 0.9 * np.linspace(0, 1, 5))
        assert [row["correct"] for row in path["decisions"]][::2] == [0, 0, path["decisions"][4]["pairs"]]
        assert path["contraction"]["state"] == pytest.approx(10)
    assert all(cell["flipped"] == 0 for cell in result["cells"].values())


def test_resolution():
    result, hold = claimed("resolution")
    assert hold
    for row in result["transitions"].values():
        assert row["strict_flips"] == row["top1_changes"] == 0 < row["pairs"]
    for of in result["screen"].values():
        for row in of.values():
            assert row["pairs_covered_wrong"] == row["top1_covered_wrong"] == 0 < row["pairs_covered"]
    cells = result["predictor_by_library"]
    assert cells.keys() == {library.name for library in GROUPS["primary"]}
    assert all(row["median_locality"] == pytest.approx(0.01) and row["auroc"] is None for row in cells.values())
    assert result["locality_and_gain"] is None  # nothing reverses here
    misled, _ = claimed("resolution", "fine")
    assert all(row["strict_flips"] == row["pairs"] for row in misled["transitions"].values())


def test_the_first_order_gap_foretells_less_where_the_account_is_less_local():
    random, found = np.random.default_rng(0), {}
    for library, size in zip(GROUPS["primary"], (0.01, 3.0), strict=False):
        coarse, drift, rest = random.standard_normal((3, 40, PAIRS))
        first = coarse + drift
        rest = size * np.abs(first) * np.sign(rest)
        found[library] = {"coarse": coarse, "first_order": first, "remainder": rest, "fine": first + rest}
    result = resolution._by_library(found)
    local, far = result["predictor_by_library"].values()
    assert (local["median_locality"], far["median_locality"]) == (pytest.approx(0.01), pytest.approx(3.0))
    assert local["auroc"]["first order"] == 1 > local["auroc"]["margin"]
    assert local["increment"]["low"] > far["increment"]["high"]
    assert result["locality_and_gain"] == pytest.approx(-1)


def test_additional():
    result, hold = claimed("additional")
    assert all(hold) and not all(claimed("additional", "shared")[1])
    assert result["anchors_apart"] == result["unresolved"] == {"pairs": 0, "top1": 0}
    assert result["validation_loss_ratio"].keys() == result["cells"]["medoid"].keys()


def test_doubt():
    result, hold = claimed("doubt")
    assert hold == [True, False] * (len(hold) // 2)  # none wrong, and here too much is left open
    row = result["pooled"]
    assert row["settled"] + row["open"] == row["non_ties"] == row["right"] and 0 < row["open"] < row["settled"]
    assert row["best_settled"] == row["inputs"] == sum(of["inputs"] for of in result["by_equation"].values())
    misled = claimed("doubt", "doubt")[0]["pooled"]
    assert misled["wrong"] == misled["settled"] and misled["best_settled_wrong"] == misled["inputs"]
