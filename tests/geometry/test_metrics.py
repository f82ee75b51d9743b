"""Quadrature integrates exactly what it promises."""

import numpy as np
import pytest

from physrank import metrics


def test_metrics_integrate():
    x = np.arange(32) * 2 * np.pi / 32
    assert metrics.periodic_l2(2 * np.pi).space((32,)).norm_squared(np.sin(3 * x)) == pytest.approx(np.pi)
    nodes = np.linspace(0, 2, 11)
    assert metrics.trapezoid(2.0).space((11,)).weights.sum() == pytest.approx(2)
    assert metrics.trapezoid(2.0).space((11,)).inner(nodes, np.ones(11)) == pytest.approx(2)  # exact for linear
    area = metrics.cell_area([2.0, 3.0]).space((2, 4, 6))  # two channels, summed
    assert area.weights.shape == (2, 4, 6)
    assert area.weights[0].sum() == pytest.approx(6)
    phase = metrics.phase_space(metrics.periodic_l2(1.0), velocity_weight=0.25).space((2, 8))
    assert phase.norm_squared(np.stack([np.ones(8), 2 * np.ones(8)])) == pytest.approx(1 + 0.25 * 4)
    assert metrics.mean_square().space((3, 4)).norm_squared(np.full((3, 4), 2.0)) == pytest.approx(4)
    assert metrics.weights([1.0, 3.0]).space((5, 2)).norm_squared(np.ones((5, 2))) == pytest.approx(20)


def test_metrics_refuse():
    with pytest.raises(ValueError, match="integrates over 2 axes"):
        metrics.cell_area([1, 1]).space((4,))
    with pytest.raises(ValueError, match="2 channels"):
        metrics.phase_space(metrics.periodic_l2(1.0)).space((3, 8))
    with pytest.raises(ValueError, match="positive and finite"):
        metrics.periodic_l2(-1.0)
    with pytest.raises(ValueError, match="do not fit"):
        metrics.weights(np.ones(3)).space((4,))
    with pytest.raises(ValueError, match="at least 2 nodes"):
        metrics.trapezoid(1.0).space((1,))
