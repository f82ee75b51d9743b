"""Training that can stop anywhere, checkpoints that cannot lie, libraries that are admitted or refused."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("neuralop")
safetensors = pytest.importorskip("safetensors.torch")

from physrank import _io  # noqa: E402
from physrank.geometry import lifts  # noqa: E402
from physrank.lab.equations import EQUATIONS  # noqa: E402
from physrank.lab.libraries import GROUPS, LIBRARIES, PROFILES, RUNS  # noqa: E402
from physrank.lab.models import networks  # noqa: E402
from physrank.lab.store import checkpoints, files, predictions  # noqa: E402
from physrank.lab.store.files import StoreError  # noqa: E402
from physrank.lab.training import inference  # noqa: E402
from physrank.lab.training import run as training  # noqa: E402
from physrank.ranking.scorers import DirectSolve  # noqa: E402

TINY = replace(PROFILES["smoke"], training=8, validation=2, epochs=4, batch=4, evaluation=3, panels=1, panel_size=3, deployment=3)  # fmt: skip  # noqa: E501
BURGERS, SECOND = LIBRARIES["burgers-fno-e1"], LIBRARIES["burgers-cno-e1"]


def weights(store, library, epoch, run=0):
    return safetensors.load_file(checkpoints.paths(checkpoints.folder(store, TINY, library, run), epoch)[0])


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """One run, uninterrupted."""
    store = tmp_path_factory.mktemp("trained")
    assert training.train_run(store, TINY, BURGERS, 0)
    return store


def test_plan_is_the_papers():
    assert [len(GROUPS[name]) for name in ("primary", "additional", "stress")] == [8, 16, 4]
    assert sorted(library.number for library in LIBRARIES.values()) == list(range(len(LIBRARIES)))
    paper = PROFILES["paper"]
    assert (paper.training, paper.validation, paper.epochs, paper.batch, paper.checkpoints) == (
        2048,
        256,
        40,
        32,
        (20, 40),
    )
    assert [EQUATIONS[e].size("paper").cno_multiplier for e in ("burgers", "reaction_diffusion")] == [37, 40]
    ranges = sorted(lib.first_training_input(run) for lib in LIBRARIES.values() for run in range(RUNS))
    assert min(np.diff(ranges)) >= paper.training  # no two runs share a training input
    rates = {name: lib.settings(paper, 0)["learning_rate"] for name, lib in LIBRARIES.items()}
    assert rates["reaction_diffusion-cno-e1"] == 1e-3 and rates["burgers-cno-e1"] == 2e-3


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


def test_killed_run_ends_with_the_same_weights(trained, tmp_path):
    """kill −9 at a moment nobody chose."""
    code = (
        "import sys; from pathlib import Path; from dataclasses import replace\n"
        "from physrank.lab.training import run as training; from physrank.lab.libraries import LIBRARIES, PROFILES\n"
        "tiny = replace(PROFILES['smoke'], training=8, validation=2, epochs=4, batch=4, evaluation=3, panels=1, "
        "panel_size=3, deployment=3)\n"
        "training.train_run(Path(sys.argv[1]), tiny, LIBRARIES['burgers-fno-e1'], 0)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], env={**os.environ, "OMP_NUM_THREADS": "1"})
    state = checkpoints.folder(tmp_path, TINY, BURGERS, 0) / "state.pt"
    while not state.exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert training.train_run(tmp_path, TINY, BURGERS, 0)
    for name, tensor in weights(trained, BURGERS, 4).items():
        assert torch.equal(tensor, weights(tmp_path, BURGERS, 4)[name]), name


def test_other_seeds_give_other_weights(trained, tmp_path):
    training.train_run(tmp_path, TINY, BURGERS, 1)
    first, second = weights(trained, BURGERS, 4), weights(tmp_path, BURGERS, 4, run=1)
    assert any(not torch.equal(first[name], second[name]) for name in first)


def test_description_says_what_the_weights_are(trained):
    facts = checkpoints.describe(checkpoints.folder(trained, TINY, BURGERS, 0), 4, BURGERS.settings(TINY, 0))
    assert facts is not None
    assert facts["architecture"] == "fno" and facts["epoch"] == 4 and facts["settings"]["seed"] == BURGERS.seed(0)
    assert len(facts["data_sha256"]) == len(facts["sha256"]) == 64
    assert 0 < facts["validation_loss"] < 2


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


def test_pickles_do_not_execute(tmp_path):
    """A resumable state that carries code is refused, and the code does not run."""

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    state = checkpoints.folder(tmp_path, TINY, BURGERS, 0) / "state.pt"
    state.parent.mkdir(parents=True)
    torch.save({"epoch": 1, "settings": Evil()}, state)
    with pytest.raises(StoreError):
        training.train_run(tmp_path, TINY, BURGERS, 0)
    assert not (tmp_path / "executed").exists()


def test_a_failed_write_leaves_the_previous_file(tmp_path):
    path = _io.write_json(tmp_path / "a.json", {"a": 1})

    def full(temporary):
        temporary.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        _io.write_whole(path, full)
    assert files.read_json(path) == {"a": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_constraints_hold_exactly_and_admission_checks_them(tmp_path):
    for run in range(RUNS):
        training.train_run(tmp_path, TINY, SECOND, run)
    inference.store_predictions(tmp_path, TINY, SECOND)
    data = predictions.read(tmp_path, TINY, SECOND, "evaluation")
    fields = data["prediction"].values
    assert fields.shape == (3, 8, 48, 48)
    assert data["prediction"].dims == ("input", "candidate", "time", "x")
    initial = EQUATIONS["burgers"].features(EQUATIONS["burgers"].population("evaluation", 3))[:, 0, 0]
    assert np.all(fields[:, :, 0] == initial[:, None])
    assert not np.all(fields[:, 0, -1] == fields[:, 1, -1])
    assert list(data["candidate"].values) == [name for name, _, _ in SECOND.candidates(TINY)]
    before = predictions.path(tmp_path, TINY, SECOND, "evaluation").stat().st_mtime_ns
    inference.store_predictions(tmp_path, TINY, SECOND)  # stored once
    assert predictions.path(tmp_path, TINY, SECOND, "evaluation").stat().st_mtime_ns == before
    checkpoint = checkpoints.folder(tmp_path, TINY, SECOND, 0)
    model = networks.build(SECOND, TINY)
    facts = checkpoints.load(checkpoint, 4, model, SECOND.settings(TINY, 0))
    with torch.no_grad():
        next(model.parameters()).mul_(0.5)
    checkpoints.save(checkpoint, 4, model, facts["settings"], {"validation_loss": 0.1})
    with pytest.raises(StoreError, match="not made with the checkpoints beside it"):
        inference.store_predictions(tmp_path, TINY, SECOND)
    with pytest.raises(StoreError, match=r"1\.200 exceeds 1"):
        inference.admit(SECOND, fields, [1.2] * 8, 0.0)
    with pytest.raises(StoreError, match="expected exact"):
        inference.admit(SECOND, fields, [0.5] * 8, 1e-9)
    with pytest.raises(StoreError, match="not finite"):
        inference.admit(SECOND, fields * np.nan, [0.5] * 8, 0.0)


def test_incomplete_libraries_are_not_admitted(trained):
    with pytest.raises(StoreError, match="has not reached epoch"):
        inference.store_predictions(trained, TINY, BURGERS)


@pytest.mark.parametrize("equation", list(EQUATIONS))
def test_labels_solve_the_equation(equation):
    """Training targets against the instrument's own solver, a discretisation of another kind."""
    declared = EQUATIONS[equation]
    case = declared.input.sample("development", 0, "training")
    problem, label = declared.problem(case), declared.states(declared.labels([case]))[0]
    state, failed = DirectSolve().solution(problem, problem.state_shape)
    assert failed is None
    own = state[..., ::8] if declared.periodic else lifts.lift(state, (34, 34), "sine")
    assert np.abs(own - label).max() < 2e-3 * np.abs(label).max()
