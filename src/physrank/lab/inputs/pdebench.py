"""Inputs in the manner of PDEBench: random cells, shock tubes, and random flow at low Mach number."""

from dataclasses import dataclass

import numpy as np

from physrank.geometry.space import Array
from physrank.lab.inputs.streams import stream


def diffusion_reaction_cells(population: str, index: int, cells: int = 128) -> Array:
    """Two fields of independent standard normal cells, `(2, cells, cells)`."""
    return stream("diffusion_reaction", population, index).standard_normal((2, cells, cells))


@dataclass(frozen=True)
class ShockTube:
    """Two constant states and the place of the diaphragm; primitive variables (density, velocity, pressure)."""

    left: tuple[float, float, float]
    right: tuple[float, float, float]
    diaphragm: float

    @classmethod
    def sample(cls, population: str, index: int) -> "ShockTube":
        """Densities and pressures log-uniform on [0.1, 10], velocities uniform on [−1, 1], diaphragm on [0.3, 0.7]."""
        random = stream("flow_1d", population, index)

        def side() -> tuple[float, float, float]:
            density, pressure = np.exp(random.uniform(np.log(0.1), np.log(10.0), 2))
            return float(density), float(random.uniform(-1, 1)), float(pressure)

        return cls(side(), side(), float(random.uniform(0.3, 0.7)))

    def primitive(self, cells: int, length: float = 1.0) -> Array:
        """Cell values, `(3, cells)`."""
        x = (np.arange(cells) + 0.5) * length / cells
        return np.where(x < self.diaphragm * length, np.array(self.left)[:, None], np.array(self.right)[:, None])


def random_flow_2d(population: str, index: int, cells: int = 64, mach: float = 0.1, gamma: float = 5 / 3) -> Array:
    """Periodic random fields `(4, cells, cells)`: velocities of modes 1–4 scaled to the Mach number, density and pressure
    varying by 5 % (rms) around one. Scaled by their coefficients: one seed is one field, whatever the grid."""
    random = stream("flow_2d", population, index)
    x = 2 * np.pi * (np.arange(cells) + 0.5) / cells
    k = np.arange(1, 5)

    def field() -> Array:
        """Unit variance over the square: Σ A sin sin has mean square Σ A² / 4."""
        amplitude, phase = random.standard_normal((4, 4)), random.uniform(0, 2 * np.pi, (2, 4, 4))
        amplitude /= np.hypot(k[:, None], k[None, :])
        amplitude *= 2 / np.linalg.norm(amplitude)
        along_x = np.sin(k[:, None, None] * x + phase[0][..., None])
        along_y = np.sin(k[None, :, None] * x + phase[1][..., None])
        return np.einsum("pq,pqx,pqy->xy", amplitude, along_x, along_y)

    velocity = mach * np.sqrt(gamma / 2) * np.stack([field(), field()])
    return np.concatenate([1 + 0.05 * field()[None], velocity, 1 + 0.05 * field()[None]])
