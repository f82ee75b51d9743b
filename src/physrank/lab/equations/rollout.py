"""`Rollout`: an equation whose networks predict the next frame and are rolled out. Declared once; nothing needs PyTorch."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from physrank.physics import Problem

Frames = NDArray[Any]


@dataclass(frozen=True)
class Network:
    """One candidate: its architecture, the frames it sees, and how it learns.

    A lesson is a window: the network is rolled `silent` steps without gradients and `graded` ones with them. One graded
    step is one-step training, several are autoregressive, silent ones before make it push-forward.
    """

    name: str
    architecture: str  # "unet" or "fno"
    history: int
    graded: int = 1
    silent: int = 0

    @property
    def effort(self) -> int:
        """Of one window, in steps with gradients; those without cost a third."""
        return self.graded + self.silent // 3


@dataclass(frozen=True)
class Budget:
    """How large everything is in one profile."""

    cells: int
    training: int  # trajectories
    validation: int
    evaluation: int
    windows: int  # graded steps per epoch, whatever a network's windows are made of
    epochs: int
    batch: int
    features: int  # of a U-Net's first level
    width: int = 0  # of an FNO
    modes: int = 0

    def lessons(self, network: Network) -> int:
        """Windows per epoch, so that every network costs about the same."""
        return max(self.windows // network.effort, self.batch)


def same(values: Frames) -> Frames:
    return values


@dataclass(frozen=True, eq=False)
class Rollout:
    """One equation with rolled-out networks in the laboratory.

    Its names: `name` in files and commands, `title` in sentences, `label` where space is short.

    Its data: `start(population, index, cells)` gives a first frame, `solve` a trajectory `(times, channels, *space)`,
    as data sets hold them. Of these, `observed` frames are given to every network; the comparison begins at the last of them.

    Its networks: they see and predict `encoded` frames, which change by about `change` (per channel) from one to the next.

    Its truth: `problem(first, times)` from the last observed frame, in the variables of `states`.
    """

    name: str
    title: str
    label: str
    times: NDArray[np.float64]
    observed: int
    channels: int
    dimensions: int
    periodic: bool
    start: Callable[[str, int, int], Frames]
    solve: Callable[[Frames, NDArray[np.float64]], Frames]
    networks: tuple[Network, ...]
    change: tuple[float, ...]
    budgets: Mapping[str, Budget]
    problem: Callable[[Frames, NDArray[np.float64]], Problem]
    encoded: Callable[[Frames], Frames] = same
    decoded: Callable[[Frames], Frames] = same
    states: Callable[[Frames], Frames] = same
    learning_rate: float = 1e-3

    def __post_init__(self) -> None:
        longest = max(network.history + network.silent + network.graded for network in self.networks)
        if max(network.history for network in self.networks) > self.observed or longest > len(self.times):
            raise ValueError(
                f"{self.name}: networks see up to {self.observed} observed frames and learn windows of up to "
                f"{len(self.times)}; got {[(n.name, n.history, n.silent, n.graded) for n in self.networks]}."
            )
        if len(self.change) != self.channels:
            raise ValueError(f"{self.name}: change must have {self.channels} numbers; got {self.change}.")

    @property
    def axes(self) -> tuple[str, ...]:
        return ("time", "channel", *("x", "y")[: self.dimensions])

    @property
    def compared(self) -> NDArray[np.float64]:
        """Times of the rows that are compared, the last observed frame first."""
        return self.times[self.observed - 1 :]

    def budget(self, profile: str) -> Budget:
        if profile not in self.budgets:
            raise ValueError(f"{self.name} has no networks for {profile!r}; expected one of {', '.join(self.budgets)}.")
        return self.budgets[profile]

    def state_shape(self, profile: str) -> tuple[int, ...]:
        """The shape of a stored rollout."""
        return (len(self.compared), self.channels, *(self.budget(profile).cells,) * self.dimensions)

    def trajectory(self, population: str, index: int, cells: int) -> NDArray[np.float32]:
        """What a data set would hold of one input."""
        return np.asarray(self.solve(self.start(population, index, cells), self.times), np.float32)

    def posed(self, trajectory: Frames) -> Any:
        """The problem behind a trajectory: it knows the last observed frame and nothing after it."""
        first = self.states(np.asarray(trajectory[self.observed - 1], np.float64))
        return self.problem(first, self.compared)

    @cached_property
    def input_fingerprint(self) -> str:
        """A hash of a few first frames: what was stored under another law must not pass for this one."""
        probes = np.stack([self.start("evaluation", k, 16) for k in range(3)]).astype(np.float32)
        return hashlib.sha256(probes.tobytes()).hexdigest()[:12]
