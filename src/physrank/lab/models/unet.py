"""U-Net for 1-D and 2-D fields in the shape of PDEBench's. Needs the `lab` extra (`pip install .[lab]`)."""

from itertools import pairwise

import torch
from torch import Tensor, nn

from physrank.lab.models.resampling import Padding, check_padding

LAYERS = {
    1: (nn.Conv1d, nn.ConvTranspose1d, nn.BatchNorm1d, nn.MaxPool1d),
    2: (nn.Conv2d, nn.ConvTranspose2d, nn.BatchNorm2d, nn.MaxPool2d),
}
DEPTH = 4


class UNet(nn.Module):
    """Maps fields `(batch, in_channels, n)` or `(batch, in_channels, n1, n2)` to the same grid; sizes divisible by 16.

    Four levels of double convolutions (convolution, batch norm, tanh, twice) with max pooling between, a bottleneck, and
    back up by transposed convolutions, each level joined with its encoder's output; a pointwise convolution ends it.

    Main arguments: `dimensions` of the field (1 or 2); `padding` of the convolutions, "circular" for periodic fields.
    Other arguments: `features` of the first level, doubled at every level.

    Batch norm makes training and evaluation differ: call `.eval()` before predicting.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        features: int = 32,
        dimensions: int = 2,
        padding: Padding = "zeros",
    ):
        super().__init__()
        check_padding(padding)
        if dimensions not in LAYERS:
            raise ValueError(f"dimensions is {dimensions!r}; expected 1 or 2")
        convolution, transposed, _, pool = LAYERS[dimensions]
        widths = [features * 2**level for level in range(DEPTH + 1)]
        self.dimensions = dimensions
        self.pool = pool(2)
        self.encoder = nn.ModuleList(
            double_convolution(a, b, dimensions, padding) for a, b in pairwise([in_channels, *widths[:-1]])
        )
        self.bottleneck = double_convolution(widths[-2], widths[-1], dimensions, padding)
        upward = list(reversed(widths[:-1]))
        self.up = nn.ModuleList(transposed(2 * w, w, kernel_size=2, stride=2) for w in upward)
        self.decoder = nn.ModuleList(double_convolution(2 * w, w, dimensions, padding) for w in upward)
        self.head = convolution(features, out_channels, kernel_size=1)

    def forward(self, x: Tensor) -> Tensor:
        grid = tuple(x.shape[2:])
        if len(grid) != self.dimensions or any(size % 2**DEPTH for size in grid):
            raise ValueError(
                f"got a grid of {grid} points; this UNet expects {self.dimensions} axes of sizes divisible by {2**DEPTH}"
            )
        skips = []
        for encode in self.encoder:
            skips.append(encode(x))
            x = self.pool(skips[-1])
        x = self.bottleneck(x)
        for up, decode, skipped in zip(self.up, self.decoder, reversed(skips), strict=True):
            x = decode(torch.cat([up(x), skipped], dim=1))
        return self.head(x)


def double_convolution(in_channels: int, out_channels: int, dimensions: int, padding: Padding) -> nn.Sequential:
    """Twice: 3-point convolution (no bias: the batch norm has one), batch norm, tanh."""
    convolution, _, norm, _ = LAYERS[dimensions]
    layers: list[nn.Module] = []
    for channels in (in_channels, out_channels):
        layers += [
            convolution(channels, out_channels, 3, padding=1, padding_mode=padding, bias=False),
            norm(out_channels),
            nn.Tanh(),
        ]
    return nn.Sequential(*layers)
