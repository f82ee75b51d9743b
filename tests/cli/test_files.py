"""Which files are meant, what they are called, and what they share."""

import numpy as np
import pytest

from physrank.cli.files import Given, located


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("fno.h5", "cno.h5", "ünet.h5", "a=b.h5", "run1/p.h5", "run2/p.h5", "x/run1/p.h5"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    "arguments, names",
    [
        (["fno.h5", "cno.h5"], ["fno", "cno"]),
        (["best=fno.h5", "cno.h5"], ["best", "cno"]),
        (["*no.h5"], ["cno", "fno"]),
        (["ünet.h5", "日本=fno.h5"], ["日本", "ünet"]),
        (["a=b.h5"], ["a=b"]),
        (["run*/p.h5"], ["run1/p", "run2/p"]),
        (["run1/p.h5", "x/run1/p.h5"], None),
        (["fno.h5", "f*.h5"], ["fno"]),
    ],
)
def test_names(folder, arguments, names):
    found = located(arguments)
    assert len(found) == len(set(found.values()))
    if names is None:
        assert all(name.endswith("run1/p") for name in found) and len(found) == 2
    else:
        assert list(found) == names


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["fnoo.h5"], "Did you mean 'fno.h5'?"),
        (["nowhere/a.h5"], "no folder nowhere"),
        (["z*.h5"], "No file matches"),
        (["m=*no.h5"], "matches 2 files"),
        (["m=fno.h5", "m=cno.h5"], "given to two files"),
        (["cno=fno.h5", "cno.h5"], "would be called 'cno'"),
        ([], "No files"),
    ],
)
def test_what_is_not_clear_is_refused(folder, arguments, said):
    with pytest.raises(ValueError, match=said.replace("?", r"\?")):
        Given.of(arguments)


def save(path, values, **more):
    np.savez(path, u=values, **more)
    return str(path)


def test_the_initial_state_is_what_candidates_share(tmp_path):
    rows = np.cumsum(np.ones((4, 6)), axis=0)
    other = rows + np.array([0, 1e-9, 1, 2])[:, None]
    given = Given.of([save(tmp_path / "a.npz", rows), save(tmp_path / "b.npz", other)], from_frame=1)
    np.testing.assert_array_equal(given.initial(None, 0, given.states(0)), rows[1])
    later = Given.of(list(map(str, given.paths.values())), from_frame=2)
    with pytest.raises(ValueError, match=r"do not share frame 2: they differ by up to 1 of 3"):
        later.initial(None, 0, later.states(0))
    whole, row = save(tmp_path / "whole.npz", 7 * rows), save(tmp_path / "row.npz", rows[0])
    np.testing.assert_array_equal(later.initial(later.paths["a"].with_name("whole.npz"), 0, later.states(0)), 21)
    np.testing.assert_array_equal(later.initial(later.paths["a"].with_name("row.npz"), 0, later.states(0)), rows[0])
    assert whole != row


def test_files_that_contradict_each_other_are_refused(tmp_path):
    x = np.linspace(0, 1, 8, endpoint=False)
    one, other = (save(tmp_path / f"{n}.npz", np.ones((3, 8)), x=n * x, viscosity=0.01 * n) for n in (1, 2))
    given = Given.of([one, other], dims="time,x")
    with pytest.raises(ValueError, match=r"1 says viscosity 0\.01, and 2 says 0\.02"):
        given.number(("viscosity",))
    with pytest.raises(ValueError, match="says length"):
        given.length(nodes=False)
    assert Given.of([one], dims="time,x").number(("viscosity",)) == (0.01, "1")


def test_times_are_stated_or_stored(tmp_path):
    rows, times = np.ones((4, 6)), np.linspace(0, 3, 4)
    x = np.arange(6.0)
    silent, telling = save(tmp_path / "s.npz", rows), save(tmp_path / "t.npz", rows, t=times, x=x)
    other = save(tmp_path / "o.npz", rows, t=2 * times, x=x)
    given = Given.of([silent, telling], from_frame=1)
    np.testing.assert_allclose(given.times(4, None, ""), times[1:])
    np.testing.assert_allclose(given.times(4, (0, 6), ""), 2 * times[1:])
    np.testing.assert_allclose(given.times(4, (0, 1, 2, 9), ""), [1, 2, 9])
    with pytest.raises(ValueError, match="3 times for 4 frames"):
        given.times(4, (0, 1, 2), "here")
    with pytest.raises(ValueError, match="--times"):
        Given.of([silent]).times(4, None, "")
    with pytest.raises(ValueError, match="different times"):
        Given.of([telling, other]).times(4, None, "")
    assert given.length(nodes=False) == (6.0, "t") and given.length(nodes=True) == (5.0, "t")


def test_unreadable_files_are_refused_by_name(tmp_path):
    (tmp_path / "text.h5").write_text("no HDF5")
    with pytest.raises(ValueError, match=r"text\.h5"):
        Given.of([str(tmp_path / "text.h5")]).states(0)
    locked = tmp_path / "locked.npy"
    np.save(locked, np.ones(3))
    given = Given.of([str(locked)])
    locked.unlink()
    with pytest.raises(ValueError, match=r"locked\.npy cannot be read: No such file"):
        given.states(0)


def test_a_problem_file_that_contradicts_the_files_is_refused(tmp_path, physrank):
    x = np.linspace(0, 1, 16, endpoint=False)
    rows = np.tile(np.sin(2 * np.pi * x), (3, 1))
    files = [save(tmp_path / f"{n}.npz", rows * (1 + 0 * n), x=x, t=np.arange(3.0), viscosity=0.02) for n in (1, 2)]
    (tmp_path / "problem.toml").write_text('equation = "burgers"\n[numbers]\nviscosity = 0.01\n', encoding="utf-8")
    run = physrank("rank", *files, "--dims", "time,x", "--problem", tmp_path / "problem.toml")
    assert run.code == 2
    assert "viscosity = 0.01" in run.err and "0.02" in run.err and "--set viscosity" in run.err
    run = physrank("rank", *files, "--dims", "time,x", "--equation", "burgers", "--set", "viscosity=-1")
    assert run.code == 2 and "--set viscosity: " in run.err
