"""`race`: who is dropped is not run, the panel's choice is found, refusals name the model and the input."""

import json

import jax.numpy as jnp
import numpy as np
import pytest

import physrank as pr

SIZES = {"good": 0.1, "fair": 0.15, "poor": 0.3, "bad": 0.6}


def residual(u, data):
    return u - data


def problem_of(x):
    return pr.Stationary(residual, x)


def inputs(count=40):
    return list(np.random.default_rng(0).standard_normal((count, 8)))


def models(calls=None, sizes=SIZES):
    """The solution is the input itself; a model errs by noise of its size, always the same for the same input."""

    def model(k, name, size):
        def predict(x):
            if calls is not None:
                calls[name] = calls.get(name, 0) + 1
            return x + size * np.random.default_rng([k, int(1e9 * abs(x[0]))]).standard_normal(8)

        return predict

    return {name: model(k, name, size) for k, (name, size) in enumerate(sizes.items())}


def test_the_winner_is_settled_and_the_dropped_are_not_run():
    calls = {}
    race = pr.race(inputs(), problem_of, models(calls))
    assert race.settled and race.winner == "good" and race.inputs < 40
    assert sum(calls.values()) == race.runs and race.runs + race.runs_saved == 4 * 40
    assert race.solves >= race.inputs and race.seconds > 0
    for name, gone in race.dropped.items():
        assert calls[name] == gone.after
    assert race.dropped["bad"].against in SIZES and calls["bad"] < calls["good"] == race.inputs
    assert len(set(race.order)) == race.inputs and list(race.order) != sorted(race.order)
    assert race.alive[0] == "good" and not set(race.alive) & set(race.dropped)


def test_race_and_select_agree_on_the_whole_panel():
    field, panel = models(sizes={"a": 0.2, "b": 0.2, "c": 0.2}), inputs(6)
    race = pr.race(panel, problem_of, field, tolerance=0.0, seed=3)
    selection = pr.select(pr.rank(problem_of(x), {k: m(x) for k, m in field.items()}) for x in panel)
    assert race.inputs == 6 and race.settled and race.winner == selection.best
    best = race.names.index(race.winner)
    np.testing.assert_allclose(race.means[best], selection.mean_scores[best], rtol=1e-9)
    assert race.standing.assumptions == ("the uncertainties of single inputs hold, which are estimates",)


def test_a_stream_is_judged_as_a_population_and_may_stay_open():
    race = pr.race(iter(inputs(5)), problem_of, models())
    assert race.standing.total is None and not race.settled and "after all inputs" in race.standing.why
    assert "NOT SETTLED" in str(race) and "independent draws" in str(race)
    assert race.order == (0, 1, 2, 3, 4)
    stated = pr.race(iter(inputs(5)), problem_of, models(), bound=9.0)
    assert any("no score exceeds 9" in text for text in stated.standing.assumptions)


class Handle:
    """To an array in a file: it has a shape, and says who read which part."""

    def __init__(self, rows):
        self.rows, self.shape, self.read = rows, np.shape(rows), []

    def __getitem__(self, k):
        self.read.append(k)
        return self.rows[k]


@pytest.mark.parametrize("seed", [0, None])
def test_of_a_handle_only_what_is_judged_is_read(seed):
    handle, told = Handle(inputs()), []
    race = pr.race(handle, problem_of, models(), seed=seed, progress=lambda *now: told.append(now))
    here = pr.race(inputs(), problem_of, models(), seed=seed)
    assert handle.read == list(race.order) == list(here.order) and race.standing.total == 40
    np.testing.assert_array_equal(race.means, here.means)
    assert told == [(k + 1, 40) for k in range(race.inputs)]


def test_a_twin_ends_the_race_within_the_tolerance():
    field = models(sizes={"good": 0.1, "bad": 0.5})
    race = pr.race(inputs(), problem_of, field | {"twin": field["good"]}, tolerance=0.2)
    assert race.settled and race.inputs < 40 and set(race.alive) >= {"good", "twin"}
    assert "within 0.2 of the best" in race.standing.why


def test_ways_out(tmp_path):
    race = pr.race(inputs(), problem_of, models())
    stored = json.loads(race.to_json(tmp_path / "race.json").read_text())
    assert stored["winner"] == "good" and stored["runs"] == race.runs
    assert stored["candidates"]["bad"]["dropped"]["against"] == race.dropped["bad"].against
    assert all(words in str(race) for words in ("good wins after", "dropped after", "model runs", "random order"))
    axis = race.plot().axes[0]
    assert len(axis.lines) >= 4 and "settled" in axis.get_title(loc="left")


def test_unresolved_inputs_decide_nothing():
    def no_solution(u, data):
        return jnp.where(data[0] > 0, u - data, 0 * u + 1)

    def stubborn(x):
        return pr.Stationary(no_solution, x)

    panel = inputs(30)
    race = pr.race(panel, stubborn, models(), seed=1)
    assert set(race.unresolved) == {k for k in race.order if panel[k][0] <= 0} != set()
    assert race.standing.silent == len(race.unresolved) and "could not be ranked" in race.standing.about
    assert any("could not be ranked" in said for said in race.standing.assumptions)
    assert race.winner == "good" and "UNRESOLVED and decided nothing" in str(race)
    with pytest.raises(ValueError, match="all 3 are unresolved"):
        pr.race([-np.abs(x) for x in inputs(3)], stubborn, models())


def test_an_excluded_model_leaves():
    field = models() | {"broken": lambda x: np.full(8, np.nan if x[1] > 0 else 0.0)}
    race = pr.race(inputs(), problem_of, field, invalid="exclude")
    assert race.winner == "good" and race.dropped["broken"].against is None
    assert "NaN" in race.dropped["broken"].why
    with pytest.raises(ValueError, match=r"Input \d+ of the race: Candidate 'broken'"):
        pr.race(inputs(), problem_of, field)


@pytest.mark.parametrize("field", [{}, {"only": lambda x: x}, [lambda x: x], None])
def test_fewer_than_two_models_are_refused(field):
    with pytest.raises(ValueError, match="at least two"):
        pr.race(inputs(), problem_of, field)


def test_refusals_name_the_model_and_the_input():
    def fails(x):
        raise KeyError("weights")

    field = models()
    with pytest.raises(RuntimeError, match="Model 'late' failed on input 0: KeyError"):
        pr.race(inputs(), problem_of, field | {"late": fails}, seed=None)
    with pytest.raises(ValueError, match=r"Input 0 of the race: Candidate 'wide' has shape \(9,\)"):
        pr.race(inputs(), problem_of, field | {"wide": lambda x: np.zeros(9)}, seed=None)
    with pytest.raises(ValueError, match=r"Model 'array' is .* expected a callable"):
        pr.race(inputs(), problem_of, field | {"array": np.zeros(8)})
    with pytest.raises(ValueError, match="problem must be an equation"):
        pr.race(inputs(), lambda x: x, field)
    with pytest.raises(ValueError, match="there are none"):
        pr.race([], problem_of, field)
    with pytest.raises(ValueError, match="order cannot be drawn"):
        pr.race({"a": inputs()[0]}, problem_of, field)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 1.0}, "confidence must be a number"),
        ({"confidence": 0.0}, "confidence must be a number"),
        ({"tolerance": -0.1}, "tolerance must be"),
        ({"reach": 0.5}, "reach must be"),
        ({"bound": 0.0}, "bound must be"),
    ],
)
def test_settings_out_of_range_are_refused_before_anything_runs(options, message):
    calls = {}
    with pytest.raises(ValueError, match=message):
        pr.race(inputs(), problem_of, models(calls), **options)
    assert not calls
