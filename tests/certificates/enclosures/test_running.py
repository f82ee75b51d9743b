"""Running error bounds against many digits: the value in exact arithmetic is always within the error."""

import itertools

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from physrank.certificates.enclosures import running
from physrank.certificates.enclosures.running import bounded

mp = mpmath.mpf


def exactly(x):
    return [mp(float(v)) for v in x]


def rational(x):
    return (x[1:] * x[:-1] + 3 * x[1:]) / (x[:-1] ** 2 + 1) - x[1:] ** 3


def rational_exactly(x):
    return [(b * a + 3 * b) / (a**2 + 1) - b**3 for a, b in itertools.pairwise(x)]


def summed(x):
    return jnp.stack([jnp.sum(x), jnp.cumsum(x)[-1], x @ x[::-1], jnp.sum(x[2:]) - jnp.sum(x)])


def summed_exactly(x):
    total = mpmath.fsum(x)
    return [total, total, mpmath.fsum(a * b for a, b in zip(x, x[::-1], strict=True)), mpmath.fsum(x[2:]) - total]


def elementary(x):
    return jnp.sin(x) * jnp.exp(-(x**2)) + jnp.cos(x) / jnp.sqrt(x**2 + 1) - jnp.tanh(x) * jnp.log(2 + x**2)


def elementary_exactly(x):
    parts = [(mpmath.sin(v) * mpmath.exp(-(v**2)), mpmath.cos(v) / mpmath.sqrt(v**2 + 1)) for v in x]
    return [a + b - mpmath.tanh(v) * mpmath.log(2 + v**2) for (a, b), v in zip(parts, x, strict=True)]


def marched(x):
    return jax.lax.scan(lambda u, f: (u + (f - u * u) / 8, u), x, jnp.stack([x, 2 * x, -x]))[0]


def marched_exactly(x):
    found = []
    for v in x:
        u = v
        for f in (v, 2 * v, -v):
            u = u + (f - u * u) / 8
        found.append(u)
    return found


def chosen(x):
    picked = jnp.where(jnp.arange(x.size) % 2 == 0, x * x, -x)
    return jnp.pad(picked[jnp.array([3, 1, 0])], 1) + jax.vjp(lambda y: y[1:4] ** 2, x)[1](x[:3] * x[:3])[0][:5]


def chosen_exactly(x):
    picked = [v * v if k % 2 == 0 else -v for k, v in enumerate(x)]
    pulled = [mp(0), *(2 * x[k + 1] * x[k] ** 2 for k in range(3)), mp(0)]
    return [a + b for a, b in zip([mp(0), picked[3], picked[1], picked[0], mp(0)], pulled, strict=True)]


CASES = [
    (rational, rational_exactly),
    (summed, summed_exactly),
    (elementary, elementary_exactly),
    (marched, marched_exactly),
    (chosen, chosen_exactly),
]


def missed(function, exact, scale, seed):
    x = scale * np.random.default_rng(seed).standard_normal(9)
    value, error = bounded(function, x)
    with mpmath.workdps(60):
        off = [abs(mp(float(v)) - t) for v, t in zip(value, exact(exactly(x)), strict=True)]
        return sum(o > e for o, e in zip(off, error, strict=True)), float(max(error) / max(np.abs(value).max(), 1e-300))


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1.0, 30.0, 1e25])
@pytest.mark.parametrize(("function", "exact"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_the_exact_value_is_within_the_error(function, exact, scale):
    for seed in range(5):
        outside, width = missed(function, exact, scale, seed)
        assert outside == 0
        assert width < 1e-11 or scale != 1.0  # and it is no idle bound


def test_without_the_rounding_of_operations_it_would_be_missed(monkeypatch):
    monkeypatch.setattr(running, "W", 0.0)
    monkeypatch.setattr(running, "FUNCTION", 0.0)
    monkeypatch.setattr(running, "CONSTANT", 0.0)
    twin = lambda x: rational(x)  # noqa: E731  (another function is compiled anew)
    assert sum(missed(twin, rational_exactly, 1.0, seed)[0] for seed in range(5)) > 0


def nothing_times(x):
    return jax.lax.integer_pow_p.bind(x - 0.1, y=0)


def test_a_number_times_itself_no_time_is_one_even_where_it_may_be_zero():
    value, error = bounded(nothing_times, np.array([0.1, 3.0]))
    assert np.all(value == 1) and np.all(error < 1e-15)


def tenth(x):
    return x * 0.1


def test_constants_are_not_trusted_to_the_last_bit():
    """0.1 is the rounding of another number: both are within."""
    value, error = bounded(tenth, np.array([3.0]))
    with mpmath.workdps(40):
        assert abs(mp(float(value[0])) - mp(3) / 10) <= error[0]


def looped(x):
    return jax.lax.while_loop(lambda u: jnp.sum(u) > 1, lambda u: u / 2, x)


def transformed(x):
    return jnp.fft.irfft(jnp.fft.rfft(x), n=x.size)


def compared(x):
    return jnp.where(x * x > 0.5, x, -x)


def reduced(x):
    return x + jax.lax.reduce(x, 0.0, lambda a, b: a + b, (0,))  # no call of what is inside it


@pytest.mark.parametrize("function", [looped, transformed, compared, reduced])
def test_what_has_no_rule_has_no_bound(function):
    assert bounded(function, np.linspace(0, 1, 8)) is None


POWER = float(np.prod(np.full(12, 1.1)))  # twelve roundings away from 1.1¹², and more than a product alone is granted


def scaled(x):
    return x * POWER


def test_a_constant_may_have_been_rounded_several_times():
    value, error = bounded(scaled, np.array([3.0]))
    with mpmath.workdps(40):
        off = abs(mp(float(value[0])) - 3 * (mp(11) / 10) ** 12)
        assert running.W * 3 * POWER < off <= error[0]


DOT = {"dimension_numbers": (((0,), (0,)), ((), ()))}
OPERATIONS = {  # by the name of the primitive: what it computes, of how many numbers, and its parameters
    "add": (np.add, 2, {}),
    "sub": (np.subtract, 2, {}),
    "mul": (np.multiply, 2, {}),
    "div": (np.divide, 2, {}),
    "max": (np.maximum, 2, {}),
    "min": (np.minimum, 2, {}),
    "integer_pow": (lambda x: x**5, 1, {"y": 5}),
    "square": (np.square, 1, {}),
    "sqrt": (np.sqrt, 1, {}),
    "abs": (np.abs, 1, {}),
    "exp": (np.exp, 1, {}),
    "log": (np.log, 1, {}),
    "sin": (np.sin, 1, {}),
    "tanh": (np.tanh, 1, {}),
    "reduce_sum": (np.sum, 1, {"axes": (0,)}),
    "reduce_max": (np.max, 1, {"axes": (0,)}),
    "dot_general": (np.dot, 2, DOT),
    "cumsum": (np.cumsum, 1, {"axis": 0, "reverse": False}),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("size", [1e-3, 0.1, 0.4])
def test_errors_of_the_operands_are_carried(name, size):
    """Operands that are off by much, in every direction: what comes out is off by no more than the rule says."""
    function, number, parameters = OPERATIONS[name]
    random = np.random.default_rng(0)
    tightest = 0.0
    for _ in range(20):
        values = list(random.uniform(0.5, 3, (number, 3)))
        errors = [size * np.abs(x) for x in values]
        result = function(*values)
        allowed = np.asarray(running.RULES[name](result, values, errors, parameters))
        for _ in range(30):
            share = random.choice([-1.0, 1.0], (number, 3)) * random.choice([1.0, 0.5])
            moved = function(*(x + s * e for x, s, e in zip(values, share, errors, strict=True)))
            assert np.all(np.abs(moved - result) <= allowed * (1 + 1e-9))
            tightest = max(tightest, float(np.max(np.abs(moved - result) / allowed)))
    assert tightest > 0.2  # and it is no idle bound


def divided(x):
    return x / 1e200 / 1e200


def shrunk(x):
    return x * 1e-200 * 1e-200


def divided_at_once(x):
    return x / 1.5e308


def fallen(x):
    return jnp.exp(x * x - x * x - 2000.0)


def counted(x):
    return x - jnp.asarray(np.array([2**53 + 1])).astype(float)


@pytest.mark.parametrize(
    ("function", "x", "exact"),
    [
        (divided, 1e300, "1e-100"),
        (shrunk, 1e300, "1e-100"),
        (divided_at_once, 1e308, mp(2) / 3),
        (fallen, 2.0**28, mpmath.exp(-2000)),
        (counted, 2.0**53, -1),
    ],
)
def test_what_a_compiler_may_join_has_no_room_to_overflow(function, x, exact):
    """x/a/b is not x/(ab), nor x/a the same as x · (1/a), where ab or 1/a is no number; e^x falls out of range with doubt."""
    value, error = bounded(function, np.array([x]))
    assert abs(mp(float(value[0])) - mp(exact)) <= mp(float(error[0])) * (1 + mp(10) ** -10)
    assert error[0] >= running.TINY


def test_doubt_of_an_exponent_counts_where_the_power_is_lost():
    """e^−800 is no number; off by 200 it would be 10⁻²⁶¹."""
    assert running.RULES["exp"](0.0, None, [np.array(200.0)], None) > 1e-262
