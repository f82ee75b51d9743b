"""`physrank advise`: on one's own files and on the shipped predictions."""

import json

from predictions import STATED


def test_on_files(here, physrank):
    found = json.loads(physrank("advise", "fno.h5", "unet.h5", *STATED, "--json", "-").out)
    assert found["pairs"] == 1 and len(found["tried"]) >= 3
    assert physrank("advise", "fno.h5", "unet.h5", *STATED, "--effort", "solve").code == 2


def test_on_shipped_predictions(physrank):
    run = physrank("advise", "burgers-fno-e1", "--input", 1)
    assert run.code == 0 and "settled" in run.out
    for arguments in (["burgers-fno-e1", "--input", 99], ["burgers-fno"]):
        refused = physrank("advise", *arguments)
        assert refused.code == 2 and "input 0 to 11" in refused.err
