"""The demo's data, its numbers, and that it runs without PyTorch."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from physrank.cli.program import app
from physrank.lab import demo
from physrank.lab.inputs import ReactionDiffusionInput
from physrank.lab.references import chebyshev as reference


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """One run of the command, in a process of its own where PyTorch cannot be imported."""
    folder = tmp_path_factory.mktemp("demo")
    code = (
        "import sys; sys.modules['torch'] = None; sys.modules['neuralop'] = None;"
        f"from physrank.cli import app; app(['demo', '--out', {str(folder)!r}])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return folder, result.stdout


@pytest.fixture
def three_inputs(monkeypatch):
    """One library on the first three inputs, through the same command; PyTorch cannot be imported from here on."""
    for name in ("torch", "neuralop"):
        monkeypatch.setitem(sys.modules, name, None)
    (library, _), whole = demo.PICTURED, demo.DemoData.load()
    monkeypatch.setattr(demo, "LIBRARIES", (library,))
    of_inputs = ("inputs", "references", "predictions")
    few = {field: {key: rows[:3] for key, rows in getattr(whole, field).items()} for field in of_inputs}
    monkeypatch.setattr(demo.DemoData, "load", lambda: replace(whole, **few))
    every, left_out = demo.methods, ("shared, 2 corrections", *(f"direct solve, {n} points" for n in range(300)))
    monkeypatch.setattr(demo, "methods", lambda *of: {m: s for m, s in every(*of).items() if m not in left_out})


def test_the_same_on_three_inputs(three_inputs, tmp_path):
    found = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)])
    assert found.exit_code == 0, found.output
    (methods,) = json.loads((tmp_path / "demo.json").read_text())["equations"].values()
    shared, raw, solved = (methods[m] for m in ("shared response", "raw residual", "direct solve, same grid"))
    assert shared["cases"] == 3 and 0.8 * 84 < shared["pairs"] <= 84
    assert raw["pairs_correct"] < 0.99 * shared["pairs"] <= shared["pairs_correct"]
    assert methods["ladder"]["pairs_correct"] >= 0.99 * shared["pairs"] <= solved["pairs_correct"]
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert "Trust run" in (tmp_path / "report.html").read_text()
    for part in ("shared response", "raw residual", "distance to mean", "direct solve, same grid", "Honest yardstick"):
        assert part in found.output


@pytest.mark.slow
def test_demo_recovers_the_hidden_ranking(output):
    folder, text = output
    numbers = json.loads((folder / "demo.json").read_text())
    for equation, least in (("burgers", 0.97), ("reaction_diffusion", 0.99)):
        methods = numbers["equations"][equation]
        shared, raw = methods["shared response"], methods["raw residual"]
        assert shared["cases"] == 24
        assert 0.8 * 672 < shared["pairs"] <= 672
        assert shared["pairs_correct"] >= least * shared["pairs"]
        assert shared["top1_tolerant"] >= 22
        assert raw["pairs_correct"] < shared["pairs_correct"]
        assert methods["direct solve, same grid"]["pairs_correct"] >= 0.995 * shared["pairs"]
    assert numbers["equations"]["reaction_diffusion"]["raw residual"]["pairs_correct"] < 0.75 * 672
    assert numbers["direct_use_of_proxy"]["cases_no_worse_than_best_candidate"] >= 46
    for part in ("shared response", "raw residual", "distance to mean", "direct solve, same grid", "Honest yardstick"):
        assert part in text


@pytest.mark.slow
def test_demo_writes_picture_and_report(output):
    folder, _ = output
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert "Trust run" in (folder / "report.html").read_text()


def test_shipped_data_are_small_checked_and_what_the_streams_say():
    assert demo.DATA.stat().st_size <= 6_000_000
    data = demo.DemoData.load()
    fields = data.predictions["reaction_diffusion-cno-e1"]
    assert fields.dtype == np.float32
    assert fields.shape == (12, 8, 34, 34)
    assert np.all(fields[..., [0, -1], :] == 0)  # boundary exact by construction
    case = data.inputs["reaction_diffusion"][5]
    again = ReactionDiffusionInput.sample("demo", 5, case.stratum)
    np.testing.assert_array_equal(again.diffusion_coefficients, case.diffusion_coefficients)
    # The stored reference is a solution: re-solved here by Chebyshev collocation, a third discretisation.
    fresh = reference.evaluate(reference.solve(case, 32), np.linspace(0, 1, 130))
    np.testing.assert_allclose(data.references["reaction_diffusion"][5], fresh, atol=1e-4)


def test_tampered_data_are_refused(tmp_path):
    path = tmp_path / demo.DATA.name
    content = bytearray(demo.DATA.read_bytes())
    content[1000] ^= 1
    path.write_bytes(content)
    path.with_suffix(".json").write_text(demo.DATA.with_suffix(".json").read_text())
    with pytest.raises(ValueError, match="does not match its manifest"):
        demo.DemoData.load(path)
    path.write_bytes(b"0" * (demo.MAX_BYTES + 1))
    with pytest.raises(ValueError, match="expected at most"):
        demo.DemoData.load(path)
