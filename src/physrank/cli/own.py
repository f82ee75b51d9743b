"""An equation of one's own: a function in a Python file that is named on the line."""

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import physrank as pr
from physrank.cli.naming import unknown


def function(named: str) -> Callable[..., Any]:
    """The function of FILE.py:FUNCTION. The file is run."""
    file, sign, name = named.rpartition(":")
    path = Path(file)
    if not (sign and name.isidentifier() and path.suffix == ".py"):
        raise ValueError(f"--python {named}: expected FILE.py:FUNCTION, such as my_pde.py:problem_of.")
    if not path.is_file():
        raise ValueError(f"--python {named}: there is no file {path}.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None  # it ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # as `python FILE.py` would have it
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        raise ValueError(_blamed(path, problem)) from None
    found = getattr(module, name, None)
    if not callable(found):
        raise unknown(
            f"{path} has no function of that name:", name, [n for n, v in vars(module).items() if callable(v)]
        )
    return found


def problem_of(build: Callable[..., Any], numbers: Mapping[str, Any], known: Mapping[str, Callable[[], Any]]) -> Any:
    """`build` called with what its parameters name: what files tell (`known`, computed when asked for), and numbers."""
    parameters = inspect.signature(build).parameters
    anything = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    for name in numbers:
        if name not in parameters and not anything:
            raise unknown(f"{build.__name__}: the number", name, [p for p in parameters if p not in known])
    given = dict(numbers) | {name: tell() for name, tell in known.items() if name in parameters and name not in numbers}
    missing = [n for n, p in parameters.items() if p.default is p.empty and p.kind not in (2, 4) and n not in given]
    if missing:
        raise ValueError(
            f"{build.__name__} wants {', '.join(missing)}: give numbers with --set {missing[0]}=…; files tell "
            f"{', '.join(known)}."
        )
    try:
        problem = build(**given)
    except Exception as wrong:
        raise ValueError(_blamed(Path(inspect.getsourcefile(build) or "?"), wrong)) from None
    if not isinstance(problem, pr.Problem):
        raise ValueError(
            f"{build.__name__} returned {problem!r:.60}; expected a problem, such as physrank.Marching(…)."
        )
    return problem


def _blamed(path: Path, problem: Exception) -> str:
    """The line of the user's own file, not of ours."""
    frames = [f for f in traceback.extract_tb(problem.__traceback__) if Path(f.filename).name == path.name]
    line = getattr(problem, "lineno", None) or (frames[-1].lineno if frames else None)
    return f"{path}{'' if line is None else f', line {line}'}: {type(problem).__name__}: {problem}"
