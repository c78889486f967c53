"""dmlops.dask against NumPy: results, chunks, what is refused, and what happens when."""

import doctest
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
from support import NO_VULKAN, ROOT, run_python
from test_docs import FLAGS

RANK = 7


@st.composite
def chunks(draw, shape):
    """Chunks of an array, also empty ones."""
    cuts = [draw(st.lists(st.integers(0, size), max_size=2 if len(shape) <= 4 else 1)) for size in shape]
    return tuple(tuple(np.diff([0, *sorted(cut), size]).tolist()) for cut, size in zip(cuts, shape))


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
    @given(st.data())
    def check(data):
        call = data.draw(strategies.CALLS[operator](max_rank=RANK))
        assume(call.input.dtype.itemsize > 0)
        array, arguments = call.input.build(), list(call.arguments())
        if array.dtype.kind == "V":  # Dask, as NumPy, does not copy the holes between fields
            array = strategies.raw(array)
        x = as_dask(array, data.draw(chunks(array.shape)))
        if operator == "reverse_subsequences" and isinstance(arguments[0], np.ndarray) and data.draw(st.booleans()):
            arguments[0] = as_dask(arguments[0], data.draw(chunks(arguments[0].shape)))
        result = getattr(dmlops.dask, operator)(x, *arguments, **call.kwargs, device=device)
        expected = call.expected(reference, array)
        assert (result.shape, result.dtype) == (expected.shape, array.dtype)
        assert type(result._meta) is np.ndarray and (result._meta.ndim, result._meta.dtype) == (result.ndim, result.dtype)
        assert strategies.content(assembled(result)) == strategies.content(expected)

    check()


def picture(shape=(2, 12, 16, 20), chunks=(1, 12, 8, 10)):
    return da.from_array(np.arange(np.prod(shape)).reshape(shape), chunks=chunks)


CALLS = {
    "depth_to_space": lambda x, **more: dmlops.dask.depth_to_space(x, 2, **more),
    "space_to_depth": lambda x, **more: dmlops.dask.space_to_depth(x, 2, **more),
    "slice": lambda x, **more: dmlops.dask.slice(x, *dmlops.slice_from_key(x.shape, np.s_[..., 1:-1, ::-1]), **more),
    "reverse_subsequences": lambda x, **more: dmlops.dask.reverse_subsequences(x, range(12), 2, batch_axis=1, **more),
}
every_call = pytest.mark.parametrize("name", CALLS)


def numpys(name, array):
    arguments = {"slice": dmlops.slice_from_key(array.shape, np.s_[..., 1:-1, ::-1]), "reverse_subsequences": (range(12), 2)}
    more = {"batch_axis": 1} if name == "reverse_subsequences" else {}
    return getattr(reference, name)(array, *arguments.get(name, (2,)), **more)


@every_call
@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_schedulers(name, scheduler, device):
    x = picture()
    result = CALLS[name](x, device=device).compute(scheduler=scheduler, num_workers=2)
    assert np.array_equal(result, numpys(name, x.compute()))


@every_call
def test_nothing_is_computed_before_it_must(name):
    def never(block):
        raise AssertionError("computed")

    x = picture().map_blocks(never, dtype=np.int64, meta=np.empty((0,) * 4, np.int64))
    result = CALLS[name](x, device="no such device")
    assert result.shape == numpys(name, np.zeros(x.shape, np.uint8)).shape
    assert result.dtype == np.int64 and repr(result).startswith(f"dask.array<dmlops-{name}")
    with pytest.raises(AssertionError, match="computed"):
        result.compute(scheduler="synchronous")


@every_call
def test_one_call_for_each_block(name, monkeypatch):
    calls, ours = [], getattr(dmlops.operators, name)

    def counted(block, *args, **kwargs):
        calls.append(block.shape)
        return ours(block, *args, **kwargs)

    result = CALLS[name](picture(chunks=(1, 12, 16, 10)), device="host")
    monkeypatch.setattr(dmlops.operators, name, counted)
    result.compute(scheduler="synchronous")
    assert len(calls) == result.npartitions == 4


@every_call
def test_the_device_is_looked_up_by_the_worker(name):
    result = CALLS[name](picture(), device="no such device")
    with pytest.raises(ValueError, match="no such device"):
        result.compute(scheduler="synchronous")


@every_call
def test_equal_calls_have_equal_keys(name):
    x = picture()
    with dask.config.set({"tokenize.ensure-deterministic": True}):
        names = [CALLS[name](x, device=device).name for device in (None, None, "host", dmlops.devices()[0])]
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
    with pytest.raises((TypeError, ValueError, OverflowError)) as expected:
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
    ],
)
def test_wrong_arguments_are_refused_at_once(name, args, kwargs):
    x = picture()
    array = np.zeros(x.shape)
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
    with pytest.raises(TypeError, match="input has dtype object"):
        dmlops.dask.slice(da.from_array(np.array([None]), chunks=1), [0], [1])
    with pytest.raises(TypeError, match="input has dtype object"):
        dmlops.dask.slice([None], [0], [1])
    x = da.arange(10, chunks=5)
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        dmlops.dask.slice(x[x > 3], [0], [1])
    with pytest.raises(ValueError, match="sequence_lengths has chunks of unknown size"):
        dmlops.dask.reverse_subsequences(np.zeros((10, 3)), x[x > 3], 1, batch_axis=0)


def test_what_numpy_takes_is_an_input():
    assert dmlops.dask.depth_to_space(np.zeros((1, 4, 1, 1)), np.array(2)).shape == (1, 1, 2, 2)
    assert dmlops.dask.depth_to_space(np.zeros((4, 1, 1)), np.array([2, 2])).shape == (1, 2, 2)
    assert dmlops.dask.slice([1, 2, 3], [0], [3], [-1], device="host").compute().tolist() == [3, 2, 1]
    assert dmlops.dask.slice(da.from_array(np.float32(3)), (), (), device="host").compute() == 3
    assert dmlops.dask.reverse_subsequences([[1, 2]], [[2**80]], 1, device="host").compute().tolist() == [[2, 1]]
    assert dmlops.dask.reverse_subsequences(np.zeros((0, 2)), [], 1, batch_axis=0, device="host").compute().shape == (0, 2)


def test_lengths_may_change_after_the_call():
    lengths = np.array([3, 3])
    result = dmlops.dask.reverse_subsequences(da.from_array(np.array([[1, 2, 3]] * 2)), lengths, 1, batch_axis=0, device="host")
    lengths[:] = 0
    assert result.compute().tolist() == [[3, 2, 1]] * 2


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
    assert 'ImportError: dmlops.dask needs Dask: pip install "dmlops[dask]"' in done.stderr


def test_signatures_and_documentation():
    for name in dmlops.dask.__all__:
        ours, packages = inspect.signature(getattr(dmlops.dask, name)), inspect.signature(getattr(dmlops, name))
        assert [(p.name, p.kind, p.default) for p in ours.parameters.values()] == [
            (p.name, p.kind, p.default) for p in packages.parameters.values() if p.name not in ("out", "progress")
        ]
    assert sorted(dmlops.dask.__all__) == sorted(strategies.PLANS)
    assert doctest.testmod(dmlops.dask, optionflags=FLAGS).failed == 0
    assert doctest.testfile(str(ROOT / "docs" / "dask.md"), module_relative=False, optionflags=FLAGS).failed == 0
