"""The installed version, read from the package metadata."""

from importlib.metadata import version

__version__ = version("physrank")
