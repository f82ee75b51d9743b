"""Certificates with uncertain data: the solution of every admissible problem lies inside; twins that forget a term do not."""

import equinox as eqx
import numpy as np
import pytest

import physrank as pr
from helpers import solve
from physrank.certificates import reaction_diffusion as validated
from physrank.certificates.reaction_diffusion_data import UncertainData
from problems import reaction_diffusion

NAMES = ("diffusion", "forcing", "linear", "cubic")


def library(problem, random, count=4):
    truth = solve(problem)
    found = {}
    for k in range(count):
        error = np.pad(random.standard_normal(np.array(truth.shape) - 2), 1)
        found[f"c{k}"] = truth + 0.05 * (k + 1) * np.abs(truth).max() * error / np.abs(error).max()
    return found


def admissible(problem, widths, random):
    """A problem at a corner of what is stated: signs by chance, or all alike, which moves the solution most."""
    for name, share in widths.items():
        values = np.asarray(getattr(problem, name))
        sign = random.choice([-1.0, 1.0]) if random.random() < 0.5 else random.choice([-1.0, 1.0], values.shape)
        with pr.double():
            changed = values + sign * share * np.abs(values)
            problem = eqx.tree_at(lambda p, n=name: getattr(p, n), problem, changed)
    return problem


def energy_distance(problem, widths, state, other):
    """‖s − u′‖ in the metric of the smallest admissible coefficients, by a dense matrix."""
    half = {name: share * np.abs(np.asarray(getattr(problem, name))) for name, share in widths.items()}
    with pr.double():
        metric = UncertainData.of(problem, half, state).smallest.secant_metric(state)
        z = (state - other)[(slice(1, -1),) * state.ndim]
        return float(np.sqrt(np.sum(z * np.asarray(metric.apply(z)))))


def outside(widths, trials=6, task=None, stated=None):
    """How many admissible problems have their solution or a gap outside of what is certified for the stated widths."""
    random, missed = np.random.default_rng(5), 0
    for trial in range(trials):
        problem = reaction_diffusion(1 + trial % 2, 7, cubic=random.choice([0.7, 40.0]))
        ranking = pr.rank(problem, library(problem, random), corrections=2, task=task, uncertainty=stated or widths)
        certificate = pr.certify(problem, ranking)
        assert not certificate.failed
        assert certificate.kind == ("validated" if task is None else "theorem")
        for _ in range(4):
            truth = solve(admissible(problem, widths, random))
            gaps = pr.geometry.gaps_of(ranking.space, ranking.outputs, ranking.task.outputs(truth[None])[0])
            slack = 1e-9 * np.abs(gaps).max()  # the truth itself is computed
            inside = (gaps >= certificate.gaps.low - slack) & (gaps <= certificate.gaps.high + slack)
            near = energy_distance(problem, stated or widths, ranking.state, truth)
            missed += not (inside.all() and near <= certificate.enclosure.state_bound * (1 + 1e-9))
    return missed


@pytest.mark.parametrize("name", NAMES)
def test_every_admissible_solution_is_inside(name):
    assert outside({name: 0.05}) == 0


@pytest.mark.parametrize("task", [None, pr.tasks.linear(lambda u: u[..., 2:4])], ids=["field", "part of it"])
def test_every_admissible_solution_is_inside_when_all_data_are_uncertain(task):
    assert outside(dict.fromkeys(NAMES, 0.03), task=task) == 0


def test_smaller_half_widths_than_the_truth_are_noticed():
    assert outside(dict.fromkeys(NAMES, 0.2), stated=dict.fromkeys(NAMES, 0.002)) > 0


@pytest.mark.parametrize("forgotten", ["reach", "flux"])
def test_a_bound_without_one_of_its_terms_is_noticed(monkeypatch, forgotten):
    class Forgetful(UncertainData):
        @classmethod
        def of(cls, *arguments):
            whole = UncertainData.of(*arguments)
            part = {"reach": (None, whole.flux), "flux": (whole.reach, 0.0)}[forgotten]
            return UncertainData(whole.smallest, *part)

    monkeypatch.setattr(validated, "UncertainData", Forgetful)
    assert outside({"diffusion": 0.05} if forgotten == "flux" else {"forcing": 0.05}, trials=4) > 0


def test_half_widths_that_reach_zero_diffusion_certify_nothing():
    problem = reaction_diffusion(2, 6)
    candidates = library(problem, np.random.default_rng(0))
    certificate = pr.certify(problem, pr.rank(problem, candidates, uncertainty={"diffusion": 1.0}))
    assert certificate.certified_pairs[0] == 0


def test_wider_data_certify_less_and_none_is_the_plain_certificate():
    problem = reaction_diffusion(2, 8)
    candidates = library(problem, np.random.default_rng(1))
    plain = pr.certify(problem, pr.rank(problem, candidates))
    bounds = [
        pr.certify(problem, pr.rank(problem, candidates, uncertainty={"cubic": share, "linear": share}))
        for share in (0.0, 0.01, 0.1)
    ]
    np.testing.assert_allclose(bounds[0].gaps.low, plain.gaps.low, rtol=1e-6, atol=1e-12)
    widths = [b.enclosure.state_bound for b in bounds]
    assert widths[0] < widths[1] < widths[2]
    assert any("off by no more than you stated" in a.statement for a in bounds[1].enclosure.assumptions)
