"""Networks are brought to these tests: one thread, one seed, and dtypes that mix as users have it."""

import pytest
import torch

from surrogates import graded


@pytest.fixture
def promotion():
    return "standard"


@pytest.fixture(autouse=True)
def _seed_and_one_thread():
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def library():
    """Four networks, each worse than the one before."""
    return graded()
