"""The demo's data, its numbers, and that it runs without PyTorch; the script that made the data still works."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from physrank.lab import demo, demo_library
from physrank.lab.evaluation import Recovery
from physrank.lab.inputs import STRATA, ReactionDiffusionInput, stream
from physrank.lab.inputs.streams import POPULATIONS
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


def test_demo_recovers_the_hidden_ranking(output):
    folder, text = output
    numbers = json.loads((folder / "demo.json").read_text())
    shared, raw = numbers["methods"]["shared response"], numbers["methods"]["raw residual"]
    assert shared["pairs"] == 672
    assert shared["pairs_correct"] >= 0.99 * 672
    assert shared["top1_tolerant"] == 24
    assert raw["pairs_correct"] < 0.6 * 672
    assert numbers["methods"]["direct solve, same grid"]["pairs_correct"] == 672
    assert numbers["direct_use_of_proxy"]["cases_no_worse_than_best_candidate"] == 24
    for part in ("shared response", "raw residual", "distance to mean", "direct solve, same grid", "Honest yardstick"):
        assert part in text


def test_demo_writes_picture_and_report(output):
    folder, _ = output
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert "Trust fno-" in (folder / "report.html").read_text()


def test_shipped_data_are_small_checked_and_what_the_streams_say():
    assert demo.DATA.stat().st_size <= 2_000_000
    data = demo.DemoData.load()
    assert data.predictions.dtype == np.float32
    assert data.predictions.shape == (24, 8, 34, 34)
    assert np.all(data.predictions[..., [0, -1], :] == 0)  # boundary exact by construction
    again = ReactionDiffusionInput.sample("demo", 5, data.inputs[5].stratum)
    np.testing.assert_array_equal(again.diffusion_coefficients, data.inputs[5].diffusion_coefficients)
    # The stored reference is a solution: re-solved here on another number of points.
    fresh = reference.evaluate(reference.solve(data.inputs[5], 32), np.linspace(0, 1, 130))
    np.testing.assert_allclose(data.truth(5), fresh, atol=1e-8)


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


def test_the_training_script_trains(monkeypatch):
    """Two epochs on few samples: the loss falls, boundary values vanish, the same seed gives the same network."""
    monkeypatch.setattr(
        demo_library, "SETTINGS", {**demo_library.SETTINGS, "epochs": 2, "checkpoints": [1, 2], "batch": 8}
    )
    cases = [ReactionDiffusionInput.sample("training", k, "training") for k in range(16)]
    inputs, targets = demo_library.features(cases), demo_library.labels(cases)
    early, late = demo_library.train(0, inputs, targets)

    def error(model):
        return float(np.mean((demo_library.predict(model, inputs) - targets[:, 0].numpy()) ** 2))

    assert error(late) < error(early)
    assert np.all(demo_library.predict(late, inputs)[:, 0, :] == 0)
    again = demo_library.train(0, inputs, targets)[1]
    for a, b in zip(late.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)
