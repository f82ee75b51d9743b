"""The laboratory's networks: layers with weights of known meaning, symmetries, constraints that hold to the last bit."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("neuralop")

from neuralop.layers.spectral_convolution import SpectralConv  # noqa: E402
from torch.nn import functional  # noqa: E402

from physrank.lab.models import CNO, FNO, UNet  # noqa: E402
from physrank.lab.models import cno as cno_layers  # noqa: E402
from physrank.lab.models.constraints import InitialCondition, ZeroBoundary  # noqa: E402
from physrank.lab.models.fno import fno, n_modes  # noqa: E402
from physrank.lab.models.resampling import resample, resampling_matrix  # noqa: E402
from physrank.lab.models.unet import double_convolution  # noqa: E402

PADDINGS = ["circular", "zeros"]


@pytest.fixture(autouse=True)
def _seed_and_one_thread():
    torch.manual_seed(0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for layers this small, threads that wait for each other cost far more than they save
    yield
    torch.set_num_threads(threads)


def randomised(model):
    """The model with every parameter random, so that no zero of the initial weights can make a test pass."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.2)
    return model


def set_identity(convolution):
    with torch.no_grad():
        convolution.weight.zero_()
        convolution.bias.zero_()
        for channel in range(convolution.in_channels):
            convolution.weight[channel, channel, 1, 1] = 1


def smooth_field(n, padding, dtype=torch.float64, waves=4):
    """A random field of a few waves, the same function on every grid of size n."""
    wave = np.arange(1 - waves, waves)
    amplitudes = np.random.default_rng(3).standard_normal((2, len(wave), len(wave)))
    if padding == "circular":
        basis = np.exp(2j * np.pi * wave * np.arange(n)[:, None] / n)
        field = (basis @ (amplitudes[0] + 1j * amplitudes[1]) @ basis.T).real
    else:
        basis = np.cos(np.pi * wave * (np.arange(n)[:, None] + 0.5) / n)
        field = basis @ amplitudes[0] @ basis.T
    return torch.tensor(field / field.std(), dtype=dtype)[None, None]


# -- resampling --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("n, m", [(16, 32), (15, 30), (16, 12)])
def test_resampling_evaluates_a_band_limited_field_elsewhere(n, m, dtype, tolerance, padding):
    field, elsewhere = smooth_field(n, padding, dtype), smooth_field(m, padding, dtype)
    there = resample(field, (m, m), padding)
    torch.testing.assert_close(there, elsewhere, rtol=0, atol=tolerance)
    torch.testing.assert_close(resample(there, (n, n), padding), field, rtol=0, atol=tolerance)


@pytest.mark.parametrize("padding, wave", [("circular", 9), ("zeros", 17)])
def test_coarsening_removes_what_the_coarse_grid_cannot_hold(padding, wave):
    x = np.arange(32) / 32 if padding == "circular" else (np.arange(32) + 0.5) / 64
    fine = np.cos(2 * np.pi * wave * x)
    np.testing.assert_allclose(resampling_matrix(16, 32, padding) @ fine, 0, atol=1e-12)
    assert np.abs(fine[::2]).max() > 0.5  # taking every second point would not remove it


def test_a_matrix_first_made_in_inference_mode_serves_in_training():
    resampling_matrix.cache_clear()
    x = torch.randn(1, 1, 8, 8, dtype=torch.float64)
    with torch.inference_mode():
        resample(x, (16, 16), "circular")
    weight = torch.ones((), dtype=torch.float64, requires_grad=True)
    resample(weight * x, (16, 16), "circular").square().sum().backward()
    assert weight.grad is not None and weight.grad > 0


# -- CNO ---------------------------------------------------------------------------------------------------------------


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


# -- U-Net -------------------------------------------------------------------------------------------------------------


def test_unet_has_the_known_parameter_count():
    """7,763,041 is the count printed for the original of this shape (3 channels in, 1 out, 32 features)."""
    assert sum(p.numel() for p in UNet(3, 1).parameters()) == 7_763_041


@pytest.mark.parametrize("dimensions", [1, 2])
def test_unet_parameter_count_by_formula(dimensions):
    def double(a, b):
        return 3**dimensions * (a * b + b * b) + 2 * 2 * b

    f, (a, b) = 4, (2, 3)
    expected = double(a, f) + (f * b + b)
    for level in range(4):
        w = f * 2**level
        expected += double(w, 2 * w) + (2**dimensions * 2 * w * w + w) + double(2 * w, w)
    assert sum(p.numel() for p in UNet(a, b, features=f, dimensions=dimensions).parameters()) == expected


@pytest.mark.parametrize("dimensions, grid", [(1, (48,)), (2, (16, 32))])
def test_circular_unet_commutes_with_shifts(dimensions, grid):
    model = randomised(UNet(2, 3, features=4, dimensions=dimensions, padding="circular")).double().eval()
    field = torch.randn(2, 2, *grid, dtype=torch.float64)
    result = model(field)
    assert result.shape == (2, 3, *grid)
    torch.testing.assert_close(model(field.roll(16, -1)), result.roll(16, -1), rtol=0, atol=1e-12)
    assert not torch.allclose(model(field.roll(1, -1)), result.roll(1, -1), rtol=0, atol=1e-6)


def test_double_convolution_with_identity_kernels_is_tanh_twice():
    block = double_convolution(1, 1, 1, "zeros").double().eval()
    with torch.no_grad():
        for layer in (block[0], block[3]):
            layer.weight.copy_(torch.tensor([[[0.0, 1.0, 0.0]]]))
    x = torch.linspace(-2, 2, 9, dtype=torch.float64)[None, None]
    shrink = 1 / math.sqrt(1 + block[1].eps)  # batch norm with fresh statistics
    torch.testing.assert_close(block(x), torch.tanh(shrink * torch.tanh(shrink * x)), rtol=0, atol=1e-15)


def test_unet_goes_up_by_transposed_convolutions():
    """Kernels of ones repeat every coarse value on its 2×2 fine cells."""
    up = UNet(1, 1, features=1).double().up[-1]
    with torch.no_grad():
        up.weight.zero_()
        up.bias.zero_()
        up.weight[0, 0] = 1
    coarse = torch.randn(1, 2, 3, 4, dtype=torch.float64)
    assert torch.equal(up(coarse)[0, 0], coarse[0, 0].repeat_interleave(2, 0).repeat_interleave(2, 1))


def test_unet_pools_by_the_maximum():
    pooled = UNet(1, 1, features=1).pool(torch.tensor([[[[1.0, -2.0], [3.0, 0.5]]]]))
    assert pooled.item() == 3.0


# -- FNO ---------------------------------------------------------------------------------------------------------------


def test_spectral_convolution_with_weights_ik_differentiates():
    layer = SpectralConv(1, 1, n_modes((4, 8)), bias=False)
    with torch.no_grad():
        layer.weight.tensor.copy_((1j * torch.arange(8)).expand(1, 1, 8, 8))
    t, x = torch.arange(16)[:, None] / 16, 2 * torch.pi * torch.arange(32) / 32
    envelope = 1 + torch.sin(2 * torch.pi * 3 * t)
    field = envelope * (torch.sin(3 * x) + torch.cos(7 * x))
    expected = envelope * (3 * torch.cos(3 * x) - 7 * torch.sin(7 * x))
    torch.testing.assert_close(layer(field[None, None])[0, 0], expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("modes, kept", [((6, 12), [12, 12]), ((12,), [12]), ((3, 4, 5), [6, 8, 5]), ((2, 1), [4, 1])])
def test_modes_are_counted_as_papers_do(modes, kept):
    model = fno(2, 1, width=3, modes=modes, layers=2)
    assert isinstance(model, FNO)
    assert [list(layer.weight.shape) for layer in model.fno_blocks.convs] == [[3, 3, *kept]] * 2


@pytest.mark.parametrize("width, projection, expected", [(24, 48, 48), (24, None, 48), (49, 1, 1)])
def test_projection_width_is_the_one_asked_for(width, projection, expected):
    model = fno(2, 1, width=width, modes=(2, 2), layers=1, projection=projection)
    assert model.projection.fcs[0].out_channels == expected


# -- constraints -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [(0,), (2, 0)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_initial_condition_holds_to_the_last_bit(channels, dtype):
    net = randomised(CNO(3, len(channels), multiplier=8, levels=1)).to(dtype)
    x = torch.randn(2, 3, 6, 8, dtype=dtype)
    result = InitialCondition(net, channels)(x)
    assert torch.equal(result[:, :, 0], x[:, list(channels), 0])
    change = net(x)
    torch.testing.assert_close(result[:, :, -1], x[:, list(channels), -1] + change[:, :, -1])
    torch.testing.assert_close(result[:, :, 2], x[:, list(channels), 2] + 2 / 5 * change[:, :, 2])


@pytest.mark.parametrize("nodes, interior", [((16, 24), False), ((18, 34), True)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_zero_boundary_holds_to_the_last_bit(nodes, interior, dtype):
    net = randomised(CNO(2, 1, multiplier=8, levels=3, padding="zeros")).to(dtype)
    field = torch.randn(2, 2, *nodes, dtype=dtype)
    result = ZeroBoundary(net, interior=interior)(field)
    assert result.shape == (2, 1, *nodes)
    for axis in (2, 3):
        for side in (0, -1):
            assert torch.equal(result.select(axis, side), torch.zeros_like(result.select(axis, side)))
    inside = net(field[..., 1:-1, 1:-1]) if interior else net(field)[..., 1:-1, 1:-1]
    x, y = (torch.linspace(0, 1, n, dtype=dtype)[1:-1] for n in nodes)
    expected = 16 * (x * (1 - x))[:, None] * (y * (1 - y)) * inside
    torch.testing.assert_close(result[..., 1:-1, 1:-1], expected)


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: CNO(1, 1, levels=3)(torch.zeros(1, 1, 16, 20)), r"\(16, 20\).*divisible by 8"),
        (lambda: CNO(1, 1, levels=0), "levels is 0"),
        (lambda: CNO(1, 1, padding="reflect"), "'reflect'.*'circular', 'zeros'"),
        (lambda: UNet(1, 1, features=2)(torch.zeros(1, 1, 24, 32)), r"\(24, 32\).*divisible by 16"),
        (lambda: UNet(1, 1, features=2)(torch.zeros(1, 1, 32)), "2 axes"),
        (lambda: UNet(1, 1, dimensions=3), "expected 1 or 2"),
        (lambda: UNet(1, 1, padding="reflect"), "'reflect'"),
        (lambda: fno(1, 1, width=2, modes=(2, 0)), "at least one"),
        (lambda: fno(1, 1, width=2, modes=(2, 2))(torch.zeros(1, 1, 9, 8)), r"\(9, 8\).*even"),
        (lambda: InitialCondition(torch.nn.Identity())(torch.zeros(1, 2, 4, 4)), "2 output channels"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_wrong_use_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
