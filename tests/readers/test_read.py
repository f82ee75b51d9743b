"""What was written is read back, in physrank's order of axes, whatever the layout."""

import numpy as np
import pytest

import files
import physrank as pr


@pytest.mark.parametrize("layout", files.WRITERS)
def test_what_was_written_is_read_back(layout, tmp_path):
    path, expected = files.written(tmp_path, layout)
    file = pr.read(path)
    assert (file.layout, file.path, file.samples) == (layout, path, len(expected))
    for sample in range(len(expected)):
        state = file.state(sample)
        assert state.dtype == np.float64
        np.testing.assert_array_equal(state, expected[sample])
    np.testing.assert_array_equal(file.candidates()[path.stem], expected[0])
    assert pr.read(path, layout).layout == layout


@pytest.mark.parametrize("layout", files.SEVERAL)
def test_candidates_along_an_axis(layout, tmp_path):
    path, expected = files.written(tmp_path, layout)
    file = pr.read(path)
    assert file.layout == layout.rstrip("23")
    found = file.candidates()
    assert list(found) == ["cno", "fno"]
    np.testing.assert_array_equal(list(found.values()), expected)
    assert file.numbers["nu"] == 0.5
    with pytest.raises(ValueError, match="several candidates"):
        file.state()
