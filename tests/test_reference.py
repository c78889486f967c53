"""The NumPy twins against the definitions, element by element: the oracle's oracle."""

import itertools
import math

import dmlops
import numpy as np
import pytest
from dmlops import reference
from hypothesis import given
from hypothesis import strategies as st

import strategies

pytestmark = pytest.mark.driverless


def small(call):
    return math.prod(call.input.shape) <= 400


@given(call=strategies.slices().filter(small))
def test_slice(call):
    x, result = strategies.raw(call.input.build()), strategies.raw(call.expected(reference))
    offsets, sizes = call.args[:2]
    strides = call.args[2] if len(call.args) > 2 else [1] * x.ndim
    counts = call.kwargs.get("output_sizes") or [0 if n == 0 else 1 + (n - 1) // abs(s) for n, s in zip(sizes, strides)]
    assert result.shape == tuple(counts)
    for place in itertools.product(*map(range, counts)):
        starts = [o if s > 0 else o + n - 1 for o, n, s in zip(offsets, sizes, strides)]
        source = tuple(a + s * k for a, s, k in zip(starts, strides, place))
        assert result[place].tobytes() == x[source].tobytes()


def test_small_ints_of_numpy_do_not_wrap_round():
    x = np.arange(600).reshape(1, 600)
    result = reference.slice(x, np.array([0, 200], "u1"), np.array([1, 100], "u1"), np.array([1, -1], "i1"))
    assert np.array_equal(result, x[:, 299:199:-1])
    deep = np.zeros((1, 256, 2, 2), np.uint8)
    for block in (np.int8(16), np.array([16, 16], "i1")):
        wide = reference.depth_to_space(deep, block)
        assert wide.shape == (1, 1, 32, 32) and reference.space_to_depth(wide, block).shape == deep.shape


@given(data=st.data())
def test_reverse_subsequences(data):
    call = data.draw(strategies.reversals().filter(small))
    x, result = strategies.raw(call.input.build()), strategies.raw(call.expected(reference))
    lengths, axis = call.arguments()
    axis %= x.ndim
    lengths = np.array(lengths, object)
    if "batch_axis" in call.kwargs:
        shape = [1] * x.ndim
        shape[call.kwargs["batch_axis"]] = -1
        lengths = lengths.reshape(shape)
    lengths = np.broadcast_to(lengths, x.shape[:axis] + (1,) + x.shape[axis + 1 :])
    assert result.shape == x.shape
    for place in np.ndindex(*x.shape):
        length = min(lengths[place[:axis] + (0,) + place[axis + 1 :]], x.shape[axis])
        i = place[axis]
        source = place[:axis] + (length - 1 - i if i < length else i,) + place[axis + 1 :]
        assert result[place].tobytes() == x[source].tobytes()
    assert reference.reverse_subsequences(result, *call.arguments(), **call.kwargs).tobytes() == x.tobytes()


@given(data=st.data(), to_space=st.booleans())
def test_depth_to_space_and_back(data, to_space):
    call = data.draw(strategies.blocks(to_space).filter(small))
    x, result = strategies.raw(call.input.build()), strategies.raw(call.expected(reference))
    deep, wide = (x, result) if to_space else (result, x)
    last = call.kwargs.get("layout") == "NHWC"
    block = call.args[0]
    sizes = [block] * (x.ndim - 2) if isinstance(block, int) else list(block)
    spatial = len(sizes)
    product = math.prod(sizes)
    batch = x.ndim - 1 - spatial
    channel_axis = x.ndim - 1 if last else batch
    first = batch if last else batch + 1
    channels = wide.shape[channel_axis]
    assert deep.shape[channel_axis] == channels * product
    assert [wide.shape[first + k] for k in range(spatial)] == [deep.shape[first + k] * sizes[k] for k in range(spatial)]
    assert deep.shape[:batch] == wide.shape[:batch]
    for place in np.ndindex(*wide.shape):
        c = place[channel_axis]
        block_index = 0
        source = list(place)
        for k in range(spatial):
            inner = place[first + k]
            block_index = block_index * sizes[k] + inner % sizes[k]
            source[first + k] = inner // sizes[k]
        crd = call.kwargs.get("order", "DCR") == "CRD"
        source[channel_axis] = c * product + block_index if crd else block_index * channels + c
        assert wide[place].tobytes() == deep[tuple(source)].tobytes()
    back = reference.space_to_depth if to_space else reference.depth_to_space
    assert back(result, *call.args, **call.kwargs).tobytes() == x.tobytes()


@given(call=strategies.paddings().filter(small))
def test_padding(call):
    x, result = strategies.raw(call.input.build()), strategies.raw(call.expected(reference))
    starts, ends = call.args
    mode = call.kwargs.get("mode", "constant")
    assert result.shape == tuple(map(sum, zip(starts, x.shape, ends)))
    constant = strategies.stored(call.kwargs.get("value", 0), call.input.dtype)

    def inside(i, n):
        """Where an element beside an axis comes from, one fold after the other."""
        while not 0 <= i < n and not (mode == "constant" or n == 0):
            if mode == "edge" or n == 1:
                i = 0 if i < 0 else n - 1
            elif mode == "wrap":
                i = i + n if i < 0 else i - n
            else:
                repeated = mode == "symmetric"
                i = -i - repeated if i < 0 else 2 * (n - 1) - i + repeated
        return i

    expected = x if x.size else np.full(result.shape, constant)
    for axis in range(x.ndim) if x.size else ():
        n = x.shape[axis]
        sources = np.array([inside(i - starts[axis], n) for i in range(result.shape[axis])])
        beside = (sources < 0) | (sources >= n)
        expected = expected.take(np.where(beside, 0, sources), axis)
        expected[(slice(None),) * axis + (beside,)] = constant
    assert result.tobytes() == expected.tobytes()
    assert reference.slice(result, starts, x.shape).tobytes() == x.tobytes()


@given(call=strategies.tiles().filter(small))
def test_tile(call):
    x, result = strategies.raw(call.input.build()), strategies.raw(call.expected(reference))
    assert result.shape == tuple(n * times for n, times in zip(x.shape, call.args[0]))
    for place in np.ndindex(*result.shape):
        assert result[place].tobytes() == x[tuple(i % n for i, n in zip(place, x.shape))].tobytes()


@given(call=strategies.transposes().filter(small))
def test_transpose(call):
    x, result = strategies.raw(call.input.build()), strategies.raw(call.expected(reference))
    axes = (call.args or (None,))[0]
    axes = [axis % x.ndim for axis in (range(x.ndim)[::-1] if axes is None else axes)]
    assert result.shape == tuple(x.shape[axis] for axis in axes)
    for place in np.ndindex(*result.shape):
        source = [0] * x.ndim
        for axis, i in zip(axes, place):
            source[axis] = i
        assert result[place].tobytes() == x[tuple(source)].tobytes()
    assert reference.transpose(result, np.argsort(axes).astype(int)).tobytes() == x.tobytes()


@given(call=strategies.upsamples().filter(small))
def test_upsample(call):
    x, result = strategies.raw(call.input.build()), strategies.raw(call.expected(reference))
    factors = call.args[0]
    factors = [factors] * (x.ndim - 2) if isinstance(factors, int) else list(factors)
    behind = [1] if call.kwargs.get("layout") == "NHWC" else []
    factors = [1] * (x.ndim - len(factors) - len(behind)) + factors + behind
    assert result.shape == tuple(n * factor for n, factor in zip(x.shape, factors))
    for place in np.ndindex(*result.shape):
        assert result[place].tobytes() == x[tuple(i // factor for i, factor in zip(place, factors))].tobytes()


@given(call=strategies.joins().filter(small))
def test_join_and_split(call):
    arrays, result = [strategies.raw(array) for array in call.build()], strategies.raw(call.expected(reference))
    axis = call.args[0] % result.ndim
    owners = [(array, i) for array in arrays for i in range(array.shape[axis])]
    for place in np.ndindex(*result.shape):
        array, i = owners[place[axis]]
        assert result[place].tobytes() == array[(*place[:axis], i, *place[axis + 1 :])].tobytes()
    parts = reference.split(result, axis, [array.shape[axis] for array in arrays])
    assert [part.shape for part in parts] == [array.shape for array in arrays]
    assert strategies.content(parts) == strategies.content(arrays)


@given(call=strategies.slice_grads().filter(small))
def test_slice_grad(call):
    x, result = strategies.raw(call.input.build()), strategies.raw(call.expected(reference))
    shape, offsets, sizes, strides = (*call.args, [1] * x.ndim)[:4]
    assert result.shape == tuple(shape)
    expected = np.zeros(shape, result.dtype)
    for place in np.ndindex(*x.shape):
        starts = [o if s > 0 else o + n - 1 for o, n, s in zip(offsets, sizes, strides)]
        expected[tuple(a + s * k for a, s, k in zip(starts, strides, place))] = x[place]
    assert result.tobytes() == expected.tobytes()
    assert reference.slice(result, offsets, sizes, strides, output_sizes=x.shape).tobytes() == x.tobytes()


class Index:
    def __index__(self):
        return 1


INT = np.int64
X2, X4 = np.arange(12).reshape(3, 4), np.arange(2 * 4 * 4 * 6).reshape(2, 4, 4, 6)
FORMS = [
    ("padding", (X2, 1), {}),
    ("padding", (X2, INT(1)), {}),
    ("padding", (X2, np.array([1, 2]), np.array([0, 1])), {"mode": "reflect"}),
    ("tile", (X2, np.array([2, 2])), {}),
    ("split", (X2, INT(1), np.array([1, 3])), {}),
    ("split", (X2, Index(), [1, 3]), {}),
    ("transpose", (X2, np.array([-1, 0])), {}),
    ("upsample", (X4, INT(2)), {}),
    ("upsample", (X4, np.array([2, 1])), {}),
    ("depth_to_space", (X4, INT(2)), {}),
    ("space_to_depth", (X4, np.array(2)), {}),
    ("slice", (X2, np.s_[::2, 1:]), {}),
    ("take", (X2, np.uint64(1), INT(0)), {}),
    ("take", (X2, [[1], [0], [2]], INT(1)), {"batch_dims": INT(1)}),
    ("take_along_axis", (X2, [[1], [0], [2]], INT(1)), {}),
    ("gather_nd", (X2, [[1], [0], [1]]), {"batch_dims": INT(1)}),
    ("put_along_axis", (X2, [1, 2], 7, None), {}),
    ("scatter_nd", (X2, [[1, 1]], 9), {}),
    ("reverse_subsequences", (X2, [1, 2, 3], INT(1)), {"batch_axis": INT(0)}),
    ("join", ((X2, X2.tolist()), INT(0)), {}),
    ("sliding_windows", (X2, np.array(2), np.array(1)), {"strides": INT(2)}),
    ("resize_nearest", (X2, np.array([3, 2])), {}),
    ("resize_nearest", (X2,), {"scales": INT(2), "axes": INT(1)}),
    ("roll", (X2, np.array([1, 2]), np.array([0, 1])), {}),
    ("crops", (X4, np.zeros((2, 2), np.uint64), INT(2)), {}),
    ("one_hot", ([0, 1], np.array(3)), {"axis": INT(0), "on": np.uint8(5)}),
    ("resize_pillow", (X4[0, ..., :3].astype(np.uint8), np.array([2, 3]), INT(2)), {}),
    ("resize_torchvision", (X4[0].astype(np.uint8), INT(2)), {}),
]


@pytest.mark.parametrize("name, arguments, more", FORMS, ids=lambda one: str(one)[:24])
def test_twins_take_what_the_operators_take(name, arguments, more):
    """Ints where these are for all axes, NumPy's integers, arrays of them."""
    expected = getattr(dmlops, name)(*arguments, **more, device="host")
    found = getattr(reference, name)(*arguments, **more)
    pairs = zip(found, expected, strict=True) if isinstance(expected, list) else [(found, expected)]
    assert all(strategies.content(one) == strategies.content(other) for one, other in pairs)


BEYOND = [
    ("split", (X2, 2, [1, 1]), {}),
    ("split", (X2, -3, [1]), {}),
    ("split", (np.array(1), 0, [1]), {}),
    ("take", (X2, [0], 2), {}),
    ("take_along_axis", (X2, [[0]], -3), {}),
    ("put_along_axis", (X2, [[0]], 7, 2), {}),
    ("sliding_windows", (X2, 2, 2), {}),
    ("resize_nearest", (X2, [3]), {"axes": [2]}),
    ("join", ((X2, X2), 2), {}),
    ("transpose", (X2, [0, 2]), {}),
    ("roll", (X2, 1, 2), {}),
    ("one_hot", ([0, 1], 3), {"axis": 2}),
]


@pytest.mark.parametrize("name, arguments, more", BEYOND, ids=lambda one: str(one)[:24])
def test_an_axis_that_is_not_there(name, arguments, more):
    """For a twin as for the operator, whatever a remainder would make of it."""
    for module in (dmlops, reference):
        with pytest.raises(np.exceptions.AxisError):
            getattr(module, name)(*arguments, **more)
