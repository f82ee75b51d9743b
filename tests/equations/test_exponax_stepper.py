"""Any exponax stepper is a physics; other things are refused."""

import warnings

import exponax as ex
import jax.numpy as jnp
import numpy as np
import pytest

import laws
import physrank as pr
from physrank.equations import ExponaxStepper, UnderResolvedWarning


@pytest.fixture
def promotion():
    return "standard"  # exponax itself mixes real and complex


def _steppers():
    with pr.double():
        grid = np.asarray(ex.make_grid(1, 20.0, 64))
        plane = np.asarray(ex.make_grid(2, 2 * np.pi, 16))
        return {
            "KdV": (ex.stepper.KortewegDeVries(1, 20.0, 64, 0.005), np.exp(-((grid - 10) ** 2))),
            "Kuramoto–Sivashinsky": (ex.stepper.KuramotoSivashinsky(1, 20.0, 64, 0.05), np.cos(2 * np.pi * grid / 20)),
            "Navier–Stokes": (
                ex.stepper.NavierStokesVorticity(2, 2 * np.pi, 16, 0.02, diffusivity=0.05),
                np.sin(plane[:1]) * np.cos(2 * plane[1:]),
            ),
        }


@pytest.mark.parametrize("name", ["KdV", "Kuramoto–Sivashinsky", "Navier–Stokes"])
def test_any_exponax_stepper_is_a_physics(name):
    stepper, initial = _steppers()[name]
    problem = ExponaxStepper(stepper, initial)
    rows = [initial]
    for _ in range(6):
        rows.append(np.asarray(stepper(jnp.asarray(rows[-1]))))
    truth = np.stack(rows)  # by exponax itself
    ramp = np.linspace(0, 1, 7).reshape(-1, *[1] * initial.ndim)
    candidates = {
        "far": truth * (1 + 0.2 * ramp),
        "near": truth * (1 + 0.05 * ramp),
        "shifted": np.roll(truth, 1, -1) * ramp + truth * (1 - ramp),
    }
    ranking = pr.rank(problem, candidates)
    true = [ranking.space.norm(v[-1] - truth[-1]) for v in candidates.values()]
    assert ranking.order == [ranking.names[i] for i in np.argsort(true)]
    assert pr.rank(problem, candidates, effort="response").residual_floor(truth) < 1e-10
    np.testing.assert_allclose(laws._defect(problem, jnp.asarray(truth)), 0, atol=1e-12)


def test_exponax_door_refuses_other_things():
    stepper, initial = _steppers()["KdV"]
    with pytest.raises(ValueError, match="Expected an exponax stepper"):
        ExponaxStepper(lambda u: u, initial)
    with pytest.raises(ValueError, match=r"expects \(channels, \*space\) = \(1, 64\)"):
        ExponaxStepper(stepper, initial[0])


def test_exponax_noise_warns():
    with pr.double():
        stepper = ex.stepper.Burgers(1, 2 * np.pi, 64, 0.01, diffusivity=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for smooth in (np.full((1, 64), 1 / 3), np.sin(np.arange(64) * 2 * np.pi / 64)[None]):
            ExponaxStepper(stepper, smooth)
    with pytest.warns(UnderResolvedWarning, match="initial is under-resolved"):
        ExponaxStepper(stepper, np.random.default_rng(0).standard_normal((1, 64)))
