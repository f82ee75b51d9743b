"""Training that can stop anywhere and does not continue what does not belong together."""

import errno
import multiprocessing
import os
import shutil
import signal
from dataclasses import replace

import pytest
import torch

from lab_helpers import BURGERS, SECOND, TINY, weights
from physrank.lab.libraries import RUNS
from physrank.lab.store import checkpoints, predictions
from physrank.lab.store.files import StoreError
from physrank.lab.training import parallel
from physrank.lab.training import run as training


def test_resumed_run_ends_with_the_same_weights(trained, tmp_path):
    count = 0

    def stop():
        nonlocal count
        count += 1
        return count == 2

    assert not training.train_run(tmp_path, TINY, BURGERS, 0, stop=stop)
    assert training.train_run(tmp_path, TINY, BURGERS, 0)
    for epoch in TINY.checkpoints:
        for name, tensor in weights(trained, BURGERS, epoch).items():
            assert torch.equal(tensor, weights(tmp_path, BURGERS, epoch)[name]), name


def test_other_seeds_give_other_weights(trained, tmp_path):
    training.train_run(tmp_path, TINY, BURGERS, 1)
    first, second = weights(trained, BURGERS, 4), weights(tmp_path, BURGERS, 4, run=1)
    assert any(not torch.equal(first[name], second[name]) for name in first)


def test_damaged_or_foreign_files_are_named_and_nothing_is_overwritten(trained, tmp_path):
    directory = checkpoints.folder(trained, TINY, BURGERS, 0)
    target, description = checkpoints.paths(directory, 4)
    kept, said = target.read_bytes(), description.read_bytes()
    try:
        target.write_bytes(kept[:-100])
        with pytest.raises(StoreError, match="truncated or not ours"):
            training.train_run(trained, TINY, BURGERS, 0)
        assert target.read_bytes() == kept[:-100]
        description.write_text("{")
        with pytest.raises(StoreError, match="not a readable JSON"):
            training.train_run(trained, TINY, BURGERS, 0)
    finally:
        target.write_bytes(kept)
        description.write_bytes(said)
    changed = replace(TINY, batch=2)
    with pytest.raises(StoreError, match=r"batch = 4 \(asked 2\)"):
        training.train_run(trained, changed, BURGERS, 0)
    state = checkpoints.folder(tmp_path, TINY, BURGERS, 0) / "state.pt"
    state.parent.mkdir(parents=True)
    state.write_bytes(b"PK\x03\x04 not a checkpoint")
    with pytest.raises(StoreError, match="cannot be resumed"):
        training.train_run(tmp_path, TINY, BURGERS, 0)
    assert state.read_bytes().startswith(b"PK")


def test_what_does_not_belong_together_is_not_continued(trained, tmp_path, monkeypatch):
    """A half checkpoint that is missing, a state from nowhere, other data: named, and nothing is overwritten."""
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    directory = checkpoints.folder(tmp_path, TINY, BURGERS, 0)
    _, half = checkpoints.paths(directory, 2)
    full, _ = checkpoints.paths(directory, 4)
    kept, said = full.read_bytes(), half.read_bytes()
    half.unlink()
    with pytest.raises(StoreError, match=r"batch = 4 \(asked 2\)"):
        training.train_run(tmp_path, replace(TINY, batch=2), BURGERS, 0)
    with pytest.raises(StoreError, match="past epoch 2, whose checkpoint is missing"):
        training.train_run(tmp_path, TINY, BURGERS, 0)
    full.write_bytes(kept[:-100])
    with pytest.raises(StoreError, match="truncated or not ours"):
        training.train_run(tmp_path, TINY, BURGERS, 0)
    assert full.read_bytes() == kept[:-100]
    for path in checkpoints.paths(directory, 4):
        path.unlink()
    half.write_bytes(said)
    honest = training.data
    monkeypatch.setattr(training, "data", lambda *given: tuple(2 * x for x in honest(*given)))
    with pytest.raises(StoreError, match="trained on other data"):
        training.train_run(tmp_path, TINY, BURGERS, 0)


def test_a_full_disk_is_named_with_its_file(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device.*state\.pt"):
        training.train_run(tmp_path, TINY, BURGERS, 0)
    assert not list(checkpoints.folder(tmp_path, TINY, BURGERS, 0).glob("*.pt"))


def _hears() -> bool:
    return signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


def test_workers_leave_control_c_to_their_parent():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background begins without
    try:
        with parallel._deaf():
            assert not _hears()  # and whoever is started here begins like this
        assert _hears()
    finally:
        signal.signal(signal.SIGINT, before)


def test_workers_keep_to_one_thread_each(monkeypatch):
    """Labels are solved by NumPy and SciPy, whose threads torch's setting does not reach."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with parallel._pinned():
        assert os.environ["OMP_NUM_THREADS"] == os.environ["OPENBLAS_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "2"  # the parent's own
    assert "OPENBLAS_NUM_THREADS" not in os.environ


def test_a_worker_whose_parent_is_gone_ends_without_a_word(tmp_path):
    mine, theirs = multiprocessing.Pipe()
    mine.close()
    parallel._work(tmp_path, TINY, theirs, os.getpid())


def test_jobs_are_handed_out_and_a_worker_that_dies_is_noticed():
    (mine, theirs), (other, others) = multiprocessing.Pipe(), multiprocessing.Pipe()
    for wire, runs in ((theirs, ("one", "three")), (others, ("two",))):
        for name in runs:
            wire.send((name, 1, None))
            wire.send((name, None, None))
    seen = []
    parallel._watched([mine, other], ["one", "two", "three"], lambda *news: seen.append(news))
    assert sorted(seen) == [("one", 1), ("three", 1), ("two", 1)]
    handed = [wire.recv() for wire in (theirs, others) for _ in range(2) if wire.poll()]
    assert sorted(handed) == ["one", "three", "two"]
    theirs.close()
    with pytest.raises(StoreError, match="ended before its work was done"):
        parallel._watched([mine], ["four"], lambda *_: None)
    others.send(("five", None, "its disk is full"))
    with pytest.raises(StoreError, match="five: its disk is full"):
        parallel._watched([other], ["five"], lambda *_: None)


def test_a_worker_predicts_with_a_whole_library_and_says_which_one_is_not_complete(tmp_path):
    for run in range(RUNS):
        training.train_run(tmp_path, TINY, SECOND, run)
    mine, theirs = multiprocessing.Pipe()
    for job in ((SECOND, None), (BURGERS, None)):
        mine.send(job)
    parallel._work(tmp_path, TINY, theirs, os.getpid())  # ends with the failure
    files = predictions.wanted(SECOND)
    said = [mine.recv() for _ in range(len(files) + 3)]
    assert said.pop(-2)[0].startswith(BURGERS.name)  # begun
    assert said[:-2] == [(f"{SECOND.name}: {name}, {kind}", k, None) for k, (name, kind) in enumerate(files, 1)]
    assert said[-2] == (SECOND.name, None, None)
    assert all(predictions.path(tmp_path, TINY, SECOND, name, kind).exists() for name, kind in files)
    name, number, failure = said[-1]
    assert (name, number) == (BURGERS.name, None) and "has not reached epoch" in failure
