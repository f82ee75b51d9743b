"""Resolves what pyproject.toml asks for and writes base.txt, dev.txt and docs.txt: every version, every hash.

    python requirements/lock.py [python3.12 python3.13 …]
    python requirements/lock.py --oldest        # prints the lower bounds as pins, for trying them

Each file is complete, so that `pip install --no-deps --require-hashes` needs nothing else, but for PyTorch: which of its
builds is the right one depends on the machine, so its version alone is held (held.txt).

The interpreter that runs this decides the versions; further ones named on the line are resolved too, at the same versions
and without PyTorch, and what not all of them need has a marker. Hashes are those of all files of a version, so that one lock
serves every platform; those for other interpreters are left out.
"""

import json
import re
import subprocess
import sys
import tomllib
import urllib.request
from datetime import date
from pathlib import Path

from pip._internal.models.index import PyPI

HERE = Path(__file__).parent
BUILD = ["hatchling", "editables"]  # what installing the package itself needs; there is no isolated build that floats
TORCHLESS = ".[dev,exponax,zarr,onnx,dask]"
GROUPS = {"base": ".", "dev": ".[dev,exponax,lab,lightning,zarr,torch,onnx,dask]", "docs": ".[docs]"}
HEAD = f"# Written by lock.py on {date.today()}; pyproject.toml states the honest ranges.\n"


def resolved(python: str, wanted: list[str], constraints: Path) -> dict[str, tuple[str, str]]:
    """Name → (version, hash of the file that pip would take here), for what `wanted` needs."""
    command = [python, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    printed = subprocess.run(
        [*command, "--constraint", str(constraints), *wanted],
        check=True,
        capture_output=True,
        text=True,
        cwd=HERE.parent,
    ).stdout
    packages = {}
    for item in json.loads(printed)["install"]:
        name = re.sub(r"[-_.]+", "-", item["metadata"]["name"]).lower()
        if name not in ("physrank", "torch"):
            version = item["metadata"]["version"].partition("+")[0]  # a local build is a file of its public version
            packages[name] = (version, item["download_info"]["archive_info"]["hashes"]["sha256"])
    return packages


def hashes(name: str, version: str) -> set[str]:
    """Of every file of this version that the index offers."""
    with urllib.request.urlopen(f"{PyPI.simple_url}/{name}/") as answer:
        links = re.findall(r'href="[^"#]*/([^"#/]+)#sha256=([0-9a-f]{64})"', answer.read().decode())
    stem = rf"{re.sub('[-_.]+', '[-_.]+', name)}-{re.escape(version)}"
    file = re.compile(stem + r"(-(.*-)?(py[23.py]*|cp31[1-3]|cp3\d*-abi3)-.*\.whl|\.tar\..*|\.zip)", re.IGNORECASE)
    return {digest for name, digest in links if file.fullmatch(urllib.request.unquote(name))}


def spoken(python: str) -> str:
    """The interpreter's own major.minor."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def locked(group: str, pythons: dict[str, str], pins: Path) -> list[str]:
    """The lines of one file: a marker stands only where some of the interpreters do without the package."""
    needs: dict[tuple[str, str], set[str]] = {}
    digests: dict[tuple[str, str], set[str]] = {}
    for spoken_as, python in pythons.items():
        torchless = group == "dev" and python != sys.executable
        for name, (version, digest) in resolved(
            python, [*BUILD, TORCHLESS if torchless else GROUPS[group]], pins
        ).items():
            needs.setdefault((name, version), set()).add(spoken_as)
            digests.setdefault((name, version), hashes(name, version)).add(digest)
    lines = []
    for (name, version), wanted_by in sorted(needs.items()):
        marker = " or ".join(f"python_version == '{each}'" for each in sorted(wanted_by))
        line = f"{name}=={version}" + (f" ; {marker}" if wanted_by < set(pythons) else "")
        lines.append(
            " \\\n    ".join([line, *(f"--hash=sha256:{digest}" for digest in sorted(digests[name, version]))])
        )
    return lines


def oldest() -> list[str]:
    """Every lower bound that the instrument and its tests state, as a pin."""
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
    extras = re.split(r"\W+", TORCHLESS)[1:-1]
    stated = sum((project["optional-dependencies"][extra] for extra in extras), project["dependencies"])
    return [*BUILD, *(each.replace(">=", "==") for each in stated)]


def main(others: list[str]) -> None:
    every = resolved(sys.executable, [*BUILD, *GROUPS.values()], HERE / "held.txt")
    pins = HERE / ".pins.txt"
    pins.write_text("".join(f"{name}=={version}\n" for name, (version, _) in every.items()))
    pythons = {spoken(python): python for python in [sys.executable, *others]}
    for group in GROUPS:
        lines = locked(group, pythons, pins)
        (HERE / f"{group}.txt").write_text(HEAD + "\n".join(lines) + "\n")
        print(f"{group}.txt: {len(lines)} packages", flush=True)
    pins.unlink()


if __name__ == "__main__":
    if sys.argv[1:] == ["--oldest"]:
        print(*oldest(), sep="\n")
    else:
        main(sys.argv[1:])
