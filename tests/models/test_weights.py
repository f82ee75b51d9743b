"""Weights come back as they went; what would run code is refused; what is broken is said."""

import os
import pickle

import pytest
import torch
from neuralop.models import FNO

import physrank as pr
from physrank.models.weights import tensors_of
from surrogates import Network, network


def same(first, second):
    first, second = tensors_of(first), tensors_of(second)
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def fno():
    return FNO(n_modes=(4,), hidden_channels=4, in_channels=1, out_channels=1, n_layers=1)


WAYS = {
    "safetensors": lambda model, path: pr.models.save(path, model),
    "state dict": lambda model, path: torch.save(model.state_dict(), path),
    "legacy format": lambda model, path: torch.save(model.state_dict(), path, _use_new_zipfile_serialization=False),
    "PDEBench": lambda model, path: torch.save(
        {"epoch": 3, "model_state_dict": model.state_dict(), "optimizer_state_dict": {}, "loss": torch.ones(())}, path
    ),
    "Lightning": lambda model, path: torch.save({"epoch": 3, "state_dict": model.state_dict()}, path),
    "data parallel": lambda model, path: torch.save(
        {f"module._orig_mod.{name}": tensor for name, tensor in model.state_dict().items()}, path
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_weights_come_back_as_they_went(tmp_path, way):
    path = tmp_path / ("a.safetensors" if way == "safetensors" else "a.pt")
    model = network(1)
    WAYS[way](model, path)
    assert same(pr.models.fill(network(2), pr.models.load(path)), model)
    assert not same(network(2), model)


def test_a_neural_operator_and_a_wrapped_module_come_back(tmp_path):
    model, wrapped = fno(), torch.nn.DataParallel(network(1))
    assert same(pr.models.fill(fno(), pr.models.load(pr.models.save(tmp_path / "fno.safetensors", model))), model)
    path = pr.models.save(tmp_path / "wrapped.safetensors", wrapped)
    assert same(pr.models.fill(network(2), pr.models.load(path)), network(1))
    assert same(pr.models.fill(torch.nn.DataParallel(network(2)), pr.models.load(path)), wrapped)


def test_tied_weights_are_stored(tmp_path):
    model = torch.nn.ModuleList([torch.nn.Linear(3, 3)] * 2)
    fresh = torch.nn.ModuleList([torch.nn.Linear(3, 3)] * 2)
    assert same(pr.models.fill(fresh, pr.models.load(pr.models.save(tmp_path / "tied.safetensors", model))), model)


class Renamed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.frist, self.last = network().first, network().last


def test_names_and_shapes_that_do_not_fit_are_told_and_nothing_is_filled():
    tensors = tensors_of(network(1))
    with pytest.raises(ValueError, match=r"'first.weight', which the network has not: 'frist.weight'\?.*lacks 'frist"):
        pr.models.fill(Renamed(), tensors, "a.pt")
    small = network(width=8)
    before = {name: tensor.clone() for name, tensor in tensors_of(small).items()}
    with pytest.raises(ValueError, match=r"'first.weight' has shape \(32, 16\); the network's has \(8, 16\)"):
        pr.models.fill(small, tensors)
    assert all(torch.equal(before[name], tensor) for name, tensor in tensors_of(small).items())


class Settings:
    """What a training script may store beside its weights."""


def test_what_a_state_dict_mentions_besides_is_passed_over(tmp_path, monkeypatch):
    model, path = fno(), tmp_path / "fno.pt"
    torch.save(model.state_dict(), path)  # with the activation function and classes that it was built from
    assert same(pr.models.fill(fno(), pr.models.load(path)), model)
    monkeypatch.setattr(Settings, "__setstate__", lambda *_: pytest.fail("executed"), raising=False)
    settings = Settings()
    settings.rate = 0.1
    torch.save({"model_state_dict": network(1).state_dict(), "settings": settings}, path)
    assert same(pr.models.fill(network(2), pr.models.load(path)), network(1))


def spring(path):
    os.mkdir(path)


class Trap:
    """Whoever unpickles this leaves a trace."""

    def __init__(self, call, path):
        self.call, self.path = call, path

    def __reduce__(self):
        return self.call, (str(self.path),)


@pytest.mark.parametrize("call", [os.mkdir, spring])  # a module that torch blocks, and one that it does not know
@pytest.mark.parametrize("wrap", [lambda trap: trap, lambda trap: {"model_state_dict": trap, "epoch": 1}])
def test_a_file_that_would_run_code_does_not(tmp_path, wrap, call):
    path, trace = tmp_path / "trap.pt", tmp_path / "executed"
    torch.save(wrap(Trap(call, trace)), path)
    with pytest.raises(ValueError, match=rf"Python objects \([\w.]*{call.__name__}\).*trust=True"):
        pr.models.load(path)
    path.write_bytes(pickle.dumps(wrap(Trap(call, trace)), protocol=2))
    with pytest.raises(ValueError, match=str(path)):
        pr.models.load(path)
    assert not trace.exists()
    torch.save(wrap(Trap(call, trace)), path)
    with pytest.raises(ValueError, match="holds no weights"):
        pr.models.load(path, trust=True)
    assert trace.exists()  # the trap is a real one


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_whole_modules_only_from_trusted_files(tmp_path):
    model = network(1)
    torch.save(model, tmp_path / "whole.pt")
    torch.jit.script(model.first).save(tmp_path / "script.pt")
    for name, part in (("whole.pt", model), ("script.pt", model.first)):
        with pytest.raises(ValueError, match=r"(surrogates.Network|TorchScript).*trust=True"):
            pr.models.load(tmp_path / name)
        assert same(pr.models.load(tmp_path / name, trust=True), part)
    assert isinstance(pr.models.load(tmp_path / "whole.pt", trust=True), Network)


def test_broken_and_foreign_files_are_said(tmp_path):
    for suffix in ("pt", "safetensors"):
        path = tmp_path / f"a.{suffix}"
        WAYS["state dict" if suffix == "pt" else "safetensors"](network(), path)
        whole = path.read_bytes()
        huge = (2**62).to_bytes(8, "little") + whole[8:]
        for content in (b"", b"PK\x03\x04 no", b"\x80\x02garbage", whole[:-200], whole[:50], huge, b"\0" * 100):
            if content == huge and suffix == "pt":
                continue
            path.write_bytes(content)
            with pytest.raises(ValueError, match=f"a.{suffix} is"):
                pr.models.load(path)
    with pytest.raises(ValueError, match="no file"):
        pr.models.load(tmp_path / "nowhere.pt")
    torch.save([1, 2], tmp_path / "list.pt")
    with pytest.raises(ValueError, match="holds no weights that are recognised: got list"):
        pr.models.load(tmp_path / "list.pt")
