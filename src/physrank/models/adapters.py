"""Where others' training loops call a monitor: `neuraloperator`'s Trainer, and Lightning where it is installed."""

import functools
import importlib.util
from collections.abc import Callable
from typing import Any

from physrank._optional import load
from physrank.models.monitor import PhysicsMonitor

FIGURES = ("score", "error_estimate", "relative_error", "stability")


def watch(trainer: Any, monitor: PhysicsMonitor, *, every: int = 1) -> Any:
    """Let a `neuraloperator` Trainer call the monitor after every epoch (or every so manieth); returns the trainer.

    The Trainer has no callbacks of its own: its `train_one_epoch` is wrapped, on this trainer alone.
    """
    _check(monitor, every)
    train_one_epoch = getattr(trainer, "train_one_epoch", None)
    if not callable(train_one_epoch) or not hasattr(trainer, "model"):
        raise ValueError(
            f"watch needs a neuraloperator Trainer, with train_one_epoch and model; got {type(trainer).__name__}. In a loop "
            "of your own call monitor.step(model, epoch)."
        )

    @functools.wraps(train_one_epoch)
    def watched(epoch: int, *arguments: Any, **options: Any) -> Any:
        result = train_one_epoch(epoch, *arguments, **options)
        if epoch % every == 0:
            record = monitor.step(trainer.model, epoch)
            if getattr(trainer, "verbose", False) and "error_estimate" in record:
                print(f"physics: estimated error {record['error_estimate']:.4g}, best epoch {record['best']}")
        return result

    trainer.train_one_epoch = watched
    return trainer


def lightning_callback(
    monitor: PhysicsMonitor, *, model: Callable[[Any], Any] = lambda module: module, every: int = 1
) -> Any:
    """A Lightning callback that calls the monitor at the end of training epochs and logs `physics/…`.

    `model(module)`: the network inside the LightningModule, where that is what `encode` and `decode` belong to.
    """
    _check(monitor, every)
    name = "lightning.pytorch" if importlib.util.find_spec("lightning") else "pytorch_lightning"
    lightning = load(name)

    class PhysicsCallback(lightning.Callback):
        def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
            if trainer.is_global_zero and trainer.current_epoch % every == 0:
                record = monitor.step(model(pl_module), trainer.current_epoch)
                figures = {f"physics/{key}": record[key] for key in FIGURES if key in record}
                pl_module.log_dict(figures, rank_zero_only=True)

    return PhysicsCallback()


def _check(monitor: Any, every: Any) -> None:
    if not isinstance(monitor, PhysicsMonitor):
        raise ValueError(f"monitor must be a physrank.models.PhysicsMonitor; got {monitor!r:.60}.")
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ValueError(f"every must be a whole number of epochs, at least 1; got {every!r}.")
