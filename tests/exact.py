"""Exact solutions that the equations are held against."""

import numpy as np
from scipy.optimize import brentq


def breather(t, x, omega=0.6):
    """The standing breather and its time derivative, on the line; its tails vanish on a long interval."""
    eta = np.sqrt(1 - omega**2)
    ratio = eta / omega * np.cos(omega * t) / np.cosh(eta * x)
    rate = -eta * np.sin(omega * t) / np.cosh(eta * x)
    return 4 * np.arctan(ratio), 4 * rate / (1 + ratio**2)


def kinks(t, x, speed=0.4):
    """A kink and an antikink far apart, moving together: periodic up to e^{-30}."""
    gamma = 1 / np.sqrt(1 - speed**2)

    def one(centre):
        z = np.exp(gamma * (x - centre - speed * t))
        return 4 * np.arctan(z), -4 * speed * gamma * z / (1 + z**2)

    (u1, v1), (u2, v2) = one(-20.0), one(20.0)
    return u1 - u2, v1 - v2


def sod(x, t, gamma=1.4):
    """The exact solution of Sod's problem (left 1, 0, 1; right 0.125, 0, 0.1; diaphragm at 0.5)."""
    rl, pl, rr, pr_ = 1.0, 1.0, 0.125, 0.1
    cl, cr, g = np.sqrt(gamma * pl / rl), np.sqrt(gamma * pr_ / rr), gamma

    def right(p):
        return (p - pr_) * np.sqrt(2 / ((g + 1) * rr) / (p + (g - 1) / (g + 1) * pr_))

    def left(p):
        return 2 * cl / (g - 1) * (1 - (p / pl) ** ((g - 1) / (2 * g)))

    p = brentq(lambda q: left(q) - right(q), 1e-6, 1.0)
    u = left(p)
    r1 = rl * (p / pl) ** (1 / g)
    r2 = rr * (p / pr_ + (g - 1) / (g + 1)) / ((g - 1) / (g + 1) * p / pr_ + 1)
    shock = cr * np.sqrt((g + 1) / (2 * g) * p / pr_ + (g - 1) / (2 * g))
    c1 = cl - (g - 1) / 2 * u
    s = (x - 0.5) / t
    fan_u = 2 / (g + 1) * (cl + s)
    fan_c = np.maximum(cl - (g - 1) / 2 * fan_u, 0.0)  # outside the fan it is not used
    pieces = [s < -cl, s < u - c1, s < u, s < shock]
    density = np.select(pieces, [rl, rl * (fan_c / cl) ** (2 / (g - 1)), r1, r2], rr)
    velocity = np.select(pieces, [0, fan_u, u, u], 0.0)
    pressure = np.select(pieces, [pl, pl * (fan_c / cl) ** (2 * g / (g - 1)), p, p], pr_)
    return np.stack([density, velocity, pressure])
