"""Shared set-up: float64 as in the package, strict promotion, and one compilation cache for all workers of a run."""

import os
import shutil
import tempfile

import jax
import pytest

from physrank import double

CACHE = "PHYSRANK_TEST_COMPILATIONS"


def pytest_configure(config):
    """Promotion is strict for set-ups as well; the cache is made by whoever starts the run and inherited by workers."""
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    if not hasattr(config, "workerinput"):
        os.environ[CACHE] = tempfile.mkdtemp(prefix="physrank-compilations-")
    jax.config.update("jax_compilation_cache_dir", os.environ[CACHE])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop(CACHE, ""), ignore_errors=True)


@pytest.fixture(autouse=True)
def _float64():
    with double():
        yield
