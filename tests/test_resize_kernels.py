"""Resampling on the host: each kernel, for every library and any memory, gives what weights and sums say in NumPy."""

import threading

import dmlops
import numpy as np
import pytest
from dmlops import _core
from dmlops.operators.tracking import PART
from hypothesis import given, settings
from hypothesis import strategies as st

import support
from strategies import FEWER

pytestmark = pytest.mark.driverless

PILLOW, REDUCE, OPENCV, TORCHVISION = range(4)
KINDS = ["CLIP", "SHIFT", "FLOORS", "FLOAT", "ROUND", "CUBIC", "TIMES", "OVER", "REDUCE"]
NUMBERS = [np.uint8, np.uint16, np.int32, np.float32]
KERNELS = _core._resize_kernels()
PAGE = 4096


@pytest.fixture(autouse=True)
def the_fastest_kernel():
    yield
    _core._resize_by(None)


# --- what resamplings mean --------------------------------------------------------------------------------------------


def to_bytes(values):
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def add_floats(kind, inputs, weights, shift):
    """One tap after the other, each product and sum a float32."""
    total = np.zeros(inputs.shape[:-1], np.float32)
    taps = range(weights.shape[1])
    for tap in reversed(taps) if kind == "CUBIC" else taps:
        weight = weights[:, tap].astype(np.float32)
        weight = weight * np.float32(2.0**-shift) if kind == "CUBIC" else weight
        total = total + weight * inputs[..., tap].astype(np.float32)
    return total if kind == "FLOAT" else to_bytes(total)


def run_pass(array, axis, weights, kind, shift, half, multiplier, factor, number):
    """A pass of `_core._resampling_described`, along an axis; all of its outputs."""
    _, inputs, taps, _, is_float, *_, rows = weights
    rows = np.frombuffer(rows, np.int32).reshape(-1, 1 + taps)
    factors = rows[:, 1:].view(np.float32) if is_float else rows[:, 1:]
    window = np.clip(rows[:, :1] + np.arange(taps), 0, inputs - 1)
    found = np.moveaxis(array, axis, -1)[..., window]
    kind = KINDS[kind]
    if kind in ("FLOAT", "ROUND", "CUBIC"):
        return np.moveaxis(add_floats(kind, found, factors, shift), -1, axis)
    products = factors.astype(np.int64) * found
    total = products.sum(-1)
    if kind == "CLIP":
        result = np.clip((total + (1 << shift >> 1)) >> shift, 0, 255).astype(np.uint8)
    elif kind == "SHIFT":
        result = (total >> shift).astype(NUMBERS[number])
    elif kind == "FLOORS":
        result = (((products >> shift).sum(-1) + 2) >> 2).astype(np.uint8)
    elif kind == "REDUCE":
        result = ((total + half) * multiplier % 2**32 >> 24).astype(np.uint8)
    else:
        total = total.astype(np.float32)
        result = to_bytes(total * np.float32(factor) if kind == "TIMES" else total / np.float32(factor))
    return np.moveaxis(result, -1, axis)


def meaning(array, resampling, axes):
    """Of two axes that follow each other."""
    passes, parts = _core._resampling_described(resampling)
    if len(passes) == 2:
        axis, *_, kind, shift, number, _ = passes[0]
        array = run_pass(array, axes[axis], passes[0], kind, shift, 0, 0, 0, number)
    result = None
    for begin, end, *sum_ in parts:
        part = run_pass(array, axes[passes[-1][0]], passes[-1], *sum_, 0)
        rows, columns, *behind = np.indices(part.shape)[axes[0] :]
        items = np.ravel_multi_index(behind, part.shape[axes[1] + 1 :]) if behind else np.zeros_like(rows)
        inside = np.ones(part.shape, bool)
        for place, low, high in zip((rows, columns, items), begin, end, strict=True):
            inside &= (place >= low) & (place < high)
        result = part if result is None else np.where(inside, part, result)
    return result


# --- what is tried ----------------------------------------------------------------------------------------------------


class Case:
    """A resampling, with an array that it is for."""

    def __init__(self, rng, longest=60):
        self.rng = rng
        self.library = rng.choice([PILLOW, PILLOW, REDUCE, OPENCV, TORCHVISION])
        sizes = [int(rng.choice([1, 2, 3, 7, 16, 17, 31, rng.integers(1, longest)])) for _ in range(4)]
        if longest > 1000:
            sizes = [
                int(n) for n in (rng.integers(1, 9), rng.integers(500, longest), rng.integers(1, 9), rng.choice([1, 5, 300]))
            ]
            sizes = sizes if rng.integers(2) else [sizes[k] for k in (1, 0, 3, 2)]
        self.before, self.after = sizes[:2], sizes[2:]
        if self.library == OPENCV and rng.integers(3) == 0:  # has kernels of its own
            self.before = [2 * size for size in self.after]
        self.items = int(rng.choice([1, 2, 3, 3, 4, 5, 7]))
        self.newer = bool(rng.integers(2))
        height, width = self.before
        self.shape, self.axes = [
            ((height, width, self.items), (0, 1)),
            ((2, height, width, self.items), (1, 2)),
            ((2, self.items, height, width), (2, 3)),
        ][rng.integers(3)]
        self.resampling = self.resample()

    def resample(self):
        filters = {PILLOW: range(7), REDUCE: [0], OPENCV: range(5), TORCHVISION: [1, 3, 4] if self.newer else [1, 3]}
        begin, end = (0.0, 0.0), (0.0, 0.0)
        if self.library == PILLOW:
            end = tuple(map(float, self.before))
        if self.library == REDUCE:
            begin = tuple(float(min(self.rng.integers(1, 5), size)) for size in self.before)
            self.after = [-(-size // int(factor)) for size, factor in zip(self.before, begin, strict=True)]
        items = int(np.prod(self.shape[self.axes[1] + 1 :]))
        chosen = int(self.rng.choice(filters[self.library]))
        sizes = tuple(self.before), tuple(self.after)
        return _core._resampling(int(self.library), chosen, *sizes, begin, end, items, self.newer)

    def array(self, shape):
        """Random bytes in a layout of any order, with gaps and negative strides."""
        rng, rank = self.rng, len(shape)
        order = list(range(rank)) if rng.random() < 0.5 else list(rng.permutation(rank))
        padded = [size + int(rng.random() < 0.2) for size in shape]
        memory = rng.integers(0, 256, [padded[k] for k in order], np.uint8).transpose(np.argsort(order))
        view = memory[tuple(slice(None, None, -1 if rng.random() < 0.2 else 1) for _ in shape)]
        return view[tuple(slice(0, size) for size in shape)]

    def window(self):
        """Some of the result, and the slices that select it; or all of it."""
        whole = tuple([slice(None)] * len(self.shape))
        if self.rng.random() < 0.5:
            return None, whole
        begins = [int(self.rng.integers(0, size)) for size in self.after]
        counts = [int(self.rng.integers(1, size - begin + 1)) for size, begin in zip(self.after, begins, strict=True)]
        slices = list(whole)
        for axis, begin, count in zip(self.axes, begins, counts, strict=True):
            slices[axis] = slice(begin, begin + count)
        return (begins[0], counts[0], begins[1], counts[1]), tuple(slices)


def check(seed, longest):
    case = Case(np.random.default_rng(seed), longest)
    if case.resampling is None:
        return
    x = case.array(case.shape)
    window, slices = case.window()
    expected = meaning(x, case.resampling, case.axes)[slices]
    out = case.array(expected.shape) if seed % 2 else None
    for kernel in KERNELS:
        _core._resize_by(kernel)
        result = _core._resample(x, case.resampling, case.axes, window, out, "host", None)
        assert np.array_equal(result, expected), kernel
        assert out is None or result is out


@settings(max_examples=5 * settings.default.max_examples)
@given(seed=st.integers(0, 2**32))
def test_every_kernel_equals_numpy(seed):
    check(seed, 60)


@FEWER
@given(seed=st.integers(0, 2**32))
def test_long_lines(seed):
    """Or columns of thousands of pixels, and outputs of more taps than vectors add at a time."""
    check(seed, 4000)


def pillow(before, after, chosen=3, box=None):
    top, left, bottom, right = box or (0, 0, *before)
    return _core._resampling(PILLOW, chosen, before, after, (top, left), (bottom, right), 3, True)


def test_there_are_kernels_and_a_name_that_is_none_is_refused():
    assert KERNELS[-1] == "plain"
    with pytest.raises(ValueError, match="no kernel of that name runs here: mmx"):
        _core._resize_by("mmx")


# --- alpha ------------------------------------------------------------------------------------------------------------


def alpha_by_the_rule(array, multiplies):
    """An element at a time in integers, as Pillow says it."""
    channels, alpha = array[..., :-1].astype(np.int64), array[..., -1:].astype(np.int64)
    if multiplies:
        product = channels * alpha + 128
        made = (product + (product >> 8)) >> 8
    else:
        made = np.where((alpha == 0) | (alpha == 255), channels, np.minimum(255 * channels // np.maximum(alpha, 1), 255))
    return np.concatenate([made, alpha], -1).astype(np.uint8)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("multiplies", [True, False])
def test_alpha_with_every_channel(kernel, multiplies):
    """Every channel with every alpha, each time at the place of another channel; and what no vector has whole."""
    channel, alpha = np.arange(256), np.arange(256)[:, None]
    x = np.stack(np.broadcast_arrays(channel, channel[::-1], channel ^ 85, alpha), -1).astype(np.uint8)
    _core._resize_by(kernel)
    for part in (x, x[:, :255], x[:, :1], x[:, 3:8], x[:0]):
        part = np.ascontiguousarray(part)
        assert np.array_equal(_core._with_alpha(part, multiplies), alpha_by_the_rule(part, multiplies))


@settings(max_examples=2 * settings.default.max_examples)
@given(seed=st.integers(0, 2**32))
def test_alpha_of_any_layout(seed):
    rng = np.random.default_rng(seed)
    shape = [int(rng.choice([0, 1, 2, 5, 9, 33])) for _ in range(rng.integers(1, 4))] + [int(rng.integers(1, 6))]
    x = Case(rng).array(shape)
    for kernel in KERNELS:
        _core._resize_by(kernel)
        for multiplies in (True, False):
            made = _core._with_alpha(x, multiplies)
            assert made.flags.c_contiguous and made.flags.owndata
            assert np.array_equal(made, alpha_by_the_rule(x, multiplies))


@pytest.mark.parametrize("channels", [2, 4])
def test_alpha_of_large_images(channels):
    """Several threads share them, in chunks of which the last one is smaller."""
    x = np.random.default_rng(0).integers(0, 256, (3, 401, 777, channels), np.uint8)
    assert np.array_equal(_core._with_alpha(x[:, ::-1], True), alpha_by_the_rule(x[:, ::-1], True))
    assert np.array_equal(_core._with_alpha(x[0], False), alpha_by_the_rule(x[0], False))


@pytest.mark.parametrize("array", [np.zeros(4, np.uint8), np.zeros((4, 4), np.int8), [[0, 0]]])
def test_alpha_of_other_arrays_is_refused(array):
    with pytest.raises(TypeError):
        _core._with_alpha(array, True)


# --- the call ---------------------------------------------------------------------------------------------------------


def test_an_array_of_the_host_as_a_device():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (2, 40, 50, 3), np.uint8)
    resampling = pillow((40, 50), (20, 61))
    expected = meaning(x, resampling, (1, 2))
    there = dmlops.asarray(x, device="host")
    result = _core._resample(there, resampling, (1, 2), None, None, None, None)
    assert isinstance(result, dmlops.DeviceArray) and np.array_equal(result.numpy(), expected)
    out = dmlops.empty((2, 20, 61, 3), np.uint8, device="host")
    assert _core._resample(there, resampling, (1, 2), None, out, None, None) is out
    assert np.array_equal(out.numpy(), expected)


@pytest.mark.parametrize("shift", [0, 1, 37])
def test_an_out_that_shares_memory_with_the_input(shift):
    memory = np.random.default_rng(1).integers(0, 256, 20000, np.uint8)
    x, out = memory[: 40 * 50 * 3].reshape(40, 50, 3), memory[shift : shift + 30 * 60 * 3].reshape(30, 60, 3)
    resampling = pillow((40, 50), (30, 60))
    expected = meaning(x.copy(), resampling, (0, 1))
    assert _core._resample(x, resampling, (0, 1), None, out, "host", None) is out
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("portion", [1, 1000, 10**9])
@pytest.mark.parametrize("axes, shape", [((0, 1), (30, 40, 3)), ((1, 2), (3, 30, 40)), ((2, 1), (2, 40, 30))])
def test_portions(axes, shape, portion):
    x = np.random.default_rng(2).integers(0, 256, shape, np.uint8)
    resampling = pillow((30, 40), (17, 50))
    seen = []
    how = (lambda done, all_: seen.append((done, all_)), portion, PART)
    result = _core._resample(x, resampling, axes, (1, 15, 2, 40), None, "host", how)
    expected = np.moveaxis(x, axes, (0, 1))
    expected = np.moveaxis(meaning(expected, resampling, (0, 1))[1:16, 2:42], (0, 1), axes)
    assert np.array_equal(result, expected)
    assert seen[0] == (0, result.nbytes) and seen[-1] == (result.nbytes, result.nbytes)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert len(seen) == 2 or portion < result.nbytes


def test_portions_of_one_pixel():
    """Of OpenCV's cubic, whose parts begin among the items of a pixel."""
    resampling = _core._resampling(OPENCV, 3, (4, 5), (1, 1), (0.0, 0.0), (0.0, 0.0), 1007, False)
    x = np.random.default_rng(4).integers(0, 256, (4, 5, 1007), np.uint8)
    result = _core._resample(x, resampling, (0, 1), None, None, "host", (lambda done, all_: None, 1, PART))
    assert np.array_equal(result, meaning(x, resampling, (0, 1)))


@pytest.mark.parametrize("window", [None, (1, 5, 1, 6)])
@pytest.mark.parametrize("shape, axes", [((4, 3, 3), (1, 0)), ((4, 3, 1, 5), (1, 0)), ((4, 3, 2, 1), (2, 0))])
def test_items_are_what_lies_behind_a_column_but_rows(shape, axes, window):
    """OpenCV's cubic has parts that begin within a pixel."""
    x = np.random.default_rng(3).integers(0, 256, shape, np.uint8)
    moved = np.moveaxis(x, axes, (0, 1))
    items = int(np.prod(shape[axes[1] + 1 :])) // shape[axes[0]]
    resampling = _core._resampling(OPENCV, 3, moved.shape[:2], (6, 7), (0.0, 0.0), (0.0, 0.0), items, False)
    result = _core._resample(x, resampling, axes, window, None, "host", None)
    first_row, rows, first_column, columns = window or (0, 6, 0, 7)
    expected = meaning(moved, resampling, (0, 1))[first_row : first_row + rows, first_column : first_column + columns]
    assert np.array_equal(result, np.moveaxis(expected, (0, 1), axes))


@pytest.mark.parametrize(
    "shape, axes, window, message",
    [
        ((40, 51, 3), (0, 1), None, "input must have 50 columns for this resampling, not 51"),
        ((41, 50, 3), (0, 1), None, "input must have 40 rows for this resampling, not 41"),
        ((40, 50, 3), (0, 0), None, "input must have 50 columns"),
        ((40, 50, 3), (0, 3), None, "axes"),
        ((40, 50, 3), (0,), None, "axes must have 2 entries, and window 4"),
        ((40, 50, 3), (0, 1), (0, 21, 0, 61), "window leaves the 20 rows"),
        ((40, 50, 3), (0, 1), (0, 20, 2, 60), "window leaves the 61 columns"),
        ((40, 50, 3), (0, 1), (-1, 2, 2, 3), "window leaves the 20 rows"),
    ],
)
def test_what_does_not_fit_is_refused(shape, axes, window, message):
    with pytest.raises(ValueError, match=message):
        _core._resample(np.zeros(shape, np.uint8), pillow((40, 50), (20, 61)), axes, window, None, "host", None)


def test_the_same_axis_twice_and_other_dtypes_are_refused():
    square = pillow((40, 40), (20, 61))
    with pytest.raises(ValueError, match="axes must be two different ones"):
        _core._resample(np.zeros((40, 40), np.uint8), square, (0, 0), None, None, "host", None)
    with pytest.raises(TypeError, match="input must have the dtype uint8, not int8"):
        _core._resample(np.zeros((40, 40), np.int8), square, (0, 1), None, None, "host", None)


@pytest.mark.parametrize("shape", [(0, 40, 50, 3), (2, 40, 50, 0)])
def test_empty_batches(shape):
    result = _core._resample(np.zeros(shape, np.uint8), pillow((40, 50), (20, 61)), (1, 2), None, None, "host", None)
    assert result.shape == (shape[0], 20, 61, shape[3])


def test_large_images_are_made_in_bands_by_several_threads():
    """In bands the result is the same; several callers, each with helpers, share no scratch."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 256, (1200, 1600, 3), np.uint8)
    resampling = pillow((1200, 1600), (700, 300))
    _core._resize_by("plain")
    expected = np.stack([_core._resample(x, resampling, (0, 1), (k, 1, 0, 300), None, "host", None)[0] for k in range(700)])
    _core._resize_by(None)
    wrong = []

    def run():
        for _ in range(3):
            result = _core._resample(x, resampling, (0, 1), None, None, "host", None)
            wrong.extend([] if np.array_equal(result, expected) else [result])

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.posix
def test_nothing_beyond_the_pages_of_the_arrays_is_touched():
    """Images flush against pages that may be neither read nor written; a stray access ends the process."""
    script = str(support.ROOT / "tests" / "guard_pages_resize.py")
    done = support.run_python(None, args=(script,), check=False)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-2000:]}"
    assert "cases, all right" in done.stdout
