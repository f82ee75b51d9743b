"""The page on files is true: its code runs, and prints what the page says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "files.md"


@pytest.fixture
def promotion():
    return "standard"  # as users have it


def test_the_page_on_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```(python|text)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    space, said = {}, io.StringIO()
    assert len(blocks) >= 10
    for kind, text in blocks:
        if kind == "python":
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(text, str(PAGE), "exec"), space)
        else:
            assert said.getvalue() == text
