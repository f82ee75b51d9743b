"""Documents are true: tables come from stored results, README's code prints what README says."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def script(path):
    """A program of the repository that is no part of the package."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


render = script("docs/render.py")


@pytest.mark.parametrize("name", ["README.md", "docs/results.md", "docs/laboratory.md"])
def test_documents_are_rendered_from_results(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert render.render(text) == text, "run `make docs`"


@pytest.mark.parametrize("name", ["bench.json", "demo/demo.json", "references.json", "forcing_law.json"])
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
