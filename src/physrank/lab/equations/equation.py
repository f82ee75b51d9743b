"""`Equation`: everything the laboratory knows of an equation, declared once. Nothing here needs PyTorch."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, Protocol

import equinox as eqx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from physrank import compute
from physrank.certificates.certify import Method
from physrank.geometry.space import Array
from physrank.lab.equations.constraint import InitialRow, ZeroEdges
from physrank.lab.inputs import STRATA, shifted_strata
from physrank.lab.references.reference import Reference
from physrank.physics import Problem

Single = NDArray[np.float32]
REALIZATIONS = ("native", "reinferred")  # on the networks' grid, or the same checkpoints run on the comparison grid


@dataclass(frozen=True)
class NetworkSize:
    """How large the networks of one profile are."""

    fno_width: int
    fno_modes: tuple[int, int]
    cno_multiplier: int
    unet_features: int  # of the first level


@dataclass(frozen=True)
class CoarseSolve:
    """A direct solve that is cheaper than the one on the comparison grid."""

    points: int
    substeps: int | None = None


@dataclass(frozen=True)
class Proofs:
    """How many corrections the certificate study makes, and whether it proves for the `same grid` or the `continuum`.

    `against_equation` gives the certificate of an input against the equation itself, where there is one beside that;
    `validated` the one that encloses every number.
    """

    corrections: int
    target: str
    against_equation: Callable[[Any], Method] | None = None
    validated: Callable[[], Any] | None = None


@dataclass(frozen=True)
class Transition:
    """Fixed candidates from one grid to the next, for the study of resolution; of large grids a share of the inputs."""

    coarse: int
    fine: int
    population: str = "evaluation"
    share: int = 1  # every so-many-th part of the inputs


@dataclass(frozen=True)
class Claimed:
    """The least shares of non-tie pairs and of tolerant winners that the primary study must recover."""

    pairs: float
    top1: float


def channels(cases: Sequence[Any], shape: tuple[int, int], of: Callable[[Any], Sequence[ArrayLike]]) -> Single:
    """Input channels `(cases, channels, *shape)`: what `of` makes of a case, spread over the grid."""
    rows = [np.stack([np.broadcast_to(channel, shape) for channel in of(case)]) for case in cases]
    return np.stack(rows).astype(np.float32)


class Features(Protocol):
    """Input channels `(cases, channels, *grid)`, on the networks' grid or on one of so many `points`."""

    def __call__(self, cases: Sequence[Any], points: int | None = None) -> Single: ...


class MakeProblem(Protocol):
    """The physics behind an input, on the comparison grid or on one of so many `points`."""

    def __call__(self, case: Any, points: int | None = None) -> Problem: ...


@dataclass(frozen=True)
class Misstated:
    """A problem with one of its numbers multiplied: physics that somebody got wrong."""

    number: str
    factor: float

    def __call__(self, problem: Any) -> Problem:
        with compute.double():
            return eqx.tree_at(lambda p: getattr(p, self.number), problem, self.factor * getattr(problem, self.number))


@dataclass(frozen=True, eq=False)
class Equation:
    """One equation in the laboratory.

    Its names: `name` in files and commands, `title` in sentences, `label` where space is short.

    Its networks: they see `features`, emit `outputs` channels on `grid`, are wrapped in `constraint`, learn `labels` (laid
    out as they emit them), and have the size their profile asks for. `axes` name a stored state: the grid's axes in the
    order of `grid`, and `channel` where the problem expects it; scalar equations have no such axis.

    Its truth: `problem` on `points`, `mistaken` (that problem with one number mis-stated), and `references` in task
    space at the levels of `solver`, a module of `lab/references`; `second_method` solves an input in another way
    altogether, on the same nodes, to see whether references decide rightly.

    Its studies: `coarse_solves` of the yardstick, `certified`, `claimed`, `transitions` between grids (a screen looks at the
    first), `phase_grids` on which costs are mapped, and `reinferred`, the grid on which checkpoints are run again, if they
    are. `in_paper` puts its libraries into the paper's groups; others get a group of their own.
    """

    name: str
    title: str
    label: str
    input: Any  # its class in lab/inputs: a dataclass with `sample(population, index, stratum)`

    features: Features
    labels: Callable[[Sequence[Any]], Single]
    inputs: int
    outputs: int
    grid: tuple[int, int]
    axes: tuple[str, ...]
    periodic: bool
    constraint: InitialRow | ZeroEdges
    sizes: Mapping[str, NetworkSize]  # by profile
    learning_rates: Mapping[str, float]  # by architecture

    problem: MakeProblem
    mistaken: Callable[[Any], Problem]
    points: int
    references: Callable[[Sequence[Any], str], list[Reference]]
    solver: ModuleType

    coarse_solves: tuple[CoarseSolve, ...]
    certified: Proofs
    claimed: Claimed | None = None
    transitions: tuple[Transition, ...] = ()
    phase_grids: tuple[int, ...] = ()
    reinferred: tuple[int, int] | None = None
    second_method: Callable[[Any], Array] | None = None
    in_paper: bool = False

    def __post_init__(self) -> None:
        if ("channel" in self.axes) != (self.outputs > 1) or len(self.grid_axes) != len(self.grid):
            raise ValueError(
                f"{self.name}: axes {self.axes} do not fit {self.outputs} output channels on a grid {self.grid}; expected "
                "one name for every axis of the grid, and `channel` where there is more than one."
            )

    @property
    def grid_axes(self) -> tuple[str, ...]:
        return tuple(axis for axis in self.axes if axis != "channel")

    @property
    def levels(self) -> dict[str, Any]:
        """The resolutions of its references, by name."""
        return self.solver.LEVELS

    def population(self, name: str, count: int) -> list[Any]:
        """`count` shifted inputs of a population, balanced over the strata."""
        return [self.input.sample(name, k, stratum) for k, stratum in enumerate(shifted_strata(count))]

    def size(self, profile: str) -> NetworkSize:
        if profile not in self.sizes:
            raise ValueError(f"{self.name} has no networks for {profile!r}; expected one of {', '.join(self.sizes)}.")
        return self.sizes[profile]

    def grid_of(self, realization: str) -> tuple[int, int]:
        """The grid on which networks are run."""
        if realization not in REALIZATIONS:
            raise ValueError(f"There is no realization {realization!r}; expected one of {', '.join(REALIZATIONS)}.")
        grid = self.grid if realization == "native" else self.reinferred
        if grid is None:
            raise ValueError(f"{self.name} declares no grid on which its networks are run again.")
        return grid

    def state_shape(self, realization: str = "native") -> tuple[int, ...]:
        """The shape of a stored state."""
        length = {"channel": self.outputs, **dict(zip(self.grid_axes, self.grid_of(realization), strict=True))}
        return tuple(length[axis] for axis in self.axes)

    def states(self, emitted: np.ndarray) -> np.ndarray:
        """From what networks emit, `(…, channel, *grid)`, to states with the declared axes, as `rank` takes them."""
        channel = emitted.ndim - len(self.grid) - 1
        if emitted.shape[channel] != self.outputs:
            raise ValueError(f"{self.name}: got {emitted.shape[channel]} output channels, expected {self.outputs}.")
        if "channel" not in self.axes:
            return np.take(emitted, 0, axis=channel)
        return np.moveaxis(emitted, channel, channel + self.axes.index("channel"))

    @cached_property
    def input_fingerprint(self) -> str:
        """A hash of a few inputs: what was stored under another input law must not pass for this one."""
        probes = [self.input.sample("evaluation", k, stratum) for stratum in STRATA for k in range(3)]
        return hashlib.sha256(self.features(probes, 8).tobytes()).hexdigest()[:12]
