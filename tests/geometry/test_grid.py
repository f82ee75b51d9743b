"""Grids refuse interpolations and shapes that do not exist."""

import numpy as np
import pytest

import physrank as pr


def test_misspelt_interpolation_is_refused():
    with pytest.raises(ValueError, match="Unknown lift 'forier'"):
        pr.Marching(lambda u: u, np.zeros(4), grid=pr.Grid((4,), (1.0,), "periodic", "forier"))
    with pytest.raises(ValueError, match="trailing axes"):
        pr.Marching(lambda u: u, np.zeros(4), grid=pr.Grid.periodic(5))
