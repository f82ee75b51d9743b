"""Ten objectives against sums written out."""

import numpy as np
import pytest

from physrank.lab.evaluation.objectives import OBJECTIVES, SCOPES, distances

N, LENGTH = 32, 2.0
RANDOM = np.random.default_rng(3)
TARGET, CANDIDATE = RANDOM.standard_normal((2, 3, 2, N, N))


def written_out(v, z):
    """S12, term by term."""
    e, frames, channels = v - z, len(v), v.shape[1]
    h = LENGTH / N
    rows = [(t, c) for t in range(frames) for c in range(channels)]
    rmse = {row: np.sqrt(np.mean(e[row] ** 2)) for row in rows}
    size = {row: np.sqrt(np.mean(z[row] ** 2)) for row in rows}
    edge = {
        row: np.sqrt(
            (np.sum(e[row][0] ** 2) + np.sum(e[row][-1] ** 2) + np.sum(e[row][:, 0] ** 2) + np.sum(e[row][:, -1] ** 2))
            / (4 * N)
        )
        for row in rows
    }
    shells = np.zeros((len(rows), N // 2))
    for k, row in enumerate(rows):
        transform = np.fft.fft2(e[row])
        for a in range(N // 2):
            for b in range(N // 2):
                r = int(np.floor(np.sqrt(a**2 + b**2)))
                if r < N // 2:
                    shells[k, r] += abs(transform[a, b]) ** 2
    shells = LENGTH**2 / N**2 * np.sqrt(shells)
    mean = lambda of: np.mean(list(of.values()))  # noqa: E731
    return [
        h**2 * np.sum(e[-1] ** 2),
        h**2 / frames * np.sum(e**2),
        mean(rmse),
        np.mean([rmse[row] / size[row] for row in rows]),
        np.mean([abs(e[row].mean()) for row in rows]),
        np.mean([np.abs(e[row]).max() for row in rows]),
        mean(edge),
        shells[:, 0:4].mean(),
        shells[:, 4:12].mean(),
        shells[:, 12:].mean(),
    ]


def test_distances_are_those_written_out():
    np.testing.assert_allclose(distances(CANDIDATE, TARGET, LENGTH), written_out(CANDIDATE, TARGET), rtol=1e-12)
    assert not np.any(distances(TARGET, TARGET, LENGTH))


def test_only_squared_losses_are_called_exact():
    exact = [name for name, scope in SCOPES.items() if scope.startswith("squared Hilbert")]
    assert exact == ["terminal squared L²", "trajectory squared L²"]
    double = distances(TARGET + 2 * (CANDIDATE - TARGET), TARGET, LENGTH) / distances(CANDIDATE, TARGET, LENGTH)
    np.testing.assert_allclose(double, [4.0 if name in exact else 2.0 for name in OBJECTIVES], rtol=1e-12)


def test_grids_without_a_high_band_are_refused():
    with pytest.raises(ValueError, match="with n > 25"):
        distances(CANDIDATE[..., :24, :24], TARGET[..., :24, :24], LENGTH)
