"""The path of partial corrections s_α = w + α δ: errors, decisions and admissibility along it, from one response."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from physrank import compute, geometry
from physrank.geometry import ComparisonSubspace
from physrank.geometry.space import Array
from physrank.physics import capabilities
from physrank.ranking import Ranking
from physrank.rungs.diagnosis import defect_norm, residual_floor


@dataclass(frozen=True)
class Path:
    """One input along the path; the first axis is α, errors are norms in the task's space."""

    multipliers: Array
    full: Array  # ‖t − q_α‖
    comparison: Array  # ‖P_𝒟 (t − q_α)‖
    perpendicular: Array
    defect: Array  # ‖A(s_α)‖
    admissible: np.ndarray
    scores: Array  # (α, candidates)
    losses: Array  # (candidates,), hidden
    proxy_loss: Array  # ‖t − q_α‖² beside the losses
    floor: Array  # ‖A(t)‖ / ‖A(w)‖: how far the data are from solving the problem
    identity: Array  # largest departure from G_ij(t) − G_ij(q) = 2⟨t − q, y_i − y_j⟩, relative to the largest gap

    def arrays(self) -> dict[str, Array]:
        return {name: np.asarray(value) for name, value in vars(self).items()}


def path(found: Ranking, truth: Array, multipliers: Sequence[float]) -> Path:
    """`found` corrected its anchor once; `truth` is a state of its problem. Nothing is solved again."""
    problem, space, response = found.problem, found.space, found.response
    anchor, change = np.asarray(response.anchor), np.asarray(response.correction)
    target, outputs = found.task.outputs(truth[None])[0], found.outputs
    subspace = ComparisonSubspace.of(space, outputs)
    states = [anchor + alpha * change for alpha in multipliers]
    proxies = found.task.outputs(np.stack(states))
    parts = [subspace.decompose(target - proxy) for proxy in proxies]
    losses = geometry.scores_of(space, outputs, target)
    scores = np.stack([geometry.scores_of(space, outputs, proxy) for proxy in proxies])
    return Path(
        multipliers=np.asarray(multipliers, float),
        full=np.array([space.norm(target - proxy) for proxy in proxies]),
        comparison=np.array([space.norm(seen) for seen, _ in parts]),
        perpendicular=np.array([space.norm(unseen) for _, unseen in parts]),
        defect=np.array([defect_norm(problem, state) for state in states]),
        admissible=np.array([bool(compute.run(capabilities.admissible, problem, state)) for state in states]),
        scores=scores,
        losses=losses,
        proxy_loss=np.array([space.norm_squared(target - proxy) for proxy in proxies]),
        floor=np.array(residual_floor(problem, truth, anchor)),
        identity=np.array(_identity(space, outputs, target, proxies[-1], losses, scores[-1])),
    )


def _identity(space: Any, outputs: Array, target: Array, proxy: Array, losses: Array, scores: Array) -> float:
    moved = geometry.gap_matrix(losses) - geometry.gap_matrix(scores)
    differences = space.coordinates(outputs) @ space.coordinates(target - proxy)
    exact = 2 * (differences[:, None] - differences[None, :])
    return float(np.abs(moved - exact).max() / max(np.abs(geometry.gap_matrix(losses)).max(), np.finfo(float).tiny))


def chosen(found: dict[str, Array]) -> np.ndarray:
    """Of every input, where on its path the rule stops: the largest α ≤ 1 that is admissible and no larger in defect."""
    multipliers, defect = found["multipliers"][0], found["defect"]
    start = defect[:, np.flatnonzero(multipliers == 0)]
    good = found["admissible"].astype(bool) & (defect <= start) & (multipliers <= 1)  # NaN is not smaller
    return np.where(good, multipliers, -np.inf).argmax(axis=1)
