"""Reactions that trials of certificates draw, and a residual for those that never look at one."""

import numpy as np


def cubic(linear, factor):
    return lambda u: linear * u + factor * (u * u * u)


def sinh(strength):
    return lambda u: strength * np.sinh(u) + u


def unused(u):
    """Certificates against the equation do not look at its discretisation."""
    return u
