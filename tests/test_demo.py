"""The demo's data, its numbers, and that it runs without PyTorch; the script that made the data still works."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from physrank.lab import demo, demo_library
from physrank.lab.evaluation import Recovery
from physrank.lab.inputs import STRATA, ReactionDiffusionInput, stream
from physrank.lab.inputs.streams import POPULATIONS
from physrank.lab.libraries import LIBRARIES, PROFILES, RUNS
from physrank.lab.references import chebyshev as reference
from physrank.lab.references import reaction_diffusion
from physrank.lab.training.run import train_run


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


def test_streams_do_not_overlap():
    draws = {
        (p, k): tuple(stream("reaction_diffusion", p, k).standard_normal(3)) for p in POPULATIONS for k in range(50)
    }
    assert len(set(draws.values())) == len(draws)


def test_strata_are_what_they_say():
    for stratum in STRATA:
        cases = [ReactionDiffusionInput.sample("development", k, stratum) for k in range(200)]
        wide, far = stratum in ("frequency", "combined"), stratum in ("parameter", "combined")
        tail = np.stack([c.diffusion_coefficients[5:] for c in cases])
        assert np.all((tail != 0) == wide)
        assert all((0.3 <= c.linear <= 0.6 or 1.8 <= c.linear <= 2.2) if far else 0.8 <= c.linear <= 1.4 for c in cases)
        assert all((0.1 <= c.cubic <= 0.25 or 1.1 <= c.cubic <= 1.4) if far else 0.4 <= c.cubic <= 0.9 for c in cases)
        scale = np.std([c.diffusion_coefficients[:5] for c in cases])
        assert scale == pytest.approx(0.26 if far else 0.16 if wide else 0.12, rel=0.1)


def test_recovery_counts_on_a_known_population():
    losses = np.array([[1.0, 2.0, 3.0], [1.0, 1.0 + 1e-9, 5.0]])
    perfect = Recovery.of(losses, losses)
    assert (perfect.pairs, perfect.pairs_correct) == (5, 5)  # one reference tie left out
    assert (perfect.top1_exact, perfect.top1_tolerant) == (2, 2)
    swapped = Recovery.of(losses, np.array([[2.0, 1.0, 3.0], [2.0, 1.0, 3.0]]))
    assert swapped.pairs_correct == 4
    assert (swapped.top1_exact, swapped.top1_tolerant) == (0, 1)
    assert swapped.mean_regret == pytest.approx((1.0 + 1e-9) / 2)
    assert swapped.mean_normalized_regret == pytest.approx((0.5 + 1e-9 / 4) / 2)


def test_the_script_collects_from_a_store(tmp_path, monkeypatch):
    """Tiny libraries in a store become arrays of the demo's form."""
    tiny = replace(PROFILES["smoke"], training=8, validation=2, epochs=2, batch=4)
    monkeypatch.setattr(demo, "LIBRARIES", ("burgers-fno-e1",))
    monkeypatch.setattr(demo_library, "INPUTS", 3)
    monkeypatch.setattr(reaction_diffusion, "LEVELS", {"first": (31, 47)})
    for run in range(RUNS):
        train_run(tmp_path, tiny, LIBRARIES["burgers-fno-e1"], run)
    arrays, known = demo_library.collect(tmp_path, tiny)
    assert arrays["burgers-fno-e1 predictions"].shape == (3, 8, 48, 48)
    assert arrays["burgers reference"].shape == (3, 384)
    assert known["settings"]["burgers-fno-e1"][0]["seed"] == LIBRARIES["burgers-fno-e1"].seed(0)
