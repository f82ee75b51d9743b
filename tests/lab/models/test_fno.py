"""The FNO: weights that differentiate, modes counted as papers do."""

import pytest
import torch
from neuralop.layers.spectral_convolution import SpectralConv

from physrank.lab.models import FNO
from physrank.lab.models.fno import fno, n_modes


def test_spectral_convolution_with_weights_ik_differentiates():
    layer = SpectralConv(1, 1, n_modes((4, 8)), bias=False)
    with torch.no_grad():
        layer.weight.tensor.copy_((1j * torch.arange(8)).expand(1, 1, 8, 8))
    t, x = torch.arange(16)[:, None] / 16, 2 * torch.pi * torch.arange(32) / 32
    envelope = 1 + torch.sin(2 * torch.pi * 3 * t)
    field = envelope * (torch.sin(3 * x) + torch.cos(7 * x))
    expected = envelope * (3 * torch.cos(3 * x) - 7 * torch.sin(7 * x))
    torch.testing.assert_close(layer(field[None, None])[0, 0], expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("modes, kept", [((6, 12), [12, 12]), ((12,), [12]), ((3, 4, 5), [6, 8, 5]), ((2, 1), [4, 1])])
def test_modes_are_counted_as_papers_do(modes, kept):
    model = fno(2, 1, width=3, modes=modes, layers=2)
    assert isinstance(model, FNO)
    assert [list(layer.weight.shape) for layer in model.fno_blocks.convs] == [[3, 3, *kept]] * 2


@pytest.mark.parametrize("width, projection, expected", [(24, 48, 48), (24, None, 48), (49, 1, 1)])
def test_projection_width_is_the_one_asked_for(width, projection, expected):
    model = fno(2, 1, width=width, modes=(2, 2), layers=1, projection=projection)
    assert model.projection.fcs[0].out_channels == expected
