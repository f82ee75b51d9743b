"""One large problem over several devices: `sharded`, and what its programs exchange and need on each of them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import jax
import numpy as np
from jax.sharding import Mesh

from physrank import _division, compute
from physrank.physics import Correction, Problem, respond_and_look
from physrank.rungs.solve import solved

KINDS = ("all-gather", "all-reduce", "all-to-all", "collective-permute", "reduce-scatter")
_COLLECTIVE = re.compile(rf"= (.*?) ({'|'.join(KINDS)})(?:-start)?\(")
_ARRAY = re.compile(r"\b(pred|[a-z]+(\d+))\[([\d,]*)\]")


@contextmanager
def sharded(devices: int | Sequence[Any] | None = None) -> Iterator[None]:
    """Context in which `rank` and all else that physrank computes divides a problem among devices.

    `devices`: how many, or which (`jax.devices()[:4]`); all of them by default. States are cut along the first axis of the
    problem's grid, of any length. Problems that are built inside of the context stay in the host's memory until then.

    ```python
    with pr.sharded():
        ranking = pr.rank(problem, candidates, effort="response")
    ```
    """
    mesh = Mesh(np.asarray(_chosen(devices), dtype=object), (_division.NAME,))
    with _division.over(mesh), jax.default_device(_host()):
        yield


def _chosen(devices: Any) -> list[Any]:
    known = jax.devices()
    if devices is None:
        return known
    if isinstance(devices, int) and not isinstance(devices, bool):
        if not 1 <= devices <= len(known):
            raise ValueError(
                f"devices must be between 1 and {len(known)}, the number that JAX sees ({known[0].platform}); got {devices}. "
                "To try more on a CPU: XLA_FLAGS=--xla_force_host_platform_device_count=8, set before JAX starts."
            )
        return known[:devices]
    if not isinstance(devices, list | tuple) or not all(isinstance(d, jax.Device) for d in devices) or not devices:
        raise ValueError(f"devices must be a number, a list of jax.devices() or None for all of them; got {devices!r}.")
    return list(devices)


def _host() -> Any:
    """Where whole fields may be: the host's memory, unless JAX was told to leave the CPU alone."""
    try:
        return jax.local_devices(backend="cpu")[0]
    except RuntimeError:
        return None


@dataclass(frozen=True)
class Footprint:
    """What one program needs on every device, in bytes, and what it exchanges: instructions in its text, not calls."""

    devices: int
    arguments: int
    results: int
    temporary: int
    collectives: dict[str, int]  # by kind
    largest: dict[str, int]  # by kind: bytes that one of them leaves on a device, at most

    @property
    def total(self) -> int:
        """Bytes on every device."""
        return self.arguments + self.results + self.temporary


def footprint(problem: Problem, state: Any, what: Literal["response", "solve"] = "response") -> Footprint:
    """What a response at `state`, or a solve from it, takes on each device of the context. Compiles; computes nothing."""
    if what not in ("response", "solve"):
        raise ValueError(f'what must be "response" or "solve"; got {what!r}.')
    layout = _division.of(problem)
    if layout is None:
        raise ValueError(
            "There is nothing to divide: call this inside of physrank.sharded(...), with at least "
            f"{_division.LEAST} points of the first axis for every device."
        )
    arguments = (problem, np.asarray(state)) if what == "solve" else (problem, np.asarray(state), Correction())
    with compute.double(), _division.used(layout):
        program = compute.divided(solved if what == "solve" else respond_and_look, layout)
        compiled = program.lower(*_division.placed(arguments, layout)).compile().compiled
    memory = compiled.memory_analysis()
    found = [(kind, _bytes(shapes)) for shapes, kind in _COLLECTIVE.findall(compiled.as_text())]
    return Footprint(
        layout.mesh.size,
        memory.argument_size_in_bytes,
        memory.output_size_in_bytes,
        memory.temp_size_in_bytes,
        dict(sorted(Counter(kind for kind, _ in found).items())),
        {kind: max(size for other, size in found if other == kind) for kind in sorted({kind for kind, _ in found})},
    )


def _bytes(shapes: str) -> int:
    """Of arrays as the compiler writes them, such as `(f32[8,8]{1,0}, pred[])`."""
    bits = [(int(width or 8), lengths) for _, width, lengths in _ARRAY.findall(shapes)]
    return sum(-(-width // 8) * int(np.prod([int(n) for n in lengths.split(",") if n])) for width, lengths in bits)
