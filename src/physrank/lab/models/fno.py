"""Fourier Neural Operators of `neuraloperator`, built from the numbers a paper states. Needs the `lab` extra
(`pip install .[lab]`).
"""

from collections.abc import Sequence

from neuralop.models import FNO
from torch import Tensor, nn

__all__ = ["FNO", "fno", "n_modes"]


def n_modes(modes: Sequence[int]) -> tuple[int, ...]:
    """neuralop's `n_modes` for modes counted as in Li et al. (2021), which is how papers count them.

    There, m modes are the wavenumbers 0 … m−1 on the last axis, whose real transform needs no others, and −m … m−1 on each
    axis before. neuralop counts the wavenumbers of both signs on every axis, and of n on the last it keeps n // 2 + 1. So
    "six temporal and 12 spatial modes" of a field with axes (time, space) are `n_modes=(12, 22)`:

    >>> n_modes((6, 12))
    (12, 22)

    Handing (6, 12) to neuralop itself would keep the wavenumbers −3 … 2 in time and 0 … 6 in space.
    """
    if not modes or min(modes) < 1:
        raise ValueError(f"modes are {tuple(modes)}; expected at least one mode for every axis of the field")
    return (*(2 * m for m in modes[:-1]), 2 * modes[-1] - 2)


def fno(
    in_channels: int,
    out_channels: int,
    *,
    width: int,
    modes: Sequence[int],
    layers: int = 4,
    projection: int | None = None,
) -> FNO:
    """An FNO on fields `(batch, in_channels, n1, …)` with as many axes as `modes`.

    Main arguments: `width`, the channels of the Fourier layers; `modes` per axis, counted as `n_modes` says.
    Other arguments: Fourier `layers`; `projection`, the width of the hidden layer before the output (2·width if not given).

    neuralop appends the coordinates of the grid, from 0 to 1, to the input channels; the caller need not.
    """
    projection = 2 * width if projection is None else projection
    model = FNO(
        n_modes=n_modes(modes),
        in_channels=in_channels,
        out_channels=out_channels,
        hidden_channels=width,
        n_layers=layers,
        # neuralop takes a ratio and truncates its product with the width; the half keeps rounding from losing a channel
        projection_channel_ratio=(projection + 0.5) / width,
    )
    model.register_forward_pre_hook(_even_leading_axes)
    return model


def _even_leading_axes(model: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    """neuralop 2.0 undoes `fftshift` by a second `fftshift`, which on an odd axis moves every wave by one wavenumber."""
    grid = tuple(inputs[0].shape[2:])
    if any(size % 2 for size in grid[:-1]):
        raise ValueError(
            f"got a grid of {grid} points; neuralop's FNO expects an even number on every axis but the last"
        )
