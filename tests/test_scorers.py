"""Every scorer: one signature, and numbers checked against their definition."""

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank import scorers
from physrank.ranking.scorers import dual
from problems import bratu, burgers, reaction_diffusion

FIELD = reaction_diffusion(2, 10)
WAVE = burgers()
TRUTH = {
    "field": pr.scorers.DirectSolve().solution(FIELD, (12, 12))[0],
    "wave": pr.scorers.DirectSolve().solution(WAVE, (6, 32))[0],
}


def candidates(truth, scales=(0.3, 0.1, 0.2)):
    """Truth plus rough errors of increasing size, zero where the conditions hold by construction."""
    random = np.random.default_rng(7)
    result = {}
    for k, scale in enumerate(scales):
        error = random.standard_normal(truth.shape)
        if truth.ndim == 2 and truth.shape == (12, 12):
            error[[0, -1]] = 0
            error[:, [0, -1]] = 0
        else:
            error[0] = 0
        result[f"m{k}"] = truth + scale * error / np.linalg.norm(error)
    return result


LIBRARY = {"field": candidates(TRUTH["field"]), "wave": candidates(TRUTH["wave"])}
PROBLEM = {"field": FIELD, "wave": WAVE}

EVERY = [
    scorers.SharedResponse(),
    scorers.SharedResponse(corrections=2),
    scorers.RawResidual(),
    scorers.CandidateWise(),
    scorers.MeanCentrality(),
    scorers.MedoidCentrality(),
    scorers.ValidationLoss({"m0": 3.0, "m1": 1.0, "m2": 2.0}),
    scorers.ReversedResponse(),
    scorers.DirectSolve(),
]


@pytest.mark.parametrize("which", ["field", "wave"])
@pytest.mark.parametrize("scorer", EVERY, ids=lambda s: type(s).__name__)
def test_one_signature(which, scorer):
    scores = scorer(PROBLEM[which], LIBRARY[which], task=None, anchor="medoid")
    assert isinstance(scores, pr.Scores)
    assert scores.names == ("m0", "m1", "m2")
    assert scores.values.shape == (3,)
    assert scores.unresolved is None
    assert scores.best in scores.names
    broken = {**LIBRARY[which], "m1": LIBRARY[which]["m1"] * np.nan}
    if not isinstance(scorer, scorers.SharedResponse | scorers.ReversedResponse):
        marked = scorer(PROBLEM[which], broken)
        assert np.isnan(marked.values[1])
        assert "m1" not in marked.order


@pytest.mark.parametrize("which", ["field", "wave"])
def test_physics_finds_the_order_of_true_errors(which):
    for scorer in (scorers.SharedResponse(), scorers.CandidateWise(), scorers.DirectSolve()):
        result = scorer(PROBLEM[which], LIBRARY[which])
        space = pr.rank(PROBLEM[which], LIBRARY[which])
        true = pr.geometry.scores_of(space.space, space.outputs, space.task.outputs(TRUTH[which][None])[0])
        assert result.order == [f"m{k}" for k in np.argsort(true)]
        np.testing.assert_allclose(result.values, true, rtol=0.1)


def test_raw_residual_is_the_product_norm():
    found = scorers.RawResidual()(FIELD, LIBRARY["field"]).values
    expected = [FIELD.residual_energy(FIELD.defect(jnp.asarray(v))) for v in LIBRARY["field"].values()]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_candidate_wise_is_the_size_of_each_correction():
    found = scorers.CandidateWise()(FIELD, LIBRARY["field"])
    for k, v in enumerate(LIBRARY["field"].values()):
        alone = pr.rank(FIELD, {"v": v})
        np.testing.assert_allclose(found.values[k], alone.scores[0], rtol=1e-8)
    assert found.solves == 3


def test_centrality():
    task = pr.tasks.field(FIELD.metric())
    states = np.stack(list(LIBRARY["field"].values()))
    space = task.space(states)
    mean = scorers.MeanCentrality()(FIELD, LIBRARY["field"]).values
    np.testing.assert_allclose(mean, space.norm_squared(states - states.mean(axis=0)), rtol=1e-12)
    medoid = scorers.MedoidCentrality()(FIELD, LIBRARY["field"]).values
    assert np.min(medoid) == 0
    chosen = int(np.argmin(space.distances(states).sum(axis=1)))
    np.testing.assert_allclose(medoid, space.norm_squared(states - states[chosen]), rtol=1e-12)


def test_reversed_response_goes_the_other_way():
    forward = pr.rank(FIELD, LIBRARY["field"])
    found = scorers.ReversedResponse()(FIELD, LIBRARY["field"])
    w, delta = np.asarray(forward.response.anchor), np.asarray(forward.response.correction)
    expected = forward.space.norm_squared(w - delta - forward.outputs)
    np.testing.assert_allclose(found.values, expected, rtol=1e-10)


def test_wrong_input_uses_the_other_state():
    other = pr.rank(reaction_diffusion(2, 10, cubic=0.1), LIBRARY["field"])
    found = scorers.WrongInput(other)(FIELD, LIBRARY["field"])
    expected = other.space.norm_squared(other.state - np.stack(list(LIBRARY["field"].values())))
    np.testing.assert_allclose(found.values, expected, rtol=1e-12)


def test_variational_scores_are_the_dual_norms_and_bound_the_error():
    h, interior = FIELD.spacing, (slice(1, -1), slice(1, -1))
    operator = FIELD.operator

    def dense(reaction):
        def apply(flat):
            return (
                np.asarray(operator.apply(jnp.pad(jnp.asarray(flat.reshape(10, 10)), 1))).ravel()
                + np.ravel(reaction) * flat
            )

        return np.stack([apply(e) for e in np.eye(100)], axis=1)

    energy = scorers.CommonEnergy()(FIELD, LIBRARY["field"])
    majorant = scorers.AdaptedMajorant()(FIELD, LIBRARY["field"])
    assert energy.solves == majorant.solves == 3
    lam, gamma = float(FIELD.linear), float(FIELD.cubic)
    for k, v in enumerate(LIBRARY["field"].values()):
        r = np.asarray(FIELD.defect(jnp.asarray(v)))[interior].ravel()
        error = (v - TRUTH["field"])[interior].ravel()
        common = dense(np.full(100, lam))
        np.testing.assert_allclose(energy.values[k], h**2 * r @ np.linalg.solve(common, r), rtol=1e-8)
        assert h**2 * error @ common @ error <= energy.values[k] * (1 + 1e-6)
        adapted = dense(lam + 0.75 * gamma * v[interior].ravel() ** 2)
        smallest = float(FIELD.coercivity(jnp.asarray(v)))
        assert smallest <= np.linalg.eigvalsh(adapted)[0] * (1 + 1e-12)
        np.testing.assert_allclose(majorant.values[k], h**2 * r @ np.linalg.solve(adapted, r) / smallest, rtol=1e-8)
        assert h**2 * error @ error <= majorant.values[k]


def test_direct_solve_on_coarser_grids():
    coarse = scorers.DirectSolve(points=5)(FIELD, LIBRARY["field"])
    assert coarse.method == "direct solve, 5 points"
    assert np.all(np.abs(coarse.values / scorers.DirectSolve()(FIELD, LIBRARY["field"]).values - 1) < 1)
    wave = scorers.DirectSolve(points=16, substeps=1)(WAVE, LIBRARY["wave"])
    assert wave.order == scorers.DirectSolve()(WAVE, LIBRARY["wave"]).order
    own = pr.Stationary(bratu, data=1.0, grid=pr.Grid.nodes(9), shape=(9,))
    on = pr.Stationary(bratu, data=1.0, grid=pr.Grid.nodes(5), shape=(5,))
    solved = scorers.DirectSolve(on=on)(own, {"a": np.zeros(9), "b": np.ones(9)})
    assert solved.best == "a"
    with pytest.raises(ValueError, match="pass DirectSolve"):
        scorers.DirectSolve(points=4)(own, {"a": np.zeros(9)})
    with pytest.raises(ValueError, match="must divide 2"):
        scorers.DirectSolve(substeps=3)(WAVE, LIBRARY["wave"])


def test_coarsened_burgers_is_the_same_problem():
    fine = burgers(points=128)
    coarse = fine.coarsen(points=64)
    a, b = (pr.scorers.DirectSolve().solution(p, (6, p.points))[0] for p in (fine, coarse))
    np.testing.assert_allclose(pr.lifts.lift(b, (128,), "fourier"), a, atol=1e-5)


def test_refusals():
    with pytest.raises(ValueError, match="such as ReactionDiffusion; got Burgers"):
        scorers.CommonEnergy()(WAVE, LIBRARY["wave"])
    with pytest.raises(ValueError, match="No validation loss for candidate 'm1'"):
        scorers.ValidationLoss({"m0": 1.0})(FIELD, LIBRARY["field"])


def test_failed_direct_solve_is_unresolved():
    hopeless = pr.Stationary(lambda u: u**2 + 1.0)  # no real root
    scores = scorers.DirectSolve()(hopeless, {"a": np.ones(2), "b": np.zeros(2)})
    assert "did not converge" in scores.unresolved
    with pytest.raises(pr.UnresolvedError):
        _ = scores.best


def test_coarsening_keeps_the_box():
    """A 1 × 2 box stays a 1 × 2 box; a grid that cannot is refused."""
    box = pr.equations.ReactionDiffusion(np.ones((34, 67)), np.ones((34, 67)), 0.5, 0.0)
    fine, coarse = (scorers.DirectSolve(points=p).solution(box, (34, 67))[0] for p in (None, 10))
    assert box.coarsen(points=10).state_shape == (12, 23)
    assert np.abs(fine - coarse).max() < 0.02 * np.abs(fine).max()
    with pytest.raises(ValueError, match="expected whole numbers"):
        pr.equations.ReactionDiffusion(np.ones((9, 12)), np.ones((9, 12)), 0.5, 0.0).coarsen(points=4)


def test_failed_inverse_actions_mark_the_variational_scores(monkeypatch):
    stub = lambda problem, states, adapted: (jnp.ones(len(states)), jnp.zeros(len(states), bool))  # noqa: E731
    monkeypatch.setattr(dual, "_dual_energies", stub)
    assert "did not converge" in scorers.CommonEnergy()(FIELD, LIBRARY["field"]).unresolved


def test_boundary_violations_count_in_the_dual_energy():
    lifted = {"flat": TRUTH["field"], "raised": TRUTH["field"] + 0.1}
    scores = scorers.CommonEnergy()(FIELD, lifted).values
    raised = float(FIELD.residual_energy(jnp.asarray(np.pad(np.zeros((10, 10)), 1, constant_values=0.1))))
    assert scores[1] > raised > 100 * scores[0]


def test_wrong_input_passes_failure_on():
    hard = pr.Stationary(bratu, data=1.0, solver=pr.Krylov("cg", max_steps=2))
    candidates = {"a": np.linspace(0, 1, 9), "b": np.ones(9)}
    other = pr.rank(hard, candidates)
    assert other.unresolved
    assert scorers.WrongInput(other)(pr.Stationary(bratu, data=1.0), candidates).unresolved


def test_candidates_with_non_finite_scores_are_named():
    scores = scorers.RawResidual()(pr.Stationary(lambda u: jnp.log(u)), {"neg": -np.ones(3), "pos": np.ones(3)})
    assert scores.best == "pos"
    assert scores.excluded == {"neg": "its score is not finite"}
    assert "neg" in str(scores)
    assert scorers.ValidationLoss({"m0": np.nan, "m1": 1.0, "m2": 2.0})(FIELD, LIBRARY["field"]).excluded
