"""Your own time stepper: any exponax stepper works as the step of a `Marching` problem. Here: Korteweg–de Vries."""

import exponax as ex
import jax.numpy as jnp
import numpy as np

import physrank as pr

with pr.double():  # exponax computes its coefficients when built: do that in double precision
    step = ex.stepper.KortewegDeVries(1, 20.0, 128, 0.01)
    start = jnp.exp(-((ex.make_grid(1, 20.0, 128) - 10) ** 2))
    waves = np.asarray(ex.rollout(step, 40, include_init=True)(start))  # stands in for what networks would predict

ramp = np.linspace(0, 1, 41)[:, None, None]  # predictions drift away from the initial state
candidates = {
    "damped": waves * (1 - 0.1 * ramp),
    "late": waves + ramp * (np.roll(waves, 1, -1) - waves),
    "bent": waves + 0.01 * ramp,
}
ranking = pr.rank(pr.Marching(step, initial=start), candidates, task=pr.tasks.terminal())

if __name__ == "__main__":
    print(ranking)
    true_errors = np.sqrt([np.mean((v[-1] - waves[-1]) ** 2) for v in candidates.values()])
    print("true errors", dict(zip(candidates, true_errors.round(5), strict=True)))
