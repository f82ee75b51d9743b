"""Convolutional Neural Operator for 2-D fields, after Raonić et al. (2023). Needs the `lab` extra (`pip install .[lab]`).

An encoder–decoder of convolutions in which every nonlinearity acts on a grid twice as fine and is filtered back, so that
the network maps band-limited fields to band-limited fields instead of producing aliases of the grid.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from physrank.lab.models.resampling import Padding, check_padding, resample


class CNO(nn.Module):
    """Maps fields `(batch, in_channels, n1, n2)` to `(batch, out_channels, n1, n2)`; n1, n2 divisible by 2**levels.

    Main arguments: `multiplier` m of the channels, as the method's authors count it: the field is lifted to m/2 channels,
    and the levels below have m, 2m, 4m …; `padding`, "circular" for periodic fields, "zeros" otherwise.

    Other arguments: `levels` of halved resolution; `residual` blocks on each skip connection; `neck` residual blocks at the
    bottom.

    There is no normalisation. Batch norm would make a prediction depend on the other samples of its training batches,
    and group norm would divide out a field's amplitude, which a solution operator must carry. Training is kept stable by
    the initial weights instead: convolutions keep the variance of their input, residual blocks start as the identity.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        multiplier: int = 16,
        levels: int = 3,
        residual: int = 2,
        neck: int = 3,
        padding: Padding = "circular",
    ):
        super().__init__()
        check_padding(padding)
        if levels < 1:
            raise ValueError(f"levels is {levels}; expected at least 1")
        self.levels = levels
        widths = [multiplier // 2, *(multiplier * 2**level for level in range(levels))]
        self.lift = Block(in_channels, widths[0], padding)
        self.down = nn.ModuleList(Block(a, b, padding, scale=0.5) for a, b in pairwise(widths))
        self.skip = nn.ModuleList(_residual_blocks(residual, w, padding) for w in widths[:-1])
        self.neck = _residual_blocks(neck, widths[-1], padding)
        # From the second upward step on, the skip connection stands beside the decoder's own channels.
        arriving = [widths[-1], *(2 * w for w in widths[-2:0:-1])]
        self.up = nn.ModuleList(
            Block(a, w, padding, scale=2) for a, w in zip(arriving, reversed(widths[:-1]), strict=True)
        )
        self.project = nn.Sequential(
            Block(2 * widths[0], widths[0], padding), convolution(widths[0], out_channels, padding)
        )

    def forward(self, x: Tensor) -> Tensor:
        if any(size % 2**self.levels for size in x.shape[-2:]):
            raise ValueError(
                f"got a grid of {tuple(x.shape[-2:])} points; CNO with levels={self.levels} halves it {self.levels} times "
                f"and expects sizes divisible by {2**self.levels}"
            )
        x = self.lift(x)
        skips = []
        for skip, down in zip(self.skip, self.down, strict=True):
            skips.append(skip(x))
            x = down(x)
        x = self.neck(x)
        for up, skipped in zip(self.up, reversed(skips), strict=True):
            x = torch.cat([up(x), skipped], dim=1)
        return self.project(x)


class Activation(nn.Module):
    """Leaky ReLU between band-limited fields: refine twofold, apply, filter back; then to `scale` times the size.

    `scale` is 1, or 0.5 for halving (filtering from the fine grid to the half grid at once is the same map), or 2.
    """

    def __init__(self, padding: Padding, scale: float = 1):
        super().__init__()
        self.padding: Padding = padding
        self.scale = scale

    def forward(self, x: Tensor) -> Tensor:
        n1, n2 = x.shape[-2:]
        x = functional.leaky_relu(resample(x, (2 * n1, 2 * n2), self.padding), inplace=True)
        # Waves the grid of x cannot hold must go even when the result is wanted on a finer grid.
        kept = min(1.0, self.scale)
        x = resample(x, (int(kept * n1), int(kept * n2)), self.padding)
        return resample(x, (2 * n1, 2 * n2), self.padding) if self.scale == 2 else x


class Block(nn.Sequential):
    """Convolution and band-limited activation; `scale` changes the resolution."""

    def __init__(self, in_channels: int, out_channels: int, padding: Padding, scale: float = 1):
        super().__init__(convolution(in_channels, out_channels, padding), Activation(padding, scale))


class Residual(nn.Module):
    """x + convolution(activation(convolution(x))), the identity until it is trained."""

    def __init__(self, channels: int, padding: Padding):
        super().__init__()
        self.first = Block(channels, channels, padding)
        self.second = convolution(channels, channels, padding)
        nn.init.zeros_(self.second.weight)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.second(self.first(x))


def convolution(in_channels: int, out_channels: int, padding: Padding) -> nn.Conv2d:
    layer = nn.Conv2d(in_channels, out_channels, 3, padding=1, padding_mode=padding)
    nn.init.kaiming_normal_(layer.weight, nonlinearity="leaky_relu")
    assert layer.bias is not None
    nn.init.zeros_(layer.bias)
    return layer


def _residual_blocks(number: int, channels: int, padding: Padding) -> nn.Sequential:
    return nn.Sequential(*(Residual(channels, padding) for _ in range(number)))
