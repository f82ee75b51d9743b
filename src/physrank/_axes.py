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

    Two axes of one length that are both space are taken as x before y; time and space of one length tell nothing.
    """
    found: list[str | None] = [None] * len(shape)
    if "t" in lengths and sum(n == lengths["t"] for n in shape) > 1:
        return None
    for name in ("t", *SPACE):
        if name in lengths:
            place = next((k for k, n in enumerate(shape) if n == lengths[name] and found[k] is None), None)
            if place is None:
                return None
            found[place] = name
    if not any(name in SPACE for name in found):
        return None
    left = [k for k, name in enumerate(found) if name is None]
    first_space = min(k for k, name in enumerate(found) if name in SPACE)
    for k in left:
        after_time = "t" in found and k > found.index("t")
        found[k] = "channel" if k == len(shape) - 1 or (after_time and k < first_space) else "sample"
    named = [name for name in found if name]
    if len({role(name) for name in named if name not in SPACE}) < sum(name not in SPACE for name in named):
        return None
    return tuple(named)
