"""A rung has the same parts whatever it is: a state, a proxy, how far every gap may move, a price, and why it failed."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from libraries import SMALL, library
from physrank import rungs
from physrank.rungs.rung import SAFETY

NAME = "reaction-diffusion 2-D"
RUNGS = {
    "response": {"effort": "response"},
    "two corrections": {"corrections": 2},
    "solve": {"effort": "solve"},
    "ladder": {},
}


@pytest.fixture(params=RUNGS)
def rung(request):
    return pr.rank(SMALL[NAME].problem, library(NAME), **RUNGS[request.param]).rung


def test_every_way_yields_a_rung_with_all_its_parts(rung):
    number = len(library(NAME))
    assert isinstance(rung, rungs.Rung) and rung.name and rung.failed is None
    assert rung.state.shape == SMALL[NAME].state(0).shape
    np.testing.assert_array_equal(rung.proxy, rung.question.task.outputs(rung.state[None])[0])
    assert rung.uncertainty.shape == (number, number) and np.all(np.diagonal(rung.uncertainty) == 0)
    assert rung.solves >= 1 and rung.seconds > 0


def test_doubt_is_the_sum_of_its_parts_and_alike_for_one_row(rung):
    np.testing.assert_allclose(rung.uncertainty, sum(rung.parts.values()), rtol=1e-13)
    gaps, doubt = rung.against_others(1)
    np.testing.assert_allclose(gaps, rung.gaps[1], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(doubt, rung.uncertainty[1], rtol=1e-9, atol=1e-18)
    space, outputs = rung.question.space, rung.question.outputs
    for cause, change in rung.seen.changes.items():  # 2 ⟨c, y_i − y_j⟩, twice, and what follows in any direction
        product, apart = space.inner(change, outputs), space.norm(outputs[:, None] - outputs)
        along = np.abs(product[:, None] - product) + (cause == "linearisation") * rung.after_next * apart
        np.testing.assert_allclose(rung.parts[cause], 2 * SAFETY * along, rtol=1e-6, atol=1e-16)


def test_prices_and_doubts_change_nothing_of_the_answer(rung):
    dearer = rung.priced(7, 1.5, ())
    assert (dearer.solves, dearer.seconds) == (7, 1.5)
    wider = rung.doubted(extra={"data": np.ones_like(rung.gaps)})
    for other in (dearer, wider):
        np.testing.assert_array_equal(other.scores, rung.scores)
    np.testing.assert_allclose(wider.uncertainty, rung.uncertainty - sum(rung.extra.values()) + 1, rtol=1e-12)


def test_a_rung_that_failed_is_a_ranking_that_refuses():
    ranking = pr.rank(SMALL[NAME].problem, library(NAME), effort="response")
    failed = ranking._from(replace(ranking.rung, failed="the solver gave up"))
    assert failed.unresolved == "the solver gave up" and not failed.settled
    with pytest.raises(pr.UnresolvedError, match="gave up"):
        _ = failed.best


@pytest.mark.parametrize("decide", ["order", "best"])
def test_where_nobody_has_a_number_nothing_is_settled(decide):
    rung = pr.rank(SMALL[NAME].problem, library(NAME), effort="solve").rung
    nobody = np.full_like(rung.question.outputs, np.nan)
    question = rungs.Question(rung.question.task, nobody, rung.question.space)
    assert rungs.Asked(decide).settled(rung) and not rungs.Asked(decide).settled(replace(rung, question=question))


def test_what_nothing_is_known_of_is_no_part_of_what_follows():
    """Pairs that see such a direction are open by that; the others must not be by its size."""
    rung = pr.rank(SMALL[NAME].problem, library(NAME), effort="response").rung
    along, across = np.ones(rung.proxy.shape), np.ones(rung.proxy.shape)
    across[: len(across) // 2] = -1.0
    across -= rung.question.space.inner(across, along) / rung.question.space.inner(along, along)
    free = replace(rung, seen=replace(rung.seen, free={"undetermined": along}))
    assert free._held(along) < 1e-12 * rung._held(along)
    assert free._held(3 * along + across) == pytest.approx(free.size(across), rel=1e-12)


def test_a_solve_asks_the_next_correction_how_far_it_is_off():
    """This one stopped where the defect is below the tolerance, far from the zero: the tangent there is tiny."""
    problem = pr.Stationary(lambda u: 1e-3 * u**3, solver=pr.Dense())
    rung = pr.rank(problem, {"a": np.full(2, 1.0), "b": np.full(2, 0.5)}, effort="solve", allow_unresolved=True).rung
    assert rung.failed is None and np.abs(rung.state).max() > 0
    assert np.all(np.abs(rung.seen.changes["linearisation"]) >= np.abs(rung.state) / 3)


NUMBER, PAIRS = 5, np.triu_indices(5, 1)


def exponential(u, d):
    return d["matrix"] @ u + d["strength"] * jnp.exp(u) - d["load"]


def quadratic(u, d):
    return d["matrix"] @ u + d["strength"] * (d["mixed"] @ u) * u - d["load"]


def torn(residual, seed):
    """A strongly nonlinear problem, its solution, and candidates on opposite sides of it, nearly equally far."""
    random = np.random.default_rng(seed)
    data = {
        "matrix": random.uniform(0.5, 2) * np.eye(6) + 0.3 * random.standard_normal((6, 6)),
        "mixed": 0.5 * random.standard_normal((6, 6)),
        "strength": np.asarray(10 ** random.uniform(-1.5, 1.0)),
        "load": np.zeros(6),
    }
    truth = random.standard_normal(6) * 10 ** random.uniform(-0.5, 0.5)
    data["load"] = np.asarray(residual(jnp.asarray(truth), data))
    error = np.linalg.norm(truth) / 3 * 10 ** random.uniform(-1.0, 0.3) * random.standard_normal(6)
    library = [truth + share * error for share in (1, -1.02, 0.5, -0.49, 2)]
    return pr.Stationary(residual, data), truth, library


def wrong(ranking, rung, truth):
    """How many pairs a rung would settle, and how many of them wrongly."""
    losses = np.mean((ranking.outputs - truth) ** 2, axis=1)
    settled = ranking.asked.pairs(rung)[PAIRS]
    return settled.sum(), (settled & (np.sign(rung.gaps) != np.sign(pr.geometry.gap_matrix(losses)))[PAIRS]).sum()


@pytest.mark.parametrize("residual, seeds", [(exponential, range(125, 140)), (quadratic, range(12))])
def test_a_correction_that_happens_not_to_move_a_pair_does_not_settle_it(residual, seeds):
    """The next correction is known up to the one after it, which is as much smaller and points anywhere."""
    found = np.zeros((2, 2), int)
    for seed in seeds:
        problem, truth, library = torn(residual, seed)
        ranking = pr.rank(problem, np.stack(library), effort="response", allow_unresolved=True)
        if ranking.unresolved:
            continue
        along = replace(ranking.rung, seen=replace(ranking.rung.seen, loose=0.0))
        found += [wrong(ranking, rung, truth) for rung in (ranking.rung, along)]
    assert found[0, 1] == 0, found
    assert found[1, 1] > 0, found  # what the next correction does along the pair is not enough
    assert found[0, 0] > 0.8 * found[1, 0], found  # and little else is left open


def test_what_follows_is_as_much_smaller_again_also_where_the_task_hardly_sees_the_next():
    problem, _, library = torn(quadratic, 1)
    ranking = pr.rank(problem, np.stack(library), effort="response")
    rung, (movement,) = ranking.rung, ranking.rung.evidence.movements.values()
    smaller = np.linalg.norm(movement) / np.linalg.norm(ranking.response.correction)
    assert 1e-3 < smaller < 1
    assert rung.after_next == pytest.approx(smaller * rung.size(rung.seen.changes["linearisation"]))
    hidden = replace(rung, seen=replace(rung.seen, changes={"linearisation": np.zeros(6)}))
    last = rung.size(ranking.response.correction)
    assert hidden.after_next == pytest.approx(smaller**2 * last)
    np.testing.assert_allclose(
        hidden.parts["linearisation"], 2 * SAFETY * smaller**2 * last * rung.question.distances, rtol=1e-9
    )
    assert hidden.reach >= SAFETY * hidden.after_next


def test_nothing_follows_a_march_that_has_been_solved():
    problem = pr.Marching(lambda u: u - 0.1 * u**3, np.linspace(0.5, 1.5, 4))
    ranking = pr.rank(problem, {"a": np.ones((5, 4)), "b": np.full((5, 4), 1.2)}, effort="response")
    assert ranking.rung.parts["linearisation"].max() > 0
    assert ranking.rung.after_next == 0
