"""A small nonlinear march, its solutions, and networks that learn it, for the tests of models."""

import numpy as np
import torch

import physrank as pr

POINTS, ROWS = 16, 4
SHIFT = np.roll(np.eye(POINTS), 1, axis=0)
DIFFUSION = np.eye(POINTS) + 0.2 * (SHIFT + SHIFT.T - 2 * np.eye(POINTS))


def step(state, diffusion):
    return diffusion @ state - 0.1 * state**3


def problem_of(start):
    return pr.Marching(step, start, DIFFUSION)


def starts(count, seed=0):
    """Initial states: random sums of two waves."""
    x = 2 * np.pi * np.arange(POINTS) / POINTS
    waves = np.stack([np.sin(x), np.cos(x), np.sin(2 * x), np.cos(2 * x)])
    return np.random.default_rng(seed).standard_normal((count, 4)) @ waves * 0.5


def solved(inputs):
    """The trajectories of many initial states: `(inputs, ROWS, POINTS)`."""
    rows = [np.asarray(inputs, np.float64)]
    for _ in range(ROWS - 1):
        rows.append(rows[-1] @ DIFFUSION.T - 0.1 * rows[-1] ** 3)
    return np.stack(rows, axis=1)


def true_errors(predictions, inputs):
    """Root of the mean squared error over a panel, of each model."""
    return {name: float(np.mean((states - solved(inputs)) ** 2) ** 0.5) for name, states in predictions.items()}


class Network(torch.nn.Module):
    """Initial state → trajectory; the first row is exact."""

    def __init__(self, width=32, dropout=0.0):
        super().__init__()
        self.first = torch.nn.Linear(POINTS, width)
        self.dropout = torch.nn.Dropout(dropout)
        self.last = torch.nn.Linear(width, (ROWS - 1) * POINTS)

    def forward(self, start):
        change = self.last(self.dropout(torch.tanh(self.first(start)))).reshape(-1, ROWS - 1, POINTS)
        return torch.cat([start[:, None], start[:, None] + change], dim=1)


def network(seed=0, **sizes):
    torch.manual_seed(seed)
    return Network(**sizes)


def graded(count=4):
    """Networks of which each is worse than the one before: a trained one, and more and more noise on its weights."""
    trained = network()
    train(trained, 60)
    library = {}
    for k in range(count):
        worse = network(k)
        worse.load_state_dict(trained.state_dict())
        with torch.no_grad():
            for parameter in worse.parameters():
                parameter.add_(0.04 * k * torch.randn_like(parameter))
        library[f"m{k}"] = worse
    return library


def train(model, epochs, rate=0.02, after_epoch=lambda model, epoch: None, first=0, optimizer=None):
    """Adam on 32 samples, one batch for each epoch."""
    inputs, targets = (torch.tensor(part, dtype=torch.float32) for part in (starts(32, 1), solved(starts(32, 1))))
    optimizer = optimizer or torch.optim.Adam(model.parameters(), rate)
    for epoch in range(first, epochs):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        after_epoch(model, epoch)
    return optimizer
