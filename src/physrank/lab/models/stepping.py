"""Networks that predict the next frame, and their rollouts. Needs the `lab` extra (`pip install .[lab]`)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

BOUND = 100.0  # times the usual change: a shock that passes a cell is less


class Stepper(nn.Module):
    """Frames `(batch, time, channels, *space)` to the next one: the last frame plus `change`, its usual size, times the
    network's answer.

    The network sees the last `history` frames as channels, the oldest first. With `change=None` its answer is the frame
    itself, as in PDEBench's checkpoints.
    """

    change: Tensor | None

    def __init__(self, network: nn.Module, history: int, change: Sequence[float] | None = None):
        super().__init__()
        self.network = network
        self.history = history
        # Declared, not learnt: no part of the weights.
        self.register_buffer("change", None if change is None else torch.tensor(change), persistent=False)

    def forward(self, frames: Tensor) -> Tensor:
        answer = self.network(frames[:, -self.history :].flatten(1, 2))
        if self.change is None:
            return answer
        bounded = BOUND * torch.tanh(answer / BOUND)  # no rollout leaves the numbers that single precision has
        return frames[:, -1] + self.change.reshape(-1, *[1] * (frames.ndim - 3)) * bounded


def roll(step: nn.Module, frames: Tensor, steps: int) -> Tensor:
    """`(batch, steps, channels, *space)`: predictions from the given frames, each of which takes the place of the oldest."""
    found = []
    for _ in range(steps):
        found.append(step(frames))
        frames = torch.cat([frames[:, 1:], found[-1][:, None]], dim=1)
    return torch.stack(found, dim=1)
