"""The import order of the project, kept true by reading its syntax trees."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "physrank"

# A room may import itself and the rooms before it.
ORDER = [
    "_io",
    "_later",
    "_optional",
    "_renamed",
    "_version",
    "_axes",
    "_division",
    "_compiling",
    "_programs",
    "compute",
    "_arrays",
    "geometry",
    "report",
    "physics",
    "equations",
    "tasks",
    "rungs",
    "certificates",
    "scale",
    "ranking",
    "readers",
    "models",
    "_public",
    "lab",
    "cli",
    "__main__",
]
INSTRUMENT = ORDER[: ORDER.index("lab")]  # of which `_public` sees all
LABORATORY_ONLY = {"torch", "neuralop"}  # and of these, only modules that name them in their docstring's requirements
OPTIONAL = LABORATORY_ONLY | {
    "exponax",
    "safetensors",
    "onnx",
    "onnxruntime",
    "lightning",
    "dask",
    "distributed",
    "cloudpickle",
}


def room(path: Path) -> str:
    relative = path.relative_to(SOURCE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imports(path: Path, tree: ast.AST):
    """Every imported module as a dotted name, with the depth at which it stands."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        # `if TYPE_CHECKING:` at the top of a module hides nothing from readers
        yield from ((name, isinstance(parents[node], ast.Module | ast.If)) for name in names)


def violations(path: Path, text: str):
    here = room(path)
    for name, top_level in imports(path, ast.parse(text)):
        first = name.split(".")[0]
        if first == "physrank":
            if not top_level:
                yield f"imports {name} inside a function"
            target = name.split(".")[1] if "." in name else "__init__"
            if here == "__init__":
                if target in ("lab", "cli"):
                    yield f"imports {name}: the instrument must not see the laboratory"
            elif target in ORDER and ORDER.index(target) > ORDER.index(here):
                yield f"imports {name}, which comes after it"
            elif target not in ORDER and here != "cli":
                yield f"imports {name} through the package root"
            if "references" in path.parts and target in ("physics", "equations", "ranking"):
                yield f"imports {name}: a reference must not share the instrument's discretisations"
        elif first in OPTIONAL and here in [*INSTRUMENT, "__init__"]:
            yield f"imports the optional package {first}"


DOORS = {  # who may compile, and who may set a precision
    "jit": ("compute.py", "_programs.py"),
    "filter_jit": ("compute.py", "_programs.py"),
    "pmap": ("compute.py", "_programs.py"),
    "enable_x64": ("compute.py", "scale/worker.py"),  # a worker computes as its client does
}


def side_doors(place: str, text: str) -> list[str]:
    used = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)]
    named = [node.attr for node in used if isinstance(node.value, ast.Name) and node.value.id in ("jax", "eqx")]
    return [name for name in named if name in DOORS and place not in DOORS[name]]


FILES = sorted(SOURCE.rglob("*.py"))


def test_one_door_computes():
    for path in FILES:
        assert side_doors(path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8")) == [], path
    assert side_doors("models/running.py", "@eqx.filter_jit\ndef f(): ...") == ["filter_jit"]
    assert side_doors("_arrays.py", "with jax.enable_x64(True): ...") == ["enable_x64"]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    assert list(violations(path, path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_every_file_says_what_lives_there(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_files_stay_readable(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 320


def test_every_room_has_its_place():
    assert {room(path) for path in FILES} <= {*ORDER, "__init__"}


@pytest.mark.parametrize(
    "place, line, complaint",
    [
        ("geometry/space.py", "from physrank.physics import Problem", "comes after"),
        ("equations/burgers.py", "from physrank.ranking import rank", "comes after"),
        ("ranking/rank.py", "from physrank.lab import demo", "comes after"),
        ("__init__.py", "from physrank import lab", "laboratory"),
        ("_public.py", "from physrank import lab", "comes after"),
        ("physics/solvers.py", "import torch", "optional"),
        ("models/running.py", "import torch", "optional"),
        ("scale/cluster.py", "import distributed", "optional"),
        ("scale/cluster.py", "from physrank.ranking import rank_panel", "comes after"),
        ("models/predict.py", "from physrank.lab.models import build", "comes after"),
        ("lab/references/burgers.py", "from physrank.physics.elliptic import DirichletDiffusion", "must not share"),
        ("physics/solvers.py", "def f():\n    from physrank.geometry import TaskSpace", "inside a function"),
    ],
)
def test_sabotage_is_noticed(place, line, complaint):
    assert any(complaint in found for found in violations(SOURCE / place, line))
