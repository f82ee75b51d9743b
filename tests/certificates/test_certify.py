"""What a sceptic would try on `certify`: it must abstain or refuse, and never be wrong."""

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from fields import NODES, bump, candidates_around, contained, field_problem, random_problem, solved, zero_of
from helpers import with_state
from physrank.certificates import StronglyMonotone, intersect


def test_tasks_other_than_the_field_get_the_theorem():
    problem = random_problem(6, 2, 8)
    task = pr.tasks.linear(lambda state: state[3:7, 2:5].sum(axis=1), name="a strip")
    ranking = pr.rank(problem, candidates_around(problem, 6), task=task)
    certificate = pr.certify(problem, ranking)
    assert certificate.kind == "theorem"
    with pr.double():
        truth = solved(problem, jnp.asarray(ranking.state))
    target = task.outputs(np.asarray(truth)[None])[0]
    gaps = pr.geometry.gaps_of(ranking.space, ranking.outputs, target)
    assert np.all(certificate.gaps.low <= gaps + 1e-12)
    assert np.all(gaps - 1e-12 <= certificate.gaps.high)


def test_failed_assumptions_leave_everything_open():
    problem = random_problem(7, 2, 8)
    given = candidates_around(problem, 7)
    ranking = pr.rank(problem, given)
    broken = np.asarray(ranking.state).copy()
    broken[0, 0] = 1e-3  # a boundary value that does not hold
    for state, what in ((broken, "boundary"), (np.full_like(broken, np.nan), "finite")):
        other = with_state(ranking, state)
        certificate = pr.certify(problem, other)
        assert any(what in a.statement for a in certificate.failed)
        assert certificate.best is None
        assert certificate.safe == []
        assert certificate.certified_pairs[0] == 0
        assert not np.isfinite(list(certificate.regret_bounds.values())).any()
        assert "Nothing is certified" in str(certificate)


def test_wider_uncertainty_certifies_less_and_names_the_dataset():
    problem = random_problem(8, 2, 8)
    ranking = pr.rank(problem, candidates_around(problem, 8, noise=0.02), corrections=2)
    counts = []
    for radius in (0.0, 1e-4, 1e-2, 10.0):
        certificate = pr.certify(problem, ranking, discrepancy=pr.geometry.Ball(radius))
        assert certificate.kind == "theorem"
        assert "dataset" in certificate.target
        counts.append(certificate.certified_pairs[0])
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 10
    assert counts[-1] == 0


def test_excluded_candidates_stay_open():
    problem = random_problem(9, 2, 8)
    given = candidates_around(problem, 9)
    given["broken"] = np.full_like(given["c0"], np.nan)
    certificate = pr.certify(problem, pr.rank(problem, given, invalid="exclude", corrections=2))
    assert certificate.certified_pairs == (10, 10)
    assert certificate.best == "c3" and "'broken' was excluded" in str(certificate)  # of those that could be scored
    assert np.isinf(certificate.regret_bounds["broken"]) and not certificate.signs[-1].any()
    assert np.all(certificate.signs[-1] == 0)


def test_a_task_that_picks_entries_need_not_be_the_identity():
    flipped = pr.tasks.Task("flip", lambda s: s[::-1], field_problem().metric(), linear=True, selects=True)
    for seed in range(12):
        random, problem = np.random.default_rng(seed), field_problem(seed)
        truth = zero_of(problem)
        library = {str(k): truth + bump(random, 0.1 * (k + 1)) for k in range(4)}
        ranking = pr.rank(problem, library, task=flipped)
        certificate = pr.certify(problem, ranking)
        assert certificate.kind == "theorem"  # not the validated one, which is for whole fields
        assert contained(certificate, ranking, truth)


class Shifted(pr.equations.ReactionDiffusion):
    """Not monotone: the metric of its parent says nothing about it."""

    def defect(self, state):
        return super().defect(state) - 9 * jnp.pad(state[1:-1], 1)


def test_derived_equations_do_not_inherit_a_theorem():
    parent = field_problem()
    problem = Shifted(np.asarray(parent.diffusion), np.asarray(parent.forcing), 1.0, 2.0)
    ranking = pr.rank(problem, {"a": zero_of(parent), "b": 0 * zero_of(parent)}, allow_unresolved=True)
    with pytest.raises(ValueError, match="not for classes derived"):
        pr.certify(problem, ranking)
    with pytest.raises(ValueError, match="no secant_metric of its own"):
        pr.certify(problem, ranking, by=StronglyMonotone())
    with pytest.raises(ValueError, match=r"is for equations\.ReactionDiffusion"):
        pr.certify(problem, ranking, by=pr.certificates.ValidatedReactionDiffusion())


def test_overflow_settles_nothing():
    problem = field_problem()
    truth = zero_of(problem)
    huge = np.pad(np.full(NODES - 2, 1e200), 1)
    with np.errstate(over="ignore", invalid="ignore"):
        ranking = pr.rank(problem, {"a": truth * 1.01, "b": huge, "c": 2 * huge}, anchor=truth)
        certificate = pr.certify(problem, ranking)
    assert not certificate.settled
    assert certificate.certified_pairs[1] == 3


def test_excluded_candidates_do_not_hold_the_others_back():
    problem = field_problem()
    truth = zero_of(problem)
    library = {"a": truth * 1.01, "nan": np.full(NODES, np.nan), "b": truth * 0.5}
    enough = pr.certificates.Certified(decision="best")
    ranking = pr.rank(problem, library, invalid="exclude", until=enough, max_corrections=4)
    certificate = ranking.certificate
    assert certificate.best == "a" and certificate.safe == ["a"] and certificate.settled
    assert certificate.certified_pairs == (1, 1)
    assert certificate.regret_bounds["a"] <= 0 and np.isinf(certificate.regret_bounds["nan"])


def test_rankings_of_another_problem_are_recognised():
    small, large = field_problem(), pr.equations.ReactionDiffusion(np.ones(9), np.ones(9), 1.0, 1.0)
    ranking = pr.rank(small, {"a": zero_of(small), "b": 0 * zero_of(small)})
    certificate = pr.certify(large, ranking)
    assert any("belongs to the problem" in a.statement for a in certificate.failed)


def test_arguments_say_what_they_should_be():
    problem = field_problem()
    ranking = pr.rank(problem, {"a": zero_of(problem) * 1.1, "b": 0 * zero_of(problem)})
    with pytest.raises(ValueError, match=r"certify\(problem, ranking"):
        pr.certify(ranking, problem)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="discrepancy must be a radius or a set"):
        pr.certify(problem, ranking, discrepancy="wide")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="max_corrections"):
        pr.rank(problem, {"a": zero_of(problem)}, until="certified", max_corrections=0)
    by_number = pr.certify(problem, ranking, discrepancy=1e-3)
    by_ball = pr.certify(problem, ranking, discrepancy=pr.geometry.Ball(1e-3))
    np.testing.assert_array_equal(by_number.gaps.low, by_ball.gaps.low)
    wide = pr.certificates.Certified(discrepancy=10.0)
    assert not pr.rank(problem, {"a": zero_of(problem), "b": 0 * zero_of(problem)}, until=wide).certificate.settled


def test_several_anchors_prove_together_and_must_belong_together():
    problem = field_problem()
    truth = zero_of(problem)
    library = {"a": truth * 1.02, "b": truth * 0.8, "c": truth * 1.3}
    anchors = {name: pr.certify(problem, pr.rank(problem, library, anchor=name)) for name in ("mean", "medoid", "c")}
    both = intersect(anchors)
    for one in anchors.values():
        assert np.all(both.gaps.low >= one.gaps.low) and np.all(both.gaps.high <= one.gaps.high)
    assert both.kind == "validated" and both.best == "a"
    assert contained(both, pr.rank(problem, library), truth)
    backwards = dict(reversed(library.items()))
    with pytest.raises(ValueError, match="agree in their names"):
        intersect(anchors | {"other": pr.certify(problem, pr.rank(problem, backwards))})


def test_only_certificates_of_one_thing_are_joined():
    problem, other = field_problem(0), field_problem(0, cubic=3.0)
    truth = zero_of(problem)
    library = {"a": truth * 1.02, "b": truth * 0.8}
    ranking = pr.rank(problem, library)
    first = pr.certify(problem, ranking)
    for different in (
        pr.certify(other, pr.rank(other, library)),
        pr.certify(problem, pr.rank(problem, {"a": truth * 1.02, "b": truth * 0.81})),
    ):
        with pytest.raises(ValueError, match="is about another problem"):
            intersect({"first": first, "second": different})
    wide, narrow = (pr.certify(problem, ranking, discrepancy=r) for r in (0.5, 1e-6))
    with pytest.raises(ValueError, match="agree in their target"):
        intersect({"wide": wide, "narrow": narrow})
    boxes = [pr.certify(problem, ranking, discrepancy=pr.geometry.Box(w)) for w in (0.5, 1e-6)]
    with pytest.raises(ValueError, match="another discrepancy"):
        intersect({"wide": boxes[0], "narrow": boxes[1]})
    assert "stated by the caller" in str(wide) and "ball of radius 0.5" in str(wide)
    assert "not of the dataset" in str(wide)


def test_a_class_in_place_of_a_method_is_refused_with_what_to_write():
    problem = field_problem()
    library = {"a": zero_of(problem) * 1.1, "b": 0 * zero_of(problem)}
    ranking = pr.rank(problem, library)
    with pytest.raises(ValueError, match=r"write by=EnclosedZero\(\) instead of by=EnclosedZero"):
        pr.certify(problem, ranking, by=pr.certificates.EnclosedZero)
    with pytest.raises(ValueError, match=r"write by=RoughReactionDiffusion\(diffusion=…, forcing=…\)"):
        pr.certificates.Certified(by=pr.certificates.RoughReactionDiffusion)
    with pytest.raises(ValueError, match="by must be a method such as"):
        pr.certify(problem, ranking, by="energy")  # pyright: ignore[reportArgumentType]


def test_rank_until_certified_takes_the_method():
    problem = field_problem()
    library = {"a": zero_of(problem) * 1.1, "b": 0 * zero_of(problem)}
    by = pr.certificates.ValidatedReactionDiffusion()
    named, ruled = (
        pr.rank(problem, library, **how).certificate
        for how in ({"until": "certified", "by": by}, {"until": pr.certificates.Certified(by=by)})
    )
    np.testing.assert_array_equal(named.gaps.low, ruled.gaps.low)
    assert named.best == "a"
    for until in (None, "settled", pr.certificates.Certified()):
        with pytest.raises(ValueError, match='goes with until="certified"'):
            pr.rank(problem, library, until=until, by=by)
