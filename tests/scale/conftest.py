"""A real cluster of two processes, for all who need one."""

import logging

import pytest

from physrank import scale


def started(workers):
    dask, distributed = (pytest.importorskip(name) for name in ("dask", "distributed"))
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # dead workers are meant here
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})  # a busy machine is slow to replace them
    found = distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, env=scale.PINNED, dashboard_address=":0", silence_logs=logging.CRITICAL
    )
    return found, distributed.Client(found, set_as_default=False)  # which tests of others would take for a leftover


@pytest.fixture(scope="package")
def _cluster():
    cluster, client = started(2)
    yield cluster, client
    client.close()
    cluster.close()


@pytest.fixture
def two(_cluster):
    """Cluster and client, with both workers there: a test before this one may have killed them."""
    cluster, client = _cluster
    client.wait_for_workers(2, timeout=300)
    return cluster, client


@pytest.fixture
def client(two):
    return two[1]
