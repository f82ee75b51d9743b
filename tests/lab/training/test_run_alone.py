"""Trainers that are killed at any moment lose no finished epoch; two at once in one folder disturb nothing."""

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from lab_helpers import BURGERS, TINY
from physrank.lab.store import checkpoints
from physrank.lab.store.files import StoreError
from physrank.lab.training import run as training

CODE = """
import sys
sys.modules["wandb"] = None  # as in this process
from dataclasses import replace
from pathlib import Path
from physrank.lab.libraries import LIBRARIES, PROFILES
from physrank.lab.training.run import train_run
profile = replace(PROFILES["smoke"], training=8, validation=2, epochs=int(sys.argv[2]), batch=4, evaluation=3, panels=1,
                  panel_size=3, deployment=3)
train_run(Path(sys.argv[1]), profile, LIBRARIES["burgers-fno-e1"], 0, lambda epoch, loss: print(epoch, flush=True))
"""


def started(store, epochs):
    return subprocess.Popen(
        [sys.executable, "-c", CODE, str(store), str(epochs)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("kills", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_killed_at_random_moments_every_attempt_goes_on_from_the_last_whole_epoch(tmp_path, kills):
    moments, seen = random.Random(0), 0
    longer = replace(TINY, epochs=6 * kills)  # nobody reaches the end before he is killed
    for _ in range(kills):
        process = started(tmp_path, longer.epochs)
        assert process.stdout is not None
        resumed = int(process.stdout.readline())
        assert resumed >= seen  # what was reported is on disk
        seen = resumed
        for _ in range(moments.randint(1, 2)):
            seen = int(process.stdout.readline())
        time.sleep(moments.uniform(0, 0.1))  # in the middle of whatever comes next: an epoch, a write
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL  # it was at work, and did not end by itself
        process.stdout.close()
        assert seen > resumed
    progress = []
    assert training.train_run(tmp_path / "whole", longer, BURGERS, 0)
    assert training.train_run(tmp_path, longer, BURGERS, 0, lambda epoch, loss: progress.append(epoch))
    assert progress[0] >= seen >= 2
    for epoch in longer.checkpoints:
        paths = [
            checkpoints.paths(checkpoints.folder(store, longer, BURGERS, 0), epoch)[0]
            for store in (tmp_path, tmp_path / "whole")
        ]
        assert paths[0].read_bytes() == paths[1].read_bytes()
    assert not list(tmp_path.rglob("*.partial"))


def test_a_second_trainer_is_told_who_is_at_work_and_disturbs_nothing(trained, tmp_path):
    complaints = []

    def second():
        with pytest.raises(StoreError, match=rf"in use: process {os.getpid()} is training") as told:
            training.train_run(tmp_path, TINY, BURGERS, 0)
        complaints.append(str(told.value))

    def report(epoch, _):
        if epoch in (0, 2, 3):  # before, at and after the checkpoint half-way
            thread = threading.Thread(target=second)
            thread.start()
            thread.join()

    assert training.train_run(tmp_path, TINY, BURGERS, 0, report)
    assert len(complaints) == 3 and not re.search("delet|remov", " ".join(complaints), re.IGNORECASE)
    for epoch in TINY.checkpoints:
        mine, other = (
            checkpoints.paths(checkpoints.folder(store, TINY, BURGERS, 0), epoch)[0] for store in (tmp_path, trained)
        )
        assert mine.read_bytes() == other.read_bytes()
    assert training.train_run(tmp_path, TINY, BURGERS, 0)  # the folder is free again
