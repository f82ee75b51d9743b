"""Stored predictions: one labelled netCDF file per library and population, written once, read by every study."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from physrank._io import write_whole
from physrank.lab.libraries import GROUPS, AnyLibrary, Profile, RolloutLibrary
from physrank.lab.store.files import StoreError, digest, sha256

STORED_POPULATIONS = ("evaluation", "panel", "deployment")  # of the primary libraries
LONG_POPULATIONS = (
    "selection",
    "service",
)  # of the additional ones, beside the inputs on which candidates are compared


def count(profile: Profile, population: str) -> int:
    if population == "panel":
        return profile.panels * profile.panel_size
    if population == "selection":
        return profile.long_panels * profile.long_size
    return {"deployment": profile.deployment, "service": profile.service}.get(population, profile.evaluation)


def path(store: Path, profile: Profile, library: AnyLibrary, population: str, realization: str = "native") -> Path:
    return store / profile.name / library.name / f"{population}-{realization}.nc"


def identity(profile: Profile, library: AnyLibrary, population: str, realization: str) -> dict[str, Any]:
    """What a prediction file must say of itself; a file that says something else is another library's."""
    runs = [library.settings(profile, run) for run in range(library.runs)]
    return {
        "library": library.name,
        "profile": profile.name,
        "population": population,
        "realization": realization,
        "inputs": count(library.sized(profile), population),
        "settings": digest(runs),
        "input_fingerprint": library.declared.input_fingerprint,
    }


def content(
    store: Path, profile: Profile, library: AnyLibrary, population: str, realization: str = "native"
) -> dict[str, Any]:
    """`identity` with a hash of the stored file: what anything computed from the predictions depends on."""
    source = path(store, profile, library, population, realization)
    if not source.exists():
        raise StoreError(_absent(source, profile, library))
    return identity(profile, library, population, realization) | {"sha256": sha256(source)}


def _absent(source: Path, profile: Profile, library: AnyLibrary) -> str:
    return f"{source} does not exist. Run `physrank train {library.name} --profile {profile.name}` with this --store."


def wanted(library: AnyLibrary) -> list[tuple[str, str]]:
    """(population, realization) of every file the studies read of a library."""
    if isinstance(library, RolloutLibrary) or library not in GROUPS["primary"]:
        more = LONG_POPULATIONS if library in GROUPS["additional"] else ()
        return [(name, "native") for name in (library.instances, *more)]
    again = [("evaluation", "reinferred")] if library.declared.reinferred else []
    return [(name, "native") for name in STORED_POPULATIONS] + again


def write(
    store: Path,
    profile: Profile,
    library: AnyLibrary,
    population: str,
    realization: str,
    states: np.ndarray,
    strata: list[str],
    validation: list[float],
    weights: Sequence[str] = (),
) -> Path:
    """`states` is `(inputs, candidates, *state)`; `weights` are the hashes of the checkpoints they come from."""
    names = [name for name, _, _ in library.candidates(profile)]
    dataset = xr.Dataset(
        {
            "prediction": (("input", "candidate", *library.declared.axes), np.asarray(states, np.float32)),
            "validation_loss": (("candidate",), np.asarray(validation)),
        },
        coords={"input": np.arange(len(states)), "candidate": names, "stratum": ("input", strata)},
        attrs=identity(profile, library, population, realization) | {"weights": digest(list(weights))},
    )
    target = path(store, profile, library, population, realization)
    return write_whole(target, lambda p: dataset.to_netcdf(p, engine="h5netcdf"))


def read(
    store: Path, profile: Profile, library: AnyLibrary, population: str, realization: str = "native"
) -> xr.Dataset:
    """The whole file in memory, after checking that it is what it should be."""
    source = path(store, profile, library, population, realization)
    if not source.exists():
        raise StoreError(_absent(source, profile, library))
    try:
        with xr.open_dataset(source, engine="h5netcdf") as file:
            dataset = file.load()
    except ImportError as problem:
        raise StoreError(f'Stored predictions need `pip install "physrank[lab]"` ({problem}).') from None
    except Exception as problem:  # HDF5 reports damage in many ways
        raise StoreError(
            f"{source} is not a readable netCDF file ({problem}). Delete it and run `physrank train`."
        ) from None
    expected = identity(profile, library, population, realization)
    different = [key for key in expected if dataset.attrs.get(key) != expected[key]]
    if different:
        key = different[0]
        raise StoreError(
            f"{source} holds other predictions: {key} is {dataset.attrs.get(key)}, expected {expected[key]}. "
            "Use another --store, or delete the file."
        )
    if wrong := _wrong(dataset, profile, library, expected["inputs"], realization):
        raise StoreError(f"{source} is damaged: {wrong}. Delete it and run `physrank train`.")
    return dataset


def _wrong(dataset: xr.Dataset, profile: Profile, library: AnyLibrary, inputs: int, realization: str) -> str | None:
    """What in a file contradicts what it says of itself."""
    names, equation = [name for name, _, _ in library.candidates(profile)], library.declared
    if missing := {"prediction", "validation_loss", "candidate", "stratum"} - set(map(str, dataset.variables)):
        return f"it has no {sorted(missing)[0]}"
    if [str(name) for name in dataset["candidate"].values] != names:
        return f"its candidates are {list(dataset['candidate'].values)}, expected {names}"
    if [str(name) for name in dataset["stratum"].values] != library.strata(inputs):
        return "its inputs belong to other strata"
    found, losses = dataset["prediction"], dataset["validation_loss"]
    if found.dims != (axes := ("input", "candidate", *equation.axes)):
        return f"its fields have axes {found.dims}, expected {axes}"
    if found.shape != (shape := (inputs, len(names), *library.state_shape(profile, realization))):
        return f"its fields have shape {found.shape}, expected {shape}"
    if not (np.isfinite(found.values).all() and np.isfinite(losses.values).all()):
        return "a prediction or a validation loss is not finite"
    return None
