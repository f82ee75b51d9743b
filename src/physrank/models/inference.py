"""Inference: a model run over a panel of inputs in batches, its outputs checked and turned into float64 states."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import jax
import numpy as np

from physrank._arrays import Array, not_finite, to_numpy
from physrank.models.fitting import check_fit
from physrank.models.running import Run, running
from physrank.physics import Problem

REPEATABLE = 1e-3  # of the largest value: float32 sums in another order differ by far less, dropout by far more
Function = Callable[..., Any]


@dataclass(frozen=True)
class Inference:
    """How models are run: `encode`, `decode` (functions of a batch, or one for each name), `batch`, and what is checked."""

    encode: Function | Mapping[str, Function] | None = None
    decode: Function | Mapping[str, Function] | None = None
    batch: int = 32
    check: bool = True
    invalid: str = "raise"

    def __post_init__(self) -> None:
        if isinstance(self.batch, bool) or not isinstance(self.batch, Integral) or self.batch < 1:
            raise ValueError(f"batch must be a whole number of inputs, at least 1; got {self.batch!r}.")
        if self.invalid not in ("raise", "exclude"):
            raise ValueError(f'invalid must be "raise" or "exclude"; got {self.invalid!r}.')
        for what, given in (("encode", self.encode), ("decode", self.decode)):
            for function in given.values() if isinstance(given, Mapping) else [given]:
                if function is not None and not callable(function):
                    raise ValueError(f"{what} must be a function of a batch; got {function!r:.60}.")

    def states(
        self,
        name: str,
        model: Any,
        inputs: Any,
        positions: Sequence[int],
        problem: Problem | None = None,
        ran: Callable[[int], None] = lambda count: None,
    ) -> Array:
        """The model's states for some of the inputs; `problem` is that of the first, `ran` hears how many were run."""
        found: list[Array] = []
        with _named(name), running(model) as run:
            for k in range(0, len(positions), self.batch):
                some = list(positions[k : k + self.batch])
                states = self._batch(name, run, inputs, some)
                if not found:
                    if problem is not None:
                        check_fit(states[0], problem)
                    if self.check:
                        self._check_repeatable(states[0], self._batch(name, run, inputs, some[:1])[0])
                found.append(states)
                ran(len(some))
        return np.concatenate(found)

    def _batch(self, name: str, run: Run, inputs: Any, positions: list[int]) -> Array:
        given = taken(inputs, positions)
        encode, decode = _for(name, self.encode), _for(name, self.decode)
        features = stacked(given) if encode is None else encode(given)
        try:
            output = run(features)
        except Exception as error:
            raise RuntimeError(
                f"failed on inputs of shape {_shapes(features)}: {type(error).__name__}: {error}. If it wants other "
                "features than these, give encode=, a function of a batch of inputs."
            ) from error
        if decode is not None:
            output = decode(output, given) if _takes_two(decode) else decode(output)
        if isinstance(output, tuple | list | Mapping):
            raise ValueError(
                f"returned {type(output).__name__} of {len(output)}; expected one array. Say which part is the state: "
                "decode=lambda output: output[...]."
            )
        states = to_numpy("its output", output)
        if states.ndim == 0 or len(states) != len(positions):
            raise ValueError(
                f"turned {len(positions)} inputs of shape {_shapes(features)} into an output of shape {states.shape}; "
                f"expected a leading axis of {len(positions)}, one state for each input."
            )
        if self.invalid == "raise" and (bad := not_finite(states)):
            first = positions[int(np.argwhere(~np.isfinite(states))[0][0])]
            raise ValueError(
                f"yields {bad} of its batch (input {first}); expected finite numbers. Its weights or the scale of its "
                'input may be broken; invalid="exclude" goes on without it.'
            )
        return states

    def _check_repeatable(self, together: Array, alone: Array) -> None:
        size = float(np.max(np.abs(together), initial=0.0, where=np.isfinite(together)))
        if together.shape != alone.shape or not np.array_equal(np.isfinite(together), np.isfinite(alone)):
            change = np.inf
        else:
            change = float(np.max(np.abs(together - alone), initial=0.0, where=np.isfinite(together)))
        if change > REPEATABLE * size:
            raise ValueError(
                f"changes its answer: the first input gives values that differ by {change:.2g} (of at most {size:.2g}) when "
                "it is asked again on its own. Something random or batch-dependent is left on, such as a functional dropout "
                "without training=self.training; check=False runs it all the same."
            )


class _named:
    """Errors inside name the model."""

    def __init__(self, name: str):
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, ValueError | RuntimeError):
            as_kind = ValueError if isinstance(error, ValueError) else RuntimeError
            raise as_kind(f"Model {self.name!r}: {error}") from error


def _for(name: str, given: Any) -> Function | None:
    return given.get(name) if isinstance(given, Mapping) else given


def _takes_two(function: Function) -> bool:
    """Whether a decoder wants the inputs too: two arguments that must be given by place."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in by_place and p.default is p.empty for p in parameters) == 2


def counted(inputs: Any) -> int:
    """How many inputs there are; they are read more than once, so a generator will not do."""
    if not hasattr(inputs, "__len__") or not hasattr(inputs, "__getitem__") or isinstance(inputs, Mapping | str):
        raise ValueError(
            f"inputs must be an array with a leading axis of inputs, or a list; got {type(inputs).__name__}. "
            "Make a list of what cannot be indexed: list(inputs)."
        )
    if len(inputs) == 0:
        raise ValueError("There are no inputs: expected at least one.")
    return len(inputs)


def taken(inputs: Any, positions: list[int]) -> Any:
    """Some of the inputs, as a list of a list or as an array of an array."""
    if not hasattr(inputs, "shape"):
        return [inputs[k] for k in positions]
    if positions == list(range(positions[0], positions[0] + len(positions))):
        return inputs[positions[0] : positions[-1] + 1]
    if hasattr(inputs, "detach") or isinstance(inputs, np.ndarray | jax.Array):
        return inputs[np.asarray(positions)]
    return np.stack([np.asarray(inputs[k]) for k in positions])  # lazily read arrays are indexed in their own ways


def stacked(given: Any) -> Any:
    """A batch of features, where nothing else was said about them."""
    if not isinstance(given, list):
        return given
    try:
        return np.stack([to_numpy("an input", one) for one in given])
    except ValueError as error:
        raise ValueError(
            f"was given inputs that are no batch of arrays ({error}). Say how they become features: encode=, a function of "
            "a list of inputs."
        ) from None


def _shapes(features: Any) -> str:
    if isinstance(features, tuple | dict):
        values = features.values() if isinstance(features, dict) else features
        return " and ".join(_shapes(value) for value in values)
    return str(tuple(getattr(features, "shape", ())))
