"""What a certificate reads of a ranking: rankings come later in the order of imports, so that they can ask for one."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from physrank.geometry import TaskSpace
from physrank.geometry.space import Array
from physrank.physics import Response
from physrank.tasks import Task


class NamedStates(Protocol):
    """Candidates on the problem's grid."""

    @property
    def states(self) -> Array: ...

    @property
    def excluded(self) -> dict[str, str]: ...

    @property
    def valid(self) -> np.ndarray: ...


@runtime_checkable
class Ranked(Protocol):
    """Candidates' outputs, a proxy with the state behind it, and whether that may be trusted. `physrank.Ranked` is one."""

    @property
    def candidates(self) -> NamedStates: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def task(self) -> Task: ...

    @property
    def space(self) -> TaskSpace: ...

    @property
    def outputs(self) -> Array: ...

    @property
    def state(self) -> Array: ...

    @property
    def proxy(self) -> Array: ...

    @property
    def gaps(self) -> Array: ...

    @property
    def response(self) -> Response: ...

    @property
    def unresolved(self) -> str | None: ...

    @property
    def data_uncertainty(self) -> Array | None: ...

    @property
    def data_half_widths(self) -> Mapping[str, Any] | None: ...
