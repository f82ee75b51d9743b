"""Steady Navier–Stokes: a lid-driven cavity in Taylor–Hood elements; scikit-fem assembles residual and Jacobian."""

import numpy as np
import skfem
from scipy import sparse
from skfem.helpers import ddot, div, dot, grad, mul

import physrank as pr

REYNOLDS = 100.0
mesh = skfem.MeshTri.init_tensor(*2 * [(1 - np.cos(np.linspace(0, np.pi, 15))) / 2])
velocity = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTriP2()), intorder=4)
pressure = velocity.with_element(skfem.ElementTriP1())
viscous = skfem.BilinearForm(lambda u, v, _: ddot(grad(u), grad(v)) / REYNOLDS).assemble(velocity)
divergence = skfem.BilinearForm(lambda u, q, _: div(u) * q).assemble(velocity, pressure)
stokes = sparse.block_array([[viscous, -divergence.T], [-divergence, None]], format="csr")
number = velocity.N

# Fixed: the velocity on the boundary (1 along the lid, 0 elsewhere), and the pressure at one corner.
fixed = np.append(velocity.get_dofs().flatten(), number)
free = sparse.diags_array(np.where(np.isin(np.arange(stokes.shape[0]), fixed), 0.0, 1.0))
values = np.zeros(stokes.shape[0])
values[velocity.get_dofs(lambda x: x[1] == 1.0).all("u^1")] = 1.0


@skfem.LinearForm
def carried(v, w):
    return dot(mul(grad(w.u), w.u), v)


@skfem.BilinearForm
def carried_slope(u, v, w):
    return dot(mul(grad(u), w.u) + mul(grad(w.u), u), v)


def residual(state):
    flow = velocity.interpolate(state[:number])
    inside = stokes @ state + np.append(carried.assemble(velocity, u=flow), np.zeros(pressure.N))
    return free @ inside + (sparse.eye_array(len(state)) - free) @ (state - values)


def jacobian(state):
    slope = carried_slope.assemble(velocity, u=velocity.interpolate(state[:number]))
    inside = stokes + sparse.block_diag([slope, sparse.csr_array((pressure.N, pressure.N))])
    return free @ inside + (sparse.eye_array(len(state)) - free)


problem = pr.Assembled(residual, jacobian, shape=values.shape)
solution = problem.solve(values)

# Predictions: flows at other Reynolds numbers, and one with noise; what counts is the velocity, in its L² norm.
rng = np.random.default_rng(0)
slow = sparse.linalg.spsolve((free @ stokes + (sparse.eye_array(len(values)) - free)).tocsc(), values)
candidates = {
    "Stokes flow": slow,
    "between": 0.7 * solution.state + 0.3 * slow,
    "noisy": solution.state + 0.01 * rng.standard_normal(len(values)) * (free @ np.ones(len(values))),
}
mass = skfem.BilinearForm(lambda u, v, _: dot(u, v)).assemble(velocity)
ranking = pr.rank(problem, candidates, task=pr.tasks.linear(lambda state: state[:number], pr.metrics.gram(mass)))

if __name__ == "__main__":
    print(ranking)
