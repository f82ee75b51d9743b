"""Wrong use of any network is named."""

import pytest
import torch

from physrank.lab.models import CNO, UNet
from physrank.lab.models.constraints import InitialCondition
from physrank.lab.models.fno import fno


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: CNO(1, 1, levels=3)(torch.zeros(1, 1, 16, 20)), r"\(16, 20\).*divisible by 8"),
        (lambda: CNO(1, 1, levels=0), "levels is 0"),
        (lambda: CNO(1, 1, padding="reflect"), "'reflect'.*'circular', 'zeros'"),
        (lambda: UNet(1, 1, features=2)(torch.zeros(1, 1, 24, 32)), r"\(24, 32\).*divisible by 16"),
        (lambda: UNet(1, 1, features=2)(torch.zeros(1, 1, 32)), "2 axes"),
        (lambda: UNet(1, 1, dimensions=3), "expected 1 or 2"),
        (lambda: UNet(1, 1, padding="reflect"), "'reflect'"),
        (lambda: fno(1, 1, width=2, modes=(2, 0)), "at least one"),
        (lambda: fno(1, 1, width=2, modes=(2, 2))(torch.zeros(1, 1, 9, 8)), r"\(9, 8\).*even"),
        (lambda: InitialCondition(torch.nn.Identity())(torch.zeros(1, 2, 4, 4)), "2 output channels"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_wrong_use_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
