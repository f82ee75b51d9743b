"""`predict`: every model run once over a panel of inputs, one model in memory at a time."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from physrank._arrays import Array
from physrank._optional import load
from physrank.models.inference import Function, Inference, counted
from physrank.models.running import is_module
from physrank.physics import Problem

Progress = bool | Callable[[str, int, int], None]  # told: the model, runs done, runs in all


def predict(
    models: Any,
    inputs: Any,
    *,
    problems: Any = None,
    encode: Function | Mapping[str, Function] | None = None,
    decode: Function | Mapping[str, Function] | None = None,
    batch: int = 32,
    progress: Progress = False,
    check: bool = True,
    invalid: str = "raise",
) -> dict[str, Array]:
    """Predictions of every model for every input: name → float64 array with a leading axis of inputs.

    Main arguments: `models`, a mapping name → model, such as `physrank.models.checkpoints(...)`: torch modules (run
    without gradients, in evaluation mode, in the precision and on the device of their weights), equinox modules (mapped
    over the batch), functions of a batch, paths of ONNX files. `inputs`, an array with a leading axis of inputs, or a
    list. `encode(inputs)`, what the models are given for a batch of inputs (a tuple or mapping for several arguments);
    `decode(outputs)` or `decode(outputs, inputs)`, what states the outputs mean: undo a normaliser, drop a channel axis.
    Both may be mappings name → function.

    Other arguments: `problems`, a problem, one for each input or a function of an input: the shape of the first prediction
    is held against it; `batch`; `progress`, True for a bar or a function(model, done, of); `check` that the first input
    gives the same alone; `invalid="exclude"` lets NaN pass, for `rank(..., invalid="exclude")`.

    ```python
    predictions = pr.models.predict({"fno": fno, "unet": unet}, u0, decode=lambda y: y[:, 0])
    ```
    """
    how, number = Inference(encode, decode, batch, check, invalid), counted(inputs)
    library, problem = named_models(models), None if problems is None else problem_of(problems, inputs, 0)
    found = {}
    with reporting(progress, number * len(library)) as report:
        for name in library:
            found[name] = how.states(
                name, library[name], inputs, range(number), problem, lambda n, m=name: report(m, n)
            )
    return found


def named_models(models: Any) -> Mapping[str, Any]:
    if isinstance(models, Mapping) and len(models):
        for name in models:
            if not isinstance(name, str):
                raise ValueError(f"Models are named by strings; got {name!r}.")
        return models
    if is_module(models) or callable(models):
        raise ValueError("models must be a mapping name → model; got a single model. Name it: {'model': model}.")
    raise ValueError(f"models must be a mapping name → model with at least one entry; got {models!r:.60}.")


def problem_of(problems: Any, inputs: Any, position: int) -> Problem:
    """The governing equation of one input: the only one there is, one of a sequence, or a function's."""
    if isinstance(problems, Problem):
        return problems
    if callable(problems):
        problem = problems(inputs[position])
    elif hasattr(problems, "__getitem__") and hasattr(problems, "__len__"):
        if len(problems) != len(inputs):
            raise ValueError(f"There are {len(problems)} problems for {len(inputs)} inputs; expected one for each.")
        problem = problems[position]
    else:
        problem = problems
    if not isinstance(problem, Problem):
        raise ValueError(
            f"problems gives {problem!r:.60} for input {position}; expected an equation, a Stationary or a Marching problem. "
            "problems is one problem for each input, or a function of an input."
        )
    return problem


@contextmanager
def reporting(progress: Progress, total: int) -> Iterator[Callable[[str, int], None]]:
    """What hears of every batch that was run: nobody, the user's function, or a bar."""
    done = 0
    if callable(progress):

        def tell(model: str, count: int) -> None:
            nonlocal done
            done += count
            progress(model, done, total)

        yield tell
    elif progress:
        with load("rich.progress").Progress(transient=True) as bar:
            task = bar.add_task("models", total=total)
            yield lambda model, count: bar.update(task, advance=count, description=model)
    else:
        yield lambda model, count: None
