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
    free: Mapping[str, Array] = field(default_factory=dict)  # the same along directions in which nothing is known
    loose: float = 0.0  # by how much what follows the next correction is smaller than it: nobody knows where that goes
    unseen: Array | None = None  # what the problem's grid has against a coarser one's proxy, as far as that carries it
    beyond: float = 0.0  # and the size of the rest, in the question's units: nobody knows where it goes

    @property
    def further(self) -> Array:
        """The proxy after a further correction: what grids are compared by, so that no other cause is counted twice."""
        return self.proxy + self.changes.get("linearisation", 0.0)


@dataclass(frozen=True, eq=False)
class Coarse:
    """The same state as a coarser grid has it: their difference tells how far the problem's own grid may be off."""

    problem: Problem
    state: Array  # on its own grid
    level: int  # halvings below the problem's grid, at the least

    def change(self, task: Task, output: Array, shape: tuple[int, ...]) -> Array:
        """How far an output on the problem's grid may be off."""
        lifted = np.asarray(capabilities.raised(self.problem, self.state, shape))
        return self.left(output - task.outputs(lifted[None])[0])

    def left(self, difference: Array) -> Array:
        return capabilities.left(self.problem, self.level, difference)


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

    @property
    def coarse(self) -> Coarse | None:
        """What a coarser grid has to say, where one was asked."""
        ...

    def seen(self, task: Task) -> Seen: ...


@dataclass(frozen=True, eq=False)
class OnGrid:
    """A state found on the problem's own grid."""

    state: Array  # s
    base: Array  # where it was linearised; the state itself for a solve
    response: Response | None = None
    movements: Mapping[str, Array] = field(default_factory=dict)  # by cause: how far s may still move
    free: Mapping[str, Array] = field(default_factory=dict)  # by cause: directions in which nothing is known of it
    loose: float = 0.0  # how much smaller corrections become, once and again
    coarse: Coarse | None = None

    def seen(self, task: Task) -> Seen:
        linear, proxy = task.proxies(self.base, self.state)

        def change(movement: Array) -> Array:
            if task.selects:
                return task.outputs(movement[None])[0]
            return task.outputs((self.state + movement)[None])[0] - proxy

        size = max(float(np.abs(self.state).max(initial=0.0)), 1e-300) if self.free else 1.0
        free = {cause: change(size * direction) for cause, direction in self.free.items() if np.any(direction)}
        changes = {cause: change(movement) for cause, movement in self.movements.items()}
        found = Seen(proxy, linear, changes, free, self.loose)
        if self.coarse is not None and "discretisation" not in changes:
            changes["discretisation"] = self.coarse.change(task, found.further, self.state.shape)
        return found


@dataclass(frozen=True, eq=False)
class BelowGrid:
    """A state found on a coarser grid, with that of the grid below it: their difference is how far it may still move."""

    problem: Problem
    own: Array  # on its own grid
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
        return np.asarray(capabilities.raised(self.problem, self.own, self.shape))

    @property
    def coarse(self) -> Coarse:
        """What it is itself to a state on the problem's grid."""
        return Coarse(self.problem, self.own, 1)

    def seen(self, task: Task) -> Seen:
        proxy = task.outputs(self.state[None])[0]
        change = Coarse(self.problem, self.below, 1).change(task, proxy, self.shape)
        return Seen(proxy, proxy, {"discretisation": change})
