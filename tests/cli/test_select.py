"""`physrank select`: one checkpoint over all inputs of the files."""

import json

import h5py
import pytest

from crowds import threads
from predictions import ERRORS, STATED

FILES = [f"{name}.h5" for name in ERRORS]


def test_one_checkpoint_over_all_inputs(here, tmp_path, physrank):
    run = physrank("select", *FILES, *STATED, "--json", tmp_path / "choice.json")
    assert run.code == 0
    found = json.loads((tmp_path / "choice.json").read_text(encoding="utf-8"))
    assert found["best"] == "fno" and found["standing"]["total"] == 2
    assert "select fno" in run.out
    assert json.loads(physrank("select", *FILES, *STATED, "--most", 1, "--json", "-").out)["inputs"] == 1


def test_files_must_hold_the_same_inputs(here, tmp_path, physrank):
    with h5py.File("fno.h5") as whole, h5py.File(tmp_path / "short.h5", "w") as short:
        whole.copy("0000", short)
        whole.copy("0000", short, "0001")
        whole.copy("0000", short, "0002")
    run = physrank("select", "fno.h5", tmp_path / "short.h5", *STATED)
    assert run.code == 2
    assert "different numbers of inputs" in run.err


@pytest.mark.parametrize("confidence", ["0", "1.5"])
def test_a_confidence_is_a_share(here, physrank, confidence):
    assert physrank("select", *FILES, *STATED, "--confidence", confidence).code == 2


def test_workers_read_and_rank(here, tmp_path, physrank):
    distributed = pytest.importorskip("distributed")
    with threads() as client:
        address = client.scheduler_info()["address"]
        run = physrank("select", *FILES, *STATED, "--scheduler", address, "--json", tmp_path / "far.json")
    assert run.code == 0 and "select fno" in run.out
    physrank("select", *FILES, *STATED, "--json", tmp_path / "here.json")
    far, local = (json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8")) for name in ("far", "here"))
    assert far == local
    run = physrank("select", *FILES, *STATED, "--scheduler", "nowhere")
    assert run.code == 2 and "no Dask scheduler answers there" in run.err
    with pytest.raises(ValueError, match="No clients found"):  # which others would ask, and wait
        distributed.client.default_client()
