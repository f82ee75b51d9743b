"""Tasks: what is compared, and in which metric."""

from physrank.ranking.tasks import Task, field, linear, nonlinear, terminal

__all__ = ["Task", "field", "linear", "nonlinear", "terminal"]
