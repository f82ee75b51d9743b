"""Fields are lazy, and a part that is read equals the same part of the whole."""

import numpy as np
import pytest

import files
import physrank as pr


@pytest.mark.parametrize("layout", files.WRITERS | files.SEVERAL)
def test_a_part_is_the_part_of_the_whole(layout, tmp_path):
    path, _ = files.written(tmp_path, layout)
    fields = pr.read(path).fields
    assert fields
    for field in fields.values():
        whole = np.asarray(field)
        assert (field.shape, field.ndim, field.dtype.kind) == (whole.shape, whole.ndim, whole.dtype.kind)
        keys = [
            0,
            -1,
            ...,
            slice(1, None, 2),
            (..., 1),
            (0, ..., slice(2)),
            (slice(None), 1),
            [1, 0],
            (..., slice(None, None, -1)),
        ]
        for key in keys:
            np.testing.assert_array_equal(field[key], whole[key], err_msg=str(key))
        assert np.asarray(field, np.float16).dtype == np.float16
        assert field.name in repr(field)
        for wrong in (10**6, (0,) * 9):
            with pytest.raises(IndexError, match=field.name):
                field[wrong]
        with pytest.raises(ValueError, match="without a copy"):
            np.array(field, copy=False)


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    """A sparse file of terabytes opens at once, and a part of it can be read."""
    path = tmp_path / "large.npy"
    np.lib.format.open_memmap(path, "w+", np.float32, (1000, 1000, 1000, 100))
    file = pr.read(path, dims="sample,time,x,y")
    assert (file.samples, file.fields["large"].shape) == (1000, (1000, 1000, 1000, 100))
    assert file.fields["large"][3, 4, :5].shape == (5, 100)
    with pytest.raises(ValueError, match=r"takes 800 GB in memory.*max_bytes=800000000000"):
        file.fields["large"][...]
    with pytest.raises(ValueError, match="800 MB in memory; allowed are 1 MB"):
        pr.read(path, dims="sample,time,x,y", max_bytes=10**6).state(2)
