"""Each operator against its NumPy twin: every dtype, shape, layout and argument, to the byte."""

import datetime

import dmlops
import numpy as np
import pytest
from dmlops import reference
from hypothesis import given
from hypothesis import strategies as st

import strategies
from flushing import CAN_FLUSH, flushing
from strategies import content, parts


@pytest.mark.parametrize("operator", [*strategies.OPERATORS, *strategies.GATHERS])
@given(data=st.data())
def test_operator(devices, operator, data):
    call = data.draw(strategies.CALLS[operator]())
    array = call.build()
    before = content(array)
    expected = call.expected(reference, array)
    for device in devices:
        result = call.run(dmlops, array, device=device)
        assert type(result) is type(expected) and len(parts(result)) == len(parts(expected)), device
        for ours, right in zip(parts(result), parts(expected)):
            assert type(ours) is np.ndarray
            assert ours.dtype == call.input.dtype and ours.dtype.isnative == call.input.dtype.isnative
            assert ours.shape == right.shape
            assert content(ours) == content(right), device
            assert ours.flags.c_contiguous and ours.flags.writeable and ours.flags.owndata and ours.flags.aligned
        assert content(array) == before, "the input changed"


@pytest.mark.parametrize("operator", strategies.SCATTERS)
@strategies.FEWER
@given(data=st.data())
def test_what_is_written_at_indices(devices, operator, data):
    call = data.draw(strategies.CALLS[operator]())
    array, expected = call.build(), content(call.expected(reference))
    for device in devices:
        assert content(call.run(dmlops, array, device=device)) == expected, device
        indices, updates = (dmlops.asarray(np.asarray(one), device=device) for one in call.arguments()[:2])
        there = getattr(dmlops, operator)(dmlops.asarray(array, device=device), indices, updates, *call.args[2:])
        assert content(there.numpy()) == expected, device


def test_holes_survive_where_arrays_are_copied_to_be_indexed(device):
    dtype = np.dtype([("a", "u1"), ("b", "f8")], align=True)
    x = np.random.default_rng(1).integers(0, 256, (6, 8, 16), np.uint8).view(dtype)[::2, ::-2, 0]
    one, written = x[1:2, :1], strategies.raw(x).copy()
    written[:, 2] = strategies.raw(one)[0]
    assert content(dmlops.put_along_axis(x, np.full((3, 1), 2), one, 1, device=device)) == content(written)
    assert content(dmlops.take(x, np.arange(12), device=device)) == content(x)
    all_of_them = np.stack(np.indices(x.shape), axis=-1)
    assert content(dmlops.scatter_nd(np.zeros_like(x), all_of_them, x, device=device)) == content(x)
    assert content(dmlops.put_along_axis(np.zeros_like(x), all_of_them[..., 0], x, 0, device=device)) == content(x)


@pytest.mark.parametrize("extent", [2**62 + 5, 2**63 - 1])
def test_indices_of_an_axis_beyond_all_memory(extent):
    """A broadcast axis has no memory, so it may be that long."""
    x = np.broadcast_to(np.uint8(7), extent)
    for right in ([2**62 + 1, -1, extent - 1, -extent, 0], [-extent] * 3, [2**62 - 1]):
        assert dmlops.take(x, np.array(right), 0, device="host").tolist() == [7] * len(right)
        assert dmlops.take(x, np.array(right), 0, device="host", progress=lambda *_: None).tolist() == [7] * len(right)
    for wrong in ([-extent - 1], [0, -(2**63)], *([[extent], [2**63 - 1]] if extent < 2**63 - 1 else [])):
        for more in ({}, {"progress": lambda *_: None}):
            with pytest.raises(IndexError, match=rf"indices\[{len(wrong) - 1}\] is {wrong[-1]};"):
                dmlops.take(x, np.array(wrong), 0, device="host", **more)


@pytest.mark.parametrize("call, shape, indices, axis", [
    ("take", (0, 3), [5], 1), ("take", (0, 1), [-2], 1), ("take", (0, 0), [5], 1), ("take", (2, 0, 3), [5], 2),
    ("take", (0, 3, 0), [5], 1), ("take", (3, 0), [5], 0), ("take", (0, 0), [5], 0), ("take", (3, 0), [5], 1),
    ("take", (3, 0), [0], 1), ("take", (2, 3, 0), [5], 1), ("take", (3, 0), [], 1), ("take_along_axis", (0, 0), [[0]], 1),
    ("take_along_axis", (0, 3), [[5]], 1), ("take_along_axis", (0, 3), [[5, 5, 5]], 0),
    ("take_along_axis", (3, 0), [[5]] * 3, 1), ("take_along_axis", (0, 0), np.zeros((1, 0), int), 0),
    ("take_along_axis", (0, 3), np.full((0, 1), 5), 1),
])  # fmt: skip
def test_indices_where_nothing_is_read(device, call, shape, indices, axis):
    """NumPy looks at some of them all the same."""
    x, indices = np.zeros(shape), np.array(indices, int)
    for array in (x, dmlops.asarray(x, device=device)):
        try:
            expected = getattr(np, call)(x, indices, axis)
        except IndexError:
            with pytest.raises(IndexError):
                getattr(dmlops, call)(array, indices, axis, device=device)
            continue
        result = getattr(dmlops, call)(array, indices, axis, device=device)
        assert result.shape == expected.shape and result.dtype == expected.dtype
        there = dmlops.asarray(indices, device=device)
        assert isinstance(array, np.ndarray) or getattr(dmlops, call)(array, there, axis).shape == expected.shape


# Rows of every short length, at every offset within a 16-byte word, for every item size that has kernels of its own:
# what Hypothesis might take long to find. What pads and repeats rows takes every second pair of a length and an offset.
@pytest.mark.parametrize("itemsize", [1, 2, 3, 4, 8, 12, 16])
def test_rows_of_every_length_and_offset(devices, itemsize):
    rng = np.random.default_rng(itemsize)
    parent = rng.integers(0, 256, 3 * 80 * itemsize + 64, np.uint8)
    dtype, step = np.dtype(f"V{itemsize}"), itemsize if itemsize in (2, 4, 8) else 1
    for width in [*range(1, 20), 31, 32, 33, 47, 48, 49, 63, 64, 65, 79]:
        for offset in range(0, 16, step):
            x = np.ndarray((3, width), dtype, parent, offset)
            left, right = offset % 5, width % 4
            for name, args, kwargs in [
                ("reverse_subsequences", (rng.integers(0, width + 1, (3, 1)), 1), {}),
                *(("slice", ([0, width // 5], [3, width - width // 5], [1, stride]), {}) for stride in (1, -1, 2, -2, 3)),
                ("transpose", (), {}),
            ] + [
                ("padding", ([1, left], [0, right]), {"value": parent[:itemsize].view(dtype)[0]}),
                *(("padding", ([0, left], [1, right]), {"mode": mode}) for mode in ("edge", "reflection", "symmetric", "wrap")),
                ("tile", ([2, 3],), {}),
                ("upsample", ([2],), {}),
                ("upsample", ([3],), {"layout": "NHWC"}),
            ] * ((width + offset // step) % 2):
                expected = getattr(reference, name)(x, *args, **kwargs).tobytes()
                for device in devices:
                    result = getattr(dmlops, name)(x, *args, **kwargs, device=device)
                    assert result.tobytes() == expected, (device, width, offset, name, args, kwargs)
            sizes = [left % (width + 1), 0, width - left % (width + 1)]
            expected = reference.split(x, 1, sizes)
            for device in devices:
                halves = dmlops.split(x, 1, sizes, device=device)
                assert content(halves) == content(expected), (device, width, offset, sizes)
                joined = dmlops.join(halves[::-1], -1, device=device)
                assert joined.tobytes() == reference.join(expected[::-1], 1).tobytes(), (device, width, offset, sizes)


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


# What NumPy has a function for is equal to it.
@pytest.mark.parametrize("dtype", ["u1", "f4", "c16"])
def test_equal_to_functions_of_numpy(device, dtype):
    x = np.random.default_rng(2).integers(0, 100, (2, 3, 5, 7)).astype(dtype)
    pairs = ((0, 0), (1, 2), (0, 3), (4, 0))
    before, after = zip(*pairs)
    assert np.array_equal(dmlops.padding(x, before, after, value=9, device=device), np.pad(x, pairs, constant_values=9))
    for ours, numpys in (("edge", "edge"), ("reflection", "reflect"), ("symmetric", "symmetric"), ("wrap", "wrap")):
        assert np.array_equal(dmlops.padding(x, before, after, mode=ours, device=device), np.pad(x, pairs, numpys))
    assert np.array_equal(dmlops.tile(x, (2, 1, 3, 2), device=device), np.tile(x, (2, 1, 3, 2)))
    assert np.array_equal(dmlops.transpose(x, device=device), x.T)
    assert np.array_equal(dmlops.transpose(x, (0, 2, 3, 1), device=device), x.transpose(0, 2, 3, 1))
    assert np.array_equal(dmlops.upsample(x, 2, device=device), x.repeat(2, 2).repeat(2, 3))
    assert np.array_equal(dmlops.upsample(x, (2, 3), layout="NHWC", device=device), x.repeat(2, 1).repeat(3, 2))
    assert np.array_equal(dmlops.join([x, x[:, ::-1], x[:, :0]], 1, device=device), np.concatenate([x, x[:, ::-1]], 1))
    for part, right in zip(dmlops.split(x, -1, (1, 4, 2), device=device), np.split(x, (1, 5), -1), strict=True):
        assert np.array_equal(part, right)


def test_padding_longer_than_the_axis_folds_over_again(device):
    x = np.arange(3)
    for mode, right in [
        ("reflection", [1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1, 0]),
        ("symmetric", [1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2]),
        ("wrap", [1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]),
        ("edge", [0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 2]),
    ]:
        assert dmlops.padding(x, [5], [6], mode=mode, device=device).tolist() == right, mode
        assert dmlops.padding([8], [2], [3], mode=mode, device=device).tolist() == [8] * 6


def test_parts_of_split_are_arrays_of_their_own(device):
    x = np.arange(12).reshape(3, 4)
    first, second = dmlops.split(x, 1, [1, 3], device=device)
    first[...] = 99
    assert second.tolist() == x[:, 1:].tolist() and (x != 99).all()


def test_one_array_several_times(device):
    x = np.arange(6, dtype=np.uint16).reshape(2, 3)
    assert np.array_equal(dmlops.join([x] * 40, 0, device=device), np.concatenate([x] * 40))
    assert np.array_equal(
        dmlops.join([x, x.T.reshape(2, 3)] * 20, 1, device=device), np.concatenate([x, x.T.reshape(2, 3)] * 20, 1)
    )
    assert content(dmlops.split(x, 1, [1] * 3, device=device)) == content(np.split(x, 3, 1))


def test_focus_of_yolo(device):
    """Top-left, bottom-left, top-right, bottom-right: neither DCR nor CRD."""
    x = np.random.default_rng(1).random((2, 3, 6, 8), np.float32)
    focus = dmlops.space_to_depth(x.swapaxes(2, 3), 2, device=device).swapaxes(2, 3)
    parts = [x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]]
    assert np.array_equal(focus, np.concatenate(parts, axis=1))
    order = dmlops.transpose(x.reshape(2, 3, 3, 2, 4, 2), (0, 5, 3, 1, 2, 4), device=device).reshape(2, 12, 3, 4)
    assert np.array_equal(order, np.concatenate(parts, axis=1)) and order.flags.c_contiguous


@pytest.mark.parametrize("dtype, value", [
    ("M8[ns]", datetime.datetime(2020, 1, 2, 3, 4, 5, 6)), ("M8[D]", datetime.date(9999, 12, 31)), ("M8[s]", None),
    ("M8[D]", datetime.datetime(2020, 1, 2, 3)), (">M8[us]", datetime.date(1, 1, 1)), ("M8[s]", 5), ("M8[25s]", "2020-02"),
    ("m8[ns]", datetime.timedelta(days=-3, microseconds=1)), ("m8[ms]", None), ("m8[s]", "7"),
    ("m8[h]", np.timedelta64(2, "D")),
    ("M8[ns]", np.datetime64("NaT", "D")), ("M8[Y]", np.datetime64("2020-05-06T07")), ("M8[ns]", np.datetime64("2262-04-11")),
    ("m8[s]", np.timedelta64("NaT")), ("m8[s]", np.timedelta64(3)), ("m8[s]", np.iinfo(np.int64).max), ("M8", None),
    ("S3", 255), ("U4", 3.75), ("S5", True), ("U2", b"ab"), ("V2", 255), ("V9", -1), ("V2", b"a"), ("V4", "a"),
    ("f2", 65519), ("f4", 1e-300), ("f4", -np.inf), ("f8", 2**80), ("?", 1), ("u8", 2**64 - 1), ("i8", np.uint64(7)),
    ([("a", "u1"), ("b", "U3")], 255), ([("a", "f4", (2, 3)), ("b", [("c", "M8[s]")])], 1),
    ([("a", "u1", 2), ("b", "S3")], np.array(([255, 0], b"xyz"), [("x", "i8", 2), ("y", "S9")])),
], ids=str)  # fmt: skip
def test_values_are_stored_as_numpy_stores_them(device, dtype, value):
    expected = np.full(1, value, dtype)
    result = dmlops.padding(expected[:0], [1], [0], value=value, device=device)
    assert result.dtype == expected.dtype and result.tobytes() == expected.tobytes()


def test_a_time_of_pandas_keeps_its_nanoseconds(device):
    class Timestamp(datetime.datetime):
        asm8 = np.datetime64("2020-01-01T00:00:00.123456789")

    class NaT(datetime.datetime):
        asm8 = np.datetime64("NaT", "ns")

    for dtype, value in (("M8[ns]", Timestamp(2020, 1, 1)), ("M8[ns]", NaT(1, 1, 1)), ("m8[ns]", NaT(1, 1, 1))):
        expected = np.array(value.asm8.astype(np.int64)).view(dtype)
        assert dmlops.padding(np.zeros(0, dtype), [0], [1], value=value, device=device).tobytes() == expected.tobytes()
        array = dmlops.asarray(np.zeros(1, dtype), device=device)
        array[0] = value
        assert array.numpy().tobytes() == expected.tobytes()


@CAN_FLUSH
def test_a_denormal_that_the_fpu_flushes_is_flushed_once_only(device):
    for value in (1e-40, -1e-40, 2.0**-140):
        with flushing():
            flushed = np.float32(value)
            dmlops.padding(np.ones(1, "f4"), [1], [0], value=value, device=device)
        assert flushed == 0, "the FPU does not flush"
        result = dmlops.padding(np.ones(1, "f4"), [1], [0], value=value, device=device)
        assert result.tobytes() == np.array([value, 1], "f4").tobytes()
