"""The network of each run, with its initial or boundary condition built in, or as a step of a rollout.

Needs the `lab` extra (`pip install .[lab]`).
"""

import torch

from physrank.lab.libraries import AnyLibrary, Library, Profile, RolloutLibrary
from physrank.lab.models.cno import CNO
from physrank.lab.models.constraints import constrained
from physrank.lab.models.fno import fno
from physrank.lab.models.stepping import Stepper
from physrank.lab.models.unet import UNet


def build(library: AnyLibrary, profile: Profile, run: int = 0) -> torch.nn.Module:
    """An untrained network; weights depend on the state of torch's random generator."""
    return _stepper(library, profile, run) if isinstance(library, RolloutLibrary) else _whole(library, profile)


def _whole(library: Library, profile: Profile) -> torch.nn.Module:
    """From inputs to whole solutions."""
    equation = library.declared
    size, channels = library.size(profile), (equation.inputs, equation.outputs)
    if library.architecture == "fno":
        network = fno(*channels, width=size.fno_width, modes=size.fno_modes)
        return constrained(network, equation.constraint)
    padding = "circular" if equation.periodic else "zeros"
    if library.architecture == "unet":
        network = UNet(*channels, features=size.unet_features, padding=padding)
    else:
        network = CNO(*channels, multiplier=size.cno_multiplier, padding=padding)
    # 34 nodes cannot be halved time and again; the 32 interior ones can, and zeros around them are the condition.
    return constrained(network, equation.constraint, interior=True)


def _stepper(library: RolloutLibrary, profile: Profile, run: int) -> Stepper:
    """From the last frames to the next."""
    equation, network = library.declared, library.declared.networks[run]
    budget, channels = equation.budget(profile.name), (network.history * equation.channels, equation.channels)
    if network.architecture == "fno":
        body = fno(*channels, width=budget.width, modes=(budget.modes,) * equation.dimensions)
    else:
        padding = "circular" if equation.periodic else "zeros"
        body = UNet(*channels, features=budget.features, dimensions=equation.dimensions, padding=padding)
    return Stepper(body, network.history, equation.change)
