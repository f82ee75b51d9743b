"""The theorem for monotone problems: users' own metrics, and metrics that a solve or the candidates refute."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from fields import NODES, field_problem, solved, zero_of
from physrank.certificates import LocalNewton, StronglyMonotone


def test_your_own_monotone_problem():
    """−u'' + u + u³ = f by the user's own residual, metric and constant."""
    n = 20
    h = 1 / (n + 1)
    f = 10 * np.sin(np.pi * h * np.arange(1, n + 1))

    def stiffness(u):
        padded = jnp.pad(u, 1)
        return (2 * u - padded[:-2] - padded[2:]) / h**2

    problem = pr.Stationary(lambda u: stiffness(u) + u + u**3 - f, solver=pr.Dense())
    by = StronglyMonotone(
        metric=lambda s: lambda z: stiffness(z) + (1 + 0.75 * s**2) * z,
        coercivity=lambda s: 1 + 4 / h**2 * np.sin(np.pi * h / 2) ** 2,
    )
    with pr.double():
        truth = np.asarray(solved(problem, jnp.zeros(n)))
    random = np.random.default_rng(0)
    given = {f"m{k}": truth + 0.1 * random.standard_normal(n) for k in range(4)}
    ranking = pr.rank(problem, given)
    certificate = pr.certify(problem, ranking, by=by)
    gaps = pr.geometry.gaps_of(ranking.space, ranking.outputs, truth)
    assert np.all(certificate.gaps.low <= gaps + 1e-12)
    assert certificate.certified_pairs[0] > 0
    assert "stated by the caller" in str(certificate)
    assert pr.certify(problem, ranking).kind == "validated"  # without a metric, of the zero next to the state
    with pytest.raises(ValueError, match="both metric and coercivity"):
        StronglyMonotone(metric=lambda s: lambda z: z)


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


@pytest.mark.parametrize(
    "by", [StronglyMonotone(metric=lambda s: lambda z: 4 * z, coercivity=4.0), LocalNewton(degree=1)]
)
def test_a_task_that_is_only_declared_linear_proves_nothing(by):
    """A bend of 1e-10 passes where it is compared with its derivative; a bound that is sharp would be false."""
    problem, library = (
        pr.Stationary(lambda x: 4 * x - 3, solver=pr.Dense()),
        {"a": np.array([1.0]), "b": np.array([0.1])},
    )
    for task, kind in ((lambda x: 2 * x, "theorem"), (lambda x: x + 1e-10 * x**2, "estimate")):
        ranking = pr.rank(problem, library, task=pr.tasks.linear(task), anchor=np.array([2.0]))
        assert pr.certify(problem, ranking, by=by).kind == kind


def test_it_is_sharp_for_one_unknown():
    """4x = 3, half-way corrected: ‖s − u‖_M is ‖A(s)‖ in the dual norm, and the gap moves by all that is allowed."""
    problem = pr.Stationary(lambda x: 4 * x - 3)
    half = pr.Correction(step=0.5)
    ranking = pr.rank(problem, {"a": np.array([1.0]), "b": np.array([0.1])}, anchor=np.array([2.0]), corrections=half)
    found = StronglyMonotone(metric=lambda s: lambda z: 4 * z, coercivity=4.0)(problem, ranking)
    error = abs(float(ranking.state[0]) - 0.75)
    assert 2 * error <= found.state_bound <= 2 * error * (1 + 1e-9)
    true = pr.geometry.gaps_of(ranking.space, ranking.outputs, np.array([0.75]))[0, 1]
    moved, width = abs(true - ranking.gaps[0, 1]), (found.gaps.high - found.gaps.low)[0, 1]
    assert moved <= width / 2 <= moved * (1 + 1e-9)


def test_operations_without_a_bound_of_their_round_off_make_an_estimate():
    for residual, kind in ((lambda x: 4 * x - 3, "theorem"), (lambda x: 4 * x - 3 + 0 * jnp.sinh(x), "estimate")):
        problem = pr.Stationary(residual)
        ranking = pr.rank(problem, {"a": np.array([1.0]), "b": np.array([0.1])})
        assert StronglyMonotone(metric=lambda s: lambda z: 4 * z, coercivity=4.0)(problem, ranking).kind == kind


def test_a_metric_that_is_a_little_too_strong_is_refuted():
    """⟨A(s) − A(v), s − v⟩ = 2 ‖s − v‖² where 2.2 is stated."""
    problem = pr.Stationary(lambda x: 2 * x - 1)
    ranking = pr.rank(problem, {"a": np.array([1.0, 0.2]), "b": np.array([0.1, 0.3])})
    for constant, holds in ((2.0, True), (2.2, False)):
        stated = StronglyMonotone(metric=lambda s, c=constant: lambda z: c * z, coercivity=constant)
        failed = [a.statement for a in stated(problem, ranking).assumptions if not a.holds]
        assert (not failed) is holds and all("secant inequality" in statement for statement in failed)
