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
