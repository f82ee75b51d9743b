"""Networks are brought to these tests: one thread, one seed, and dtypes that mix as users have it."""

import pytest

from networks import seed_and_one_thread as seed_and_one_thread
from surrogates import graded


@pytest.fixture
def promotion():
    return "standard"


@pytest.fixture(scope="session")
def library():
    """Four networks, each worse than the one before."""
    return graded()
