"""A ranking as an `xarray.Dataset`, from its dictionary and arrays."""

from typing import Any

import numpy as np

from physrank import _optional


def dataset(result: dict[str, Any], arrays: dict[str, Any]) -> Any:
    """Scores, gaps, uncertainties and fields with candidate names as coordinates."""
    names = list(arrays["names"])
    axes = [f"task_{k}" for k in range(arrays["proxy"].ndim)]
    pair = ("candidate", "other")
    return _optional.load("xarray").Dataset(
        {
            "score": ("candidate", arrays["scores"]),
            "error_estimate": ("candidate", arrays["estimates"]),
            "excluded": ("candidate", ~np.isfinite(arrays["scores"])),
            "gap": (pair, arrays["gaps"]),
            "gap_uncertainty": (pair, arrays["uncertainty"]),
            "settled": (pair, arrays["settled"]),
            "output": (("candidate", *axes), arrays["outputs"]),
            "proxy": (axes, arrays["proxy"]),
            "state": ([f"state_{k}" for k in range(arrays["state"].ndim)], arrays["state"]),
        },
        coords={"candidate": names, "other": names},
        attrs={
            "task": result["task"],
            "anchor": result["anchor"],
            "unresolved": result["unresolved"] or "",
            "physrank": result["physrank"],
        },
    )
