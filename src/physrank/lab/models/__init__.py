"""The networks that the studies train: FNO, CNO and U-Net. Needs the `lab` extra (`pip install .[lab]`)."""

from physrank.lab.models.cno import CNO
from physrank.lab.models.fno import FNO
from physrank.lab.models.unet import UNet

__all__ = ["CNO", "FNO", "UNet"]
