"""The paper's medoid of trajectories: distances by the trapezoid rule in time and the problem's own metric in space."""

from typing import Any

import numpy as np

from physrank.geometry import metrics
from physrank.ranking import anchors

MEDOID_IN_TIME = "medoid in time"


def resolve(anchor: str, problem: Any) -> Any:
    """What `rank` takes for an anchor's name in studies."""
    return medoid_in_time(problem) if anchor == MEDOID_IN_TIME else anchor


def medoid_in_time(problem: Any) -> anchors.Anchor:
    """The trajectory with the smallest sum of time–space L² distances; ties go to the earlier one."""
    return anchors.medoid(trajectory_metric(problem))


def trajectory_metric(problem: Any) -> metrics.Weights:
    """∫ ‖·‖² dt over the stored rows, with the metric of a row."""
    intervals, row = np.diff(np.asarray(problem.times, np.float64)), problem.state_shape[1:]
    in_time = np.convolve(intervals.astype(float), [0.5, 0.5])  # half of the interval before and of the one after
    in_space = problem.metric().space(row).weights
    return metrics.weights(in_time.reshape(-1, *[1] * len(row)) * in_space)
