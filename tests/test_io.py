"""Files are whole or not there, however many write them and whenever one is killed."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from physrank._io import write_json, write_text, write_whole

CODE = """
import sys
from physrank._io import write_json
for k in range(10**9):
    write_json(sys.argv[1], {"writer": sys.argv[2], "numbers": [k] * 2000, "end": k})
"""


def whole(path):
    content = json.loads(path.read_text(encoding="utf-8"))
    assert set(content["numbers"]) == {content["end"]} and len(content["numbers"]) == 2000
    return content["writer"]


def test_two_processes_and_eight_threads_write_one_file_and_no_read_is_torn(tmp_path):
    path, stopped, failures = tmp_path / "result.json", threading.Event(), []

    def write(writer):
        k = 0
        while not stopped.is_set():
            k += 1
            try:
                write_json(path, {"writer": writer, "numbers": [k] * 2000, "end": k})
            except Exception as problem:
                failures.append(problem)

    threads = [threading.Thread(target=write, args=(f"thread {k}",)) for k in range(8)]
    processes = [subprocess.Popen([sys.executable, "-c", CODE, str(path), f"process {k}"]) for k in range(2)]
    try:
        for thread in threads:
            thread.start()
        writers, reads = set(), 0
        give_up = time.monotonic() + 120
        while (reads < 1000 or len(writers) < 10) and time.monotonic() < give_up:
            if path.exists():
                writers.add(whole(path))
                reads += 1
    finally:
        stopped.set()
        for process in processes:
            process.send_signal(signal.SIGKILL)
            process.wait()
        for thread in threads:
            thread.join()
    assert not failures and reads >= 1000 and len(writers) == 10
    write_text(path, "{}")  # whoever writes next sweeps what the killed ones left
    assert os.listdir(tmp_path) == ["result.json"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path):
    path = write_text(tmp_path / "a.txt", "before")

    def half(draft):
        draft.write_text("ha")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_whole(path, half)
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, {"a": float("nan")})
    assert path.read_text() == "before" and os.listdir(tmp_path) == ["a.txt"]
