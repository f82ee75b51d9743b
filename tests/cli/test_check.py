"""`physrank check`: passes what obeys the equation, names the number that is wrong."""

import json

from predictions import STATED


def test_a_solution_passes_and_a_wrong_number_is_named(here, physrank):
    passed = physrank("check", "truth.h5", *STATED)
    assert passed.code == 0 and "trying" not in passed.err
    run = physrank("check", "truth.h5", *STATED, "--set", "threshold=0.5", "--json", "-")
    assert run.code == 3
    found = json.loads(run.out)
    assert not found["passes"] and found["suggestions"][0]["name"] == "threshold"
    first, then = run.err.index("floor 0."), run.err.index("does NOT pass")
    assert first < then and "trying" in run.err[first:then]  # what is tried may take a while: the floor comes before it
    assert "threshold 0.005" in run.err.replace("0.00500", "0.005")
