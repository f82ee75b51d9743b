"""Every command that README and the page on the command line show runs as it stands."""

import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE, README = ROOT / "docs" / "command_line.md", ROOT / "README.md"


def blocks(path, language):
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


def commands(path):
    return [line for block in blocks(path, "sh") for line in block.splitlines() if line.startswith("physrank ")]


@pytest.mark.parametrize("path", [README, PAGE], ids=["README", "command_line"])
def test_commands_run(path, predictions, tmp_path, monkeypatch, physrank):
    shutil.copytree(predictions, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for block in blocks(path, "python"):
        if found := re.match(r"# (\w+\.py)\n", block):
            Path(found.group(1)).write_text(block)
    shown = commands(path)
    assert len(shown) >= 2
    for line in shown:
        asked, _, redirected = line.partition(" > ")
        run = physrank(*shlex.split(asked)[1:])
        assert run.code == 0 or (run.code == 3 and "my_pde" in line), (line, run.err)
        if redirected:
            Path(redirected).write_text(run.out)


def test_the_problem_file_of_the_page_is_valid(predictions, tmp_path, monkeypatch, physrank):
    monkeypatch.chdir(predictions)
    (text,) = blocks(PAGE, "toml")
    assert tomllib.loads(text)["equation"] == "diffusion-reaction"
    (tmp_path / "problem.toml").write_text(text)
    assert physrank("rank", "fno.h5", "unet.h5", "--problem", tmp_path / "problem.toml").code == 0
