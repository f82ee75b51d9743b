"""The CNO: layers with weights of known meaning, symmetries, counts."""

import pytest
import torch
from torch.nn import functional

from networks import PADDINGS, randomised, set_identity, smooth_field
from physrank.lab.models import CNO
from physrank.lab.models import cno as cno_layers
from physrank.lab.models.resampling import resample


@pytest.mark.parametrize("padding", PADDINGS)
def test_activation_hardly_aliases(padding):
    """Against the same nonlinearity on a grid 16 times finer, filtered once: what a grid of n points should have got."""
    n = 32
    truth = resample(functional.leaky_relu(smooth_field(16 * n, padding)), (n, n), padding)
    field = smooth_field(n, padding)
    pointwise = resample(functional.leaky_relu(field), (n, n), padding)  # both without the undetermined Nyquist wave
    filtered = cno_layers.Activation(padding)(field)
    alias = [float((result - truth).square().sum()) for result in (filtered, pointwise)]
    assert alias[0] < alias[1] / 10


@pytest.mark.parametrize("scale", [0.5, 2])
def test_activation_with_a_scale_is_activation_then_resampling(scale):
    field = torch.randn(2, 3, 16, 24, dtype=torch.float64)
    expected = resample(cno_layers.Activation("circular")(field), (int(scale * 16), int(scale * 24)), "circular")
    torch.testing.assert_close(cno_layers.Activation("circular", scale)(field), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("padding", PADDINGS)
def test_identity_kernels_pass_a_positive_field_through(padding):
    field = smooth_field(16, padding).repeat(1, 3, 1, 1)
    field = field - field.min() + 1
    block = cno_layers.Block(3, 3, padding).double()
    set_identity(block[0])
    torch.testing.assert_close(block(field), field, rtol=0, atol=1e-12)
    torch.testing.assert_close(block(-field), -0.01 * field, rtol=0, atol=1e-12)


@pytest.mark.parametrize("padding", PADDINGS)
def test_residual_block_starts_as_the_identity_and_adds_its_branch(padding):
    field = smooth_field(16, padding).repeat(1, 3, 1, 1)
    field = field - field.min() + 1
    block = cno_layers.Residual(3, padding).double()
    assert torch.equal(block(field), field)
    set_identity(block.first[0])
    set_identity(block.second)
    torch.testing.assert_close(block(field), 2 * field, rtol=0, atol=1e-12)


def test_circular_cno_commutes_with_shifts():
    model = randomised(CNO(2, 1, multiplier=8, levels=2, residual=1, neck=1, padding="circular")).double()
    field = torch.randn(2, 2, 16, 24, dtype=torch.float64)

    @torch.no_grad()
    def defect(*shift):
        moved = [model(field.roll(shift, (2, 3))), model(field).roll(shift, (2, 3))]
        return float((moved[0] - moved[1]).abs().max() / moved[1].std())

    assert defect(4, -8) < 1e-12
    # A shift by one point only translates a band-limited field, but the coarse levels sample it elsewhere.
    assert defect(1, 0) > 1e-6


def test_zero_padded_cno_sees_its_walls():
    model = randomised(CNO(1, 1, multiplier=8, levels=2, residual=1, neck=1, padding="zeros")).double()
    field = torch.randn(1, 1, 16, 16, dtype=torch.float64)
    assert (model(field.roll(4, 2)) - model(field).roll(4, 2)).abs().max() > 1e-3


@pytest.mark.parametrize("padding", PADDINGS)
def test_cno_treats_every_sample_by_itself(padding):
    model = randomised(CNO(2, 3, multiplier=8, levels=3, padding=padding)).double()
    fields = torch.randn(4, 2, 16, 32, dtype=torch.float64)
    together = model(fields)
    assert together.shape == (4, 3, 16, 32)
    torch.testing.assert_close(model(fields[1:2]), together[1:2], rtol=1e-11, atol=1e-11)


def test_every_weight_of_the_cno_is_used():
    model = randomised(CNO(2, 1, multiplier=8, levels=2))
    model(torch.randn(2, 2, 16, 16)).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().max() > 0 for p in model.parameters())


def test_residual_blocks_stand_on_the_skips_and_not_on_the_way_down():
    """With skips cut off after them, their weights cannot matter; the way down does not pass through them."""
    model = randomised(CNO(1, 1, multiplier=4, levels=2)).double()
    field = torch.randn(1, 1, 8, 8, dtype=torch.float64)
    seen = []
    model.neck.register_forward_hook(lambda module, given, found: seen.append(given[0].clone()))
    before = model(field)
    with torch.no_grad():
        for parameter in model.skip.parameters():
            parameter.mul_(2)
    after = model(field)
    assert torch.equal(*seen)
    assert not torch.allclose(before, after)


def test_cno_holds_no_filters_in_its_state():
    model = CNO(1, 1, levels=1)
    model(torch.zeros(1, 1, 8, 8))
    assert set(model.state_dict()) == {name for name, _ in model.named_parameters()}


@pytest.mark.parametrize("levels", [1, 3])
def test_cno_parameter_count(levels):
    def conv(a, b):
        return 9 * a * b + b

    widths = [5 * 2**level for level in range(levels + 1)]
    expected = conv(2, 5) + 3 * 2 * conv(widths[-1], widths[-1]) + conv(5, 1)
    for w in widths[:-1]:
        first_step_up = 2 * w == widths[-1]
        expected += conv(w, 2 * w) + 2 * 2 * conv(w, w) + conv(2 * w if first_step_up else 4 * w, w)
    expected += conv(2 * 5, 5)
    assert sum(p.numel() for p in CNO(2, 1, multiplier=10, levels=levels).parameters()) == expected


def test_initial_weights_of_the_cno_keep_the_size_of_a_field():
    """Without normalisation, weights of PyTorch's own choice would shrink it at every one of the eight blocks."""
    with torch.no_grad():
        assert 0.2 < CNO(2, 1)(torch.randn(8, 2, 32, 32)).std() < 5
