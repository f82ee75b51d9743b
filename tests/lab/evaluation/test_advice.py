"""Solve or rank: the cheapest that is as good, said in one place."""

from lab_helpers import SOURCE
from physrank.lab.evaluation import solve_or_rank


def test_solve_or_rank_names_the_cheapest_that_is_as_good():
    solves = {"direct, 48": (90, 1.0), "direct, 96": (100, 2.0), "direct, 192": (101, 3.0), "direct, 384": (102, 9.0)}
    said = solve_or_rank((100, 4.0), solves)
    assert said.startswith("Solve: direct, 96 is 2.0 times cheaper")
    assert solve_or_rank((100, 1.5), solves).startswith("Rank: no direct solve")


def test_advice_is_written_once():
    sentence = "times cheaper than ranking"
    holders = [path.name for path in (SOURCE / "lab").rglob("*.py") if sentence in path.read_text(encoding="utf-8")]
    assert holders == ["advice.py"]
