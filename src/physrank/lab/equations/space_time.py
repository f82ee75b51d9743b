"""What periodic evolutions have in common: their grids, space last, and the networks that learn on them."""

from physrank.lab.equations.equation import NetworkSize

ROWS, POINTS, COMPARED = 48, 48, 384
SIZES = {
    "smoke": NetworkSize(fno_width=4, fno_modes=(4, 6), cno_multiplier=4, unet_features=2),
    "laptop": NetworkSize(fno_width=16, fno_modes=(6, 12), cno_multiplier=8, unet_features=8),
    "paper": NetworkSize(fno_width=24, fno_modes=(6, 12), cno_multiplier=37, unet_features=32),
}
LEARNING_RATES = {"fno": 2e-3, "cno": 2e-3, "unet": 2e-3}
