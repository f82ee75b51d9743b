"""`physrank init`: a problem file that is valid as it is written, for every equation."""

import tomllib

import pytest

from physrank.cli.catalogue import CATALOGUE
from physrank.cli.problem_file import load


@pytest.mark.parametrize("name", CATALOGUE)
@pytest.mark.parametrize("uncommented", [False, True])
def test_what_is_written_can_be_read(name, uncommented, tmp_path, physrank):
    path = tmp_path / "problem.toml"
    assert physrank("init", name, "--out", path).code == 0
    assert path.read_text(encoding="utf-8") == physrank("init", name).out
    if uncommented:  # what is offered in comments is valid too
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text(
            "\n".join(line.removeprefix("# ") if "=" in line or "[" in line else line for line in lines[2:])
        )
    found = load(path)
    assert found.top["equation"] == name
    assert not uncommented or set(found.numbers) | set(found.grid) >= set(CATALOGUE[name].numbers)
    assert tomllib.loads(path.read_text(encoding="utf-8"))


def test_nothing_is_overwritten(tmp_path, physrank):
    path = tmp_path / "problem.toml"
    path.write_text("mine")
    run = physrank("init", "burgers", "--out", path)
    assert run.code == 2 and "left as it is" in run.err
    assert path.read_text() == "mine"


def test_equations_are_listed(physrank):
    assert all(name in physrank("init").out for name in CATALOGUE)
    assert "Did you mean 'sine-gordon'?" in physrank("init", "sin-gordon").err
