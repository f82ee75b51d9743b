"""Inputs of the Burgers study: Fourier coefficients of the initial state and of the modulated forcing."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from physrank.geometry.space import Array
from physrank.lab.inputs.streams import shifts, stream, union

LENGTH, HORIZON = 2 * np.pi, 0.2
INITIAL_MODES, FORCING_MODES = 10, 2  # training activates initial modes 1–4


@dataclass(frozen=True, eq=False)
class BurgersInput:
    """u₀ = Σ a_k cos kx + b_k sin kx;  f = (1 + m sin(2π c t/T + φ)) Σ p_k cos kx + q_k sin kx."""

    initial_coefficients: Array  # (2, 10): cosine and sine
    forcing_coefficients: Array  # (2, 2)
    modulation: float  # m ≤ 0.35
    cycles: int  # c, one or two
    phase: float
    viscosity: float
    stratum: str

    @classmethod
    def sample(cls, population: str, index: int, stratum: str) -> "BurgersInput":
        """Gaussian coefficients of scale 0.55 k^−1.5 (modes 1–4), 0.30 k^−0.5 (added modes), 0.12 k^−1 (forcing)."""
        random = stream("burgers", population, index)
        wide, far = shifts(stratum)
        k = np.arange(1, INITIAL_MODES + 1)
        scale = np.where(k <= 4, 0.55 * k**-1.5, 0.30 * k**-0.5 * wide)
        return cls(
            initial_coefficients=scale * random.standard_normal((2, INITIAL_MODES)),
            forcing_coefficients=0.12 / np.arange(1, FORCING_MODES + 1) * random.standard_normal((2, FORCING_MODES)),
            modulation=float(random.uniform(0, 0.35)),
            cycles=int(random.integers(1, 3)),
            phase=float(random.uniform(0, 2 * np.pi)),
            viscosity=union(random, ((0.008, 0.018), (0.085, 0.110)) if far else ((0.025, 0.075),)),
            stratum=stratum,
        )

    def initial(self, x: ArrayLike) -> Array:
        return fourier_series(self.initial_coefficients, x)

    def forcing(self, t: ArrayLike, x: ArrayLike) -> Array:
        return self.swing(t) * fourier_series(self.forcing_coefficients, x)

    def swing(self, t: ArrayLike) -> Array:
        """How strong the force is at a time."""
        return 1 + self.modulation * np.sin(2 * np.pi * self.cycles * np.asarray(t) / HORIZON + self.phase)


def fourier_series(coefficients: Array, x: ArrayLike) -> Array:
    """Σ_k a_k cos kx + b_k sin kx for coefficients `(2, modes)`."""
    x = np.asarray(x)[..., None]
    k = np.arange(1, coefficients.shape[1] + 1)
    return np.cos(k * x) @ coefficients[0] + np.sin(k * x) @ coefficients[1]
