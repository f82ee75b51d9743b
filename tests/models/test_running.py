"""Any kind of model gives what it gives when called by hand, and is left as it was."""

import equinox as eqx
import jax
import numpy as np
import onnx
import pytest
import torch
from neuralop.models import FNO

import physrank as pr
from physrank.models.running import running
from surrogates import POINTS, network, starts

FEATURES = starts(5)


def by(model, features=FEATURES):
    with running(model) as run:
        return np.asarray(run(features))


def test_a_torch_module_runs_in_its_own_precision_without_gradients_or_dropout():
    model = network(dropout=0.5)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        model = model.to(dtype)
        with running(model) as run:
            found = run(FEATURES)
        assert found.dtype == dtype and not found.requires_grad
        with torch.no_grad():
            expected = model.eval()(torch.tensor(FEATURES).to(dtype))
        model.train()
        assert torch.equal(found, expected)


def test_modes_return_as_they_were_even_after_an_error():
    model = torch.nn.Sequential(network(dropout=0.5), torch.nn.BatchNorm1d(4))
    model[1].eval()  # a frozen part in a module that trains
    for features in (FEATURES, FEATURES[:, :3]):
        try:
            by(model, features)
        except RuntimeError:
            assert features.shape == (5, 3)
        assert [part.training for part in model.modules()] == [True, True, True, True, True, False]
    assert torch.is_grad_enabled()


def test_a_module_of_complex_weights_and_one_of_none():
    class Spectral(torch.nn.Module):
        def __init__(self, dtype):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(POINTS // 2 + 1, dtype=dtype))

        def forward(self, field):
            return torch.fft.irfft(torch.fft.rfft(field) * self.weight, n=POINTS)

    for dtype, tolerance in ((torch.complex64, 1e-6), (torch.complex128, 1e-14)):
        np.testing.assert_allclose(by(Spectral(dtype)), FEATURES, atol=tolerance)
    assert by(torch.nn.Identity()).dtype == np.float32


def test_several_arguments_by_place_and_by_name():
    class Sum(torch.nn.Module):
        def forward(self, field, number):
            return field + 2 * number

    parts = torch.tensor(FEATURES), FEATURES
    for features in (parts, {"number": FEATURES, "field": FEATURES}):
        np.testing.assert_allclose(by(Sum(), features), 3 * FEATURES, rtol=1e-6)


def test_a_neural_operator_is_a_module_like_others():
    model = FNO(n_modes=(4,), hidden_channels=4, in_channels=1, out_channels=1, n_layers=1)
    with torch.no_grad():
        expected = model.eval()(torch.tensor(FEATURES[:, None]).float())
    np.testing.assert_array_equal(by(model, FEATURES[:, None]), expected.numpy())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equinox_modules_are_mapped_over_the_batch_with_dropout_off(dtype):
    with pr.double():
        keys = jax.random.split(jax.random.key(0))
        layers = [eqx.nn.Linear(POINTS, 8, key=keys[0]), eqx.nn.Dropout(0.5), eqx.nn.Linear(8, 3, key=keys[1])]
        model = jax.tree.map(
            lambda leaf: leaf.astype(dtype) if eqx.is_inexact_array(leaf) else leaf, eqx.nn.Sequential(layers)
        )
    with jax.enable_x64(False):  # as users have it
        found = by(model)
    first, _, last = model.layers
    weights = [np.asarray(part, np.float64) for part in (first.weight, first.bias, last.weight, last.bias)]
    expected = (FEATURES @ weights[0].T + weights[1]) @ weights[2].T + weights[3]
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, atol=1e-5 if dtype == np.float32 else 1e-13)
    assert model.layers[1].inference is False


def test_a_function_is_given_the_batch_as_it_is():
    assert by(lambda batch: 2 * batch).tolist() == (2 * FEATURES).tolist()
    np.testing.assert_array_equal(by(jax.jit(lambda batch: batch + 1)), FEATURES + 1)


def graph(path, batch, kind=onnx.TensorProto.FLOAT, outputs=1):
    """y = x W (and y + 1), with W = 0, 1, 2, … on the diagonal."""
    dtype = np.float32 if kind == onnx.TensorProto.FLOAT else np.float64

    def tensor(name):
        return onnx.helper.make_tensor_value_info(name, kind, [batch, POINTS])

    constants = [
        onnx.numpy_helper.from_array(np.diag(np.arange(POINTS)).astype(dtype), "W"),
        onnx.numpy_helper.from_array(np.ones((), dtype), "one"),
    ]
    nodes = [onnx.helper.make_node("MatMul", ["x", "W"], ["y"]), onnx.helper.make_node("Add", ["y", "one"], ["z"])]
    named = [tensor(name) for name in ("y", "z")[:outputs]]
    model = onnx.helper.make_model(
        onnx.helper.make_graph(nodes[:outputs], "test", [tensor("x")], named, constants[:outputs]),
        opset_imports=[onnx.helper.make_opsetid("", 17)],
        ir_version=9,
    )
    onnx.save(model, path)
    return str(path)


@pytest.mark.parametrize("batch", ["any", 2, 5, 8])
def test_an_onnx_file_runs_whatever_batch_it_was_exported_for(tmp_path, batch):
    expected = FEATURES * np.arange(POINTS)
    np.testing.assert_allclose(by(graph(tmp_path / "a.onnx", batch)), expected, rtol=1e-5, atol=1e-6)
    in_double = by(graph(tmp_path / "b.onnx", batch, onnx.TensorProto.DOUBLE))
    np.testing.assert_allclose(in_double, expected, rtol=1e-14)


def test_two_outputs_of_a_graph_come_as_a_tuple(tmp_path):
    with running(graph(tmp_path / "two.onnx", "any", outputs=2)) as run:
        first, second = run({"x": FEATURES})
    np.testing.assert_allclose(second, first + 1, rtol=1e-6)


def test_what_cannot_run_is_said(tmp_path):
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x07not a graph")
    for model, complaint in (
        (3, "expected a torch.nn.Module"),
        ("weights.pt", "checkpoints"),
        ("nowhere.onnx", "no file"),
        (tmp_path / "broken.onnx", "not a readable ONNX"),
    ):
        with pytest.raises(ValueError, match=complaint):
            by(model)
