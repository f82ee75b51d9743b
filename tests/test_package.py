"""What importing the package does, and does not."""

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import physrank as pr

REFERENCE = (Path(__file__).parent.parent / "docs/api.md").read_text(encoding="utf-8")
ROOMS = [name for name in pr.__all__ if inspect.ismodule(getattr(pr, name))]


HEAVY = ("jax", "numpy", "equinox", "scipy", "xarray", "h5py", "matplotlib")
SLOW = ("matplotlib", "pandas", "xarray", "mpmath", "torch", "scipy.interpolate", "scipy.special", "h5py", "zarr")
IN_ITS_OWN_PROCESS = f"""
import sys, physrank
assert not (found := sys.modules.keys() & set({HEAVY})), found
names = set(dir(physrank))
assert {{"rank", "equations", "__version__"}} <= names
assert not hasattr(physrank, "nonsense") and not hasattr(physrank, "lab")

physrank.rank
assert not (found := sys.modules.keys() & set({SLOW})), found
from physrank import anchors, metrics, scorers, tasks
import physrank.tasks
scorers.DirectSolve

import jax, jax.numpy as jnp, numpy as np, physrank as pr
assert not jax.config.jax_enable_x64
ranking = pr.rank(pr.Stationary(lambda u: u - 1), np.zeros((2, 3)))
assert ranking.scores.dtype == np.float64 and jnp.ones(1).dtype == jnp.float32 and not jax.config.jax_enable_x64
assert "torch" not in sys.modules
assert set(physrank.__all__) <= names and all(hasattr(physrank, name) for name in physrank.__all__)
"""


def test_nothing_loads_before_it_is_used_and_no_global_state_is_touched():
    """By its import; slow packages, by its first use either."""
    subprocess.run([sys.executable, "-c", IN_ITS_OWN_PROCESS], check=True)


def test_type_checkers_are_told_that_there_are_types():
    assert (Path(pr.__file__).parent / "py.typed").exists()


def test_the_reference_lists_every_public_name():
    found = re.search(r"members: \[(.*)\]", REFERENCE)
    assert found is not None
    members, own = found[1].split(", "), set(pr.__all__) - set(ROOMS) - {"__version__"}
    directives = re.findall(r"^::: (\S+)", REFERENCE, re.MULTILINE)
    named = {path.rsplit(".", 1)[1]: path for path in directives if "." in path}
    assert list(named)[:2] == ["rank", "certify"]
    for name in own - set(members) - {"Grid"}:
        module, _, what = named[name].rpartition(".")
        assert getattr(importlib.import_module(module), what) is getattr(pr, name)
    # The site's reader of source takes a name that a module of the package has, too, for that module, and leaves it out.
    modules = {path.stem for path in Path(pr.__file__).parent.rglob("*.py")}
    assert not {name for name in members if name in modules - {"select"}}
    assert set(members) <= own and len(set(members)) == len(members) and "physrank.geometry.grid" in directives
    for room in set(ROOMS) - {"equations"}:
        assert getattr(pr, room).__name__ in directives, room
    for name in pr.equations.__all__:
        assert f"physrank.equations.{name}" in directives, name


@pytest.mark.parametrize("name", sorted(set(pr.__all__) - set(ROOMS) - {"__version__"}))
def test_public_names_say_what_they_are(name):
    thing = getattr(pr, name)
    assert thing.__doc__ and not thing.__doc__.startswith(f"{name}(")  # not what dataclasses write by themselves
    if inspect.isfunction(thing) or name in ("Stationary", "Marching", "Linear", "Assembled"):
        (example,) = re.findall(r"```python\n(.*?)```", inspect.cleandoc(thing.__doc__), re.DOTALL)
        compile(example, name, "exec")
        assert re.search(rf"pr\.{name}\(", example), example


@pytest.mark.parametrize("room", ROOMS)
def test_names_of_rooms_say_what_they_are(room):
    module = getattr(pr, room)
    assert module.__doc__
    for name in getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")]):
        thing = getattr(module, name)
        if getattr(thing, "__module__", "").startswith(module.__name__) and (
            inspect.isfunction(thing) or inspect.isclass(thing)
        ):
            assert vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__, f"{room}.{name}"
