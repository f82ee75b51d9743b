"""Which libraries exist, how they are trained in each profile, and how large the populations are."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from physrank.lab.equations import EQUATIONS, ROLLOUTS, Equation, Rollout
from physrank.lab.equations.equation import NetworkSize
from physrank.lab.inputs import STRATA, shifted_strata

ARCHITECTURES = ("fno", "cno")
RUNS = 4
TRAINING = ("training", "validation", "epochs", "batch")  # what a profile says of training
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
    long_panels: int  # selection panels of the additional libraries, of `long_size` inputs each
    long_size: int
    service: int  # and the inputs on which their choices are judged

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
        long_panels=2,
        long_size=6,
        service=6,
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
        long_panels=8,
        long_size=144,
        service=240,
    ),
}
PROFILES["paper"] = replace(PROFILES["laptop"], name="paper", training=2048, validation=256, epochs=40, service=960)


@dataclass(frozen=True)
class Library:
    """Four runs of one architecture on one equation, two checkpoints each: eight candidates.

    `outlier` names a run that is trained on a sixteenth of its inputs: a network that has seen too little and fails
    under shift, for the composition study. `budget` names the profile whose training and networks are used in place of the
    `laptop` ones: the same inputs, candidates trained longer.
    """

    equation: str
    architecture: str
    member: str  # e1, e2, …: evaluated; r1 … r4: additional; s1 … s4: stress; q1: quality; m1: for mixed libraries
    number: int  # position among all libraries of all groups: part of every seed
    outlier: int | None = None
    budget: str | None = None

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
        return {"e": "evaluation", "r": "additional", "s": "stress", "q": "evaluation", "m": "evaluation"}[
            self.member[0]
        ]

    @property
    def runs(self) -> int:
        return RUNS

    def sized(self, profile: Profile) -> Profile:
        """The profile as this library takes it."""
        if self.budget is None or profile.name != "laptop":
            return profile
        training = PROFILES[self.budget]
        return replace(profile, **{key: getattr(training, key) for key in TRAINING})

    def size(self, profile: Profile) -> NetworkSize:
        """How large its networks are."""
        named = self.budget if self.budget and profile.name == "laptop" else profile.name
        return self.declared.size(named)

    def strata(self, count: int) -> list[str]:
        """Of the inputs on which candidates are compared."""
        return shifted_strata(count)

    def state_shape(self, profile: Profile, realization: str = "native") -> tuple[int, ...]:
        """Of a stored prediction."""
        del profile
        return self.declared.state_shape(realization)

    def seed(self, run: int) -> int:
        return 1000 * (self.number + 1) + run

    def first_training_input(self, run: int) -> int:
        return (self.number * RUNS + run) * STRIDE

    def candidates(self, profile: Profile) -> list[tuple[str, int, int]]:
        """(name, run, epoch) of every candidate, in the fixed order."""
        return [(f"run{r}-epoch{e}", r, e) for r in range(RUNS) for e in self.sized(profile).checkpoints]

    def settings(self, profile: Profile, run: int) -> dict[str, Any]:
        """What determines a run's weights, beside its data, which are known by their hash."""
        chosen = self.sized(profile)
        sizes = {key: getattr(chosen, key) for key in TRAINING}
        if run == self.outlier:
            sizes["training"] = max(chosen.training // 16, chosen.batch)
        size = self.size(profile)
        networks: dict[str, dict[str, Any]] = {
            "fno": {"width": size.fno_width, "modes": list(size.fno_modes)},
            "cno": {"channels": size.cno_multiplier // 2},
            "unet": {"features": size.unet_features},
        }
        return {
            "library": self.name,
            "run": run,
            "seed": self.seed(run),
            "first_training_input": self.first_training_input(run),
            **sizes,
            "learning_rate": self.declared.learning_rates[self.architecture],
            "weight_decay": 1e-4,
            "network": networks[self.architecture],
        }


@dataclass(frozen=True)
class RolloutLibrary:
    """Networks that predict the next frame, one run and one candidate each; all of them learn from the same trajectories."""

    equation: str
    number: int

    instances = "evaluation"
    architecture = "rollout"

    @property
    def name(self) -> str:
        return f"{self.equation}-rollouts"

    @property
    def declared(self) -> Rollout:
        return ROLLOUTS[self.equation]

    @property
    def runs(self) -> int:
        return len(self.declared.networks)

    def sized(self, profile: Profile) -> Profile:
        """The profile with the budget that the declaration states."""
        budget = self.declared.budget(profile.name)
        return replace(profile, **{key: getattr(budget, key) for key in (*TRAINING, "evaluation")})

    def strata(self, count: int) -> list[str]:
        """Nothing is shifted."""
        return [STRATA[0]] * count

    def state_shape(self, profile: Profile, realization: str = "native") -> tuple[int, ...]:
        del realization
        return self.declared.state_shape(profile.name)

    def first_training_input(self, run: int) -> int:
        del run
        return self.number * RUNS * STRIDE

    def candidates(self, profile: Profile) -> list[tuple[str, int, int]]:
        """(name, run, epoch) of every candidate, in the fixed order."""
        last = self.sized(profile).epochs
        return [(network.name, k, last) for k, network in enumerate(self.declared.networks)]

    def settings(self, profile: Profile, run: int) -> dict[str, Any]:
        """What determines a run's weights, beside its data, which are known by their hash."""
        equation, network = self.declared, self.declared.networks[run]
        budget = equation.budget(profile.name)
        size: dict[str, Any] = {"features": budget.features}
        if network.architecture == "fno":
            size = {"width": budget.width, "modes": budget.modes}
        return {
            "library": self.name,
            "run": run,
            "seed": 1000 * (self.number + 1) + run,
            "first_training_input": self.first_training_input(run),
            "training": budget.training,
            "validation": budget.validation,
            "epochs": budget.epochs,
            "batch": budget.batch,
            "cells": budget.cells,
            "windows": budget.lessons(network),
            "learning_rate": equation.learning_rate,
            "weight_decay": 1e-4,
            "network": asdict(network) | size,
        }


AnyLibrary = Library | RolloutLibrary


def _group(
    equations: Iterable[Equation], members: Sequence[str], first: int, outlier: int | None = None
) -> list[Library]:
    crossed = [(e.name, a, m) for e in equations for a in ARCHITECTURES for m in members]
    return [Library(e, a, m, first + k, outlier) for k, (e, a, m) in enumerate(crossed)]


def _groups() -> dict[str, list[Library]]:
    """The paper's equations have several, every other one has one. A number is part of seeds and never changes: those of the
    first other equation were given between, later ones go on at the end."""
    paper, others = ([e for e in EQUATIONS.values() if e.in_paper == known] for known in (True, False))
    groups = {
        "primary": _group(paper, ("e1", "e2"), 0),
        "additional": _group(paper, ("r1", "r2", "r3", "r4"), 8),
        "stress": _group(paper, ("s1",), 24, outlier=3),
    }
    own = {e.name: _group([e], ("e1", "e2", "e3", "e4"), 44 + 8 * k if k else 28) for k, e in enumerate(others)}
    groups["stress"] += _group(paper, ("s2", "s3", "s4"), 36, outlier=3)
    quality = [Library(e.name, "fno", "q1", 48 + k, budget="paper") for k, e in enumerate(paper)]
    mixed = [Library(e.name, "unet", "m1", 50 + k) for k, e in enumerate(paper)]
    return groups | own | {"quality": quality, "mixed": mixed}


def equations_of(libraries: Iterable[Library]) -> list[Equation]:
    """Each of their equations once, in order."""
    return [EQUATIONS[name] for name in dict.fromkeys(library.equation for library in libraries)]


GROUPS = _groups()
LIBRARIES = {library.name: library for group in GROUPS.values() for library in group}
ROLLED = {name: RolloutLibrary(name, 1000 + k) for k, name in enumerate(ROLLOUTS)}  # numbers of their own


def find(name: str) -> list[AnyLibrary]:
    """The libraries that a group's or library's name stands for."""
    known: dict[str, AnyLibrary] = {**LIBRARIES, **{library.name: library for library in ROLLED.values()}}
    if name in GROUPS:
        return list(GROUPS[name])
    if name in ROLLED or name in known:
        return [ROLLED[name] if name in ROLLED else known[name]]
    raise ValueError(
        f"There is no library {name!r}. Groups: {', '.join([*GROUPS, *ROLLED])}; libraries: {', '.join(known)}."
    )
