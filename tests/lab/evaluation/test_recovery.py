"""Recovery on synthetic populations whose answers are known by hand or by formula."""

import numpy as np
import pytest

from lab_helpers import noisy
from physrank import geometry
from physrank.lab.evaluation import Outcomes, Recovery, concordance, margin_deciles
from physrank.lab.evaluation.recovery import labels, pair_gaps


def test_outcomes_by_hand():
    losses = [[1.0, 2.0, 4.0], [1.0, 1.0 + 1e-9, 5.0], [3.0, 2.0, 2.0]]
    scores = [[2.0, 1.0, 3.0], [2.0, 1.0, 3.0], [9.0, 4.0, 4.0]]
    found = Outcomes.of(losses, scores)
    assert found.pairs.tolist() == [3, 3, 3]
    assert found.non_ties.tolist() == [3, 2, 2]
    assert found.non_ties_correct.tolist() == [2, 2, 2]
    assert found.three_way_correct.tolist() == [2, 2, 3]  # the near-tie of case 1 is missed, the exact one of 2 found
    assert found.strict_correct.tolist() == [2, 2, 3]
    assert found.selected.tolist() == [1, 1, 1]
    assert found.top1_exact.tolist() == [False, False, True]
    assert found.top1_tolerant.tolist() == [False, True, True]
    assert found.regret == pytest.approx([1.0, 1e-9, 0.0], rel=1e-6)
    assert found.normalized_regret == pytest.approx([1 / 3, 1e-9 / 4, 0.0], rel=1e-6)


def test_the_score_tolerance_makes_ties_of_scores():
    losses = [[0.0, 0.0, 1.0]]
    scores = [[0.0, 1e-3, 2e-3]]
    sharp, matched = Outcomes.of(losses, scores), Outcomes.of(losses, scores, score_tolerance=1.5e-3)
    assert (sharp.three_way_correct[0], sharp.non_ties_correct[0]) == (2, 2)
    assert (matched.three_way_correct[0], matched.non_ties_correct[0]) == (2, 1)  # one tie won, one non-tie lost
    assert sharp.strict_correct[0] == matched.strict_correct[0] == 2


def test_a_positive_gap_prefers_the_first_of_a_pair():
    """As everywhere in the decision geometry, in the order of `np.triu_indices`."""
    losses = np.array([[1.0, 4.0, 2.0]])
    upper = np.triu_indices(3, 1)
    assert pair_gaps(losses)[0].tolist() == geometry.gap_matrix(losses[0])[upper].tolist() == [3.0, 1.0, -2.0]
    assert labels(pair_gaps(losses))[0].tolist() == [1.0, 1.0, -1.0]


def test_references_tie_within_a_millionth():
    """The paper's tolerance, when none is given: of pairs and of the tolerant winner."""
    found = Outcomes.of([[0.0, 0.9e-6], [0.0, 1.1e-6]], [[1.0, 0.0], [1.0, 0.0]])
    assert found.non_ties.tolist() == [0, 1]
    assert found.top1_tolerant.tolist() == [True, False]


def test_a_gap_of_exactly_the_tolerance_is_a_tie():
    found = Outcomes.of([[0.0, 0.25, 0.75]], [[1.0, 0.5, 2.0]], tolerance=0.25, score_tolerance=0.5)
    assert (found.non_ties[0], found.three_way_correct[0], found.top1_tolerant[0]) == (2, 3, True)


def test_vectorised_outcomes_are_those_of_the_decision_geometry():
    losses, scores = noisy(50, 6, 0.2)
    losses, tolerance = np.round(losses, 1), 0.15  # rounding makes exact ties
    found = Outcomes.of(losses, scores, tolerance=tolerance)
    upper = np.triu_indices(6, 1)
    for k, (loss, score) in enumerate(zip(losses, scores, strict=True)):
        truth, label = geometry.pair_labels(loss, tolerance)[upper], geometry.pair_labels(score)[upper]
        chosen = geometry.top1(score)
        assert found.selected[k] == chosen
        assert found.non_ties_correct[k] == np.sum((truth == label) & (truth != 0))
        assert found.three_way_correct[k] == np.sum(truth == label)
        assert found.top1_exact[k] == (chosen == geometry.top1(loss))
        assert found.top1_tolerant[k] == (chosen in geometry.tolerant_winners(loss, tolerance))
        assert found.normalized_regret[k] == pytest.approx(geometry.normalized_regret(loss, chosen))


def test_normalized_regret_has_a_floor():
    found = Outcomes.of([[0.0, 1e-9]], [[1.0, 0.0]])
    assert found.normalized_regret == pytest.approx([0.1])


def test_recovery_sums_outcomes():
    losses, scores = noisy(200, 5, 0.3)
    outcomes = Outcomes.of(losses, scores, tolerance=0.05)
    found = Recovery.of(losses, scores, 0.05)
    assert found == Recovery.from_outcomes(outcomes)
    assert (found.cases, found.pairs_all, found.pairs) == (200, 2000, outcomes.non_ties.sum())
    assert (found.pairs_correct, found.strict_correct) == (
        outcomes.non_ties_correct.sum(),
        outcomes.strict_correct.sum(),
    )
    assert found.three_way_correct == found.pairs_correct < found.strict_correct  # sharp scores recover no tie
    assert (found.top1_exact, found.top1_tolerant) == (outcomes.top1_exact.sum(), outcomes.top1_tolerant.sum())
    regret = np.sort(outcomes.normalized_regret)
    assert found.median_normalized_regret == pytest.approx((regret[99] + regret[100]) / 2)
    assert regret[179] <= found.q90_normalized_regret <= regret[180]
    assert regret[197] <= found.q99_normalized_regret <= regret[198]
    assert found.to_dict()["max_normalized_regret"] == regret[199]


def test_candidates_and_cases_may_be_renamed():
    losses, scores = noisy(60, 7, 0.2)
    random = np.random.default_rng(1)
    cases, candidates = random.permutation(60), random.permutation(7)
    shuffled = losses[np.ix_(cases, candidates)], scores[np.ix_(cases, candidates)]
    assert Recovery.of(*shuffled).to_dict() == pytest.approx(Recovery.of(losses, scores).to_dict())
    library = np.arange(60) % 3
    assert np.array_equal(concordance(*shuffled), concordance(losses, scores))
    assert np.array_equal(margin_deciles(*shuffled, library[cases]), margin_deciles(losses, scores, library))


def test_unresolved_decisions_are_errors_and_stay_counted():
    losses = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    pairs = np.array([[True, False, False], [False, False, False]])
    found = Recovery.of(losses, losses, unresolved_pairs=pairs, unresolved_top1=np.array([False, True]))
    assert (found.pairs, found.pairs_all, found.cases) == (6, 6, 2)
    assert (found.pairs_correct, found.three_way_correct, found.strict_correct) == (5, 5, 5)
    assert (found.top1_exact, found.top1_tolerant) == (1, 1)
    assert found.mean_regret == 0.0
    with pytest.raises(ValueError, match="unresolved_pairs"):
        Outcomes.of(losses, losses, unresolved_pairs=pairs[0])


@pytest.mark.parametrize("missing", [np.nan, np.inf, -np.inf])
def test_a_missing_score_is_never_right(missing):
    found = Outcomes.of([[1.0, 2.0, 3.0], [2.0, 2.0, 3.0]], [[missing, 2.0, 3.0], [missing, missing, 3.0]])
    assert found.selected.tolist() == [1, 2]
    assert found.non_ties.tolist() == [3, 2]
    assert found.non_ties_correct.tolist() == [1, 0]
    assert found.three_way_correct.tolist() == found.strict_correct.tolist() == [1, 0]  # nor does NaN tie with NaN
    assert found.regret.tolist() == [1.0, 1.0]


def test_without_any_score_everything_is_wrong():
    found = Outcomes.of([[1.0, 1.0, 4.0]], [[np.nan, np.nan, np.nan]], tolerance=10.0)
    assert found.selected.tolist() == [-1]
    assert not found.top1_exact.any() and not found.top1_tolerant.any()
    assert found.three_way_correct.sum() == found.strict_correct.sum() == 0
    assert (found.regret[0], found.normalized_regret[0]) == (3.0, 1.0)


@pytest.mark.parametrize("losses", [[[1.0, np.nan]], [[1.0]], [1.0, 2.0], [[1.0, 2.0, 3.0]]])
def test_losses_must_be_a_complete_table(losses):
    with pytest.raises(ValueError, match="losses"):
        Outcomes.of(losses, [[1.0, 2.0]])


def test_recovery_counts_on_a_known_population():
    losses = np.array([[1.0, 2.0, 3.0], [1.0, 1.0 + 1e-9, 5.0]])
    perfect = Recovery.of(losses, losses)
    assert (perfect.pairs, perfect.pairs_correct) == (5, 5)  # one reference tie left out
    assert (perfect.top1_exact, perfect.top1_tolerant) == (2, 2)
    swapped = Recovery.of(losses, np.array([[2.0, 1.0, 3.0], [2.0, 1.0, 3.0]]))
    assert swapped.pairs_correct == 4
    assert (swapped.top1_exact, swapped.top1_tolerant) == (0, 1)
    assert swapped.mean_regret == pytest.approx((1.0 + 1e-9) / 2)
    assert swapped.mean_normalized_regret == pytest.approx((0.5 + 1e-9 / 4) / 2)
