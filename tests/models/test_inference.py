"""However inputs are batched, encoded and decoded, the states are the model's; what is wrong with it is said."""

import h5py
import numpy as np
import pytest
import torch

from physrank.models.inference import Inference, taken
from surrogates import POINTS, ROWS, network, problem_of, starts

INPUTS = starts(7)


def states(model, inputs=INPUTS, positions=None, problem=None, **how):
    return Inference(**how).states("it", model, inputs, range(len(inputs)) if positions is None else positions, problem)


def test_batches_make_no_difference():
    model = network().double()
    whole = states(model, batch=100)
    assert whole.dtype == np.float64 and whole.shape == (7, ROWS, POINTS)
    for batch in (1, 3, 7):
        np.testing.assert_allclose(states(model, batch=batch), whole, atol=1e-14)
    np.testing.assert_allclose(states(model, positions=[5, 2, 6]), whole[[5, 2, 6]], atol=1e-14)


@pytest.mark.parametrize(
    "given", [list(INPUTS), torch.tensor(INPUTS, requires_grad=True), [torch.tensor(u) for u in INPUTS]]
)
def test_inputs_of_any_kind(given):
    model = network().double()
    np.testing.assert_allclose(states(model, given), states(model), atol=1e-14)
    np.testing.assert_array_equal(
        np.stack([np.asarray(u.detach() if hasattr(u, "detach") else u) for u in taken(given, [4, 1])]), INPUTS[[4, 1]]
    )


def test_inputs_may_lie_in_a_file(tmp_path):
    with h5py.File(tmp_path / "inputs.h5", "w") as file:
        stored = file.create_dataset("inputs", data=INPUTS)
        model = network().double()
        np.testing.assert_allclose(states(model, stored, batch=3), states(model), atol=1e-14)
        np.testing.assert_allclose(states(model, stored, [5, 1, 1]), states(model)[[5, 1, 1]], atol=1e-14)


def test_encoders_and_decoders_see_batches_and_may_differ_by_name():
    model = network().double()
    shift, scale = 0.3, 2.0
    normalised = Inference(
        encode={"it": lambda batch: (batch - shift) / scale},
        decode={"it": lambda output: output * scale + shift},
        batch=3,
    ).states("it", model, INPUTS, range(7))
    by_hand = model(torch.tensor((INPUTS - shift) / scale)).detach().numpy() * scale + shift
    np.testing.assert_allclose(normalised, by_hand, atol=1e-14)
    other = Inference(encode={"another": lambda batch: batch * 0}).states("it", model, INPUTS, range(7))
    np.testing.assert_allclose(other, states(model), atol=1e-14)


def test_a_decoder_of_two_arguments_is_given_the_inputs():
    def later(batch):
        return batch[:, None] * np.ones((3, 1))

    found = states(later, decode=lambda rows, inputs: np.concatenate([inputs[:, None], rows], axis=1), batch=2)
    np.testing.assert_array_equal(found[:, 0], INPUTS)
    assert found.shape == (7, 4, POINTS)
    assert states(later, decode=lambda rows, scale=2.0: rows * scale).shape == (7, 3, POINTS)


def test_inputs_of_any_other_kind_become_features_by_encoding():
    cases = [{"start": start, "name": str(k)} for k, start in enumerate(INPUTS)]
    found = states(network().double(), cases, encode=lambda batch: np.stack([case["start"] for case in batch]))
    np.testing.assert_allclose(found, states(network().double()), atol=1e-14)
    with pytest.raises(ValueError, match="encode="):
        states(network(), cases)


class Forgetful(torch.nn.Module):
    """Dropout that nobody can switch off."""

    def forward(self, batch):
        return torch.nn.functional.dropout(batch, 0.1)


class Crowd(torch.nn.Module):
    """Normalised by its batch."""

    def forward(self, batch):
        return batch - batch.mean(dim=0)


@pytest.mark.parametrize("model", [Forgetful(), Crowd()])
def test_models_that_change_their_answer_are_noticed(model):
    with pytest.raises(ValueError, match="Model 'it': changes its answer"):
        states(model)
    assert states(model, check=False).shape == INPUTS.shape


def test_single_precision_is_no_change_of_an_answer():
    states(network().half(), batch=4)
    states(network(width=1000), batch=4)


@pytest.mark.parametrize(
    "model, complaint",
    [
        (lambda batch: batch[0], r"leading axis of 7"),
        (lambda batch: (batch, batch), r"returned tuple of 2.*decode="),
        (lambda batch: np.where(batch == batch[3], np.nan, batch), r"16 NaN.*\(input 3\).*exclude"),
        (lambda batch: batch.no_such_thing, r"failed on inputs of shape \(7, 16\): AttributeError"),
        (lambda batch: batch.astype(complex), r"complex"),
    ],
)
def test_outputs_that_are_no_states_are_refused_by_name(model, complaint):
    with pytest.raises((ValueError, RuntimeError), match=f"Model 'it': .*{complaint}"):
        states(model)


def test_values_that_are_not_finite_may_pass():
    found = states(lambda batch: np.where(batch == batch[3], np.nan, batch), check=False, invalid="exclude")
    assert np.isnan(found[3]).all() and np.isfinite(np.delete(found, 3, axis=0)).all()


def test_the_shape_is_held_against_the_problem():
    with pytest.raises(ValueError, match=r"states of shape \(4, 1, 16\).*lambda y: y\[:, :, 0\]"):
        states(network(), problem=problem_of(INPUTS[0]), decode=lambda output: output[:, :, None])
    states(network(), problem=problem_of(INPUTS[0]))


@pytest.mark.parametrize("how", [{"batch": 0}, {"batch": True}, {"batch": 2.5}, {"invalid": "drop"}, {"encode": 3}])
def test_bad_settings_are_refused(how):
    with pytest.raises(ValueError, match="must be"):
        Inference(**how)
