"""Results reach a disk whole or not at all: whoever else writes, whatever fails."""

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from physrank import _io

READS = 1000
WRITER = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("io_of_physrank", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print("ready", flush=True)
while True:
    module.write_json(sys.argv[2], {"rows": [int(sys.argv[3])] * 5000})
"""


def torn(path):
    """How many of many reads find something else than one writer's whole text."""
    bad = 0
    for _ in range(READS):
        try:
            bad += len(set(json.loads(path.read_text())["rows"])) != 1
        except (json.JSONDecodeError, FileNotFoundError):
            bad += 1
    return bad


def in_threads(write, path):
    """Torn reads while eight threads write."""
    over = threading.Event()

    def go(value):
        while not over.is_set():
            write(path, {"rows": [value] * 5000})

    threads = [threading.Thread(target=go, args=(k,)) for k in range(8)]
    write(path, {"rows": [0] * 5000})
    for thread in threads:
        thread.start()
    try:
        return torn(path)
    finally:
        over.set()
        for thread in threads:
            thread.join()


def test_eight_threads_write_one_file(tmp_path):
    assert in_threads(_io.write_json, tmp_path / "result.json") == 0
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]  # no drafts are left


def test_a_plain_write_is_torn(tmp_path):
    assert in_threads(lambda path, content: path.write_text(json.dumps(content)), tmp_path / "result.json") > 0


def test_two_processes_write_one_file(tmp_path):
    path = tmp_path / "result.json"
    _io.write_json(path, {"rows": [0] * 5000})
    command = [sys.executable, "-c", WRITER, _io.__file__, str(path)]
    writers = [subprocess.Popen([*command, str(k)], stdout=subprocess.PIPE) for k in (1, 2)]
    try:
        for writer in writers:
            assert writer.stdout.readline() == b"ready\n"
        assert torn(path) == 0
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    _io.write_json(path, {"rows": [3] * 5000})
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]  # what the killed ones left is swept


def test_a_full_disk_is_named_and_the_earlier_file_stays(tmp_path):
    path = tmp_path / "result.json"
    _io.write_text(path, "earlier")

    def fill(draft):
        draft.write_text("half")
        Path("/dev/full").write_text("x" * 100_000)

    with pytest.raises(OSError, match=r"No space left on device; could not write.*result\.json") as failure:
        _io.write_whole(path, fill)
    assert failure.value.errno == errno.ENOSPC
    assert path.read_text() == "earlier"
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]


def test_a_library_that_does_not_say_that_the_disk_is_full(tmp_path, monkeypatch):
    def fail(draft):
        raise RuntimeError("stream writer failed")

    with pytest.raises(RuntimeError, match="stream writer failed"):
        _io.write_whole(tmp_path / "weights.pt", fail)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9 - 100, 100))
    with pytest.raises(OSError, match=r"No space left on device.*weights\.pt"):
        _io.write_whole(tmp_path / "weights.pt", fail)


def test_other_refusals_keep_their_kind(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError, match="could not write"):
        _io.write_text(tmp_path / "file" / "result.json", "text")
    with pytest.raises(IsADirectoryError, match="could not write"):
        _io.write_text(tmp_path, "text")


def test_drafts_of_the_living_and_of_other_machines_stay(tmp_path):
    name = "result [1].json"  # characters that a pattern would read as its own
    mine, dead, far = (f".{name}.{host}.{pid}.x.partial" for host, pid in (
        (_io.HOST, os.getpid()), (_io.HOST, 2**22 + 1), ("elsewhere", 2**22 + 1)))  # fmt: skip
    for draft in (mine, dead, far):
        (tmp_path / draft).touch()
    _io.write_text(tmp_path / name, "text")
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([name, mine, far])


def test_json_that_is_none_leaves_what_was_there(tmp_path):
    path = _io.write_text(tmp_path / "a.json", "before")
    with pytest.raises(ValueError, match="JSON"):
        _io.write_json(path, {"a": float("nan")})
    assert path.read_text() == "before" and [file.name for file in tmp_path.iterdir()] == ["a.json"]


def test_links_stay_and_what_they_point_to_is_written(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link, real = tmp_path / "result.json", tmp_path / "elsewhere" / "real.json"
    link.symlink_to(real)
    assert _io.write_text(link, "text") == link
    assert link.is_symlink() and real.read_text() == "text"


def test_devices_and_pipes_are_written_to_and_stay_what_they_are(tmp_path):
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    listener = threading.Thread(target=lambda: heard.append(pipe.read_text()), daemon=True)
    listener.start()
    _io.write_text(pipe, "text")
    listener.join(10)
    assert heard == ["text"] and pipe.is_fifo()
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    assert _io._streams(full)  # else what follows would cost the machine its device, had it come so far
    with pytest.raises(OSError, match="No space left on device; could not write"):
        _io.write_text(full, "text")
    assert full.is_symlink() and Path("/dev/full").is_char_device()


def test_names_as_long_as_the_system_allows(tmp_path):
    for name in ("n" * 255, "名" * 85):
        _io.write_text(tmp_path / name, "text")
        assert (tmp_path / name).read_text() == "text"
