"""Finite elements: Poisson's equation on an irregular mesh, assembled by scikit-fem, compared in the mesh's own L² norm."""

import numpy as np
import skfem
from skfem.models.poisson import laplace, mass, unit_load

import physrank as pr

rng = np.random.default_rng(0)
mesh = skfem.MeshTri.init_lshaped().refined(4)
moved = mesh.p + 0.012 * rng.standard_normal(mesh.p.shape) * ~np.isin(np.arange(mesh.p.shape[1]), mesh.boundary_nodes())
basis = skfem.Basis(skfem.MeshTri(moved, mesh.t), skfem.ElementTriP1())
stiffness, load = skfem.enforce(laplace.assemble(basis), unit_load.assemble(basis), D=basis.get_dofs())

# Three predictions of −Δu = 1, u = 0 on the boundary; "exact" to the mesh is not among them.
coarse = skfem.Basis(skfem.MeshTri.init_lshaped().refined(2), skfem.ElementTriP1())
on_coarse = skfem.solve(*skfem.condense(laplace.assemble(coarse), unit_load.assemble(coarse), D=coarse.get_dofs()))
inside = coarse.interpolator(on_coarse)(np.clip(basis.doflocs, -1 + 1e-9, 1 - 1e-9))
x, y = basis.doflocs
candidates = {
    "coarse mesh": inside,
    "rough": inside + 0.02 * rng.standard_normal(len(x)),
    "scaled": 1.3 * inside,
    "bump": 0.15 * np.cos(np.pi * x / 2) * np.cos(np.pi * y / 2),
}

problem = pr.Linear(stiffness, load, mass=mass.assemble(basis))
ranking = pr.rank(problem, candidates)

if __name__ == "__main__":
    print(ranking)
