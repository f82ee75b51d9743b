"""What a sceptic would try on a certificate: it must abstain or refuse, and never be wrong."""

import dataclasses
import json

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank.certificates import BurgersEnergy, LocalNewton, StronglyMonotone, intersect
from physrank.certificates.diffusion_reaction import largest
from physrank.geometry import FiniteSet, gaps_of

NODES = 17
solved = eqx.filter_jit(lambda problem, guess: problem.solve(guess).state)


def field_problem(seed=0, **options):
    random = np.random.default_rng(seed)
    a, f = 10 ** random.uniform(-0.5, 0.5, NODES), 5 * random.standard_normal(NODES)
    return pr.equations.ReactionDiffusion(a, f, options.get("linear", 1.0), options.get("cubic", 2.0))


def zero_of(problem):
    with pr.double():
        return np.asarray(solved(problem, jnp.zeros(NODES)))


def bump(random, size):
    return size * np.pad(random.standard_normal(NODES - 2), 1)


def contained(certificate, ranking, truth):
    gaps = gaps_of(ranking.space, ranking.outputs, ranking.task.outputs(truth[None])[0])
    slack = 1e-14 * np.abs(gaps).max()
    return bool(np.all((certificate.gaps.low - slack <= gaps) & (gaps <= certificate.gaps.high + slack)))


IDENTITY = pr.tasks.linear(lambda state: state, field_problem().metric())


@pytest.mark.parametrize("size", [1e-6, 1e-8, 1e-9, 1e-10])
def test_nearly_equal_candidates_are_not_decided_by_round_off(size):
    for seed in range(12):
        random, problem = np.random.default_rng(seed), field_problem(seed)
        truth = zero_of(problem)
        near, away = truth + bump(random, 0.3), bump(random, size)
        library = {"far": truth * 0, "middle": near, "plus": near + away, "minus": near - away}
        ranking = pr.rank(problem, library, task=IDENTITY, anchor=truth + bump(random, 1.0))
        certificate = pr.certify(problem, ranking)
        assert certificate.kind == "theorem"
        assert contained(certificate, ranking, truth)


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


def test_a_discrepancy_is_measured_in_the_product_of_the_gaps():
    """cos(nx/2) counts twice on the grid; functions, which this certificate compares, count it once."""
    points, times = 16, np.linspace(0, 0.1, 3)
    x = np.arange(points) * 2 * np.pi / points
    problem = pr.equations.Burgers(np.zeros(points), 0.1, times, points=points)
    last = np.array([0.0, 0.0, 1.0])[:, None]
    ranking = pr.rank(problem, {"a": 0.6 * last * np.cos(8 * x), "b": 0 * last * x})
    for size in (0.2, 0.4):
        shifted = pr.certify(problem, ranking, discrepancy=FiniteSet([size * np.cos(8 * x)]))
        expected = np.pi * ((size - 0.6) ** 2 - size**2)  # ‖z − b‖ … of functions: ∫ cos² = π
        assert shifted.gaps.low[1, 0] <= expected * (1 - 1e-9) or np.isclose(shifted.gaps.low[1, 0], expected)
        assert np.isclose(shifted.gaps.high[1, 0], expected, atol=1e-6)
        assert shifted.best == ("a" if expected < 0 else "b")


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


@pytest.mark.parametrize(
    ("where", "value", "said"),
    [
        (lambda p: p.cubic, jnp.asarray(-5.0), "cubic coefficient"),
        (lambda p: p.diffusion, None, "smallest diffusion"),
    ],
)
def test_hypotheses_are_checked_even_when_constructors_are_bypassed(where, value, said):
    problem = field_problem(linear=60.0)
    truth = zero_of(problem)
    library = {"a": truth + 0.01 * np.pad(np.ones(NODES - 2), 1), "b": truth * 0}
    ranking = pr.rank(problem, library)
    with pr.double():
        changed = eqx.tree_at(where, problem, -problem.diffusion if value is None else value)
    for by in (None, StronglyMonotone()):
        certificate = pr.certify(changed, ranking, by=by)
        assert any(said in a.statement for a in certificate.failed)
        assert certificate.best is None and not certificate.signs.any()


@pytest.mark.parametrize(("sign", "constant"), [(-1.0, 1.0), (1.0, 1e6)])
def test_a_solve_can_refute_the_stated_metric(sign, constant):
    problem = pr.Stationary(lambda s: s**3 + s - 1.0)
    ranking = pr.rank(problem, {"a": np.full(5, 0.7), "b": np.full(5, 0.2)})
    stated = StronglyMonotone(metric=lambda s: lambda z: sign * z, coercivity=lambda s: jnp.asarray(constant))
    certificate = pr.certify(problem, ranking, by=stated)
    assert any("no solve contradicts" in a.statement for a in certificate.failed)
    assert certificate.best is None and not certificate.signs.any()


def test_newtons_constants_are_checked_and_attributed():
    for bad in ({"inverse": 0.0, "lipschitz": 1.0}, {"inverse": -1.0, "lipschitz": 1.0}, {"lipschitz": -1e6}):
        with pytest.raises(ValueError, match="must be a number"):
            LocalNewton(**bad)
    problem = field_problem()
    truth = zero_of(problem)
    ranking = pr.rank(problem, {"a": truth * 1.001, "b": truth * 0.9})
    said = str(pr.certify(problem, ranking, by=LocalNewton(inverse=np.float64(1), lipschitz=np.float64(1))))
    assert "β and Λ stated by the caller" in said
    wrong = pr.certify(problem, ranking, by=LocalNewton(degree=1))
    assert any("polynomial of degree 1" in a.statement for a in wrong.failed)
    right = pr.certify(problem, ranking, by=LocalNewton(degree=3))
    assert not any("polynomial" in a.statement for a in right.failed)


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


def test_a_stored_certificate_can_be_read_pair_by_pair():
    problem = field_problem()
    truth = zero_of(problem)
    ranking = pr.rank(problem, {"a": truth * 1.01, "b": truth * 0.5})
    stored = json.loads(json.dumps(pr.certify(problem, ranking).to_dict(), allow_nan=False))
    assert stored["names"] == ["a", "b"] and stored["signs"] == [[0, 1], [-1, 0]]
    assert stored["gaps"]["low"][0][1] <= stored["gaps"]["proxy"][0][1] <= stored["gaps"]["high"][0][1]


def test_a_failed_certificate_claims_nothing_in_any_form():
    problem = field_problem()
    ranking = pr.rank(problem, {"only": zero_of(problem)})
    broken = dataclasses.replace(ranking, scoring=dataclasses.replace(ranking.scoring, unresolved="made so"))
    certificate = pr.certify(problem, broken)
    assert certificate.best is None and certificate.safe == [] and np.isinf(certificate.regret_bounds["only"])
    assert str(certificate).startswith("No certificate") and "validated" not in str(certificate)


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


def test_largest_eigenvalues_do_not_cancel():
    """Rates for a large slope tend to −1 from above, and never below."""
    for slope in 10.0 ** np.arange(2, 17):
        rate = largest((1 - slope, 0.0, -1.0), (1.0, 0.0, 1.0))
        assert rate == pytest.approx(-1.0, abs=1e-12)


def test_bounds_that_contradict_each_other_are_a_failed_assumption(monkeypatch):
    points = 16
    x = np.arange(points) * 2 * np.pi / points
    problem = pr.equations.Burgers(np.sin(x), 0.1, np.linspace(0, 0.1, 3), points=points)
    rows = np.tile(np.sin(x), (3, 1))
    rows[1:] += 0.05 * np.sin(2 * x)
    other = np.tile(np.sin(x), (3, 1))
    other[1:] -= 0.05000001 * np.sin(2 * x)
    ranking = pr.rank(problem, {"a": rows, "b": other})
    wrong = pr.geometry.GapIntervals.around(np.array([[0.0, 9.0], [-9.0, 0.0]]), 0.1)
    monkeypatch.setattr(BurgersEnergy, "_by_pairs", lambda *_: wrong)
    monkeypatch.setattr(pr.geometry.GapIntervals, "signs", property(lambda self: np.zeros(self.low.shape, np.int8)))
    certificate = pr.certify(problem, ranking)
    assert any("contradict" in a.statement for a in certificate.failed)


def test_a_metric_that_forgets_the_boundary_is_refuted_by_the_candidates():
    """−u″ + u with boundary rows in the defect: a metric with the boundary cut off fails where boundary values differ."""
    nodes, h = 12, 1 / 11
    f = np.sin(np.linspace(0, 3, nodes))

    def defect(u):
        inside = -(u[2:] - 2 * u[1:-1] + u[:-2]) / h**2 + u[1:-1] - f[1:-1]
        return jnp.concatenate([u[:1], inside, u[-1:]])

    def apart(z):
        inner = jnp.pad(z[1:-1], 1)
        return jnp.concatenate([z[:1], -(inner[2:] - 2 * inner[1:-1] + inner[:-2]) / h**2 + inner[1:-1], z[-1:]])

    problem, x = pr.Stationary(defect), np.linspace(0, 1, nodes)
    library = {"a": 2.1 + 0 * x, "b": 2.1 + np.sin(3 * x)}
    ranking = pr.rank(problem, library, corrections=pr.Correction(step=0.5))
    certificate = pr.certify(problem, ranking, by=StronglyMonotone(metric=lambda s: apart, coercivity=1.0))
    assert any("secant inequality" in a.statement for a in certificate.failed)
    assert not any("boundary" in a.statement for a in certificate.enclosure.assumptions)
    lopsided = StronglyMonotone(metric=lambda s: lambda z: z + 0.5 * jnp.roll(z, 1), coercivity=0.1)
    assert any("symmetric" in a.statement for a in pr.certify(problem, ranking, by=lopsided).failed)


def test_a_metric_that_is_too_strong_is_refuted_and_the_right_one_is_not():
    problem = pr.Stationary(lambda s: s**3 + 2 * s - 1.0)
    ranking = pr.rank(problem, {"a": np.linspace(0.3, 0.6, 5), "b": np.linspace(0.1, 0.9, 5)})
    for factor, holds in ((1.0, True), (100.0, False)):
        metric = lambda s, c=factor: lambda z: c * (2 + 0.75 * s**2) * z  # noqa: E731
        certificate = pr.certify(problem, ranking, by=StronglyMonotone(metric=metric, coercivity=factor * 2.0))
        assert (not certificate.failed) is holds


def test_newtons_constants_are_held_against_the_correction():
    problem = pr.Stationary(lambda x: x**2 - 1.0)
    ranking = pr.rank(problem, {"a": np.array([1.4]), "b": np.array([1.5])})
    for stated in ({"lipschitz": 0.0}, {"inverse": 1e-6, "lipschitz": 2.0}):
        certificate = pr.certify(problem, ranking, by=LocalNewton(**stated))
        assert any("contradicts neither" in a.statement for a in certificate.failed)


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


def test_rounding_of_a_candidate_is_no_decision():
    points = 32
    x = np.arange(points) * 2 * np.pi / points
    problem = pr.equations.Burgers(np.sin(x), 0.1, np.linspace(0, 0.1, 3), points=points)
    rows = np.tile(np.sin(x), (3, 1))
    rows[1:] *= 0.8
    library = {"one": rows, "twin": rows * (1 + 4e-16), "other": rows * 1.1}
    certificate = pr.certify(problem, pr.rank(problem, library, corrections=3))
    assert certificate.signs[0, 1] == 0
    assert certificate.signs[0, 2] != 0


def test_a_certificate_is_stored_as_json(tmp_path):
    problem = field_problem()
    ranking = pr.rank(problem, {"a": zero_of(problem) * 1.01, "b": zero_of(problem) * 0.5})
    path = pr.certify(problem, ranking).to_json(tmp_path / "deep" / "proof.json")
    assert json.loads(path.read_text())["best"] == "a"
