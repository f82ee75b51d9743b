"""Lifts: fields interpolated to a common grid."""

from physrank.physics.lifts import lift

__all__ = ["lift"]
