"""Against the equation itself: what is proved, how sharply, and what is refused."""

import dataclasses
import re
from fractions import Fraction

import equinox as eqx
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import physrank as pr
from manufactured import Manufactured
from physrank.certificates import ContinuumReactionDiffusion, intersect, reaction_diffusion_continuum
from physrank.certificates.enclosures import elliptic
from physrank.certificates.enclosures.discs import Disc
from physrank.certificates.enclosures.elliptic import inverse_bound
from physrank.certificates.enclosures.jets import evaluated
from trials import Judged, judged


def diffusion(x, y):
    return 1.5 + np.exp(0.3 * np.cos(np.pi * x) * np.sin(2 * y))


def forcing(x, y):
    return 10 * np.sin(np.pi * x) * np.sin(np.pi * y) + 3 * x * (1 - x) * y * np.exp(y)


PROBLEM = pr.equations.ReactionDiffusion(diffusion, forcing, 0.5, 0.8, points=14)
BY = ContinuumReactionDiffusion(diffusion, forcing)


def candidates(problem=PROBLEM):
    sides = [np.sin(np.pi * np.linspace(0, 1, n)) for n in problem.state_shape]
    bump = np.multiply.outer(sides[0], sides[1]) if len(sides) == 2 else sides[0]
    return {f"{size:g}": size * bump for size in (0.1, 0.17, 0.25)}


@pytest.fixture(scope="module")
def ranking():
    return pr.rank(PROBLEM, candidates(), effort="response")


def test_the_certificate_says_what_it_is_about(ranking):
    certificate = pr.certify(PROBLEM, ranking, by=BY)
    assert certificate.kind == "theorem" and not certificate.failed
    assert certificate.certified_pairs == (3, 3)
    assert "differential equation itself" in certificate.target
    grid_error = certificate.enclosure.state_bound  # of the grid's state: that of its discretisation
    fine = pr.equations.ReactionDiffusion(diffusion, forcing, 0.5, 0.8, points=59)
    solved = pr.rank(fine, candidates(fine), effort="solve").state[::4, ::4]
    seen = np.abs(solved - pr.rank(PROBLEM, candidates(), effort="solve").state).max() * 16 / 15
    assert 0.8 * seen <= grid_error <= 1.3 * seen


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_the_bound_is_nearly_sharp(dims):
    """ũ = u + ε Π x(1 − x) with a = 1 and no reaction: ‖r‖ is known, and the theorem's constant is all that is lost."""
    coefficients = np.zeros((9,) * dims)
    coefficients[(0,) * dims] = 1e-3 * 8.0**-dims  # Π (1 − t²)/4 = Π (T_0 − T_2)/8
    lengths = [Disc.of(1.0)] * dims
    defect = elliptic.Defect(1.0, 0.0, lambda u: 0.0 * u, lengths, coefficients)
    # r = 2ε Σ_d Π_{k≠d} x_k(1 − x_k), whose mean squares are 1/30 and products of means 1/36
    square = {1: 4.0, 2: 4 * (2 / 30 + 2 / 36), 3: 4 * (3 / 900 + 6 / 30 / 36)}[dims]
    assert defect.norm() == pytest.approx(1e-3 * np.sqrt(square), rel=1e-8) and defect.norm() >= 1e-3 * np.sqrt(square)
    bound, error = elliptic.inverse_bound(lengths, defect.least_diffusion()) * defect.norm(), 1e-3 * 4.0**-dims
    assert error <= bound <= {1: 1.16, 2: 1.3, 3: 1.8}[dims] * error
    assert defect.at_uniform((5,) * dims).largest == pytest.approx(error, rel=1e-12)


def test_the_constants_of_the_error_bound():
    """By quadrature of Talenti's kernel on the ball of the same volume, and its scaling."""
    for dims, ball in ((1, 2.0), (2, np.pi), (3, 4 * np.pi / 3)):
        for volume in (1.0, 3.0):
            n = 400_000
            t = volume * ((np.arange(n) + 0.5) / n) ** 6  # dense where the kernel is steep
            measure = 6 * volume * ((np.arange(n) + 0.5) / n) ** 5 / n
            kernel = (
                np.log(volume / t) if dims == 2 else (volume ** (2 / dims - 1) - t ** (2 / dims - 1)) / (2 / dims - 1)
            )
            expected = np.sqrt(np.sum(kernel**2 * measure)) / (dims**2 * ball ** (2 / dims))
            lengths = [Disc.of(volume), *[Disc.of(1.0)] * (dims - 1)]
            assert elliptic.inverse_bound(lengths, 1.0) == pytest.approx(expected, rel=1e-6)
            assert elliptic.inverse_bound(lengths, 4.0) == pytest.approx(expected / 4, rel=1e-6)


def test_gaps_move_by_twice_the_error(monkeypatch):
    """−u″ = 2, and a polynomial that is a thousandth too large: a rival that differs at the summit alone sees all of it."""
    honest = reaction_diffusion_continuum.reconstruct
    monkeypatch.setattr(reaction_diffusion_continuum, "reconstruct", lambda *given: (1.001 * honest(*given)[0], 1))
    problem = pr.equations.ReactionDiffusion(1.0, 2.0, 0.0, 0.0, points=7, dims=1)
    exact = np.linspace(0, 1, 9) * (1 - np.linspace(0, 1, 9))
    for side in (-1.0, 1.0):
        ranking = Judged(problem, exact, [exact, exact + side * (np.arange(9) == 4)], pr.tasks.field(problem.metric()))
        certificate = pr.certify(problem, ranking, by=ContinuumReactionDiffusion(1.0, 2.0))
        with mpmath.workdps(30):
            assert judged(certificate, ranking.outputs, list(map(mpmath.mpf, exact)), ranking.space.weights).false == 0
        width = certificate.gaps.high[0, 1] - certificate.gaps.low[0, 1]
        assert width <= 1.2 * 4 * 0.25e-3 * ranking.space.weights[4]


def test_what_hides_between_the_nodes_is_counted(monkeypatch):
    """T_13 vanishes at its zeros, the nodes for degree six: the tail is all that is seen of it."""
    monkeypatch.setattr(elliptic, "MOST", {1: 6})

    def forcing(x):
        before, now = 1.0, 2.0 * x - 1.0
        for _ in range(12):
            before, now = now, 2.0 * (2.0 * x - 1.0) * now - before
        return now

    defect = elliptic.Defect(1.0, forcing, lambda u: u, [Disc.of(1.0)], np.zeros(9))
    assert np.sqrt(0.5 * (1 - 1 / (4 * 13**2 - 1))) <= defect.norm() < np.inf


def own_problem(reaction, shape=(12,)):
    """−u″ + g(u) = f by differences, boundary rows u = 0, as somebody might write it."""
    random = np.random.default_rng(5)
    case = Manufactured.draw(random, len(shape), reaction)
    grid = pr.Grid.nodes(shape, [case.length] * len(shape))
    return case, grid


def test_a_reaction_of_ones_own():
    reaction = lambda u: np.sinh(u) + 2.0 * u  # noqa: E731
    case, grid = own_problem(reaction)
    x = grid.axes[0]
    problem = pr.Stationary(lambda u: u - jnp.asarray(case.forcing(x)), grid=grid)
    with mpmath.workdps(40):
        truth = case.solution((12,))
        exact = np.array([float(t) for t in truth])
        outputs = np.stack([exact * (1 + 1e-5), exact * (1 - 2e-5), exact + np.abs(exact).max()])
        ranking = Judged(problem, exact * 1.1, outputs, pr.tasks.field(grid.metric()))
        by = ContinuumReactionDiffusion(case.diffusion, case.forcing, reaction=reaction)
        certificate = pr.certify(problem, ranking, by=by)
        assert certificate.best == "c0" and certificate.certified_pairs == (3, 3)
        assert judged(certificate, outputs, truth, ranking.space.weights).false == 0
        falling = pr.certify(problem, ranking, by=dataclasses.replace(by, reaction=lambda u: -1.0 * u))
    assert any("the reaction falls" in str(a.measured) for a in falling.failed)


ROUGH = {
    "a modulus": (lambda x, y: diffusion(x, y) + np.abs(x - 0.3), "discs|np.abs"),
    "a jump": (lambda x, y: np.where(x < 0.5, 1.0, 100.0) + 0 * y, "compares"),
    "a pole close by": (lambda x, y: 1 + 1e-4 / ((x - 0.5) ** 2 + 1e-4) + 0 * y, "analytic|vanish"),
    "no function of a point": (lambda x, y: 2 + x - np.mean(x) + 0 * y, "point by point"),
    "a table": (lambda x, y: 2 + np.interp(x, [0, 1], [0, 1]) + 0 * y, "NumPy"),
    "a negative coefficient": (lambda x, y: np.cos(4.0 * x) + 0.9 + 0 * y, "as small as"),
}


@pytest.mark.parametrize("name", ROUGH)
def test_rough_coefficients_abstain_and_say_why(name, ranking):
    function, reason = ROUGH[name]
    nodes = np.meshgrid(*(np.linspace(0, 1, 16),) * 2, indexing="ij")
    values = function(*nodes)
    problem = pr.equations.ReactionDiffusion(np.maximum(values, 1e-3), forcing, 0.5, 0.8)
    if values.min() <= 0:  # as a problem may have been changed
        problem = eqx.tree_at(lambda p: p.diffusion, problem, values)
    certificate = pr.certify(problem, ranking, by=ContinuumReactionDiffusion(function, forcing))
    assert certificate.best is None and certificate.certified_pairs == (0, 3)
    assert any(re.search(reason, str(a.measured)) for a in certificate.failed), certificate


def test_other_functions_than_the_problem_holds_are_noticed(ranking):
    turned = ContinuumReactionDiffusion(lambda x, y: diffusion(y, x), forcing)
    certificate = pr.certify(PROBLEM, ranking, by=turned)
    assert [a.statement for a in certificate.failed] == [
        "the functions have the values that the problem holds at its nodes"
    ]
    with pytest.raises(ValueError, match="function of the 2 coordinates"):
        pr.certify(PROBLEM, ranking, by=ContinuumReactionDiffusion(lambda x: x, forcing))


def test_negative_reactions_and_other_tasks_are_refused(ranking):
    for where, value in ((lambda p: p.linear, -0.1), (lambda p: p.cubic, -0.01)):
        assert pr.certify(eqx.tree_at(where, PROBLEM, np.asarray(value)), ranking, by=BY).failed
    part = pr.rank(PROBLEM, candidates(), task=pr.tasks.linear(lambda u: u[3:5]), effort="response")
    assert pr.certify(PROBLEM, part, by=BY).failed
    with pytest.raises(ValueError, match=r"equations\.ReactionDiffusion"):
        BY(pr.Stationary(lambda u: u, grid=pr.Grid.nodes(5)), ranking)


def test_certificates_are_joined_only_for_the_same_functions(ranking):
    first, second = (pr.certify(PROBLEM, r, by=BY) for r in (ranking, ranking.corrected()))
    assert intersect({"one": first, "two": second}).certified_pairs == (3, 3)
    other = ContinuumReactionDiffusion(lambda x, y: diffusion(x, y), forcing)
    with pytest.raises(ValueError, match="two"):
        intersect({"one": first, "two": pr.certify(PROBLEM, ranking, by=other)})
    strength = np.ones(())
    closed = ContinuumReactionDiffusion(lambda x, y: strength * diffusion(x, y), forcing)
    third = pr.certify(PROBLEM, ranking, by=closed)
    strength[...] = 1 + 1e-8
    with pytest.raises(ValueError, match="four"):
        intersect({"three": third, "four": pr.certify(PROBLEM, ranking, by=closed)})


SABOTAGED = {
    "a small defect": ("norm", lambda honest: lambda self: 1e-6 * honest(self)),
    "a larger diffusion": ("least_diffusion", lambda honest: lambda self: 1e7 * honest(self)),
}


@pytest.mark.parametrize("name", SABOTAGED)
def test_sabotage_is_noticed(name, monkeypatch):
    """A reconstruction that was stopped early, and bounds that are too small for it: the truth falls out of the intervals."""
    method, twist = SABOTAGED[name]
    case = Manufactured.draw(np.random.default_rng(3), 1, lambda u: u)
    problem = pr.equations.ReactionDiffusion(
        case.diffusion, case.forcing, 1.0, 0.0, length=case.length, points=6, dims=1
    )
    honest = reaction_diffusion_continuum.reconstruct
    monkeypatch.setattr(reaction_diffusion_continuum, "reconstruct", lambda *given: (honest(*given)[0] * (1 + 1e-4), 1))
    wrong = []
    with mpmath.workdps(40):
        truth = case.solution((8,))
        exact = np.array([float(t) for t in truth])
        outputs = np.stack([exact * 1.00001, exact * 0.9999])
        ranking = Judged(problem, exact, outputs, pr.tasks.field(problem.metric()))
        for sabotaged in (False, True):
            if sabotaged:
                monkeypatch.setattr(elliptic.Defect, method, twist(getattr(elliptic.Defect, method)))
            certificate = pr.certify(problem, ranking, by=ContinuumReactionDiffusion(case.diffusion, case.forcing))
            wrong.append(judged(certificate, outputs, truth, ranking.space.weights).false)
    assert wrong[0] == 0 < wrong[1]


@pytest.mark.parametrize("scale", [1e-250, 1e-170, 1e-150, 1e-100, 1.0, 1e100])
def test_small_numbers_do_not_underflow_in_the_norm(scale, monkeypatch):
    """The polynomial may be anything, zero for instance: the bound then holds the solution itself."""
    force = lambda x: scale * np.sin(np.pi * x)  # noqa: E731
    problem = pr.equations.ReactionDiffusion(1.0, force, 0.0, 0.0, points=7, dims=1)
    monkeypatch.setattr(reaction_diffusion_continuum, "reconstruct", lambda _, state: (np.zeros(31), 1))
    ranking = Judged(problem, np.zeros(9), np.zeros((2, 9)), pr.tasks.field(problem.metric()))
    found = ContinuumReactionDiffusion(1.0, force)(problem, ranking)
    assert found.state_bound >= scale / np.pi**2 * (1 - 1e-9)


@pytest.mark.parametrize("length", [1e-250, 1e-200, 1e-130, 1e-100, 1e100])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_small_boxes_do_not_underflow(length, dims):
    bound = inverse_bound([Disc.of(length)] * dims, 1.0)
    assert bound >= 0.05 * length ** (2 - dims / 2) * (1 - 1e-9)  # of ‖r‖ for r = 1, whose solution is known
    assert bound > 0


def test_functions_that_answer_differently_are_refused():
    noisy = lambda x: np.sin(np.pi * x) * (1 + 1e-12 * np.random.default_rng().random())  # noqa: E731
    problem = pr.equations.ReactionDiffusion(1.0, lambda x: np.sin(np.pi * x), 0.0, 0.0, points=7, dims=1)
    ranking = Judged(problem, np.zeros(9), np.eye(9)[2:4], pr.tasks.field(problem.metric()))
    found = pr.certify(problem, ranking, by=ContinuumReactionDiffusion(1.0, noisy))
    assert "asked again" in str(found.failed)


def test_exponents_that_are_no_doubles_are_not_rounded():
    x = Disc.of(np.array([1e300]))
    found, _ = evaluated(lambda x: x ** Fraction(1, 3), [x])
    with mpmath.workdps(50):
        assert abs(mpmath.mpf(float(found.centre[0])) - mpmath.cbrt(mpmath.mpf(1e300))) <= found.radius[0]
        rounded, _ = evaluated(lambda x: x ** (1 / 3), [x])
        power = mpmath.mpf(1e300) ** mpmath.mpf(1 / 3)
        assert abs(mpmath.mpf(float(rounded.centre[0])) - power) <= rounded.radius[0]
