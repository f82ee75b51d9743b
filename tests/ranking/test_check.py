"""`check`: passes on right problems, fails on mis-stated ones, and names what is wrong among its first suggestions."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr
from physrank.ranking import misstated
from physrank.ranking.misstated import Suggestion
from problems import TIMES, bratu, diffusion_reaction, explicit_step, flow, reaction_diffusion, sine_gordon
from problems import sampled_burgers as burgers

X = np.linspace(0, 2 * np.pi, 32, endpoint=False)


def own_march():
    rows = np.linspace(0.1, 0.3, 5)[:, None] * np.ones(6)
    return pr.Marching(explicit_step, np.linspace(0.5, 1.5, 6), jnp.asarray(0.7), forcing=rows)


def own_root():
    return pr.Stationary(
        lambda u, d: bratu(u, d["strength"]) - d["load"], {"strength": 1.2, "load": np.linspace(1, 2, 9)}
    )


RIGHT = {
    "burgers": burgers(),
    "reaction-diffusion": reaction_diffusion(2, 10),
    "sine-gordon": sine_gordon(),
    "diffusion-reaction": diffusion_reaction(),
    "flow 1-D": flow(),
    "flow 2-D": flow(2, 8),
    "own march": own_march(),
    "own root": own_root(),
}
SHAPES = {"own march": (6, 6), "own root": (9,)}


@cache
def known(name):
    state, failed = pr.scorers.DirectSolve().solution(RIGHT[name], SHAPES.get(name) or RIGHT[name].state_shape)
    assert failed is None
    return state


def times(name, field, factor):
    """The problem with one stated number multiplied."""
    with pr.double():
        return eqx.tree_at(lambda p: getattr(p, field), RIGHT[name], getattr(RIGHT[name], field) * factor)


def data(name, key, factor):
    with pr.double():
        return eqx.tree_at(lambda p: p.data[key], RIGHT[name], RIGHT[name].data[key] * factor)


# (right problem, stated number, factors, its true value; None: a field, to be multiplied by 1 / factor)
FACTORS = [
    ("burgers", "viscosity", (0.1, 0.5, 2, 10), 0.05),
    ("reaction-diffusion", "diffusion", (0.25, 3), None),
    ("reaction-diffusion", "forcing", (0.25, 3), None),
    ("reaction-diffusion", "linear", (0.25, 3), 0.9),
    ("reaction-diffusion", "cubic", (0.25, 3), 0.7),
    ("sine-gordon", "speed", (0.5, 0.8, 1.3), 1.2),
    ("sine-gordon", "forcing", (0.3, 4), None),
    ("diffusion-reaction", "threshold", (40, 100), 5e-3),
    ("diffusion-reaction", "diffusion", (0.2, 5), None),
    ("diffusion-reaction", "times", (0.5, 2), None),
    ("flow 1-D", "gamma", (0.84, 1.2), 5 / 3),
    ("flow 1-D", "times", (0.5, 2), None),
    ("flow 2-D", "times", (2,), None),
    ("flow 2-D", "gamma", (1.2,), 5 / 3),
    ("own march", "data", (0.3, 2), 0.7),
    ("own march", "forcing", (2,), None),
]
MISSTATED = {
    f"{name}, {field} ×{f}": (name, times(name, field, f), field, 1 / f if value is None else value)
    for name, field, factors, value in FACTORS
    for f in factors
}
MISSTATED |= {
    **{f"burgers, times ×{f}": ("burgers", burgers(times=f * TIMES), "times", 1 / f) for f in (0.5, 2.0)},
    **{f"burgers, length ×{f}": ("burgers", burgers(length=2 * np.pi * f), "length", 2 * np.pi) for f in (0.5, 2)},
    "burgers, forcing left out": ("burgers", burgers(forcing=None), "forcing", None),
    "burgers, forcing ×3": ("burgers", burgers(forcing=0.6 * np.sin(X)), "forcing", 1 / 3),
    "burgers, initial ×2": ("burgers", burgers(initial=2 * np.sin(X) + 0.6 * np.cos(2 * X)), "initial", 0.5),
    **{
        f"own root, {key} ×{f}": ("own root", data("own root", key, f), f"data['{key}']", value or 1 / f)
        for key, f, value in (("strength", 0.2, 1.2), ("strength", 3, 1.2), ("load", 2, None))
    },
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_problems_pass(name):
    found = pr.check(RIGHT[name], known(name))
    assert found.passes
    assert found.floor < 1e-6
    assert "passes" in str(found)


@pytest.mark.parametrize("every", [3, 1])
def test_misstated_problems_fail_and_the_culprit_is_named(every):
    assert len(MISSTATED) >= 40
    tried, missed = dict(list(MISSTATED.items())[::every]), []
    for case, (name, problem, culprit, value) in tried.items():
        found = pr.check(problem, known(name))
        assert not found.passes, (case, found)
        first = {s.name: s.value for s in found.suggestions[:2]}
        near = culprit in first and (value is None or first[culprit] is None or abs(first[culprit] / value - 1) < 0.02)
        missed += [] if near else [(case, str(found))]
    assert len(missed) <= 0.1 * len(tried), missed


@pytest.mark.parametrize(
    "slip, made",
    [
        ("axes exchanged", lambda u: u.T.copy()),
        ("opposite sign", lambda u: -u),
        ("repeated end point", lambda u: np.concatenate([u, u[:, :1]], axis=1)),
        ("shifted by one", lambda u: np.concatenate([u[:1], u[:-1]])),
        ("normalised", lambda u: (u - u.mean()) / u.std()),
    ],
)
def test_slips_are_named(slip, made):
    found = pr.check(RIGHT["burgers"], made(known("burgers")))
    assert not found.passes
    assert any(slip in s.what for s in found.suggestions[:2]), str(found)


def test_the_floor_is_told_before_anything_is_tried():
    told = []
    found = pr.check(times("burgers", "viscosity", 2), known("burgers"), vary=["viscosity"], progress=told.append)
    assert [f"floor {found.floor:.2g}" in sentence for sentence in told] == [True]
    pr.check(RIGHT["burgers"], known("burgers"), progress=told.append)
    assert len(told) == 1  # where nothing is tried, nothing is said


def test_fitting_ends_where_nothing_is_gained():
    """A fit takes as long as there is something to gain: from a minimum, hardly any time."""
    looks = []
    problem = RIGHT["own root"]

    def counted(u, d):
        jax.debug.callback(lambda _: looks.append(1), u[0])
        return problem.residual(u, d)

    watched, names = pr.Stationary(counted, problem.data), ("data['load']", "data['strength']")
    state = 2 * known("own root")  # no numbers explain it
    found, _ = misstated._fitted(watched, names, state, np.zeros((1, 2)), [(0, 1)])
    jax.effects_barrier()
    to_the_minimum = len(looks)
    looks.clear()
    again, _ = misstated._fitted(watched, names, state, found, [(0, 1)])
    jax.effects_barrier()
    assert len(looks) < to_the_minimum < 3 * misstated.STEPS
    np.testing.assert_allclose(again, found, atol=1e-3)


@pytest.mark.parametrize("name", ["sine-gordon", "diffusion-reaction", "flow 1-D", "flow 2-D"])
def test_channels_last_are_named(name):
    found = pr.check(RIGHT[name], np.moveaxis(known(name), 1, -1))
    assert not found.passes
    assert found.suggestions[0].floor < 1e-6
    assert found.suggestions[0].what.startswith(("channels moved", "its last two axes exchanged"))


def test_one_slip_has_one_name():
    found = pr.check(RIGHT["burgers"], known("burgers").T.copy())
    assert [s.name for s in found.suggestions if "axes" in s.name or "channels" in s.name] == ["its axes exchanged"]


def reacting(strength, quadratic=0.0):
    return pr.Stationary(
        lambda u, d: bratu(u, d["strength"]) - d["quadratic"] * u**2 - d["load"],
        {"strength": strength, "quadratic": quadratic, "load": np.linspace(1, 2, 9)},
    )


def test_a_number_stated_as_zero_is_tried():
    state, _ = pr.scorers.DirectSolve().solution(reacting(1.2, -3.0), (9,))
    first = pr.check(reacting(1.2), state).suggestions[0]
    assert first.name == "data['quadratic']"
    assert first.value == pytest.approx(-3.0, rel=1e-6)
    with pr.double():
        no_reaction = eqx.tree_at(lambda p: p.cubic, RIGHT["reaction-diffusion"], jnp.zeros(()))
    first = pr.check(no_reaction, known("reaction-diffusion")).suggestions[0]
    assert (first.name, first.value) == ("cubic", pytest.approx(0.7, rel=1e-6))


TWICE = {
    "burgers, viscosity and times": ("burgers", burgers(viscosity=0.15, times=1.5 * TIMES), {"viscosity": 0.05}),
    "burgers, viscosity and forcing": (
        "burgers",
        burgers(viscosity=0.02, forcing=0.5 * np.sin(X)),
        {"viscosity": 0.05, "forcing": 0.4},
    ),
    "own root, both": (
        "own root",
        pr.Stationary(RIGHT["own root"].residual, {"strength": 3.0, "load": 0.4 * np.linspace(1, 2, 9)}),
        {"data['strength']": 1.2, "data['load']": 2.5},
    ),
}


@pytest.mark.parametrize("case", TWICE)
def test_two_wrong_numbers_are_found_together(case):
    name, problem, true = TWICE[case]
    found = pr.check(problem, known(name))
    assert not found.passes
    pairs = [s for s in found.suggestions[:2] if s.values]
    assert pairs, str(found)
    assert any(true.keys() <= s.values.keys() for s in pairs), str(found)
    best = next(s for s in pairs if true.keys() <= s.values.keys())
    for key, value in true.items():
        assert best.values[key] == pytest.approx(value, rel=0.02)


def test_one_wrong_number_is_not_explained_by_two():
    found = pr.check(times("burgers", "viscosity", 2), known("burgers"))
    assert not any(s.values for s in found.suggestions)
    first, *others = pr.check(times("burgers", "viscosity", 2e-8), known("burgers")).suggestions
    assert (first.name, first.value) == ("viscosity", pytest.approx(0.05, rel=1e-6))  # far off, and still alone
    assert "viscosity" not in " ".join(s.name for s in others)


def test_primitive_instead_of_conservative_is_named():
    found = pr.check(RIGHT["flow 1-D"], pr.equations.primitive(known("flow 1-D"), 5 / 3))
    assert not found.passes
    assert "conservative" in found.suggestions[0].what


def test_data_of_another_method_passes():
    """A finer grid's solution is not this grid's, but no number of the equation explains the difference."""
    fine = pr.equations.ReactionDiffusion(
        lambda x, y: 0.5 + np.exp(0.5 * np.cos(np.pi * (x + y))),
        lambda x, y: 20 * np.sin(np.pi * x),
        0.9,
        0.7,
        points=63,
    )
    state, _ = pr.scorers.DirectSolve().solution(fine, fine.state_shape)
    coarse = pr.equations.ReactionDiffusion(
        lambda x, y: 0.5 + np.exp(0.5 * np.cos(np.pi * (x + y))),
        lambda x, y: 20 * np.sin(np.pi * x),
        0.9,
        0.7,
        points=31,
    )
    assert pr.check(coarse, state[::2, ::2]).passes


def test_it_says_where_the_defect_sits():
    broken = known("burgers").copy()
    broken[3] += 0.3 * np.sin(3 * X)
    found = pr.check(RIGHT["burgers"], broken)
    assert not found.passes
    assert max(found.where, key=found.where.get) in ("row 3", "row 4")
    flat = pr.Stationary(lambda u, f: u - f, np.ones((6, 6)))
    assert pr.check(flat, np.pad(np.ones((4, 4)), 1, constant_values=5.0)).where["the boundary"] == 1


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="no stated number 'viscocity'"):
        pr.check(times("burgers", "viscosity", 2), known("burgers"), vary=["viscocity"])
    with pytest.raises(ValueError, match="expected a state of this problem"):
        pr.check(RIGHT["burgers"], np.ones(3))
    with pytest.raises(ValueError, match="known must be finite"):
        pr.check(RIGHT["burgers"], np.full((6, 32), np.nan))
    other = pr.check(times("burgers", "viscosity", 2), known("burgers"), vary="length")
    assert "only length was varied: another number may explain what is left" in str(other)
    only = pr.check(times("burgers", "viscosity", 2), known("burgers"), vary=["viscosity"])
    assert {s.name for s in only.suggestions} <= {"viscosity"} | {s.name for s in only.suggestions if s.value is None}


def test_single_precision_data_pass_and_a_force_alone_does_not_speak_against_a_problem():
    plain = burgers(forcing=None)
    state, _ = pr.scorers.DirectSolve().solution(plain, plain.state_shape)
    assert pr.check(plain, state.astype(np.float32)).passes


def test_problems_without_numbers_are_checked_too():
    assert not pr.check(pr.Stationary(lambda u: u**3 - 8.0), np.ones(5)).passes
    assert pr.check(pr.Stationary(lambda u: u**3 - 8.0), np.full(5, 2.0)).passes
    with pytest.raises(ValueError, match="zero everywhere"):
        pr.check(RIGHT["burgers"], np.zeros((6, 32)))


def test_what_passes_explains_most_and_cannot_be_bettered():
    better = lambda floor: (Suggestion("viscosity", "viscosity 2", 2.0, floor),)  # noqa: E731
    for floor, suggestions, passes in (
        (0.15, (), True),
        (0.3, (), False),  # too much is left unexplained, whatever else was tried
        (0.15, better(0.14), True),
        (0.15, better(0.001), False),  # another number explains it
        (1e-14, better(1e-16), True),  # exact is exact
    ):
        assert pr.Check(floor, {}, suggestions).passes is passes


def test_a_solution_that_is_zero_everywhere_says_nothing():
    with pytest.raises(ValueError, match="known is zero everywhere"):
        pr.check(pr.Stationary(lambda u: u), np.zeros(4))
