"""Steps and rollouts of networks whose answers are known."""

import torch

from physrank.lab.models.stepping import BOUND, Stepper, roll


class Oldest(torch.nn.Module):
    """Of `(batch, history · 2, n)`, the first frame."""

    def forward(self, x):
        return x[:, :2]


def test_a_rollout_drops_the_oldest_frame_at_every_step():
    frames = torch.arange(5.0).reshape(1, 5, 1, 1) * torch.ones(2, 5, 2, 4)
    step = Stepper(Oldest(), history=3)
    found = roll(step, frames, 4)
    assert found.shape == (2, 4, 2, 4)
    assert found[0, :, 0, 0].tolist() == [2.0, 3.0, 4.0, 2.0]  # three frames round and round


def test_a_step_is_the_last_frame_and_its_usual_change():
    frames = torch.tensor([[[[1.0], [10.0]], [[2.0], [20.0]]]])
    found = Stepper(Oldest(), history=2, change=(0.1, 1.0))(frames)
    torch.testing.assert_close(
        found, frames[:, -1] + torch.tensor([[[0.1], [1.0]]]) * BOUND * torch.tanh(frames[:, 0] / BOUND)
    )
    far = Stepper(Oldest(), history=1, change=(1.0, 1.0))(torch.full((1, 1, 2, 1), 1e30))
    assert torch.isfinite(roll(Stepper(Oldest(), 1, (1.0, 1.0)), torch.full((1, 1, 2, 1), 1e30), 9)).all()
    assert torch.all(far - 1e30 <= BOUND)
