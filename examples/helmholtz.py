"""Helmholtz: an indefinite operator, 100 × 100 unknowns, as a SciPy matrix; one sparse factorisation ranks 19 predictions."""

import numpy as np
from scipy import sparse

import physrank as pr

points, wavenumber = 100, 30.0
spacing = 1 / (points + 1)
second = sparse.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(points, points)) / spacing**2
matrix = -sparse.kronsum(second, second) - wavenumber**2 * sparse.eye_array(points**2)
x = spacing * np.arange(1, points + 1)
source = np.exp(-50 * ((x[:, None] - 0.3) ** 2 + (x - 0.6) ** 2))

# Nineteen predictions: waves of a wavenumber that is a little off, each in its own way.
rng = np.random.default_rng(0)
modes = np.sin(np.pi * np.outer(np.arange(1, 16), x))
candidates = {
    f"network {k}": 3e-6 * 1.25**k * modes.T @ rng.standard_normal((15, 15)) @ modes
    + pr.Linear(matrix + 0.3 * k * sparse.eye_array(points**2), source).solve(np.zeros_like(source)).state
    for k in range(19)
}

problem = pr.Linear(matrix, source)
ranking = pr.rank(problem, candidates)

if __name__ == "__main__":
    print(ranking)
