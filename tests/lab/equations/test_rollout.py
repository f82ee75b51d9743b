"""Declarations of equations whose networks are rolled out."""

from dataclasses import replace

import numpy as np
import pytest

import physrank as pr
from physrank.lab.equations import ROLLOUTS
from physrank.lab.equations.diffusion_reaction import tight
from physrank.lab.libraries import PROFILES, ROLLED

CELLS = {"diffusion_reaction": 64, "flow_1d": 128, "flow_2d": 16}  # fewer would be other solutions


@pytest.fixture(scope="module")
def trajectories():
    return {name: rollout.trajectory("development", 0, CELLS[name]) for name, rollout in ROLLOUTS.items()}


@pytest.mark.parametrize("name", ROLLOUTS)
def test_a_declaration_fits_together(name, trajectories):
    """Data, encoding, problem and task have the shapes that are declared, and the data nearly solve the problem."""
    rollout, truth = ROLLOUTS[name], trajectories[name]
    assert truth.shape == (len(rollout.times), rollout.channels, *[CELLS[name]] * rollout.dimensions)
    np.testing.assert_allclose(rollout.decoded(rollout.encoded(truth)), truth, rtol=1e-5)
    states = rollout.states(truth[rollout.observed - 1 :].astype(float))
    problem = rollout.posed(truth)
    assert problem.state_shape == states.shape
    assert set(rollout.budgets) == set(PROFILES)
    frozen = np.broadcast_to(states[:1], states.shape)
    found = pr.rank(problem, {"truth": states, "frozen": frozen, "between": (states + frozen) / 2}, anchor="mean")
    assert found.best == "truth"


def test_the_data_of_diffusion_reaction_are_as_good_as_their_tolerance(trajectories):
    truth = trajectories["diffusion_reaction"]
    assert 0 < np.abs(tight(truth) - truth).max() < 2e-3


def test_seeds_and_names_are_of_their_own():
    libraries = list(ROLLED.values())
    assert {library.number for library in libraries} == {1000, 1001, 1002}
    assert [library.name for library in libraries] == [f"{name}-rollouts" for name in ROLLOUTS]
    assert len({library.declared.input_fingerprint for library in libraries}) == 3
    for library in libraries:
        settings = [library.settings(PROFILES["laptop"], run) for run in range(library.runs)]
        assert len({row["seed"] for row in settings}) == library.runs
        assert len({row["first_training_input"] for row in settings}) == 1  # they learn from the same trajectories


def test_declarations_that_do_not_fit_are_refused():
    rollout = ROLLOUTS["flow_1d"]
    with pytest.raises(ValueError, match="observed frames"):
        replace(rollout, observed=5)
    with pytest.raises(ValueError, match="change must have 3 numbers"):
        replace(rollout, change=(1.0,))
    with pytest.raises(ValueError, match="no networks for 'huge'"):
        rollout.budget("huge")
