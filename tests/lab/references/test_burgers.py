"""Burgers references against the instrument, and certificates against the references."""

import numpy as np

import physrank as pr
from burgers_flows import fine, holds
from physrank.certificates import BurgersEnergy
from physrank.lab.inputs import BurgersInput, shifted_strata
from physrank.lab.references import burgers
from physrank.lab.references import burgers as references


def test_burgers_reference():
    times = np.linspace(0, 0.2, 9)
    cases = [BurgersInput.sample("development", k, s) for k, s in enumerate(shifted_strata(3))]
    coarse, fine = burgers.solve(cases, times, 256, 40), burgers.solve(cases, times, 512, 80)
    assert np.abs(coarse - fine[..., ::2]).max() < 1e-6
    for case, reference in zip(cases, fine, strict=True):  # the instrument, written separately, agrees
        problem = pr.equations.Burgers(case.initial, case.viscosity, times, case.forcing, points=256, substeps=20)
        state, _ = pr.scorers.DirectSolve().solution(problem, problem.state_shape)
        assert np.abs(state - reference[:, ::2]).max() < 1e-6


def test_a_second_method_agrees():
    case, times = BurgersInput.sample("development", 2, "frequency"), np.linspace(0, 0.2, 5)
    again, known = burgers.solve_adaptively(case, times, 384), burgers.solve([case], times, 384, 160)[0]
    assert again.shape == known.shape and np.abs(again - known).max() < 1e-6


def test_against_independent_references():
    """Inputs of every stratum, candidates lifted from 48 points: no violation beyond the reference's own error."""
    times = np.linspace(0, 0.2, 48)
    cases = [
        BurgersInput.sample("development", 20 + k, s) for k, s in enumerate(("frequency", "parameter", "combined"))
    ]
    settled = 0
    for case, pair in zip(cases, references.references(cases, times, 384), strict=True):
        random, coarse = np.random.default_rng(0), pair.fine[:, ::8]
        shapes = np.cumsum(random.standard_normal((4, 6, 48)), axis=1)
        errors = np.fft.irfft(np.fft.rfft(shapes, axis=-1) * (np.arange(25) < 6))[:, 0] * [[0.05], [0.1], [0.1], [0.2]]
        library = {f"v{k}": coarse + times[:, None] / 0.2 * np.abs(coarse).mean() * e for k, e in enumerate(errors)}
        problem = pr.equations.Burgers(case.initial, case.viscosity, times, case.forcing)
        ranking = pr.rank(problem, library)
        enclosure = BurgersEnergy()(problem, ranking)
        bar = np.sqrt(2 * np.pi) * pair.difference
        holds(enclosure, ranking, fine(pair.fine[-1]), slack=bar)
        settled += int(np.all(enclosure.gaps.signs + np.eye(4) != 0))
    assert settled == 3  # after a single correction
