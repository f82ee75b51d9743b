"""Doubts that once were missing: what an equation leaves free, what its time steps and grids are blind to, and solves that
did not converge. Candidates are made to lie along what would go unnoticed."""

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr


def open_pairs(ranking):
    return int(np.triu(~ranking.settled_pairs, 1).sum())


def periodic(u, force):
    h = 2 * np.pi / u.shape[-1]
    return (2 * u - jnp.roll(u, 1, -1) - jnp.roll(u, -1, -1)) / h**2 - force


@pytest.mark.parametrize("solver", [pr.Krylov("cg"), None], ids=["cg", "dense"])
def test_every_field_may_have_a_free_constant_of_its_own(solver):
    x = np.arange(40) * 2 * np.pi / 40
    force, apart = np.stack([np.sin(x), np.cos(2 * x)]), np.array([[1.0], [-1.0]])
    matrix = np.asarray(periodic(np.eye(40), 0.0))
    truth = (np.linalg.pinv(matrix) @ force.T).T
    options = {} if solver is None else {"solver": solver}
    given = {name: truth + size * apart for name, size in (("a", 0.5), ("b", 0.1), ("c", -0.3))}
    found = pr.rank(pr.Stationary(periodic, force, **options), given, allow_unresolved=True)
    assert open_pairs(found) == 3
    assert any("free constant" in doubt for doubt in found.doubts)


@pytest.mark.parametrize("seed", [0, 3])
def test_a_few_floating_nodes_among_many_are_noticed(seed):
    matrix, free = 2 * np.eye(600), np.zeros(600)
    matrix[300:303], free[300:303] = 0, 1
    for p, q, weight in ((300, 301, 0.1), (301, 302, 0.3), (300, 302, 0.7)):
        matrix[p, p] += weight
        matrix[q, q] += weight
        matrix[p, q] -= weight
        matrix[q, p] -= weight
    truth = np.random.default_rng(seed).standard_normal(600)
    given = {"a": truth + 0.5 * free, "b": truth + 0.1 * free, "c": truth - 0.2 * free}
    found = pr.rank(pr.Linear(matrix, matrix @ truth), given, allow_unresolved=True)
    assert open_pairs(found) == 3 and any("free constant" in doubt for doubt in found.doubts)


def test_an_absurd_candidate_beside_two_does_not_take_over():
    problem = pr.Stationary(lambda u: jnp.exp(u) - 2)
    given = {"a": np.full(8, 1.5), "b": np.full(8, 1.3)}
    assert pr.rank(problem, given).order == ["b", "a"]
    found = pr.rank(problem, given | {"absurd": np.full(8, -1000.0)})
    assert found.order == ["b", "a", "absurd"] and found.settled


def along_the_grids_error(problem, truth):
    """Candidates between the problem's own solution and the true one: only that grid's error tells them apart."""
    own = np.asarray(pr.rank(problem, {"zero": np.zeros(problem.state_shape)}, effort="solve").state)
    ramp = np.linspace(0, 1, len(own))[:, None]
    return {f"c{k}": own + ramp * share * (truth - own[-1]) for k, share in enumerate((0.9, -0.5, 0.2, 1.4, 0.6))}


def burgers(points, viscosity, times, forcing=None, substeps="auto", initial=lambda x: 0.5 + np.sin(x)):
    return pr.equations.Burgers(initial, viscosity, times, forcing, points=points, substeps=substeps)


def wrong_and_settled(found, truth):
    losses = np.mean((found.outputs - truth) ** 2, axis=1)
    return int(np.sum((np.sign(found.gaps) != np.sign(losses[None] - losses[:, None])) & found.settled_pairs))


@pytest.mark.parametrize("options", [{"effort": "response"}, {"effort": "solve"}, {}], ids=str)
def test_a_force_that_time_steps_cannot_follow_is_doubted(options):
    def stated(substeps):
        force = lambda t, x: 2 * np.sin(x) * np.cos(150 * t)  # noqa: E731
        return burgers(64, 0.1, np.linspace(0, 1, 11), force, substeps, lambda x: 0.3 * np.sin(x))

    truth = pr.scorers.DirectSolve().solution(stated(128), (11, 64))[0][-1]
    found = pr.rank(stated(4), along_the_grids_error(stated(4), truth), **options)
    assert wrong_and_settled(found, truth) == 0
    assert any("grid is too coarse" in doubt for doubt in found.doubts)


@pytest.mark.parametrize(("points", "viscosity", "options"), [(48, 0.1, {}), (128, 0.02, {"effort": "response"})])
def test_what_coarser_grids_are_blind_to_is_doubted(points, viscosity, options):
    times = [0, 0.5, 1.0]
    fine = burgers(4 * points, viscosity, times)
    truth = pr.scorers.DirectSolve().solution(fine, (3, 4 * points))[0][-1, ::4]
    problem = burgers(points, viscosity, times)
    found = pr.rank(problem, along_the_grids_error(problem, truth), **options)
    assert wrong_and_settled(found, truth) == 0 and not found.settled


def test_uncertain_data_through_a_solver_that_did_not_converge_may_be_anything():
    n, h = 200, 1 / 201
    x = np.arange(1, n + 1) * h

    def residual(u, data):
        padded = jnp.pad(u, 1)
        bent, drift = (2 * u - padded[2:] - padded[:-2]) / h**2, (padded[2:] - padded[:-2]) / (2 * h)
        return data["k"] * bent + 40 * drift - data["f"]

    data = {"k": 1.0, "f": np.sin(3 * np.pi * x) + 1}
    solved = lambda k: pr.scorers.DirectSolve().solution(pr.Stationary(residual, data | {"k": k}), (n,))[0]  # noqa: E731
    truth, other = solved(1.0), solved(1.05)
    given = {name: truth + share * (other - truth) for name, share in (("a", 0.1), ("b", 1.1), ("c", 2.0))}
    poor = pr.Krylov("gmres", restart=4, max_steps=4)
    problem = pr.Stationary(residual, data, solver=poor)
    samples = [pr.Stationary(residual, data | {"k": 1.05}, solver=poor)]
    for uncertainty in ({"k": 0.05}, samples):
        found = pr.rank(problem, given, uncertainty=uncertainty)
        assert open_pairs(found) == 3
        assert any("did not converge for what uncertain data" in doubt for doubt in found.doubts)
