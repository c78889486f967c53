"""Random calls of the operators with many cases, compared with onnxruntime to the bit."""

import math
from fractions import Fraction

import dmlops.onnx
import numpy as np
import onnxruntime
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from onnx import helper

onnxruntime.set_default_logger_severity(4)


def both(operator, inputs, opset, device, outputs=1, **attributes):
    names = [f"i{k}" if value is not None else "" for k, value in enumerate(inputs)]
    node = helper.make_node(operator, names, [f"o{k}" for k in range(outputs)], **attributes)
    feed = {name: value for name, value in zip(names, inputs, strict=True) if name}
    kinds = {name: helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in feed.items()}
    values = [helper.make_tensor_value_info(name, kinds[name], value.shape) for name, value in feed.items()]
    results = [helper.make_tensor_value_info(name, kinds["i0"], None) for name in node.output]
    graph = helper.make_graph([node], "graph", values, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    try:
        expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feed)
    except onnxruntime.capi.onnxruntime_pybind11_state.Fail:
        assume(False)
    actual = dmlops.onnx.backend.run_node(node, list(feed.values()), device, opset_version=opset)
    for ours, theirs in zip(actual, expected, strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert ours.tobytes() == theirs.tobytes(), (ours, theirs)


def arrays(draw, low=1, high=7):
    shape = [draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.integers(low, high)), draw(st.integers(low, high))]
    return np.arange(np.prod(shape), dtype=draw(st.sampled_from(["f4", "u1", "i4"]))).reshape(shape)


MODES = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"]
ROUNDINGS = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
EMPTY = np.zeros(0, np.float32)


@given(data=st.data())
def test_resize_by_whole_factors(data, device):
    draw = data.draw
    factors = [draw(st.sampled_from([1, 2, 3, 4, 5])) for _ in range(2)]
    down = draw(st.booleans())
    x = arrays(draw)
    if down:
        x = np.ascontiguousarray(np.tile(x, (1, 1, *factors)))
    mode = draw(st.sampled_from(MODES))
    opset = (
        11 if mode == "tf_half_pixel_for_nn" else 19 if mode == "half_pixel_symmetric" else draw(st.sampled_from([11, 13, 18]))
    )
    scales = np.array([1, 1, *factors], np.float32)
    scales = 1 / scales if down else scales
    sizes = np.round(np.array(x.shape) * scales).astype(np.int64)
    exact = not down or not {3, 5}.intersection(factors)  # in single precision
    operands = [EMPTY, scales] if exact and draw(st.booleans()) else [EMPTY, EMPTY, sizes]
    rounding = draw(st.sampled_from(ROUNDINGS))
    both("Resize", [x, *operands], opset, device, coordinate_transformation_mode=mode, nearest_mode=rounding)


def exact_index(mode, rounding, size, result):
    """The nearest elements along an axis, by the formulas of the specification and in rational numbers."""
    half, scale = Fraction(1, 2), Fraction(result, size)
    for k in range(result):
        x = {
            "half_pixel": (k + half) / scale - half,
            "half_pixel_symmetric": (k + half) / scale - half,  # the same where sizes are given
            "pytorch_half_pixel": (k + half) / scale - half if result > 1 else Fraction(0),
            "align_corners": Fraction(k * (size - 1), max(result - 1, 1)),
            "asymmetric": k / scale,
        }[mode]
        nearest = {
            "floor": math.floor(x),
            "ceil": math.ceil(x),
            "round_prefer_floor": math.ceil(x - half),
            "round_prefer_ceil": math.floor(x + half),
        }[rounding]
        yield min(max(nearest, 0), size - 1)


@given(data=st.data())
def test_resize_to_any_size(data, device):
    draw, x = data.draw, arrays(data.draw)
    sizes = [draw(st.integers(1, 15)) for _ in range(2)]
    mode, rounding = draw(st.sampled_from(MODES[:-1])), draw(st.sampled_from(ROUNDINGS))
    expected = x
    for axis, result in enumerate(sizes, 2):
        if result != x.shape[axis]:
            expected = expected.take(list(exact_index(mode, rounding, x.shape[axis], result)), axis)
    node = helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], coordinate_transformation_mode=mode, nearest_mode=rounding)
    (actual,) = dmlops.onnx.backend.run_node(node, [x, np.array([*x.shape[:2], *sizes])], device, opset_version=19)
    assert actual.shape == expected.shape and actual.tobytes() == np.ascontiguousarray(expected).tobytes()


@given(data=st.data())
def test_pad(data, device):
    draw, x = data.draw, arrays(data.draw, 3)
    mode = draw(st.sampled_from(["constant", "edge", "reflect", "wrap"]))
    amounts = [
        draw(st.integers(-1 if k % 4 > 1 and mode in ("constant", "edge") else 0, 2 if k % 4 > 1 else 0)) for k in range(8)
    ]
    value = np.array(draw(st.integers(0, 100)), x.dtype) if mode == "constant" and draw(st.booleans()) else None
    opset = 19 if mode == "wrap" else draw(st.sampled_from([13, 18]))
    both("Pad", [x, np.array(amounts), *([value] if value is not None else [])], opset, device, mode=mode)


@given(data=st.data())
def test_slice(data, device):
    draw, x = data.draw, arrays(data.draw)
    axes = draw(st.permutations(range(-4, 0)))[: draw(st.integers(1, 4))]
    bound, step = st.integers(-9, 9), st.integers(-3, 3).filter(bool)
    starts, ends, steps = ([draw(entry) for _ in axes] for entry in (bound, bound, step))
    both("Slice", [x, np.array(starts), np.array(ends), np.array(axes), np.array(steps)], 13, device)


@given(data=st.data())
def test_gather(data, device):
    draw, x = data.draw, arrays(data.draw)
    axis = draw(st.integers(-4, 3))
    index = st.integers(-x.shape[axis], x.shape[axis] - 1)
    shape = draw(st.sampled_from([(), (1,), (9,), (2, 3)]))
    indices = np.array([draw(index) for _ in range(int(np.prod(shape)))], draw(st.sampled_from(["i4", "i8"]))).reshape(shape)
    both("Gather", [x, indices], 13, device, axis=axis)


@given(data=st.data())
def test_single_elements(data, device):
    """Indices stand beside the first elements along the other axes, and a place is written once."""
    draw, x = data.draw, arrays(data.draw)
    axis = draw(st.integers(-4, 3))
    size = x.shape[axis]
    shape = [draw(st.integers(1, whole)) for whole in x.shape]
    random = np.random.default_rng(draw(st.integers(0, 99)))
    order = random.permuted(np.indices(x.shape)[axis], axis=axis) - size * random.integers(0, 2, x.shape)
    indices = order[tuple(map(slice, shape))].astype(draw(st.sampled_from(["i4", "i8"])))
    both("GatherElements", [x, indices], 13, device, axis=axis)
    both("ScatterElements", [x, indices, np.resize(x[::-1], shape)], draw(st.sampled_from([11, 18])), device, axis=axis)
    longer = np.concatenate([indices, indices], axis)
    both("GatherElements", [x, longer], 13, device, axis=axis)


@given(data=st.data())
def test_tuples_of_indices(data, device):
    draw, x = data.draw, arrays(data.draw)
    count, batch = draw(st.integers(1, 4)), draw(st.integers(0, 2))
    count = min(count, 4 - batch)
    shape = (*x.shape[:batch], *draw(st.sampled_from([(), (1,), (5,), (2, 3)])))
    sizes = x.shape[batch : batch + count]
    whole = [[draw(st.integers(-size, size - 1)) for size in sizes] for _ in range(math.prod(shape))]
    both("GatherND", [x, np.array(whole).reshape(*shape, count)], 13, device, batch_dims=batch)
    sizes = x.shape[:count]
    places = draw(st.lists(st.integers(0, math.prod(sizes) - 1), min_size=1, max_size=6, unique=True))
    tuples = np.stack(np.unravel_index(places, sizes), -1) - np.array(sizes) * draw(st.integers(0, 1))
    updates = np.resize(x[::-1], (len(places), *x.shape[count:]))
    both("ScatterND", [x, tuples, updates], draw(st.sampled_from([11, 18])), device)


@pytest.mark.parametrize("dtype", ["bool", "f2", "f8", "i8", "u2"])
def test_types(dtype, device):
    x = np.arange(24).reshape(1, 2, 3, 4).astype(dtype)
    both("Transpose", [x], 13, device, perm=[3, 1, 0, 2])
    both("Concat", [x, x], 13, device, axis=2)
    both("Expand", [x, np.array([2, 1, 1, 1])], 13, device)
    both("Split", [x], 13, device, outputs=2, axis=3)
