"""Windows: what is graded, what is silent, and what a network that knows nothing scores."""

import pytest
import torch

from physrank.lab.equations.rollout import Network
from physrank.lab.models.stepping import Stepper
from physrank.lab.training.lessons import Windows

TIMES = torch.arange(12.0)
FRAMES = (
    TIMES.reshape(1, -1, 1, 1) * torch.tensor([1.0, 2.0]).reshape(2, 1, 1, 1) * torch.ones(2, 12, 1, 4)
)  # straight lines


class Line(torch.nn.Module):
    """Extrapolates two frames with a slope that can be learnt; it counts how often it was asked."""

    def __init__(self, slope=1.0):
        super().__init__()
        self.slope = torch.nn.Parameter(torch.tensor(slope))
        self.asked = 0

    def forward(self, x):
        self.asked += 1
        return x[:, 1:] + self.slope * (x[:, 1:] - x[:, :1])


def windows(graded, silent):
    network = Network("line", "unet", history=2, graded=graded, silent=silent)
    return Windows(FRAMES, FRAMES, network, count=4, observed=3)


@pytest.mark.parametrize("graded, silent", [(1, 0), (4, 0), (2, 5)])
def test_a_perfect_network_has_no_loss_and_an_idle_one_has_one(graded, silent):
    lessons, random = windows(graded, silent), torch.Generator().manual_seed(1)
    line = Line()
    assert lessons.loss(Stepper(line, 2), torch.arange(4), random) < 1e-6
    assert line.asked == graded + silent
    assert lessons.validation(Stepper(line, 2)) < 1e-6
    if not silent:  # else the given frame is itself a prediction
        torch.testing.assert_close(lessons.loss(Stepper(Line(0.0), 2), torch.arange(4), random), torch.tensor(1.0))


def test_gradients_go_through_graded_steps_only():
    """e₁ = (1 − s) d after one step; after a silent one the error is the same number, its gradient that of the last step."""
    found = {}
    for graded, silent in ((1, 0), (2, 0), (1, 1)):
        line = Line(0.5)
        windows(graded, silent).loss(Stepper(line, 2), torch.arange(2), torch.Generator().manual_seed(0)).backward()
        found[graded, silent] = float(line.slope.grad)
    d = 0.5  # after a silent step the last difference is s d: the graded step's error is (1 + …) − …, linear in s
    assert found[1, 0] == pytest.approx(-1.0, rel=1e-4)
    assert found[1, 1] == pytest.approx(-d / 1.5, rel=1e-4)  # −s d ÷ (2 − s) d
    assert found[2, 0] != pytest.approx(found[1, 1], rel=1e-2)
