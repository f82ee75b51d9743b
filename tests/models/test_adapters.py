"""Others' training loops call the monitor: neuraloperator's Trainer and Lightning, as they are installed."""

import lightning.pytorch as lightning
import pytest
import torch
from neuralop import Trainer
from neuralop.models import FNO
from torch.utils.data import DataLoader, TensorDataset

import physrank as pr
from surrogates import POINTS, ROWS, Network, problem_of, solved, starts

PANEL = starts(4, seed=9)
INPUTS, TARGETS = (torch.tensor(part, dtype=torch.float32) for part in (starts(16, 1), solved(starts(16, 1))))


class Pairs(torch.utils.data.Dataset):
    """What neuraloperator's Trainer takes: mappings x, y."""

    def __len__(self):
        return len(INPUTS)

    def __getitem__(self, k):
        return {"x": INPUTS[k][None], "y": TARGETS[k, 1:]}


@pytest.mark.filterwarnings("ignore:FNO.forward")  # the Trainer gives it the labels too
def test_neuraloperators_trainer_calls_the_monitor(tmp_path):
    model = FNO(n_modes=(6,), hidden_channels=8, in_channels=1, out_channels=ROWS - 1, n_layers=1)
    monitor = pr.models.PhysicsMonitor(
        problem_of,
        torch.tensor(PANEL),
        tmp_path,
        encode=lambda batch: batch[:, None],
        decode=lambda rows, batch: torch.cat([batch[:, None], rows], dim=1),
    )
    trainer = Trainer(model=model, n_epochs=4, device="cpu", verbose=False)
    assert pr.models.watch(trainer, monitor, every=2) is trainer
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    trainer.train(
        DataLoader(Pairs(), batch_size=8),
        {},
        optimizer,
        torch.optim.lr_scheduler.ConstantLR(optimizer, 1.0),
        training_loss=lambda y_pred, y, **_: ((y_pred - y) ** 2).sum(),
    )
    assert [record["epoch"] for record in monitor.history] == [0, 2]
    first, last = (record["error_estimate"] for record in monitor.history)
    assert last < first and monitor.best == 2
    fresh = FNO(n_modes=(6,), hidden_channels=8, in_channels=1, out_channels=ROWS - 1, n_layers=1)
    assert monitor.load_best(fresh) is fresh


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = Network()

    def training_step(self, batch, _):
        return torch.nn.functional.mse_loss(self.network(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 0.02)


@pytest.mark.filterwarnings("ignore")  # Lightning's own advice about workers and loggers
def test_lightning_calls_the_monitor_and_logs(tmp_path):
    monitor = pr.models.PhysicsMonitor(problem_of, PANEL, tmp_path, keep=2)
    callback = pr.models.lightning_callback(monitor, model=lambda module: module.network)
    trainer = lightning.Trainer(
        max_epochs=3,
        callbacks=[callback],
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    module = Module()
    trainer.fit(module, DataLoader(TensorDataset(INPUTS, TARGETS), batch_size=8))
    assert [record["epoch"] for record in monitor.history] == [0, 1, 2] and len(monitor.kept) == 2
    assert monitor.history[-1]["error_estimate"] < monitor.history[0]["error_estimate"]
    logged = trainer.callback_metrics["physics/error_estimate"]
    assert float(logged) == pytest.approx(monitor.history[-1]["error_estimate"], rel=1e-6)
    assert monitor.load_best(Network()).first.in_features == POINTS


def test_what_cannot_be_watched_is_said(tmp_path):
    monitor = pr.models.PhysicsMonitor(problem_of, PANEL, tmp_path)
    with pytest.raises(ValueError, match=r"needs a neuraloperator Trainer.*monitor.step"):
        pr.models.watch(object(), monitor)
    for bad in ({"monitor": None}, {"monitor": monitor, "every": 0}):
        with pytest.raises(ValueError, match="must be a"):
            pr.models.lightning_callback(**bad)
