"""Laws of random inputs by their moments: fixed seeds, tolerances of 4.5 standard errors."""

import numpy as np

SAMPLES = 1200


def samples(kind, stratum):
    return [kind.sample("development", k, stratum) for k in range(SAMPLES)]


def gather(cases, name):
    return np.array([getattr(case, name) for case in cases])


def is_standard_normal(values):
    values, error = np.ravel(values), 4.5 / np.sqrt(np.size(values))
    assert abs(np.mean(values)) < error
    assert abs(np.mean(values**2) - 1) < error * np.sqrt(2)
    assert abs(np.mean(values**4) - 3) < error * np.sqrt(96)  # not uniform, not two-valued


def is_normal_with(values, scale):
    """Mode by mode (last axis) and all together."""
    scale = np.asarray(scale)
    assert np.all(values[..., scale == 0] == 0)
    unit = values[..., scale > 0] / scale[scale > 0]
    for mode in range(unit.shape[-1]):
        is_standard_normal(unit[..., mode])
    is_standard_normal(unit)


def is_uniform_on(values, *intervals):
    """Inside the union, up to its ends, each interval with its share, and each uniform in its first two moments."""
    values = np.ravel(values)
    lengths = np.array([high - low for low, high in intervals])
    counted = 0
    for (low, high), share in zip(intervals, lengths / lengths.sum(), strict=True):
        unit = (values[(values >= low) & (values <= high)] - low) / (high - low)
        counted += len(unit)
        assert abs(len(unit) / len(values) - share) < 4.5 * np.sqrt(share * (1 - share) / len(values)) + 1e-12
        assert unit.min() < 12 / len(unit)
        assert unit.max() > 1 - 12 / len(unit)
        assert abs(unit.mean() - 1 / 2) < 4.5 * np.sqrt(1 / 12 / len(unit))
        assert abs(np.mean((unit - 1 / 2) ** 2) - 1 / 12) < 4.5 * np.sqrt(1 / 180 / len(unit))
    assert counted == len(values)


def shifted(stratum):
    """Whether modes are added, whether parameters move."""
    return stratum in ("frequency", "combined"), stratum in ("parameter", "combined")


def power_law(modes, low, high, wide):
    """`low` = (scale, exponent) for modes 1–4, `high` for the rest, which only some strata have."""
    k = np.arange(1, modes + 1)
    return np.where(k <= 4, low[0] * k ** -low[1], high[0] * k ** -high[1] * wide)


def series(coefficients, x):
    return sum(a * np.cos(k * x) + b * np.sin(k * x) for k, (a, b) in enumerate(np.transpose(coefficients), start=1))


X = np.array([0.0, 0.4, 1.7, 5.0])
