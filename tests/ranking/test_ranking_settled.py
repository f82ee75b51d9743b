"""Settled or open: doubts that are there, doubts that are not, and the cases that used to be silently wrong."""

import json

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank.report.words import headline
from problems import bratu, burgers, reaction_diffusion


def solution(problem, shape=None):
    state, failed = pr.scorers.DirectSolve().solution(problem, shape or problem.state_shape)
    assert failed is None
    return state


def around(truth, sizes, seed=0):
    random = np.random.default_rng(seed)
    smooth = lambda: np.cumsum(random.standard_normal(truth.shape), axis=-1)  # noqa: E731
    errors = [smooth() for _ in sizes]
    return {f"c{k}": truth + s * e / np.abs(e).max() for k, (s, e) in enumerate(zip(sizes, errors, strict=True))}


def torn(truth, size=0.6, best=None):
    """Two candidates on opposite sides of the truth, as far from it as makes no difference; and a third one."""
    error = size * np.sin(np.linspace(0.3, 2.9, truth.shape[-1])) * np.ones_like(truth)
    third = 2.5 if best is None else best
    return {"plus": truth + error, "minus": truth - 1.001 * error, "third": truth + third * error}


def true_losses(ranking, truth):
    target = ranking.task.outputs(truth[None])[0]
    return np.array([ranking.space.norm_squared(y - target) for y in ranking.outputs])


def test_a_linear_problem_is_settled_to_round_off_whatever_the_anchor():
    matrix = np.eye(8) + 0.1 * np.random.default_rng(0).standard_normal((8, 8))
    truth = np.linspace(1, 2, 8)
    problem = pr.Stationary(lambda u, d: d[0] @ u - d[1], (matrix, matrix @ truth))
    ranking = pr.rank(problem, {"a": truth + 40, "b": truth - 41, "c": truth + 40.001})
    assert ranking.settled
    assert ranking.doubts == ()
    assert not [note for note in ranking.notes if "linearisation" in note]
    assert ranking.error_uncertainty < 1e-10
    assert ranking.order == ["a", "c", "b"]


def test_what_is_settled_is_right_and_what_is_wrong_is_open():
    """Over many random libraries of a nonlinear problem: no settled pair may be wrong, and doubt must not be everywhere."""
    problem = reaction_diffusion(2, 8)
    truth = solution(problem)
    settled = wrong = total = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        candidates = around(truth, 10.0 ** random.uniform(-3, 0.5, 5), seed)
        ranking = pr.rank(problem, {n: np.pad(c[1:-1, 1:-1], 1) for n, c in candidates.items()}, allow_unresolved=True)
        true = pr.geometry.gap_matrix(true_losses(ranking, truth))
        sure = ranking.settled_pairs & ~np.eye(5, dtype=bool)
        settled, total = settled + sure.sum(), total + 20
        wrong += (sure & (np.sign(ranking.gaps) != np.sign(true))).sum()
    assert wrong == 0
    assert settled > 0.8 * total


def test_uncertainty_measures_what_a_further_correction_moves():
    problem = burgers()
    ranking = pr.rank(problem, around(solution(problem), [0.5, 0.6, 0.7]), anchor="mean")
    better = pr.rank(problem, around(solution(problem), [0.5, 0.6, 0.7]), anchor="mean", corrections=4)
    moved = np.abs(better.gaps - ranking.gaps)
    part = ranking.rung.parts["linearisation"]
    np.testing.assert_allclose(part, 2 * moved, rtol=0.05, atol=1e-12)
    assert better.rung.parts["linearisation"].max() < 1e-6 * part.max()


def test_until_settled_corrects_any_problem_only_while_something_is_open():
    problem = pr.Stationary(bratu, data=1.5)
    candidates = torn(solution(problem, (9,)), best=-0.1)
    once = pr.rank(problem, candidates, anchor="plus")
    more = pr.rank(problem, candidates, anchor="plus", until="settled", max_corrections=5)
    assert not once.settled
    assert more.settled
    assert 1 < more.corrections < 5
    assert more.certificate is None
    assert pr.rank(problem, candidates, anchor="plus", decide="best", until="settled").corrections == 1


def test_decide_and_tolerance_say_what_must_be_settled():
    problem = pr.Stationary(bratu, data=1.5)
    candidates = torn(solution(problem, (9,)), best=-0.1)
    assert pr.rank(problem, candidates, anchor="plus", decide="best").settled
    assert not pr.rank(problem, candidates, anchor="plus").settled
    assert pr.rank(problem, candidates, anchor="plus", tolerance=1.0).settled
    with pytest.raises(ValueError, match="decide must be"):
        pr.rank(problem, candidates, decide="winner")
    with pytest.raises(ValueError, match="tolerance must be"):
        pr.rank(problem, candidates, tolerance=-1)


def test_equal_candidates_are_a_settled_tie():
    problem = reaction_diffusion(2, 6)
    truth = solution(problem)
    ranking = pr.rank(problem, {"a": truth * 1.1, "same": truth * 1.1, "b": truth * 1.5})
    assert ranking.settled_pairs.all()
    assert ranking.settled


def test_an_absurd_candidate_does_not_change_the_order_of_the_others():
    problem = burgers()
    candidates = around(solution(problem), [0.02, 0.03, 0.05, 0.08])
    for absurd in (5 * candidates["c0"], 1e6 * np.ones_like(candidates["c0"]), -candidates["c1"] * 40):
        for effort in ("auto", "response"):
            without = pr.rank(problem, candidates, effort=effort)
            ranking = pr.rank(problem, {**candidates, "absurd": absurd}, effort=effort)
            assert [name for name in ranking.order if name != "absurd"] == without.order
            np.testing.assert_array_equal(ranking.scores[:4], without.scores)
        assert list(ranking.left_out) == ["absurd"]
        assert any("absurd had no part in the anchor" in note for note in ranking.notes)


@pytest.mark.parametrize("size", [1e8, 1e16, 1e60])
def test_nor_does_it_where_it_comes_first_however_large_it_is(size):
    truth = np.linspace(1, 2, 6)
    problem = pr.Stationary(lambda u, f: u - f, truth)
    candidates = {"far": truth * 1.5, "near": truth * 1.01, "middle": truth * 1.1, "next": truth * 1.1001}
    without, ranking = (pr.rank(problem, given) for given in (candidates, {"absurd": size * truth, **candidates}))
    assert ranking.order == [*without.order, "absurd"] == ["near", "middle", "next", "far", "absurd"]
    assert ranking.settled
    np.testing.assert_allclose(ranking.scores[1:], without.scores, rtol=1e-12)


def test_what_cannot_be_squared_beside_the_others_is_refused_by_name():
    truth = np.linspace(1, 2, 6)
    problem, candidates = pr.Stationary(lambda u, f: u - f, truth), {"a": truth * 1.01, "b": truth * 1.1}
    with pytest.raises(ValueError, match=r"Candidate 'absurd' has values up to 2e\+200, more than 1e\+120 times those"):
        pr.rank(problem, {**candidates, "absurd": 1e200 * truth})
    ranking = pr.rank(problem, {"absurd": 1e200 * truth, **candidates}, invalid="exclude")
    assert ranking.order == ["a", "b"] and ranking.settled


def test_two_candidates_are_anchored_by_their_defects():
    problem = pr.Stationary(lambda u: jnp.expm1(u))
    ranking = pr.rank(problem, {"near": np.full(3, 0.1), "far": np.full(3, 6.0)})
    assert ranking.best == "near"
    assert "far" in ranking.left_out


@pytest.mark.parametrize("solver", [None, pr.Krylov()], ids=["dense", "krylov"])
def test_an_undetermined_constant_leaves_pairs_open_and_says_why(solver):
    n = 24
    laplacian = (np.roll(np.eye(n), 1, 0) + np.roll(np.eye(n), -1, 0) - 2 * np.eye(n)) * n**2
    truth = np.sin(2 * np.pi * np.arange(n) / n)
    problem = pr.Stationary(lambda u, d: d[0] @ u - d[1], (laplacian, laplacian @ truth), solver=solver)
    ranking = pr.rank(problem, {f"c{k}": truth + 0.1 * k for k in range(1, 4)})
    assert not ranking.best_settled
    assert any("does not determine" in doubt for doubt in ranking.doubts)
    shapes = pr.rank(problem, {"a": 1.1 * truth, "b": 1.5 * truth, "c": 0.8 * truth})
    assert shapes.settled  # they differ where the equation speaks
    assert pr.rank(problem, {f"c{k}": truth + 0.1 * k for k in range(1, 4)}, effort="solve").doubts


@pytest.mark.parametrize(
    "solver", [None, pr.Krylov(), pr.Krylov("cg"), pr.Krylov("bicgstab")], ids=["dense", "gmres", "cg", "bicgstab"]
)
def test_a_nearly_singular_tangent_settles_nothing(solver):
    """An iteration ends while some directions have hardly begun to be solved for: its residual does not show it."""
    hilbert = 1 / (np.add.outer(np.arange(14), np.arange(14)) + 1.0)
    random = np.random.default_rng(1)
    truth = random.standard_normal(14)
    problem = pr.Stationary(lambda u, d: d[0] @ u - d[1], (hilbert, hilbert @ truth), solver=solver)
    ranking = pr.rank(problem, {f"c{k}": truth + 0.1 * (k + 1) * random.standard_normal(14) for k in range(4)})
    assert not ranking.settled_pairs[np.triu_indices(4, 1)].any()
    assert any("nearly singular" in doubt for doubt in ranking.doubts)


@pytest.mark.parametrize("method", ["cg", "bicgstab", "gmres"])
def test_an_iteration_that_finds_everything_is_not_doubted(method):
    """A condition of 2e4, and only 2e-10 of a residual left: nothing is lost."""
    n = 200
    stiff = (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)) * (n + 1) ** 2
    truth = np.sin(np.linspace(0.1, 3, n))
    problem = pr.Stationary(lambda u, d: d[0] @ u - d[1], (stiff, stiff @ truth), solver=pr.Krylov(method))
    random = np.random.default_rng(0)
    library = {f"c{k}": truth + 0.1 * (k + 1) * random.standard_normal(n) for k in range(4)}
    ranking = pr.rank(problem, library)
    assert ranking.settled and not any("does not determine" in doubt for doubt in ranking.doubts)


@pytest.mark.parametrize("solver", [pr.Dense(), pr.Krylov(), pr.Krylov("bicgstab")], ids=["dense", "gmres", "bicgstab"])
def test_rows_of_very_different_size_are_solved_alike(solver):
    random = np.random.default_rng(2)
    matrix = np.diag(10.0 ** np.linspace(0, 12, 10)) @ (np.eye(10) + 0.1 * random.standard_normal((10, 10)))
    truth = random.standard_normal(10)
    problem = pr.Stationary(lambda u, d: d[0] @ u - d[1], (matrix, matrix @ truth), solver=solver)
    library = {f"c{k}": truth + 0.1 * (k + 1) * random.standard_normal(10) for k in range(4)}
    ranking = pr.rank(problem, library, effort="response")
    assert ranking.unresolved is None
    np.testing.assert_allclose(ranking.state, truth, atol=1e-8)


@pytest.mark.parametrize("size", [1e-300, 1e-165, 1e200])
@pytest.mark.parametrize("solver", [None, pr.Krylov()], ids=["dense", "krylov"])
def test_tiny_and_huge_numbers_rank_like_ordinary_ones(size, solver):
    random = np.random.default_rng(3)
    matrix, truth = np.eye(6) + 0.1 * random.standard_normal((6, 6)), random.standard_normal(6)
    made = lambda s: pr.rank(  # noqa: E731
        pr.Stationary(lambda u, d: d[0] @ u - d[1], (matrix, s * matrix @ truth), solver=solver),
        {"near": s * truth * 1.01, "far": s * truth * 1.5, "middle": s * truth * 1.1},
    )
    plain, ranking = made(1.0), made(size)
    assert ranking.order == plain.order == ["near", "middle", "far"]
    assert ranking.settled
    np.testing.assert_allclose(ranking.error_estimates / size, plain.error_estimates, rtol=1e-6)


def test_a_correction_that_comes_no_closer_is_unresolved():
    """Newton for atan diverges from 2: the defect grows although the correction is small against the state."""
    problem = pr.Stationary(lambda u: jnp.arctan(u - 100.0))
    ranking = pr.rank(
        problem, {"a": np.full(2, 102.0), "b": np.full(2, 102.1), "c": np.full(2, 101.9)}, effort="response"
    )
    assert ranking.unresolved
    assert not ranking.settled
    assert headline(ranking.to_dict()) == "Unresolved"


def test_every_open_pair_is_named_also_across_one_that_is_settled():
    """1 and 2, and 1 and 3, may change places; 2 and 3 do not."""
    problem = pr.Stationary(lambda u, d: u - d, data=np.array([5.0, 5.0]))
    library = {name: 5 + np.array(off) for name, off in {"a": (1, 0), "b": (-1, 0.45), "c": (-1.15, 0)}.items()}
    ranking = pr.rank(problem, library, uncertainty={"data": np.array([0.1, 0.0])}, task=pr.tasks.linear(lambda u: u))
    assert ranking.open_groups == [["a", "b"]] and ranking.open_apart == [["a", "c"]]
    assert "not settled between them: 1–2 (a, b), 1 and 3 (a, c)" in str(ranking)
    assert ranking.to_dict()["open_apart"] == [["a", "c"]]


def test_what_is_printed_is_in_the_order_that_was_decided():
    ones = 1e-200 * np.ones(3)
    problem = pr.Linear(np.diag([1.0, 2.0, 3.0]), 1e-200 * np.array([1.0, 2.0, 3.0]))
    ranking = pr.rank(problem, {"worst": 3 * ones, "mid": 2 * ones, "exact": ones})
    assert list(ranking.order) == ["exact", "mid", "worst"]
    lines = [line.split()[:2] for line in str(ranking).splitlines() if "estimated error" in line]
    assert lines == [["1", "exact"], ["2", "mid"], ["3", "worst"]]


def test_trust_is_said_only_of_what_is_settled(tmp_path):
    problem = pr.Stationary(bratu, data=1.5)
    truth = solution(problem, (9,))
    sure = pr.rank(problem, around(truth, [0.5, 0.4, 0.05]))
    assert "Trust c2" in sure.report(tmp_path / "a.html").read_text(encoding="utf-8")
    open_one = pr.rank(problem, torn(truth), anchor="plus")
    page = open_one.report(tmp_path / "b.html").read_text(encoding="utf-8")
    assert "Trust" not in page
    assert "Not settled between" in page
    assert "not settled between them: 1–2 (" in str(open_one)
    brackets = [line for line in open_one.plot().axes[-1].lines if line.get_marker() == "_"]
    assert len(brackets) == sum(len(group) - 1 for group in open_one.open_groups)
    stored = json.loads(open_one.to_json(tmp_path / "b.json").read_text(encoding="utf-8"))
    assert stored["settled"] is False
    assert stored["doubts"] == list(open_one.doubts)
    assert stored["open_groups"] == open_one.open_groups
    assert np.shape(stored["uncertainty"]["all"]) == (3, 3)


def test_candidates_that_agree_with_each_other_only_raise_a_doubt_that_names_check():
    right = burgers()
    truth = solution(right)
    wrong = eqx.tree_at(lambda p: p.viscosity, right, 10 * right.viscosity)
    candidates = around(truth, [0.001, 0.002, 0.003])
    assert any("physrank.check" in doubt for doubt in pr.rank(wrong, candidates).doubts)
    assert not any("physrank.check" in doubt for doubt in pr.rank(right, candidates, effort="response").doubts)


def test_empty_arrays_are_refused_by_name():
    with pytest.raises(ValueError, match="Candidate 'a' is empty"):
        pr.rank(pr.Stationary(lambda u: u), {"a": np.zeros((0,))})
    with pytest.raises(ValueError, match="initial is empty"):
        pr.equations.Burgers(np.zeros(0), 0.1, [0, 1])


def test_panels_carry_the_doubt_and_selections_must_survive_it():
    problems = [eqx.tree_at(lambda p: p.viscosity, burgers(), jnp.asarray(v)) for v in (0.05, 0.06, 0.07)]
    libraries = [around(solution(p), [0.3, 0.4, 0.02], k) for k, p in enumerate(problems)]
    batched = list(pr.rank_panel(problems, libraries))
    for one, (problem, library) in zip(batched, zip(problems, libraries, strict=True), strict=True):
        alone = pr.rank(problem, library)
        np.testing.assert_allclose(one.uncertainty, alone.uncertainty, rtol=1e-6, atol=1e-12)
        assert one.settled == alone.settled
    selection = pr.select(batched)
    assert selection.survives_doubt is True
    assert selection.settled is None
    unsure = pr.select(list(pr.rank_panel(problems, [torn(solution(p)) for p in problems], anchor="plus")))
    assert unsure.survives_doubt is False
    assert unsure.settled is False
    assert unsure.open_inputs > 0
