"""How wide certificates are against what they bound: the validated floor of reaction–diffusion, pairs of diffusion–reaction.

    python bench/sharpness.py --out results/sharpness.json

The floor: Newton steps with the residual in twice the precision, until the state is a rounded solution. "singly" is the bound
with the residual in plain arithmetic and an a-priori bound of its round-off, as it was before sums of two doubles. The truth
is the length of one further step, ‖s − u‖_M.
Pairs: |G_ij(t) − G_ij(q)| is known from a solution whose corrections have converged; how many times as large the bound is, by
the radius alone and with adjoint states, in the median over pairs, after one response. The last candidate is the mirror image
of the first about the truth: a pair that the radius leaves open, so that adjoint states are looked at.
"""

import argparse
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import physrank as pr
from physrank import compute
from physrank._io import write_json
from physrank.certificates import DiffusionReactionEnergy, reaction_diffusion
from physrank.certificates.enclosures.rounding import Interval
from physrank.geometry import gaps_of
from physrank.lab.store.provenance import stamp

POINTS, CELLS, STEPS = 48, 16, 20


def floor(contrast: float) -> dict[str, float]:
    """For a coefficient between 1 and `contrast`, smooth."""

    def diffusion(x, y):
        return contrast ** (0.5 + 0.5 * np.sin(2 * np.pi * x) * np.sin(2 * np.pi * y))

    def forcing(x, y):
        return 100 * np.sin(np.pi * x) * np.sin(3 * np.pi * y)

    problem = pr.equations.ReactionDiffusion(diffusion, forcing, linear=1.0, cubic=1.0, points=POINTS)
    state = np.zeros(problem.state_shape)
    for _ in range(STEPS):
        state = state - compute.run(_step, problem, state, _residual(problem, state))[0]
    library, kept = {"a": 0 * state, "b": 2 * state}, pr.Correction(step=0.0)
    ranking = pr.rank(problem, library, anchor=state, corrections=kept, allow_unresolved=True)
    found = pr.certify(problem, ranking).enclosure
    with mock.patch.object(reaction_diffusion, "residual", _singly):
        before = pr.certify(problem, ranking).enclosure
    _, error = compute.run(_step, problem, state, _residual(problem, state))
    return {"contrast": contrast, "singly": before.state_bound, "doubly": found.state_bound, "truth": float(error)}


def _residual(problem: Any, state: np.ndarray) -> np.ndarray:
    return np.pad(reaction_diffusion.residual(problem, state).middle, 1)


def _singly(problem: Any, state: np.ndarray) -> Interval:
    """A(s) = M_s s + ¼γ s³ − f, with the a-priori bound of M_s s."""
    inside = (slice(1, -1),) * state.ndim
    u, f = Interval.of(state[inside]), np.asarray(problem.forcing)[inside]
    linear = reaction_diffusion.EnclosedOperator(problem, state).metric(state[inside][None])[0]
    return linear + Interval.of(float(problem.cubic)) * 0.25 * u.squared() * u - f


def _step(problem: Any, state: Any, residual: Any) -> tuple[Any, Any]:
    """A'(s)⁻¹ A(s), and its length in M."""
    _, tangent = problem.linearise(state)
    step, metric = tangent.solve(residual).value, problem.secant_metric(state)
    inner = metric.free(step)
    return step, (inner * metric.apply(inner)).sum() ** 0.5


def pairs(seed: int) -> dict[str, float]:
    random = np.random.default_rng(seed)
    x = (np.arange(CELLS) + 0.5) * np.pi / CELLS
    waves = [np.outer(np.cos(j * x), np.cos(k * x)) for j in range(3) for k in range(3)]
    fields = lambda size: size * np.tensordot(random.standard_normal((2, 9)), waves, 1)  # noqa: E731
    problem = pr.equations.DiffusionReaction(fields(0.3), np.linspace(0, 1, STEPS + 1))
    start = np.tile(np.asarray(problem.initial), (STEPS + 1, 1, 1, 1))
    truth = np.asarray(pr.rank(problem, {"a": start, "b": 0 * start}, anchor=start, corrections=6).state)
    ramp = np.linspace(0, 1, STEPS + 1)[:, None, None, None]
    library = {f"m{k}": truth + ramp * fields(0.05) for k in range(6)}
    library["mirror"] = 2 * truth - library["m0"]
    ranking = pr.rank(problem, library, effort="response")
    exact = gaps_of(ranking.space, ranking.outputs, truth[-1])
    upper = np.triu_indices(len(library), 1)
    wide = {}
    for name, by in (("radius", DiffusionReactionEnergy(pairs=False)), ("adjoints", DiffusionReactionEnergy())):
        bounds = pr.certify(problem, ranking, by=by).bounds
        wide[name] = float(np.median(bounds[upper] / np.abs(exact - ranking.gaps)[upper]))
    return {"seed": seed, **wide}


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--out", type=Path, required=True)
    given = asked.parse_args()
    found = {"floor": [floor(c) for c in (1.0, 1e2, 1e4)], "pairs": [pairs(seed) for seed in range(8)]}
    write_json(given.out, stamp({"results": found}))
    for row in (*found["floor"], *found["pairs"]):
        print(row)


if __name__ == "__main__":
    main()
