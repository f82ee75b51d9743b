"""Documents are true: tables come from stored results, README's code prints what README says."""

import contextlib
import importlib.util
import io
import json
import os
import re
from pathlib import Path

import distributed
import h5py
import numpy as np
import pytest
import torch
from scipy import sparse

import physrank as pr

ROOT = Path(__file__).parent.parent


def script(path):
    """A program of the repository that is no part of the package."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


render = script("docs/render.py")


@pytest.mark.parametrize("name", render.RENDERED)
def test_documents_are_rendered_from_results(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert render.render(text) == text, "run `make docs`"


RESULTS = sorted(path.name for path in (ROOT / "results").glob("*.json"))


@pytest.mark.parametrize("name", ["demo/demo.json", *RESULTS])
def test_results_carry_provenance(name):
    assert len(RESULTS) >= 6
    stored = json.loads((ROOT / "results" / name).read_text(encoding="utf-8"))
    assert re.fullmatch(r"[0-9a-f]{12}(\+changes)?", stored["provenance"]["commit"])
    assert len(stored["provenance"]["content_sha256"]) == 64


def test_links_lead_somewhere():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    links = [(path, to) for path in pages for to in re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8"))]
    near = [(path, target) for path, target in links if not target.startswith("http")]
    assert len({path for path, _ in near}) >= 8
    for path, target in near:
        assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_the_page_on_models_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    known = {}
    for block in blocks:
        exec(block, known)
    assert len(blocks) == 6
    assert "['epoch1', 'epoch9', 'epoch10']" in capsys.readouterr().out
    assert list(known["library"]) == ["epoch1", "epoch9", "epoch10"]
    assert known["choice"].best in known["library"] and known["choice"].settled is not None
    assert len(list((tmp_path / "run1").glob("epoch*.safetensors"))) == 3


def cubic(u, d=0.5):
    """A residual for all pages: compiled once."""
    return u**3 + u - d


def stand_ins(folder):
    """What README leaves to its reader: a problem of one's own in every form, files, inputs and networks."""
    folder.mkdir(exist_ok=True)
    points = np.linspace(0, 1, 8)
    matrix, rhs = sparse.csr_array(np.diag([3.0] * 8) - np.eye(8, k=1)), np.ones(8)
    frames = np.random.default_rng(0).standard_normal((13, 2, 4, 4))
    for k, name in enumerate(("2D_diff-react_NA_NA", "fno", "cno", "unet")):
        with h5py.File(folder / f"{name}.h5", "w") as file:
            for sample in range(4):
                data = np.moveaxis((1 + 0.01 * k) * frames, 1, -1)
                file[f"{sample:04d}/data"] = data.astype(np.float32)
                file[f"{sample:04d}/grid/t"] = np.linspace(0, 0.6, 13)
                file[f"{sample:04d}/grid/x"] = file[f"{sample:04d}/grid/y"] = (np.arange(4) + 0.5) / 2 - 1
    network = torch.nn.Linear(8, 8)
    (folder / "run1").mkdir()
    for epoch in (1, 2):
        pr.models.save(folder / f"run1/epoch{epoch}.safetensors", network)
    problem_of = lambda case: pr.Stationary(cubic, data=np.asarray(case))  # noqa: E731
    return {
        "residual": cubic,
        "data": 0.5,
        "step": lambda u, d=0.5: d * u,
        "initial": points,
        "rule": lambda after, now: after - now + 0.1 * after**3,
        "matrix": matrix,
        "rhs": rhs,
        "mass": sparse.eye_array(8).tocsr(),
        "jacobian": lambda u: sparse.diags_array(3 * u**2 + 1),
        "simulator": lambda u: 0.9 * np.asarray(u),
        "problems": [problem_of(np.full(8, k / 4)) for k in range(4)],
        "libraries": [{"a": np.zeros(8), "b": np.ones(8)}] * 4,
        "inputs": [np.full(8, k / 4) for k in range(4)],
        "problem_of": problem_of,
        "models": {"a": lambda case: 0 * case, "b": lambda case: case},
        "network": lambda: torch.nn.Linear(8, 8),
        "decode": None,
    }


@pytest.fixture
def promotion():
    return "standard"  # as users have it


@pytest.fixture
def one_thread_of_eight(monkeypatch):
    """Who asks for a cluster of eight processes has one thread of this one: real clusters are tried in `scale`."""
    started, cluster = [], distributed.LocalCluster

    def smaller(**options):
        started.append(cluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"))
        assert options == {"n_workers": 8, "threads_per_worker": 1, "env": pr.scale.PINNED}
        return started[-1]

    monkeypatch.setattr(distributed, "LocalCluster", smaller)
    yield
    for each in started:
        distributed.Client(each).shutdown()
    assert started


ROUND_OFF = re.compile(r"\d\.\de-1[4-7]")  # a number that no two machines share


def test_readme_runs_as_it_stands(tmp_path, monkeypatch, one_thread_of_eight):
    """Every block of Python, one after the other, as a reader would try them; what is printed is what README says."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(python|text)\n(.*?)```", text, re.DOTALL)
    assert sum(kind == "python" for kind, _ in blocks) >= 8
    known, said, compared = stand_ins(tmp_path), "", 0
    for kind, block in blocks:
        if kind == "text":
            assert ROUND_OFF.sub("…", said) == ROUND_OFF.sub("…", block)
            compared += 1
            continue
        space = dict(known)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block, "README.md", "exec"), space)
        said = printed.getvalue()
        known = (
            space if "ranking" not in known else known
        )  # the first block's problem, predictions and ranking serve all
    assert compared >= 2


def test_the_page_on_many_machines_runs_as_it_stands(tmp_path, monkeypatch, one_thread_of_eight):
    monkeypatch.chdir(tmp_path)
    for k, name in enumerate(("fno", "cno")):
        with h5py.File(f"{name}.h5", "w") as file:
            file["u"] = np.full((100_000, 8), 0.1 * k, np.float32)
    stand_in = stand_ins(tmp_path / "others")
    problems = stand_in["problems"]
    known = {"h5py": h5py, "problems": problems, "libraries": stand_in["libraries"]}
    known["problem_of"] = lambda k: problems[k % 4]
    text = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, "docs/scale.md", "exec"), known)
    assert known["selection"].best in ("a", "b") and next(known["rankings"]).names == ("fno", "cno")
    known["rankings"].close()


def test_the_page_on_certificates_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    problem = pr.equations.ReactionDiffusion(np.ones(9), np.ones(9), 1.0, 1.0)
    candidates = {name: np.pad(np.full(7, size), 1) for name, size in (("a", 0.1), ("b", 0.2), ("c", 0.0))}
    proofs = [pr.certify(problem, pr.rank(problem, candidates, anchor=way)) for way in ("mean", "medoid")]
    known = {"pr": pr, "problem": problem, "candidates": candidates, "bounds": 1e-6}
    known |= dict(zip(("certificate_a", "certificate_b"), proofs, strict=True))
    text = (ROOT / "docs" / "certificates" / "index.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 4
    for block in blocks:
        exec(compile(block, "docs/certificates/index.md", "exec"), known)
    assert (tmp_path / "proof.json").exists() and known["both"].best == known["certificate"].best
    assert "It rests on:" in capsys.readouterr().out


WRITTEN = (".py", ".md", ".json", ".toml", ".yml", ".txt", ".cff")


def written(root):
    """Files that somebody wrote: not what is installed or built here, whose folders are not even looked into."""
    for folder, inside, names in os.walk(root):
        inside[:] = [
            name for name in inside if not name.startswith(".") and name not in ("site", "demo_output", "dist")
        ]
        yield from (Path(folder, name) for name in names if name.endswith(WRITTEN) and not name.startswith("."))


def with_machine_paths(root):
    return [path for path in written(root) if re.search(r"/(work|root|tmp|home)/[A-Za-z]", path.read_text("utf-8"))]


def test_no_machine_paths(tmp_path):
    assert len(list(written(ROOT))) > 500
    assert not with_machine_paths(ROOT)
    (tmp_path / "a.md").write_text("as in /" + "home/me")
    assert with_machine_paths(tmp_path)  # one would be seen


def test_sentences_follow_their_results():
    """Another count, another sentence; and a study of the former law is named until it is measured anew."""
    words, results = (
        render.render_words,
        {name: render.stored(f"studies/laptop/{name}.json") for name in ("primary", "direct")},
    )
    said = words.primary(results["primary"])
    results["primary"]["pooled"]["shared"]["pairs_correct"] -= 7
    assert words.primary(results["primary"]) != said
    old = {"provenance": {"commit": words.FORMER_LAW}}
    assert "but for old: these" in words.law({"new": results["direct"], "old": old})
    assert "but for" not in words.law({"new": results["direct"]})


def test_studies_count_for_a_forcing_law_only_if_they_say_so(tmp_path, monkeypatch):
    """A result without the present fingerprint, or edited after it was measured, is not the present law's."""
    law = script("bench/forcing_law.py")
    monkeypatch.setattr(law, "ROOT", tmp_path)
    path = tmp_path / law.STUDIES / "primary.json"
    honest = {"input_fingerprint": {law.EQUATION.name: law.EQUATION.input_fingerprint}}
    for result, counts in (
        (law.stamp({}), False),
        (law.stamp({"input_fingerprint": {law.EQUATION.name: "another law"}}), False),
        (law.stamp(honest) | {"edited": True}, False),
        (law.stamp(honest), True),
    ):
        law.write_json(path, result)
        assert ("primary" in law.present_studies()) == counts
    assert law.off([1.0, 4.0], [2.0, 5.0]) == pytest.approx(2)


def test_the_yardstick_counts_what_it_says(monkeypatch):
    """Three candidates, one tie; a wrong pair counts against a method, and against its word where it called it settled."""
    monkeypatch.syspath_prepend(ROOT / "bench")
    fronts = script("bench/fronts.py")
    losses, every = np.array([1.0, 2.0, 2.0 + 1e-9]), np.ones((3, 3), bool)
    row = fronts.Row()
    row.count(fronts.Answer(np.array([1.0, 2.0, 3.0]), settled=every), losses, losses, None)
    assert (row.right, row.settled, row.settled_wrong) == (2, 2, 0)
    row.count(fronts.Answer(np.array([2.5, 2.0, 3.0]), settled=every), losses, losses[::-1], None)
    assert (row.right, row.right_finer, row.settled, row.settled_wrong) == (3, 2, 4, 1)
    rows = {"auto": {"seconds": 1.0, "right": 3}, "solve": {"seconds": 0.5, "right": 3}}
    pictures = script("bench/pictures.py")
    assert pictures.dominated(rows, "auto") and not pictures.dominated(rows, "solve")
    assert not pictures.dominated(rows | {"solve": {"seconds": 0.5, "right": 2}}, "auto")


def test_the_yardstick_names_a_solve_that_dominates():
    method = {"settled": 10, "settled_wrong": 0, "physics_share": 0.5}
    part = {
        "title": "t",
        "pairs": 10,
        "own_grid": "solve 8",
        "methods": {"auto": {"seconds": 1.0, "right": 10} | method},
    }
    for seconds, right, met in ((0.95, 10, True), (0.8, 9, True), (0.8, 10, False)):
        part["methods"]["solve 8"] = {"seconds": seconds, "right": right}
        (target,) = render.render_yardstick._dominated({"parts": {"front:t": part}})
        assert target.met == met and ("not met" in target.row) != met


def test_code_in_documents_runs():
    text = (ROOT / "docs/your_own_pde.md").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "--8<--" not in block]
    assert len(blocks) >= 2
    for block in blocks:
        exec(compile(block, "docs/your_own_pde.md", "exec"), {})


def test_certificates_are_as_sharp_as_asked():
    """A hundred times below what plain arithmetic leaves; pairs within twice of what is missed."""
    found = render.stored("sharpness.json")["results"]
    assert all(row["singly"] >= 100 * row["doubly"] and row["truth"] <= row["doubly"] for row in found["floor"])
    assert all(1 <= row["adjoints"] < 2 for row in found["pairs"])
