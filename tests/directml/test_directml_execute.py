"""Random descriptions on buffers: strides, broadcasts, buffers larger than needed; every byte compared."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import dmlops
import dmlops.directml as dml

import described


def noise(random, size):
    return np.frombuffer(random.bytes(size), np.uint8).copy()


def buffer_for(random, tensor, lengths):
    """A buffer that a tensor fits in, with room behind, as bytes or as elements."""
    dtype = tensor.dtype
    count = tensor.extent + int(random.integers(0, 9))
    count += (count,) == tuple(tensor.Sizes)  # of the tensor's shape, it would not be a buffer
    if lengths:  # mostly within the axis
        return random.integers(0, 7, count).astype(dtype)
    buffer = noise(random, count * dtype.itemsize)
    return buffer if random.integers(2) else buffer.view(dtype)


@hypothesis.given(desc=described.random_desc(), seed=st.integers(0, 2**32 - 1), level=st.sampled_from(["6_4", None]))
def test_random_descriptions_equal_their_twins(devices, desc, seed, level):
    random = np.random.default_rng(seed)
    bindings, inputs, expected = {}, {}, {}
    dml.validate(desc, level)
    for name, _, tensor in desc.tensors():
        buffer = buffer_for(random, tensor, name == "SequenceLengthsTensor")
        if name == "IndicesTensor":
            buffer = buffer.view(tensor.dtype)
            places = described.places(tensor)
            least = np.full(buffer.size, np.iinfo(np.int64).max)  # of the axes that one entry in memory is an index of
            np.minimum.at(least, places, np.broadcast_to(described.largest_index(desc), places.shape))
            most = least[places]
            signed = tensor.dtype.kind == "i"
            wild = int(desc.operator == "ONE_HOT")  # which takes indices that are out of range
            buffer[places] = random.integers(-most * signed - wild * signed, most + wild)
        bindings.setdefault(name, []).append(buffer)
        if not name.startswith("Output"):
            inputs.setdefault(name, []).append(buffer.view(tensor.dtype)[described.places(tensor)])
    single = {name for name, place, _ in desc.tensors() if name == place}
    inputs = {name: arrays[0] if name in single else arrays for name, arrays in inputs.items()}
    results = described.twin(desc, inputs)
    results = results if isinstance(results, list) else [results]
    for (name, _, tensor), result in zip(
        [entry for entry in desc.tensors() if entry[0].startswith("Output")], results, strict=True
    ):
        index = len(expected.setdefault(name, []))
        after = bindings[name][index].copy()
        after.view(tensor.dtype)[described.places(tensor)] = result
        expected[name].append(after)
    untouched = bindings
    for device in devices:
        bindings = {name: [array.copy() for array in arrays] for name, arrays in untouched.items()}
        bound = {name: arrays[0] if name in single else arrays for name, arrays in bindings.items()}
        outputs = dml.execute(desc, bound, feature_level=level, device=device)
        for name, arrays in bindings.items():
            for array, after in zip(arrays, expected.get(name, untouched[name]), strict=True):
                assert array.tobytes() == after.tobytes(), name
            if name in expected:
                assert outputs[name] is bound[name] or all(a is b for a, b in zip(outputs[name], bound[name], strict=True))

        for name in expected:  # the same with new outputs
            bound.pop(name)
            made = dml.execute(desc, bound, feature_level=level, device=device)[name]
            for array, result in zip(made if isinstance(made, list) else [made], results, strict=True):
                assert array.flags.c_contiguous and array.shape == result.shape
                assert array.tobytes() == np.ascontiguousarray(result).tobytes()


def smallest_call(operator):
    """A description, and inputs of ones."""
    desc = described.smallest(operator, 4, described.RUN.get(operator, ["FLOAT32"])[0])
    bindings = {name: np.ones(tuple(tensor.Sizes), tensor.dtype) for name, _, tensor in desc.tensors() if "Output" not in name}
    return desc, bindings | {name: [bindings[name]] for name in bindings if name.endswith("Tensors")}


@pytest.mark.driverless
@pytest.mark.parametrize("operator", described.OPERATORS)
def test_an_equal_description_is_traced_no_more(monkeypatch, operator):
    expected = dml.execute(*smallest_call(operator), device="host")
    monkeypatch.setattr("dmlops.fusion.fused._compile", None)
    again = dml.execute(*smallest_call(operator), device="host")
    assert all(np.array_equal(again[name], expected[name]) for name in expected) and expected


@pytest.mark.parametrize("operator", described.OPERATORS)
def test_every_operator_of_the_table_runs(device, operator):
    desc, bindings = smallest_call(operator)
    for name, results in dml.execute(desc, bindings, device=device).items():
        tensors = [tensor for field, _, tensor in desc.tensors() if field == name]
        for result, tensor in zip(results if isinstance(results, list) else [results], tensors, strict=True):
            assert result.shape == tuple(tensor.Sizes) and result.dtype == tensor.dtype


def tile_of(data_type, **fields):
    x, y = dml.TENSOR_DESC(data_type, [2, 2], **fields), dml.TENSOR_DESC(data_type, [4, 2])
    return dml.TILE_OPERATOR_DESC(x, y, 2, [2, 1])


def test_an_array_of_the_tensor_s_shape_has_strides_of_its_own(device):
    x = np.arange(8, dtype=np.int16).reshape(2, 4)[:, ::-2]
    result = dml.execute(tile_of("INT16", Strides=[0, 0]), {"InputTensor": x}, device=device)["OutputTensor"]
    assert result.tolist() == [[3, 1], [7, 5], [3, 1], [7, 5]]


def test_in_place(device):
    x = dml.TENSOR_DESC("UINT8", [3, 5])
    buffer = np.arange(15, dtype=np.uint8)
    desc = dml.SLICE1_OPERATOR_DESC(x, x, 2, [0, 0], [3, 5], [-1, -1])
    outputs = dml.execute(desc, {"InputTensor": buffer, "OutputTensor": buffer}, device=device)
    assert outputs["OutputTensor"] is buffer and buffer.tolist() == list(range(14, -1, -1))


def test_a_transpose_is_an_identity_with_other_strides(device):
    x = dml.TENSOR_DESC("FLOAT32", [3, 5])
    y = dml.TENSOR_DESC("FLOAT32", [3, 5], Strides=[1, 3])
    values, out = np.arange(15, dtype=np.float32), np.zeros(15, np.float32)
    dml.execute(dml.ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, y), {"InputTensor": values, "OutputTensor": out}, device=device)
    assert out.tolist() == values.reshape(3, 5).T.ravel().tolist()


def test_some_outputs_of_a_split_may_be_bound(device):
    x, y = dml.TENSOR_DESC("UINT16", [4]), dml.TENSOR_DESC("UINT16", [2])
    out = np.zeros(5, np.uint16)
    desc = dml.SPLIT_OPERATOR_DESC(x, 2, [y, y], 0)
    values = np.arange(4, dtype=np.uint16)
    first, second = dml.execute(desc, {"InputTensor": values, "OutputTensors": [None, out]}, device=device)["OutputTensors"]
    assert first.tolist() == [0, 1] and second is out and out.tolist() == [2, 3, 0, 0, 0]


def test_device_arrays(device):
    x = dmlops.asarray(np.arange(6, dtype=np.float32).reshape(2, 3), device=device)
    tensor = dml.TENSOR_DESC("FLOAT32", [2, 3])
    desc = dml.DIAGONAL_MATRIX1_OPERATOR_DESC(tensor, tensor, "FLOAT32", 9, 1, 3)
    result = dml.execute(desc, {"InputTensor": x})["OutputTensor"]
    assert isinstance(result, dmlops.DeviceArray)
    assert result.numpy().tolist() == [[0, 9, 9], [3, 4, 9]]
    out = dmlops.empty((2, 3), np.float32, device=device)
    assert (
        dml.execute(dml.FILL_VALUE_CONSTANT_OPERATOR_DESC(tensor, "FLOAT32", 7), {"OutputTensor": out})["OutputTensor"] is out
    )
    assert out.numpy().tolist() == [[7] * 3] * 2
    whole = dml.SPLIT_OPERATOR_DESC(tensor, 2, [dml.TENSOR_DESC("FLOAT32", [1, 3])] * 2, 0)
    kept = dmlops.empty((1, 3), np.float32, device=device)
    parts = dml.execute(whole, {"InputTensor": x, "OutputTensors": [kept, None]})["OutputTensors"]
    assert parts[0] is kept and [part.numpy().tolist() for part in parts] == [[[0, 1, 2]], [[3, 4, 5]]]


def test_device_arrays_have_the_shape_of_their_tensors():
    desc = tile_of("INT16")
    flat = dmlops.asarray(np.zeros(4, np.int16), device="host")
    with pytest.raises(dml.DirectMLError, match=r"is a DeviceArray, int16 of shape \(4,\); allowed: int16 of shape \(2, 2\)"):
        dml.execute(desc, {"InputTensor": flat})


def test_a_buffer_of_bytes_may_end_within_an_element(device):
    buffer = np.arange(11, dtype=np.uint8)
    result = dml.execute(tile_of("INT16"), {"InputTensor": buffer}, device=device)["OutputTensor"]
    assert result.tobytes() == 2 * buffer[:8].tobytes()


def test_empty_slices_run_where_only_running_counts(device):
    x = np.arange(12, dtype=np.int8).reshape(3, 4)
    tensors = dml.TENSOR_DESC("INT8", [3, 4]), dml.TENSOR_DESC("INT8", [0, 2])
    for desc in (
        dml.SLICE_OPERATOR_DESC(*tensors, 2, [3, 0], [0, 2], [2, 1]),
        dml.SLICE1_OPERATOR_DESC(*tensors, 2, [3, 0], [0, 2], [-2, 1]),
    ):
        assert dml.execute(desc, {"InputTensor": x}, feature_level=None, device=device)["OutputTensor"].shape == (0, 2)
    grad = dml.SLICE_GRAD_OPERATOR_DESC(*reversed(tensors), 2, [3, 0], [0, 2], [-2, 1])
    bindings = {"InputGradientTensor": np.zeros((0, 2), np.int8)}
    result = dml.execute(grad, bindings, feature_level=None, device=device)["OutputGradientTensor"]
    assert result.shape == (3, 4) and not result.any()


def test_rank_0_runs_where_only_running_counts(device):
    x = dml.TENSOR_DESC("INT16", [])
    desc = dml.ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, x)
    with pytest.raises(dml.DirectMLError, match="DimensionCount is 0; allowed: 1 to 8"):
        dml.validate(desc)
    for source in (np.array(7, np.int16), np.array([7, 8], np.int16)):
        result = dml.execute(desc, {"InputTensor": source}, feature_level=None, device=device)["OutputTensor"]
        assert result.shape == () and result == 7


def test_an_image_without_channels_is_upsampled_where_only_running_counts(device):
    desc = dml.UPSAMPLE_2D_OPERATOR_DESC(dml.TENSOR_DESC("INT8", [2, 3]), dml.TENSOR_DESC("INT8", [4, 3]), dml.SIZE_2D(1, 2), 0)
    x, out = np.arange(6, dtype=np.int8).reshape(2, 3), np.zeros(12, np.int8)
    made = dml.execute(desc, {"InputTensor": x}, feature_level=None, device=device)["OutputTensor"]
    dml.execute(desc, {"InputTensor": x, "OutputTensor": out}, feature_level=None, device=device)
    assert made.tolist() == out.reshape(4, 3).tolist() == x.repeat(2, 0).tolist()


@pytest.mark.parametrize("value", [b"\x01\xfe", np.float16(1.5)])
def test_a_scalar_may_be_bytes_or_numpy_s(device, value):
    tensor = dml.TENSOR_DESC("FLOAT16", [2])
    desc = dml.FILL_VALUE_CONSTANT_OPERATOR_DESC(tensor, "FLOAT16", value)
    result = dml.execute(desc, {}, device=device)["OutputTensor"]
    assert result.tobytes() == 2 * (value if isinstance(value, bytes) else value.tobytes())


X = np.zeros((2, 2), np.int16)
WRONG_BINDINGS = [
    ({}, "bindings['InputTensor'] is missing; allowed: an array, as for every input"),
    ({"InputTensor": X, "Input": X}, "bindings['Input'] is bound; allowed: only InputTensor, OutputTensor"),
    ({"InputTensor": X.astype(np.uint16)}, "is uint16 of shape (2, 2); allowed: int16 of shape (2, 2), or a one-dimensional"),
    ({"InputTensor": X.astype(">i2")}, "is >i2 of shape (2, 2); allowed: int16"),
    ({"InputTensor": X[:1]}, "is int16 of shape (1, 2)"),
    ({"InputTensor": X.ravel()[:3]}, "is a buffer of 6 bytes; allowed: 8 bytes or more"),
    ({"InputTensor": np.zeros(16, np.uint8)[::2]}, "is a buffer of bytes with gaps; allowed: one without"),
    ({"InputTensor": X, "OutputTensor": np.broadcast_to(np.int16(1), (4, 2))}, "is read-only; allowed: a writable array"),
]


@pytest.mark.parametrize("bindings, message", WRONG_BINDINGS)
def test_bindings_that_do_not_fit(bindings, message):
    with pytest.raises(dml.DirectMLError) as caught:
        dml.execute(tile_of("INT16"), bindings, device="host")
    assert message in str(caught.value)


def test_a_buffer_is_as_large_as_its_tensor_says():
    desc = tile_of("INT16", TotalTensorSizeInBytes=12)
    with pytest.raises(dml.DirectMLError, match="a buffer of 8 bytes; allowed: 12 bytes or more"):
        dml.execute(desc, {"InputTensor": np.zeros(4, np.int16)}, device="host")
    dml.execute(desc, {"InputTensor": np.zeros(6, np.int16)}, device="host")


@pytest.mark.parametrize("bindings", [None, [X], {"InputTensor": [[1, 2], [3, 4]]}, {"InputTensor": "x"}])
def test_bindings_of_the_wrong_type(bindings):
    with pytest.raises(TypeError, match="bindings"):
        dml.execute(tile_of("INT16"), bindings, device="host")


def test_several_tensors_take_a_list():
    x = dml.TENSOR_DESC("INT16", [2, 2])
    desc = dml.JOIN_OPERATOR_DESC(2, [x, x], dml.TENSOR_DESC("INT16", [4, 2]), 0)
    with pytest.raises(TypeError, match="allowed: a list of 2 arrays"):
        dml.execute(desc, {"InputTensors": X}, device="host")
    with pytest.raises(dml.DirectMLError, match=r"len\(bindings\['InputTensors'\]\) is 1; allowed: 2"):
        dml.execute(desc, {"InputTensors": [X]}, device="host")
    with pytest.raises(dml.DirectMLError, match=r"bindings\['InputTensors\[1\]'\] is missing"):
        dml.execute(desc, {"InputTensors": [X, None]}, device="host")


def test_what_validate_refuses_is_not_run():
    out = np.full((4, 2), 5.5)
    with pytest.raises(dml.DirectMLError, match="FLOAT64; allowed: FLOAT32"):
        dml.execute(tile_of("FLOAT64"), {"InputTensor": np.zeros((2, 2)), "OutputTensor": out}, device="host")
    assert (out == 5.5).all()
    dml.execute(tile_of("FLOAT64"), {"InputTensor": np.zeros((2, 2)), "OutputTensor": out}, feature_level=None, device="host")
    assert (out == 0).all()


def test_empty_tensors_run_where_only_running_counts(device):
    x, y = dml.TENSOR_DESC("INT8", [2, 0]), dml.TENSOR_DESC("INT8", [4, 0])
    desc = dml.TILE_OPERATOR_DESC(x, y, 2, [2, 1])
    bindings = {"InputTensor": np.zeros((2, 0), np.int8)}
    with pytest.raises(dml.DirectMLError, match="1 or more"):
        dml.execute(desc, bindings, device=device)
    assert dml.execute(desc, bindings, feature_level=None, device=device)["OutputTensor"].shape == (4, 0)


@pytest.mark.parametrize("sizes", [[0, 2**31], [2**31, 0], [0, 2**32 - 1], [2**32 - 1, 0], [0, 1, 2, 2**30], [1, 0, 3, 3]])
@pytest.mark.parametrize("name", ["DIAGONAL_MATRIX", "DIAGONAL_MATRIX1"])
def test_the_diagonal_of_an_empty_matrix_takes_no_memory(device, name, sizes):
    tensor = dml.TENSOR_DESC("FLOAT32", sizes)
    one = dml.DIAGONAL_MATRIX_OPERATOR_DESC(tensor, 0, 2.0) if name == "DIAGONAL_MATRIX" else None
    desc = one or dml.DIAGONAL_MATRIX1_OPERATOR_DESC(None, tensor, "FLOAT32", 2.0, 0, 1)
    assert dml.execute(desc, {}, feature_level=None, device=device)["OutputTensor"].shape == tuple(sizes)
