"""Baselines against their definitions."""

import jax.numpy as jnp
import numpy as np

import laws
import physrank as pr
from physrank import scorers
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
