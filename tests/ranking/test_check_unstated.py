"""`check` of problems whose numbers are written into their functions: nothing can be varied."""

import jax.numpy as jnp
import numpy as np

import physrank as pr


def test_what_states_no_numbers_passes_only_if_little_is_left():
    x = np.arange(64) * 10 / 64
    start = np.exp(-((x - 5) ** 2))

    def stepping(rate, xp):
        def step(u):
            for _ in range(4):
                bent = (xp.roll(u, 1) - 2 * u + xp.roll(u, -1)) / (10 / 64) ** 2
                u = u + 0.005 * (0.3 * bent + rate * u * (1 - u))
            return u

        return step

    known = [start]
    for _ in range(50):
        known.append(stepping(2.0, np)(known[-1]))
    known = np.stack(known)
    assert pr.check(pr.Marching(stepping(2.0, jnp), start), known).passes
    wrong = pr.check(pr.Marching(stepping(2.4, jnp), start), known)
    assert not wrong.passes and "no number is stated" in str(wrong)
    elsewhere = pr.check(pr.Marching(stepping(2.0, jnp), np.roll(start, 1)), known)
    assert not elsewhere.passes and elsewhere.where["the initial row"] > 0.99
