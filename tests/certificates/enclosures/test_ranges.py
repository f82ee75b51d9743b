"""A program over a box holds every value of the function, in 50 digits; what cannot be enclosed is named."""

import operator

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from physrank.certificates.enclosures import ranges
from physrank.certificates.enclosures.operations import Unenclosed
from physrank.certificates.enclosures.programs import program_of
from physrank.certificates.enclosures.rounding import Interval

N = 4
MATRIX = np.random.default_rng(5).standard_normal((N, N))
mp = mpmath.mpf


def elementary(x, m):
    odd = jnp.tanh(x[::-1]) + jnp.sinh(x) * jnp.tan(jnp.cosh(x) / 8)
    return m @ x + jnp.sin(x) * jnp.exp(-(x**2)) + odd + jnp.sqrt(1 + x * x) / (3 + jnp.cos(x))


def elementary_exactly(x, m):
    mixed = [mpmath.fsum(m[i][k] * x[k] for k in range(N)) for i in range(N)]
    smooth = [mpmath.sin(v) * mpmath.exp(-(v**2)) + mpmath.sqrt(1 + v * v) / (3 + mpmath.cos(v)) for v in x]
    odd = [mpmath.tanh(w) + mpmath.sinh(v) * mpmath.tan(mpmath.cosh(v) / 8) for v, w in zip(x, x[::-1], strict=True)]
    return [a + b + c for a, b, c in zip(mixed, smooth, odd, strict=True)]


def moved(x, m):
    y = jnp.pad(x[1:] - x[:-1], (0, 1)).at[1].set(x[2] ** 3) + jnp.where(jnp.arange(N) > 1, x, 2 * jnp.roll(x, 1))
    return y + jnp.concatenate([x[:2], jnp.zeros(2)]) + jnp.cumsum(x) + jnp.sum(m, axis=0).at[0].add(x[3])


def moved_exactly(x, m):
    differences = [x[k + 1] - x[k] for k in range(N - 1)] + [0]
    differences[1] = x[2] ** 3
    chosen = [x[k] if k > 1 else 2 * x[k - 1] for k in range(N)]
    columns = [mpmath.fsum(m[i][k] for i in range(N)) + (x[3] if k == 0 else 0) for k in range(N)]
    return [
        differences[k] + chosen[k] + (x[k] if k < 2 else 0) + mpmath.fsum(x[: k + 1]) + columns[k] for k in range(N)
    ]


def nested(x, m):
    def turn(carry, row):
        after = carry + row * jax.nn.sigmoid(carry)
        return after, after[0]

    last, seen = jax.lax.scan(turn, x, m)
    return jax.jit(lambda a: a * jnp.log(5.0 + a**2) - jnp.sum(seen))(last) + jnp.einsum("ij,j,j->i", m, x, x)


def nested_exactly(x, m):
    u, seen = list(x), []
    for row in m:
        u = [a + r / (1 + mpmath.exp(-a)) for a, r in zip(u, row, strict=True)]
        seen.append(u[0])
    quadratic = [mpmath.fsum(m[i][k] * x[k] ** 2 for k in range(N)) for i in range(N)]
    return [a * mpmath.log(5 + a**2) - mpmath.fsum(seen) + q for a, q in zip(u, quadratic, strict=True)]


CASES = [(elementary, elementary_exactly), (moved, moved_exactly), (nested, nested_exactly)]


def derivative(program):
    value = ranges.plain(program)
    return program_of(lambda x, m: jax.jacfwd(lambda v: value(v, m)[0])(x), np.ones(N), MATRIX)[0]


@pytest.mark.parametrize("radius", [0.0, 1e-9, 0.1])
@pytest.mark.parametrize(("function", "exact"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_values_and_derivatives_are_inside(function, exact, radius):
    random = np.random.default_rng(1)
    middle = random.standard_normal(N)
    box = Interval(middle - radius, middle + radius)
    program = program_of(function, middle, MATRIX)[0]
    values, slopes = (ranges.over(p, [box, MATRIX])[0] for p in (program, derivative(program)))
    matrix = [[mp(float(v)) for v in row] for row in MATRIX]
    with mpmath.workdps(50):
        for _ in range(5):
            ends = [[mp(float(v)) for v in end] for end in (box.low, box.high)]
            x = [a + mp(random.random()) * (b - a) for a, b in zip(*ends, strict=True)]
            for k, value in enumerate(exact(x, matrix)):
                assert values.low[k] <= value <= values.high[k]
            for j in range(N):
                h = [mp(10) ** -20 * (k == j) for k in range(N)]
                ends = [exact([a + s * b for a, b in zip(x, h, strict=True)], matrix) for s in (1, -1)]
                for k in range(N):
                    slope = (ends[0][k] - ends[1][k]) / (2 * h[j])
                    assert slopes.low[k, j] - 1e-20 <= slope <= slopes.high[k, j] + 1e-20
    if radius == 0:
        assert np.max(values.high - values.low) < 1e-12 and np.max(slopes.high - slopes.low) < 1e-12


def transformed(x):
    return jnp.fft.irfft(jnp.fft.rfft(x), n=N)


def looped(x):
    return jax.lax.while_loop(lambda u: jnp.sum(u) > 1, lambda u: u / 2, x)


def bent(x):
    return jnp.where(x > 0.5, x, -x)


def singular(x):
    return 1 / (x - 0.5)


def rooted(x):
    return jnp.sqrt(x - 0.5)


COMPARED = (operator.lt, operator.le, operator.ge, operator.eq, operator.ne)


def long(x):
    return jax.lax.fori_loop(0, 5000, lambda _, u: u * 0.5, x)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (transformed, "'fft'"),
        (looped, "'while'"),
        (bent, "comparison"),
        *((lambda x, less=less: jnp.where(less(x, 0.5), x, -x), "comparison") for less in COMPARED),
        (singular, "divisor may be zero"),
        (rooted, "may be negative"),
        (lambda x: jnp.log(x - 0.5), "may be zero or negative"),
        (lambda x: jnp.sign(x - 0.5), "a kink inside the box"),
        (long, "a loop of 5000 turns"),
        (lambda x: x + jax.lax.reduce(x, 0.0, lambda a, b: a + b, (0,)), "'reduce'"),  # no call of what is inside it
        (lambda x: x.at[0].apply(jnp.cos), "a function of what is there"),
    ],
)
def test_what_cannot_be_enclosed_is_named(function, said):
    with pytest.raises(Unenclosed, match=said):
        ranges.over(program_of(function, np.full(N, 0.5))[0], [Interval(np.full(N, 0.4), np.full(N, 0.6))])


@jax.custom_jvp
def lying(x):
    return x**2


@lying.defjvp
def _lying(primals, tangents):
    return lying(primals[0]), 0 * tangents[0]


@pytest.mark.parametrize("function", [lying, lambda x: jax.lax.stop_gradient(x) ** 2])
def test_derivatives_are_those_of_the_function_whatever_it_says(function):
    value = ranges.plain(program_of(function, np.ones(2))[0])
    program = program_of(lambda x: jax.jacfwd(lambda v: value(v)[0])(x), np.ones(2))[0]
    found = ranges.over(program, [Interval(np.full(2, 3.0), np.full(2, 4.0))])[0]
    assert np.all(np.diag(found.low) <= 6) and np.all(np.diag(found.high) >= 8)


def test_a_derivative_that_lies_deeper_inside_is_refused():
    """In a loop it would be asked for by JAX itself."""
    value = ranges.plain(program_of(lambda x: jax.lax.fori_loop(0, 2, lambda _, u: lying(u), x), np.ones(2))[0])
    with pytest.raises(Unenclosed, match="a custom derivative inside"):
        program_of(lambda x: jax.jacfwd(lambda v: value(v)[0])(x), np.ones(2))


def test_the_absolute_value_of_both_signs_begins_at_zero():
    found = ranges.over(program_of(jnp.abs, np.ones(2))[0], [Interval(np.array([-1.0, 1]), np.array([2.0, 2]))])[0]
    assert found.low.tolist() == [0, 1] and found.high.tolist() == [2, 2]


def test_a_kink_is_passed_where_the_box_is_on_one_side():
    program = program_of(lambda x: jnp.maximum(x, 0.0) + jnp.abs(x), np.ones(2))[0]
    value = ranges.plain(program)
    slopes = program_of(lambda x: jax.jacfwd(lambda v: value(v)[0])(x), np.ones(2))[0]
    box = Interval(np.array([0.5, -2.0]), np.array([1.0, -1.0]))
    np.testing.assert_allclose(np.diag(ranges.over(slopes, [box])[0].middle), [2.0, -1.0])
    with pytest.raises(Unenclosed):
        ranges.over(slopes, [Interval(np.full(2, -0.1), np.full(2, 0.1))])


def test_constants_are_not_trusted_to_the_last_bit():
    found = ranges.over(program_of(lambda x: x * 0.1, np.ones(1))[0], [np.array([3.0])])[0]
    assert mp(float(found.low[0])) <= mp(3) / 10 <= mp(float(found.high[0]))
    whole = ranges.over(program_of(lambda x: x * 2.0, np.ones(1))[0], [np.array([3.0])])[0]
    assert whole.high[0] - whole.low[0] < 4e-15


def test_numbers_that_are_not_finite_are_refused():
    program = program_of(lambda x: x + np.nan, np.ones(1))[0]
    with pytest.raises(Unenclosed, match="not finite"):
        ranges.over(program, [np.ones(1)])


def test_a_constant_may_have_been_rounded_several_times():
    power = float(np.prod(np.full(12, 1.1)))
    found = ranges.over(program_of(lambda x: x * power, np.ones(1))[0], [np.array([3.0])])[0]
    with mpmath.workdps(40):
        assert found.low[0] <= 3 * (mp(11) / 10) ** 12 <= found.high[0]
