"""What the tests of several networks need."""

import numpy as np
import pytest
import torch

PADDINGS = ["circular", "zeros"]


@pytest.fixture(autouse=True)
def seed_and_one_thread():
    """For every test of a folder whose conftest has it."""
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for layers this small, threads that wait for each other cost far more than they save
    yield
    torch.set_num_threads(threads)


def randomised(model):
    """The model with every parameter random, so that no zero of the initial weights can make a test pass."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.2)
    return model


def set_identity(convolution):
    with torch.no_grad():
        convolution.weight.zero_()
        convolution.bias.zero_()
        for channel in range(convolution.in_channels):
            convolution.weight[channel, channel, 1, 1] = 1


def smooth_field(n, padding, dtype=torch.float64, waves=4):
    """A random field of a few waves, the same function on every grid of size n."""
    wave = np.arange(1 - waves, waves)
    amplitudes = np.random.default_rng(3).standard_normal((2, len(wave), len(wave)))
    if padding == "circular":
        basis = np.exp(2j * np.pi * wave * np.arange(n)[:, None] / n)
        field = (basis @ (amplitudes[0] + 1j * amplitudes[1]) @ basis.T).real
    else:
        basis = np.cos(np.pi * wave * (np.arange(n)[:, None] + 0.5) / n)
        field = basis @ amplitudes[0] @ basis.T
    return torch.tensor(field / field.std(), dtype=dtype)[None, None]
