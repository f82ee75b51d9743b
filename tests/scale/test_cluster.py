"""Panels on a real cluster of processes: the local results bit for bit, whatever happens to workers and inputs."""

import os
import time
from functools import partial
from itertools import tee

import numpy as np
import pytest

import physrank as pr
from crowds import (
    HOW,
    Deadly,
    Killer,
    Late,
    Stating,
    candidates,
    model,
    panel,
    problem,
    same,
)
from physrank.ranking import heats
from physrank.ranking.panel import scoring
from physrank.scale import cluster as engine

dask, distributed = (pytest.importorskip(name) for name in ("dask", "distributed"))


def test_two_workers_give_the_local_rankings(client):
    inputs = range(41)  # the last block is short
    here = list(panel(inputs))
    told = []
    same(here, panel(inputs, client=client, progress=lambda *now: told.append(now)))
    assert told == [(k + 1, 41) for k in inputs]
    same(here, pr.rank_panel(map(problem, inputs), map(candidates, inputs), client=client, **HOW))  # of unknown length


def test_the_comparison_can_fail(client):
    with pytest.raises(AssertionError):
        same(panel(range(8)), panel(range(1, 9), client=client))


def test_one_worker_or_tasks_of_any_size_change_nothing(client, monkeypatch):
    here = list(panel(range(30)))
    monkeypatch.setattr(engine._Run, "_blocks", lambda run: 1 + run.sent % 4)
    same(here, panel(range(30), client=client))
    names = list(client.scheduler_info()["workers"])
    alone = client.submit
    monkeypatch.setattr(client, "submit", partial(alone, workers=names[:1], allow_other_workers=False))
    same(here, panel(range(30), client=client))


def test_functions_are_compiled_once_per_worker(client, monkeypatch):
    """A function of a script is sent by value with every task, and stays the same function."""

    def residual(u, f):
        import sys  # noqa: PLC0415

        sys.traced = getattr(sys, "traced", 0) + 1  # runs only while JAX traces it
        return u**3 + u - f

    def everywhere():
        import sys  # noqa: PLC0415

        return getattr(sys, "traced", 0)

    problems = [pr.Stationary(residual, data=np.full(5, 1.0 + k)) for k in range(24)]
    given = [candidates(k) for k in range(24)]
    for name in client.nthreads():  # each of them sees every input: which programs these need depends on them
        with monkeypatch.context() as patched:
            patched.setattr(client, "submit", partial(client.submit, workers=[name], allow_other_workers=False))
            first = list(pr.rank_panel(problems, given, client=client, **HOW))
    before = client.run(everywhere)
    again = list(pr.rank_panel(problems, given, client=client, **HOW))
    assert client.run(everywhere) == before and min(before.values()) > 0
    assert all(ranking.problem.residual is residual for ranking in [*first, *again])  # and comes home as what it was


@pytest.mark.parametrize(
    "kills", [1, pytest.param(int(os.environ.get("PHYSRANK_KILLS", "200")), marks=pytest.mark.slow)]
)
def test_killed_workers_lose_nothing_and_count_nothing_twice(two, kills):
    cluster, client = two
    found, read = [], []
    killer = Killer(cluster, client, kills, lambda: len(found))

    def going_on():
        while killer.is_alive() or len(read) < 64:
            read.append(len(read))
            time.sleep(0.005)
            yield read[-1]

    one, other = tee(going_on())
    killer.start()
    for scores in pr.rank_panel(map(problem, one), map(candidates, other), client=client, **HOW).records(scoring):
        found.append(scores)
    killer.join()
    print(f"{len(killer.killed)} workers killed in the middle of {len(read)} inputs")
    assert len(killer.killed) == kills
    assert len(found) == len(read)
    for far, here in zip(found, panel(read).records(scoring), strict=True):
        np.testing.assert_array_equal(far.values, here.values)
        np.testing.assert_array_equal(far.uncertainty, here.uncertainty)


def test_poisoned_inputs_are_reported_by_index_and_the_rest_goes_on(client):
    stated = [Stating(k, poisoned=(3, 17)) for k in range(20)]
    given = [candidates(k) for k in range(20)]
    given[8] = given[8] | {"b": np.full(5, np.nan)}
    far = list(pr.rank_panel(stated, given, client=client, **HOW))
    failed = {one.input: one.why for one in far if isinstance(one, pr.Failed)}
    assert list(failed) == [3, 8, 17]
    assert failed[3] == "ArithmeticError: no equation for input 3"
    assert "Candidate 'b' contains 5 NaN" in failed[8]
    same(pr.rank_panel(stated, given, failing="report", **HOW), far)
    choice = pr.select(pr.rank_panel(stated, given, **HOW), client=client)
    assert choice.failed == failed and choice.inputs == 17
    assert "3 inputs have no part in it, the first is input 3: Arithmetic" in str(choice)
    with pytest.raises(RuntimeError, match="Input 3 of the panel: ArithmeticError: no equation"):
        list(pr.rank_panel(stated, given, client=client, failing="raise", **HOW))


def test_clients_are_looked_at(client):
    for wrong in ("tcp://head:8786", 3):
        with pytest.raises(ValueError, match=r"client must be a distributed\.Client, .* got "):
            list(panel(range(4), client=wrong))
    with pytest.raises(ValueError, match="outside of physrank"), pr.sharded(1):
        list(panel(range(4), client=client))


def test_a_client_that_closes_early_ends_the_panel(client, monkeypatch):
    """However long nobody read before: the closed one is not asked how many threads there are, and nothing else."""
    monkeypatch.setattr(engine, "THREADS", -1.0)
    other = distributed.Client(client.scheduler.address, set_as_default=False)
    going = panel(range(40), client=other)
    assert next(going).best
    other.close(timeout=1)
    monkeypatch.setattr(other, "nthreads", lambda: pytest.fail("it is closed"))
    with pytest.raises(RuntimeError, match=r"closed, or lost its scheduler, while .* under way"):
        list(going)
    with pytest.raises(RuntimeError, match=r"closed, or lost its scheduler, while 0 tasks"):
        list(panel(range(4), client=other))


@pytest.mark.slow
def test_three_workers_in_any_order_of_arrival(two):
    cluster, client = two
    stated, given = [Late(k) for k in range(40)], [candidates(k) for k in range(40)]
    here = list(panel(range(40)))
    cluster.scale(3)
    try:
        client.wait_for_workers(3, timeout=300)
        same(here, pr.rank_panel(stated, given, client=client, **HOW))
    finally:
        cluster.scale(2)
        patience = time.monotonic() + 300
        while len(client.nthreads()) != 2:  # those after this one are of two
            assert time.monotonic() < patience
            time.sleep(0.1)


def _forgiving(deaths, dask_scheduler=None):
    dask_scheduler.allowed_failures = deaths


@pytest.mark.slow
def test_an_input_that_kills_workers_is_found_out(client, monkeypatch):
    monkeypatch.setattr(engine, "LIVES", 1)
    client.run_on_scheduler(_forgiving, 0)
    stated = [Deadly(k, poisoned=(5,)) for k in range(8)]
    try:
        far = list(pr.rank_panel(stated, map(candidates, range(8)), client=client, **HOW))
    finally:
        client.run_on_scheduler(_forgiving, 3)
    assert [one.input for one in far if isinstance(one, pr.Failed)] == [5]
    assert "all died" in far[5].why


def test_selections_are_the_local_ones(client):
    far, here = pr.select(panel(range(50)), client=client), pr.select(panel(range(50)))
    assert far.to_dict() == here.to_dict()
    rule = pr.Settled(tolerance=0.2)
    far = pr.select(
        pr.rank_panel([problem(k) for k in range(60)], [candidates(k) for k in range(60)]), client=client, until=rule
    )
    here = pr.select(pr.rank_panel([problem(k) for k in range(60)], [candidates(k) for k in range(60)]), until=rule)
    assert far.to_dict() == here.to_dict() and far.standing.total == 60
    with pytest.raises(ValueError, match="can rank what is not ranked yet"):
        pr.select(list(panel(range(4))), client=client)


def test_races_are_the_local_ones(client):
    models = {f"m{k}": model(0.3 * k) for k in range(4)}
    here = pr.race(range(40), problem, models, tolerance=0.1, effort="response")
    far = pr.race(range(40), problem, models, tolerance=0.1, effort="response", client=client)
    told, local = far.to_dict(), here.to_dict()
    assert told.pop("seconds") > 0 and local.pop("seconds") > 0
    assert told == local and here.dropped  # somebody left, so that what was computed ahead had to be computed again


def _read_here(_):
    raise AssertionError("read by the client")


def test_inputs_of_a_race_are_read_by_workers(client, tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    models = {f"m{k}": model(0.3 * k) for k in range(2)}
    with h5py.File(tmp_path / "inputs.h5", "w") as file:
        file["inputs"] = np.arange(12)
    with h5py.File(tmp_path / "inputs.h5") as file:
        here = pr.race(file["inputs"], problem, models, tolerance=0.1, effort="response")
        monkeypatch.setattr(heats.Part, "read", _read_here)  # in this process only
        far = pr.race(file["inputs"], problem, models, tolerance=0.1, effort="response", client=client)
    assert far.order == here.order
    np.testing.assert_array_equal(far.means, here.means)


def test_little_is_read_ahead_and_nothing_is_left_behind(client, monkeypatch):
    monkeypatch.setattr(engine._Run, "_blocks", lambda run: 1)
    tasks = client.cluster.scheduler.tasks
    read, before = 0, set(tasks)  # panels that tests before this one left unread, and that only a collector ends

    def problems():
        nonlocal read
        for k in range(10_000):
            read += 1
            yield problem(k)

    going = pr.rank_panel(problems(), map(candidates, range(10_000)), client=client, **HOW)
    for done in range(1, 60):
        next(going)
        assert read - done <= 2 * 4 * (engine.AHEAD + engine.HELD + 1)
    going.close()
    patience = time.monotonic() + 300
    while left := [key for key in list(tasks) if "physrank" in str(key) and key not in before]:
        assert time.monotonic() < patience, left
        time.sleep(0.05)


def test_handles_are_opened_on_the_worker(client, tmp_path):
    h5py, xarray, zarr = (pytest.importorskip(name) for name in ("h5py", "xarray", "zarr"))
    batch = np.stack([np.stack(list(candidates(k).values())) for k in range(10)])
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["a"] = batch[:, 0]
    np.save(tmp_path / "b.npy", batch[:, 1])
    xarray.DataArray(batch[:, 2], dims=("sample", "x"), name="c").to_netcdf(tmp_path / "c.nc", engine="h5netcdf")
    zarr.save_array(str(tmp_path / "d.zarr"), batch[:, 0] + 0.01)
    with h5py.File(tmp_path / "a.h5") as file, xarray.open_dataarray(tmp_path / "c.nc", engine="h5netcdf") as c:
        handles = {
            "a": file["a"],
            "b": pr.read(tmp_path / "b.npy", dims="sample,x").fields["b"],
            "c": c,
            "d": zarr.open_array(str(tmp_path / "d.zarr"), mode="r"),
        }
        stated = [partial(problem, k) for k in range(10)]
        far = list(pr.rank_panel(stated, handles, client=client, **HOW))
    arrays = {"a": batch[:, 0], "b": batch[:, 1], "c": batch[:, 2], "d": batch[:, 0] + 0.01}
    same(pr.rank_panel(stated, arrays, **HOW), far)
