"""The command line names what is missing."""

from typer.testing import CliRunner

from physrank.cli import app


def test_command_line_names_what_is_missing(tmp_path):
    run = CliRunner().invoke
    found = run(app, ["study", "primary", "--profile", "smoke", "--store", str(tmp_path)])
    assert found.exit_code == 1
    assert "physrank train" in found.output.replace("\n", " ")
    assert run(app, ["study", "nothing"]).exit_code == 1
    assert "Groups" in run(app, ["train", "nothing"]).output
    verified = run(app, ["study", "verify", "--profile", "smoke", "--out", str(tmp_path)])
    assert verified.exit_code == 1
    assert "no result" in verified.output
