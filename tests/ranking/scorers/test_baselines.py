"""Baselines against their definitions."""

import jax.numpy as jnp
import numpy as np

import laws
import physrank as pr
from physrank import scorers
from problems import bratu
from scored import FIELD, library


def test_raw_residual_is_the_product_norm():
    found = scorers.RawResidual()(FIELD, library("field")).values
    expected = [FIELD.residual_energy(laws._defect(FIELD, jnp.asarray(v))) for v in library("field").values()]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_candidate_wise_is_the_size_of_each_correction():
    found = scorers.CandidateWise()(FIELD, library("field"))
    for k, v in enumerate(library("field").values()):
        alone = pr.rank(FIELD, {"v": v})
        np.testing.assert_allclose(found.values[k], alone.scores[0], rtol=1e-8)
    assert found.solves == 3


def test_centrality():
    task = pr.tasks.field(FIELD.metric())
    states = np.stack(list(library("field").values()))
    space = task.space(states)
    mean = scorers.MeanCentrality()(FIELD, library("field")).values
    np.testing.assert_allclose(mean, space.norm_squared(states - states.mean(axis=0)), rtol=1e-12)
    medoid = scorers.MedoidCentrality()(FIELD, library("field")).values
    assert np.min(medoid) == 0
    chosen = int(np.argmin(space.distances(states).sum(axis=1)))
    np.testing.assert_allclose(medoid, space.norm_squared(states - states[chosen]), rtol=1e-12)


def test_candidate_wise_takes_the_tasks_derivative():
    """Q(u) = u² at v = ½ with δ = ½: DQ δ = ½, where Q(v + δ) − Q(v) would be ¾."""
    problem, task = pr.Stationary(lambda u: u - 1.0), pr.tasks.nonlinear(lambda u: u**2)
    found = scorers.CandidateWise()(problem, {"a": [0.5], "b": [0.8]}, task=task)
    np.testing.assert_allclose(found.values, [0.25, (2 * 0.8 * 0.2) ** 2], rtol=1e-12)


def test_candidate_wise_names_a_solve_that_failed(no_rescue):
    hard = pr.Stationary(bratu, data=1.0, solver=pr.Krylov("cg", max_steps=2))
    found = scorers.CandidateWise()(hard, {"a": np.linspace(0, 1, 9), "b": np.ones(9)})
    assert found.unresolved and "candidate 0" in found.unresolved


def test_the_medoid_is_that_of_the_tasks_metric():
    states = {"a": [0.0, 0.0], "b": [1.0, 9.0], "c": [2.0, 0.0]}
    task = pr.tasks.field(pr.metrics.weights([1.0, 1e-6]))
    found = scorers.MedoidCentrality()(pr.Stationary(lambda u: u), states, task=task)
    assert found.best == "b"
