"""Replayed races: the cost is counted, the choice compared, and a useless rule fails the claims."""

import numpy as np

from physrank.lab.studies import race


def table(gap, inputs=48, candidates=4):
    random = np.random.default_rng(0)
    scores = (
        random.uniform(1, 2, (inputs, 1)) + gap * np.arange(candidates) + random.uniform(0, 0.1, (inputs, candidates))
    )
    return {"scores": scores, "doubt": np.zeros((inputs, candidates, candidates))}


def test_a_clear_panel_is_cheap_and_right():
    row = race._row({"clear": table(0.5)}, 48, 0.05)
    assert row["same_choice"] == row["within_tolerance"] == row["settled"] == row["races"] == race.ROUTES
    assert row["inference"] <= row["inputs"] < 0.5


def test_doubt_costs_inputs():
    doubtful = table(0.5)
    doubtful["doubt"] += 0.6
    assert race._row({"x": doubtful}, 48, 0.0)["inputs"] > race._row({"x": table(0.5)}, 48, 0.0)["inputs"]


def test_unresolved_inputs_are_left_out():
    partly = table(0.5)
    partly["scores"][::5] = np.nan
    assert race._row({"partly": partly}, 48, 0.05)["same_choice"] == race.ROUTES


def test_claims_fail_when_races_are_wrong_or_dear():
    good = {"races": 100, "within_tolerance": 99, "inputs": 0.4, "inference": 0.3}
    for change, holds in (
        ({}, [True, True]),
        ({"within_tolerance": 90}, [False, False]),
        ({"inputs": 0.6}, [False, True]),
    ):
        result = {"sizes": [48], "table": {"48": {"0.05": good | change}}}
        assert [bool(held) for _, held in race.claims(result)] == holds
