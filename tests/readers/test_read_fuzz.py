"""Damaged files, by seed: whatever the damage, a reader answers with values or with one sentence.

A crash of a library would end the run, memory beyond the limit shows in the peak of the process.
"""

import os
import resource

import pytest

import files
import fuzz

EVERY = files.WRITERS | files.SEVERAL
SLOW = 1000  # damaged files of each layout in the slow lane


def count(layout):
    """A few of each format here, most of those that are read by code of our own; layouts of HDF5 share a reader."""
    return 10 if layout.startswith(("pdebench", "the-well", "netcdf")) else 40


@pytest.mark.filterwarnings("ignore")  # libraries may warn about what they read
@pytest.mark.parametrize("layout", EVERY)
def test_damaged_files(layout, tmp_path):
    path, _ = files.written(tmp_path, layout)
    assert fuzz.attempt(path)
    assert (
        0 < fuzz.run(path, seed=len(layout), count=count(layout)) < count(layout)
    )  # some survive their wounds, most do not


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layout", EVERY)
def test_many_damaged_files(layout, tmp_path):
    path, _ = files.written(tmp_path, layout)
    assert fuzz.attempt(path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    read = fuzz.run(path, seed=int(os.environ.get("PHYSRANK_FUZZ_SEED", "1000")), count=SLOW)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
    print(f"{layout}: {SLOW} damaged files, {read} still readable, peak memory +{grown:.0f} MB")
    assert grown < 2 * fuzz.MOST / 1e6
