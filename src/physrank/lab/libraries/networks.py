"""The network of each library, with its initial or boundary condition built in.

Needs the `lab` extra (`pip install .[lab]`).
"""

import torch

from physrank.lab.libraries.plan import Library, Profile
from physrank.lab.libraries.setups import SETUPS
from physrank.lab.models.cno import CNO
from physrank.lab.models.constraints import InitialCondition, ZeroBoundary
from physrank.lab.models.fno import fno

SIZE = 0.1  # of reaction–diffusion solutions


def build(library: Library, profile: Profile) -> torch.nn.Module:
    """An untrained network; weights depend on the state of torch's random generator."""
    setup, periodic = SETUPS[library.equation], library.equation == "burgers"
    if library.architecture == "fno":
        width, modes = profile.fno_width[library.equation], profile.fno_modes[library.equation]
        network = fno(setup.channels, 1, width=width, modes=modes)
        return InitialCondition(network) if periodic else ZeroBoundary(network, scale=SIZE)
    padding = "circular" if periodic else "zeros"
    network = CNO(setup.channels, 1, multiplier=profile.cno_multiplier[library.equation], padding=padding)
    # 34 nodes cannot be halved three times; the 32 interior ones can, and zeros around them are the condition.
    return InitialCondition(network) if periodic else ZeroBoundary(network, interior=True, scale=SIZE)
