"""The list of `make mutants`: every fault can still be put in, and the tests that should notice exist."""

import ast
from pathlib import Path

import pytest

from faults import TESTS, Mutant, mutants, read

ROOT = TESTS.parent
ROOMS = ("geometry", "physics", "equations", "rungs", "ranking", "certificates", "lab/evaluation", "lab/inputs")


def by_file():
    found = {}
    for mutant in mutants():
        found.setdefault(mutant.file, []).append(mutant)
    return found


@pytest.mark.parametrize("file, faults", by_file().items(), ids=list(by_file()))
def test_every_fault_can_be_put_in(file, faults):
    source = (ROOT / file).read_text(encoding="utf-8")
    tree = ast.dump(ast.parse(source))
    for mutant in faults:
        assert ast.dump(ast.parse(mutant.applied(source))) != tree, mutant


def test_the_tests_that_should_notice_exist():
    for test in {test for mutant in mutants() for test in mutant.tests}:
        name, _, function = test.lstrip("-").partition("::")
        text = (TESTS / name).read_text(encoding="utf-8")
        assert f"def {function}(" in text if function else name.endswith(".py"), test


def test_there_are_enough_everywhere_and_none_twice():
    listed = mutants()
    counts = {room: sum(m.file.startswith(f"src/physrank/{room}/") for m in listed) for room in ROOMS}
    assert len(listed) >= 150
    assert counts["certificates"] >= 60
    assert all(counts.values()), counts
    assert len({(m.file, m.text, m.replacement) for m in listed}) == len(listed)


def test_a_list_that_went_stale_is_noticed():
    (one,) = read("# why\n[a.py] test_a.py test_b.py\n\nx + 1 ⇒ x - 1\n")
    assert one == Mutant("src/physrank/a.py", "x + 1", "x - 1", ("test_a.py", "test_b.py"))
    (dropped,) = read("[a.py] test_a.py\nx + 1 ⇒ ⇐ test_b.py::test_c\n")
    assert (dropped.replacement, dropped.tests) == ("", ("test_b.py::test_c",))
    assert one.applied("y = x + 1") == "y = x - 1"
    for source in ("y = x + 2", "y = x + 1 + x + 1"):
        with pytest.raises(ValueError, match="expected once"):
            one.applied(source)
    with pytest.raises(ValueError, match="after a heading"):
        list(read("x + 1 ⇒ x - 1"))
    assert Path(TESTS / "mutants").is_dir()
