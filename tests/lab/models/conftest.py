"""Every network test starts from one seed, on one thread."""

import pytest
import torch


@pytest.fixture(autouse=True)
def _seed_and_one_thread():
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for layers this small, threads that wait for each other cost far more than they save
    yield
    torch.set_num_threads(threads)
