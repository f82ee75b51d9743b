"""Which libraries exist, how they are trained in each profile, and how large the populations are."""

from dataclasses import asdict, dataclass
from typing import Any

EQUATIONS = ("burgers", "reaction_diffusion")
ARCHITECTURES = ("fno", "cno")
RUNS = 4
STRIDE = 4096  # training indices set aside for one run, so that runs never share an input


@dataclass(frozen=True)
class Profile:
    """One size for everything: training budget, networks, populations."""

    name: str
    training: int
    validation: int
    epochs: int
    batch: int
    fno_width: dict[str, int]
    fno_modes: dict[str, tuple[int, int]]
    cno_multiplier: dict[str, int]
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
        fno_width={"burgers": 4, "reaction_diffusion": 4},
        fno_modes={"burgers": (4, 6), "reaction_diffusion": (6, 6)},
        cno_multiplier={"burgers": 4, "reaction_diffusion": 4},
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
        fno_width={"burgers": 16, "reaction_diffusion": 16},
        fno_modes={"burgers": (6, 12), "reaction_diffusion": (12, 12)},
        cno_multiplier={"burgers": 8, "reaction_diffusion": 12},
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
        fno_width={"burgers": 24, "reaction_diffusion": 32},
        fno_modes={"burgers": (6, 12), "reaction_diffusion": (12, 12)},
        cno_multiplier={"burgers": 37, "reaction_diffusion": 40},
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
    member: str  # e1, e2: primary; r1 … r4: additional; s1: stress
    number: int  # position among all libraries of all groups: part of every seed
    outlier: int | None = None

    @property
    def name(self) -> str:
        return f"{self.equation}-{self.architecture}-{self.member}"

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
        network: dict[str, Any] = {"channels": profile.cno_multiplier[self.equation] // 2}
        if self.architecture == "fno":
            network = {
                "width": profile.fno_width[self.equation],
                "modes": list(profile.fno_modes[self.equation]),
            }
        return {
            "library": self.name,
            "run": run,
            "seed": self.seed(run),
            "first_training_input": self.first_training_input(run),
            **sizes,
            "learning_rate": 1e-3 if (self.equation, self.architecture) == ("reaction_diffusion", "cno") else 2e-3,
            "weight_decay": 1e-4,
            "network": network,
        }


def _group(members: tuple[str, ...], first: int, outlier: int | None = None) -> list[Library]:
    crossed = [(e, a, m) for e in EQUATIONS for a in ARCHITECTURES for m in members]
    return [Library(e, a, m, first + k, outlier) for k, (e, a, m) in enumerate(crossed)]


GROUPS = {
    "primary": _group(("e1", "e2"), 0),
    "additional": _group(("r1", "r2", "r3", "r4"), 8),
    "stress": _group(("s1",), 24, outlier=3),
}
LIBRARIES = {library.name: library for group in GROUPS.values() for library in group}


def find(name: str) -> list[Library]:
    """The libraries that a group's or library's name stands for."""
    if name in GROUPS:
        return GROUPS[name]
    if name in LIBRARIES:
        return [LIBRARIES[name]]
    raise ValueError(f"There is no library {name!r}. Groups: {', '.join(GROUPS)}; libraries: {', '.join(LIBRARIES)}.")
