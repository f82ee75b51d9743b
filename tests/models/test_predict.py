"""Every model runs on every input, one at a time, and says how far it is."""

import copy
import weakref
from collections.abc import Mapping

import numpy as np
import pytest
import torch

import physrank as pr
from physrank.models.predict import problem_of as problem_at
from surrogates import network, problem_of, starts, true_errors

INPUTS = starts(6)


def test_predictions_rank_as_arrays_do(library):
    found = pr.models.predict(library, INPUTS, problems=problem_of, batch=4)
    assert list(found) == list(library)
    errors = true_errors({name: states[:1] for name, states in found.items()}, INPUTS[:1])
    ranking = pr.rank(problem_of(INPUTS[0]), {name: states[0] for name, states in found.items()})
    assert ranking.order == sorted(errors, key=errors.get)


def test_one_model_is_in_memory_at_a_time(library):
    alive = []

    class Lazy(Mapping):
        def __getitem__(self, name):
            assert not [1 for other in alive if other() is not None]
            model = network(int(name))
            alive.append(weakref.ref(model))
            return model

        def __iter__(self):
            return iter("012")

        def __len__(self):
            return 3

    assert list(pr.models.predict(Lazy(), INPUTS)) == ["0", "1", "2"]
    assert len(alive) == 3


def test_progress_is_told_and_drawn(library, capsys):
    told = []
    pr.models.predict(library, INPUTS, batch=4, progress=lambda *what: told.append(what))
    assert told[:2] == [("m0", 4, 24), ("m0", 6, 24)] and told[-1] == ("m3", 24, 24)
    pr.models.predict(library, INPUTS, progress=True)
    silent = capsys.readouterr()
    pr.models.predict(library, INPUTS)
    assert capsys.readouterr().out == "" and isinstance(silent.out, str)


@pytest.mark.parametrize(
    "models, inputs, complaint",
    [
        (network(), INPUTS, "single model"),
        ({}, INPUTS, "at least one"),
        ({1: network()}, INPUTS, "named by strings"),
        ({"a": network()}, (u for u in INPUTS), "list"),
        ({"a": network()}, INPUTS[:0], "no inputs"),
    ],
)
def test_what_is_no_library_or_panel_is_refused(models, inputs, complaint):
    with pytest.raises(ValueError, match=complaint):
        pr.models.predict(models, inputs)


def test_problems_are_one_for_all_one_for_each_or_a_function():
    one = problem_of(INPUTS[1])
    assert problem_at(one, INPUTS, 1) is one
    assert problem_at([one] * 6, INPUTS, 1) is one
    np.testing.assert_array_equal(problem_at(problem_of, INPUTS, 1).initial, INPUTS[1])
    with pytest.raises(ValueError, match="5 problems for 6 inputs"):
        problem_at([one] * 5, INPUTS, 0)
    with pytest.raises(ValueError, match="for input 2; expected an equation"):
        problem_at(lambda start: start, INPUTS, 2)


def test_gradients_are_welcome_wherever_arrays_are(library):
    """As initial states, data, forcing, metrics and candidates: the same ranking as without."""
    start = torch.tensor(INPUTS[0], requires_grad=True)
    states = {name: copy.deepcopy(model).double()(start[None])[0] for name, model in library.items()}
    data = torch.tensor(problem_of(INPUTS[0]).data.tolist(), dtype=torch.float64, requires_grad=True)
    weights = torch.full((4, 16), 1 / 64, requires_grad=True)
    task = pr.tasks.field(metric=pr.metrics.weights(weights))
    found = pr.rank(pr.Marching(problem_of(INPUTS[0]).step, start, data), states, task=task)
    plain = pr.rank(problem_of(INPUTS[0]), {name: state.detach().numpy() for name, state in states.items()})
    np.testing.assert_allclose(found.scores, plain.scores, rtol=1e-10)
    reference = torch.tensor(plain.state, requires_grad=True)
    assert found.residual_floor(reference) == pytest.approx(plain.residual_floor(plain.state))
    times, forcing = torch.linspace(0, 0.1, 3, requires_grad=True), torch.ones(16, requires_grad=True)
    viscosity = torch.tensor(0.1, requires_grad=True)
    pushed = pr.equations.Burgers(start, viscosity, times, lambda t, x: forcing[0] * torch.ones(len(x)), points=16)
    same = pr.equations.Burgers(INPUTS[0], viscosity.item(), times.detach().numpy(), np.ones(16), points=16)
    for tensor, array in ((pushed.initial, same.initial), (pushed.forcing, same.forcing)):
        np.testing.assert_allclose(tensor, array, atol=1e-12)
