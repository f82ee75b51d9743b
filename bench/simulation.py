"""A cluster that never was: tasks, stragglers, deaths and a client that wants its results in order, event by event."""

import heapq
from dataclasses import dataclass

import numpy as np

from physrank.scale.cluster import AHEAD, HELD


@dataclass(frozen=True)
class Cluster:
    """What the cost model knows."""

    workers: int
    task: float  # seconds of a task, the mean of those that do not straggle
    client: float  # seconds that the client spends on a task
    start: float  # seconds until a worker has imported and compiled
    spread: float = 0.15  # of the logarithm of a task's time
    straggling: float = 0.01  # share of tasks
    slower: float = 10.0  # times, when they straggle
    life: float = 3600.0  # mean seconds until a worker dies

    @property
    def mean(self) -> float:
        return self.task * np.exp(self.spread**2 / 2) * (1 + self.straggling * (self.slower - 1))

    def predicted(self, tasks: int) -> float:
        """Seconds for so many: the workers' time, with what deaths cost, or the client's, if that is more."""
        lost = self.mean / 2 + self.start  # of a death: half a task, and a new beginning
        working = tasks * self.mean / self.workers * (1 + lost / self.life)
        return self.start + max(working, tasks * self.client)


def simulated(cluster: Cluster, tasks: int, seed: int = 0) -> dict[str, float]:
    """The same by events: seconds in all, deaths, tasks done again, and the most results that were held back."""
    random = np.random.default_rng(seed)
    sizes = cluster.task * np.exp(cluster.spread * random.standard_normal(tasks))
    sizes[random.random(tasks) < cluster.straggling] *= cluster.slower
    deaths = again = 0
    held, most, place, sent, under_way, client_free = set(), 0, 0, 0, 0, 0.0
    returned: list[int] = []  # to be done again
    # (when, what, worker, task): a worker is ready, or a task is done
    death = cluster.start + random.exponential(cluster.life, cluster.workers)
    events = [(cluster.start, 0, worker, -1) for worker in range(cluster.workers)]
    heapq.heapify(events)
    idle: list[int] = []
    now = 0.0
    while place < tasks:
        now, kind, worker, task = heapq.heappop(events)
        if kind == 2:  # it died in the middle, and another one comes
            deaths, again = deaths + 1, again + 1
            returned.append(task)
            death[worker] = now + cluster.start + random.exponential(cluster.life)
            heapq.heappush(events, (now + cluster.start, 0, worker, -1))
        elif kind == 1:
            client_free = max(client_free, now) + cluster.client
            heapq.heappush(events, (client_free, 3, worker, task))
            idle.append(worker)
        elif kind == 0:
            idle.append(worker)
        else:  # the client has it
            under_way -= 1
            held.add(task)
            most = max(most, len(held))
            while place in held:
                held.remove(place)
                place += 1
        while idle:
            if returned:
                task = returned.pop(0)
            elif sent < tasks and under_way < AHEAD * cluster.workers and len(held) < HELD * cluster.workers:
                task, sent, under_way = sent, sent + 1, under_way + 1
            else:
                break
            worker = idle.pop()
            done = now + sizes[task]
            heapq.heappush(
                events, (death[worker], 2, worker, task) if death[worker] < done else (done, 1, worker, task)
            )
    return {"seconds": float(now), "deaths": deaths, "again": again, "held": most}
