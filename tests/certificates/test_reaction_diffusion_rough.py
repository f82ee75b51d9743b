"""Data that jump, against the equation itself: what is proved, how sharply, and what is refused."""

import dataclasses
import re
from pathlib import Path

import equinox as eqx
import mpmath
import numpy as np
import pytest

import physrank as pr
from layered import Axis, Layered
from physrank.certificates import ContinuumReactionDiffusion, Pieces, RoughReactionDiffusion, intersect
from physrank.certificates.enclosures import hypercircle
from physrank.certificates.paths import fluxes
from physrank.certificates.reaction_diffusion_rough_pairs import with_breaks
from trials import Judged, judged

INCLUSION = Pieces(((0.25, 0.75), (0.25, 0.75)), ((1.0, 1.0, 1.0), (1.0, 10.0, 1.0), (1.0, 1.0, 1.0)))


def forcing(x, y):
    return 10 * np.sin(np.pi * x) * np.sin(np.pi * y) + 3 * x


PROBLEM = pr.equations.ReactionDiffusion(INCLUSION, forcing, 0.5, 0.8, points=15)
BY = RoughReactionDiffusion(INCLUSION, forcing, cells=256)


def candidates(problem=PROBLEM):
    sides = [np.sin(np.pi * np.linspace(0, 1, n)) for n in problem.state_shape]
    bump = np.multiply.outer(sides[0], sides[1]) if len(sides) == 2 else sides[0]
    return {f"{size:g}": size * bump for size in (0.05, 0.2, 0.5)}


@pytest.fixture(scope="module")
def ranking():
    return pr.rank(PROBLEM, candidates(), effort="response")


def averaged(fine, factor):
    """Averages over the hats of a coarse grid of a function on a finer one, by the trapezoid rule."""
    hat = 1 - np.abs(np.arange(1 - factor, factor)) / factor
    for axis in range(fine.ndim):
        rows = np.moveaxis(fine, axis, 0)
        starts = range(0, len(rows) - 2 * factor + 1, factor)
        inner = [np.tensordot(hat, rows[k + 1 : k + 2 * factor], 1) / factor for k in starts]
        fine = np.moveaxis(np.stack([0 * inner[0], *inner, 0 * inner[0]]), 0, axis)
    return fine


def test_the_certificate_says_what_it_is_about(ranking):
    certificate = pr.certify(PROBLEM, ranking, by=BY)
    assert certificate.kind == "theorem" and not certificate.failed
    assert certificate.certified_pairs == (3, 3)
    assert "averages over the hat functions" in certificate.target and "L²" in certificate.enclosure.norm


def test_a_second_method_agrees(ranking):
    """Differences on a grid eight times as fine, lines on its nodes: extrapolated averages lie in the intervals."""
    certificate, averages = pr.certify(PROBLEM, ranking, by=BY), []
    for factor in (4, 8):
        axes = np.linspace(0, 1, 16 * factor + 1)
        x, y = np.meshgrid(axes, axes, indexing="ij")
        arithmetic = (INCLUSION(x - 1e-9, y - 1e-9) + INCLUSION(x, y)) / 2  # what a node on a line has matters little
        fine = pr.equations.ReactionDiffusion(arithmetic, forcing(x, y), 0.5, 0.8)
        averages.append(averaged(pr.rank(fine, candidates(fine), effort="solve").state, factor))
    weights, outputs = ranking.space.weights, ranking.outputs
    gaps = np.array([[np.sum(weights * (a - b) * (2 * averages[1] - a - b)) for b in outputs] for a in outputs])
    doubt = 4 * np.array(
        [[np.sum(weights * np.abs((a - b) * (averages[1] - averages[0]))) for b in outputs] for a in outputs]
    )
    low, high = certificate.gaps.low, certificate.gaps.high
    assert np.all(gaps >= low - doubt) and np.all(gaps <= high + doubt)
    assert np.max(doubt) < 0.2 * np.max(high - low) < 0.1 * np.max(np.abs(gaps))


def chequered(points, dims=2):
    """An exact solution on a 3 × 2 board with contrasts up to 4096, one line between nodes."""
    first = Axis((0.0, 0.25, 0.5, 1.0), ((1.0, 0.0), (2.0**-6, 0.0), (0.25, 0.0)), (1.0, 0.5, -0.25))
    second = Axis((0.0, 0.6875, 1.0), ((1.0, 0.0), (2.0**-6, 0.0)), (1.0, -0.5, 0.0))
    case = Layered((first, second)[:dims], 64.0, lambda u: 0.5 * u + 0.015625 * (u * u * u))
    options = dict(length=1.0, points=points, dims=dims)
    problem = pr.equations.ReactionDiffusion(case.diffusion, case.forcing, 0.5, 0.015625, **options)
    nodes = [[*x[:-1].tolist(), 1.0] for x in problem.grid.axes]
    return case, problem, nodes


def certified(case, problem, nodes, spread=0.02, cells=None):
    """A library around an exact solution, its certificate and what became of that."""
    with mpmath.workdps(40):
        truth = case.averages(nodes)
        exact = np.array([float(t) for t in truth]).reshape(problem.state_shape)
        waves = [np.sin(k * np.pi * np.linspace(0, 1, n)) for k, n in zip((1, 2, 3), exact.shape, strict=False)]
        wave = waves[0] if exact.ndim == 1 else np.multiply.outer(waves[0], waves[1])
        outputs = np.stack(
            [exact * (1 + spread), exact * (1 - 2 * spread), exact + 3 * spread * np.abs(exact).max() * wave]
        )
        ranking = Judged(problem, exact, outputs, pr.tasks.field(problem.metric()))
        by = RoughReactionDiffusion(case.diffusion, case.forcing, cells=cells)
        certificate = pr.certify(problem, ranking, by=by)
        verdict = judged(certificate, outputs.reshape(3, -1), truth, ranking.space.weights.ravel())
        assert certificate.enclosure.state_bound >= case.distance(exact, nodes)
    return certificate, verdict


def test_exact_solutions_with_jumps():
    certificate, verdict = certified(*chequered(15))
    assert verdict.false == 0 and certificate.certified_pairs == (3, 3)
    ends = chequered(15, dims=1)
    certificate, verdict = certified(*ends, spread=1e-4)
    assert verdict.false == 0 and certificate.certified_pairs == (3, 3)


def test_widths_fall_like_the_square_of_the_spacing():
    widths = []
    for points in (31, 63, 127):
        certificate, verdict = certified(*chequered(points, dims=1), cells=1)
        assert verdict.false == 0
        widths.append(np.max(certificate.gaps.high - certificate.gaps.low))
    assert np.all(np.abs(np.log2(np.array(widths)[1:] / widths[:-1]) + 2) <= 0.25)


def test_finer_meshes_open_pairs_ask_for():
    case, problem, nodes = chequered(15, dims=1)
    narrow = [certified(case, problem, nodes, 1e-7, cells)[0] for cells in (16, 64, 2048)]
    bounds = [np.max(certificate.gaps.high - certificate.gaps.low) for certificate in narrow]
    assert bounds[0] > 4 * bounds[1] > 100 * bounds[2]


SABOTAGED = {
    "half of the product": ("half", lambda honest: property(lambda self: 0.01 * honest.func(self))),
    "no mismatch": ("mismatch", lambda honest: property(lambda self: 0.01 * honest.func(self))),
    "nothing computed": ("along", lambda honest: lambda self, dual: hypercircle.Disc.of(0.0)),
}


@pytest.mark.parametrize("name", SABOTAGED)
def test_sabotage_is_noticed(name, monkeypatch):
    """A function that is a tenth too large, and no dual function at all: bounds that are too small lose the truth."""
    what, twist = SABOTAGED[name]
    solved, case = fluxes.Elements.solved, chequered(63, dims=1)
    monkeypatch.setattr(Layered, "distance", lambda self, state, nodes: 0)
    monkeypatch.setattr(fluxes.Elements, "solved", lambda *given: ((found := solved(*given))[0] * 1.1, *found[1:]))
    monkeypatch.setattr(fluxes.Elements, "load", lambda self, values: 0 * values[1:-1])
    assert certified(*case, cells=1)[1].false == 0
    monkeypatch.setattr(hypercircle.Primal, what, twist(vars(hypercircle.Primal)[what]))
    assert certified(*case, cells=1)[1].false > 0


def test_lines_on_nodes_are_those_nodes():
    x = np.linspace(0, 1, 4)
    (found,) = with_breaks(
        [x], [Pieces((((1 / 3) * (1 + 1e-12), 0.4),), (1.0, 2.0, 3.0)), Pieces(((0.4, 2.0),), (1.0,) * 3)]
    )
    assert np.array_equal(found, np.sort([*x, 0.4]))


def test_other_pieces_than_the_problem_holds_are_noticed(ranking):
    other = Pieces(((0.25, 0.8), (0.25, 0.75)), INCLUSION.values)
    certificate = pr.certify(PROBLEM, ranking, by=RoughReactionDiffusion(other, forcing))
    assert [a.statement for a in certificate.failed] == [
        "the pieces have the values that the problem holds at nodes off the lines"
    ]
    with pytest.raises(ValueError, match="functions of the 2 coordinates"):
        pr.certify(PROBLEM, ranking, by=RoughReactionDiffusion(INCLUSION, lambda x: x))
    with pytest.raises(ValueError, match="2 axes"):
        pr.certify(PROBLEM, ranking, by=RoughReactionDiffusion(Pieces(((),), (1.0,)), forcing))

    made = dataclasses.replace(BY, diffusion=other, reaction=lambda u: 0.5 * u)  # also with a reaction of one's own
    assert "diffusion differs by 0.9 of" in str(pr.certify(PROBLEM, ranking, by=made).failed[0].measured)


@pytest.mark.parametrize(
    "ends, value", [((0.5, 0.5 + 1e-11), 1e-12), ((1 - 1e-11, 1 + 1e-11), 1e-12), ((1.5, 2.0), 1.0)]
)
def test_a_piece_without_a_cell_is_refused(ends, value, ranking):
    """A film thinner than any mesh, or beyond the box: it could carry any resistance or force."""
    film = Pieces((ends, ()), ((1.0,), (value,), (1.0,)))
    problem = eqx.tree_at(lambda p: p.diffusion, PROBLEM, np.ones(PROBLEM.diffusion.shape))
    (failed,) = pr.certify(problem, ranking, by=RoughReactionDiffusion(film, forcing)).failed
    assert "has no cell" in str(failed.measured)


def test_negative_reactions_and_other_tasks_are_refused(ranking):
    for where, value in ((lambda p: p.linear, -0.1), (lambda p: p.cubic, -0.01)):
        assert pr.certify(eqx.tree_at(where, PROBLEM, np.asarray(value)), ranking, by=BY).failed
    part = pr.rank(PROBLEM, candidates(), task=pr.tasks.linear(lambda u: u[3:5]), effort="response")
    assert pr.certify(PROBLEM, part, by=BY).failed[0].statement == "the task is the whole field"
    with pytest.raises(ValueError, match=r"equations\.ReactionDiffusion"):
        BY(pr.Stationary(lambda u: u, grid=pr.Grid.nodes(5)), ranking)
    with pytest.raises(ValueError, match=r"Grid\.nodes"):
        dataclasses.replace(BY, reaction=np.sinh)(pr.Stationary(lambda u: u), ranking)


REFUSED = {
    "a slanted line": (lambda x, y: np.where(x < y, 1.0, 100.0), r"np\.where.*Pieces\(breaks"),
    "a kink": (lambda x, y: np.maximum(x, 0.5) + 0 * y, r"np\.maximum.*what has one: .*np\.exp"),
    "no function of a point": (lambda x, y: 2 + x - np.mean(x) + 0 * y, "point by point"),
    "another answer each time": (
        lambda x, y: 2 + 1e-10 * np.random.default_rng().random() + 0 * x * y,
        "asked again",
    ),
    "a negative coefficient": (lambda x, y: np.cos(4.0 * x) + 0.9 + 0 * y, "as small as"),
    "a pole close by": (lambda x, y: 1 + 1e-4 / ((x - 0.5) ** 2 + 1e-4) + 0 * y, "analytic|vanish|as small as"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_why(name, ranking):
    function, reason = REFUSED[name]
    nodes = np.meshgrid(*(np.linspace(0, 1, 17),) * 2, indexing="ij")
    problem = pr.equations.ReactionDiffusion(np.ones((17, 17)), forcing, 0.5, 0.8)
    problem = eqx.tree_at(lambda p: p.diffusion, problem, function(*nodes))
    certificate = pr.certify(problem, ranking, by=RoughReactionDiffusion(function, forcing, cells=256))
    assert certificate.best is None and certificate.certified_pairs == (0, 3)
    assert any(re.search(reason, str(a.measured)) for a in certificate.failed), certificate


def test_a_reaction_that_falls_is_refuted():
    grid = pr.Grid.nodes(9)
    problem = pr.Stationary(lambda u: u, grid=grid)
    ranking = Judged(problem, np.zeros(9), np.eye(9)[2:4], pr.tasks.field(grid.metric()))
    force = Pieces(((0.5,),), (1.0, 2.0))
    rising = pr.certify(problem, ranking, by=RoughReactionDiffusion(1.0, force, reaction=lambda u: np.sinh(u)))
    assert not rising.failed and np.isfinite(rising.gaps.low).all()
    falling = pr.certify(problem, ranking, by=RoughReactionDiffusion(1.0, force, reaction=lambda u: -1.0 * u))
    assert any("the reaction falls" in str(a.measured) for a in falling.failed)


@pytest.mark.parametrize("length, size", [(1e-120, 1.0), (1.0, 1e-100), (1e110, 1.0), (1.0, 1e100)])
def test_numbers_that_may_underflow_are_refused(length, size):
    problem = pr.equations.ReactionDiffusion(np.full(9, size), 0.0, 0.0, 0.0, length=length)
    ranking = Judged(problem, np.zeros(9), np.eye(9)[2:4], pr.tasks.field(problem.metric()))
    certificate = pr.certify(problem, ranking, by=RoughReactionDiffusion(size, 0.0, cells=8))
    assert any("another unit" in str(a.measured) for a in certificate.failed)


def test_smooth_data_agree_with_the_certificate_for_those():
    """One piece: the polynomial's certificate bounds values at nodes, so that both are about nearly the same gaps."""
    force = lambda x: 10 * np.sin(np.pi * x)  # noqa: E731
    problem = pr.equations.ReactionDiffusion(1.0, force, 0.5, 0.8, points=127, dims=1)
    library = {str(s): s * np.sin(np.pi * problem.grid.axes[0]) for s in (0.5, 0.8, 1.2)}
    ranking = pr.rank(problem, library, effort="response")
    smooth = pr.certify(problem, ranking, by=ContinuumReactionDiffusion(1.0, force)).gaps
    rough = pr.certify(problem, ranking, by=RoughReactionDiffusion(1.0, force)).gaps
    bent = np.pi**2 / 127**2 / 12 * 4 * np.abs(np.array([[a - b for b in (0.5, 0.8, 1.2)] for a in (0.5, 0.8, 1.2)]))
    assert np.all(rough.low <= smooth.high + bent) and np.all(smooth.low - bent <= rough.high)


def test_boxes_in_three_dimensions():
    layers = Pieces(((), (), (0.5,)), (((1.0, 50.0),),))
    problem = pr.equations.ReactionDiffusion(layers, lambda x, y, z: 10.0 * x * y + 0 * z, 0.5, 0.8, points=7, dims=3)
    x = np.sin(np.pi * np.linspace(0, 1, 9))
    bump = np.einsum("i,j,k->ijk", x, x, x)
    ranking = pr.rank(problem, {str(s): s * bump for s in (0.01, 0.2, 0.5)}, effort="response")
    certificate = pr.certify(problem, ranking, by=RoughReactionDiffusion(layers, lambda x, y, z: 10.0 * x * y + 0 * z))
    assert certificate.certified_pairs == (3, 3)


def test_the_boundary_is_known():
    """Outputs that differ there alone: nothing about the solution is left to doubt."""
    problem = pr.equations.ReactionDiffusion(1.0, 2.0, 0.0, 0.0, points=7, dims=1)
    outputs = np.stack([0.1 * np.eye(9)[0], 0.3 * np.eye(9)[0]])
    ranking = Judged(problem, np.zeros(9), outputs, pr.tasks.field(problem.metric()))
    gaps = pr.certify(problem, ranking, by=RoughReactionDiffusion(1.0, 2.0, cells=8)).gaps
    assert gaps.low[0, 1] == pytest.approx((0.09 - 0.01) / 16, rel=1e-12) == gaps.high[0, 1]


def test_equal_outputs_ask_for_no_finer_mesh():
    twice = pr.rank(PROBLEM, {**candidates(), "again": candidates()["0.2"]}, effort="response")
    found = RoughReactionDiffusion(INCLUSION, forcing)(PROBLEM, twice)
    assert "on 16 × 16 cells" in str(found.assumptions[-1].measured)


def test_certificates_are_joined_only_for_the_same_pieces(ranking):
    first, second = (pr.certify(PROBLEM, r, by=BY) for r in (ranking, ranking.corrected()))
    assert intersect({"one": first, "two": second}).certified_pairs == (3, 3)
    other = RoughReactionDiffusion(INCLUSION, lambda x, y: forcing(x, y), cells=256)
    with pytest.raises(ValueError, match="two"):
        intersect({"one": first, "two": pr.certify(PROBLEM, ranking, by=other)})


def test_the_page_runs_as_it_stands():
    text = (Path(__file__).parents[2] / "docs/certificates/reaction_diffusion_rough.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0].replace("points=63", "points=15")
    stated, asked = code.split("\nby = ")
    known = {"pr": pr, "np": np}
    exec(stated, known)
    known["ranking"] = pr.rank(known["problem"], candidates(), effort="response")
    exec(f"by = {asked}", known)
    assert known["certificate"].certified_pairs == (3, 3)
