"""Ten objectives of a two-dimensional trajectory, as the paper's S12 executed them: one corrected state, many questions.

A candidate v and a target z are `(frames, channels, y, x)` on a uniform square grid; e = v − z. Only the two squared L²
distances are losses of a Hilbert space, for which the comparison identity is exact; the others are plug-ins, and say so.
"""

from functools import cache

import numpy as np

from physrank.geometry.space import Array

HILBERT = "squared Hilbert loss: exact"
SCOPES = {
    "terminal squared L²": HILBERT,
    "trajectory squared L²": HILBERT,
    "RMSE": "plug-in: roots of squared losses",
    "normalized RMSE": "plug-in: its denominator is the target's own size",
    "conservation": "plug-in: absolute values of linear summaries",
    "maximum": "plug-in: L∞",
    "boundary RMSE": "plug-in: roots of restricted squared losses",
    "low band": "plug-in: roots over restricted-quadrant shells",
    "mid band": "plug-in: roots over restricted-quadrant shells",
    "high band": "plug-in: roots over restricted-quadrant shells",
}
OBJECTIVES = tuple(SCOPES)
BANDS = (0, 4, 12)  # where the low, mid and high bands begin


def distances(candidate: Array, target: Array, length: float) -> Array:
    """The ten distances of a candidate to a target, in the order of `OBJECTIVES`."""
    if candidate.shape != target.shape or candidate.ndim != 4 or candidate.shape[-1] // 2 <= BANDS[-1]:
        raise ValueError(
            f"expected two trajectories (frames, channels, n, n) with n > {2 * BANDS[-1] + 1}; got {candidate.shape} and "
            f"{target.shape}."
        )
    error = np.asarray(candidate, np.float64) - target
    cells = error.shape[-2] * error.shape[-1]
    area = length**2 / cells
    squares = np.sum(error**2, axis=(-2, -1))  # (frames, channels)
    rmse, size = np.sqrt(squares / cells), np.sqrt(np.mean(np.square(target), axis=(-2, -1)))
    edges = (error[..., 0, :], error[..., -1, :], error[..., :, 0], error[..., :, -1])
    around = sum(np.sum(edge**2, axis=-1) for edge in edges) / (2 * sum(error.shape[-2:]))  # corners count twice
    return np.array(
        [
            area * squares[-1].sum(),
            area * squares.sum() / len(error),
            rmse.mean(),
            (rmse / size).mean(),
            np.abs(error.mean(axis=(-2, -1))).mean(),
            np.abs(error).max(axis=(-2, -1)).mean(),
            np.sqrt(around).mean(),
            *_bands(error, area),
        ]
    )


def _bands(error: Array, area: float) -> list[float]:
    """Shells of wavenumbers of one quadrant, unnormalised transform; means over frames, channels and shells of a band."""
    half = error.shape[-1] // 2
    energy = np.abs(np.fft.rfft2(error)[..., :half, :half]) ** 2
    shells = area * np.sqrt(energy.reshape(*error.shape[:2], -1) @ _shells(half))
    return [float(shells[..., a:b].mean()) for a, b in zip(BANDS, (*BANDS[1:], half), strict=True)]


@cache
def _shells(half: int) -> Array:
    """`(half², half)`: which shell ⌊|k|⌋ < half a coefficient belongs to."""
    k = np.arange(half)
    shell = np.floor(np.hypot(k[:, None], k[None, :])).ravel()
    return (shell[:, None] == k).astype(float)
