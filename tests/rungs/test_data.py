"""Stated uncertainty of the data: first order is what small changes do, and certificates say what it makes of them."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from problems import burgers, reaction_diffusion


def library(problem, count=4):
    truth, failed = pr.scorers.DirectSolve().solution(problem, problem.state_shape)
    assert failed is None
    random = np.random.default_rng(0)
    found = {}
    for k in range(count):
        error = np.cumsum(random.standard_normal(truth.shape), axis=-1)
        error[0] = 0
        error[..., [0, -1]] = 0
        found[f"c{k}"] = truth + 0.02 * (k + 1) * error / np.abs(error).max()
    return found


def gaps(problem, candidates):
    return pr.rank(problem, candidates, corrections=4).gaps


@pytest.mark.parametrize(
    "make, name", [(burgers, "viscosity"), (reaction_diffusion, "linear"), (reaction_diffusion, "cubic")]
)
def test_a_number_moves_gaps_as_first_order_says(make, name):
    problem, share = make(), 1e-3
    candidates = library(problem)
    found = pr.rank(problem, candidates, corrections=4, uncertainty={name: share}).rung.parts["data"]
    changed = eqx.tree_at(lambda p: getattr(p, name), problem, getattr(problem, name) * (1 + share))
    moved = np.abs(gaps(changed, candidates) - gaps(problem, candidates))
    np.testing.assert_allclose(found, moved, rtol=0.02, atol=1e-10 * np.abs(gaps(problem, candidates)).max())


def test_a_field_known_to_two_percent_covers_every_change_within_it():
    problem = reaction_diffusion(2, 8)
    candidates = library(problem)
    ranking = pr.rank(problem, candidates, corrections=3, uncertainty={"diffusion": 0.02})
    allowed, before = ranking.rung.parts["data"], ranking.gaps
    random = np.random.default_rng(1)
    largest = 0.0
    for k in range(12):
        pattern = np.ones(problem.diffusion.shape) if k == 0 else random.choice([-1.0, 1.0], problem.diffusion.shape)
        changed = eqx.tree_at(lambda p: p.diffusion, problem, problem.diffusion * (1 + 0.02 * jnp.asarray(pattern)))
        moved = np.abs(gaps(changed, candidates) - before)
        assert np.all(moved <= 1.1 * allowed + 1e-12)  # second order is not in it
        largest = max(largest, float((moved / np.maximum(allowed, 1e-300))[0, 1:].max()))
    assert largest > 0.2  # and it is not far too wide


@pytest.mark.parametrize("make, name", [(burgers, "viscosity"), (reaction_diffusion, "linear")])
def test_error_estimates_are_off_by_what_the_data_do_to_them(make, name):
    problem, share = make(), 0.002
    candidates = library(problem)
    sure, unsure = (pr.rank(problem, candidates, corrections=3, uncertainty=u) for u in (None, {name: share}))
    changed = eqx.tree_at(lambda p: getattr(p, name), problem, getattr(problem, name) * (1 + share))
    moved = np.abs(pr.rank(changed, candidates, corrections=3).error_estimates - sure.error_estimates).max()
    np.testing.assert_allclose(unsure.error_uncertainty - sure.error_uncertainty, moved, rtol=0.1)
    assert f"± {unsure.error_uncertainty:.2g}" in str(unsure)
    samples = pr.rank(problem, candidates, corrections=3, uncertainty=[changed])
    assert samples.error_uncertainty - sure.error_uncertainty >= 0.95 * moved


def test_samples_of_the_problem_do_too():
    problem = burgers()
    candidates = library(problem)
    others = [eqx.tree_at(lambda p: p.viscosity, problem, problem.viscosity * f) for f in (0.99, 1.01)]
    by_samples = pr.rank(problem, candidates, corrections=3, uncertainty=others).rung.parts["data"]
    by_size = pr.rank(problem, candidates, corrections=3, uncertainty={"viscosity": 0.01}).rung.parts["data"]
    np.testing.assert_allclose(by_samples, by_size, rtol=0.02, atol=1e-12)


def test_own_data_by_half_widths():
    problem = pr.Stationary(lambda u, d: u + d["k"] * u**3 - d["f"], {"k": 0.5, "f": np.linspace(1, 2, 5)})
    candidates = {"a": np.full(5, 0.8), "b": np.full(5, 1.2), "c": np.linspace(0.5, 1.5, 5)}
    wide = pr.rank(problem, candidates, uncertainty={"data": {"k": 0.1, "f": np.full(5, 0.01)}})
    part = wide.rung.parts["data"]
    assert np.all(part[np.triu_indices(3, 1)] > 0)
    by_name = pr.rank(problem, candidates, uncertainty={"k": 0.2, "data['f']": np.full(5, 0.01)})
    np.testing.assert_allclose(by_name.rung.parts["data"], part)  # 0.2 of 0.5
    alone = pr.rank(problem, candidates, uncertainty={"data['f']": np.full(5, 0.01)})
    assert np.all(alone.rung.parts["data"][np.triu_indices(3, 1)] < part[np.triu_indices(3, 1)])


def test_uncertain_data_open_pairs_and_widen_certificates():
    """By a theorem where there is one; else what was a proof is an estimate."""
    problem = reaction_diffusion(2, 8)
    candidates = library(problem)
    sure, unsure = (pr.rank(problem, candidates, uncertainty=u) for u in (None, {"diffusion": 0.5}))
    assert sure.settled
    assert not unsure.settled
    assert any("data" in doubt for doubt in unsure.doubts)
    strict, wide = pr.certify(problem, sure), pr.certify(problem, unsure)
    assert strict.kind == "validated"
    assert wide.kind == "validated"
    assert wide.certified_pairs[0] < strict.certified_pairs[0]
    assert any("stated by you" in str(a) and "linear 0.9" in str(a) for a in strict.enclosure.assumptions)
    with pr.double():
        other = eqx.tree_at(lambda p: p.linear, problem, problem.linear * 1.1)
    sampled = pr.certify(problem, pr.rank(problem, candidates, uncertainty=[other]))
    general = pr.certify(problem, unsure, by=pr.certificates.StronglyMonotone())  # knows nothing of the data
    assert sampled.kind == general.kind == "estimate"


def test_bad_statements_are_refused():
    problem, candidates = burgers(), library(burgers())
    for wrong, text in (
        ({"viscosty": 0.1}, "no data called 'viscosty'"),
        ({"viscosity": -0.1}, "finite number ≥ 0"),
        (0.02, "must map names"),
        ({"initial": np.ones(3)}, "does not fit"),
    ):
        with pytest.raises(ValueError, match=text):
            pr.rank(problem, candidates, uncertainty=wrong)
