"""Which inputs are suspect: those whose references changed most, then those that candidates miss most."""

from types import SimpleNamespace

import numpy as np

from physrank.lab.studies._kit import checking


def test_suspects_are_chosen_by_refinement_and_by_error():
    losses = np.ones((6, 3)) + np.arange(6)[:, None]  # the last inputs are missed most
    changes = np.zeros((6, 3))
    changes[1, 2], changes[3, 0] = 0.9, 0.5
    many = [SimpleNamespace(losses=losses, changes=changes)]
    assert checking.suspects(many, 4) == [1, 3, 5, 4]
    assert checking.suspects(many, 1) == [1]
    assert sorted(checking.suspects(many, 6)) == list(range(6))  # nobody twice
