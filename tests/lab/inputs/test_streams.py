"""Streams of random numbers: none overlap, unknown ones are refused."""

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
