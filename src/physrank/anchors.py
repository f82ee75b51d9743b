"""Anchors: rules that turn a library into the one state at which the physics is linearised."""

from physrank.ranking.anchors import Anchor, candidate, given, mean, medoid

__all__ = ["Anchor", "candidate", "given", "mean", "medoid"]
