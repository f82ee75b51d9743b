"""What the names of axes mean, and the order physrank wants them in."""

from collections.abc import Mapping, Sequence

ROLES = {
    "candidate": ("candidate", "model", "member", "checkpoint"),
    "sample": ("sample", "samples", "trajectory", "trajectories", "batch", "input", "n_trajectories"),
    "time": ("time", "t", "times", "step", "frame", "lead_time"),
    "channel": ("channel", "channels", "component", "components", "variable", "field", "c"),
}
ORDER = (*ROLES, "space")
SPACE = ("x", "y", "z")


def role(dim: str) -> str:
    """candidate, sample, time or channel by its name; every other axis is space."""
    return next((role for role, names in ROLES.items() if dim.lower() in names), "space")


def order(dims: Sequence[str]) -> list[int]:
    """Where each axis of (candidate, sample, time, channel, *space) lies; x, y, z in this order, other space as it lies."""
    named = all(dim in SPACE for dim in dims if role(dim) == "space")

    def place(k: int) -> tuple[int, int]:
        kind = role(dims[k])
        return ORDER.index(kind), SPACE.index(dims[k]) if named and kind == "space" else 0

    return sorted(range(len(dims)), key=place)


def inferred(shape: Sequence[int], lengths: Mapping[str, int]) -> tuple[str, ...] | None:
    """The axes of an unlabelled array by the lengths of the file's coordinates; None where they do not say.

    Two axes of one length that are both space are taken as x before y; time and space of one length tell nothing, and an
    axis before space may count samples or times where no time is given. What is left at the end counts channels.
    """
    found: list[str | None] = [None] * len(shape)
    for length in set(lengths.values()):
        names = [name for name in ("t", *SPACE) if lengths.get(name) == length]
        places = [k for k, n in enumerate(shape) if n == length]
        if len(places) != len(names) or ("t" in names and len(names) > 1):
            return None
        for place, name in zip(places, names, strict=True):
            found[place] = name
    if not any(name in SPACE for name in found):
        return None
    left = [k for k, name in enumerate(found) if name is None]
    first_space = min(k for k, name in enumerate(found) if name in SPACE)
    for k in left:
        if k < len(shape) - 1 and "t" not in found:
            return None  # samples or times
        between = "t" in found and found.index("t") < k < first_space
        found[k] = "channel" if k == len(shape) - 1 or between else "sample"
    named = [name for name in found if name]
    if len({role(name) for name in named if name not in SPACE}) < sum(name not in SPACE for name in named):
        return None
    return tuple(named)
