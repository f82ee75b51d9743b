"""How long the references of all 240 evaluation inputs take, per equation, at the first resolution pair.

python bench/references.py [burgers] [sine_gordon] [reaction_diffusion]
"""

import sys
import time

import numpy as np

from physrank.lab.inputs import BurgersInput, ReactionDiffusionInput, SineGordonInput, shifted_strata
from physrank.lab.references import burgers, reaction_diffusion, sine_gordon

COUNT, CHUNK = 240, 24


def run_burgers() -> float:
    times, largest = np.linspace(0, 0.2, 48), 0.0
    cases = [BurgersInput.sample("evaluation", k, s) for k, s in enumerate(shifted_strata(COUNT))]
    for first in range(0, COUNT, CHUNK):
        coarse, fine = (burgers.solve(cases[first : first + CHUNK], times, n, r) for n, r in ((768, 10), (1536, 20)))
        largest = max(largest, float(np.abs(coarse - fine[..., ::2]).max()))
    return largest


def run_sine_gordon() -> float:
    times, largest = np.linspace(0, 1, 49), 0.0
    cases = [SineGordonInput.sample("evaluation", k, s) for k, s in enumerate(shifted_strata(COUNT))]
    for first in range(0, COUNT, CHUNK):
        coarse, fine = (
            sine_gordon.solve(cases[first : first + CHUNK], times, n, r) for n, r in ((384, 6144), (768, 12288))
        )
        largest = max(largest, float(np.abs(coarse - fine[..., ::2]).max()))
    return largest


def run_reaction_diffusion() -> float:
    largest = 0.0
    for k, stratum in enumerate(shifted_strata(COUNT)):
        case = ReactionDiffusionInput.sample("evaluation", k, stratum)
        start = reaction_diffusion.interpolate(reaction_diffusion.solve(case, 127), 511)[1:-1, 1:-1]
        coarse = reaction_diffusion.solve(case, 511, start)
        fine = reaction_diffusion.solve(case, 767, reaction_diffusion.interpolate(coarse, 767)[1:-1, 1:-1])
        difference = reaction_diffusion.interpolate(coarse, 128) - reaction_diffusion.interpolate(fine, 128)
        largest = max(largest, float(np.abs(difference).max()))
    return largest


RUNS = {"burgers": run_burgers, "sine_gordon": run_sine_gordon, "reaction_diffusion": run_reaction_diffusion}

if __name__ == "__main__":
    for name in sys.argv[1:] or list(RUNS):
        started = time.perf_counter()
        bar = RUNS[name]()
        minutes = (time.perf_counter() - started) / 60
        print(f"{name}: {COUNT} references in {minutes:.1f} minutes; coarse to fine at most {bar:.1e}", flush=True)
