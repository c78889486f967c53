"""Each operator against its NumPy twin: every dtype, shape, layout and argument, to the byte."""

import dmlops
import numpy as np
import pytest
from dmlops import reference
from hypothesis import given
from hypothesis import strategies as st

import strategies
from strategies import content


def check(call, device):
    array = call.input.build()
    before = content(array)
    result = call.run(dmlops, array, device=device)
    expected = call.expected(reference, array)
    assert type(result) is np.ndarray
    assert result.dtype == array.dtype and result.dtype.isnative == array.dtype.isnative
    assert result.shape == expected.shape
    assert content(result) == content(expected)
    assert result.flags.c_contiguous and result.flags.writeable and result.flags.owndata and result.flags.aligned
    assert content(array) == before, "the input changed"


@given(data=st.data())
def test_slice(device, data):
    check(data.draw(strategies.slices()), device)


@given(data=st.data())
def test_depth_to_space(device, data):
    check(data.draw(strategies.blocks(to_space=True)), device)


@given(data=st.data())
def test_space_to_depth(device, data):
    check(data.draw(strategies.blocks(to_space=False)), device)


@given(data=st.data())
def test_reverse_subsequences(device, data):
    check(data.draw(strategies.reversals()), device)


@given(data=st.data())
def test_space_to_depth_is_the_inverse(device, data):
    call = data.draw(strategies.blocks(to_space=True))
    array = call.input.build()
    back = dmlops.space_to_depth(call.run(dmlops, array, device=device), *call.args, **call.kwargs, device=device)
    assert back.shape == array.shape and content(back) == content(array)


@given(data=st.data())
def test_reversing_twice_is_nothing(device, data):
    call = data.draw(strategies.reversals())
    array = call.input.build()
    once = call.run(dmlops, array, device=device)
    assert content(call.run(dmlops, once, device=device)) == content(array)


# Rows of every short length, at every offset within a 16-byte word, for every item size that has kernels of its own:
# what Hypothesis might take long to find.
@pytest.mark.parametrize("itemsize", [1, 2, 3, 4, 8, 12, 16])
def test_rows_of_every_length_and_offset(device, itemsize):
    rng = np.random.default_rng(itemsize)
    parent = rng.integers(0, 256, 3 * 80 * itemsize + 64, np.uint8)
    dtype = np.dtype(f"V{itemsize}")
    for width in [*range(1, 20), 31, 32, 33, 47, 48, 49, 63, 64, 65, 79]:
        for offset in range(0, 16, itemsize if itemsize in (2, 4, 8) else 1):
            x = np.ndarray((3, width), dtype, parent, offset)
            lengths = rng.integers(0, width + 1, (3, 1))
            result = dmlops.reverse_subsequences(x, lengths, 1, device=device)
            assert result.tobytes() == reference.reverse_subsequences(x, lengths, 1).tobytes(), (width, offset)
            for stride in (1, -1, 2, -2, 3):
                window = ([0, width // 5], [3, width - width // 5], [1, stride])
                result = dmlops.slice(x, *window, device=device)
                assert result.tobytes() == reference.slice(x, *window).tobytes(), (width, offset, stride)


def test_nan_payloads_and_minus_zero_survive(device):
    bits = np.array([[0x7FC00001, 0xFFC12345, 0x7F800001, 0x80000000]], np.uint32)
    result = dmlops.slice(bits.view(np.float32), [0, 0], [1, 4], [1, -1], device=device)
    assert result.view(np.uint32).tolist() == bits[:, ::-1].tolist()


def test_rank_zero_gives_an_array(device):
    result = dmlops.slice(np.float32(2.5), [], [], device=device)
    assert type(result) is np.ndarray and result.shape == () and result == 2.5


def test_subclasses_and_masks_are_dropped(device):
    masked = np.ma.masked_array([[1, 2], [3, 4]], mask=[[True, False], [False, True]])
    result = dmlops.slice(masked, [0, 0], [2, 2], [1, -1], device=device)
    assert type(result) is np.ndarray and result.tolist() == [[2, 1], [4, 3]]
    records = np.rec.array([(1, 2.0), (3, 4.0)])
    result = dmlops.slice(records, [0], [2], [-1], device=device)
    assert type(result) is np.ndarray and result["f0"].tolist() == [3, 1]


def test_anything_asarray_takes(device):
    assert dmlops.slice([[1, 2], [3, 4]], [0, 1], [2, 1], device=device).tolist() == [[2], [4]]
    assert dmlops.slice(memoryview(b"abc"), [0], [3], [-1], device=device).tobytes() == b"cba"


def test_anything_with_index_counts_as_an_int(device):
    class Index:
        def __index__(self):
            return 1

    result = dmlops.slice(np.arange(4), [Index()], np.array([2], np.uint8), (np.int16(-1),), device=device)
    assert result.tolist() == [2, 1]
    image = np.arange(16).reshape(1, 4, 2, 2)
    assert dmlops.depth_to_space(image, np.uint8(2), device=device).shape == (1, 1, 4, 4)


def test_lengths_of_any_magnitude_clamp(device):
    x = np.arange(12).reshape(3, 4)
    for lengths in ([[2**70], [2], [0]], np.array([[2**64 - 1], [2], [0]], np.uint64)):
        result = dmlops.reverse_subsequences(x, lengths, 1, device=device)
        assert result.tolist() == [[3, 2, 1, 0], [5, 4, 6, 7], [8, 9, 10, 11]]


@pytest.mark.skipif(strategies.ml_dtypes is None, reason="ml_dtypes is not installed")
def test_lengths_of_a_type_that_numpy_does_not_know(device):
    lengths = np.array([[2], [3]], strategies.ml_dtypes.int4)
    x = np.arange(6).reshape(2, 3)
    assert dmlops.reverse_subsequences(x, lengths, 1, device=device).tolist() == [[1, 0, 2], [5, 4, 3]]


def test_empty_lists_of_lengths(device):
    x = np.zeros((0, 5), np.float32)
    assert dmlops.reverse_subsequences(x, [], 1, batch_axis=0, device=device).shape == (0, 5)


def test_unpadded_structs_keep_their_holes(device):
    holes = np.dtype([("a", "u1"), ("b", "f8")], align=True)
    x = np.frombuffer(bytes(range(160)), holes)
    result = dmlops.slice(x, [0], [10], [-1], device=device)
    assert result.tobytes() == x.view("V16")[::-1].tobytes()


def test_focus_of_yolo(device):
    """Top-left, bottom-left, top-right, bottom-right: neither DCR nor CRD."""
    x = np.random.default_rng(1).random((2, 3, 6, 8), np.float32)
    focus = dmlops.space_to_depth(x.swapaxes(2, 3), 2, device=device).swapaxes(2, 3)
    parts = [x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]]
    assert np.array_equal(focus, np.concatenate(parts, axis=1))
