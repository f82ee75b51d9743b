"""Derivatives of a defect on a small state, as tensors, and how far it is from a polynomial of a stated degree."""

import math
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array as JaxArray

from physrank import compute
from physrank.geometry.space import Array
from physrank.physics import Problem


def jacobian(problem: Problem, at: JaxArray) -> JaxArray:
    return jax.jacfwd(_flat(problem, at))(at.ravel())


def hessian(problem: Problem, at: JaxArray) -> JaxArray:
    """The second derivative at v; its Frobenius norm is an upper bound of its norm."""
    return jax.jacfwd(jax.jacfwd(_flat(problem, at)))(at.ravel())


def third_derivative(problem: Problem, at: JaxArray) -> JaxArray:
    """An upper bound of ‖A'''(v)‖, accumulated direction by direction: the tensor itself would be large."""
    flat = _flat(problem, at)

    def slice_energy(direction: JaxArray) -> JaxArray:
        along = jax.jacfwd(lambda x: jax.jvp(flat, (x,), (direction,))[1])
        return jnp.sum(jax.jacfwd(along)(at.ravel()) ** 2)

    return jnp.sqrt(jnp.sum(jax.lax.map(slice_energy, jnp.eye(at.size))))


def departure(problem: Problem, at: Array, degree: int) -> float:
    """‖A(v + h) − Taylor polynomial‖ relative to its terms, for one random h of the size of v."""
    size = float(np.abs(at).max()) or 1.0
    along = size * np.random.default_rng(0).standard_normal(at.shape)
    reached, terms = compute.run(_taylor_terms, problem, at, along, degree)
    scale = sum(float(np.linalg.norm(term)) for term in terms)
    return float(np.linalg.norm(reached - sum(terms))) / (scale or 1.0)


def _taylor_terms(problem: Problem, at: JaxArray, along: JaxArray, degree: int) -> tuple[JaxArray, list[JaxArray]]:
    """A(v + h), and the terms of its Taylor polynomial in h."""
    term = lambda t: problem.defect(at + t * along)  # noqa: E731
    reached, terms = term(jnp.ones(())), []
    for k in range(degree + 1):
        terms.append(term(jnp.zeros(())) / math.factorial(k))
        term = partial(_slope, term)
    return reached, terms


def _slope(function: Callable[[JaxArray], JaxArray], t: JaxArray) -> JaxArray:
    return jax.jvp(function, (t,), (jnp.ones(()),))[1]


def _flat(problem: Problem, at: JaxArray):
    return lambda x: problem.defect(x.reshape(at.shape)).ravel()
