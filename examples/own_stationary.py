"""Your own stationary problem: the Bratu equation −u'' = 2 eᵘ, u(0) = u(1) = 0, which physrank does not ship."""

import jax.numpy as jnp
import numpy as np

import physrank as pr

x = np.linspace(0, 1, 41)


def residual(u):
    interior = -(u[2:] - 2 * u[1:-1] + u[:-2]) / x[1] ** 2 - 2 * jnp.exp(u[1:-1])
    return jnp.concatenate([u[:1], interior, u[-1:]])  # boundary rows belong to the defect


bump = x * (1 - x)
candidates = {"flat": 1.0 * bump, "close": 1.2 * bump, "steep": 1.6 * bump}
ranking = pr.rank(pr.Stationary(residual), candidates)

if __name__ == "__main__":
    print(ranking)
