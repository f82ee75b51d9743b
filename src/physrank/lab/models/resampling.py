"""Band-limited resampling of 2-D fields by dense matrices, one per axis. Needs the `lab` extra (`pip install .[lab]`).

The paper of the CNO (Raonić et al. 2023) filters with windowed sincs. On the grids of the studies (6 to 96 points per axis)
the ideal sinc itself, written as a matrix, is a product of small matrices that a CPU does faster than either a
depthwise convolution or an FFT, and it is exact: no window, no transition band.
"""

from functools import cache
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

Padding = Literal["circular", "zeros"]


def check_padding(padding: str) -> None:
    if padding not in get_args(Padding):
        raise ValueError(f"padding is {padding!r}; expected one of {', '.join(map(repr, get_args(Padding)))}")


@cache
def resampling_matrix(out_size: int, in_size: int, padding: Padding) -> np.ndarray:
    """The matrix `(out_size, in_size)` that keeps the waves both grids resolve and drops all others.

    "circular": trigonometric interpolation of a periodic field. The Nyquist wave of an even grid is dropped, because its
    phase is not determined by its samples.
    "zeros": cosine interpolation, which mirrors the field at its walls (half a spacing beyond the last points).
    Continuing it by zeros instead, as the convolutions do, would make a jump at the wall that rings through the field.
    """
    # An array, not a tensor: a tensor first made under `torch.inference_mode` could never serve in training.
    i, j = np.arange(out_size)[:, None], np.arange(in_size)[:, None]
    shared = min(out_size, in_size)
    if padding == "circular":
        wave = 2 * np.pi * np.arange(1, (shared + 1) // 2)
        here, there = wave * i / out_size, wave * j / in_size
        waves = np.cos(here) @ np.cos(there).T + np.sin(here) @ np.sin(there).T
    else:
        wave = np.pi * np.arange(1, shared)
        waves = np.cos(wave * (i + 0.5) / out_size) @ np.cos(wave * (j + 0.5) / in_size).T
    return (1 + 2 * waves) / in_size


def resample(field: Tensor, size: tuple[int, int], padding: Padding) -> Tensor:
    """The field `(..., n1, n2)` on a grid of the given size."""
    rows, columns = (
        torch.as_tensor(resampling_matrix(m, n, padding), dtype=field.dtype, device=field.device)
        for m, n in zip(size, field.shape[-2:], strict=True)
    )
    return rows @ field @ columns.T
