"""Tasks: what is compared (a map Q of the state) and how (a metric on its outputs)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank.geometry import TaskSpace
from physrank.geometry.metrics import AnyMetric, MeanSquare
from physrank.geometry.space import Array
from physrank.physics import Problem, capabilities


@dataclass(frozen=True)
class Task:
    """A map Q from a state to an output, with the metric in which outputs are compared."""

    name: str
    map: Callable[[JaxArray], JaxArray]
    metric: AnyMetric
    linear: bool
    selects: bool = False  # the map only picks entries of the state: no need to compile or check it
    last: bool = False  # it looks at the last row only: of a coarse trajectory nothing else need be lifted

    def __post_init__(self) -> None:
        if not callable(self.map):
            raise ValueError(f"A task needs a function of the state; got {self.map!r}.")
        if not isinstance(self.metric, AnyMetric):
            raise ValueError(
                f"metric must come from physrank.metrics, such as metrics.periodic_l2(length) or metrics.weights(array); "
                f"got {self.metric!r}."
            )

    def outputs(self, states: Array) -> Array:
        """Q(v_i) for a stack of states."""
        if self.last:
            return states[:, -1]
        if self.selects:
            return states if self.map is _identity else np.stack([np.asarray(self.map(state)) for state in states])  # pyright: ignore[reportArgumentType]
        return compute.run(_evaluate, self.map, states)

    def proxies(self, base: Array, state: Array) -> tuple[Array, Array]:
        """`(q_lin, q_eval)`: Q(w) + DQ(w)(s − w) and Q(s). They agree for a linear task, and that is checked."""
        if self.selects:
            picked = self.outputs(state[None])[0]
            return picked, picked
        linear, evaluated = compute.run(_proxies, self.map, base, state)
        if self.linear and np.all(np.isfinite(evaluated)):
            sizes = [float(np.abs(x).max(initial=0.0)) for x in (linear, evaluated)]
            scale = max(*sizes, 1e-6 * float(np.abs(state).max(initial=0.0)))  # an output may be all round-off
            difference = float(np.abs(linear - evaluated).max(initial=0.0))
            if difference > 1e-8 * scale:
                raise ValueError(
                    f"Task {self.name!r} was declared linear, but Q(w) + DQ(w)δ and Q(w + δ) differ by {difference:.3g} "
                    f"(outputs are of size {scale:.3g}). Use physrank.tasks.nonlinear for it."
                )
        return linear, evaluated

    def space(self, outputs: Array) -> TaskSpace:
        return self.metric.space(outputs.shape[1:])


def _evaluate(function: Callable[[JaxArray], JaxArray], states: JaxArray) -> JaxArray:
    return jax.vmap(function)(states)


def _proxies(function: Callable[[JaxArray], JaxArray], base: JaxArray, state: JaxArray) -> tuple[JaxArray, JaxArray]:
    value, change = jax.jvp(function, (base,), (state - base,))
    return value + change, function(state)


def _identity(state: JaxArray) -> JaxArray:
    return state


def _last(state: JaxArray) -> JaxArray:
    return state[-1]


def field(metric: AnyMetric | None = None) -> Task:
    """The whole state."""
    return Task("field", _identity, MeanSquare() if metric is None else metric, linear=True, selects=True)


def terminal(metric: AnyMetric | None = None) -> Task:
    """The last row of a trajectory."""
    return Task("terminal", _last, MeanSquare() if metric is None else metric, linear=True, selects=True, last=True)


def linear(function: Callable[[Any], Any], metric: AnyMetric | None = None, name: str = "linear") -> Task:
    """Any linear map of the state, written in JAX: a region, a sensor, an average, a spectral band."""
    return Task(name, function, MeanSquare() if metric is None else metric, linear=True)


def nonlinear(function: Callable[[Any], Any], metric: AnyMetric | None = None, name: str = "nonlinear") -> Task:
    """Any smooth map of the state, written in JAX: an energy density, a flux. `q_lin` and `q_eval` are both kept."""
    return Task(name, function, MeanSquare() if metric is None else metric, linear=False)


def resolve(task: Any, problem: Problem) -> Task:
    """A `Task`, or None for the problem's own."""
    if task is None:
        return default(problem)
    if not isinstance(task, Task):
        raise ValueError(
            "task must come from physrank.tasks, such as tasks.terminal() or tasks.linear(lambda state: state[-1]); "
            f"got {task!r}."
        )
    return task


def default(problem: Problem) -> Task:
    """The problem's own task in its own metric."""
    # The function of the class: equinox makes an object of a bound method, which takes longer than the method.
    return _own(capabilities.output(problem), type(problem).metric(problem))


@lru_cache(maxsize=32)
def _own(output: str, metric: AnyMetric) -> Task:
    return (terminal if output == "terminal" else field)(metric)
