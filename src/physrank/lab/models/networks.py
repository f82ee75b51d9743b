"""The network of each library, with its initial or boundary condition built in.

Needs the `lab` extra (`pip install .[lab]`).
"""

import torch

from physrank.lab.libraries import Library, Profile
from physrank.lab.models.cno import CNO
from physrank.lab.models.constraints import constrained
from physrank.lab.models.fno import fno


def build(library: Library, profile: Profile) -> torch.nn.Module:
    """An untrained network; weights depend on the state of torch's random generator."""
    equation = library.declared
    size, channels = equation.size(profile.name), (equation.inputs, equation.outputs)
    if library.architecture == "fno":
        network = fno(*channels, width=size.fno_width, modes=size.fno_modes)
        return constrained(network, equation.constraint)
    padding = "circular" if equation.periodic else "zeros"
    network = CNO(*channels, multiplier=size.cno_multiplier, padding=padding)
    # 34 nodes cannot be halved three times; the 32 interior ones can, and zeros around them are the condition.
    return constrained(network, equation.constraint, interior=True)
