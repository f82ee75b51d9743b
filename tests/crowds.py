"""Panels for workers, which import this module too: many inputs of a small problem, good, lazy and poisoned ones."""

import contextlib
import os
import random
import signal
import threading
import time

import numpy as np

import physrank as pr


def cubic(u, f):
    return u + 0.05 * u**3 - f


def force(k):
    return np.linspace(0.2, 1.0 + 0.1 * (k % 7), 5)


def problem(k):
    return pr.Stationary(cubic, data=force(k))


def candidates(k):
    drawn = np.random.default_rng(k)
    return {name: force(k) * (0.97 + 0.02 * i) + 0.01 * drawn.standard_normal(5) for i, name in enumerate("abc")}


class Stating:
    """`Stating(k)()` is the problem of input k, stated where it is called; poisoned ones raise."""

    def __init__(self, k, poisoned=()):
        self.k, self.poisoned = k, poisoned

    def __call__(self):
        if self.k in self.poisoned:
            raise ArithmeticError(f"no equation for input {self.k}")
        return problem(self.k)


class Deadly(Stating):
    """Whoever states a poisoned problem dies, unless it is the process that made it."""

    def __init__(self, k, poisoned=()):
        super().__init__(k, poisoned)
        self.home = os.getpid()

    def __call__(self):
        if self.k in self.poisoned and os.getpid() != self.home:
            os.kill(os.getpid(), signal.SIGKILL)
        return problem(self.k)


class Homebound(Stating):
    """A poisoned one cannot be unpickled anywhere else."""

    def __init__(self, k, poisoned=()):
        super().__init__(k)
        self.home = os.getpid() if k in poisoned else None

    def __setstate__(self, state):
        if state["home"] not in (None, os.getpid()):
            raise LookupError(f"input {state['k']} stays at home")
        self.__dict__ |= state

    def __call__(self):
        return problem(self.k)


class Late(Stating):
    """It takes its time, and later ones overtake it."""

    def __call__(self):
        time.sleep(random.Random(self.k).uniform(0, 0.2))
        return problem(self.k)


HOW = {"chunk": 4, "effort": "response"}  # few programs, compiled quickly


def panel(inputs, **options):
    return pr.rank_panel([problem(k) for k in inputs], [candidates(k) for k in inputs], **HOW | options)


def model(share):
    """A callable of an input, the better the smaller the share."""
    return lambda k: (0.97 + share) * force(k) + 0.01 * np.random.default_rng(k).standard_normal(5)


def same(one, other):
    """Bit for bit, in all that a ranking decides and rests on."""
    for left, right in zip(one, other, strict=True):
        if isinstance(left, pr.Failed) or isinstance(right, pr.Failed):
            assert left == right
            continue
        assert left.names == right.names and left.unresolved == right.unresolved
        for name in ("scores", "gaps", "uncertainty", "state", "proxy", "settled_pairs"):
            np.testing.assert_array_equal(getattr(left, name), getattr(right, name), strict=True)


@contextlib.contextmanager
def threads(number=1):
    """A scheduler with one worker in this process: quick to start, for what only passes a client on."""
    import distributed  # noqa: PLC0415

    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=number, processes=False, protocol="tcp://", dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


class Killer(threading.Thread):
    """Kills workers of a LocalCluster at random moments, so many times; before every other one, something gets done.

    Gives up, and closes the client, when there has been nobody to kill for long: whoever waits for results is told."""

    def __init__(self, cluster, client, kills, done, pause=1.0, seed=0):
        super().__init__(daemon=True)
        self.cluster, self.client, self.wanted, self.killed = cluster, client, kills, set()
        self.done, self.pause, self.random = done, pause, random.Random(seed)  # `done()`: how much

    def run(self):
        last = time.monotonic()
        while len(self.killed) < self.wanted:
            if time.monotonic() > last + 300:
                self.client.close()
                return
            before, patience = self.done(), time.monotonic() + 60
            if self.random.random() < 0.5:
                while self.done() == before and time.monotonic() < patience:
                    time.sleep(0.05)
            time.sleep(self.random.uniform(0.0, self.pause))
            # One that is just being born is spared: its nanny would give up, and nobody would ever come in its place.
            ready = [nanny for nanny in self.cluster.workers.values() if self._grown_up(nanny)]
            pid = self.random.choice(ready).pid if ready else None
            if pid is not None and pid not in self.killed:
                with contextlib.suppress(ProcessLookupError):  # it is dead already
                    os.kill(pid, signal.SIGKILL)
                    self.killed.add(pid)
                    last = time.monotonic()

    def _grown_up(self, nanny):
        states = {getattr(one.status, "name", "") for one in (nanny, nanny.process) if one is not None}
        return states == {"running"} and nanny.worker_address in self.cluster.scheduler.workers
