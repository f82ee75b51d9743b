"""Wrong use of any network is named; a library's network is the one that it declares."""

import pytest
import torch

from physrank.lab.libraries import GROUPS, PROFILES
from physrank.lab.models import CNO, UNet
from physrank.lab.models.constraints import InitialCondition
from physrank.lab.models.fno import fno
from physrank.lab.models.networks import build


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


@pytest.mark.parametrize("library", GROUPS["mixed"], ids=lambda library: library.equation)
def test_u_nets_join_the_papers_equations_with_their_constraint(library):
    smoke = PROFILES["smoke"]
    assert library.settings(smoke, 0)["network"] == {"features": 2}
    assert library.instances == "evaluation"
    case = library.declared.population("evaluation", 1)
    with torch.no_grad():
        found = build(library, smoke).eval()(torch.from_numpy(library.declared.features(case))).numpy()
    assert library.declared.states(found).shape == (1, *library.declared.state_shape())
    exact = found[0, 0, 0] - library.declared.features(case)[0, 0, 0] if library.declared.periodic else found[..., 0]
    assert not exact.any()
