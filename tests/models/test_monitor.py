"""A real training loop: the monitor keeps the checkpoints with the least true error, disturbs nothing, and goes on."""

import csv
import re

import numpy as np
import pytest
import torch

import physrank as pr
from physrank.models import diary
from surrogates import network, problem_of, starts, train, true_errors

PANEL = starts(6, seed=9)
EPOCHS = 12


def shaken(model, epoch):
    """A training that goes wrong: from epoch 8 on its steps are far too long."""
    if epoch >= 8:
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.03 * (epoch - 7) * torch.sin(torch.arange(parameter.numel()).reshape(parameter.shape)))


def trained(monitor=None, first=0, last=EPOCHS, model=None, optimizer=None, errors=None):
    model = model or network()

    def after(model, epoch):
        shaken(model, epoch)
        if monitor is not None:
            monitor.step(model, epoch, rate=0.05)
        if errors is not None:
            predictions = pr.models.predict({"it": model}, PANEL)
            errors[epoch] = true_errors(predictions, PANEL)["it"]

    return model, train(model, last, 0.05, after, first, optimizer)


def monitored(folder, **options):
    return pr.models.PhysicsMonitor(problem_of, PANEL, folder, **options)


def records(monitor):
    return [{key: value for key, value in record.items() if key != "seconds"} for record in monitor.history]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """One uninterrupted run, and the true errors that the monitor never saw."""
    torch.manual_seed(0)
    monitor, errors = monitored(tmp_path_factory.mktemp("finished")), {}
    model, _ = trained(monitor, errors=errors)
    return monitor, errors, model


def test_the_checkpoints_kept_are_those_with_the_least_true_error(finished):
    monitor, errors, _ = finished
    order = sorted(errors, key=errors.get)
    assert order[0] not in (0, EPOCHS - 1)  # neither the first nor the last would do
    assert list(monitor.kept) == order[:3] and monitor.best == order[0]
    best = monitor.load_best(network(5))
    found = true_errors(pr.models.predict({"it": best}, PANEL), PANEL)["it"]
    assert found == pytest.approx(errors[order[0]], rel=1e-5)
    estimates = [record["error_estimate"] for record in monitor.history]
    np.testing.assert_allclose(estimates, [errors[record["epoch"]] for record in monitor.history], rtol=0.1)


def test_training_is_not_disturbed(finished):
    _, _, model = finished
    alone, _ = trained()
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), alone.parameters(), strict=True))
    assert model.training


def test_only_what_is_kept_lies_in_the_folder_and_the_history_is_a_table(finished):
    monitor, errors, _ = finished
    folder = monitor.diary.folder
    weights = {f"epoch{epoch}.safetensors" for epoch in monitor.kept}
    assert {path.name for path in folder.iterdir()} == weights | {"monitor.json", "history.csv"}
    with (folder / "history.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["epoch"]) for row in rows] == sorted(errors) and {row["rate"] for row in rows} == {"0.05"}
    assert [float(row["score"]) for row in rows] == [record["score"] for record in monitor.history]
    kept = pr.models.checkpoints(folder / "epoch*.safetensors", network)
    assert pr.choose(problem_of, kept, PANEL).best == f"epoch{monitor.best}"


@pytest.mark.parametrize("stopped", [1, 5, 10])
def test_a_resumed_monitor_ends_like_one_that_was_never_stopped(finished, tmp_path, stopped):
    whole, _, _ = finished
    model, optimizer = trained(monitored(tmp_path), last=stopped)
    second = monitored(tmp_path)
    assert len(second.history) == stopped
    trained(second, first=stopped, model=model, optimizer=optimizer)
    assert list(second.kept) == list(whole.kept)
    for mine, other in zip(records(second), records(whole), strict=True):
        assert mine.keys() == other.keys() and mine["best"] == other["best"]
        assert mine["score"] == pytest.approx(other["score"], rel=1e-6)


def test_epochs_that_are_done_again_replace_what_was_known_of_them(finished, tmp_path):
    whole, _, _ = finished
    model, _ = trained(monitored(tmp_path), last=6)
    model, optimizer = trained(last=3)  # the loop's own state was older than the monitor's
    monitor = monitored(tmp_path)
    trained(monitor, first=3, model=model, optimizer=optimizer)
    assert [record["epoch"] for record in monitor.history] == list(range(EPOCHS))
    assert list(monitor.kept) == list(whole.kept)
    monitored(tmp_path).step(network(), 1)
    assert {path.name for path in tmp_path.glob("epoch*")} <= {"epoch0.safetensors", "epoch1.safetensors"}


def test_a_write_that_fails_leaves_the_diary_as_it_was(tmp_path, monkeypatch):
    monitor = monitored(tmp_path, keep=1)
    model, optimizer = trained(monitor, last=2)
    before = (tmp_path / "monitor.json").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(diary, "write_json", full)
        monitor.step(model, 2)
    assert (tmp_path / "monitor.json").read_bytes() == before
    again = monitored(tmp_path, keep=1)
    assert again.best in (0, 1) and again.kept[again.best].is_file()
    trained(again, first=2, last=4, model=model, optimizer=optimizer)
    assert [path.name for path in tmp_path.glob("*.safetensors")] == [f"epoch{again.best}.safetensors"]


def test_a_model_that_breaks_is_recorded_and_ends_no_training(tmp_path):
    monitor = monitored(tmp_path)
    model = network()
    monitor.step(model, 0)
    with torch.no_grad():
        model.last.bias[0] = torch.nan
    record = monitor.step(model, 1)
    assert "NaN" in record["note"] and not record["kept"] and monitor.best == 0 and "score" not in record
    assert not (tmp_path / "epoch1.safetensors").exists()
    assert monitor.step(network(1), 2)["kept"]


def test_weights_that_vanished_are_noted(tmp_path):
    first = monitored(tmp_path)
    first.step(network(), 0)
    (tmp_path / "epoch0.safetensors").unlink()
    record = monitored(tmp_path).step(network(1), 1)
    assert "weights of epoch 0 are gone" in record["note"] and record["best"] == 1


def test_inputs_without_an_answer_are_noted(tmp_path):
    def stated(start):
        return pr.Marching(problem_of(start).step, start, problem_of(start).data * np.nan)

    record = pr.models.PhysicsMonitor(stated, PANEL, tmp_path).step(network(), 0)
    assert "6 of 6 inputs decide nothing" in record["note"] and record["kept"] and record["best"] == 0


def test_a_folder_of_another_panel_is_not_written_to(tmp_path):
    monitored(tmp_path).step(network(), 0)
    with pytest.raises(ValueError, match="other problems") as told:
        pr.models.PhysicsMonitor(problem_of, PANEL + 1, tmp_path)
    assert not re.search("delet|remov", str(told.value), re.IGNORECASE)
    (tmp_path / "monitor.json").write_text("{")
    with pytest.raises(ValueError, match="another folder"):
        monitored(tmp_path)


def test_what_is_no_step_is_refused(tmp_path):
    monitor = monitored(tmp_path)
    for model, epoch in ((lambda u: u, 0), (network(), -1), (network(), 1.5)):
        with pytest.raises(ValueError, match=r"needs the torch|whole number"):
            monitor.step(model, epoch)
    with pytest.raises(ValueError, match="No checkpoint"):
        monitor.load_best(network())
    with pytest.raises(ValueError, match="keep must be"):
        monitored(tmp_path, keep=0)
    assert not list(tmp_path.iterdir())
