"""Which libraries exist, how they are trained in each profile, and how large the populations are."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from physrank.lab.equations import EQUATIONS, Equation

ARCHITECTURES = ("fno", "cno")
RUNS = 4
STRIDE = 4096  # training indices set aside for one run, so that runs never share an input


@dataclass(frozen=True)
class Profile:
    """One size for everything: training budget and populations; how large the networks are stands with each equation."""

    name: str
    training: int
    validation: int
    epochs: int
    batch: int
    evaluation: int  # shifted inputs per equation
    panels: int  # selection panels of `panel_size` inputs each
    panel_size: int
    deployment: int

    @property
    def checkpoints(self) -> tuple[int, int]:
        return self.epochs // 2, self.epochs


PROFILES = {
    "smoke": Profile(
        name="smoke",
        training=32,
        validation=4,
        epochs=24,
        batch=4,
        evaluation=6,
        panels=2,
        panel_size=6,
        deployment=6,
    ),
    "laptop": Profile(
        name="laptop",
        training=512,
        validation=64,
        epochs=20,
        batch=32,
        evaluation=240,
        panels=8,
        panel_size=24,
        deployment=240,
    ),
    "paper": Profile(
        name="paper",
        training=2048,
        validation=256,
        epochs=40,
        batch=32,
        evaluation=240,
        panels=8,
        panel_size=24,
        deployment=240,
    ),
}


@dataclass(frozen=True)
class Library:
    """Four runs of one architecture on one equation, two checkpoints each: eight candidates.

    `outlier` names a run that is trained on a sixteenth of its inputs: a network that has seen too little and fails
    under shift, for the composition study.
    """

    equation: str
    architecture: str
    member: str  # e1, e2, …: evaluated; r1 … r4: additional; s1: stress
    number: int  # position among all libraries of all groups: part of every seed
    outlier: int | None = None

    @property
    def name(self) -> str:
        return f"{self.equation}-{self.architecture}-{self.member}"

    @property
    def declared(self) -> Equation:
        """What the laboratory knows of its equation."""
        return EQUATIONS[self.equation]

    @property
    def instances(self) -> str:
        """The population of shifted inputs on which its candidates are compared."""
        return {"e": "evaluation", "r": "additional", "s": "stress"}[self.member[0]]

    def seed(self, run: int) -> int:
        return 1000 * (self.number + 1) + run

    def first_training_input(self, run: int) -> int:
        return (self.number * RUNS + run) * STRIDE

    def candidates(self, profile: Profile) -> list[tuple[str, int, int]]:
        """(name, run, epoch) of every candidate, in the fixed order."""
        return [(f"run{r}-epoch{e}", r, e) for r in range(RUNS) for e in profile.checkpoints]

    def settings(self, profile: Profile, run: int) -> dict[str, Any]:
        """What determines a run's weights, beside its data, which are known by their hash."""
        chosen = asdict(profile)
        sizes = {key: chosen[key] for key in ("training", "validation", "epochs", "batch")}
        if run == self.outlier:
            sizes["training"] = max(profile.training // 16, profile.batch)
        size = self.declared.size(profile.name)
        network: dict[str, Any] = {"channels": size.cno_multiplier // 2}
        if self.architecture == "fno":
            network = {"width": size.fno_width, "modes": list(size.fno_modes)}
        return {
            "library": self.name,
            "run": run,
            "seed": self.seed(run),
            "first_training_input": self.first_training_input(run),
            **sizes,
            "learning_rate": self.declared.learning_rates[self.architecture],
            "weight_decay": 1e-4,
            "network": network,
        }


def _group(
    equations: Iterable[Equation], members: Sequence[str], first: int, outlier: int | None = None
) -> list[Library]:
    crossed = [(e.name, a, m) for e in equations for a in ARCHITECTURES for m in members]
    return [Library(e, a, m, first + k, outlier) for k, (e, a, m) in enumerate(crossed)]


def _groups() -> dict[str, list[Library]]:
    """The paper's three; then one for every further equation. Numbers go on, whatever is appended to the equations."""
    paper, others = ([e for e in EQUATIONS.values() if e.in_paper == known] for known in (True, False))
    groups = {
        "primary": _group(paper, ("e1", "e2"), 0),
        "additional": _group(paper, ("r1", "r2", "r3", "r4"), 8),
        "stress": _group(paper, ("s1",), 24, outlier=3),
    }
    for equation in others:
        groups[equation.name] = _group([equation], ("e1", "e2", "e3", "e4"), sum(map(len, groups.values())))
    return groups


def equations_of(libraries: Iterable[Library]) -> list[Equation]:
    """Each of their equations once, in order."""
    return [EQUATIONS[name] for name in dict.fromkeys(library.equation for library in libraries)]


GROUPS = _groups()
LIBRARIES = {library.name: library for group in GROUPS.values() for library in group}


def find(name: str) -> list[Library]:
    """The libraries that a group's or library's name stands for."""
    if name in GROUPS:
        return GROUPS[name]
    if name in LIBRARIES:
        return [LIBRARIES[name]]
    raise ValueError(f"There is no library {name!r}. Groups: {', '.join(GROUPS)}; libraries: {', '.join(LIBRARIES)}.")
