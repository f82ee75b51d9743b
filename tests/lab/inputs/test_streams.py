"""Streams of random numbers: none overlap, unknown ones are refused."""

import numpy as np
import pytest

from physrank.lab.inputs import (
    POPULATIONS,
    STREAMS,
    BurgersInput,
    ReactionDiffusionInput,
    ShockTube,
    SineGordonInput,
    diffusion_reaction_cells,
    random_flow_2d,
    stream,
    streams,
)


def test_no_two_streams_overlap():
    draws = {
        (e, p, k): tuple(stream(e, p, k).standard_normal(2)) for e in STREAMS for p in POPULATIONS for k in range(30)
    }
    assert len(set(draws.values())) == len(draws)


def test_streams_do_not_overlap():
    draws = {
        (p, k): tuple(stream("reaction_diffusion", p, k).standard_normal(3)) for p in POPULATIONS for k in range(50)
    }
    assert len(set(draws.values())) == len(draws)


@pytest.mark.parametrize("kind", [BurgersInput, ReactionDiffusionInput, SineGordonInput])
def test_unknown_names_are_refused(kind):
    with pytest.raises(ValueError, match=r"no stratum 'amplitude'; expected one of training, frequency"):
        kind.sample("development", 0, "amplitude")
    with pytest.raises(ValueError, match=r"no population 'test'; expected one of training, validation"):
        kind.sample("test", 0, "training")


def test_unknown_streams_are_refused():
    with pytest.raises(ValueError, match=r"no equation 'heat'; expected one of burgers"):
        stream("heat", "development", 0)
    for sample in (ShockTube.sample, diffusion_reaction_cells, random_flow_2d):
        with pytest.raises(ValueError, match="no population 'test'"):
            sample("test", 0)


def test_strata_shift_what_they_say_and_come_in_turn():
    assert {name: streams.shifts(name) for name in streams.STRATA} == {
        "training": (False, False),
        "frequency": (True, False),
        "parameter": (False, True),
        "combined": (True, True),
    }
    assert streams.shifted_strata(7) == [*["frequency", "parameter", "combined"] * 2, "frequency"]


def test_a_union_is_uniform_by_length():
    random = np.random.default_rng(0)
    drawn = np.array([streams.union(random, ((0.0, 1.0), (10.0, 13.0))) for _ in range(4000)])
    first = drawn < 5
    assert abs(first.mean() - 0.25) < 4.5 * np.sqrt(0.25 * 0.75 / 4000)
    assert drawn[first].max() <= 1 and drawn[~first].min() >= 10 and drawn.max() <= 13
    assert abs(drawn[~first].mean() - 11.5) < 4.5 * np.sqrt(9 / 12 / 3000)
