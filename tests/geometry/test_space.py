"""Task spaces refuse weights and outputs that make no sense."""

import numpy as np
import pytest

from physrank.geometry import TaskSpace


def test_task_space_refuses_bad_weights():
    for bad in ([1.0, 0.0], [1.0, np.nan], [-1.0, 1.0]):
        with pytest.raises(ValueError, match="positive, finite weights"):
            TaskSpace(np.array(bad))
    with pytest.raises(ValueError, match="Expected outputs of shape"):
        TaskSpace(np.ones(3)).norm(np.ones(4))
