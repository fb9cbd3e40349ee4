"""The native step against PyTorch: equal costs, and gradients as near as bf16 allows."""
import numpy as np
import pytest
import torch

from recipe import engines, parameters as P
from recipe.data import Batch

SIZES = P.Architecture(vocabulary=1300, targets=1001, d=128, heads=2, ff=256, encoder_layers=2, decoder_layers=2)
SMOOTH, GUIDE = 0.1, 0.3


def random_parameters():
    """Large enough that every part of the network matters; biases and norms away from their plain values."""
    torch.manual_seed(0)
    flat = P.initialise(SIZES, 1)
    for name, tensor in P.views(SIZES, flat).items():
        if tensor.dim() == 1:
            tensor.add_(0.1 * torch.randn_like(tensor))
        if name == P.SHARED:
            tensor.mul_(3)
    return flat


def random_batch(sentences, sources, targets, guided, seed):
    random = np.random.default_rng(seed)
    source = random.integers(2, SIZES.pad, (sentences, sources))
    output = random.integers(2, SIZES.targets, (sentences, targets))
    output[:, -1] = P.END
    for row in range(sentences // 2):
        end = random.integers(1, targets)
        output[row, end], output[row, end + 1:] = P.END, -1
    shifted = np.full_like(output, SIZES.pad)
    shifted[:, 1:] = np.where(output[:, :-1] >= 0, output[:, :-1], SIZES.pad)
    guide = np.where((random.random(output.shape) < 0.5) & (output >= 0), random.integers(0, sources, output.shape), -1)
    return Batch(source, shifted, output, guide if guided else None)


BATCHES = {
    "several sentences in a block of attention": [(7, 9, 11, True)],
    "sentences longer than a block": [(3, 40, 35, True)],
    "very short ones, no guide": [(40, 3, 2, False)],
    "single sentences, empty ones too": [(1, 1, 1, True), (1, 7, 5, True), (2, 2, 19, True)],
    "several batches": [(10, 33, 7, True), (5, 5, 40, False), (16, 16, 16, True), (1, 32, 64, True)],
}


@pytest.fixture(params=BATCHES, ids=BATCHES)
def batches(request):
    return [random_batch(*shape, seed=i) for i, shape in enumerate(BATCHES[request.param])]


def distance(x, y):
    return float((x - y).norm() / y.norm())


@pytest.mark.parametrize("threads", (1, 3))
def test_equals_torch(batches, threads):
    flat = random_parameters()
    native = engines.NativeEngine(SIZES, flat, SMOOTH, GUIDE, threads=threads)
    exact = engines.TorchEngine(SIZES, flat.clone(), SMOOTH, GUIDE)
    rounded = engines.TorchEngine(SIZES, flat.clone(), SMOOTH, GUIDE, dtype=torch.bfloat16)
    got, want = native.run(batches), exact.run(batches)
    rounded.run(batches)
    assert (got.tokens, got.guided) == (want.tokens, want.guided)
    for name in ("loss", "surprise", "guide"):
        assert getattr(got, name) == pytest.approx(getattr(want, name), rel=5e-3)
    assert distance(native.gradient, exact.gradient) < 1.5 * distance(rounded.gradient, exact.gradient) + 1e-3
    slopes = [P.views(SIZES, engine.gradient) for engine in (native, exact, rounded)]
    for name in P.views(SIZES, flat):
        got, want, usual = (s[name] for s in slopes)
        if not name.endswith("k_proj.bias"):  # softmax does not see it: its gradient is 0 but for rounding
            assert distance(got, want) < max(0.12, 2 * distance(usual, want)), name


def test_measures_without_gradient(batches):
    flat = random_parameters()
    native = engines.NativeEngine(SIZES, flat, SMOOTH, GUIDE, threads=2)
    got, want = native.measure(batches, flat), engines.TorchEngine(SIZES, flat.clone(), 0, 0).measure(batches, flat)
    assert got.surprise == pytest.approx(want.surprise, rel=5e-3)
    assert not native.gradient.any()


def test_the_gradient_of_pad_is_zero():
    flat = random_parameters()
    native = engines.NativeEngine(SIZES, flat, SMOOTH, GUIDE, threads=1)
    native.run([random_batch(4, 5, 6, True, seed=0)])
    assert not P.views(SIZES, native.gradient)[P.SHARED][SIZES.pad].any()


def test_refuses_what_does_not_fit():
    native = engines.NativeEngine(SIZES, random_parameters(), SMOOTH, GUIDE, longest=32, threads=1)
    with pytest.raises(RuntimeError):
        native.run([random_batch(2, 40, 5, False, seed=0)])
    native.run([random_batch(2, 30, 5, False, seed=0)])  # and goes on
