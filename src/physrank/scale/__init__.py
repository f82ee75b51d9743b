"""Beyond one process: blocks of work on the workers of a Dask cluster, one large solve over devices.

Dask is loaded when a client is given.
"""

from physrank.scale.cluster import PINNED, Lost, ordered

__all__ = ["PINNED", "Lost", "ordered"]
