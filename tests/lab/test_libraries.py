"""The plan of libraries is the paper's, and their settings stay what they are."""

from dataclasses import replace

import numpy as np

from physrank.lab import libraries
from physrank.lab.equations import EQUATIONS
from physrank.lab.libraries import GROUPS, LIBRARIES, PROFILES, RUNS


def test_plan_is_the_papers():
    assert [len(GROUPS[name]) for name in ("primary", "additional", "stress", "quality")] == [8, 16, 16, 2]
    assert sorted(library.number for library in LIBRARIES.values()) == list(range(len(LIBRARIES)))
    paper = PROFILES["paper"]
    assert (paper.training, paper.validation, paper.epochs, paper.batch, paper.checkpoints) == (
        2048,
        256,
        40,
        32,
        (20, 40),
    )
    assert [EQUATIONS[e].size("paper").cno_multiplier for e in ("burgers", "reaction_diffusion")] == [37, 40]
    ranges = sorted(lib.first_training_input(run) for lib in LIBRARIES.values() for run in range(RUNS))
    assert min(np.diff(ranges)) >= paper.training  # no two runs share a training input
    rates = {name: lib.settings(paper, 0)["learning_rate"] for name, lib in LIBRARIES.items()}
    assert rates["reaction_diffusion-cno-e1"] == 1e-3 and rates["burgers-cno-e1"] == 2e-3


def test_settings_of_stored_checkpoints_stay_what_they_are():
    """Checkpoints are refused when these differ: whoever changes them throws trained libraries away."""
    assert LIBRARIES["burgers-fno-e1"].settings(PROFILES["laptop"], 2) == {
        "library": "burgers-fno-e1",
        "run": 2,
        "seed": 1002,
        "first_training_input": 8192,
        "training": 512,
        "validation": 64,
        "epochs": 20,
        "batch": 32,
        "learning_rate": 0.002,
        "weight_decay": 0.0001,
        "network": {"width": 16, "modes": [6, 12]},
    }
    assert LIBRARIES["reaction_diffusion-cno-s1"].settings(PROFILES["paper"], 3) == {
        "library": "reaction_diffusion-cno-s1",
        "run": 3,
        "seed": 28003,
        "first_training_input": 454656,
        "training": 128,
        "validation": 256,
        "epochs": 40,
        "batch": 32,
        "learning_rate": 0.001,
        "weight_decay": 0.0001,
        "network": {"channels": 20},
    }
    assert EQUATIONS["burgers"].input_fingerprint == "678debd0b040"


def test_one_more_equation_moves_nobodys_number(monkeypatch):
    """A number is part of every seed: libraries that exist must stay what they are."""
    more = {name: replace(EQUATIONS["sine_gordon"], name=name) for name in ("heat", "waves")}
    monkeypatch.setattr(libraries, "EQUATIONS", EQUATIONS | more)
    groups = libraries._groups()
    assert {name: groups[name] for name in GROUPS} == GROUPS
    numbers = [library.number for group in groups.values() for library in group]
    assert sorted(numbers) == list(range(len(numbers))) and groups["heat"][0].number == len(LIBRARIES)


def test_libraries_of_further_equations_are_numbered_after_the_papers():
    assert [library.number for library in GROUPS["sine_gordon"]] == list(range(28, 36))
    assert {library.architecture for library in GROUPS["sine_gordon"]} == {"fno", "cno"}


def test_a_budget_of_its_own_replaces_training_and_networks_and_nothing_else():
    library, laptop, paper = GROUPS["quality"][0], PROFILES["laptop"], PROFILES["paper"]
    assert library.settings(laptop, 1) == library.settings(paper, 1)
    assert library.settings(laptop, 1)["network"] == {"width": 24, "modes": [6, 12]}
    assert (library.sized(laptop).epochs, library.sized(laptop).evaluation) == (40, 240)
    assert [epoch for _, _, epoch in library.candidates(laptop)][:2] == [20, 40]
    assert library.sized(PROFILES["smoke"]) == PROFILES["smoke"]  # tests train what tests can train
    assert library.instances == "evaluation"
