"""ONNX's operators, run by onnxruntime on the CPU."""

import dmlops
import numpy as np
import onnxruntime
import pytest
from onnx import helper


def run(operator, inputs, **attributes):
    """One node of ONNX opset 13, in a session of its own."""
    names = [f"input{i}" for i in range(len(inputs))]
    kind = helper.np_dtype_to_tensor_dtype
    node = helper.make_node(operator, names, ["output"], **attributes)
    graph = helper.make_graph(
        [node],
        operator,
        [helper.make_tensor_value_info(name, kind(x.dtype), x.shape) for name, x in zip(names, inputs)],
        [helper.make_tensor_value_info("output", kind(inputs[0].dtype), None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip(names, inputs)))[0]


def image(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).integers(0, 100, shape).astype(dtype)


@pytest.mark.parametrize("order", ["DCR", "CRD"])
@pytest.mark.parametrize("block", [1, 2, 3])
@pytest.mark.parametrize("shape", [(1, 36, 5, 7), (2, 72, 3, 30)])
def test_depth_to_space(device, order, block, shape):
    x = image(shape)
    expected = run("DepthToSpace", [x], blocksize=block, mode=order)
    assert np.array_equal(dmlops.depth_to_space(x, block, order=order, device=device), expected)


@pytest.mark.parametrize("block", [1, 2, 3])
@pytest.mark.parametrize("shape", [(1, 1, 6, 12), (2, 5, 18, 30)])
def test_space_to_depth(device, block, shape):
    x = image(shape)
    expected = run("SpaceToDepth", [x], blocksize=block)
    assert np.array_equal(dmlops.space_to_depth(x, block, device=device), expected)


@pytest.mark.parametrize("dtype", ["float32", "uint8", "int64"])
@pytest.mark.parametrize("seed", range(20))
def test_slice(device, dtype, seed):
    rng = np.random.default_rng(seed)
    x = image(tuple(int(n) for n in rng.integers(1, 40, 4)), dtype, seed)
    key = []
    for dim in x.shape:
        start, stop = sorted(int(n) for n in rng.integers(0, dim + 1, 2))
        step = int(rng.choice([1, 2, 3, -1, -2]))
        key.append(np.s_[start:stop:step] if step > 0 else np.s_[stop - dim - 1 : start - dim - 1 : step])
    starts, ends, steps = (np.array([getattr(part, name) for part in key]) for name in ("start", "stop", "step"))
    expected = run("Slice", [x, starts, ends, np.arange(4), steps])
    result = dmlops.slice(x, *dmlops.slice_from_key(x.shape, tuple(key)), device=device)
    assert result.shape == expected.shape and np.array_equal(result, expected)


@pytest.mark.parametrize("time_axis", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "uint8", "int32"])
def test_reverse_sequence(device, time_axis, dtype):
    # Lengths from 1 up to the axis: onnxruntime releases disagree about zero, and refuse more.
    x = image((9, 12, 5), dtype)
    batch_axis = 1 - time_axis
    lengths = np.random.default_rng(2).integers(1, x.shape[time_axis] + 1, x.shape[batch_axis])
    expected = run("ReverseSequence", [x, lengths], batch_axis=batch_axis, time_axis=time_axis)
    result = dmlops.reverse_subsequences(x, lengths, time_axis, batch_axis=batch_axis, device=device)
    assert np.array_equal(result, expected)
