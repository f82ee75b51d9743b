"""One declaration per equation: nothing else knows equations by name, and a new one is one file and one line."""

import ast
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import physrank as pr
from lab_helpers import InThisProcess
from physrank.lab.equations import EQUATIONS
from physrank.lab.equations.constraint import InitialRow, ZeroEdges
from physrank.lab.evaluation import solve_or_rank
from physrank.lab.libraries import GROUPS, LIBRARIES, PROFILES, RUNS
from physrank.lab.store import predictions, references
from physrank.lab.studies._kit import cases

SOURCE = Path(__file__).parent.parent / "src" / "physrank"
MAY_NAME = ("lab/equations/", "lab/inputs/")


def equation_names(text: str) -> list[str]:
    """String constants that are an equation's name, outside the tables of the paper's numbers."""
    tree = ast.parse(text)
    paper = [
        node
        for node in tree.body
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "PAPER" for t in node.targets)
    ]
    skipped = {id(inner) for node in paper for inner in ast.walk(node)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in EQUATIONS and id(node) not in skipped
    ]


def test_nothing_else_knows_equations_by_name():
    for path in [*sorted((SOURCE / "lab").rglob("*.py")), SOURCE / "cli.py"]:
        if not path.relative_to(SOURCE).as_posix().startswith(MAY_NAME):
            assert equation_names(path.read_text(encoding="utf-8")) == [], path


def test_a_name_in_a_study_would_be_noticed():
    assert equation_names('PAPER = {"burgers": 1}\nif equation == "burgers":\n    pass') == ["burgers"]
    assert equation_names('x = {"sine_gordon": 1}') == ["sine_gordon"]


@pytest.mark.parametrize("name", ["EQUATIONS", "POPULATIONS", "METHODS", "STRATA", "SCORES"])
def test_a_name_has_one_meaning(name):
    """No two modules of the laboratory define a table of the same name."""
    places = [
        path
        for path in (SOURCE / "lab").rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
    ]
    assert len(places) <= 1, places


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


def test_libraries_of_further_equations_are_numbered_after_the_papers():
    assert [library.number for library in GROUPS["sine_gordon"]] == list(range(28, 36))
    assert {library.architecture for library in GROUPS["sine_gordon"]} == {"fno", "cno"}


@pytest.mark.parametrize("equation", EQUATIONS.values(), ids=list(EQUATIONS))
def test_a_declaration_fits_together(equation):
    """Features, labels, states, problem and task space have the shapes that are declared."""
    case = equation.input.sample("development", 0, "training")
    features, labels = equation.features([case]), equation.labels([case])
    assert features.shape == (1, equation.inputs, *equation.grid)
    assert labels.shape == (1, equation.outputs, *equation.grid)
    assert features.dtype == labels.dtype == np.float32
    state = equation.states(labels)[0]
    assert state.shape == equation.state_shape()
    assert equation.constraint.violation(labels[:, None], features) < 1e-6
    problem = equation.problem(case)
    ranking = pr.rank(problem, {"label": state, "off": 0.9 * state})
    assert ranking.best == "label"
    assert set(PROFILES) == set(equation.sizes)
    coarse = [solve.points for solve in equation.coarse_solves]
    assert coarse == sorted(coarse, reverse=True) and coarse[0] < equation.points


def test_declarations_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="`channel` where there is more than one"):
        replace(EQUATIONS["burgers"], outputs=2)
    with pytest.raises(ValueError, match="one name for every axis"):
        replace(EQUATIONS["burgers"], axes=("time", "x", "y"))
    with pytest.raises(ValueError, match="declares no grid"):
        EQUATIONS["burgers"].grid_of("reinferred")
    with pytest.raises(ValueError, match="no realization 'other'"):
        EQUATIONS["burgers"].grid_of("other")
    with pytest.raises(ValueError, match="no networks for 'huge'"):
        EQUATIONS["burgers"].size("huge")
    with pytest.raises(ValueError, match="got 2 output channels, expected 1"):
        EQUATIONS["burgers"].states(np.zeros((3, 2, 48, 48)))


def test_violations_are_measured_where_they_are():
    features = np.random.default_rng(0).standard_normal((2, 5, 4, 6))
    emitted = np.zeros((2, 3, 2, 4, 6))
    emitted[:, :, :, 0] = features[:, None, :2, 0]
    assert InitialRow((0, 1)).violation(emitted, features) == 0
    emitted[1, 2, 1, 0, 3] += 0.25
    assert InitialRow((0, 1)).violation(emitted, features) == pytest.approx(0.25)
    inside = np.pad(np.ones((1, 1, 1, 3, 3)), [(0, 0)] * 3 + [(1, 1)] * 2)
    assert ZeroEdges().violation(inside, features) == 0
    inside[..., 2, -1] = -0.5
    assert ZeroEdges().violation(inside, features) == 0.5


def test_solve_or_rank_names_the_cheapest_that_is_as_good():
    solves = {"direct, 48": (90, 1.0), "direct, 96": (100, 2.0), "direct, 192": (101, 3.0), "direct, 384": (102, 9.0)}
    said = solve_or_rank((100, 4.0), solves)
    assert said.startswith("Solve: direct, 96 is 2.0 times cheaper")
    assert solve_or_rank((100, 1.5), solves).startswith("Rank: no direct solve")


def test_advice_is_written_once():
    sentence = "times cheaper than the shared response"
    holders = [path.name for path in (SOURCE / "lab").rglob("*.py") if sentence in path.read_text(encoding="utf-8")]
    assert holders == ["advice.py"]


# -- Sine–Gordon, which is its declaration and one line ------------------------------------------------------------------

TINY = replace(PROFILES["smoke"], evaluation=3, panels=1, panel_size=3, deployment=3)
LIBRARY = LIBRARIES["sine_gordon-fno-e1"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A library of four short runs, with its predictions."""
    run = pytest.importorskip("physrank.lab.training.run")
    inference = pytest.importorskip("physrank.lab.training.inference")
    store = tmp_path_factory.mktemp("sine_gordon")
    for number in range(RUNS):
        assert run.train_run(store, TINY, LIBRARY, number)
    inference.store_predictions(store, TINY, LIBRARY)
    return store


def test_two_channels_are_stored_as_states(trained):
    data = predictions.read(trained, TINY, LIBRARY, "evaluation")
    assert data["prediction"].dims == ("input", "candidate", "time", "channel", "x")
    assert data["prediction"].shape == (3, 8, 48, 2, 48)
    x = np.arange(48) * 2 * np.pi / 48
    for k, case in enumerate(LIBRARY.declared.population("evaluation", 3)):  # both initial fields are exact
        first = np.stack([case.initial(x), case.velocity(x)]).astype(np.float32)
        assert np.all(data["prediction"].values[k, :, 0] == first)
    assert predictions.wanted(LIBRARY) == [("evaluation", "native")]


def test_sine_gordon_goes_from_training_to_a_ranking(trained, monkeypatch):
    monkeypatch.setattr(
        LIBRARY.declared.solver, "LEVELS", {"first": ((384, 1024), (384, 2048))}
    )  # quick, and good enough
    monkeypatch.setattr(references, "ProcessPoolExecutor", InThisProcess)
    found = cases.evaluate(cases.Context(trained, TINY), LIBRARY)
    assert found.losses.shape == (3, 8)
    assert np.all(np.isfinite(found.scores["shared"]))
    assert np.all(found.proxy_loss < found.losses.min(axis=1))  # the corrected state is nearer than any network
    agree = np.argsort(found.scores["shared"], axis=1) == np.argsort(found.losses, axis=1)
    assert agree.mean() > 0.6


def test_checkpoints_describe_their_equation(trained):
    description = trained / TINY.name / LIBRARY.name / "run0" / "epoch24.json"
    facts = json.loads(description.read_text())
    assert facts["equation"] == LIBRARY.equation and facts["settings"] == LIBRARY.settings(TINY, 0)
