"""Tests stand where their source stands, and the instrument is tested without the laboratory."""

import ast
import re
from pathlib import Path

import pytest

import physrank
from helpers import wide

TESTS, SOURCE = Path(__file__).parent, Path(physrank.__file__).parent
LABORATORY = ("torch", "neuralop", "physrank.lab", "lab_helpers", "networks")
ABOUT_EVERYTHING = ("external", "documents", "examples", "architecture")  # these may import anything
CROSS_CUTTING = (*ABOUT_EVERYTHING, "laws", "boundaries", "layout", "mutants", "package", "torch_tensors")
FILES = sorted(TESTS.rglob("test_*.py"))


def imported(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def from_the_laboratory(text):
    return [name for name in imported(text) if any(f"{name}.".startswith(f"{lab}.") for lab in LABORATORY)]


def has_a_source(path):
    """tests/room/test_noun.py is about src/physrank/room/noun.py; test_noun_more.py is about it too."""
    room, name = SOURCE / path.parent, path.stem.removeprefix("test_")
    nouns = [p.stem.lstrip("_") for p in room.glob("*.py")] + [p.name for p in room.glob("[!_]*/")] + [room.name]
    return any(f"{name}_".startswith(f"{noun}_") for noun in nouns if noun)


def relative(path):
    return path.relative_to(TESTS).as_posix()


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_a_test_is_found_by_the_name_of_its_source(path):
    where = path.relative_to(TESTS)
    assert has_a_source(where) or path.stem.removeprefix("test_") in CROSS_CUTTING


WHERE = [line.split() for line in (TESTS / "where.txt").read_text(encoding="utf-8").splitlines() if line[0] != "#"]
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if path.name != "__init__.py")


def is_tested_by_name(module):
    """The converse: src/physrank/room/noun.py has its tests in tests/room/test_noun.py or in test_noun_….py."""
    noun = module.stem.lstrip("_")
    return any(f"{path.stem}_".startswith(f"test_{noun}_") for path in (TESTS / module.parent).glob("test_*.py"))


@pytest.mark.parametrize("module", MODULES, ids=Path.as_posix)
def test_the_tests_of_a_module_are_found_by_its_name_or_in_the_list(module):
    elsewhere = [files for pattern, *files in WHERE if module.match(pattern)]
    assert is_tested_by_name(module) or elsewhere
    assert all((TESTS / name).exists() for files in elsewhere for name in files)


def test_the_list_has_no_line_too_many():
    for pattern, *files in WHERE:
        assert files and any(module.match(pattern) and not is_tested_by_name(module) for module in MODULES), pattern


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_files_stay_readable(path):
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) <= 320


INSTRUMENT = [  # models are what they are about: networks of every kind are brought to their tests
    path
    for path in FILES
    if path.relative_to(TESTS).parts[0] not in ("lab", "models")
    and path.stem.removeprefix("test_") not in ABOUT_EVERYTHING
]


@pytest.mark.parametrize("path", INSTRUMENT, ids=relative)
def test_the_instrument_is_tested_without_the_laboratory(path):
    assert from_the_laboratory(path.read_text(encoding="utf-8")) == []


def test_sabotage_is_noticed():
    assert from_the_laboratory("def f():\n    import torch.nn") == ["torch.nn"]
    assert from_the_laboratory("from physrank import lab") == ["physrank.lab"]
    assert from_the_laboratory("from physrank.lab.inputs import stream") == ["physrank.lab.inputs.stream"]
    assert not from_the_laboratory("import torchless, physrank.laboratory")
    assert has_a_source(Path("geometry/test_grid.py")) and has_a_source(Path("certificates/test_reaction_diffusion.py"))
    assert not has_a_source(Path("geometry/test_lifted.py")) and not has_a_source(Path("ranking/test_lifts.py"))


def test_what_is_left_to_the_slow_lane_exists_and_leaves_its_files_something_to_try():
    listed = wide()
    assert len({test for _, test in listed}) == len(listed) > 50
    for name in {test.partition("::")[0] for _, test in listed}:
        functions = re.findall(r"^def (test_\w+)\(", (TESTS / name).read_text(encoding="utf-8"), re.MULTILINE)
        whole = {test.partition("::")[2] for _, test in listed if test.startswith(f"{name}::")}
        assert {test.partition("[")[0] for test in whole} <= set(functions), name
        assert set(functions) - whole, name


def marked_slow(text):
    """Functions of which all or some cases are for the slow lane alone."""
    functions = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    return {each.name for each in functions if any("mark.slow" in ast.unparse(d) for d in each.decorator_list)}


def test_what_is_marked_slow_is_listed_with_its_time():
    marked = {f"{relative(path)}::{name}" for path in FILES for name in marked_slow(path.read_text(encoding="utf-8"))}
    assert marked == {test for _, test in wide("slow.txt")} and len(marked) >= 10
    assert marked_slow("@pytest.mark.slow\ndef test_a(): ...\n\ndef test_b(): ...") == {"test_a"}
