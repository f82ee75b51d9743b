"""Results that came before their turn: how many are held, in bytes too, and what may go out all the same."""

import threading
from types import SimpleNamespace

import pytest

from crowds import threads
from physrank import scale
from physrank.scale import cluster as engine
from physrank.scale import worker

distributed = pytest.importorskip("distributed")

HOME = threading.Event()  # that what all others wait for may come home


@pytest.fixture
def the_others_come_first(monkeypatch):
    """One block a task; the first one waits until, of the six that two threads are given, the other five are held."""
    monkeypatch.setattr(engine._Run, "_blocks", lambda run: 1)
    hold = engine._Run._hold

    def held(run, first, found):
        hold(run, first, found)
        if len(run.done) == 2 * engine.AHEAD - 1:
            HOME.set()

    monkeypatch.setattr(engine._Run, "_hold", held)
    HOME.clear()


def _given_up(*_):
    assert HOME.wait(300)
    raise distributed.KilledWorker("task", SimpleNamespace(address="nowhere"), 0)


def test_what_all_others_wait_for_is_done_again(monkeypatch, the_others_come_first):
    """Given up while as many as may be held are done already: nothing more goes out but this one."""
    monkeypatch.setattr(engine, "HELD", 1)
    with threads(2) as client:
        first, alone = [True], client.submit

        def submit(function, *arguments, **options):
            if function is worker.work and first:
                first.clear()
                function = _given_up
            return alone(function, *arguments, **options)

        monkeypatch.setattr(client, "submit", submit)
        found = list(scale.ordered(client, list, ([k] for k in range(12))))
    assert found == [[k] for k in range(12)]


def _homing(block):
    assert block != [0] or HOME.wait(300)
    return [b"x" * 200]


def test_what_is_held_back_is_bounded_in_bytes(monkeypatch, the_others_come_first):
    monkeypatch.setattr(engine, "HELD_BYTES", 100)
    read = []

    def blocks():
        for k in range(40):
            read.append(k)
            yield [k]

    with threads(2) as client:
        going = scale.ordered(client, _homing, blocks())
        assert next(going) == [b"x" * 200]
        assert len(read) == 2 * engine.AHEAD  # and not the 16 for each thread that their number would allow
        going.close()
