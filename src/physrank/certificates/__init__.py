"""Certificates: decisions that cannot be wrong, and say what they rest on."""

from physrank._renamed import moved
from physrank.certificates.burgers import BurgersEnergy
from physrank.certificates.burgers_validated import ValidatedBurgers
from physrank.certificates.certificate import Assumption, Certificate, Enclosure
from physrank.certificates.certify import certify, intersect
from physrank.certificates.diffusion_reaction import DiffusionReactionEnergy
from physrank.certificates.monotone import StronglyMonotone
from physrank.certificates.newton import LocalNewton
from physrank.certificates.own_marching import EnclosedMarch
from physrank.certificates.own_stationary import EnclosedZero
from physrank.certificates.pieces import Pieces
from physrank.certificates.reaction_diffusion import ValidatedReactionDiffusion
from physrank.certificates.reaction_diffusion_continuum import ContinuumReactionDiffusion
from physrank.certificates.reaction_diffusion_rough import RoughReactionDiffusion
from physrank.certificates.sine_gordon import SineGordonEnergy
from physrank.certificates.stopping import Certified

__all__ = [
    "Assumption",
    "BurgersEnergy",
    "Certificate",
    "Certified",
    "ContinuumReactionDiffusion",
    "DiffusionReactionEnergy",
    "EnclosedMarch",
    "EnclosedZero",
    "Enclosure",
    "LocalNewton",
    "Pieces",
    "RoughReactionDiffusion",
    "SineGordonEnergy",
    "StronglyMonotone",
    "ValidatedBurgers",
    "ValidatedReactionDiffusion",
    "certify",
    "intersect",
]

__getattr__ = moved("physrank.certificates", {"until": "physrank.certificates.Certified"})
