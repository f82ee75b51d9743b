"""Inputs of the Sine–Gordon study. The paper does not state its law; this one follows the spirit of the Burgers one.

On [0, 2π] × [0, 1]: displacement modes 1–4 of scale 0.9 k^−1.5 (added modes 5–8: 0.35 k^−0.5), velocity modes of half
that, a forcing of modes 1–2 of scale 0.2 k^−1, wave speed from [0.8, 1.2], shifted to [0.5, 0.7] ∪ [1.3, 1.5].
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from physrank.geometry.space import Array
from physrank.lab.inputs.burgers import fourier_series
from physrank.lab.inputs.streams import shifts, stream, union

LENGTH, HORIZON = 2 * np.pi, 1.0
MODES, FORCING_MODES = 8, 2


@dataclass(frozen=True, eq=False)
class SineGordonInput:
    """u₀, v₀ and a constant force as Fourier series, and the wave speed."""

    initial_coefficients: Array
    velocity_coefficients: Array
    forcing_coefficients: Array
    speed: float
    stratum: str

    @classmethod
    def sample(cls, population: str, index: int, stratum: str) -> "SineGordonInput":
        random = stream("sine_gordon", population, index)
        wide, far = shifts(stratum)
        k = np.arange(1, MODES + 1)
        scale = np.where(k <= 4, 0.9 * k**-1.5, 0.35 * k**-0.5 * wide)
        return cls(
            initial_coefficients=scale * random.standard_normal((2, MODES)),
            velocity_coefficients=scale / 2 * random.standard_normal((2, MODES)),
            forcing_coefficients=0.2 / np.arange(1, FORCING_MODES + 1) * random.standard_normal((2, FORCING_MODES)),
            speed=union(random, ((0.5, 0.7), (1.3, 1.5)) if far else ((0.8, 1.2),)),
            stratum=stratum,
        )

    def initial(self, x: ArrayLike) -> Array:
        return fourier_series(self.initial_coefficients, x)

    def velocity(self, x: ArrayLike) -> Array:
        return fourier_series(self.velocity_coefficients, x)

    def forcing(self, t: ArrayLike, x: ArrayLike) -> Array:
        """f(t, x), the same at all times."""
        return np.zeros_like(np.asarray(t, float)) + fourier_series(self.forcing_coefficients, x)
