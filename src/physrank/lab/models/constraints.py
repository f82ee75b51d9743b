"""Initial and boundary conditions that a network satisfies by construction. Needs the `lab` extra (`pip install .[lab]`)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from physrank.lab.equations.constraint import InitialRow, ZeroEdges


def constrained(network: nn.Module, constraint: InitialRow | ZeroEdges, *, interior: bool = False) -> nn.Module:
    """`network` wrapped in what its equation declares; `interior` as for `ZeroBoundary`."""
    match constraint:
        case InitialRow(channels):
            return InitialCondition(network, channels)
        case ZeroEdges(size):
            return ZeroBoundary(network, interior=interior, scale=size)


class InitialCondition(nn.Module):
    """u0 + (t/T)·model for space–time fields `(batch, channels, times, …)`: exactly u0 at the first time.

    The times are uniform, the first row at t = 0 and the last at T. `channels` names the input channels that hold u0 at all
    times, one for each output channel: (0,) for a scalar, (0, 1) for a displacement and its velocity.
    """

    def __init__(self, model: nn.Module, channels: Sequence[int] = (0,)):
        super().__init__()
        self.model = model
        self.channels = list(channels)

    def forward(self, x: Tensor) -> Tensor:
        change = self.model(x)
        if change.shape[1] != len(self.channels):
            raise ValueError(
                f"the model has {change.shape[1]} output channels, but {len(self.channels)} input channels are named as "
                f"their initial values: channels={tuple(self.channels)}"
            )
        time = torch.linspace(0, 1, x.shape[2], dtype=x.dtype, device=x.device)
        return x[:, self.channels] + time.reshape(-1, *[1] * (x.ndim - 3)) * change


class ZeroBoundary(nn.Module):
    """c · 16 x(1−x) y(1−y)·model for fields `(batch, channels, n1, n2)` on the unit square: exactly zero on the boundary.

    The first and last nodes of each axis lie on the boundary. `scale`, c, is the typical size of solutions, so that the
    model predicts numbers of order one. With `interior=True` the model sees and predicts only the nodes between the
    boundaries, for models that need a divisible size: 34 nodes have 32 inside.
    """

    def __init__(self, model: nn.Module, *, interior: bool = False, scale: float = 1.0):
        super().__init__()
        self.model = model
        self.scale = scale
        self.interior = interior

    def forward(self, x: Tensor) -> Tensor:
        if self.interior:
            field = functional.pad(self.model(x[..., 1:-1, 1:-1]), (1, 1, 1, 1))
        else:
            field = self.model(x)
        rows, columns = (_bump(size, x) for size in x.shape[-2:])
        return self.scale * rows[:, None] * columns * field


def _bump(nodes: int, like: Tensor) -> Tensor:
    """4 x(1−x) at uniform nodes from 0 to 1."""
    x = torch.linspace(0, 1, nodes, dtype=like.dtype, device=like.device)
    return 4 * x * (1 - x)
