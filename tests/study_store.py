"""A store as `physrank train` would leave it, with errors of known size in place of networks; everything else made small."""

from dataclasses import replace

import numpy as np

from lab_helpers import InThisProcess, rolled_store
from physrank.lab.equations import EQUATIONS
from physrank.lab.equations.equation import Transition
from physrank.lab.inputs import shifted_strata
from physrank.lab.libraries import GROUPS, PROFILES, ROLLED, equations_of
from physrank.lab.references import burgers, reaction_diffusion, sine_gordon
from physrank.lab.store import predictions
from physrank.lab.studies import controls, outliers, phase
from physrank.lab.studies._kit import cases, checking

TINY = replace(  # one shape for all
    PROFILES["smoke"], evaluation=3, panels=1, panel_size=3, deployment=3, long_panels=1, long_size=3, service=3
)
TIMES = np.linspace(0, 0.2, 48)
SIZES = np.array([0.4, 0.2, 0.3, 0.15, 0.1, 0.25, 0.35, 0.05])  # of each candidate's error


def smooth_error(equation, k, shape):
    """One shape per candidate, zero where the constraints are."""
    rows, columns = (np.linspace(0, 1, n) for n in (shape[0], shape[-1]))
    if equation == "sine_gordon":
        return smooth_error("burgers", k, (len(rows), shape[-1]))[:, None] * np.array([1.0, 1 + k % 2])[:, None]
    if equation == "burgers":
        return rows[:, None] * np.sin((1 + k % 3) * 2 * np.pi * np.arange(shape[-1]) / shape[-1] + k)
    bump = 16 * rows[:, None] * (1 - rows[:, None]) * columns * (1 - columns)
    return bump * np.cos(k + np.pi * (1 + k % 2) * rows[:, None])


def solutions(equation, name, count):
    found = EQUATIONS[equation].population(name, count)
    if equation == "burgers":
        return burgers.solve(found, TIMES, 192, 4)[..., ::4]
    if equation == "sine_gordon":
        return sine_gordon.solve(found, TIMES * 5, 192, 47 * 16)[..., ::4]
    return np.stack([reaction_diffusion.interpolate(reaction_diffusion.solve(case, 65), 32) for case in found])


def _finer(fields, equation):
    """What networks might give on the comparison grid: the same, in steps."""
    if equation == "burgers":
        return np.repeat(fields, 8, axis=-1)
    inside = np.repeat(np.repeat(fields[..., 1:-1, 1:-1], 4, -1), 4, -2)
    return np.pad(inside, ((0, 0), (0, 0), (1, 1), (1, 1)))


def fill(folder, patch):
    """Write the store; `patch` makes populations, grids and references small."""
    patch.setattr(burgers, "LEVELS", {"first": ((384, 4), (768, 4)), "second": ((384, 4), (768, 4))})
    patch.setattr(reaction_diffusion, "LEVELS", {"first": (47, 63), "second": (47, 63)})
    patch.setattr(sine_gordon, "LEVELS", {"first": ((384, 1024), (384, 2048))})
    patch.setitem(GROUPS, "sine_gordon", GROUPS["sine_gordon"][:1])
    native = {"burgers": (48, 384), "reaction_diffusion": (32, 128)}  # grids that other studies compile, too
    for name, declared in EQUATIONS.items():  # one coarse solve: each is a compilation
        small = {
            "coarse_solves": declared.coarse_solves[-1:],
            "transitions": (Transition(*native[name]),) if name in native else (),
            "phase_grids": (32,) if name == "reaction_diffusion" else (),
        }
        patch.setitem(EQUATIONS, name, replace(declared, **small))
    for group in ("primary", "stress"):  # errors here do not depend on the architecture
        patch.setitem(GROUPS, group, [library for library in GROUPS[group] if library.architecture == "fno"])
    patch.setitem(GROUPS, "additional", GROUPS["additional"][::4])
    patch.setitem(GROUPS, "stress", [library for library in GROUPS["stress"] if library.member == outliers.MOVED])
    patch.setattr(checking, "CHECKED", 2)
    patch.setattr(cases.references, "ProcessPoolExecutor", InThisProcess)
    patch.setattr(controls, "WARM_UPS", 0)
    patch.setattr(controls, "REPEATS", 1)
    patch.setattr(controls, "NUMBERS", (2, 16))
    patch.setattr(outliers, "FARTHER", (1, 64))
    for name, value in {"ERRORS": (0.03, 1.0), "ROUGHNESS": (2, 5), "INPUTS": 1, "REPEATS": 1}.items():
        patch.setattr(phase, name, value)
    true = {
        (equation.name, name): solutions(equation.name, name, predictions.count(TINY, name))
        for equation in equations_of(GROUPS["primary"])
        for name in (*predictions.STORED_POPULATIONS, *predictions.LONG_POPULATIONS, "additional", "stress")
    } | {("sine_gordon", "evaluation"): solutions("sine_gordon", "evaluation", TINY.evaluation)}
    for library in [
        one for group in ("primary", "additional", "stress", "sine_gordon", "quality", "mixed") for one in GROUPS[group]
    ]:
        for name in dict.fromkeys(name for name, _ in predictions.wanted(library)):
            exact = true[library.equation, name]
            scale = np.where([r == library.outlier for _, r, _ in library.candidates(TINY)], 8.0, 1.0) * SIZES / 4
            shapes = [smooth_error(library.equation, k, exact.shape[1:]) for k in range(8)]
            fields = np.stack([exact + s * e for s, e in zip(scale, shapes, strict=True)], axis=1)
            if library.equation == "burgers":
                fields[:, :, 0] = library.declared.features(library.declared.population(name, len(exact)))[:, :1, 0]
            strata = shifted_strata(len(exact))
            predictions.write(folder, TINY, library, name, "native", fields, strata, SIZES.tolist())
            if (name, "reinferred") in predictions.wanted(library):
                fine = _finer(fields, library.equation)
                predictions.write(folder, TINY, library, name, "reinferred", fine, strata, SIZES.tolist())
    rolled_store(folder, ROLLED["diffusion_reaction"])
