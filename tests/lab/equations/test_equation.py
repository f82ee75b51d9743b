"""One declaration per equation: nothing else knows equations by name."""

import ast
from dataclasses import replace

import numpy as np
import pytest

import physrank as pr
from lab_helpers import SOURCE
from physrank.geometry import lifts
from physrank.lab.equations import EQUATIONS, ROLLOUTS
from physrank.lab.libraries import PROFILES
from physrank.ranking.scorers import DirectSolve

NAMES = {**EQUATIONS, **ROLLOUTS}
MAY_NAME = ("lab/equations/", "lab/inputs/")
# Studies of more than one equation that are about these very ones: made candidates, and populations that the paper joins.
ABOUT_SOME = ("energies", "mechanism")


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
        if isinstance(node, ast.Constant) and node.value in NAMES and id(node) not in skipped
    ]


def test_nothing_else_knows_equations_by_name():
    for path in [*sorted((SOURCE / "lab").rglob("*.py")), *sorted((SOURCE / "cli").glob("lab*.py"))]:
        if not path.relative_to(SOURCE).as_posix().startswith(MAY_NAME):
            assert equation_names(path.read_text(encoding="utf-8")) == [], path


def declarations(text: str) -> list[str]:
    """Modules of single equations that are imported."""
    modules = [node.module or "" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    return [
        m.rpartition(".")[2] for m in modules if m.startswith("physrank.lab.equations.") and m.split(".")[-1] in NAMES
    ]


@pytest.mark.parametrize("path", sorted((SOURCE / "lab" / "studies").rglob("*.py")), ids=lambda path: path.stem)
def test_a_study_asks_the_declarations(path):
    """What a study wants of an equation is declared, or asked of its problem; only an equation's own study imports it."""
    if path.stem not in ABOUT_SOME:
        assert set(declarations(path.read_text(encoding="utf-8"))) <= {path.stem}


def test_a_name_in_a_study_would_be_noticed():
    assert declarations("from physrank.lab.equations.burgers import BURGERS") == ["burgers"]
    assert equation_names('title = {"flow_2d": "flow"}') == ["flow_2d"]
    assert equation_names('PAPER = {"burgers": 1}\nif equation == "burgers":\n    pass') == ["burgers"]
    assert equation_names('x = {"sine_gordon": 1}') == ["sine_gordon"]


@pytest.mark.parametrize("name", ["EQUATIONS", "POPULATIONS", "METHODS", "STRATA", "SCORES"])
def test_a_name_has_one_meaning(name):
    """No two modules define a table of the same name."""
    places = [
        path
        for path in SOURCE.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and any(
            isinstance(t, ast.Name) and t.id == name for t in getattr(node, "targets", [getattr(node, "target", None)])
        )
    ]
    assert len(places) <= 1, places


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
        EQUATIONS["sine_gordon"].grid_of("reinferred")
    with pytest.raises(ValueError, match="no realization 'other'"):
        EQUATIONS["burgers"].grid_of("other")
    with pytest.raises(ValueError, match="no networks for 'huge'"):
        EQUATIONS["burgers"].size("huge")
    with pytest.raises(ValueError, match="got 2 output channels, expected 1"):
        EQUATIONS["burgers"].states(np.zeros((3, 2, 48, 48)))


@pytest.mark.parametrize("equation", list(EQUATIONS))
def test_labels_solve_the_equation(equation):
    """Training targets against the instrument's own solver, a discretisation of another kind."""
    declared = EQUATIONS[equation]
    case = declared.input.sample("development", 0, "training")
    problem, label = declared.problem(case), declared.states(declared.labels([case]))[0]
    state, failed = DirectSolve().solution(problem, problem.state_shape)
    assert failed is None
    own = state[..., ::8] if declared.periodic else lifts.lift(state, (34, 34), "sine")
    assert np.abs(own - label).max() < 2e-3 * np.abs(label).max()


@pytest.mark.parametrize("name", EQUATIONS)
def test_mistaken_physics_can_be_solved_and_has_another_solution(name):
    equation = EQUATIONS[name]
    problem = equation.problem(equation.population("evaluation", 3)[0], 32)
    right, wrong = (DirectSolve().solution(p, problem.state_shape) for p in (problem, equation.mistaken(problem)))
    assert right[1] is wrong[1] is None
    assert np.linalg.norm(wrong[0] - right[0]) > 0.01 * np.linalg.norm(right[0])
