"""Certificates: decisions that cannot be wrong, and say what they rest on."""

from physrank.certificates.certificate import Assumption, Certificate, Enclosure

__all__ = ["Assumption", "Certificate", "Enclosure"]
