"""Functions that jump across lines: what they are where, and what is refused."""

import numpy as np
import pytest

from physrank.certificates import Pieces


def test_every_box_has_its_own():
    pieces = Pieces(((0.5,), ()), ((1.0,), (lambda x, y: x + 10 * y,)))
    x, y = np.meshgrid([0.0, 0.4, 0.5, 1.0], [0.0, 1.0], indexing="ij")
    np.testing.assert_array_equal(pieces(x, y), [[1, 1], [1, 1], [0.5, 10.5], [1, 11]])
    assert [place for place, _ in pieces.boxes] == [(0, 0), (1, 0)]
    assert Pieces(((0.5,), ()), np.array([[1], [2]])) == Pieces(((0.5,), ()), ((1.0,), (2.0,)))


def test_a_number_or_a_function_is_one_piece():
    assert Pieces.of(3, 2).values == ((3.0,),)
    assert Pieces.of(np.sin, 1)(np.ones(2)) == pytest.approx(np.sin(1.0))
    with pytest.raises(ValueError, match="breaks along 2 axes; got 1"):
        Pieces.of(Pieces(((0.5,),), (1.0, 2.0)), 2)


@pytest.mark.parametrize(
    "breaks, values, complaint",
    [
        (((0.5, 0.25),), (1, 2, 3), "rise"),
        (((0.5, np.nan),), (1, 2, 3), "finite"),
        (((0.5,),), (1, 2, 3), "2 entries"),
        (((0.5,),), 1.0, "2 entries"),
        (((0.5,), ()), (1.0, (2.0,)), r"values\[0\]"),
        (((0.5,),), (1.0, "two"), "number or a function"),
        (((0.5,),), (1.0, np.inf), "finite number"),
        ((0.25, 0.75), (1.0, 2.0, 3.0), "one sequence per axis"),
    ],
)
def test_what_makes_no_sense_is_refused(breaks, values, complaint):
    with pytest.raises(ValueError, match=complaint):
        Pieces(breaks, values)


def test_the_number_of_coordinates_must_fit():
    with pytest.raises(ValueError, match=r"breaks along 1 axes; they were asked at points with 2 .* dims=1"):
        Pieces(((0.5,),), (1.0, 2.0))(np.ones((3, 3)), np.ones((3, 3)))
