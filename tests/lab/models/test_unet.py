"""The U-Net: counts, symmetries, layers with weights of known meaning."""

import math

import pytest
import torch

from networks import randomised
from physrank.lab.models import UNet
from physrank.lab.models.unet import double_convolution


def test_unet_has_the_known_parameter_count():
    """7,763,041 is the count printed for the original of this shape (3 channels in, 1 out, 32 features)."""
    assert sum(p.numel() for p in UNet(3, 1).parameters()) == 7_763_041


@pytest.mark.parametrize("dimensions", [1, 2])
def test_unet_parameter_count_by_formula(dimensions):
    def double(a, b):
        return 3**dimensions * (a * b + b * b) + 2 * 2 * b

    f, (a, b) = 4, (2, 3)
    expected = double(a, f) + (f * b + b)
    for level in range(4):
        w = f * 2**level
        expected += double(w, 2 * w) + (2**dimensions * 2 * w * w + w) + double(2 * w, w)
    assert sum(p.numel() for p in UNet(a, b, features=f, dimensions=dimensions).parameters()) == expected


@pytest.mark.parametrize("dimensions, grid", [(1, (48,)), (2, (16, 32))])
def test_circular_unet_commutes_with_shifts(dimensions, grid):
    model = randomised(UNet(2, 3, features=4, dimensions=dimensions, padding="circular")).double().eval()
    field = torch.randn(2, 2, *grid, dtype=torch.float64)
    result = model(field)
    assert result.shape == (2, 3, *grid)
    torch.testing.assert_close(model(field.roll(16, -1)), result.roll(16, -1), rtol=0, atol=1e-12)
    assert not torch.allclose(model(field.roll(1, -1)), result.roll(1, -1), rtol=0, atol=1e-6)


def test_double_convolution_with_identity_kernels_is_tanh_twice():
    block = double_convolution(1, 1, 1, "zeros").double().eval()
    with torch.no_grad():
        for layer in (block[0], block[3]):
            layer.weight.copy_(torch.tensor([[[0.0, 1.0, 0.0]]]))
    x = torch.linspace(-2, 2, 9, dtype=torch.float64)[None, None]
    shrink = 1 / math.sqrt(1 + block[1].eps)  # batch norm with fresh statistics
    torch.testing.assert_close(block(x), torch.tanh(shrink * torch.tanh(shrink * x)), rtol=0, atol=1e-15)


def test_unet_goes_up_by_transposed_convolutions():
    """Kernels of ones repeat every coarse value on its 2×2 fine cells."""
    up = UNet(1, 1, features=1).double().up[-1]
    with torch.no_grad():
        up.weight.zero_()
        up.bias.zero_()
        up.weight[0, 0] = 1
    coarse = torch.randn(1, 2, 3, 4, dtype=torch.float64)
    assert torch.equal(up(coarse)[0, 0], coarse[0, 0].repeat_interleave(2, 0).repeat_interleave(2, 1))


def test_unet_pools_by_the_maximum():
    pooled = UNet(1, 1, features=1).pool(torch.tensor([[[[1.0, -2.0], [3.0, 0.5]]]]))
    assert pooled.item() == 3.0
