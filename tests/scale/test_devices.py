"""One problem over eight virtual devices: the same numbers, no whole state anywhere, less memory on each."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import divided
import physrank as pr
from physrank import compute
from physrank.scale import devices
from physrank.scale.devices import footprint, sharded

ROUND_OFF = 1e-12  # of a solve that iterates to 1e-11, and of explicit steps
ALGEBRAIC = 1e-10  # of one linear solve


@pytest.fixture(scope="module")
def found():
    return heard(started(8))


@pytest.fixture(scope="module")
def others():
    return heard(started(8, "others"))


def heard(process):
    said, complaints = process.communicate(timeout=600)
    assert process.returncode == 0, complaints
    return json.loads(said.splitlines()[-1])


def started(virtual, *arguments):
    """A process that has so many virtual devices."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={virtual}"
    return subprocess.Popen(
        [sys.executable, str(Path(divided.__file__)), *map(str, arguments)],
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("name", divided.FEW)
def test_the_result_is_that_of_one_device(found, name):
    is_that_of_one_device(found[name])


def is_that_of_one_device(rows):
    for row in rows.values():
        assert row["solved"] and row["iterations"][0] == row["iterations"][1]
        assert row["response"] <= ALGEBRAIC and row["solve"] <= ROUND_OFF


def gathers(row):
    """What leaves more on a device than its share of a state."""
    return {kind: size for kind, size in row["taken"]["largest"].items() if size > row["share"]}


@pytest.mark.parametrize("name", divided.FEW)
def test_nobody_gathers_a_state(found, name):
    nobody_gathers(found[name])


def nobody_gathers(rows):
    for row in rows.values():
        assert "all-gather" not in row["taken"]["collectives"] and not gathers(row)
        assert row["taken"]["collectives"]["collective-permute"]  # rows at the cuts


def test_transforms_exchange_twice_for_every_preconditioning(found):
    exchange_twice(found["reaction–diffusion"])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(divided.CASES.keys() - set(divided.FEW)))
def test_so_it_is_for_other_equations(others, name):
    is_that_of_one_device(others[name])
    nobody_gathers(others[name])
    if name == "diffusion–reaction":
        exchange_twice(others[name])


def exchange_twice(rows):
    for row in rows.values():
        assert row["taken"]["collectives"]["all-to-all"] == 4  # before the loop and in it, there and back


def test_transforms_that_are_left_to_the_compiler_would_gather(found):
    assert gathers(found["sabotaged"])


def test_memory_on_a_device_falls(found):
    two, eight = (found["reaction–diffusion"][count]["taken"] for count in ("2", "8"))
    assert eight["arguments"] < 0.3 * two["arguments"]
    assert eight["temporary"] < 0.4 * two["temporary"]  # 33 interior nodes on eight are 5 each, not 4


@pytest.mark.slow
def test_two_processes_find_what_one_finds():
    """As on two hosts, under `jax.distributed`."""
    for row in on_two_hosts():
        assert (row["devices"], row["local"]) == (4, 2) and row["off"] <= ALGEBRAIC


def on_two_hosts(attempts=3):
    """What both processes print. The port is free when it is looked for, and may be somebody else's when it is taken."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    both = [started(2, k, port) for k in (0, 1)]
    said, complaints = both[0].communicate(timeout=600)
    if both[0].returncode and attempts > 1 and "in use" in complaints:
        both[1].kill()
        both[1].communicate()
        return on_two_hosts(attempts - 1)
    assert both[0].returncode == 0, complaints
    return [json.loads(said.splitlines()[-1]), heard(both[1])]


@pytest.mark.slow
def test_the_ladder_is_climbed_alike():
    said, complaints = (process := started(8, "ladder")).communicate(timeout=600)
    assert process.returncode == 0, complaints
    found = json.loads(said.splitlines()[-1])
    assert found["rungs"][0] == found["rungs"][1] and len(found["rungs"][0]) > 1
    assert found["settled"] and found["off"] <= 1e-9  # scores are squares of what iterations leave


def test_ranking_goes_through_the_same_door():
    """One device in pieces of one: whatever is divided must be put together again."""
    problem, state = divided.flow("periodic", 2, 16)
    candidates = {"a": state, "b": 1.01 * state}
    expected = pr.rank(problem, candidates, effort="response")
    with sharded(1):
        ranking = pr.rank(problem, candidates, effort="response")
        panel = list(pr.rank_panel([problem], [candidates], effort="response"))
    np.testing.assert_allclose(ranking.scores, expected.scores, rtol=1e-12)
    np.testing.assert_allclose(panel[0].scores, expected.scores, rtol=1e-12)
    assert ranking.state.shape == state.shape


def test_the_page_runs_as_it_stands():
    page = (Path(__file__).parent.parent.parent / "docs" / "devices.md").read_text(encoding="utf-8")
    first, bump = page.split("```python\n")[1].split("```")[0], np.outer(*2 * [np.sin(np.linspace(0, np.pi, 11))])
    known = {"diffusion": 1.0 + bump, "forcing": bump, "candidates": {"a": 0.04 * bump, "b": 0 * bump}}
    exec(compile(first, "docs/devices.md", "exec"), known)
    assert known["ranking"].best == "a"


def test_certificates_are_not_divided(monkeypatch):
    problem, state = divided.reaction_diffusion(9)
    ranking = pr.rank(problem, {"a": state, "b": 2 * state}, effort="response")
    monkeypatch.setattr(compute, "_divided_run", lambda *_: pytest.fail("its bounds are for one device"))
    with sharded(1):
        assert pr.certify(problem, ranking).settled
        with pytest.raises(pytest.fail.Exception):
            pr.rank(problem, {"a": state, "b": 2 * state}, effort="response")


def test_what_cannot_be_divided_is_told():
    problem, state = divided.flow("periodic", 2, 16)
    with pytest.raises(ValueError, match=r"between 1 and \d+.*got 99.*XLA_FLAGS"), sharded(99):
        pass
    for wrong in (0, True, [], ["gpu"]):
        with pytest.raises(ValueError, match="devices must be"), sharded(wrong):
            pass
    with pytest.raises(ValueError, match=r"inside of physrank\.sharded"):
        footprint(problem, state)
    with sharded(jax.devices()[:1]):
        with pytest.raises(ValueError, match="which axes of a state are space"):
            pr.rank(pr.Stationary(lambda u: u - 1), np.zeros((2, 3)), effort="response")
        with pytest.raises(ValueError, match='"response" or "solve"'):
            footprint(problem, state, "march")  # pyright: ignore[reportArgumentType]


def test_sizes_are_read_from_what_the_compiler_writes():
    assert devices._bytes("(f32[8,8]{1,0}, pred[], /*index=5*/c128[2])") == 4 * 64 + 1 + 32
    assert devices._bytes("f64[]") == 8
