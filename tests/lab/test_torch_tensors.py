"""Torch tensors are candidates like any other array."""

import numpy as np
import pytest
import torch

import physrank as pr
from libraries import SMALL, library


@pytest.mark.parametrize(
    "convert",
    [
        lambda v: torch.tensor(v, requires_grad=True),
        lambda v: torch.tensor(v).float(),
        lambda v: torch.tensor(v).to(torch.bfloat16),
    ],
    ids=["torch grad", "torch float32", "torch bfloat16"],
)
def test_any_tensor_kind(convert):
    candidates = library("burgers")
    ranking = pr.rank(SMALL["burgers"].problem, {name: convert(v) for name, v in candidates.items()})
    plain = pr.rank(SMALL["burgers"].problem, candidates)
    assert ranking.scores.dtype == np.float64
    np.testing.assert_allclose(ranking.scores, plain.scores, rtol=0.05)


@pytest.mark.parametrize(
    "kind", [torch.float64, torch.float32, torch.bfloat16], ids=lambda given: getattr(given, "__name__", str(given))
)
@pytest.mark.parametrize("host", [False, True], ids=["JAX", "host"])
def test_initial_states_data_and_weights_may_be_tensors_with_gradients(kind, host):
    tensor = torch.linspace(0.5, 1.0, 8, dtype=kind, requires_grad=True)
    array = tensor.detach().double().numpy()
    candidates = {"a": np.zeros((3, 8)), "b": torch.ones(3, 8, requires_grad=True)}

    def scores(u):
        march = pr.Marching(lambda v, f: 0.9 * v + f["f"], u, data={"f": u}, host=host)
        return pr.rank(march, candidates, task=pr.tasks.terminal(pr.metrics.weights(u))).scores

    np.testing.assert_allclose(scores(tensor), scores(array), rtol=1e-12)
