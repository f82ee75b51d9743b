"""The local Newton enclosure: constants supplied or computed, and where it must abstain."""

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import physrank as pr
from fields import field_problem, zero_of
from physrank import compute
from physrank.certificates import Assumption, LocalNewton, newton
from trials import Judged


def bilinear(x, data):
    return data[0] @ x + jnp.einsum("ijk,j,k->i", data[1], x, x) / 2 - data[2]


def quadratic(seed: int, n: int = 6):
    """x + B(x, x)/2 − f = 0 with a random bilinear B and a known zero."""
    random = np.random.default_rng(seed)
    tensor = 0.3 * random.standard_normal((n, n, n)) / n
    zero = random.standard_normal(n)
    linear = np.eye(n) * 2 + 0.3 * random.standard_normal((n, n))
    f = linear @ zero + np.einsum("ijk,j,k->i", tensor, zero, zero) / 2
    return pr.Stationary(bilinear, (linear, tensor, f), solver=pr.Dense()), zero, tensor


def around(zero: np.ndarray, size: float, seed: int = 0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {f"c{k}": zero + size * random.standard_normal(zero.shape) for k in range(4)}


def holds(certificate, ranking, zero) -> bool:
    gaps = pr.geometry.gaps_of(ranking.space, ranking.outputs, zero)
    return bool(np.all((certificate.gaps.low <= gaps + 1e-13) & (gaps - 1e-13 <= certificate.gaps.high)))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("corrections", [1, 2])
def test_quadratic_problems_with_computed_constants(seed, corrections):
    problem, zero, _ = quadratic(seed)
    ranking = pr.rank(problem, around(zero, 0.05, seed), corrections=corrections)
    certificate = pr.certify(problem, ranking, by=LocalNewton(degree=2))
    assert not certificate.failed
    assert certificate.kind == "theorem"
    assert holds(certificate, ranking, zero)
    assert np.linalg.norm(ranking.state - zero) <= certificate.enclosure.state_bound * (1 + 1e-9) + 1e-13
    assert certificate.certified_pairs[0] >= 5


def test_bounds_shrink_quadratically():
    problem, zero, _ = quadratic(0)
    found = []
    for size in (0.04, 0.02, 0.01):
        ranking = pr.rank(problem, around(zero, size))
        found.append(pr.certify(problem, ranking, by=LocalNewton(degree=2)).enclosure.state_bound)
    slopes = np.diff(np.log(found)) / np.log(0.5)
    np.testing.assert_allclose(slopes, 2.0, atol=0.15)


def test_a_cubic_problem_and_supplied_constants():
    """x + x³ = f entry by entry: β ≤ 1, and Λ = 6 (|v| + R₀) on the ball."""
    zero = np.array([0.5, -0.3, 0.8])
    problem = pr.Stationary(lambda x: x + x**3 - (zero + zero**3), solver=pr.Dense())
    ranking = pr.rank(problem, around(zero, 0.05))
    computed = pr.certify(problem, ranking, by=LocalNewton(degree=3))
    stated = pr.certify(problem, ranking, by=LocalNewton(inverse=1.0, lipschitz=6 * (0.9 + 0.1), radius=0.1))
    for certificate in (computed, stated):
        assert not certificate.failed
        assert holds(certificate, ranking, zero)
    too_small = pr.certify(problem, ranking, by=LocalNewton(inverse=1.0, lipschitz=6.0, radius=1e-6))
    assert [a.statement for a in too_small.failed] == ["the ball is inside the one where Λ holds"]
    assert too_small.certified_pairs[0] == 0


def test_far_anchors_get_no_certificate():
    problem, zero, _ = quadratic(1)
    ranking = pr.rank(problem, around(zero, 30.0), allow_unresolved=True)
    certificate = pr.certify(problem, ranking, by=LocalNewton(degree=2))
    assert any("close enough" in a.statement for a in certificate.failed)
    assert certificate.best is None


def test_the_wrong_branch_is_certified_as_what_it_is():
    """x² = 1: a candidate at −1 has no residual and an error of 2 against the designated truth 1."""
    problem = pr.Stationary(lambda x: x**2 - 1.0, solver=pr.Dense())
    given = {"on the other branch": np.array([-1.0]), "near it": np.array([-0.98])}
    ranking = pr.rank(problem, given)
    certificate = pr.certify(problem, ranking, by=LocalNewton(degree=2))
    assert "not proved" in certificate.target  # nothing is said about the designated branch
    assert holds(certificate, ranking, np.array([-1.0]))
    assert not holds(certificate, ranking, np.array([1.0]))
    # The branch as a discrepancy: with the other zero admitted, the decision is open again.
    both = pr.geometry.FiniteSet(np.array([[0.0], [2.0]]))
    opened = pr.certify(problem, ranking, by=LocalNewton(degree=2), discrepancy=both)
    assert opened.best is None
    assert holds(opened, ranking, np.array([1.0]))


def test_a_dropped_remainder_would_be_caught(monkeypatch):
    """The twin that must fail: without the curvature, and without a look at the correction, it misses the truth."""
    monkeypatch.setattr(newton, "_uncontradicted", lambda *_: Assumption("nobody looked", True, "–"))
    problem, zero, _ = quadratic(2)
    ranking = pr.rank(problem, around(zero, 0.2, 3))
    flat = pr.certify(problem, ranking, by=LocalNewton(lipschitz=0.0))
    assert not holds(flat, ranking, zero)


def test_what_is_needed_is_said():
    with pytest.raises(ValueError, match="Give lipschitz"):
        LocalNewton()
    problem = pr.Stationary(lambda x: x + x**3 - 1.0, solver=pr.Krylov(method="cg"))
    ranking = pr.rank(problem, {"a": np.full(200, 0.7), "b": np.full(200, 0.6)})
    with pytest.raises(ValueError, match="up to 150 unknowns"):
        pr.certify(problem, ranking, by=LocalNewton(degree=3))


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


def test_newtons_constants_are_held_against_the_correction():
    problem = pr.Stationary(lambda x: x**2 - 1.0)
    ranking = pr.rank(problem, {"a": np.array([1.4]), "b": np.array([1.5])})
    for stated in ({"lipschitz": 0.0}, {"inverse": 1e-6, "lipschitz": 2.0}):
        certificate = pr.certify(problem, ranking, by=LocalNewton(**stated))
        assert any("contradicts neither" in a.statement for a in certificate.failed)


def linear(x, data):
    return data[0] @ x - data[1]


def test_the_defect_of_an_adjoint_solve_has_round_off_of_its_own():
    """‖Qᵀ W (y_i − y_j) − Lᵀ z‖ in many digits: as computed it is often too small, with its error never."""
    below = 0
    for seed in range(6):
        random = np.random.default_rng(seed)
        left, right = (np.linalg.qr(random.standard_normal((4, 4)))[0] for _ in range(2))
        matrix = left @ np.diag(np.geomspace(1, 1e-9, 4)) @ right
        state = random.standard_normal(4)
        problem = pr.Stationary(linear, (matrix, matrix @ state), solver=pr.Dense())
        ranking = Judged(problem, state, random.standard_normal((3, 4)), pr.tasks.field())
        solved = compute.run(newton._linearised, problem, state, state, newton.pulled_differences(ranking))
        solved = (solved[0], solved[1], solved[3])
        seen = newton._Seen.of(problem, ranking, state, state, solved, LocalNewton(degree=1))
        z = np.concatenate([np.zeros((1, 4)), solved[2].value])
        i, j = np.triu_indices(3, 1)
        outputs, weights = ranking.outputs, ranking.space.weights
        rows = compute.run(
            newton._adjoint_left, problem, None, state, state, weights, (outputs[i], outputs[j]), z[i] - z[j]
        )
        with mpmath.workdps(50):
            digits = np.vectorize(mpmath.mpf, otypes=[object])
            exact = digits(weights) * (digits(outputs[i]) - digits(outputs[j])) - digits(z[i] - z[j]) @ digits(matrix)
            norms = [mpmath.sqrt(mpmath.fsum(v**2 for v in row)) for row in exact]
            below += sum(newton._norm(row) < norm for row, norm in zip(rows, norms, strict=True))
            assert all(seen.missing[a, b] >= norm for a, b, norm in zip(i, j, norms, strict=True))
    assert below > 0


def one_unknown(residual, anchor, **options):
    problem = pr.Stationary(residual, solver=pr.Dense())
    ranking = pr.rank(problem, {"a": np.array([1.3]), "b": np.array([1.45])}, anchor=np.array([anchor]), **options)
    return problem, ranking


def test_it_is_sharp_for_one_unknown():
    """x² = 2 from above: e − e²/2v = η, the very equation of the bound. Any smaller constant would miss the zero."""
    for anchor in (1.5, 1.8, 2.5):
        problem, ranking = one_unknown(lambda x: x**2 - 2, anchor)
        found = LocalNewton(degree=2)(problem, ranking)
        error = abs(float(ranking.state[0]) - np.sqrt(2))
        assert error <= found.state_bound <= error * (1 + 1e-6)
        true = pr.geometry.gaps_of(ranking.space, ranking.outputs, np.sqrt([2.0]))[0, 1]
        moved, width = abs(true - ranking.gaps[0, 1]), (found.gaps.high - found.gaps.low)[0, 1]
        assert moved <= width / 2 <= moved * (1 + 1e-6)
        assert found.zero is not None and anchor - np.sqrt(2) <= found.zero.within <= (anchor - np.sqrt(2)) * (1 + 1e-6)
        assert found.zero.alone < anchor + np.sqrt(2)  # the other zero is not in the ball


def test_too_far_begins_where_the_equation_of_the_bound_has_no_solution():
    """4aη = (2 − v²)/v² for x² = 2: at v = 1 it is one."""
    for anchor, holds_there in ((1.01, True), (0.99, False), (0.8, False)):
        problem, ranking = one_unknown(lambda x: x**2 - 2, anchor)
        found = LocalNewton(degree=2)(problem, ranking)
        assert [a.holds for a in found.assumptions if "close enough" in a.statement] == [holds_there]
        assert np.any(found.gaps.signs) <= holds_there


def test_the_third_derivative_counts_where_the_second_vanishes():
    """x + x³ = 0.1 from 0: all of the remainder is e³."""
    problem, ranking = one_unknown(lambda x: x + x**3 - 0.1, 0.0)
    zero = np.roots([1, 0, 1, -0.1])
    zero = float(zero[np.abs(zero.imag) < 1e-12].real[0])
    found = LocalNewton(degree=3)(problem, ranking)
    assert all(a.holds for a in found.assumptions)
    assert abs(float(ranking.state[0]) - zero) <= found.state_bound < 1


def test_a_degree_that_is_too_low_is_noticed():
    problem, ranking = one_unknown(lambda x: x + 0.01 * x**3 - 1.4, 1.4)
    for degree, fine in ((2, False), (3, True)):
        found = LocalNewton(degree=degree)(problem, ranking)
        assert [a.holds for a in found.assumptions if "polynomial of degree" in a.statement] == [fine]


def test_operations_without_a_bound_of_their_round_off_make_an_estimate():
    for residual, kind in ((lambda x: x**2 - 2, "theorem"), (lambda x: x**2 - 2 + 0 * jnp.sinh(x), "estimate")):
        assert LocalNewton(degree=2)(*one_unknown(residual, 1.5)).kind == kind


def test_problems_on_the_host_are_certified_with_constants_that_are_stated():
    matrix, rhs = np.diag([3.0, 2.0, 4.0]) + 0.1, np.ones(3)
    problem, truth = pr.Linear(matrix, rhs), np.linalg.solve(matrix, rhs)
    ranking = pr.rank(problem, {"a": 1.1 * truth, "b": 1.3 * truth})
    found = LocalNewton(inverse=1.0, lipschitz=0.0)(problem, ranking)
    assert found.kind == "estimate" and found.state_bound < 1e-12
    with pytest.raises(ValueError, match="not written in it"):
        LocalNewton(degree=1)(problem, ranking)
