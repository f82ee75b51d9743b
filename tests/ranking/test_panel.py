"""`select` and panels: batches, averages, how settled the choice is, bounded memory, clear refusals."""

import gc
import weakref

import numpy as np
import pytest

import physrank as pr
from helpers import solve
from libraries import SMALL, every_case, library
from physrank.compute import stack
from problems import burgers, reaction_diffusion


@every_case
def test_batch_equals_one_by_one(name):
    problem = SMALL[name].problem
    libraries = [{k: v * (1 + 0.02 * i) for k, v in library(name).items()} for i in range(5)]
    batch = list(pr.rank_panel([problem] * 5, libraries, chunk=2))  # the last chunk is padded
    assert len(batch) == 5
    for together, candidates in zip(batch, libraries, strict=True):
        alone = pr.rank(problem, candidates)
        scale = np.abs(alone.state).max()
        np.testing.assert_allclose(together.state, alone.state, rtol=0, atol=1e-12 * scale)
        np.testing.assert_allclose(together.scores, alone.scores, rtol=1e-9)
        assert int(together.response.iterations) == int(alone.response.iterations)


def test_batch_comparison_sabotaged():
    """Inputs that get each other's response are noticed: the comparison above can fail."""
    problem, base = SMALL["burgers"].problem, library("burgers")
    libraries = [{k: v * f for k, v in base.items()} for f in (1.0, 1.02)]
    swapped = list(pr.rank_panel([problem] * 2, libraries, effort="response"))[::-1]
    with pytest.raises(AssertionError):
        for together, candidates in zip(swapped, libraries, strict=True):
            alone = pr.rank(problem, candidates, effort="response")
            np.testing.assert_allclose(together.state, alone.state, rtol=0, atol=1e-12)


@pytest.mark.parametrize("chunk", [1, 2, 3])
def test_batches_of_every_width_at_working_size(chunk):
    """At 34² and above a batch of one lane once returned uninitialised memory: every width must agree with `rank`."""
    field = reaction_diffusion(2, 40)
    random = np.random.default_rng(0)
    libraries = [{k: random.standard_normal((42, 42)) for k in "ab"} for _ in range(3)]
    for together, candidates in zip(pr.rank_panel([field] * 3, libraries, chunk=chunk), libraries, strict=True):
        alone = pr.rank(field, candidates)
        assert int(together.response.iterations) == int(alone.response.iterations) > 0
        # Preconditioned steps are in single precision, whose last digit depends on how many go together.
        np.testing.assert_allclose(together.state, alone.state, rtol=0, atol=1e-9 * np.abs(alone.state).max())


def scores(table, names=("a", "b", "c")):
    return [pr.Scores("test", names, np.asarray(row, float)) for row in table]


def test_selection_averages_and_breaks_ties_by_order():
    selection = pr.select(scores([[3, 1, 1], [1, 1, 1], [2, 1, 1]]))
    np.testing.assert_allclose(selection.mean_scores, [2, 1, 1])
    assert selection.best == "b"
    assert selection.order == ["b", "c", "a"]
    assert selection.inputs == 3
    assert selection.settled is None


def test_bootstrap_says_how_settled():
    random = np.random.default_rng(1)
    clear = np.abs(random.standard_normal((40, 3))) + np.array([0, 5, 5])
    assert pr.select(scores(clear)).stability == 1.0
    close = np.abs(random.standard_normal((40, 3)))
    stability = pr.select(scores(close)).stability
    assert stability < 1
    np.testing.assert_allclose(pr.select(scores(close)).frequency.sum(), 1)
    drawn = [pr.select(scores(close), seed=seed).frequency.tolist() for seed in (3, 3, 4)]
    assert drawn[0] == drawn[1] != drawn[2]  # the seed alone decides, and it does decide


def test_bootstrap_frequency_against_brute_force():
    table = np.array([[1.0, 2.0], [5.0, 1.0], [1.0, 2.0], [2.0, 2.5]])
    found = pr.select(scores(table, ("a", "b")), resamples=20000, seed=0).frequency[0]
    grid = np.stack(np.meshgrid(*[range(4)] * 4), axis=-1).reshape(-1, 4)  # every resample there is
    means = table[grid].mean(axis=1)
    exact = np.mean(means[:, 0] <= means[:, 1])
    assert abs(found - exact) < 4 * np.sqrt(exact * (1 - exact) / 20000)


def test_concentration_radius():
    table = np.array([[0.1, 0.9]] * 400)
    selection = pr.select(scores(table, ("a", "b")), bound=1.0, confidence=0.95)
    assert selection.radius == pytest.approx(np.sqrt(np.log(2 * 2 / 0.05) / 800))
    assert selection.settled is True
    assert pr.select(scores(table[:3], ("a", "b")), bound=1.0).settled is False
    with pytest.raises(ValueError, match=r"no score exceeds; got 0.5, but scores go from 0.1 to 0.9"):
        pr.select(scores(table, ("a", "b")), bound=0.5)
    with pytest.raises(ValueError, match="confidence"):
        pr.select(scores(table, ("a", "b")), confidence=1.0)


def with_doubt(table, doubt):
    uncertainty = doubt * (1 - np.eye(2))
    return [pr.Scores("test", ("a", "b"), np.asarray(row), uncertainty=uncertainty) for row in table]


def test_settled_takes_both_radii_and_the_doubts():
    """Either mean may be off by the radius; what single inputs leave uncertain comes on top of that."""
    radius = np.sqrt(np.log(2 * 2 / 0.05) / (2 * 400))
    for times, doubt, settled in ((1.5, 0, False), (2.5, 0, True), (3, 0.5, True), (3, 1.5, False)):
        table = np.tile([0.1, 0.1 + times * radius], (400, 1))
        assert pr.select(with_doubt(table, doubt * radius), bound=1.0, resamples=1).settled is settled


def test_without_a_bound_only_doubts_can_unsettle():
    table = np.tile([0.1, 0.4], (5, 1))
    for doubt, survives, settled in ((0.2, True, None), (0.5, False, False)):
        found = pr.select(with_doubt(table, doubt), resamples=1)
        assert (found.survives_doubt, found.settled) == (survives, settled)


def test_names_in_another_order_are_the_same_candidates():
    doubt = np.array([[0.0, 1.0], [1.0, 0.0]])
    forward = pr.Scores("test", ("a", "b", "c"), np.array([1.0, 2.0, 3.0]), uncertainty=np.zeros((3, 3)))
    uncertainty = np.zeros((3, 3))
    uncertainty[:2, :2] = doubt  # of c and b
    turned = pr.Scores("test", ("c", "b", "a"), np.array([3.0, 2.0, 1.0]), uncertainty=uncertainty)
    found = pr.select([forward, turned])
    assert found.mean_scores.tolist() == [1.0, 2.0, 3.0]
    assert found.uncertainty[1, 2] == 0.5 and found.uncertainty[0, 1] == 0


def test_concentration_radius_grows_with_the_library():
    table = np.full((50, 5), 0.5)
    found = pr.select(scores(table, tuple("abcde")), bound=2.0, confidence=0.9).radius
    assert found == pytest.approx(2.0 * np.sqrt(np.log(2 * 5 / 0.1) / 100))
    with pytest.raises(ValueError, match="scores from 0 to bound"):
        pr.select(scores(table - 1, tuple("abcde")), bound=2.0)


def test_unresolved_inputs_stay_visible():
    failed = pr.Scores("test", ("a", "b"), np.array([1.0, 2.0]), unresolved="the solve failed", allow_unresolved=True)
    selection = pr.select([failed, *scores([[1, 2]], ("a", "b"))])
    assert selection.unresolved == {0: "the solve failed"}
    assert "1 of 2 inputs are UNRESOLVED" in str(selection)
    assert selection.to_dict()["unresolved_inputs"]


def test_concentration_holds_at_the_stated_rate():
    """The radius fails no more often than 1 − confidence: 500 panels of known mean."""
    random = np.random.default_rng(0)
    failures = 0
    for _ in range(500):
        table = random.binomial(1, 0.3, (30, 4)).astype(float)
        selection = pr.select(scores(table, ("a", "b", "c", "d")), bound=1.0, confidence=0.9, resamples=1)
        failures += np.max(np.abs(selection.mean_scores - 0.3)) > selection.radius
    assert failures <= 50


def test_candidates_excluded_anywhere_are_not_selected():
    table = [[0.0, 1.0, 2.0], [np.nan, 1.0, 2.0]]
    selection = pr.select(scores(table))
    assert selection.best == "b"
    assert np.isnan(selection.mean_scores[0])
    assert selection.frequency[0] == 0
    assert "input 1" in selection.excluded["a"]
    assert selection.to_dict()["candidates"]["a"]["mean_score"] is None
    assert "excluded" in str(selection)
    with pytest.raises(ValueError, match="Nothing is left"):
        pr.select(scores([[np.nan, 1.0], [1.0, np.nan]], ("a", "b")))


def test_refusals():
    with pytest.raises(ValueError, match="at least one input"):
        pr.select([])
    with pytest.raises(ValueError, match="such as a list of them; got 5"):
        pr.select(5)
    for wrong in ({"resamples": "many"}, {"resamples": 2.5}, {"seed": None}, {"seed": -1}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be a whole number and at least"):
            pr.select(scores([[1, 2, 3]]), **wrong)
    for wrong in ({"bound": "1"}, {"confidence": "high"}, {"confidence": None}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be a number"):
            pr.select(scores([[1, 2, 3]]), **wrong)
    with pytest.raises(ValueError, match="Input 1 ranks"):
        pr.select([*scores([[1, 2, 3]]), *scores([[1, 2, 3]], ("a", "b", "d"))])
    failed = pr.Scores("test", ("a", "b"), np.array([1.0, 2.0]), unresolved="the solve failed")
    with pytest.raises(pr.UnresolvedError, match="Input 0 of the panel is unresolved"):
        pr.select([failed])
    with pytest.raises(ValueError, match="chunk"):
        list(pr.rank_panel([], [], chunk=0))


def test_candidates_are_matched_by_name():
    """In whatever order an input has them; the sabotaged twin has the numbers in the other order, too."""
    table = np.array([[1.0, 2.0, 3.0], [1.0, 5.0, 2.0], [4.0, 1.0, 2.0]])
    straight = pr.select(scores(table))
    turned = [*scores(table[:1]), *scores(table[1:, [2, 0, 1]], ("c", "a", "b"))]
    mixed = pr.select(turned)
    assert mixed.names == straight.names
    np.testing.assert_array_equal(mixed.mean_scores, straight.mean_scores)
    assert not np.array_equal(
        pr.select([*scores(table[:1]), *scores(table[1:], ("c", "a", "b"))]).mean_scores, mixed.mean_scores
    )
    doubt = np.array([[0.0, 1.0], [2.0, 0.0]])
    one = pr.Scores("test", ("a", "b"), np.array([1.0, 2.0]), uncertainty=doubt)
    other = pr.Scores("test", ("b", "a"), np.array([2.0, 1.0]), uncertainty=doubt.T)
    np.testing.assert_array_equal(pr.select([one, other]).uncertainty, doubt)


def test_models_with_batches_are_a_panel():
    problems = [pr.Stationary(_cubic, data=np.full(3, float(k))) for k in range(5)]
    random = np.random.default_rng(3)
    batches = {"a": random.standard_normal((5, 3)), "b": random.standard_normal((5, 3))}
    found = list(pr.rank_panel(problems, batches, chunk=2))
    for k, ranking in enumerate(found):
        alone = pr.rank(problems[k], {name: batch[k] for name, batch in batches.items()})
        assert ranking.names == ("a", "b")
        np.testing.assert_allclose(ranking.scores, alone.scores, rtol=1e-12)
    with pytest.raises(ValueError, match=r"as many predictions as there are inputs; got \{'a': 5, 'b': 4\}"):
        list(pr.rank_panel(problems, batches | {"b": batches["b"][:4]}))
    with pytest.raises(ValueError, match="The panel has only 4 problems"):
        list(pr.rank_panel(problems[:4], batches))


def _cubic(u, f):
    return u**3 + u - f


def test_panel_is_lazy_and_memory_is_bounded_by_the_chunk():
    """Inputs of the chunk at hand and of the one before it: what was handed over is let go."""
    gc.collect()
    gc.freeze()  # what is older is not searched again for every input
    alive, begun = set(), []

    def inputs():
        for k in range(12):
            begun.append(k)
            problem = pr.Stationary(_cubic, data=np.full(3, float(k)))
            alive.add(k)
            weakref.finalize(problem, alive.discard, k)
            yield problem

    def rankings():
        libraries = ({"a": np.zeros(3), "b": np.ones(3)} for _ in range(12))
        return pr.rank_panel(inputs(), libraries, chunk=3, effort="response")

    found = rankings()
    assert not begun  # nothing happens before it is asked for
    most = []
    for seen, _ in enumerate(found, 1):
        assert len(begun) <= 3 * -(-seen // 3)  # never ahead by more than the chunk at hand
        gc.collect()
        most.append(len(alive))
    assert len(most) == 12 and max(most) <= 6
    del found, _
    kept = list(rankings())  # whoever keeps them all has them all: the count can tell
    assert len(alive) == len(kept) == 12


@pytest.mark.parametrize("until", ["settled", "certified"])
def test_panels_correct_only_the_inputs_that_are_open(until):
    problem, random = reaction_diffusion(2, 6, cubic=60.0), np.random.default_rng(0)
    truth = solve(problem)
    error = np.pad(random.standard_normal((6, 6)), 1)
    clear = {"a": truth + 1e-3 * error, "b": truth + 1e-2 * error}
    torn = {"a": truth + 0.2 * error, "b": truth - 0.2 * error, "c": truth + 0.3 * error}
    found = list(pr.rank_panel([problem] * 2, [clear, torn], until=until, max_corrections=4))
    for one, candidates in zip(found, (clear, torn), strict=True):
        alone = pr.rank(problem, candidates, until=until, max_corrections=4)
        assert (one.corrections, one.settled, one.order) == (alone.corrections, alone.settled, alone.order)
        assert (one.certificate is None) == (until == "settled")
    assert found[0].corrections == 1 < found[1].corrections
    with pytest.raises(ValueError, match="until must be 'settled', 'certified'"):
        next(pr.rank_panel([problem], [clear], until="certain"))


def test_panel_compiles_once(monkeypatch):
    traces = 0

    def residual(u, f):
        nonlocal traces
        traces += 1
        return u**3 + u - f

    problems = [pr.Stationary(residual, data=np.full(3, float(k))) for k in range(10)]
    libraries = [{"a": np.zeros(3), "b": np.ones(3)}] * 10
    next(iter(pr.rank_panel(problems[:4], libraries[:4], chunk=4, effort="response")))
    once = traces
    list(pr.rank_panel(problems, libraries, chunk=4, effort="response"))  # three chunks, the last one short
    assert traces == once


def test_panels_of_different_kinds_are_refused():
    with pytest.raises(ValueError, match="differs in kind from problem 0"):
        stack([burgers(32), burgers(64)])
    with pytest.raises(ValueError, match="differs in kind"):
        stack([pr.Stationary(lambda u: u), pr.Stationary(lambda u: 2 * u)])
    with pytest.raises(ValueError, match="The panel has only 0 libraries"):
        list(pr.rank_panel([burgers()], []))
