"""Every claim of every stored study can fail: other numbers in its result make it false, one claim at a time or together."""

import json
from pathlib import Path

import numpy as np
import pytest

from physrank.lab.studies import STUDIES

STORED = Path(__file__).parents[3] / "results/studies/laptop"
KEPT = ("paper", "provenance", "sizes", "alphas", "multipliers")  # what claims are compared with, or counted by
DRAWS = 300


def other(value, random, key=""):
    """The same result with other numbers in it, some far off, some a little."""
    if key in KEPT or isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, dict):
        return {name: other(of, random, name) for name, of in value.items()}
    if isinstance(value, list):
        return [other(of, random) for of in value]
    if isinstance(value, int):
        return int(random.choice((random.integers(0, 2 * abs(value) + 3), 10 ** random.uniform(0, 5))))
    return float(value * 10.0 ** random.choice((random.uniform(-1, 1), random.uniform(-12, 12))))


@pytest.mark.parametrize("name", [name for name in STUDIES if (STORED / f"{name}.json").exists()])
def test_no_claim_holds_whatever_was_measured(name):
    result, random = json.loads((STORED / f"{name}.json").read_text(encoding="utf-8")), np.random.default_rng(0)
    told = [text for text, _ in STUDIES[name].claims(result)]
    failed = np.zeros(len(told), bool)
    for _ in range(DRAWS):
        try:
            failed |= [not holds for _, holds in STUDIES[name].claims(other(result, random))]
        except (ZeroDivisionError, KeyError, IndexError):  # numbers that make no result
            continue
        if failed.all():
            return
    pytest.fail(
        f"{name}: nothing makes these false: {[text for text, once in zip(told, failed, strict=True) if not once]}"
    )
