"""Certificates: decisions that cannot be wrong, and say what they rest on."""

from physrank.certificates.burgers import BurgersEnergy
from physrank.certificates.certificate import Assumption, Certificate, Enclosure
from physrank.certificates.certify import certify, intersect, until
from physrank.certificates.diffusion_reaction import DiffusionReactionEnergy
from physrank.certificates.monotone import StronglyMonotone
from physrank.certificates.newton import LocalNewton
from physrank.certificates.reaction_diffusion import ValidatedReactionDiffusion
from physrank.certificates.sine_gordon import SineGordonEnergy

__all__ = [
    "Assumption",
    "BurgersEnergy",
    "Certificate",
    "DiffusionReactionEnergy",
    "Enclosure",
    "LocalNewton",
    "SineGordonEnergy",
    "StronglyMonotone",
    "ValidatedReactionDiffusion",
    "certify",
    "intersect",
    "until",
]
