"""The catalogue knows every equation and every number, although it imports none of them."""

import inspect

import pytest

import physrank as pr
from physrank.cli.catalogue import CATALOGUE, entry

COMPUTED = {"initial", "velocity", "times"}


def test_every_equation_is_there():
    kinds = {n for n, kind in vars(pr.equations).items() if isinstance(kind, type) and issubclass(kind, pr.Problem)}
    assert {one.kind for one in CATALOGUE.values()} == kinds - {"ExponaxStepper"}


@pytest.mark.parametrize("name", CATALOGUE)
def test_numbers_are_the_constructors_keywords(name):
    known = CATALOGUE[name]
    parameters = set(inspect.signature(getattr(pr.equations, known.kind)).parameters)
    assert set(known.numbers) | set(known.fields) == parameters - COMPUTED
    assert set(known.stored) <= set(known.numbers)
    hyphenated = "".join(part.title() for part in name.split("-"))
    assert hyphenated == known.kind


def test_names_are_forgiven_their_spelling():
    assert entry("Diffusion_Reaction") is CATALOGUE["diffusion-reaction"]
    with pytest.raises(ValueError, match="--python"):
        entry("my.py:f")
