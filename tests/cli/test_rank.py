"""`physrank rank`: from files to a verdict, whichever way the problem is stated."""

import json

import h5py
import numpy as np
import pytest

import physrank as pr
from predictions import ERRORS, FIRST, STATED, TIMES

FILES = [f"{name}.h5" for name in ERRORS]


def test_files_to_a_verdict_and_a_page(here, tmp_path, physrank, solved):
    """The command says what Python says of the same arrays."""
    run = physrank("rank", *FILES, *STATED, "--report", tmp_path / "out.html", "--json", tmp_path / "out.json")
    assert run.code == 0
    stored = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert stored["order"] == list(ERRORS) and stored["settled"]
    assert "Trust fno" in (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "settled: the whole order" in run.out and "length = 2" in run.err
    candidates = {name: pr.read(here / f"{name}.h5").state(0)[FIRST:] for name in ERRORS}
    first = candidates["fno"][0]
    ranking = pr.rank(pr.equations.DiffusionReaction(first, np.float32(TIMES[FIRST:])), candidates)
    np.testing.assert_allclose([stored["candidates"][n]["score"] for n in ERRORS], ranking.scores, rtol=1e-4)


def test_names_samples_tasks_and_json_on_standard_output(here, physrank):
    run = physrank("rank", "one=fno.h5", "zwei=cno.h5", *STATED, "--sample", 1, "--task", "trajectory", "--json", "-")
    found = json.loads(run.out)  # nothing else is there
    assert found["order"] == ["one", "zwei"] and found["task"] == "field"
    assert "settled" in run.err
    assert (
        json.loads(physrank("rank", "*no.h5", *STATED, "--task", "frame:-2", "--json", "-").out)["task"] == "frame:-2"
    )


def test_groups_of_one_file_are_candidates(here, tmp_path, physrank):
    with h5py.File(tmp_path / "all.h5", "w") as file:
        for name in ERRORS:
            file[f"{name}/u"] = pr.read(f"{name}.h5").state(0)[FIRST:]
    run = physrank(
        "rank",
        tmp_path / "all.h5",
        "--equation",
        "diffusion-reaction",
        "--times",
        f"{TIMES[FIRST]}:{TIMES[-1]}",
        "--json",
        "-",
    )
    assert json.loads(run.out)["order"] == list(ERRORS)


def test_what_is_open_exits_with_three(here, physrank, tmp_path):
    """A mirror image of a candidate is as far from the solution: which is better depends on a number known to 50 %."""
    mirrored = 2 * pr.read("truth.h5").state(0) - pr.read("fno.h5").state(0)
    np.save(tmp_path / "mirrored.npy", mirrored)
    stated = (
        "--equation",
        "diffusion-reaction",
        "--from-frame",
        FIRST,
        "--uncertainty",
        "diffusion=0.5",
    )
    run = physrank("rank", "fno.h5", tmp_path / "mirrored.npy", *stated)
    assert run.code == 3, run.err
    assert "not settled" in run.out
    assert physrank("rank", "fno.h5", "unet.h5", *STATED, "--uncertainty", "diffusion=1e-3").code == 0


def test_a_problem_file_and_flags_that_win(here, tmp_path, physrank):
    path = tmp_path / "problem.toml"
    path.write_text(
        'equation = "diffusion-reaction"\nlayout = "pdebench"\nfrom_frame = 10\ndecide = "best"\n'
        "[numbers]\nthreshold = 0.5\n[uncertainty]\nthreshold = 0.01\n"
    )
    run = physrank("rank", *FILES, "--problem", path, "--set", "threshold=0.005", "--json", "-")
    found = json.loads(run.out)
    assert found["decide"] == "best" and found["order"] == list(ERRORS)
    assert "threshold = 0.005 (--set threshold)" in run.err
    assert "threshold = 0.5" in physrank("rank", *FILES, "--problem", path).err


@pytest.mark.parametrize("equation", ["burgers", "sine-gordon", "compressible-flow", "reaction-diffusion"])
def test_every_equation_by_flags_alone(equation, tmp_path, physrank):
    """Candidates around the solution: the nearer one is better."""
    x, times = np.arange(24) / 24, np.linspace(0, 0.1, 3)
    wave = np.sin(2 * np.pi * x)
    flags = ["--equation", equation, "--set", "length=1", "--times", "0:0.1"]
    if equation == "burgers":
        problem = pr.equations.Burgers(wave, 0.05, times, length=1.0, points=24, substeps="auto")
        flags += ["--set", "viscosity=0.05", "--set", "points=24"]
    elif equation == "sine-gordon":
        problem = pr.equations.SineGordon(wave, 0 * x, times, length=1.0, points=24, substeps="auto")
        flags += ["--set", "points=24"]
    elif equation == "compressible-flow":
        gas = pr.equations.conservative(np.stack([1 + 0.1 * wave, 0 * x, 1 + 0 * x]), 1.4)
        problem = pr.equations.CompressibleFlow(gas, times, "periodic", gamma=1.4, substeps="auto")
        flags += ["--set", "boundary=periodic", "--set", "gamma=1.4"]
    else:
        force = 10 * np.ones((10, 10))
        problem = pr.equations.ReactionDiffusion(1.0, force, 1.0, 0.5)
        np.save(tmp_path / "force.npy", force)
        flags = [*flags[:4], "--data", f"forcing={tmp_path / 'force.npy'}"]
        flags += ["--set", "diffusion=1", "--set", "linear=1", "--set", "cubic=0.5"]
    solution, failed = pr.scorers.DirectSolve().solution(problem, problem.state_shape)
    assert failed is None
    later = np.ones_like(solution) if equation == "reaction-diffusion" else (np.arange(3) > 0).astype(float)
    moved = solution * later.reshape(-1, *[1] * (solution.ndim - 1)) if later.ndim == 1 else solution
    for name, share in (("near", 0.01), ("far", 0.05)):
        np.save(tmp_path / f"{name}.npy", solution + share * moved)
    run = physrank("rank", tmp_path / "far.npy", tmp_path / "near.npy", *flags, "--json", "-")
    assert json.loads(run.out)["order"] == ["near", "far"], run.err


def test_numbers_of_the_files_are_used_and_named(tmp_path, physrank):
    """PDEBench's Burgers: the attribute Nu, whose diffusion is ν/π."""
    x, times = (np.arange(32) + 0.5) / 32, np.linspace(0, 0.2, 4)
    start = np.sin(2 * np.pi * x)
    problem = pr.equations.Burgers(start, 0.1 / np.pi, times, length=1.0, substeps="auto")
    for name, share in (("near", 0.01), ("far", 0.1)):
        rows = np.stack([start * np.exp(-(2 + share) * t) for t in times])
        with h5py.File(tmp_path / f"{name}.hdf5", "w") as file:
            file["tensor"], file["x-coordinate"], file.attrs["Nu"] = rows[None].astype(np.float32), x, 0.1
            file["t-coordinate"] = np.linspace(0, 0.2 + 0.2 / 3, 5)
    run = physrank("rank", tmp_path / "near.hdf5", tmp_path / "far.hdf5", "--equation", "burgers", "--json", "-")
    assert f"viscosity = {0.1 / np.pi:.6g} (near)" in run.err and "length = 1 (near)" in run.err
    assert "substeps = auto (default)" in run.err
    rows = {n: np.stack([start * np.exp(-(2 + s) * t) for t in times]) for n, s in (("near", 0.01), ("far", 0.1))}
    python = pr.rank(problem, rows)
    found = json.loads(run.out)["candidates"]
    np.testing.assert_allclose([found[n]["score"] for n in rows], python.scores, rtol=1e-4)


def test_fewer_files_of_other_resolution_name_the_initial_state(tmp_path, physrank):
    x, times = np.arange(16) / 16, np.linspace(0, 0.1, 3)
    for name, points in (("coarse", 16), ("fine", 32)):
        grid = np.arange(points) / points
        np.save(tmp_path / f"{name}.npy", np.stack([np.sin(2 * np.pi * grid) * np.exp(-t) for t in times]))
    flags = [
        "--equation",
        "burgers",
        "--set",
        "viscosity=0.05",
        "--set",
        "length=1",
        "--set",
        "points=32",
        "--times",
        "0:0.1",
    ]
    refused = physrank("rank", tmp_path / "coarse.npy", tmp_path / "fine.npy", *flags)
    assert refused.code == 2 and "--initial" in refused.err
    np.save(tmp_path / "start.npy", np.sin(2 * np.pi * x))
    run = physrank("rank", tmp_path / "coarse.npy", tmp_path / "fine.npy", *flags, "--initial", tmp_path / "start.npy")
    assert run.code in (0, 3), run.err
