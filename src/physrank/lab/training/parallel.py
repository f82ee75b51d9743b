"""Training several runs side by side, one process and one thread each, with progress read from the workers.

Needs the `lab` extra (`pip install .[lab]`).
"""

import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from physrank.lab.libraries import AnyLibrary, Profile, RolloutLibrary
from physrank.lab.store import trajectories
from physrank.lab.store.files import StoreError
from physrank.lab.training.run import train_run

Progress = Callable[[str, int, int], None]  # run, epochs done, epochs in all


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
    context = multiprocessing.get_context("spawn")  # torch and JAX keep threads, which fork does not carry over
    jobs, news = context.Queue(), context.Queue()
    for job in wanted:
        jobs.put(job)
    count = min(workers or os.cpu_count() or 1, len(wanted))
    processes = [
        context.Process(target=_work, args=(store, profile, jobs, news, os.getpid()), daemon=True) for _ in range(count)
    ]
    with _deaf():
        for process in processes:
            process.start()
    finished = 0
    try:
        while finished < len(wanted):
            try:
                name, epoch, failure = news.get(timeout=1.0)
            except queue.Empty:
                if not any(process.is_alive() for process in processes):
                    raise StoreError("All training processes ended before their work was done.") from None
                continue
            if failure:
                raise StoreError(f"{name}: {failure}")
            progress(name, epoch, epochs[name])
            finished += epoch == epochs[name]
    finally:
        for process in processes:
            process.terminate()  # every epoch is on disk


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


def _work(store: Path, profile: Profile, jobs, news, parent: int) -> None:
    while True:
        try:
            library, run = jobs.get(timeout=1.0)
        except queue.Empty:
            return
        name = f"{library.name} run {run}"

        def report(epoch: int, loss: float, name: str = name) -> None:
            del loss
            news.put((name, epoch, None))

        try:
            train_run(store, profile, library, run, report, stop=lambda: os.getppid() != parent)
        except Exception as problem:  # one message to the parent, which stops everything
            news.put(
                (
                    name,
                    0,
                    str(problem)
                    if isinstance(problem, StoreError | OSError)
                    else f"{type(problem).__name__}: {problem}",
                )
            )
            return
