"""Inputs of the reaction–diffusion study: mode coefficients, from which fields are evaluated on any grid."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from physrank.geometry.space import Array
from physrank.lab.inputs.streams import shifts, stream, union

# Eight diffusion modes cos(pπx) cos(qπy) and nine forcing modes 2 sin(pπx) sin(qπy), orthonormal; training uses the first
# 5 and 6. The paper says "sine-basis forcing" and no more: docs/laboratory.md shows its numbers with and without the factor.
DIFFUSION_MODES = ((1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (2, 1), (1, 2), (2, 2))
FORCING_MODES = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1), (2, 3), (3, 2), (3, 3))


@dataclass(frozen=True, eq=False)
class ReactionDiffusionInput:
    """a = 0.25 + exp(g), g = Σ c_k cos cos;  f = Σ d_k · 2 sin sin."""

    diffusion_coefficients: Array
    forcing_coefficients: Array
    linear: float
    cubic: float
    stratum: str

    @classmethod
    def sample(cls, population: str, index: int, stratum: str) -> "ReactionDiffusionInput":
        """Gaussian coefficients with the scales, and parameters from the intervals, that the stratum states."""
        random = stream("reaction_diffusion", population, index)
        wide, far = shifts(stratum)
        scale_a, scale_f = (0.26, 1.35) if far else (0.16, 0.90) if wide else (0.12, 0.80)
        modes_a, modes_f = (8, 9) if wide else (5, 6)
        diffusion, forcing = np.zeros(8), np.zeros(9)
        diffusion[:modes_a] = scale_a * random.standard_normal(modes_a)
        forcing[:modes_f] = scale_f * random.standard_normal(modes_f)
        linear = union(random, ((0.30, 0.60), (1.80, 2.20)) if far else ((0.80, 1.40),))
        cubic = union(random, ((0.10, 0.25), (1.10, 1.40)) if far else ((0.40, 0.90),))
        return cls(diffusion, forcing, linear, cubic, stratum)

    def diffusion(self, x: ArrayLike, y: ArrayLike) -> Array:
        x, y = np.asarray(x), np.asarray(y)
        waves = (np.cos(p * np.pi * x) * np.cos(q * np.pi * y) for p, q in DIFFUSION_MODES)
        return 0.25 + np.exp(sum(c * wave for c, wave in zip(self.diffusion_coefficients, waves, strict=True)))

    def forcing(self, x: ArrayLike, y: ArrayLike) -> Array:
        x, y = np.asarray(x), np.asarray(y)
        waves = (2 * np.sin(p * np.pi * x) * np.sin(q * np.pi * y) for p, q in FORCING_MODES)
        return np.asarray(sum(c * wave for c, wave in zip(self.forcing_coefficients, waves, strict=True)))
