"""What a run learns from: whole fields, or windows of trajectories through which the network is rolled.

Needs the `lab` extra (`pip install .[lab]`).
"""

import hashlib
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from physrank.lab.equations.rollout import Network
from physrank.lab.models.stepping import roll

PLACES = 8  # along a trajectory, where networks are validated


class Lessons(Protocol):
    """Data with a loss."""

    @property
    def count(self) -> int:
        """Of one epoch."""
        ...

    @property
    def sha256(self) -> str:
        """Of the data that are learnt."""
        ...

    def loss(self, model: torch.nn.Module, batch: Tensor, random: torch.Generator) -> Tensor:
        """Mean relative L² of the lessons with these numbers."""
        ...

    def validation(self, model: torch.nn.Module) -> float:
        """Mean relative L² on data of the training distribution that no run has seen."""
        ...


def relative_l2(prediction: Tensor, target: Tensor) -> Tensor:
    """‖error‖ / ‖target‖ of each sample."""
    return (prediction - target).flatten(1).norm(dim=1) / target.flatten(1).norm(dim=1)


def predict(model: torch.nn.Module, inputs: Tensor, batch: int = 64) -> np.ndarray:
    model.eval()
    with torch.no_grad():
        found = torch.cat([model(part) for part in inputs.split(batch)])
    model.train()
    return found.numpy()


@dataclass(frozen=True)
class Fields:
    """Features and labels, `(inputs, channels, *grid)` each, to learn and to validate."""

    inputs: Tensor
    targets: Tensor
    unseen: tuple[Tensor, Tensor]

    @property
    def count(self) -> int:
        return len(self.inputs)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.inputs.numpy().tobytes() + self.targets.numpy().tobytes()).hexdigest()

    def loss(self, model: torch.nn.Module, batch: Tensor, random: torch.Generator) -> Tensor:
        del random
        return relative_l2(model(self.inputs[batch]), self.targets[batch]).mean()

    def validation(self, model: torch.nn.Module) -> float:
        inputs, targets = self.unseen
        return float(relative_l2(torch.from_numpy(predict(model, inputs)), targets).mean())


@dataclass(frozen=True)
class Windows:
    """Trajectories `(inputs, time, channels, *space)`, cut at random places and rolled through as the network declares."""

    frames: Tensor
    unseen: Tensor
    network: Network
    count: int
    observed: int

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.frames.numpy().tobytes()).hexdigest()

    def loss(self, model: torch.nn.Module, batch: Tensor, random: torch.Generator) -> Tensor:
        seen, silent, graded = self.network.history, self.network.silent, self.network.graded
        places = self.frames.shape[1] - (seen + silent + graded) + 1
        first = torch.randint(places, (len(batch),), generator=random)
        rows = first[:, None] + torch.arange(seen + silent + graded)
        window = self.frames[(batch % len(self.frames))[:, None], rows]
        given = window[:, :seen]
        if silent:
            with torch.no_grad():
                given = torch.cat([given, roll(model, given, silent)], dim=1)[:, -seen:]
        return _relative(roll(model, given, graded), window[:, seen + silent :], given[:, -1:]).mean()

    def validation(self, model: torch.nn.Module) -> float:
        """Of single steps, wherever they begin: how rollouts fare is what studies ask."""
        ends = torch.linspace(self.observed, self.unseen.shape[1] - 1, PLACES).long()
        steps = [
            (rolled(model, self.unseen[:, end - self.observed : end], 1)[:, 0], self.unseen[:, end]) for end in ends
        ]
        return float(torch.stack([relative_l2(*step) for step in steps]).mean())


def _relative(prediction: Tensor, target: Tensor, before: Tensor) -> Tensor:
    """Error over change since the last frame that was given: a network that repeats it scores one."""
    return (prediction - target).flatten(1).norm(dim=1) / ((target - before).flatten(1).norm(dim=1) + 1e-6)


def rolled(model: torch.nn.Module, observed: Tensor, steps: int, batch: int = 8) -> Tensor:
    """Rollouts of a trained network."""
    model.eval()
    with torch.no_grad():
        found = torch.cat([roll(model, part, steps) for part in observed.split(batch)])
    model.train()
    return found
