"""The ladder: coarse grids decide what they see, and nothing else; what is open climbs; nothing is lost on the way."""

import json
from types import SimpleNamespace

import equinox as eqx
import numpy as np
import pytest

import physrank as pr
from levels import POINTS, blind_library, cubic, field, iterated, solved, wave
from physrank import compute
from physrank.ranking.candidates import Candidates
from physrank.rungs import Asked, Climber, nested
from physrank.rungs.climb import _by_start
from problems import CASES


@pytest.fixture(scope="module")
def smooth():
    problem = field()
    truth = solved(problem)
    x = np.linspace(0, 1, POINTS + 2)
    shapes = [np.outer(np.sin(k * np.pi * x), np.sin(m * np.pi * x)) for k, m in ((1, 2), (2, 3), (3, 1))]
    return problem, truth, {f"m{k}": truth + 0.01 * (k + 1) * shape for k, shape in enumerate(shapes)}


def test_a_smooth_library_is_settled_from_a_coarse_grid(smooth):
    problem, truth, candidates = smooth
    ranking = pr.rank(problem, candidates)
    assert ranking.order == ["m0", "m1", "m2"] and ranking.settled
    assert [step.rung for step in ranking.effort] == ["grid of 18 × 18", "steps on the problem's grid"]
    assert ranking.effort[-1].open == 0 and ranking.corrections == 0
    # The proxy is as good as the steps say: what they leave is below what they moved.
    assert ranking.space.norm(ranking.proxy - truth) <= ranking.error_uncertainty


def test_candidates_say_where_to_start_unless_the_problem_is_marched(smooth):
    problem, _, candidates = smooth
    states = np.stack(list(candidates.values()))
    step = (POINTS + 2) // 16
    told = Climber(problem, None, None, states, None).under
    np.testing.assert_array_equal(told, np.median(states[:, ::step, ::step], axis=0))
    cells = pr.equations.DiffusionReaction(np.ones((2, 32, 32)), np.linspace(0, 1, 6))
    trajectories = np.ones((3, 6, 2, 32, 32))
    march = Climber(cells, None, None, trajectories, None).under
    assert march.shape == (6, 2, 16, 16) and not march.any()


def test_a_march_is_settled_on_a_coarse_grid_with_a_look_at_its_own():
    problem = pr.equations.Burgers(lambda x: np.sin(x), 0.05, np.linspace(0, 1, 9), points=128, substeps=8)
    truth = solved(problem)
    x = np.arange(128) * 2 * np.pi / 128
    candidates = {f"m{k}": truth + 0.02 * k * np.sin((k + 1) * x) for k in (1, 2, 3)}
    ranking = pr.rank(problem, candidates)
    assert ranking.order == ["m1", "m2", "m3"] and ranking.settled
    names = [step.rung for step in ranking.effort]
    assert names[-1] == "a look at the problem's grid" and ranking.rung.name.startswith("grid of 9 × ")
    assert ranking.state.shape == truth.shape  # lifted when asked for
    np.testing.assert_allclose(ranking.state[-1], ranking.proxy, atol=1e-12)


def test_noise_of_the_candidates_is_no_reason_to_begin_on_a_finer_grid():
    """What lies beyond one grid and beyond the next alike is theirs; what the next one carries may be the solution's."""
    problem = pr.equations.Burgers(lambda x: np.sin(x), 0.05, np.linspace(0, 1, 9), points=256, substeps=16)
    x, random = np.arange(256) * 2 * np.pi / 256, np.random.default_rng(0)

    def begun(mode):
        states = np.sin(x) + 0.2 * np.sin(mode * x) + 0.01 * random.standard_normal((4, 9, 256))
        climber = pr.anchors.auto().climber(problem, Candidates.of(states, problem), pr.tasks.terminal(), Asked())
        return _by_start([climber], nested.levels(problem), 3)

    assert nested.levels(problem) == (4, 3, 2, 1)
    assert list(begun(2)) == [(4, 3, 2)] and list(begun(7)) == [(3, 2, 1)]


def test_a_march_is_smooth_where_the_task_looks():
    """A shock that has spread by the end says nothing about the rows before it."""
    problem = pr.equations.Burgers(lambda x: np.sin(x), 0.05, np.linspace(0, 1, 9), points=64, substeps=4)
    x = np.arange(64) * 2 * np.pi / 64
    state = np.stack([np.sign(np.sin(x - 0.1)), *[np.sin(x)] * 8])
    for task, smooth in ((pr.tasks.terminal(), True), (pr.tasks.field(), False)):
        given = Candidates.of(state[None], problem)
        climber = pr.anchors.auto().climber(problem, given, task, Asked())
        climber.rung = SimpleNamespace(state=state)
        assert climber.smooth == smooth


@pytest.mark.parametrize("amplitude", [100.0, 10_000.0])
def test_grids_that_cannot_see_a_force_do_not_decide_about_it(amplitude):
    problem, plain = field(amplitude), field()
    candidates = blind_library(solved(problem), solved(plain))
    ranking = pr.rank(problem, candidates)
    assert ranking.order == pr.rank(problem, candidates, effort="solve").order
    assert ranking.order[-1] == "without"
    assert not ranking.rung.name.startswith("grid of")


@pytest.mark.parametrize(("amplitude", "pulse"), [(0.02, 0.0), (0.1, 0.0), (0.0, 5.0)])
def test_grids_that_cannot_see_a_wave_do_not_decide_about_it(amplitude, pulse):
    problem = wave(amplitude, pulse)
    candidates = blind_library(solved(problem), solved(wave()))
    ranking = pr.rank(problem, candidates)
    assert ranking.order == pr.rank(problem, candidates, effort="solve").order
    assert ranking.order[-1] == "without"


def test_without_the_look_a_coarse_grid_would_be_believed(monkeypatch):
    """The sabotaged twin: with nothing to see on the problem's grid, the blind grids settle the wrong order."""
    problem = wave(0.02)
    candidates = blind_library(solved(problem), solved(wave()))
    monkeypatch.setattr(Climber, "looked", lambda self, seen, look: seen)
    ranking = pr.rank(problem, candidates)
    assert ranking.settled and ranking.order[0] == "without"


def test_a_coefficient_that_jumps_between_coarse_nodes_is_left_to_the_problems_grid():
    def problem(width):
        return pr.equations.ReactionDiffusion(
            lambda x: np.where(np.abs(x - 0.53) < width, 0.02, 1.0),
            lambda x: 10 * np.ones_like(x),
            0.5,
            0.1,
            points=127,
            dims=1,
        )

    truth, plain = solved(problem(0.006)), solved(problem(1e-9))
    offset = np.sin(3 * np.pi * np.linspace(0, 1, 129)) * np.abs(truth - plain).max()
    candidates = {
        "jump": truth + 0.6 * offset,
        "none": plain + 0.1 * offset,
        "half": (truth + plain) / 2 + 0.2 * offset,
    }
    ranking = pr.rank(problem(0.006), candidates)
    assert ranking.rung.name == "shared response"
    assert ranking.order == pr.rank(problem(0.006), candidates, effort="solve").order


def test_near_ties_within_the_tolerance_drive_no_effort(smooth):
    problem, _truth, candidates = smooth
    twins = candidates | {"twin": candidates["m0"] + 1e-9 * candidates["m1"]}
    assert not pr.rank(problem, twins).effort[-1].rung.startswith("steps")
    relaxed = pr.rank(problem, twins, tolerance=1e-8)
    assert relaxed.settled and relaxed.effort[-1].rung.startswith("steps") and len(relaxed.effort) == 2


def test_only_the_best_may_be_asked_for(smooth):
    problem, _, candidates = smooth
    twins = candidates | {"twin": candidates["m2"] + 1e-9 * candidates["m1"]}
    best = pr.rank(problem, twins, decide="best")
    assert best.settled and best.best == "m0" and len(best.effort) == 2


def test_a_panel_climbs_like_its_inputs_alone(smooth):
    problem, truth, candidates = smooth
    blind = field(1000.0)
    hidden = blind_library(solved(blind), truth)
    libraries = [candidates, dict(zip(candidates, hidden.values(), strict=True)), candidates]
    panel = list(pr.rank_panel([problem, blind, problem], libraries))
    for ranking, (alone, library) in zip(panel, zip([problem, blind, problem], libraries, strict=True), strict=True):
        single = pr.rank(alone, library)
        assert ranking.order == single.order and ranking.settled == single.settled
        assert ranking.rung.name == single.rung.name
        np.testing.assert_allclose(ranking.scores, single.scores, rtol=1e-6)


def test_a_problem_without_levels_climbs_by_corrections():
    problem, state = CASES["stationary, dense"].problem, CASES["stationary, dense"].state(0)
    truth = pr.scorers.DirectSolve().solution(problem, state.shape)[0]
    candidates = {"near": truth + 0.3 * state, "far": truth - 0.6 * state}
    ranking = pr.rank(problem, candidates)
    assert next(step.rung for step in ranking.effort) == "shared response"
    assert 1 <= ranking.corrections <= 3
    assert ranking.order == ["near", "far"]


def test_where_no_correction_held_the_solution_may_be_another_one():
    problem = pr.Stationary(lambda u: u**2 - 1.0)  # −1 or 1: who can tell from candidates near zero?
    near = {"a": np.full(3, 0.02), "b": np.full(3, 0.05), "c": np.full(3, 0.1)}
    ranking = pr.rank(problem, near)
    assert ranking.settled
    assert any("if it has several solutions" in doubt for doubt in ranking.doubts)
    close = {name: 0.9 + values for name, values in near.items()}
    assert pr.rank(problem, close).doubts == ()


def test_own_problems_bring_their_own_levels():
    truth, host, x = solved(cubic()), cubic(xp=np), np.linspace(0, 1, 127)
    candidates = {"a": truth + 0.02 * np.sin(2 * np.pi * x), "b": truth + 0.05 * np.sin(3 * np.pi * x)}
    ranking, hosted = (pr.rank(problem, candidates) for problem in (cubic(), host))
    assert ranking.order == ["a", "b"] and ranking.effort[0].rung.startswith("grid of")
    spent, same = ([(step.rung, step.open) for step in found.effort] for found in (hosted, ranking))
    assert spent == same  # on the host as well
    np.testing.assert_allclose(hosted.scores, ranking.scores, rtol=1e-6)
    assert host.coarser(1) is host.coarser(1)  # stated once: it may have been assembled


def test_whoever_names_an_anchor_or_corrections_means_the_response(smooth):
    problem, _, candidates = smooth
    for options in ({"anchor": "mean"}, {"corrections": 1}, {"until": "settled"}, {"effort": "response"}):
        ranking = pr.rank(problem, candidates, **options)
        assert ranking.rung.name == "shared response" and ranking.corrections == 1
    both = pr.rank(problem, candidates, anchor="mean", effort="auto")
    assert both.rung.name == "steps on the problem's grid"


def test_a_ranking_from_below_the_grid_can_do_all_that_others_can(smooth, tmp_path):
    problem, _truth, candidates = smooth
    ranking = pr.rank(problem, candidates)
    assert ranking.response.converged and ranking.on_grid.corrections == 1
    assert ranking.corrected().order == ranking.order
    average = ranking.rescore(pr.tasks.linear(lambda u: u[10:20, 10:20], name="corner"))
    assert average.task.name == "corner" and np.isfinite(average.uncertainty).all()
    assert pr.certify(problem, ranking).settled
    assert abs(pr.adjoint_gap(ranking, "m0", "m1") - ranking.on_grid.gaps[0, 1]) <= 1e-6 * abs(ranking.gaps[0, 1])
    content = json.loads(ranking.to_json(tmp_path / "ranking.json").read_text())
    assert content["response"] is None and content["effort"][-1]["open_pairs"] == 0
    assert "effort: grid of 18 × 18" in str(ranking)
    assert "Effort" in ranking.report(tmp_path / "page.html").read_text()
    ranking.to_xarray()


def test_a_high_contrast_is_not_left_to_steps_that_hardly_move_it():
    """Steps seem to contract there and leave most of the error: a slow mode hides behind the fast ones."""
    x = np.linspace(0, 1, 65)
    bump = np.exp(-((x[:, None] - 0.5) ** 2 + (x - 0.5) ** 2) / 0.09)
    force = 1e3 * np.outer(np.sin(np.pi * x), np.sin(2 * np.pi * x) + 0.5)
    problem = pr.equations.ReactionDiffusion(1e4**bump, force, 10.0, 0.0)
    truth = solved(problem)
    ranking = pr.rank(problem, {f"{k} %": truth * (1 + k / 100) for k in (-2, 4, 6)})
    assert ranking.rung.name == "shared response"
    assert ranking.order == ["-2 %", "4 %", "6 %"]


def test_where_its_own_grid_does_not_carry_the_solution_nothing_is_settled():
    x = np.arange(96) * 2 * np.pi / 96
    problem = pr.equations.Burgers(np.sin(x), 1e-3, np.linspace(0, 3, 26), points=96)
    ranking = pr.rank(problem, {"a": np.tile(np.sin(x), (26, 1)), "b": np.zeros((26, 96))})
    assert not ranking.settled and not ranking.settled_pairs[0, 1]
    assert any("does not resolve its solution" in doubt for doubt in ranking.doubts)


def test_a_force_that_drops_out_between_coarse_moments_is_noticed():
    problem = wave()
    steps, moments, modes = problem.forcing.shape
    force = np.zeros((steps, moments, modes), complex)
    force[:, ::8, 1] = 20.0  # felt at the ends of rows only, where a level with fewer substeps looks
    dropping = eqx.tree_at(lambda p: p.forcing, problem, force)
    assert float(compute.run(nested._uneven_in_time, force)) > nested.KEPT
    first, second = np.zeros(problem.state_shape), np.ones(problem.state_shape)
    names = [step.rung for step in pr.rank(dropping, {"a": first, "b": second}).effort]
    assert names[-1] == "solve on the problem's grid"


def test_twins_among_others_are_no_question_and_excluded_candidates_neither(smooth):
    problem, _, candidates = smooth
    twins = {**candidates, "again": candidates["m1"].copy(), "lost": np.full_like(candidates["m0"], np.nan)}
    ranking = pr.rank(problem, twins, invalid="exclude")
    assert ranking.settled and len(ranking.effort) == 2
    assert ranking.effort[-1].open == 0


def test_levels_that_cannot_be_lifted_are_not_climbed():
    fine = cubic()
    bare = pr.Stationary(fine.residual, fine.data, shape=(127,), coarsen=cubic)
    assert nested.levels(bare) == ()


def test_a_coarsening_that_fails_is_named():
    def broken(level):
        raise ZeroDivisionError("no such level")

    problem = cubic()
    own = pr.Stationary(problem.residual, problem.data, grid=problem.grid, shape=(127,), coarsen=broken)
    with pytest.raises(ValueError, match=r"coarsen\(1\) failed: ZeroDivisionError: no such level"):
        pr.rank(own, {"a": np.zeros(127), "b": np.ones(127)})


def test_another_question_of_a_coarse_grid_is_asked_on_the_problems_own(smooth):
    problem = pr.equations.Burgers(lambda x: np.sin(x), 0.05, np.linspace(0, 1, 9), points=128, substeps=8)
    truth = solved(problem)
    candidates = {"a": truth * 1.01, "b": truth * 1.05}
    sensor = pr.tasks.linear(lambda u: 1e3 * u[-1, :20], name="sensor")
    ranking = pr.rank(problem, candidates)
    assert "unseen" in ranking.rung.parts
    rescored, fresh = ranking.rescore(sensor), pr.rank(problem, candidates, task=sensor)
    assert "unseen" not in rescored.rung.parts and rescored.settled
    assert rescored.order == fresh.order


def test_an_iteration_ends_when_pairs_are_separated_from_what_it_leaves():
    truth, x = solved(cubic()), np.linspace(0, 1, 127)
    apart = {"a": truth + 0.02 * np.sin(2 * np.pi * x), "b": truth + 0.05 * np.sin(3 * np.pi * x)}
    short, whole = (pr.rank(iterated(), apart, effort=effort) for effort in ("auto", "response"))
    assert short.order == whole.order == ["a", "b"] and short.settled
    assert int(short.response.iterations) < int(whole.response.iterations)
    assert 1e-8 < float(short.response.algebraic_norm / short.response.defect_norm) < 2e-4


def test_pairs_that_an_iteration_leaves_open_have_it_go_on():
    """On a linear problem, where nothing but the iteration is in doubt: rough errors of nearly the same size."""
    truth, random = solved(iterated(1)), np.random.default_rng(0)
    one, other = random.standard_normal((2, 127))
    near = {"a": truth + 0.02 * one, "b": truth + 0.02000002 * other * np.linalg.norm(one) / np.linalg.norm(other)}
    ranking, whole = (pr.rank(iterated(1), near, effort=effort) for effort in ("auto", "response"))
    assert ranking.settled and ranking.order == whole.order and ranking.corrections == 2 > whole.corrections
    assert float(ranking.response.algebraic_norm / ranking.response.defect_norm) < 1e-8
