"""Hard constraints of networks, as data: what holds exactly, and by how much stored predictions violate it.

`lab/models/constraints.py` turns them into modules around a network.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class InitialRow:
    """The first row is the initial state, which the named input channels hold, one for every output channel."""

    channels: tuple[int, ...] = (0,)

    def violation(self, emitted: np.ndarray, features: np.ndarray) -> float:
        """The largest departure; `emitted` is `(inputs, candidates, channel, time, …)`, as networks give it."""
        initial = features[:, list(self.channels), 0]
        return float(np.abs(emitted[:, :, :, 0] - initial[:, None]).max())


@dataclass(frozen=True)
class ZeroEdges:
    """Zero on the boundary of a square; solutions are of `size`, so that networks predict numbers of order one."""

    size: float = 1.0

    def violation(self, emitted: np.ndarray, features: np.ndarray) -> float:
        """The largest value on an edge; `emitted` is `(…, x, y)`."""
        del features
        edges = (emitted[..., 0], emitted[..., -1], emitted[..., 0, :], emitted[..., -1, :])
        return float(max(np.abs(edge).max() for edge in edges))
