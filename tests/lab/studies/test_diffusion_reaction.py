"""Ten objectives of rollouts whose errors are known."""

import json

import numpy as np
import pytest

from lab_helpers import rolled_store
from physrank.lab.libraries import PROFILES, ROLLED
from physrank.lab.studies import diffusion_reaction as study
from physrank.lab.studies._kit.cases import Context


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return rolled_store(tmp_path_factory.mktemp("store"), ROLLED["diffusion_reaction"])


@pytest.fixture(scope="module")
def result(store):
    found, figure = study.run(Context(store, PROFILES["smoke"]))
    assert figure.axes
    return found


def test_known_errors_are_ranked_under_every_objective(result):
    json.dumps(result, allow_nan=False)
    terminal = result["objectives"]["terminal squared L²"]
    assert terminal["matched"] == terminal["fixed"]
    assert terminal["matched"]["pairs_correct"] + terminal["unresolved"] >= terminal["pairs"] == 9
    assert result["total"]["matched"]["pairs_correct"] >= 0.9 * result["total"]["pairs"]
    assert result["failed"] == 0
    assert result["contraction"]["full"] > 1
    assert all(isinstance(text, str) for text, _ in study.claims(result))


def test_a_second_run_reads_what_the_first_one_stored(store, result, monkeypatch):
    monkeypatch.setattr(study, "measure", lambda *case, **how: pytest.fail("measured again"))
    assert study.run(Context(store, PROFILES["smoke"]))[0] == result


def test_routing_is_measured_between_the_best_fixed_model_and_the_oracle():
    """Two inputs, two models, each best once: mean losses are 1 (oracle), 1.5 (best fixed model) and 2.5 (worst choice)."""
    losses = np.array([[1.0, 3.0], [2.0, 1.0]])
    for scores, closed in ((losses, 1.0), (losses[::-1], -2.0), (np.array([[1.0, 2.0], [1.0, 2.0]]), 0.0)):
        found = {
            "losses": losses[:, None],
            "matched": scores[:, None],
            "common": losses[:, None],
            "raw": -losses,
            "changes": np.zeros((2, 1, 2)),
        }
        row = study._objective(found, 0)
        assert row["routing"]["best fixed model"]["gap_closed"] == pytest.approx(closed)
        assert row["routing"]["best fixed model"]["top1"] == 1
        assert row["raw"]["pairs_correct"] == 0
    assert study._objective(found | {"matched": np.full((2, 1, 2), np.nan)}, 0)["matched"]["top1"] == 0
    assert study._objective(found | {"changes": np.ones((2, 1, 2))}, 0)["unresolved"] == 2  # gaps of 2 and 1, bars of 2


def test_routes_are_shown_where_the_best_model_changes_most():
    losses = np.ones((4, len(study.OBJECTIVES), 3)) + np.arange(3)  # the first model is the best
    losses[1:3, 4] = [3, 1, 2]  # but for two inputs under the fifth objective
    assert study._most_varied(losses) == study.OBJECTIVES[4]
    found = {"losses": losses, "matched": losses, "common": losses[..., ::-1], "raw": losses[:, 0]}
    routes = study._routes(found, study.OBJECTIVES[4])
    assert routes["best"] == routes["chosen"] == [0, 1, 1, 0] and routes["objective"] == study.OBJECTIVES[4]
    assert routes["regret"]["shared"][-1] == 0 < routes["regret"]["best terminal model"][-1]
