"""References are made some at a time: what an interrupted run had made is not made again."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from physrank.lab.store import references
from physrank.lab.store.files import write_arrays

COUNT = 2 * references.CHUNK + 3


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    made, told = [], []

    def chunk(job):
        part, _, _, count, _ = job
        made.append(int(part.stem))
        if len(made) == 3:
            raise KeyboardInterrupt
        rows = np.arange(int(part.stem), min(int(part.stem) + references.CHUNK, count), dtype=float)
        write_arrays(part, {"coarse": rows[:, None], "fine": -rows[:, None]})

    one_by_one = SimpleNamespace(map=map)
    monkeypatch.setattr(references, "ProcessPoolExecutor", lambda **_: nullcontext(one_by_one))
    monkeypatch.setattr(references, "_chunk", chunk)
    asked = (tmp_path, "burgers", "evaluation", COUNT, "first", lambda *news: told.append(news[1:]))
    with pytest.raises(KeyboardInterrupt):
        references.references(*asked)
    found = references.references(*asked)
    assert made == [0, 12, 24, 24]
    assert told == [(12, COUNT), (24, COUNT), (COUNT, COUNT)]
    np.testing.assert_array_equal([one.coarse[0] for one in found], np.arange(COUNT))
    np.testing.assert_array_equal([one.fine[0] for one in found], -np.arange(COUNT, dtype=float))
    assert [path.suffix for path in (tmp_path / "references").iterdir()] == [".npz"]  # parts are joined and gone
    references.references(*asked)
    assert made == [0, 12, 24, 24]
