"""The script that made the demo's data still works."""

from dataclasses import replace

from physrank.lab import demo, demo_library
from physrank.lab.libraries import LIBRARIES, PROFILES, RUNS
from physrank.lab.references import reaction_diffusion
from physrank.lab.training.run import train_run


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
