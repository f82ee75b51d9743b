"""`physrank certify`: what is proved, and what it rests on."""

import json

from predictions import STATED


def test_decisions_are_proved(here, tmp_path, physrank):
    run = physrank("certify", "fno.h5", "unet.h5", *STATED, "--report", tmp_path / "proof.html", "--json", "-")
    assert run.code == 0, run.err
    proof = json.loads(run.out)["certificate"]
    assert proof["best"] == "fno" and proof["pairs_certified"] == proof["pairs"] == 1
    assert "It rests on" in run.err
    assert "<h2>Certificate</h2>" in (tmp_path / "proof.html").read_text(encoding="utf-8")


def test_two_that_are_the_same_are_a_proved_tie(here, physrank):
    run = physrank("certify", "a=fno.h5", "b=fno.h5", *STATED, "--corrections", 1)
    assert run.code == 0, run.err
    assert physrank("certify", "a=fno.h5", "b=fno.h5", *STATED, "--decide", "best", "--tolerance", "1e-3").code == 0
