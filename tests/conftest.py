"""Shared set-up: float64 as in the package, strict promotion, one compilation cache for all workers of a run, and a
compiler that does not optimise, because nearly all of a test's time is compilation. `PHYSRANK_OPTIMISED=1` runs the
suite on the code that users get, `PHYSRANK_SINGLE=1` with JAX as they have it, in single precision."""

import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path

if "PHYSRANK_OPTIMISED" not in os.environ:  # read when JAX first compiles; processes that tests start inherit it
    os.environ["XLA_FLAGS"] = " ".join(
        [
            os.environ.get("XLA_FLAGS", ""),
            "--xla_backend_optimization_level=0",
            "--xla_cpu_use_fusion_emitters=false",
            "--xla_cpu_parallel_codegen_split_count=1",
        ]
    )

import jax
import pytest
from hypothesis import settings

from helpers import EXTERNAL, wide
from physrank import double
from physrank.physics import rescue

sys.modules.setdefault("wandb", None)  # neuralop would load it, for seconds; it does without where there is none

settings.register_profile("unhurried", deadline=None)  # a machine that pauses is no fault of a law
settings.load_profile("unhurried")

gc.set_threshold(50_000, 20, 50)  # tracing makes many objects that live

HERE = Path(__file__).parent
LONGEST = (
    "test_documents.py",
    "test_laws.py",
    "lab/studies/test_studies.py",
    "lab/training/test_run_alone.py",
    "certificates/test_burgers.py",
    "physics/test_response.py",
    "lab/test_demo.py",  # after the studies, whose compilations it finds in the cache
    "certificates/test_certificate.py",
    "lab/equations/test_sine_gordon.py",
)
WIDE = {test for _, test in wide()}
CACHE = "JAX_COMPILATION_CACHE_DIR"
SHARED = os.environ.get(
    "PHYSRANK_COMPILATIONS"
)  # a cache that outlives the run, for many runs of nearly the same source


def pytest_configure(config):
    """Whoever starts the run makes the cache; its workers inherit it, and so do processes that tests start."""
    if not hasattr(config, "workerinput"):
        os.environ[CACHE] = SHARED or tempfile.mkdtemp(prefix="physrank-compilations-")
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    jax.config.update("jax_compilation_cache_dir", os.environ[CACHE])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput") and not SHARED:
        shutil.rmtree(os.environ.pop(CACHE, ""), ignore_errors=True)


def pytest_terminal_summary(terminalreporter):
    if not EXTERNAL.exists():
        terminalreporter.write_line(
            f"External data NOT FOUND in {EXTERNAL}: checks against them did not run.", red=True
        )


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items):
    """Marks what tests/wide.txt lists. The longest files first, so that no worker starts one when the others are done."""
    for item in items:
        name = item.nodeid.removeprefix("tests/")
        if not WIDE.isdisjoint({name, name.partition("[")[0]}):
            item.add_marker("wide")
    gc.freeze()  # what has been imported stays: searching it for garbage took seconds every time
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.relative_to(HERE).as_posix(), len(order)))


@pytest.fixture
def promotion():
    """How dtypes mix; files that must mix them say so by their own."""
    return "strict"


@pytest.fixture
def no_rescue(monkeypatch):
    """Where an iteration does not converge, nothing else is tried: for tests of what failure looks like."""
    monkeypatch.setattr(rescue, "UNKNOWNS", 0)


@pytest.fixture
def precision():
    """Of what tests themselves compute with JAX; files that want it as users have it, single, say so by their own."""
    return jax.enable_x64(False) if "PHYSRANK_SINGLE" in os.environ else double()


@pytest.fixture(autouse=True)
def _settings(promotion, precision):
    with precision, jax.numpy_dtype_promotion(promotion):
        yield


MAPPINGS = 30_000  # the kernel allows a process 65,530; past that LLVM dies while it compiles


@pytest.fixture(scope="module", autouse=True)
def _room_for_programs():
    """Compiled programs are mappings of memory, several each: a worker that has many lets go of them between files."""
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_bytes().count(b"\n") > MAPPINGS:
        jax.clear_caches()
        gc.collect()
