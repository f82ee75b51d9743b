"""A panel without scores chooses nobody."""

import numpy as np
import pytest

from physrank.lab.studies import panels


def test_an_unresolved_input_does_not_choose_the_first_candidate():
    random = np.random.default_rng(0)
    scores = random.uniform(1, 2, (2, 6, 4))
    scores[:, :, 3] = 0.5
    scores[0, 2] = np.nan
    np.testing.assert_array_equal(panels._winners(scores), [3, 3])
    with pytest.raises(ValueError, match="nothing to choose from"):
        panels._winners(np.full((1, 3, 4), np.nan))
