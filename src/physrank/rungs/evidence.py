"""What stands behind a rung: the state that the physics arrived at, and how far it may still move."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from physrank.geometry.space import Array
from physrank.physics import Problem, Response, capabilities
from physrank.tasks import Task


@dataclass(frozen=True, eq=False)
class Seen:
    """The physics as a task sees it: a proxy, and by cause how far it may still move."""

    proxy: Array  # q = Q(s)
    linear: Array  # Q(w) + DQ(w)(s − w); equal to the proxy for linear tasks
    changes: Mapping[str, Array] = field(default_factory=dict)  # output-shaped
    free: Array | None = None  # how far the proxy moves along a direction that the equation does not determine


class Evidence(Protocol):
    """A state on the problem's grid, and what any task sees of it."""

    @property
    def state(self) -> Array: ...

    @property
    def response(self) -> Response | None:
        """How the linear solve on the problem's grid went, where there was one."""
        ...

    @property
    def movements(self) -> Mapping[str, Array]:
        """By cause: how far the state may still move, where that is known whatever the task."""
        ...

    def seen(self, task: Task) -> Seen: ...


@dataclass(frozen=True, eq=False)
class OnGrid:
    """A state found on the problem's own grid."""

    state: Array  # s
    base: Array  # where it was linearised; the state itself for a solve
    response: Response | None = None
    movements: Mapping[str, Array] = field(default_factory=dict)  # by cause: how far s may still move
    free: Array | None = None  # a direction of unit size that the equation does not determine

    def seen(self, task: Task) -> Seen:
        linear, proxy = task.proxies(self.base, self.state)

        def change(movement: Array) -> Array:
            return task.outputs((self.state + movement)[None])[0] - proxy

        free = None
        if self.free is not None and np.any(self.free):
            free = change(self.free * max(float(np.abs(self.state).max(initial=0.0)), 1e-300))
        return Seen(proxy, linear, {cause: change(movement) for cause, movement in self.movements.items()}, free)


@dataclass(frozen=True, eq=False)
class BelowGrid:
    """A state found on a coarser grid, with that of the grid below it: their difference is how far it may still move."""

    problem: Problem
    coarse: Array
    below: Array
    shape: tuple[int, ...]  # of a state on the problem's grid
    response: None = None
    movements: Mapping[str, Array] = field(default_factory=dict)

    @property
    def state(self) -> Array:
        return self._state

    @cached_property
    def _state(self) -> Array:
        """Lifted to the problem's grid, when somebody asks."""
        return np.asarray(capabilities.raised(self.problem, self.coarse, self.shape))

    def seen(self, task: Task) -> Seen:
        proxy, below = task.outputs(np.stack([self.state, capabilities.raised(self.problem, self.below, self.shape)]))
        return Seen(proxy, proxy, {"discretisation": (proxy - below) / (2.0 ** capabilities.order(self.problem) - 1)})
