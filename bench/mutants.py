"""Whether the tests notice: small faults are put into copies of the source, and the named tests must fail on each.

    python bench/mutants.py [--only TEXT] [--workers N] [--keep FOLDER] [--trusted] [--out results/mutants.json]

The faults are in tests/mutants/*.txt, as tests/faults.py reads them. The checkout is never edited. What was found is
kept under the hash of the fault, its file and the tests, so that a run goes on where it stopped and, after a change, tries
again what it touches; without the folder of --keep everything is tried anew. Prints what survives; exits with 1 if anything
does. A file whose faults have all been tried has its count, and the commit, in what --out names.
"""

import argparse
import compileall
import hashlib
import json
import os
import py_compile
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from queue import SimpleQueue

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from faults import Mutant, mutants  # noqa: E402

PATIENCE = {True: 600, False: 7200}  # seconds, with a fault and without: one that keeps a test from ending is noticed
COPIED = ("src", "tests")
ENDED = 100
PRELOADED = ["pytest", "jax", "jax.numpy", "equinox", "lineax", "scipy.fft", "scipy.sparse.linalg", "xarray", "mpmath"]


@dataclass(frozen=True)
class Verdict:
    """How the tests ended: "noticed", "survived", or what else happened."""

    said: str
    seconds: float
    by: str = ""  # the test that noticed
    kept: bool = False  # from an earlier run


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--only", default="", help="mutants whose line contains this")
    options.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options.add_argument("--keep", type=Path, default=ROOT / ".venv" / "mutants")
    options.add_argument(
        "--trusted", action="store_true", help="the tests have just passed: do not run them without a fault"
    )
    options.add_argument("--out", type=Path, help="where counts are stored, file by file")
    asked = options.parse_args()
    chosen = [m for m in mutants() if asked.only in str(m)]
    named = sorted({test for m in chosen for test in m.tests if test[0] != "-"})
    tests = tuple(test for test in named if test.partition("::")[0] not in named or "::" not in test)
    os.environ["PHYSRANK_COMPILATIONS"] = str(asked.keep / "compilations")  # what a fault does not touch compiles once
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    Path(os.environ["PHYSRANK_COMPILATIONS"]).mkdir(parents=True, exist_ok=True)
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    with tempfile.TemporaryDirectory(prefix="physrank-mutants-") as folder, ThreadPoolExecutor(asked.workers) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for k in range(asked.workers):
            copies.put(copy_of_checkout(Path(folder) / str(k)))

        def judged(case: Mutant | tuple[str, ...]) -> tuple[Mutant | tuple[str, ...], Verdict]:
            place = copies.get()
            try:
                return case, judge(context, case, place, asked.keep)
            finally:
                copies.put(place)

        if not asked.trusted:
            _, verdict = judged(tests)
            if verdict.said != "survived":
                print(f"Tests fail without any fault: {verdict.by} ({verdict.said}). They can notice none.")
                return 2
        survivors = list(report(pool.map(judged, chosen), len(chosen)))
    print(
        f"{len(survivors)} of {len(chosen)} mutants survive.", *(f"{m}  [{said}]" for m, said in survivors), sep="\n  "
    )
    if asked.out:
        old = json.loads(asked.out.read_text(encoding="utf-8"))["results"] if asked.out.exists() else {}
        write_json(asked.out, stamp({"results": counted(mutants(), chosen, [m for m, _ in survivors], old)}))
    return int(bool(survivors))


def counted(listed: list[Mutant], tried: list[Mutant], survivors: list[Mutant], old: dict) -> dict:
    """Of every file: how many faults, how many survive, at which commit. What was tried in part keeps what is known."""
    now, found = stamp({})["provenance"]["commit"], {}
    for file in sorted({m.file for m in listed}):
        name, faults = file.removeprefix("src/physrank/"), [m for m in listed if m.file == file]
        if all(m in tried for m in faults):
            found[name] = {"faults": len(faults), "survive": sum(m in survivors for m in faults), "commit": now}
        elif name in old:
            found[name] = old[name]
    return found


def report(found: Iterator, total: int) -> Iterator[tuple[Mutant, str]]:
    """A line for each; yields those that were not noticed, and what happened."""
    for number, (case, verdict) in enumerate(found, 1):
        note = "kept" if verdict.kept else f"{verdict.seconds:.1f} s"
        said = f"noticed by {verdict.by}" if verdict.said == "noticed" else verdict.said.upper()
        print(f"[{number}/{total}] {said} ({note}): {case}", flush=True)
        if verdict.said != "noticed":
            yield case, verdict.said


def judge(context, case: Mutant | tuple[str, ...], copy: Path, keep: Path) -> Verdict:
    """The verdict on a fault, or on tests without one."""
    tests = case.tests if isinstance(case, Mutant) else case
    key = hashlib.sha256(f"{case!r}{content(copy, case)}".encode()).hexdigest()[:24]
    stored = keep / f"{key}.json"
    if stored.exists():
        return Verdict(**json.loads(stored.read_text()), kept=True)
    started, file = time.perf_counter(), None
    if isinstance(case, Mutant):
        file = copy / case.file
        original = file.read_text(encoding="utf-8")
        file.write_text(case.applied(original), encoding="utf-8")
    try:
        said, by = run_tests(context, tests, copy, PATIENCE[file is not None])
    finally:
        if file is not None:
            file.write_text(original, encoding="utf-8")
    verdict = {"said": said, "seconds": round(time.perf_counter() - started, 1), "by": by}
    if said in ("noticed", "survived"):
        stored.write_text(json.dumps(verdict))
    return Verdict(**verdict)


def run_tests(context, tests: tuple[str, ...], copy: Path, patience: int) -> tuple[str, str]:
    process = context.Process(target=in_copy, args=(copy, tests, copy / "log"))
    process.start()
    process.join(patience)
    if process.exitcode is None:
        process.kill()
        process.join()
        return "noticed", "not ending"
    log = (copy / "log").read_text()
    said = {0: "survived", 1: "noticed", 2: "noticed"}.get(process.exitcode - ENDED)  # 2: a file could not be imported
    failed = re.search(r"^(?:FAILED|ERROR) tests/(\S+?)(?:\[| |$)", log, re.MULTILINE)
    return said or f"tests did not run (code {process.exitcode}): {log[-800:]}", failed[1] if failed else ""


def in_copy(copy: Path, tests: tuple[str, ...], log: Path) -> None:
    """In a process of its own, which has imported what does not change; ends with pytest's code."""
    with log.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy / "src")  # of processes that tests start
    sys.path.insert(0, str(copy / "src"))
    # One example that fails is enough: nobody reads a smaller one. And a slow one has noticed nothing.
    phases = [Phase.explicit, Phase.generate]
    settings.register_profile("mutants", phases=phases, derandomize=True, database=None, deadline=None)
    quick = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow"]
    quick.append("--hypothesis-profile=mutants")  # tests have one of their own; what is named here comes after it
    chosen = [f"tests/{test}" if test[0] != "-" else f"--deselect=tests/{test[1:]}" for test in tests]
    code = pytest.main([*quick, *chosen])
    tried = Path(sys.modules["physrank"].__file__ or "").is_relative_to(copy)
    sys.stdout.flush()
    os._exit(ENDED + int(code) if tried else ENDED - 1)  # what fails in another way must not look like failing tests


def copy_of_checkout(target: Path) -> Path:
    target.mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.name in COPIED:
            shutil.copytree(entry, target / entry.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif not entry.name.startswith("."):
            (target / entry.name).symlink_to(entry)
    # Compiled files that are checked by content: two faults of one length within a second would look alike by date.
    compileall.compile_dir(target / "src", quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    return target


def content(copy: Path, case: Mutant | tuple[str, ...]) -> str:
    """What a verdict is kept for: the file with the fault, or all without one; the named tests and what these import."""
    faulty = isinstance(case, Mutant)
    files = {copy / case.file} if faulty else set((copy / "src").rglob("*.py"))
    left = [copy / "tests" / test.lstrip("-").partition("::")[0] for test in (case.tests if faulty else case)]
    left += {folder / "conftest.py" for test in left for folder in test.parents if (folder / "conftest.py").exists()}
    while left:
        files.add(file := left.pop())
        names = re.findall(r"^ *(?:from|import) (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
        left += {path for name in names if (path := copy / "tests" / f"{name}.py").exists()} - files
    found = hashlib.sha256()
    for file in sorted(files):
        found.update(file.read_bytes())
    return found.hexdigest()


if __name__ == "__main__":  # only here: whoever tries a fault imports the package from a copy
    from physrank._io import write_json
    from physrank.lab.store.provenance import stamp

    sys.exit(main())
