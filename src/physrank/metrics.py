"""Metrics: quadrature weights in which task outputs are compared."""

from physrank.physics.quadrature import Metric, cell_area, mean_square, periodic_l2, phase_space, trapezoid, weights

__all__ = ["Metric", "cell_area", "mean_square", "periodic_l2", "phase_space", "trapezoid", "weights"]
