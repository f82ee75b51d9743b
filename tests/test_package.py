"""What importing the package does, and does not."""

import subprocess
import sys


def test_public_modules_import_by_name():
    code = "from physrank import anchors, metrics, scorers, tasks; import physrank.tasks; scorers.DirectSolve"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nothing_loads_before_it_is_used():
    heavy = ("jax", "numpy", "equinox", "scipy", "xarray", "h5py", "matplotlib")
    code = (
        f"import sys, physrank; assert not [m for m in {heavy} if m in sys.modules];"
        "names = set(dir(physrank)); assert {'rank', 'equations', '__version__'} <= names;"
        "assert not hasattr(physrank, 'nonsense') and not hasattr(physrank, 'lab');"
        "assert set(physrank.__all__) <= names and all(hasattr(physrank, n) for n in physrank.__all__)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_slow_packages_load_when_first_used():
    slow = ("matplotlib", "pandas", "xarray", "mpmath", "torch", "scipy.interpolate", "scipy.special", "h5py", "zarr")
    code = f"import sys, physrank; physrank.rank; assert not (found := sys.modules.keys() & set({slow})), found"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_global_state_is_touched():
    code = (
        "import jax, jax.numpy as jnp, numpy as np, physrank as pr;"
        "assert not jax.config.jax_enable_x64; r = pr.rank(pr.Stationary(lambda u: u - 1), np.zeros((2, 3)));"
        "assert r.scores.dtype == np.float64 and jnp.ones(1).dtype == jnp.float32 and not jax.config.jax_enable_x64;"
        "import sys; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
