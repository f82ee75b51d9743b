"""physrank: which prediction to trust, from the governing equation alone.

```python
import physrank as pr

problem = pr.equations.Burgers(initial=u0, viscosity=0.01, times=t)
ranking = pr.rank(problem, {"fno": v1, "cno": v2, "unet": v3})
print(ranking.best, ranking.error_estimates)
```
"""

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from physrank._renamed import moved
from physrank._version import __version__ as __version__

if TYPE_CHECKING:
    from physrank._public import *  # noqa: F403

_moved = moved("physrank", {"plots": "physrank.report"})


def __getattr__(name: str) -> Any:
    """Rooms and public names when they are first used: `physrank --help` does not wait for JAX."""
    if name == "__all__" or not name.startswith("_"):
        # Rooms first, each by itself: one that imports another while it loads must not load all of them.
        if find_spec(f"physrank.{name}") and name not in ("lab", "cli"):
            return importlib.import_module(f"physrank.{name}")
        public = importlib.import_module("physrank._public")
        if name == "__all__" or name in public.__all__:
            globals()[name] = found = getattr(public, name)
            return found
    return _moved(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
