"""Blocks of work on the workers of a Dask cluster: in order, with bounded memory, whatever becomes of the workers.

A block is a list of cases; a function makes a list of results of it, one for each. Some blocks make a task: as many as take
about a second. A task is all that its worker needs, so that any worker can do it again.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

from physrank import _division, _optional
from physrank.scale import pickling, worker

SECONDS = 1.0  # of a task: long beside what it costs to schedule one, short beside a worker's life
BYTES = 1 << 25  # that a task may carry, there or back, if it has several blocks
AHEAD = 3  # tasks per thread that are sent out: one runs, one waits beside it, one is on its way
HELD = 16  # tasks per thread that are done before their turn
HELD_BYTES = 1 << 29  # of their results
LIVES = 3  # times that Dask may give a task up (each after several dead workers) before it counts as what kills them
GONE = ("error", "cancelled", "lost")  # what becomes of a future that nobody will compute
THREADS = 5.0  # seconds for which the number of threads is believed
LOOK = 1.0  # seconds after which a silent client is looked at: it may have been closed

# For `LocalCluster(env=PINNED)`: one thread for each worker, in NumPy and in XLA.
PINNED = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NPROC": "1",  # threads of XLA's own pool
}


@dataclass(frozen=True)
class Lost:
    """Stands for the result of a case that killed every worker it was given to, or that none could unpickle."""

    why: str


@dataclass
class _Task:
    """Blocks `first`, `first + 1`, … as bytes, and how often they were given up."""

    first: int
    blocks: list[bytes]
    deaths: int = 0
    seen: int = -1  # tasks that were done when it was given up last
    parts: int | None = None  # of one block, whose cases are now done one by one: their number
    part: int = 0


def ordered(
    client: Any, function: Callable[[list[Any]], list[Any]], blocks: Iterable[Sequence[Any]], count: int | None = None
) -> Generator[list[Any], None, None]:
    """`function(block)` of every block, in their order; `count`, how many there are, helps to share the last ones.

    Exceptions of the function are raised in their turn. A worker that dies takes nothing along: Dask gives its tasks to
    others. Closing this iterator cancels what is under way.
    """
    _check(client)
    run = _Run(client, function, ((k, pickling.dumps(list(block))) for k, block in enumerate(blocks)), count)
    try:
        yield from run.results()
    finally:
        run.close()


@dataclass
class _Run:
    client: Any
    function: Callable[[list[Any]], list[Any]]
    source: Iterator[tuple[int, bytes]]
    count: int | None
    token: str = field(default_factory=lambda: uuid4().hex[:12])
    seconds: float = float("inf")  # of a block, without compilation: the least that was seen
    result_bytes: int = 0  # of a block, the most
    number: int = 0  # of keys that were used
    tasks: int = 0  # that came back
    busy: float = 0.0  # seconds that workers spent on them
    threads: int = 1
    looked: float = -THREADS

    def __post_init__(self) -> None:
        self.dask = _optional.load("distributed")
        self.home = worker.Home.here()
        self.done: dict[int, Any] = {}  # by first block: results of every block, or what was raised
        self.parts: dict[int, dict[int, list[Any]]] = {}
        self.under_way: dict[str, tuple[_Task, Any, Any]] = {}
        self.again: deque[_Task] = deque()
        self.held: tuple[int, bytes] | None = None
        self.sent = 0  # blocks
        self.held_bytes = 0  # of results in `done`
        self.completed: SimpleQueue[Any] = SimpleQueue()  # of futures
        self._open()
        # A task of its own, not data that a worker keeps: when that worker dies, it is made again.
        self.shared = self._share()

    def _share(self) -> Any:
        return self._submit(_identity, pickling.dumps(self.function))

    def results(self) -> Iterator[list[Any]]:
        place = 0
        while True:
            self._send()
            while place in self.done:
                found = self.done.pop(place)
                if isinstance(found, BaseException):
                    raise found
                place += len(found)
                self.held_bytes -= _size(found)
                for one in found:
                    yield pickling.loads(one) if isinstance(one, bytes) else one
            self._send()
            if not self.under_way:
                if place != self.sent:
                    raise RuntimeError(
                        f"{self.sent - place} blocks were sent out and never came back. Please report this."
                    )
                return
            self._take(self._completed())

    def close(self) -> None:
        # Released, not cancelled, which would wait: whoever collects garbage calls this, and that may be Dask's own thread.
        if self.client.status == "running":
            for future in (*(future for _, future, _ in self.under_way.values()), self.shared):
                future.release()
        self.under_way.clear()

    # -- out ---------------------------------------------------------------------------------------------------------

    def _send(self) -> None:
        """Tasks, up to what may be under way and what may be held back for its turn. One that is done again may be what all
        the others wait for: it goes out in any case."""
        self._open()  # whoever reads results may have closed the client meanwhile
        while len(self.under_way) < AHEAD * self._threads() and (self.again or not self._full()):
            task = self.again.popleft() if self.again else self._next()
            if task is None:
                return
            future = self._submit(worker.work, self.shared, task.blocks, self.home)
            self.under_way[future.key] = task, future, self.shared
            future.add_done_callback(self.completed.put)

    def _full(self) -> bool:
        return len(self.done) >= HELD * self.threads or self.held_bytes >= HELD_BYTES

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        self.number += 1
        key = f"physrank-{self.token}-{self.number}"
        # what is under way is bounded here: there is no need to warn of large graphs
        with _optional.load("dask").config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            return self.client.submit(function, *arguments, key=key, pure=False)

    def _next(self) -> _Task | None:
        """As many blocks as make a task."""
        task, size = None, 0
        for _ in range(self._blocks()):
            number, block = self.held or next(self.source, (0, None))
            self.held = None
            if block is None:
                break
            if task is not None and size + len(block) > BYTES:
                self.held = number, block
                break
            task = task or _Task(number, [])
            task.blocks.append(block)
            size += len(block)
            self.sent += 1
        return task

    def _blocks(self) -> int:
        most = BYTES // self.result_bytes if self.result_bytes else 1
        if self.count is not None:  # the last ones are shared
            most = min(most, (self.count - self.sent) // (2 * self.threads))
        return max(1, min(most, int(SECONDS / self.seconds)))

    def _threads(self) -> int:
        now = time.perf_counter()
        if now - self.looked > THREADS:
            self.threads, self.looked = max(1, sum(self.client.nthreads().values())), now
        return self.threads

    # -- and back ----------------------------------------------------------------------------------------------------

    def _completed(self) -> Any:
        while True:
            try:
                return self.completed.get(timeout=LOOK)
            except Empty:
                self._open()

    def _open(self) -> None:
        if self.client.status in ("closing", "closed"):
            raise RuntimeError(
                f"The client was closed, or lost its scheduler, while {len(self.under_way)} tasks were under way. What "
                "came before is whole; ask for the rest with a new client."
            )

    def _take(self, future: Any) -> None:
        task, _, shared = self.under_way.pop(future.key)
        try:
            found = future.result()
        except (self.dask.KilledWorker, self.dask.CancelledError) as death:
            self._open()
            if shared.status in GONE:  # it is not this task that was given up, or the cluster was started anew
                self.shared = self._share() if self.shared is shared else self.shared
                self.again.append(task)
            else:
                self._died(task, death)
            return
        except worker.Unreadable as error:
            self._narrowed(task, str(error))
            return
        except Exception as error:
            self.done[task.first] = error
            return
        finally:
            future.release()
        if isinstance(found, worker.Raised):
            self.done[task.first] = found.error
            return
        found, seconds = found
        self.tasks, self.busy = self.tasks + 1, self.busy + sum(seconds)
        self.seconds = min(self.seconds, *seconds)
        self.result_bytes = max(self.result_bytes, *map(len, found))
        if task.parts is None:
            self._hold(task.first, found)
        else:
            self._part(task, pickling.loads(found[0]))

    def _hold(self, first: int, found: list[Any]) -> None:
        self.done[first] = found
        self.held_bytes += _size(found)

    def _died(self, task: _Task, death: Exception) -> None:
        """Again, then in parts. While nothing else gets done either, it is not this task that kills workers."""
        task.deaths += self.tasks > task.seen or not self.under_way
        task.seen = self.tasks
        if task.deaths < LIVES:
            self.again.append(task)
        else:
            self._narrowed(task, f"it was given to {LIVES} × several workers, and all died: {death}")

    def _narrowed(self, task: _Task, why: str) -> None:
        """Block by block, then case by case, until it is known whose fault it is."""
        if len(task.blocks) > 1:
            self.again.extend(_Task(task.first + k, [block]) for k, block in enumerate(task.blocks))
            return
        if task.parts is not None:
            self._part(task, [Lost(why)])
            return
        cases = pickling.loads(task.blocks[0])
        if len(cases) > 1:
            self.again.extend(
                _Task(task.first, [pickling.dumps([case])], parts=len(cases), part=k) for k, case in enumerate(cases)
            )
        else:
            self._hold(task.first, [[Lost(why)]])

    def _part(self, task: _Task, found: list[Any]) -> None:
        parts = self.parts.setdefault(task.first, {})
        parts[task.part] = found
        if len(parts) == task.parts:
            del self.parts[task.first]
            self._hold(task.first, [[one for k in range(len(parts)) for one in parts[k]]])


def _size(found: list[Any]) -> int:
    return sum(len(one) for one in found if isinstance(one, bytes))


def _check(client: Any) -> None:
    if not isinstance(client, _optional.load("distributed").Client) or client.asynchronous:
        got = "an asynchronous one" if hasattr(client, "asynchronous") else f"{client!r:.60}"
        raise ValueError(f"client must be a distributed.Client, such as Client('tcp://head:8786'); got {got}.")
    if _division.over_devices():
        raise ValueError(
            "A panel on a cluster is not divided among devices as well: give the client outside of physrank.sharded(...)."
        )


def _identity(value: Any) -> Any:
    return value
