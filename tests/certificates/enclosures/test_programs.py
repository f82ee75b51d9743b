"""What a function says when it is read: its constants, its operations, and whether it says so twice."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from physrank.certificates.enclosures.programs import affine, digest, honest, program_of, read, reading, said_to_be

X = np.ones(3)


def of(function, *arguments):
    return digest(program_of(function, *(arguments or (X,)))[0])


DIFFERENT = {
    "a constant": (lambda x: x * 0.1, lambda x: x * np.nextafter(0.1, 1)),
    "an array": (lambda x: x + np.array([1.0, 2, 3]), lambda x: x + np.array([1.0, 2, 4])),
    "an operation": (jnp.sin, jnp.cos),
    "the order of operands": (lambda x: x - x**2, lambda x: x**2 - x),
    "an index": (lambda x: x[:2], lambda x: x[1:]),
    "a power": (lambda x: x**2, lambda x: x**3),
    "a constant of a loop": (
        lambda x: jax.lax.fori_loop(0, 3, lambda _, y: y * 0.5, x),
        lambda x: jax.lax.fori_loop(0, 3, lambda _, y: y * 0.25, x),
    ),
    "the length of a loop": (
        lambda x: jax.lax.fori_loop(0, 3, lambda _, y: y * 0.5, x),
        lambda x: jax.lax.fori_loop(0, 4, lambda _, y: y * 0.5, x),
    ),
    "a compiled function inside": (lambda x: jax.jit(lambda y: y * 0.5)(x), lambda x: jax.jit(lambda y: y * 0.25)(x)),
    "where a sum is put": (
        lambda x: x.at[jnp.array([0, 7])].add(1.0, mode="drop"),
        lambda x: x.at[jnp.array([0, 7])].add(1.0, mode="clip"),
    ),
    "what is returned": (lambda x: (x, 2 * x), lambda x: (2 * x, x)),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_programs_that_differ_have_other_digests(what):
    one, other = DIFFERENT[what]
    assert of(one) == of(one) != of(other)


def test_arrays_of_the_arguments_are_no_constants():
    """Compiled programs serve all inputs of a shape; what a function closes over is part of it."""
    assert read(lambda d, x: d * x, 2 * X, X) == read(lambda d, x: d * x, 3 * X, X)
    held = np.ones(3)
    before = read(lambda x: x - held, X)
    held[0] = 2.0
    assert read(lambda x: x - held, X) != before


def test_functions_are_read_once_where_someone_has_read_them():
    with said_to_be("this"):
        assert reading(jnp.sin, X) == "this"
    assert reading(jnp.sin, X) == read(jnp.sin, X) != "this"


@jax.custom_jvp
def lying(x):
    return 2 * x


lying.defjvp(lambda primals, tangents: (lying(*primals), tangents[0]))


@pytest.mark.parametrize("function", [lying, jax.lax.stop_gradient, jax.jit(lying), lambda x: jax.vmap(lying)(x)])
def test_derivatives_that_are_not_the_functions_own_are_noticed(function):
    assert not honest(function, X)
    assert honest(lambda x: jnp.where(x > 0, jnp.sin(x), x**3), X)


AFFINE = {
    "a matrix": lambda x: jnp.eye(3) @ x + 1.0,
    "means of parts": lambda x: jnp.stack([jnp.mean(x[1:]), x[0] / 3.0, -2.0 * x[2]]),
    "differences": lambda x: jnp.diff(jnp.pad(x, 1)) - x[0],
    "a compiled function": lambda x: jax.jit(lambda y, c: c * y)(x, 3.0),
    "a chosen entry": lambda x: x[jnp.array([2, 0])] * jnp.exp(jnp.arange(2.0)),
}
BENT = {
    "a product": lambda x: x * x[0],
    "a square": lambda x: x + 1e-9 * x**2,
    "a quotient": lambda x: 1 / (2 + x),
    "steps": lambda x: x + jnp.round(x),
    "a comparison": lambda x: x + jnp.where(x > 0.5, 1.0, 0.0),
    "a size": jnp.abs,
    "the largest": jnp.max,
    "a product of matrices": lambda x: x @ x,
    "an entry that depends on the state": lambda x: jnp.arange(3.0)[x.astype(int)],
    "a compiled product": lambda x: jax.jit(lambda y, z: y * z)(x, x),
}


@pytest.mark.parametrize(
    ("function", "is_affine"), [*((f, True) for f in AFFINE.values()), *((f, False) for f in BENT.values())]
)
def test_programs_show_whether_they_are_affine(function, is_affine):
    assert affine(function, X) is is_affine
