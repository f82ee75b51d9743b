"""`select(until="settled")`: stops reading when the panel's choice is settled, and says what that rests on."""

import json

import numpy as np
import pytest

import physrank as pr

NAMES = ("a", "b", "c")


def table(inputs=60, gap=0.5, seed=0):
    return np.random.default_rng(seed).uniform(1, 2, (inputs, 1)) * (1 + gap * np.array([0.0, 1.0, 2.0]))


def panel(rows, read, **options):
    for row in rows:
        read.append(row)
        yield pr.Scores("test", NAMES, row, **options)


def test_a_settled_panel_is_not_read_to_its_end():
    read = []
    selection = pr.select(panel(table(), read), until=pr.Settled(total=60))
    assert selection.best == "a" and selection.settled is True and selection.inputs == len(read) < 30
    assert selection.standing.total == 60 and f"settled after {len(read)} of 60 inputs" in str(selection)
    assert json.loads(json.dumps(selection.to_dict()))["standing"]["settled"] is True


def test_a_list_knows_its_length_and_a_generator_is_a_stream():
    rows = [pr.Scores("test", NAMES, row) for row in table()]
    assert pr.select(rows, until="settled").standing.total == 60
    stream = pr.select(iter(rows), until="settled")
    assert stream.standing.total is None and "independent draws" in str(stream)
    assert pr.select(rows).standing is None


def test_a_close_panel_is_read_whole_and_chooses_as_always():
    rows = np.random.default_rng(1).uniform(1, 2, (12, 3))
    selection = pr.select(panel(rows, []), until=pr.Settled(tolerance=0.0, total=12))
    assert selection.inputs == 12 and selection.settled is True
    assert selection.best == NAMES[int(np.argmin(rows.mean(axis=0)))]


def test_doubts_and_unresolved_inputs_keep_it_open():
    doubt = np.full((3, 3), 5.0)
    selection = pr.select(panel(table(20), [], uncertainty=doubt), until=pr.Settled(total=20))
    assert selection.inputs == 20 and selection.settled is False and "uncertain" in selection.standing.why
    unresolved = pr.select(
        panel(table(20), [], unresolved="no", allow_unresolved=True), until=pr.Settled(tolerance=0.0, total=20)
    )
    assert unresolved.settled is False and "NOT SETTLED" in str(unresolved)


def test_refusals():
    rows = [pr.Scores("test", NAMES, row) for row in table(5)]
    with pytest.raises(ValueError, match='until must be "settled"'):
        pr.select(rows, until="certified")
    with pytest.raises(ValueError, match="total must be"):
        pr.Settled(total=0)
    with pytest.raises(ValueError, match="confidence must be a number"):
        pr.select(rows, until="settled", confidence=1.5)
