"""What problems on the host cost: seconds and peak memory, each case in a process of its own.

python bench/host.py            # all cases
python bench/host.py helmholtz  # one, in this process
"""

import resource
import subprocess
import sys
import time

import numpy as np
import skfem
from scipy import sparse
from skfem.models.poisson import laplace, mass, unit_load

import physrank as pr


def helmholtz(points=100, networks=19, wavenumber=30.0):
    """An indefinite operator on 100 × 100 points, 19 candidates, all pairs."""
    spacing = 1 / (points + 1)
    second = sparse.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(points, points)) / spacing**2
    matrix = -sparse.kronsum(second, second) - wavenumber**2 * sparse.eye_array(points**2)
    x = spacing * np.arange(1, points + 1)
    source = np.exp(-50 * ((x[:, None] - 0.3) ** 2 + (x - 0.6) ** 2))
    return lambda: pr.Linear(matrix, source), library((points, points), 1e-4, networks)


def mesh(unknowns=100_000):
    """Poisson's equation in P1 elements on an irregular mesh of 10⁵ unknowns, in the norm of its mass matrix."""
    side = int(np.sqrt(unknowns))
    regular = skfem.MeshTri.init_tensor(*2 * [np.linspace(0, 1, side + 1)])
    inside = ~np.isin(np.arange(regular.p.shape[1]), regular.boundary_nodes())
    shifts = 0.2 / side * np.random.default_rng(0).standard_normal(regular.p.shape) * inside
    basis = skfem.Basis(skfem.MeshTri(regular.p + shifts, regular.t), skfem.ElementTriP1())
    stiffness, load = skfem.enforce(laplace.assemble(basis), unit_load.assemble(basis), D=basis.get_dofs())
    gram = mass.assemble(basis)
    return lambda: pr.Linear(stiffness, load, mass=gram), library(load.shape, 0.05, 8)


def library(shape, size, number):
    rng = np.random.default_rng(0)
    return {f"network {k}": size * 1.2**k * rng.standard_normal(shape) for k in range(number)}


CASES = {"helmholtz": helmholtz, "mesh": mesh}


def measure(name):
    stated, candidates = CASES[name]()
    started = time.perf_counter()
    _ = pr.rank, pr.Linear  # names load when they are first used
    loading, started = time.perf_counter() - started, time.perf_counter()
    ranking = pr.rank(stated(), candidates)
    seconds = time.perf_counter() - started
    assert ranking.settled and ranking.settled_pairs.all()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name}: {ranking.state.size} unknowns, {len(candidates)} candidates: {seconds:.2f} s (and {loading:.2f} s to load "
        f"the package), peak {peak:.0f} MB "
        f"(with all that is imported), every pair settled"
    )


if __name__ == "__main__":
    if sys.argv[1:]:
        measure(sys.argv[1])
    else:
        for case in CASES:
            subprocess.run([sys.executable, __file__, case], check=True)
