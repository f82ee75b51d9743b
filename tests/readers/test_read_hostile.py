"""Hostile and broken files: one sentence each, nothing executed, nothing large allocated, nothing read from elsewhere."""

import os
import resource
import stat
import tracemalloc

import numpy as np
import pytest

import files
import hostile
import physrank as pr
from fuzz import everything


@pytest.mark.parametrize("name", hostile.EVERY)
def test_hostile_files_are_refused(name, tmp_path):
    write, words = hostile.EVERY[name]
    write(tmp_path / name)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=words) as refusal:
            everything(tmp_path / name, max_bytes=hostile.SMALL)
        assert tracemalloc.get_traced_memory()[1] < 8 * hostile.SMALL
    finally:
        tracemalloc.stop()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 256_000  # kB; torch itself is loaded by some
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).endswith((".", ")"))
    assert hostile.MARKER not in os.environ


def test_what_is_refused_would_have_run(tmp_path, monkeypatch):
    monkeypatch.setenv(hostile.MARKER, "0")
    hostile.npy_objects(tmp_path / "harm.npy")
    np.load(tmp_path / "harm.npy", allow_pickle=True)
    assert os.environ[hostile.MARKER] == "1"


@pytest.mark.parametrize("layout", files.WRITERS | files.SEVERAL)
def test_truncated_files(layout, tmp_path):
    """A store is cut part by part: descriptions, chunks of fields, of coordinates and of names."""
    path, _ = files.written(tmp_path, layout)
    assert everything(path)  # whole, it is read
    parts = [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]
    assert parts
    for part in parts:
        content = part.read_bytes()
        for length in {1, 8, len(content) // 2, len(content) - 4}:  # the last three bytes of netCDF 3 may mean nothing
            part.write_bytes(content[:length])
            with pytest.raises(ValueError, match=path.name):
                everything(path)
        part.write_bytes(content)


def test_what_is_no_file_of_numbers(tmp_path):
    empty, text, folder, pipe = (tmp_path / name for name in ("empty.h5", "notes.txt", "folder", "pipe"))
    empty.touch()
    text.write_text("these are not the numbers")
    folder.mkdir()
    os.mkfifo(pipe)
    for path, words in (
        (empty, "is empty"),
        (text, "is none of HDF5.*begins with b'these ar'"),
        (folder, "is a folder"),
        (pipe, "not an ordinary file"),
    ):
        with pytest.raises(ValueError, match=words):
            pr.read(path)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.h5"):
        pr.read(tmp_path / "nowhere.h5")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_missing_permissions(tmp_path):
    path, _ = files.written(tmp_path, "npy")
    path.chmod(stat.S_IWUSR)
    with pytest.raises(PermissionError, match=r"one\.npy"):
        pr.read(path)


@pytest.mark.parametrize("layout", ["npy", "hdf5", "zarr", "netcdf3"])
def test_a_system_that_refuses_is_quoted(layout, tmp_path, monkeypatch):
    path, _ = files.written(tmp_path, layout)

    def refuse(self, *_, **__):
        raise PermissionError(13, "Permission denied", str(self))

    for name in ("open", "read_text"):
        monkeypatch.setattr(type(path), name, refuse)
    with pytest.raises(PermissionError, match=f"Permission denied.*{path.name}"):
        pr.read(path)
