"""Bootstrap intervals on synthetic populations whose width and coverage are known by formula, with twins that are wrong."""

import numpy as np
import pytest
from scipy import stats

from physrank.lab.evaluation import SEEDS, clustered, hierarchical, panel_selection_bootstrap

SEED = SEEDS["primary"]


def width(interval):
    return interval.high - interval.low


def test_ratio_and_interval_of_a_tiny_population():
    found = clustered([1, 2, 0], [2, 2, 4], ["x", "x", "y"], seed=SEED, replicates=500)
    assert found.estimate == 3 / 8
    assert (found.low, found.high) == (0.0, 0.75)  # y twice, x twice
    assert found.mean == pytest.approx(0.375, abs=4 * 0.27 / np.sqrt(500))
    skewed = clustered([1, 0], [1, 3], ["x", "y"], seed=SEED)
    assert skewed.mean == pytest.approx((1 + 2 * 0.25 + 0) / 4, abs=4 * 0.38 / np.sqrt(10_000))
    assert str(found).startswith("0.375 [0, 0.75]")
    assert found.to_dict()["seed"] == SEED


def coverage(rows_together, draws=250, inputs=60, rows=6, accuracy=0.7):
    """How often the 95 % interval covers a planted accuracy when all rows of an input succeed or fail together."""
    random = np.random.default_rng(5)
    cluster = np.repeat(np.arange(inputs), rows)
    covered = 0
    for draw in range(draws):
        correct = np.repeat(random.random(inputs) < accuracy, rows)
        units = cluster if rows_together else np.arange(inputs * rows)
        found = clustered(correct, np.ones(inputs * rows), units, seed=draw, replicates=300)
        covered += found.low <= accuracy <= found.high
    return covered / draws


def test_clustered_intervals_cover_and_row_wise_ones_do_not():
    assert coverage(rows_together=True) == pytest.approx(0.94, abs=4 * np.sqrt(0.94 * 0.06 / 250))
    assert coverage(rows_together=False) < 0.75  # √6 too narrow: ±0.8 standard errors cover 58 %


def test_independent_rows_cover_too():
    random = np.random.default_rng(6)
    cluster = np.repeat(np.arange(60), 4)
    intervals = [
        clustered(random.random(240) < 0.8, np.ones(240), cluster, seed=draw, replicates=300) for draw in range(250)
    ]
    covered = np.mean([found.low <= 0.8 <= found.high for found in intervals])
    assert covered == pytest.approx(0.94, abs=4 * np.sqrt(0.94 * 0.06 / 250))
    assert np.mean([width(found) for found in intervals]) == pytest.approx(2 * 1.96 * np.sqrt(0.16 / 240), rel=0.05)


def test_equal_rows_of_a_cluster_add_no_information():
    """The resampled success count is binomial in the number of clusters, however many rows each has."""
    inputs, rows = 100, 8
    success = np.arange(inputs) < 80
    correct, cluster = np.repeat(success, rows), np.repeat(np.arange(inputs), rows)
    found = clustered(correct, np.ones(inputs * rows), cluster, seed=SEED)
    binomial = stats.binom.ppf([0.025, 0.975], inputs, 0.8) / inputs
    assert (found.low, found.high) == pytest.approx(tuple(binomial), abs=0.0101)
    assert found.mean == pytest.approx(0.8, abs=4 * 0.04 / np.sqrt(10_000))
    alone = clustered(success, np.ones(inputs), np.arange(inputs), seed=SEED)
    assert (alone.low, alone.high) == pytest.approx((found.low, found.high))
    naive = clustered(correct, np.ones(inputs * rows), np.arange(inputs * rows), seed=SEED, replicates=1000)
    assert width(naive) == pytest.approx(width(found) / np.sqrt(rows), rel=0.15)


def test_row_order_does_not_matter_and_the_seed_does():
    random = np.random.default_rng(2)
    correct, cluster = random.integers(0, 29, 300), np.arange(300) % 75
    order = random.permutation(300)
    first = clustered(correct, np.full(300, 28), cluster, seed=1, replicates=200)
    assert clustered(correct[order], np.full(300, 28), cluster[order], seed=1, replicates=200) == first
    assert clustered(correct, np.full(300, 28), cluster, seed=2, replicates=200).low != first.low


def test_strata_keep_their_share():
    correct = np.repeat([1.0, 0.0], 30)
    free = clustered(correct, np.ones(60), np.arange(60), seed=SEED, replicates=300)
    kept = clustered(correct, np.ones(60), np.arange(60), seed=SEED, replicates=300, strata=correct)
    assert width(free) > 0.2
    assert (kept.low, kept.high) == (0.5, 0.5)
    with pytest.raises(ValueError, match="single stratum"):
        clustered(correct, np.ones(60), np.zeros(60), seed=SEED, strata=correct)


def test_an_empty_denominator_is_named():
    with pytest.raises(ValueError, match="denominator"):
        clustered([1.0, 0.0], [1.0, 0.0], [0, 1], seed=SEED, replicates=100)


def normal_width(values):
    """The width of the 95 % interval of a mean of independent values."""
    return 2 * 1.96 * np.std(values) / np.sqrt(len(values))


def test_hierarchical_resamples_libraries_and_shared_inputs():
    library, inputs = np.linspace(0.0, 1.0, 16), np.random.default_rng(3).random(120)
    by_library = np.repeat(library[:, None], 120, axis=1)
    by_input = np.repeat(inputs[None], 16, axis=0)
    options = {"seed": SEED, "replicates": 4000}
    assert width(hierarchical(by_library, **options)) == pytest.approx(normal_width(library), rel=0.06)
    # Shared inputs do not average out over libraries: no factor √16.
    assert width(hierarchical(by_input, **options)) == pytest.approx(normal_width(inputs), rel=0.06)
    assert width(hierarchical(by_input, input_strata=np.arange(120), **options)) == pytest.approx(0.0, abs=1e-12)
    assert width(hierarchical(by_library, library_groups=np.arange(16), **options)) == pytest.approx(0.0, abs=1e-12)
    grouped = hierarchical(by_library, library_groups=np.repeat([0, 1], 8), **options)
    assert width(grouped) == pytest.approx(normal_width(library[:8]) / np.sqrt(2), rel=0.06)
    matched = hierarchical(by_library, matched_libraries=np.repeat(np.arange(8), 2), **options)
    assert width(matched) == pytest.approx(normal_width(library.reshape(8, 2).mean(axis=1)), rel=0.06)


def test_libraries_weigh_the_same_however_many_inputs_they_have():
    values = np.zeros((2, 40))
    values[1] = 1.0
    evaluated = np.ones((2, 40), bool)
    evaluated[1, 10:] = False
    values[1, 10:] = np.nan
    options = {"seed": SEED, "replicates": 200, "input_strata": np.arange(40) < 10}
    assert hierarchical(values, evaluated=evaluated, **options).estimate == 0.5  # pooled it would be 0.2
    with pytest.raises(ValueError, match="evaluated"):
        hierarchical(values, **options)


def test_panel_regret_by_hand():
    """Mean losses (1, 2, 3) and (5, 1, 1): regrets of the choices are 0, 1/2 and 0, 1."""
    losses = np.array([[[0.0, 2.0, 4.0], [2.0, 2.0, 2.0]], [[5.0, 1.0, 0.0], [5.0, 1.0, 2.0]]])
    found = panel_selection_bootstrap(
        [[0, 1], [1, 0]], losses, ["burgers", "rd"], [0, 0], seed=SEEDS["panel"], replicates=50
    )
    assert found.estimate == pytest.approx((0 + 0.5 + 0 + 1) / 4)


def test_panels_are_shared_within_a_pde_and_independent_between():
    """Constant losses (0, 1): the regret of a panel is its choice, so its resampled mean is binomial."""
    panels, libraries = 64, 4
    chosen = np.tile(np.arange(panels) % 2, (libraries, 1))
    losses = np.tile([0.0, 1.0], (libraries, 6, 1))
    options = {"seed": SEEDS["panel"], "replicates": 4000}
    one = panel_selection_bootstrap(chosen, losses, [0] * 4, np.zeros(6), **options)
    two = panel_selection_bootstrap(chosen, losses, [0, 0, 1, 1], np.zeros(6), **options)
    assert one.estimate == two.estimate == 0.5
    assert width(one) == pytest.approx(2 * 1.96 * 0.5 / np.sqrt(panels), rel=0.06)
    assert width(two) == pytest.approx(width(one) / np.sqrt(2), rel=0.06)


def test_deployment_inputs_are_resampled_within_strata():
    """Half the inputs prefer each candidate, a little more the first: by stratum the choice is settled, else not."""
    side = np.arange(60) % 2
    losses = np.stack([1.0 * side, 1.1 * (1 - side), np.full(60, 2.0)], axis=1)[None]
    options = {"seed": SEEDS["panel"], "replicates": 1000}
    settled = panel_selection_bootstrap([[0]], losses, [0], side, **options)
    open_ = panel_selection_bootstrap([[0]], losses, [0], np.zeros(60), **options)
    assert (settled.estimate, settled.low, settled.high) == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)
    assert open_.low == 0.0 and open_.high > 0.05
    with pytest.raises(ValueError, match="indices"):
        panel_selection_bootstrap([[3]], losses, [0], side, **options)


def test_panels_count_by_library_not_by_equation():
    """Two libraries of one equation choose well, the only one of another badly: a third of the choices costs everything."""
    losses = np.tile([0.0, 1.0], (3, 4, 1))
    chosen = np.array([[0, 0], [0, 0], [1, 1]])
    found = panel_selection_bootstrap(chosen, losses, ["a", "a", "b"], ["s"] * 4, seed=SEED, replicates=20)
    assert found.estimate == pytest.approx(1 / 3) and found.low == pytest.approx(found.high)
