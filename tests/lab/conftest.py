"""What is trained once for several files."""

import pytest

from lab_helpers import BURGERS, TINY
from physrank.lab.training import run as training


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """One run, uninterrupted."""
    store = tmp_path_factory.mktemp("trained")
    assert training.train_run(store, TINY, BURGERS, 0)
    return store
