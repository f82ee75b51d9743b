"""Models as candidates: PyTorch, `neuraloperator`, JAX and ONNX, their checkpoints, and a monitor for training loops."""

from physrank.models.adapters import lightning_callback, watch
from physrank.models.checkpoints import Checkpoints, checkpoints
from physrank.models.choice import Choice
from physrank.models.choosing import choose
from physrank.models.monitor import PhysicsMonitor
from physrank.models.predict import predict
from physrank.models.weights import fill, load, save

__all__ = [
    "Checkpoints",
    "Choice",
    "PhysicsMonitor",
    "checkpoints",
    "choose",
    "fill",
    "lightning_callback",
    "load",
    "predict",
    "save",
    "watch",
]
