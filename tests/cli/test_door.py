"""The door: help at once, sentences instead of tracebacks, and exit codes that scripts can rely on."""

import re
import subprocess
import sys
import warnings

import pytest

from physrank.cli import door
from physrank.cli.program import app
from predictions import ERRORS, STATED

FILES = [f"{name}.h5" for name in ERRORS]
COMMANDS = [
    "rank",
    "check",
    "select",
    "certify",
    "advise",
    "report",
    "init",
    "demo",
    "train",
    "study",
    "figures",
    "info",
]
HEAVY = ("jax", "equinox", "scipy", "xarray", "matplotlib", "h5py", "numpy", "torch")
PROGRAM = "from physrank.cli import app; app(prog_name='physrank')"


def command(*arguments, code=PROGRAM, **options):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options
    )


def test_every_command_is_known():
    assert {one.name or one.callback.__name__ for one in app.registered_commands} == set(COMMANDS)


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_help_loads_nothing_slow_and_has_examples(name, physrank):
    arguments = [name, "--help"] if name else ["--help"]
    shown = physrank(*arguments)
    assert shown.code == 0
    if name:
        assert f"physrank {name}" in re.split("Examples?:", shown.out)[1]


def test_help_does_not_wait_for_jax():
    check = f"import sys\ntry:\n    {PROGRAM}\nfinally:\n    print([m for m in {HEAVY} if m in sys.modules])"
    for arguments in (["--help"], ["rank", "--help"], ["init", "burgers"], ["--version"]):
        assert command(*arguments, code=check).stdout.strip().endswith("[]")


def test_exit_codes_of_the_program_itself(here, tmp_path):
    """As a shell sees them; the others are tested in this process."""
    settled = command("rank", *FILES, *STATED, "--report", tmp_path / "out.html", cwd=here)
    assert settled.returncode == door.SETTLED, settled.stderr
    assert "Trust fno" in (tmp_path / "out.html").read_text(encoding="utf-8")
    bad = command("rank", *FILES, "--equation", "burgurs", cwd=here)
    assert bad.returncode == door.BAD_INPUT
    assert "Did you mean 'burgers'?" in bad.stderr and "Traceback" not in bad.stderr


@pytest.mark.parametrize(
    "arguments, said",
    [
        ([], "Which equation?"),
        (["--equation", "burgers", "--python", "a.py:b"], "only one of them"),
        (["--equation", "exponax-stepper"], "--python"),
        (["--equation", "diffusion-reaction", "--set", "treshold=1"], "Did you mean 'threshold'?"),
        (["--equation", "diffusion-reaction", "--set", "threshold"], "expected NAME=VALUE"),
        (["--equation", "diffusion-reaction", "--set", "threshold=1", "--set", "threshold=2"], "given twice"),
        (["--equation", "diffusion-reaction", "--set", "threshold=high"], "threshold"),
        (["--equation", "burgers", "--set", "viscosity=0.1", "--set", "points=10000000000"], "at most"),
        (["--equation", "diffusion-reaction", "--data", "forcing=fno.h5"], "has no field"),
        (["--equation", "diffusion-reaction", "--from-frame", "14"], "at least two must be left"),
        (["--equation", "diffusion-reaction", "--from-frame", "12"], "do not share frame 12"),
        (["--equation", "diffusion-reaction", "--sample", "7"], "sample"),
        (["--equation", "diffusion-reaction", "--layout", "pdebnech"], "did you mean 'pdebench'"),
        (["--equation", "diffusion-reaction", "--task", "terminl"], "Did you mean 'terminal'?"),
        (["--equation", "diffusion-reaction", "--task", "frame:70"], "frames"),
        (["--equation", "diffusion-reaction", "--uncertainty", "diffusin=0.1"], "diffusion"),
        (["--equation", "diffusion-reaction", "--times", "0"], "FIRST:LAST"),
        (["--equation", "sine-gordon"], "one-dimensional"),
        (["--equation", "reaction-diffusion", "--from-frame", "2"], "has no time"),
        (["--equation", "burgers"], "viscosity: give it with --set"),
        (["--problem", "nowhere.toml"], "nowhere.toml is not a file"),
    ],
)
def test_bad_input_is_a_sentence(arguments, said, here, physrank):
    run = physrank("rank", *FILES, *arguments)
    assert run.code == door.BAD_INPUT
    assert said in run.err and len(run.err.splitlines()) <= 3


def test_what_cannot_be_written_names_file_and_cause(here, physrank, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("kept")
    run = physrank("rank", *FILES, *STATED, "--report", tmp_path / "file" / "out.html")
    assert run.code == door.FAILED
    assert "out.html" in run.err and (tmp_path / "file").read_text() == "kept"

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    (tmp_path / "out.json").write_text("kept")
    run = physrank("rank", *FILES, *STATED, "--json", tmp_path / "out.json")
    assert run.code == door.FAILED
    assert "No space left" in run.err and "out.json" in run.err
    assert (tmp_path / "out.json").read_text() == "kept"
    assert not list(tmp_path.glob(".*partial"))


def test_warnings_are_notes(tmp_path, physrank, monkeypatch):
    monkeypatch.setattr("physrank.cli.init.template", lambda *_: warnings.warn("look here", stacklevel=1) or "")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert "note: look here" in physrank("init", "burgers").err


def test_the_package_itself_is_the_command():
    """Where `physrank` is not on the path."""
    done = subprocess.run([sys.executable, "-m", "physrank", "--version"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith("physrank ")
