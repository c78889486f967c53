"""dmlops.dask against NumPy: results, chunks, what is refused, and what happens when."""

import doctest
import importlib
import inspect
import warnings

import dask
import dask.array as da
import dmlops
import dmlops.dask
import numpy as np
import pytest
from dask.core import flatten
from dask.local import get_sync
from dmlops import reference
from hypothesis import assume, given
from hypothesis import strategies as st

import strategies
from strategies import AGAIN, FEWEST
from support import NO_VULKAN, ROOT, run_python
from test_docs import FLAGS

RANK = 7
MOST_BLOCKS = 1000  # of a result


@st.composite
def chunks(draw, shape, times):
    """Chunks of an array, also empty ones; an axis whose chunks would come again too many times is one chunk."""
    found, blocks, most = [], 1, 2 if len(shape) <= 4 else 1
    for size, count in zip(shape, times):
        fits = blocks * (most + 1) * count <= MOST_BLOCKS
        cut = draw(st.lists(st.integers(0, size), max_size=most if fits else 0))
        blocks *= (len(cut) + 1) * count if cut else 1
        found.append(tuple(np.diff([0, *sorted(cut), size]).tolist()))
    return tuple(found)


def repetitions(call):
    """How many times the chunks of each axis come again in the result; `join` cuts every array at the chunks of each."""
    shape = call.input.shape
    if call.operator == "tile":
        return [max(count, 1) for count in call.args[0]]
    if call.kwargs.get("mode") == "wrap":
        return [sum(axis) // max(axis[1], 1) + 2 for axis in zip(call.args[0], shape, call.args[1])]
    return [len(call.specs)] * len(shape)


def as_dask(array, chunks):
    return da.from_array(array, chunks=chunks, name=False)


def blocks(result):
    """The computed blocks by position, each as its chunk says."""
    keys = list(flatten(result.__dask_keys__()))
    values = get_sync(dict(result.__dask_graph__()), keys)
    for (_, *position), block in zip(keys, values):
        assert type(block) is np.ndarray and block.dtype == result.dtype
        assert block.shape == tuple(sizes[k] for sizes, k in zip(result.chunks, position))
        yield tuple(position), block


def assembled(result):
    whole = np.empty(result.shape, result.dtype)
    starts = [np.cumsum([0, *sizes]) for sizes in result.chunks]
    for position, block in blocks(result):
        key = tuple(slice(start[k], start[k + 1]) for start, k in zip(starts, position))
        strategies.raw(whole)[(..., *key)] = strategies.raw(block)
    return whole


@pytest.mark.parametrize("operator", dmlops.dask.__all__)
def test_equals_numpy_for_any_chunks(operator, device):
    @(AGAIN if device == "host" else FEWEST)  # how arrays are cut is the same, whatever moves the blocks
    @given(st.data())
    def check(data):
        call = data.draw(strategies.CALLS[operator](max_rank=RANK))
        assume(call.input.dtype.itemsize > 0)
        arrays, arguments = strategies.parts(call.build()), list(call.arguments())
        if call.input.dtype.kind == "V":  # Dask, as NumPy, does not copy the holes between fields
            arrays = [strategies.raw(array) for array in arrays]
        x = [as_dask(array, data.draw(chunks(array.shape, repetitions(call)))) for array in arrays]
        beside = operator in ("reverse_subsequences", "take") and isinstance(arguments[0], np.ndarray)
        if beside and data.draw(st.booleans()):
            lengths = arguments[0]
            arguments[0] = as_dask(lengths, data.draw(chunks(lengths.shape, [1] * lengths.ndim)))
        kwargs = dict(call.kwargs)
        if operator == "padding" and arrays[0].dtype != call.input.dtype:  # 0 is no zero byte in a field of strings
            kwargs["value"] = strategies.stored(kwargs.get("value", 0), call.input.dtype)
        single = call.others is None
        results = getattr(dmlops.dask, operator)(x[0] if single else x, *arguments, **kwargs, device=device)
        expected = call.expected(reference)
        assert isinstance(results, list) == isinstance(expected, list)
        for result, array in zip(strategies.parts(results), strategies.parts(expected), strict=True):
            assert (result.shape, result.dtype) == (array.shape, arrays[0].dtype)
            assert type(result._meta) is np.ndarray
            assert (result._meta.ndim, result._meta.dtype) == (result.ndim, result.dtype)
            assert strategies.content(assembled(result)) == strategies.content(array)

    check()


def picture(shape=(2, 12, 16, 20), chunks=(1, 12, 8, 10)):
    return da.from_array(np.arange(np.prod(shape)).reshape(shape), chunks=chunks)


CALLS = {
    "depth_to_space": (2,),
    "padding": ([0, 0, 1, 2], [0, 0, 3, 1]),
    "resize_opencv": ((5, 30), "nearest"),
    "resize_pillow": ((5, 30), "nearest"),
    "resize_torchvision": ((5, 30), "nearest"),
    "reverse_subsequences": (range(12), 2),
    "roll": (10, 3),
    "slice": ([0, 0, 1, 0], [2, 12, 14, 20], [1, 1, 1, -1]),
    "slice_grad": ([2, 12, 20, 50], [0, 0, 2, 1], [2, 12, 16, 39], [1, 1, 1, -2]),
    "space_to_depth": (2,),
    "split": (1, [5, 7]),
    "take": ([[11, 0], [-1, 5]], 1),
    "tile": ([1, 2, 1, 1],),
    "transpose": ((0, 3, 1, 2),),
    "upsample": (2,),
}
every_call = pytest.mark.parametrize("name", CALLS)


def called(module, name, x, **more):
    """The operator's result; of split, the last."""
    more |= {"batch_axis": 1} if name == "reverse_subsequences" else {}
    more |= {"axes": (1, 2)} if name.startswith("resize") else {}
    return strategies.parts(getattr(module, name)(x, *CALLS[name], **more))[-1]


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_schedulers(scheduler, device):
    x = picture()
    results = [called(dmlops.dask, name, x, device=device) for name in CALLS]
    for name, result in zip(CALLS, dask.compute(*results, scheduler=scheduler, num_workers=2), strict=True):
        assert np.array_equal(result, called(reference, name, x.compute())), name


@every_call
def test_nothing_is_computed_before_it_must(name):
    def never(block):
        raise AssertionError("computed")

    x = picture().map_blocks(never, dtype=np.int64, meta=np.empty((0,) * 4, np.int64))
    result = called(dmlops.dask, name, x, device="no such device")
    assert result.shape == called(reference, name, np.zeros(x.shape, np.uint8)).shape
    assert result.dtype == np.int64 and repr(result).startswith(f"dask.array<dmlops-{name}")
    with pytest.raises(AssertionError, match="computed"):
        result.compute(scheduler="synchronous")


@every_call
def test_one_call_for_each_block(name, monkeypatch):
    operator = {"roll": "slice", "split": "slice"}.get(name, name)
    calls, ours = [], getattr(dmlops.operators, operator)

    def counted(block, *args, **kwargs):
        calls.append(block.shape)
        return ours(block, *args, **kwargs)

    result = called(dmlops.dask, name, picture(chunks=(1, 12, 16, 10)), device="host")
    monkeypatch.setattr(dmlops.operators, operator, counted)
    result.compute(scheduler="synchronous")
    assert len(calls) == result.npartitions == 4


@every_call
def test_the_device_is_looked_up_by_the_worker(name):
    result = called(dmlops.dask, name, picture(), device="no such device")
    with pytest.raises(ValueError, match="no such device"):
        result.compute(scheduler="synchronous")


@every_call
def test_equal_calls_have_equal_keys(name):
    x = picture()
    with dask.config.set({"tokenize.ensure-deterministic": True}):
        names = [called(dmlops.dask, name, x, device=device).name for device in (None, None, "host", dmlops.devices()[0])]
    assert names[0] == names[1] and len(set(names)) == 3


def test_device_arrays_are_refused():
    a = dmlops.asarray(np.arange(16).reshape(1, 4, 2, 2), device="host")
    declared = da.zeros((1, 4, 2, 2), dtype=a.dtype).map_blocks(lambda block: block, meta=a)
    assert isinstance(declared._meta, dmlops.DeviceArray)
    for x in (a, declared):
        with pytest.raises(TypeError, match="pass NumPy blocks.*device="):
            dmlops.dask.depth_to_space(x, 2)
    for lengths in (a, declared):
        with pytest.raises(TypeError, match="pass NumPy blocks"):
            dmlops.dask.reverse_subsequences(np.zeros((1, 4, 2, 2)), lengths, 3)
    hidden = da.zeros((1, 4, 2, 2), dtype=a.dtype).map_blocks(lambda block: a, meta=np.empty((0,) * 4, a.dtype))
    for result in (dmlops.dask.depth_to_space(hidden, 2), dmlops.dask.slice(hidden, [0] * 4, hidden.shape)):
        with pytest.raises(TypeError, match="pass NumPy blocks"):
            result.compute(scheduler="synchronous")


def same_error(ours, theirs):
    with pytest.raises((TypeError, ValueError, OverflowError, IndexError)) as expected:
        theirs()
    with pytest.raises(expected.type) as error:
        ours()
    assert str(error.value) == str(expected.value)


@pytest.mark.parametrize(
    "name, args, kwargs",
    [
        ("depth_to_space", (5,), {}),
        ("depth_to_space", (2.0,), {}),
        ("depth_to_space", (2,), {"order": "RCD"}),
        ("space_to_depth", ((3, 7),), {}),
        ("space_to_depth", ((0, 1),), {"layout": "NHWC"}),
        ("slice", ([0] * 4, [3, 1, 1, 1]), {}),
        ("slice", ([0] * 4, [1] * 4, [0] * 4), {}),
        ("slice", (0, 0), {}),
        ("reverse_subsequences", ([[1, 2, 3]], 1), {}),
        ("reverse_subsequences", ([1] * 12, 9), {"batch_axis": 1}),
        ("reverse_subsequences", ([1] * 11 + [-1], 3), {"batch_axis": 1}),
        ("reverse_subsequences", ([1.0] * 12, 3), {"batch_axis": 1}),
        ("padding", ([0] * 3, [0] * 4), {}),
        ("padding", ([0, 0, 0, -1], [0] * 4), {}),
        ("padding", ([0] * 4, [1] * 4), {"mode": "mirror"}),
        ("padding", ([0] * 3,), {}),
        ("slice", ([0] * 4,), {}),
        ("slice", (np.s_[..., 1, :],), {}),
        ("padding", ([0] * 4, [1] * 4), {"value": 1.5}),
        ("padding", ([0] * 4, [1] * 4), {"value": 2**63}),
        ("slice_grad", ([2, 12, 16, 20], [0, 0, 0, 1], [2, 12, 16, 20]), {}),
        ("slice_grad", ([2, 12, 16], [0] * 3, [2, 12, 16]), {}),
        ("roll", (1.5, 0), {}),
        ("roll", ((1, 2), (0, 1, 0)), {}),
        ("split", (4, [1]), {}),
        ("split", (1, [5, 6]), {}),
        ("split", (1, [-1, 13]), {}),
        ("take", ([0, 12], 1), {}),
        ("take", ([0.5], 1), {}),
        ("take", ([0], 1.0), {}),
        ("take", ([0], None), {"batch_dims": 1}),
        ("take", ([[0]], 1), {"batch_dims": 1}),
        ("tile", ([2, 2],), {}),
        ("tile", (2,), {}),
        ("transpose", ([0, 1, 1, 3],), {}),
        ("transpose", ([0, 1, 2, 4],), {}),
        ("upsample", (0,), {}),
        ("resize_pillow", ((0, 3), "nearest"), {}),
        ("resize_pillow", ((2, 3),), {}),
        ("resize_pillow", ((2, 3), "nearest"), {"box": (0, 0, 99, 1)}),
        ("resize_opencv", ((2, 3), "bicubic"), {}),
        ("resize_opencv", (None, "nearest"), {"fx": 2}),
        ("resize_torchvision", ((2, 3),), {}),
        ("resize_torchvision", ((2, 3), "nearest"), {"axes": (0, 4)}),
        ("upsample", ([2, 2, 2, 2],), {}),
        ("upsample", ({2},), {}),
        ("upsample", ("2",), {}),
        ("tile", ({1: 1, 2: 1, 3: 1, 4: 1},), {}),
        ("tile", (b"\1\1\1\1",), {}),
        ("tile", (np.ones((4, 1), int),), {}),
    ],
)
def test_wrong_arguments_are_refused_at_once(name, args, kwargs):
    x = picture()
    array = np.zeros(x.shape, x.dtype)
    same_error(lambda: getattr(dmlops.dask, name)(x, *args, **kwargs), lambda: getattr(dmlops, name)(array, *args, **kwargs))


@pytest.mark.parametrize("shape", [(2, 12, 16, 1), (2, 12, 20, 20), (2, 5, 16, 1), (12,)])
def test_wrong_lengths_in_a_dask_array_are_refused_at_once(shape):
    x, array, lengths = picture(), np.zeros((2, 12, 16, 20)), np.ones(shape, int)
    for wrong, axis in ((lengths, 2), (np.ones((2, 12, 16, 1)), 3)):
        same_error(
            lambda: dmlops.dask.reverse_subsequences(x, da.from_array(wrong), axis),  # noqa: B023
            lambda: dmlops.reverse_subsequences(array, wrong, axis),  # noqa: B023
        )


def test_a_negative_length_in_a_dask_array_is_found_when_computed():
    result = dmlops.dask.reverse_subsequences(da.zeros((4, 3)), da.full((4, 1), -1), 1)
    with pytest.raises(ValueError, match=r"sequence_lengths\[0, 0\] is -1"):
        result.compute(scheduler="synchronous")


def test_a_billion_lengths_cost_nothing_to_check():
    x = da.zeros((10**9, 3), chunks=(10**8, 3), dtype="u1")
    result = dmlops.dask.reverse_subsequences(x, da.ones((10**9, 1), chunks=10**7, dtype=int), 1)
    assert result.chunks == x.chunks


def test_other_inputs_that_are_refused():
    with pytest.raises(TypeError, match="input must have elements that are plain bytes; those of dtype object are not"):
        dmlops.dask.slice(da.from_array(np.array([None]), chunks=1), [0], [1])
    with pytest.raises(TypeError, match="input must have elements that are plain bytes; those of dtype object are not"):
        dmlops.dask.slice([None], [0], [1])
    with pytest.raises(TypeError, match="input must be an array, not str"):
        dmlops.dask.slice("photo.png", [0], [1])
    x = da.arange(10, chunks=5)
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        dmlops.dask.slice(x[x > 3], [0], [1])
    with pytest.raises(ValueError, match="sequence_lengths has chunks of unknown size"):
        dmlops.dask.reverse_subsequences(np.zeros((10, 3)), x[x > 3], 1, batch_axis=0)


def test_masks_are_dropped():
    x = da.ma.masked_array(da.arange(12, chunks=4), mask=[True, False, False] * 4)
    for result in (
        dmlops.dask.join([x, x], 0),
        dmlops.dask.padding(x, [1], [1], device="host"),
        dmlops.dask.tile(x, [2], device="host"),
        dmlops.dask.padding(x, [0], [0]),
        dmlops.dask.tile(x, [1]),
    ):
        assert type(result.compute(scheduler="synchronous")) is np.ndarray


def test_what_numpy_takes_is_an_input():
    assert dmlops.dask.depth_to_space(np.zeros((1, 4, 1, 1)), np.array(2)).shape == (1, 1, 2, 2)
    assert dmlops.dask.depth_to_space(np.zeros((4, 1, 1)), np.array([2, 2])).shape == (1, 2, 2)
    assert dmlops.dask.slice([1, 2, 3], [0], [3], [-1], device="host").compute().tolist() == [3, 2, 1]
    assert dmlops.dask.slice(da.from_array(np.float32(3)), (), (), device="host").compute() == 3
    assert dmlops.dask.reverse_subsequences([[1, 2]], [[2**80]], 1, device="host").compute().tolist() == [[2, 1]]
    assert dmlops.dask.reverse_subsequences(np.zeros((0, 2)), [], 1, batch_axis=0, device="host").compute().shape == (0, 2)


class ArrayOfAnotherLibrary:
    """As PyTorch has them: NumPy converts it, and its dtype is none of NumPy's."""

    dtype = "torch.int64"

    def __init__(self, entries):
        self.array = np.array(entries)

    def __array__(self, dtype=None, copy=None):
        return self.array


class Index:
    def __index__(self):
        return 2


@pytest.mark.parametrize("lengths", [ArrayOfAnotherLibrary([2, 2]), [Index(), 2], [np.array(2), np.uint64(2)], (2, Index())])
def test_lengths_are_what_the_package_takes(lengths):
    x = ArrayOfAnotherLibrary([[1, 2, 3]] * 2)
    for module in (dmlops, dmlops.dask):
        result = module.reverse_subsequences(x, lengths, 1, batch_axis=0, device="host")
        assert np.asarray(result).tolist() == [[2, 1, 3]] * 2


def test_lengths_may_change_after_the_call():
    lengths = np.array([3, 3])
    result = dmlops.dask.reverse_subsequences(da.from_array(np.array([[1, 2, 3]] * 2)), lengths, 1, batch_axis=0, device="host")
    lengths[:] = 0
    assert result.compute().tolist() == [[3, 2, 1]] * 2


@pytest.mark.parametrize(
    "arrays, axis",
    [
        ([], 0),
        (3, 0),
        ([np.zeros((2, 3)), np.zeros((3, 3))], 1),
        ([np.zeros((2, 3)), np.zeros(3)], 0),
        ([np.zeros(2), np.zeros(2, np.float32)], 0),
        ([np.zeros(2), np.zeros(2)], 1),
        ([np.zeros(2), np.zeros(2)], 0.0),
        ([np.float64(1)], 0),
    ],
)
def test_arrays_that_do_not_join_are_refused_at_once(arrays, axis):
    ours = [da.from_array(array) for array in arrays] if isinstance(arrays, list) else arrays
    same_error(lambda: dmlops.dask.join(ours, axis), lambda: dmlops.join(arrays, axis))


@pytest.mark.parametrize("inputs", [np.zeros(()), np.zeros((0, 3)), {0: np.zeros(3)}, {1.0}, "ab"])
def test_what_is_no_sequence_of_arrays_is_not_joined(inputs):
    same_error(lambda: dmlops.dask.join(inputs, 0), lambda: dmlops.join(inputs, 0))


def test_one_array_is_a_sequence_of_those_in_it():
    array = np.arange(12).reshape(2, 3, 2)
    assert np.array_equal(dmlops.dask.join(array, 1).compute(), dmlops.join(array, 1))


def test_a_dask_array_is_no_sequence_of_arrays():
    x = da.zeros((2, 3))
    for array in (x, x[x[:, 0] == 0]):
        with pytest.raises(TypeError, match="inputs must be a sequence of arrays, not Array"):
            dmlops.dask.join(array, 0)


def test_join_needs_no_device_and_takes_no_device_array():
    x = picture()
    with dask.config.set({"tokenize.ensure-deterministic": True}):
        result, again = (dmlops.dask.join([x, x.compute()[:1]], 0, device="no such device") for _ in range(2))
    assert result.name == again.name and repr(result).startswith("dask.array<dmlops-join")
    assert np.array_equal(result.compute(scheduler="processes", num_workers=2), np.concatenate([x.compute(), x.compute()[:1]]))
    a = dmlops.asarray(np.arange(3), device="host")
    for arrays in (a, [a], [np.arange(3), a]):
        with pytest.raises(TypeError, match="pass NumPy blocks"):
            dmlops.dask.join(arrays, 0)
    hidden = da.arange(3, chunks=3).map_blocks(lambda block: a, meta=np.empty(0, a.dtype))
    with pytest.raises(TypeError, match="pass NumPy blocks"):
        dmlops.dask.join([hidden], 0).compute(scheduler="synchronous")


def test_the_value_may_change_after_the_call():
    value = np.array(3)
    result = dmlops.dask.padding([1], [1], [0], value=value, device="host")
    value[...] = 0
    assert result.compute().tolist() == [3, 1]


def layers(result):
    return {name.rpartition("-")[0] for name in result.__dask_graph__().layers}


def test_chunks_of_depth_to_space():
    x = da.zeros((4, 16, 9, 6), chunks=((1, 3), (8, 4, 4), (2, 7), (5, 1)))
    crd = dmlops.dask.depth_to_space(x, 2, order="CRD")
    assert crd.chunks == ((1, 3), (2, 1, 1), (4, 14), (10, 2)) and "rechunk-merge" not in layers(crd)
    dcr = dmlops.dask.depth_to_space(x, 2)
    assert dcr.chunks == ((1, 3), (4,), (4, 14), (10, 2)) and "rechunk-merge" in layers(dcr)
    last = dmlops.dask.depth_to_space(da.zeros((6, 8), chunks=(4, (3, 5))), (2,), order="CRD", layout="NHWC")
    assert last.chunks == ((8, 4), (2, 2))  # the border at 3 goes to 4
    assert dmlops.dask.depth_to_space(x, 1).chunks == x.chunks


def test_chunks_of_space_to_depth():
    x = da.zeros((2, 4, 32, 30), chunks=(1, 2, (7, 7, 7, 7, 4), (10, 20)))
    crd = dmlops.dask.space_to_depth(x, (4, 2), order="CRD")
    assert crd.chunks == ((1, 1), (16, 16), (2, 2, 1, 2, 1), (5, 10))
    dcr = dmlops.dask.space_to_depth(x, (4, 2))
    assert dcr.chunks == ((1, 1), (32,), (2, 2, 1, 2, 1), (5, 10))
    assert dmlops.dask.space_to_depth(x, 1).chunks == x.chunks
    single = dmlops.dask.space_to_depth(da.zeros((5, 12), chunks=(5, 1)), (3,))
    assert single.chunks == ((15,), (1, 1, 1, 1))


def test_chunks_of_reverse_subsequences():
    x = da.zeros((6, 4, 10), chunks=((1, 5), 2, 3))
    lengths = da.ones((6, 1, 10), chunks=5, dtype=int)
    assert dmlops.dask.reverse_subsequences(x, lengths, 1).chunks == ((1, 5), (4,), (3, 3, 3, 1))
    assert dmlops.dask.reverse_subsequences(x, [1] * 6, -1, batch_axis=0).chunks == ((1, 5), (2, 2), (10,))
    empty, lengths = da.zeros((0, 2), chunks=((0, 0), 2)), da.zeros(0, chunks=((0,),), dtype=int)
    assert dmlops.dask.reverse_subsequences(empty, lengths, 1, batch_axis=0).chunks == ((0, 0), (2,))
    one = da.ones((1, 2), chunks=((0, 1), 2))
    for arguments in ({"sequence_lengths": [2], "batch_axis": 0}, {"sequence_lengths": [[2]]}):
        assert dmlops.dask.reverse_subsequences(one, axis=1, **arguments).compute().tolist() == [[1, 1]]
    whole = da.zeros((6, 4, 10), chunks=((1, 5), 4, 3))
    assert "rechunk-merge" not in layers(dmlops.dask.reverse_subsequences(whole, [[[2]]], 1))


def test_chunks_of_slice():
    x = da.from_array(np.arange(20), chunks=((3, 0, 4, 6, 2, 5),))

    def cut(key):
        result = dmlops.dask.slice(x, *dmlops.slice_from_key(x.shape, key), device="host")
        assert not [name for name in layers(result) if name.startswith(("rechunk", "getitem"))]
        assert np.array_equal(result.compute(scheduler="synchronous"), np.arange(20)[key])
        return result.chunks[0]

    assert cut(np.s_[:]) == (3, 4, 6, 2, 5)
    assert cut(np.s_[::-1]) == (5, 2, 6, 4, 3)
    assert cut(np.s_[2:14:3]) == (1, 1, 2)  # 2 | 5 | 8, 11 | nothing of 13 and 14
    assert cut(np.s_[::-7]) == (1, 1, 1)  # 19 | 12 | 5
    assert cut(np.s_[5:5]) == (0,)


def test_chunks_of_take():
    x = da.from_array(np.arange(40).reshape(20, 2), chunks=((3, 0, 4, 6, 2, 5), 2))

    def chunks_of(indices, axis=0):
        result = dmlops.dask.take(x, indices, axis, device="host")
        assert not [name for name in layers(result) if name.startswith("rechunk")]
        assert np.array_equal(assembled(result), np.take(x.compute(), indices, axis))
        return result.chunks[: np.ndim(indices)]

    assert chunks_of([0, 1, 1, 3, 3, 12, 13, 19]) == ((3, 2, 1, 1, 1),)  # sorted: each of one chunk
    assert chunks_of([19] * 8) == ((6, 2),)
    assert chunks_of([19, 0, 3, 3, -20, 1, 2]) == ((6, 1),)
    assert chunks_of([[19, 0], [1, 1], [2, 8], [0, 3]]) == ((3, 1), (2,))
    assert chunks_of(7) == () and chunks_of([]) == ((0,),) and chunks_of([1, 0], 1) == ((3, 0, 4, 6, 2, 5),)
    lazy = dmlops.dask.take(x, da.from_array(np.arange(20), chunks=8), 0, device="host")
    assert lazy.chunks == ((8, 8, 4), (2,)) and np.array_equal(assembled(lazy), x.compute())


def test_a_block_of_take_calls_for_each_chunk_that_it_needs(monkeypatch):
    calls, ours = [], dmlops.operators.take
    monkeypatch.setattr(dmlops.operators, "take", lambda *args, **kwargs: calls.append(args[0].shape) or ours(*args, **kwargs))
    x = da.from_array(np.arange(20), chunks=4)
    assert dmlops.dask.take(x, [3, 2, 19, 3], 0, device="host").compute(scheduler="synchronous").tolist() == [3, 2, 19, 3]
    assert calls[0] == (20,) and calls[1:] == [(4,)] * 3  # the check, two chunks, and what puts their elements in order


def test_an_index_in_a_dask_array_is_checked_when_computed():
    for axis, indices in ((0, [1, 4]), (1, [[1, 4]] * 4)):
        result = dmlops.dask.take(da.ones((4, 4)), da.from_array(np.array(indices)), axis, batch_dims=axis, device="host")
        with pytest.raises(IndexError, match=r"indices\[.*1\] is 4"):
            result.compute(scheduler="synchronous")


def test_other_functions_say_what_to_do():
    with pytest.raises(AttributeError, match=r"no attribute 'gather_nd': dask.array.map_blocks\(dmlops.gather_nd, ...\) calls"):
        dmlops.dask.gather_nd  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'nothing'$"):
        dmlops.dask.nothing  # noqa: B018


def test_chunks_of_roll():
    x = da.from_array(np.arange(20), chunks=((3, 0, 4, 6, 2, 5),))
    for shift, chunks in ((5, (5, 3, 4, 6, 2)), (-1, (2, 4, 6, 2, 5, 1)), (20, (3, 4, 6, 2, 5)), (2**70, (4, 3, 4, 6, 2, 1))):
        result = dmlops.dask.roll(x, shift, 0, device="host")
        assert result.chunks == (chunks,) and np.array_equal(assembled(result), np.roll(np.arange(20), shift % 20)), shift


def test_chunks_of_join():
    x, y = da.zeros((6, 10), chunks=((2, 4), (0, 4, 6))), da.zeros((6, 3), chunks=((3, 3), 2))
    joined = dmlops.dask.join([x, y, x[:, :0]], -1)
    assert joined.chunks == ((2, 1, 3), (0, 4, 6, 2, 1))
    same = dmlops.dask.join([x, x], 1)
    assert same.chunks == ((2, 4), (0, 4, 6, 0, 4, 6)) and "rechunk-merge" not in layers(same)
    assert dmlops.dask.join([x[:, :0], y[:, :0]], 1).shape == (6, 0)


def test_chunks_of_padding():
    x = da.from_array(np.arange(20), chunks=((3, 0, 4, 6, 2, 5),))

    def padded(start, end, mode):
        result = dmlops.dask.padding(x, [start], [end], mode=mode, device="host")
        numpys = reference.padding(np.arange(20), [start], [end], mode=mode)
        assert np.array_equal(assembled(result), numpys)
        return result.chunks[0]

    assert padded(2, 30, "constant") == (5, 0, 4, 6, 2, 35)
    assert padded(7, 7, "edge") == (10, 0, 4, 6, 2, 12)
    assert padded(2, 4, "reflection") == (5, 0, 4, 6, 2, 9)
    assert padded(3, 5, "reflection") == (10, 6, 12)  # 4 and 6 elements are needed
    assert padded(3, 5, "symmetric") == (6, 0, 4, 6, 2, 10)
    assert padded(8, 8, "symmetric") == (36,)
    assert padded(0, 19, "reflection") == (39,)
    assert padded(19, 0, "symmetric") == (39,)
    assert padded(6, 4, "wrap") == (1, 5, 3, 4, 6, 2, 5, 3, 1)
    assert padded(0, 21, "wrap") == (3, 4, 6, 2, 5, 3, 4, 6, 2, 5, 1)
    one = dmlops.dask.padding(da.from_array(np.arange(3)), [7], [2], mode="wrap", device="host")
    assert one.chunks == ((12,),) and one.compute().tolist() == [2, *[0, 1, 2] * 3, 0, 1]
    assert dmlops.dask.padding(x, [0], [0]).chunks == x.chunks
    empty = da.zeros((0, 2), chunks=(1, (0, 2)))
    assert dmlops.dask.padding(empty, [0, 1], [0, 0], mode="edge").chunks == ((0,), (3,))
    ones = dmlops.dask.padding(empty, [1, 1], [2, 0], value=1, device="host")
    assert ones.chunks == ((3,), (1, 2)) and ones.compute().tolist() == [[1.0] * 3] * 3


def test_blocks_within_the_padding_are_passed_on(monkeypatch):
    calls, ours = [], dmlops.operators.padding
    result = dmlops.dask.padding(picture(chunks=(1, 12, 4, 5)), [0, 0, 1, 1], [0, 0, 1, 1], device="host")
    monkeypatch.setattr(dmlops.operators, "padding", lambda *args, **kwargs: calls.append(1) or ours(*args, **kwargs))
    result.compute(scheduler="synchronous")
    assert len(calls) == 2 * 12 and result.npartitions == 2 * 16


def test_chunks_of_tile():
    x = da.zeros((4, 6), chunks=(4, (1, 5)), dtype="u1")
    assert dmlops.dask.tile(x, [3, 2]).chunks == ((12,), (1, 5, 1, 5))
    assert dmlops.dask.tile(x, [0, 2]).chunks == ((0,), (1, 5, 1, 5))
    assert dmlops.dask.tile(x, [1, 1]).chunks == x.chunks
    with dask.config.set({"array.chunk-size": "59B"}):
        assert dmlops.dask.tile(x, [3, 2]).chunks == ((4, 4, 4), (1, 5, 1, 5))


def test_chunks_of_split():
    x = da.zeros((6, 20), chunks=(3, (3, 0, 4, 6, 2, 5)))
    parts = dmlops.dask.split(x, -1, [7, 0, 1, 12])
    assert [part.chunks for part in parts] == [((3, 3), sizes) for sizes in ((3, 4), (0,), (1,), (5, 2, 5))]
    assert dmlops.dask.split(x[:, :0], 1, []) == []


def test_chunks_of_slice_grad():
    x = da.ones(9, chunks=((4, 0, 3, 2),), dtype=int)
    spread = dmlops.dask.slice_grad(x, [30], [2], [25], [3])
    assert spread.chunks == ((14, 9, 7),)  # the first elements of the chunks are 2, 14 and 23
    assert dmlops.dask.slice_grad(x, [30], [2], [25], [-3]).chunks == ((8, 9, 13),)
    empty = dmlops.dask.slice_grad(np.zeros((0, 2), "S3"), [4, 5], [1, 1], [0, 2])
    assert empty.shape == (4, 5) and empty.dtype == "S3" and not empty.compute().any()
    assert dmlops.dask.slice_grad(np.zeros((0, 2)), [0, 5], [0, 1], [0, 2]).shape == (0, 5)


def test_chunks_of_transpose_and_upsample():
    x = da.zeros((4, 6, 9, 2), chunks=((1, 3), 6, (2, 7), 1))
    assert dmlops.dask.transpose(x, [0, -1, 1, 2]).chunks == ((1, 3), (1, 1), (6,), (2, 7))
    assert dmlops.dask.transpose(x).chunks == x.chunks[::-1]
    assert dmlops.dask.upsample(x, (2, 3)).chunks == ((1, 3), (6,), (4, 14), (3, 3))
    assert dmlops.dask.upsample(x, (5,), layout="NHWC").chunks == ((1, 3), (6,), (10, 35), (1, 1))


def test_chunks_outside_of_the_window_are_not_computed():
    def only_the_second(block, block_id=None):
        assert block_id == (1,)
        return block

    x = da.from_array(np.arange(12), chunks=4).map_blocks(only_the_second, dtype=int, meta=np.empty(0, int))
    assert dmlops.dask.slice(x, [5], [3], [-2], device="host").compute(scheduler="synchronous").tolist() == [7, 5]
    assert dmlops.dask.slice(x, [5], [0], device="host").compute(scheduler="synchronous").tolist() == []


def test_large_chunks_are_warned_of():
    x = da.zeros((2, 16, 32, 32), chunks=(1, 4, 32, 32), dtype="u1")
    cases = [
        lambda: dmlops.dask.depth_to_space(x, 2),
        lambda: dmlops.dask.space_to_depth(x, 2),
        lambda: dmlops.dask.reverse_subsequences(x, [3, 3], 1, batch_axis=0),
        lambda: dmlops.dask.padding(x, [0, 15, 0, 0], [0] * 4, mode="reflection"),
    ]
    for case in cases:
        with dask.config.set({"array.chunk-size": "16kiB"}), warnings.catch_warnings():
            warnings.simplefilter("error")
            case()
        with dask.config.set({"array.chunk-size": "15kiB"}), pytest.warns(da.PerformanceWarning, match="16.00 kiB") as said:
            case()
        assert [warning.filename for warning in said] == [__file__]
    with dask.config.set({"array.chunk-size": "1kiB"}), warnings.catch_warnings():
        warnings.simplefilter("error")
        dmlops.dask.depth_to_space(x, 2, order="CRD")  # already aligned: nothing is rechunked


def test_without_vulkan_the_host_does():
    run_python(
        "import numpy as np, dask.array as da, dmlops.dask\n"
        "x = da.from_array(np.arange(64).reshape(1, 4, 4, 4), chunks=2)\n"
        "y = dmlops.dask.depth_to_space(x, 2, device='host')\n"
        "assert np.array_equal(y, dmlops.reference.depth_to_space(x.compute(), 2))\n",
        env=NO_VULKAN,
    )


def test_the_package_does_not_import_dask():
    run_python("import sys, dmlops; assert not [name for name in sys.modules if name.partition('.')[0] == 'dask']")


def test_without_dask_the_error_names_the_extra():
    done = run_python("import sys; sys.modules['dask'] = None; import dmlops.dask", check=False)
    assert 'ImportError: dmlops.dask needs Dask: pip install "dask[array]"' in done.stderr


def test_signatures_and_documentation():
    for name in dmlops.dask.__all__:
        ours, packages = inspect.signature(getattr(dmlops.dask, name)), inspect.signature(getattr(dmlops, name))
        assert [(p.name, p.kind, p.default) for p in ours.parameters.values()] == [
            (p.name, p.kind, p.default) for p in packages.parameters.values() if p.name not in ("out", "progress")
        ]
    assert sorted(dmlops.dask.__all__) == sorted([*strategies.OPERATORS, *strategies.RESIZES, "roll", "take"])
    modules = [
        dmlops.dask,
        *(importlib.import_module(f"dmlops.dask.{name}") for name in ("assembly", "blocks", "gathers", "resizing", "windows")),
    ]
    assert all(doctest.testmod(module, optionflags=FLAGS)[0] == 0 for module in modules)
    assert all(getattr(dmlops.dask, name).__doc__.count(">>> ") > 1 for name in dmlops.dask.__all__)
    assert doctest.testfile(str(ROOT / "docs" / "dask.md"), module_relative=False, optionflags=FLAGS).failed == 0


def test_tiles_of_too_many_chunks_are_refused():
    """A graph of them would take minutes before anything is computed."""
    x = da.zeros((2, 3), dtype="u1", chunks=(1, 3))
    for repeats in ([130_000_000, 1], [2000, 2**40]):
        with pytest.raises(ValueError, match=r"make \d+ chunks, more than 1000000: .*array.chunk-size"):
            dmlops.dask.tile(x, repeats)
    empty = da.zeros((2, 0), dtype="u1", chunks=(1, 0))
    assert dmlops.dask.tile(empty, [130_000_000, 1]).shape == (260_000_000, 0)
    assert dmlops.dask.tile(da.zeros(2, dtype="u1"), [1_000_000]).chunks == ((2_000_000,),)


def test_arrays_and_chunks_without_elements():
    """Dask itself chooses no chunks for the former, and reshapes neither."""
    x = np.empty((0, 12_000, 0), np.uint8)
    assert dmlops.dask.transpose(x).compute().shape == (0, 12_000, 0)
    assert dmlops.dask.take(x[..., None], np.empty((0, 12_000, 3), np.int8), 2, batch_dims=1).shape == (0, 12_000, 12_000, 3, 1)
    cut = da.from_array(x, chunks=((0,), (5_000, 7_000), (0, 0)))
    assert dmlops.dask.roll(cut, 3).compute().shape == x.shape
    assert dmlops.dask.take(cut, da.zeros((2, 0), dtype=int)).compute().shape == (2, 0)
    one = da.from_array(np.ones((1, 1), np.uint8), chunks=((1,), (0, 1)))
    assert dmlops.dask.roll(one, 0).compute() == 1 and dmlops.dask.take(one, [0, -1]).compute().tolist() == [1, 1]
    lengths = np.zeros((0, 1, 0), np.int32)
    assert dmlops.dask.reverse_subsequences(x, lengths, 1).compute().shape == x.shape
