"""`physrank report`: a page from a stored ranking."""

import json

from predictions import STATED


def test_a_stored_ranking_becomes_a_page(here, tmp_path, physrank):
    physrank("rank", "fno.h5", "<b>=cno.h5", *STATED, "--json", tmp_path / "r.json")
    assert physrank("report", tmp_path / "r.json", "--out", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Trust fno" in page and "&lt;b&gt;" in page and "<b>" not in page
    assert physrank("report", tmp_path / "r.json").code == 0
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == page


def test_what_is_no_ranking_is_refused(tmp_path, physrank):
    for text in ("", "[]", "{}", json.dumps({"physrank": 3})):
        (tmp_path / "r.json").write_text(text)
        run = physrank("report", tmp_path / "r.json")
        assert run.code == 2 and "r.json" in run.err
    assert not (tmp_path / "r.html").exists()
