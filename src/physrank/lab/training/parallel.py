"""Training several runs, then predicting with several libraries, side by side: one process and one thread each, with
progress read from the workers.

Needs the `lab` extra (`pip install .[lab]`).
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from multiprocessing import connection
from pathlib import Path
from typing import Any, cast

from physrank.lab.libraries import AnyLibrary, Profile, RolloutLibrary
from physrank.lab.store import trajectories
from physrank.lab.store.files import StoreError
from physrank.lab.training.inference import store_predictions
from physrank.lab.training.run import train_run
from physrank.scale import PINNED

Progress = Callable[[str, int, int], None]  # run, epochs done, epochs in all
Job = tuple[AnyLibrary, int | None]  # a run to train; without its number: a library to predict with

# glibc gives arrays of megabytes back to the system when they are freed and faults every page in anew when the next layer
# asks: a fifth of a training step. Told to keep what it has, it does not; no number changes. Others ignore these names.
KEPT = {"MALLOC_MMAP_THRESHOLD_": str(2**32), "MALLOC_TRIM_THRESHOLD_": str(2**34), "MALLOC_TOP_PAD_": str(2**28)}


def train(
    store: Path, profile: Profile, libraries: Sequence[AnyLibrary], progress: Progress, workers: int | None = None
) -> None:
    """Every run of every library. What is finished is left alone; what was interrupted goes on."""
    for library in libraries:
        if isinstance(library, RolloutLibrary):  # on all cores, before each of them trains
            for population in ("training", "validation"):
                trajectories.trajectories(store, library, profile, population)
    wanted = [(library, run) for library in libraries for run in range(library.runs)]
    epochs = {f"{library.name} run {run}": library.sized(profile).epochs for library, run in wanted}
    _shared(store, profile, wanted, lambda name, epoch: progress(name, epoch, epochs[name]), workers)


def predict(
    store: Path,
    profile: Profile,
    libraries: Sequence[AnyLibrary],
    progress: Callable[[str], None],
    workers: int | None = None,
) -> None:
    """Every library's predictions; what is stored is left alone."""
    for library in libraries:
        if isinstance(library, RolloutLibrary):
            trajectories.trajectories(store, library, profile, library.instances)
    _shared(store, profile, [(library, None) for library in libraries], lambda name, _: progress(name), workers)


def _shared(
    store: Path, profile: Profile, jobs: Sequence[Job], progress: Callable[[str, int], None], workers: int | None
) -> None:
    """Runs to train and libraries to predict with, one at a time in each of several processes."""
    context = multiprocessing.get_context("spawn")  # torch and JAX keep threads, which fork does not carry over
    # Pipes, not queues: a queue's semaphores outlive a program that is interrupted, and Python says so.
    processes, wires = [], []
    with _deaf(), _pinned():
        for _ in range(min(workers or os.cpu_count() or 1, len(jobs))):
            mine, theirs = context.Pipe()
            process = context.Process(target=_work, args=(store, profile, theirs, os.getpid()), daemon=True)
            process.start()
            theirs.close()  # so that its end is noticed
            processes.append(process)
            wires.append(mine)
    try:
        _watched(wires, jobs, progress)
    finally:
        for process in processes:
            process.terminate()  # every epoch and every finished file is on disk


def _watched(wires: Sequence[Any], jobs: Sequence[Any], progress: Callable[[str, int], None]) -> None:
    """Hands out jobs, one to each worker at a time, until all are done."""
    waiting, busy = list(reversed(jobs)), list(wires)
    for wire in wires:
        _alive(wire.send, waiting.pop())
    while busy:
        for wire in cast(list[Any], connection.wait(busy)):
            name, epoch, failure = _alive(wire.recv)
            if failure:
                raise StoreError(f"{name}: {failure}")
            if epoch is not None:
                progress(name, epoch)
            elif waiting:
                _alive(wire.send, waiting.pop())
            else:
                busy.remove(wire)


def _alive(call: Callable[..., Any], *given: Any) -> Any:
    try:
        return call(*given)
    except (EOFError, OSError):
        raise StoreError("A training process ended before its work was done; start anew, and it goes on.") from None


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes started here do not hear Ctrl-C, which goes to all of a terminal's: the parent does, and ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _pinned() -> Iterator[None]:
    """Processes started here keep to one thread in every library: labels are solved by others than torch, and more threads
    than cores wait for each other. They also keep the memory they have."""
    started = PINNED | KEPT
    before = {name: os.environ.get(name) for name in started}
    os.environ.update(started)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _work(store: Path, profile: Profile, wire: Any, parent: int) -> None:
    with suppress(EOFError, BrokenPipeError):  # whoever asked for it is gone
        _runs(store, profile, wire, parent)


def _runs(store: Path, profile: Profile, wire: Any, parent: int) -> None:
    """One job after the other: (name, number, None) as it goes on, (name, None, None) when it is done, a failure as a text.

    The number is of epochs done, or of files begun.
    """
    while True:
        library, run = wire.recv()
        name = library.name if run is None else f"{library.name} run {run}"
        try:
            if run is None:
                _predict(store, profile, library, wire)
            else:
                report = partial(_report, wire, name)
                train_run(store, profile, library, run, report, stop=lambda: os.getppid() != parent)
        except Exception as problem:  # one message to the parent, which stops everything
            said = str(problem) if isinstance(problem, StoreError | OSError) else f"{type(problem).__name__}: {problem}"
            wire.send((name, None, said))
            return
        wire.send((name, None, None))


def _report(wire: Any, name: str, epoch: int, loss: float) -> None:
    del loss
    wire.send((name, epoch, None))


def _predict(store: Path, profile: Profile, library: AnyLibrary, wire: Any) -> None:
    begun = count(1)
    store_predictions(store, profile, library, lambda what: wire.send((what, next(begun), None)))
