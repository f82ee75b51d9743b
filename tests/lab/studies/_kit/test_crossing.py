"""One library on two grids: scores on both, and every gap accounted for between them."""

from dataclasses import replace

import numpy as np
import pytest

from physrank.lab.equations import EQUATIONS
from physrank.lab.libraries import LIBRARIES, PROFILES
from physrank.lab.references import burgers
from physrank.lab.studies._kit import crossing
from physrank.lab.studies._kit.cases import Context
from physrank.lab.studies._kit.crossing import Side

LIBRARY = LIBRARIES["burgers-fno-e1"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    equation, count = LIBRARY.declared, 2
    cases = equation.population("evaluation", count)
    times = np.linspace(0, 0.2, 48)
    exact = burgers.solve(cases, times, 144, 4)[..., ::4]
    wave = np.linspace(0, 1, 48)[:, None] * np.cos(np.arange(36) * np.pi / 18)
    stored = [(None, {f"v{k}": u + 0.1 * k * wave**k for k in (1, 2, 3)}) for u in exact]
    patch = pytest.MonkeyPatch()
    patch.setattr(crossing, "problems_and_candidates", lambda *given: stored)
    patch.setattr(Context, "content", lambda self, *given: {"given": [str(x) for x in given[1:]]})
    context = Context(tmp_path_factory.mktemp("store"), replace(PROFILES["smoke"], evaluation=count))
    yield crossing.crossed(context, LIBRARY, "evaluation", Side(36), Side(48))
    patch.undo()


def test_terms_close_and_signs_are_those_of_the_fine_grid(found):
    assert found["scores coarse"].shape == found["scores fine"].shape == (2, 3)
    assert found["coarse"].shape == found["signs"].shape == (2, 3)  # pairs
    np.testing.assert_allclose(found["first_order"] + found["remainder"], found["fine"], atol=1e-14)
    assert found["closure"].max() < 1e-14
    gaps = found["scores fine"][:, [1, 2, 2]] - found["scores fine"][:, [0, 0, 1]]
    np.testing.assert_allclose(found["fine"], gaps, rtol=1e-9, atol=1e-13)
    ranked = found["signs"] != 0
    np.testing.assert_array_equal(found["signs"][ranked], np.sign(gaps)[ranked])
    assert ranked.any() and np.all(
        (found["winner"] == found["scores fine"].argmin(1)) | (found["winner"] == crossing.ABSTAINS)
    )


def test_grids_of_networks_are_called_by_the_problems_number():
    assert {name: crossing.native_points(EQUATIONS[name]) for name in ("burgers", "reaction_diffusion")} == {
        "burgers": 48,
        "reaction_diffusion": 32,
    }
