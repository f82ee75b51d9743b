"""The built-in equations as the command line knows them, by their hyphenated names. No equation is imported here."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from physrank.cli.naming import unknown


@dataclass(frozen=True)
class Entry:
    """How an equation is stated from files, flags and a problem file."""

    kind: str  # its class in physrank.equations
    formula: str
    task: str
    numbers: Mapping[str, tuple[str, str]]  # constructor's keyword → (value in a new problem file, what it is)
    fields: tuple[str, ...] = ()  # arguments that may be arrays: --data
    rows: tuple[str, ...] = ("initial",)  # what the channels of the first row are called
    marches: bool = True
    nodes: bool = False  # its grid has points on both ends
    conserves: bool = (
        False  # states that files hold as density, velocities and pressure are brought to what it conserves
    )
    stored: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # keyword → what files call it


GRID = ("length", "points", "dims")
SUBSTEPS = ('"auto"', "time steps between frames: a whole number, or chosen from the data")

CATALOGUE: dict[str, Entry] = {
    "burgers": Entry(
        "Burgers",
        "u_t − ν u_xx + u u_x = f on a periodic interval",
        "terminal",
        {
            "length": ("6.283185307179586", "of the interval"),
            "points": ("384", "of the common grid; at least as many as your files have"),
            "viscosity": ("0.01", "ν > 0"),
            "substeps": SUBSTEPS,
        },
        fields=("forcing",),
        stored={"viscosity": ("viscosity",)},
    ),
    "sine-gordon": Entry(
        "SineGordon",
        "u_t = v, v_t = c² u_xx − sin u + f on a periodic interval; states hold u and v",
        "terminal",
        {
            "length": ("6.283185307179586", "of the interval"),
            "points": ("384", "of the common grid; at least as many as your files have"),
            "speed": ("1.0", "c > 0"),
            "substeps": SUBSTEPS,
        },
        fields=("forcing",),
        rows=("initial", "velocity"),
    ),
    "diffusion-reaction": Entry(
        "DiffusionReaction",
        "u_t = D_u Δu + u − u³ − k − v, v_t = D_v Δv + u − v on a square without flux; states hold u and v",
        "terminal",
        {
            "length": ("2.0", "of a side"),
            "diffusion": ("[1e-3, 5e-3]", "D_u and D_v"),
            "threshold": ("5e-3", "k"),
        },
        stored={"diffusion": ("Du", "Dv"), "threshold": ("k",)},
    ),
    "compressible-flow": Entry(
        "CompressibleFlow",
        "an ideal gas, 1-D or 2-D; states hold density, momenta and energy, or density, velocities and pressure by name",
        "trajectory",
        {
            "length": ("1.0", "of each side"),
            "boundary": ('"periodic"', 'or "outflow"'),
            "gamma": ("1.6666666666666667", "ratio of specific heats"),
            "shear": ("0.0", "viscosity η"),
            "bulk": ("0.0", "viscosity ζ"),
            "substeps": SUBSTEPS,
            "difference": ("1e-4", "relative step of finite differences; without it, the exact derivative"),
        },
        stored={"shear": ("eta",), "bulk": ("zeta",), "gamma": ("gamma",)},
        conserves=True,
    ),
    "reaction-diffusion": Entry(
        "ReactionDiffusion",
        "−∇·(a ∇u) + λ u + γ u³ = f on a box, u = 0 on its boundary; states include boundary nodes",
        "field",
        {
            "length": ("1.0", "of the first side"),
            "points": ("128", "interior nodes per side, where diffusion and forcing are numbers"),
            "dims": ("2", "of the box, likewise"),
            "diffusion": ("1.0", "a > 0: a number, or a field on all nodes by --data diffusion=FILE"),
            "forcing": ("1.0", "f: likewise"),
            "linear": ("1.0", "λ ≥ 0"),
            "cubic": ("0.5", "γ ≥ 0"),
        },
        fields=("diffusion", "forcing"),
        rows=(),
        marches=False,
        nodes=True,
    ),
}


def entry(name: str) -> Entry:
    """By its hyphenated name; underscores and capitals are forgiven, other slips named."""
    plain = name.strip().lower().replace("_", "-").replace(" ", "-")
    if plain in ("exponax-stepper", "exponax"):
        raise ValueError(
            "An exponax stepper is a Python object. Build it in a file of your own: --python my_pde.py:problem_of."
        )
    if ".py" in name or ":" in name:
        raise ValueError(
            f"{name!r} is no built-in equation; one of your own is named on the line by --python FILE.py:FUNCTION."
        )
    if plain not in CATALOGUE:
        raise unknown("equation", name, CATALOGUE)
    return CATALOGUE[plain]
