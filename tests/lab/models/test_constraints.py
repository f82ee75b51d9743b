"""Constraints that hold to the last bit."""

import pytest
import torch

from networks import randomised
from physrank.lab.models import CNO
from physrank.lab.models.constraints import InitialCondition, ZeroBoundary


@pytest.mark.parametrize("channels", [(0,), (2, 0)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_initial_condition_holds_to_the_last_bit(channels, dtype):
    net = randomised(CNO(3, len(channels), multiplier=8, levels=1)).to(dtype)
    x = torch.randn(2, 3, 6, 8, dtype=dtype)
    result = InitialCondition(net, channels)(x)
    assert torch.equal(result[:, :, 0], x[:, list(channels), 0])
    change = net(x)
    torch.testing.assert_close(result[:, :, -1], x[:, list(channels), -1] + change[:, :, -1])
    torch.testing.assert_close(result[:, :, 2], x[:, list(channels), 2] + 2 / 5 * change[:, :, 2])


@pytest.mark.parametrize("nodes, interior", [((16, 24), False), ((18, 34), True)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_zero_boundary_holds_to_the_last_bit(nodes, interior, dtype):
    net = randomised(CNO(2, 1, multiplier=8, levels=3, padding="zeros")).to(dtype)
    field = torch.randn(2, 2, *nodes, dtype=dtype)
    result = ZeroBoundary(net, interior=interior)(field)
    assert result.shape == (2, 1, *nodes)
    for axis in (2, 3):
        for side in (0, -1):
            assert torch.equal(result.select(axis, side), torch.zeros_like(result.select(axis, side)))
    inside = net(field[..., 1:-1, 1:-1]) if interior else net(field)[..., 1:-1, 1:-1]
    x, y = (torch.linspace(0, 1, n, dtype=dtype)[1:-1] for n in nodes)
    expected = 16 * (x * (1 - x))[:, None] * (y * (1 - y)) * inside
    torch.testing.assert_close(result[..., 1:-1, 1:-1], expected)
