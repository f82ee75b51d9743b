"""Documents are true: tables come from stored results, README's code prints what README says."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent


def script(path):
    """A program of the repository that is no part of the package."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


render = script("docs/render.py")


@pytest.mark.parametrize("name", render.RENDERED)
def test_documents_are_rendered_from_results(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert render.render(text) == text, "run `make docs`"


@pytest.mark.parametrize(
    "name",
    [
        "bench.json",
        "demo/demo.json",
        "references.json",
        "forcing_law.json",
        "yardstick.json",
        "scale.json",
        "devices.json",
    ],
)
def test_results_carry_provenance(name):
    stored = json.loads((ROOT / "results" / name).read_text(encoding="utf-8"))
    assert re.fullmatch(r"[0-9a-f]{12}(\+changes)?", stored["provenance"]["commit"])
    assert len(stored["provenance"]["content_sha256"]) == 64


def test_links_lead_somewhere():
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_the_page_on_models_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    known = {}
    for block in blocks:
        exec(block, known)
    assert len(blocks) == 6
    assert "['epoch1', 'epoch9', 'epoch10']" in capsys.readouterr().out
    assert list(known["library"]) == ["epoch1", "epoch9", "epoch10"]
    assert known["choice"].best in known["library"] and known["choice"].settled is not None
    assert len(list((tmp_path / "run1").glob("epoch*.safetensors"))) == 3


def test_no_machine_paths():
    for path in ROOT.rglob("*"):
        hidden = any(
            part.startswith(".") or part in ("site", "demo_output", "__pycache__")
            for part in path.relative_to(ROOT).parts
        )
        if path.is_file() and not hidden and path.suffix in (".py", ".md", ".json", ".toml", ".yml", ".txt", ".cff"):
            assert not re.search(r"/(work|root|tmp|home)/[A-Za-z]", path.read_text(encoding="utf-8")), path


def test_studies_count_for_a_forcing_law_only_if_they_say_so(tmp_path, monkeypatch):
    """A result without the present fingerprint, or edited after it was measured, is not the present law's."""
    law = script("bench/forcing_law.py")
    monkeypatch.setattr(law, "ROOT", tmp_path)
    path = tmp_path / law.STUDIES / "primary.json"
    honest = {"input_fingerprint": {law.EQUATION.name: law.EQUATION.input_fingerprint}}
    for result, counts in (
        (law.stamp({}), False),
        (law.stamp({"input_fingerprint": {law.EQUATION.name: "another law"}}), False),
        (law.stamp(honest) | {"edited": True}, False),
        (law.stamp(honest), True),
    ):
        law.write_json(path, result)
        assert ("primary" in law.present_studies()) == counts
    assert law.off([1.0, 4.0], [2.0, 5.0]) == pytest.approx(2)


def test_the_yardstick_counts_what_it_says(monkeypatch):
    """Three candidates, one tie; a wrong pair counts against a method, and against its word where it called it settled."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    fronts = script("bench/fronts.py")
    losses, every = np.array([1.0, 2.0, 2.0 + 1e-9]), np.ones((3, 3), bool)
    row = fronts.Row()
    row.count(fronts.Answer(np.array([1.0, 2.0, 3.0]), settled=every), losses, losses, None)
    assert (row.right, row.settled, row.settled_wrong) == (2, 2, 0)
    row.count(fronts.Answer(np.array([2.5, 2.0, 3.0]), settled=every), losses, losses[::-1], None)
    assert (row.right, row.right_finer, row.settled, row.settled_wrong) == (3, 2, 4, 1)
    rows = {"auto": {"seconds": 1.0, "right": 3}, "solve": {"seconds": 0.5, "right": 3}}
    pictures = script("bench/pictures.py")
    assert pictures.dominated(rows, "auto") and not pictures.dominated(rows, "solve")
    assert not pictures.dominated(rows | {"solve": {"seconds": 0.5, "right": 2}}, "auto")


def test_the_yardstick_names_a_solve_that_dominates():
    method = {"settled": 10, "settled_wrong": 0, "physics_share": 0.5}
    part = {
        "title": "t",
        "pairs": 10,
        "own_grid": "solve 8",
        "methods": {"auto": {"seconds": 1.0, "right": 10} | method},
    }
    for seconds, right, met in ((0.95, 10, True), (0.8, 9, True), (0.8, 10, False)):
        part["methods"]["solve 8"] = {"seconds": seconds, "right": right}
        (target,) = render.render_yardstick._dominated({"parts": {"front:t": part}})
        assert target.met == met and ("not met" in target.row) != met


def test_code_in_documents_runs():
    text = (ROOT / "docs/your_own_pde.md").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "--8<--" not in block]
    assert len(blocks) >= 2
    for block in blocks:
        exec(compile(block, "docs/your_own_pde.md", "exec"), {})
