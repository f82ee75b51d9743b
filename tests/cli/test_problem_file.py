"""Problem files: what they say is checked, where it stands is named, and nothing in them runs."""

import os

import pytest

from physrank.cli.problem_file import MOST_BYTES, load


def write(tmp_path, text):
    path = tmp_path / "problem.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text, said",
    [
        ('equation = "burgers"\n\ntask = 3\n', "line 3, task: expected a text; got 3"),
        ('equaton = "burgers"\n', "line 1, equaton: key 'equaton' is not known. Did you mean 'equation'?"),
        ("[numbrs]\nviscosity = 1\n", "line 1, [numbrs]: key 'numbrs' is not known. Did you mean 'numbers'?"),
        ("numbers = 3\n", "line 1, numbers: expected a table"),
        ("[numbers]\n# viscosity\nviscosity = true\n", "line 3, [numbers] viscosity: expected a number"),
        ("[numbers]\nviscosity = {a = 1}\n", "line 2, [numbers] viscosity"),
        ("[numbers]\nviscosity = [[1], [true]]\n", "line 2, [numbers] viscosity"),
        ("[numbers]\nviscosity = 2024-01-01\n", "line 2, [numbers] viscosity"),
        ("from_frame = true\n", "line 1, from_frame: expected a whole number"),
        ('python = "my_pde.py:problem"\n', "names no code"),
        ('[python]\nfile = "x"\n', "names no code"),
        ("viscosity = \n", "line 1"),
        ("a = 1\na = 2\n", "not a TOML file"),
        ('equation = "burgers\n', "not a TOML file"),
        ("a = " + "[" * 50_000, "not a TOML file"),
        ("tolerance = " + "9" * 5000, "not a TOML file"),
        ("#" * (MOST_BYTES + 1), "at most"),
    ],
)
def test_errors_name_line_and_key(tmp_path, text, said):
    with pytest.raises(ValueError) as refused:
        load(write(tmp_path, text))
    assert said in str(refused.value)
    assert "problem.toml" in str(refused.value) and len(str(refused.value)) < 500


def test_what_is_no_text_is_refused(tmp_path):
    path = tmp_path / "problem.toml"
    path.write_bytes(b"equation = \xff\xfe")
    with pytest.raises(ValueError, match="UTF-8"):
        load(path)
    with pytest.raises(ValueError, match="not a file"):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")  # reading it would wait for ever
    with pytest.raises(ValueError, match="not a file"):
        load(tmp_path / "pipe")


@pytest.mark.parametrize(
    "text, said",
    [
        ('equation = "my_pde.py:problem"\n', "line 1, equation: 'my_pde.py:problem' is no built-in equation"),
        ('equation = "burger"\n', "line 1, equation: equation 'burger' is not known. Did you mean 'burgers'?"),
        ('equation = "burgers"\n[numbers]\nvicosity = 1\n', "line 3, [numbers] vicosity"),
        ('equation = "burgers"\n[numbers]\nvicosity = 1\n', "Did you mean 'viscosity'?"),
        ('equation = "burgers"\n[numbers]\npoints = 12\n', "line 3, [numbers] points: this belongs to [grid]"),
        ('equation = "burgers"\n[grid]\npoints = 1e12\n', "line 3, [grid] points: at most"),
        (
            'equation = "diffusion-reaction"\n[grid]\ntimes = "now"\n',
            "line 3, [grid] times: expected the first and last",
        ),
        ('equation = "diffusion-reaction"\n[numbers]\nthreshold = inf\n', "threshold must be finite"),
    ],
)
def test_the_command_says_where(here, physrank, tmp_path, text, said):
    run = physrank("rank", "fno.h5", "cno.h5", "--problem", write(tmp_path, text))
    assert run.code == 2
    assert said in run.err
