"""The laboratory's commands name what is missing."""

from physrank.cli import laboratory
from physrank.cli.program import app


def test_commands_name_what_is_missing(tmp_path, physrank):
    found = physrank("study", "primary", "--profile", "smoke", "--store", tmp_path)
    assert found.code == 1
    assert "physrank train" in found.err
    assert physrank("study", "nothing").code == 2
    assert "Groups" in physrank("train", "nothing").err
    verified = physrank("study", "verify", "--profile", "smoke", "--out", tmp_path)
    assert verified.code == 1
    assert "no result" in verified.out


def test_help_names_the_groups_that_exist(physrank):
    groups = physrank("train", "nothing").err.split("Groups: ")[1].split(";")[0].split(", ")
    shown = " ".join(physrank("train", "--help").out.split())
    assert ", ".join(groups) in shown
    assert physrank("info").out.startswith("physrank ")
    assert app.info.help


def test_training_says_what_it_does_before_anything_is_loaded(tmp_path, physrank, monkeypatch):
    """Loading takes a minute on a machine that is busy."""

    def loading(_):
        raise laboratory.StoreError("still loading")

    monkeypatch.setattr(laboratory, "_training", loading)
    run = physrank("train", "burgers-fno-e1", "--profile", "smoke", "--store", tmp_path)
    assert run.code == 1 and "training 4 runs in" in run.out
