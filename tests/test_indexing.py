"""Views of device arrays: basic indexing, reshaping and transposing mean what NumPy's do, and cost the device nothing."""

import ctypes
import datetime
import gc
import itertools
import re
import warnings

import dmlops
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from strategies import FEWER

OVERSIZED = 2**70


def same(device_array, array):
    assert isinstance(device_array, dmlops.DeviceArray)
    assert device_array.shape == array.shape and device_array.dtype == array.dtype
    if array.size:
        steps = [(a, b) for a, b, extent in zip(device_array.strides, array.strides, array.shape) if extent > 1]
        assert all(a == b for a, b in steps)
    assert strategies.content(device_array.numpy()) == strategies.content(array)


@given(data=st.data())
def test_indices_upon_indices(devices, data):
    x = data.draw(strategies.specs(data.draw(strategies.shapes(max_rank=5)))).build().copy()
    arrays = [dmlops.asarray(x, device=device) for device in devices]
    for _ in range(data.draw(st.integers(1, 3))):
        key = data.draw(strategies.basic_keys(x.shape))
        # The `...` keeps a full index an array, as it is here anyway.
        whole = key if isinstance(key, tuple) else (key,)
        x = x[whole if Ellipsis in whole else (*whole, ...)]
        arrays = [a[key] for a in arrays]
        for a in arrays:
            same(a, x)


@given(data=st.data())
@FEWER
def test_assignment(devices, data):
    shape = data.draw(strategies.shapes(max_rank=4))
    x = data.draw(strategies.specs(shape)).build().copy()
    arrays = [dmlops.asarray(x, device=device) for device in devices]
    key = data.draw(strategies.basic_keys(shape))
    whole = key if isinstance(key, tuple) else (key,)
    target = strategies.raw(x)[whole if Ellipsis in whole else (*whole, ...)]
    value_shape = target.shape[data.draw(st.integers(0, target.ndim)) :]
    value_shape = tuple(1 if data.draw(st.integers(0, 3)) == 0 else extent for extent in value_shape)
    value = data.draw(strategies.specs(value_shape, x.dtype)).build()
    target[...] = strategies.raw(value)
    kind = data.draw(st.sampled_from(["numpy", "device", "view"]))
    large, find = data.draw(strategies.view_specs(value.ndim)).embed(value)
    for a, device in zip(arrays, devices, strict=True):
        there = find(dmlops.asarray(large, device=device)) if kind == "view" else dmlops.asarray(value, device=device)
        a[key] = value if kind == "numpy" else there
        assert strategies.content(a.numpy()) == strategies.content(x)


@given(data=st.data())
@FEWER
def test_assignment_of_a_view_of_the_same_array(devices, data):
    n, m = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 300))
    x = np.random.default_rng(0).integers(0, 2**16, (n, m), np.uint16)
    arrays = [dmlops.asarray(x, device=device) for device in devices]
    rows, columns = data.draw(st.integers(1, n)), data.draw(st.integers(1, m))

    def window():
        top, left = data.draw(st.integers(0, n - rows)), data.draw(st.integers(0, m - columns))
        down, right = data.draw(st.sampled_from([1, -1])), data.draw(st.sampled_from([1, -1]))
        return (slice(top, top + rows), slice(left, left + columns)), (slice(None, None, down), slice(None, None, right))

    (to, to_way), (start, start_way) = window(), window()
    x[to][to_way] = x[start][start_way].copy()
    for a in arrays:
        a[to][to_way] = a[start][start_way]
        assert np.array_equal(a.numpy(), x)


def test_a_view_shares_the_memory_and_outlives_the_array(device):
    a = dmlops.asarray(np.arange(12).reshape(3, 4), device=device)
    gc.collect()  # what other tests left
    used = dmlops.memory_info(device).used
    row = a[1]
    assert dmlops.memory_info(device).used == used
    a[1, 2] = 77
    assert row.numpy().tolist() == [4, 5, 77, 7]
    row[...] = 1
    assert a.numpy().tolist() == [[0, 1, 2, 3], [1, 1, 1, 1], [8, 9, 10, 11]]
    del a
    assert row.numpy().tolist() == [1, 1, 1, 1]


def test_iteration_and_length(device):
    x = np.arange(12).reshape(3, 4)
    a = dmlops.asarray(x, device=device)
    assert len(a) == 3
    assert [row.numpy().tolist() for row in a] == x.tolist()
    assert [int(element.numpy()) for element in a[2]] == [8, 9, 10, 11]
    zero = a[0, 0]
    assert zero.shape == () and zero.ndim == 0 and zero.size == 1 and zero.numpy() == 0
    for call in (len, iter):
        with pytest.raises(TypeError, match="0-d"):
            call(zero)


def reshapes():
    views = [((4, 6), np.s_[...]), ((4, 6), np.s_[::2]), ((4, 6), np.s_[:, ::2]), ((2, 3, 4), np.s_[:, 1])]
    views += [((4, 1, 6), np.s_[::-1]), ((0, 3), np.s_[...]), ((), np.s_[...]), ((1, 1), np.s_[...])]
    shapes = [(24,), (-1,), (4, 6), (2, 2, 6), (4, 3, 2), (2, 2, 3, 2), (6, 4), (1, 4, 1, 6, 1), (3, -1), (2, -1)]
    shapes += [(0,), (0, 5), (), (1,), (12,), (4, 3), (2, 6), (8,), (-1, 4), (1, 1, 1)]
    for (shape, key), wanted in itertools.product(views, shapes):
        yield shape, key, wanted


@pytest.mark.parametrize("shape, key, wanted", list(reshapes()), ids=str)
def test_reshape(devices, shape, key, wanted):
    whole = np.arange(int(np.prod(shape)), dtype=np.int16).reshape(shape)
    x = whole[key]
    for device in devices:
        a = dmlops.asarray(whole, device=device)[key]
        try:
            expected = x.reshape(wanted)
        except ValueError:
            with pytest.raises(ValueError, match="reshape"):
                a.reshape(wanted)
            continue
        if x.size and not np.shares_memory(x, expected):
            with pytest.raises(ValueError, match="copy"):
                a.reshape(wanted)
            assert np.array_equal(a.copy().reshape(*wanted).numpy(), expected)
        else:
            same(a.reshape(wanted), expected)
            same(a.reshape(*wanted), expected)


def test_strides_that_lead_nowhere_are_those_of_numpy(device):
    for shape, wanted in [((1, 1), (1, 1, 1)), ((), (1,)), ((0, 4), (0, 2, 2)), ((3,), (1, 3, 1))]:
        assert dmlops.empty(shape, device=device).reshape(wanted).strides == np.empty(shape).reshape(wanted).strides


def test_reshape_says_what_was_asked_for(device):
    a = dmlops.empty((2, 3, 4), np.uint8, device=device)
    for wanted in ((5, 5), (-1, -1), (-2, -12), (2**62, 2**62), (7, -1)):
        with pytest.raises(ValueError, match=re.escape(f"{a.shape} cannot be reshaped to {wanted}")):
            a.reshape(wanted)


def test_items_as_c_asks_for_them(device):
    """Python adds the length to a negative index before it asks, so one that is still negative is out of range."""
    item = ctypes.pythonapi.PySequence_GetItem
    item.restype, item.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_ssize_t]
    a = dmlops.asarray(np.arange(3), device=device)
    assert item(a, 2).numpy() == item(a, -1).numpy() == 2
    for index in (3, -4, -5):
        with pytest.raises(IndexError):
            item(a, index)


def test_reshape_of_nothing_to_too_much(device):
    nothing = dmlops.empty(0, np.uint8, device=device)
    with pytest.raises(ValueError, match="too large"):
        nothing.reshape(0, 2**40, 2**40)
    assert nothing.reshape(0, 2**40).copy().shape == (0, 2**40)


@given(data=st.data())
def test_reshape_of_any_view(devices, data):
    shape = data.draw(st.lists(st.sampled_from([1, 2, 3, 4, 6]), min_size=1, max_size=5))
    x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    arrays = [dmlops.asarray(x, device=device) for device in devices]
    key = data.draw(strategies.basic_keys(x.shape))
    key = key if isinstance(key, tuple) else (key,)
    x = x[key if Ellipsis in key else (*key, ...)]
    order = data.draw(st.permutations(range(x.ndim)))
    x, views = x.transpose(order), [a[key].transpose(order) for a in arrays]
    sizes = [n for n in range(1, x.size + 1) if x.size % n == 0] or [0]
    first = data.draw(st.sampled_from(sizes))
    second = data.draw(st.sampled_from([n for n in sizes if first and x.size // first % n == 0] or [1]))
    wanted = (first, second, -1) if first and second else (0, 2)
    expected = x.reshape(wanted)
    for view in views:
        if x.size and not np.shares_memory(x, expected):
            with pytest.raises(ValueError, match="copy"):
                view.reshape(wanted)
        else:
            same(view.reshape(wanted), expected)


def test_transpose(device):
    x = np.arange(24).reshape(2, 3, 4)
    a = dmlops.asarray(x, device=device)
    same(a.T, x.T)
    same(a.transpose(), x.transpose())
    same(a.transpose(None), x.transpose(None))
    same(a.transpose(1, -1, 0), x.transpose(1, -1, 0))
    same(a.transpose((2, 0, 1)), x.transpose((2, 0, 1)))
    same(a[0, 0, 0].T, x[0, 0, 0, ...].T)


def test_views_cost_the_device_nothing(vulkan):
    from dmlops import _core

    a = dmlops.asarray(np.zeros((100, 100)), device=vulkan)
    before = _core._counts(vulkan)
    a[..., ::-1][1:-1].T.reshape(100, 1, 98)[3, None]
    assert _core._counts(vulkan) == before


@pytest.mark.parametrize(
    "key, error",
    [
        ([0, 3], IndexError), (np.array([-4, 1]), IndexError), (np.array(True), IndexError), (True, IndexError),
        (np.ones((3, 4), bool), IndexError), ("a", IndexError), (1.0, IndexError), ((0, [4]), IndexError),
        (3, IndexError), (-4, IndexError), ((0, 4), IndexError), ((0, 0, 0), IndexError), ((..., ...), IndexError),
        (OVERSIZED, IndexError), (slice(None, None, 0), ValueError), (slice("a", None), TypeError), ({1}, IndexError),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_indices(device, key, error):
    x = np.arange(12.0).reshape(3, 4)
    a = dmlops.asarray(x, device=device)
    with pytest.raises(error):
        a[key]
    with pytest.raises(error):
        a[key] = 1.0
    assert np.array_equal(a.numpy(), x)


def test_advanced_indexing_says_what_to_do_instead(device):
    a = dmlops.asarray([1, 2, 3], device=device)
    for key in ([True, False, True], np.array([True, False, True]), np.array([1.0, 2.0]), (..., [[True, False, True]])):
        with pytest.raises(IndexError, match=r"(?s)only ints, slices.*numpy\(\)"):
            a[key]
    with pytest.raises(IndexError, match=r"(?s)only ints, slices.*numpy\(\)"):
        a[[0, 1]] = 1


@given(data=st.data())
@FEWER
def test_arrays_of_integers_index(devices, data):
    shape = data.draw(strategies.shapes(min_rank=1, max_rank=4).filter(all))
    x = data.draw(strategies.specs(shape)).build().copy()
    drawn = data.draw(st.lists(st.sampled_from(["slice", "array", "array", "int"]), min_size=len(shape), max_size=len(shape)))
    key, wide = [], data.draw(st.sampled_from([(), (3,), (2, 3)]))
    for kind, size in zip(drawn, shape):
        indices = np.random.default_rng(data.draw(strategies.seeds)).integers(-size, size, wide)
        dtype = data.draw(st.sampled_from(["i8", "i2", ">i4"])) if kind == "array" else "i8"
        indices = indices.astype(np.result_type(dtype, np.min_scalar_type(-size))) if kind == "array" else indices
        key.append({"slice": slice(None, None, -1), "array": indices, "int": int(indices.flat[0])}[kind])
    key = key[: data.draw(st.integers(1, len(key)))]
    extra = data.draw(st.sampled_from([None, Ellipsis, "none"]))
    if extra is None or (extra is Ellipsis and len(key) == len(shape)):
        key.insert(data.draw(st.integers(0, len(key))), extra)
    expected = strategies.raw(x)[tuple(key) if any(entry is Ellipsis for entry in key) else (*key, ...)]
    for device in devices:
        result = dmlops.asarray(x, device=device)[tuple(key)]
        assert result.shape == expected.shape and strategies.content(result.numpy()) == strategies.content(expected)


def test_device_arrays_of_integers_index(device):
    x = np.arange(60).reshape(3, 4, 5)
    a, i, j = (dmlops.asarray(one, device=device) for one in (x, np.array([[2], [0]]), np.array([3, -1, 0])))
    assert np.array_equal(a[j].numpy(), x[[2, -1, 0]]), "what is out of range is clamped"
    assert np.array_equal(a[:, j].numpy(), x[:, [3, -1, 0]])
    assert np.array_equal(a[i, j].numpy(), x[[[2], [0]], [3, -1, 0]])
    assert np.array_equal(a[i, :, [4, 0, 1]].numpy(), x[[[2], [0]], :, [4, 0, 1]])
    assert a[[]].shape == (0, 4, 5)


@pytest.mark.parametrize("code", ["i1", "u1", "i2", ">i2", "u4", "i8", "u8"])
def test_device_arrays_beside_other_indices(device, code):
    """Of other dtypes and sizes: what one axis needs does not fit the other's dtype."""
    x = np.arange(2 * 3 * 400, dtype=np.int32).reshape(2, 3, 400)
    a = dmlops.asarray(x, device=device)
    first, last = np.array([1, 0, 1]).astype(code), np.array([399, 300, -400])
    d, far = dmlops.asarray(first, device=device), dmlops.asarray(last, device=device)
    for key, there in (
        ((first, slice(None), 300), (d, slice(None), 300)),
        ((first, 2, last), (d, 2, last)),
        ((first, first, last), (d, first, far)),
        ((first[:, None], ..., last), (d[:, None], ..., far)),
        ((0, first, -1), (0, d, np.int8(-1))),
        ((first, -2, -400), (d, np.array(-2), np.array([-400], np.int16))),
    ):
        result = a[there]
        assert result.shape == x[key].shape and np.array_equal(result.numpy(), x[key])


def test_indices_of_mixed_signs_on_the_host(device):
    x = np.arange(12).reshape(3, 4)
    a = dmlops.asarray(x, device=device)
    first, last = np.array([0, 2], np.uint64), np.array([-1], np.int8)
    for key in ((first, 1), (first, last), (-1, first)):
        assert np.array_equal(a[key].numpy(), x[key])


@pytest.mark.parametrize("shape, key", [
    ((3, 4), ([], 99)), ((3, 4), (99, [])), ((3, 4), ([1], 4)), ((3, 4), ([[0]], -5)), ((3, 4), ([0], 2**32 + 3)),
    ((0, 3), (slice(None), [5])), ((0, 3), ([0], [1])), ((3, 0), [5]), ((0, 3, 2), (slice(None), [5], [1])),
    ((3, 4), ([0, 1], [0, 1, 2])), ((3, 4), ([0, 1], [[0], [1], [2]], )), ((3, 4), ([], [99])), ((0, 3), ([], [5])),
    ((0, 3), np.zeros((2, 0), int)), ((3, 4), (np.zeros((0,), "u8"), 3)), ((3, 4), (np.zeros((1, 0), int), [[99]])),
], ids=str)  # fmt: skip
def test_bounds_and_shapes_as_numpy_checks_them(device, shape, key):
    """Also beside an index on the device, and where nothing is read."""
    x = np.zeros(shape)
    a = dmlops.asarray(x, device=device)
    whole = key if isinstance(key, tuple) else (key,)
    there = [dmlops.asarray(np.array(one, int), device=device) if isinstance(one, list) else one for one in whole]
    several = isinstance(key, tuple) and sum(not isinstance(one, slice) for one in key) > 1
    mixed = [tuple(there[:k] + list(whole[k:])) for k in range(1, len(whole))] if several and np.size(whole[0]) == 0 else []
    try:
        with warnings.catch_warnings():  # before version 2, NumPy warns of an index where nothing is read
            warnings.simplefilter("error")
            expected = x[key]
    except (IndexError, DeprecationWarning):
        for same in (key, *mixed):
            with pytest.raises(IndexError):
                a[same]
        return
    for same in (key, *mixed):
        assert a[same].shape == expected.shape


def test_a_host_index_beside_one_on_the_device_is_checked(device):
    a = dmlops.asarray(np.arange(12).reshape(3, 4), device=device)
    for code in ("i1", "i4", "i8"):
        d = dmlops.asarray(np.array([1, 2], code), device=device)
        for wrong in (300, -5, 2**32 + 3, np.array([0, 4]), [[0], [-5]]):
            with pytest.raises(IndexError, match="out of bounds for axis 1 with size 4"):
                a[d, wrong]


def test_what_is_an_int_and_a_sequence_is_an_int(device):
    """NumPy asks for __index__ first."""

    class Both(list):
        def __index__(self):
            return -1

    x = np.arange(6).reshape(2, 3)
    a = dmlops.asarray(x, device=device)
    for key in (Both([0, 1]), (Both(), 1), (slice(None), Both([5]))):
        assert np.array_equal(a[key].numpy(), x[key])
    assert np.array_equal(a[Both(), [0, 2]].numpy(), x[Both(), [0, 2]])


def test_sequences_index_as_lists_do(device):
    x = np.arange(24).reshape(2, 3, 4)
    a = dmlops.asarray(x, device=device)
    for key in (range(2), np.s_[:, (2, 0)], np.s_[..., (3, 1, 0)], ((),), np.s_[0, range(2)], memoryview(np.array([1, 0]))):
        assert a[key].shape == x[key].shape and np.array_equal(a[key].numpy(), x[key])
    with pytest.raises(IndexError, match="not float: index"):
        a[1.0]


def test_ints_of_all_kinds_index(device):
    a = dmlops.asarray([10, 11, 12], device=device)

    class Two:
        def __index__(self):
            return 2

    for index in (2, -1, np.int8(2), np.uint64(2), np.array(2), Two()):
        assert a[index].numpy() == 12


def test_an_index_that_changes_its_mind(device):
    """What an entry's own code does happens before anything is looked at."""
    a = dmlops.asarray(np.arange(6), device=device)

    class Sly:
        def __index__(self):
            a[...] = 9
            return 1

    assert a[Sly()].numpy() == 9


@pytest.mark.parametrize("dtype, value, result", [
    ("?", True, True), ("u1", 255, 255), ("u1", True, 1), ("i2", -32768, -32768), ("f4", 3, 3.0), ("f4", 0.5, 0.5),
    ("c8", 2.5, 2.5), ("c16", 1j, 1j),
    ("U5", "abc", "abc"), ("S3", b"ab", b"ab"), (">i4", 7, 7), (">f8", 0.25, 0.25), ("u8", 2**64 - 1, 2**64 - 1),
    ("M8[s]", datetime.datetime(2020, 1, 2, 3), "2020-01-02T03"), ("M8[D]", None, "NaT"),
    ("m8[s]", datetime.timedelta(1), 86400),
])  # fmt: skip
def test_python_scalars(device, dtype, value, result):
    a = dmlops.asarray(np.zeros((2, 3), dtype), device=device)
    a[:, 1] = value
    expected = np.zeros((2, 3), dtype)
    expected[:, 1] = result
    assert a.numpy().tobytes() == expected.tobytes() and a.dtype == np.dtype(dtype)


@pytest.mark.skipif(strategies.ml_dtypes is None, reason="ml_dtypes is not installed")
def test_python_scalars_for_the_types_of_ml_dtypes(device):
    a = dmlops.asarray(np.zeros(3, strategies.ml_dtypes.bfloat16), device=device)
    a[1] = 0.5
    a[2] = 3
    assert a.numpy().tolist() == [0, 0.5, 3]
    with pytest.raises(TypeError):
        a[0] = 1j
    small = dmlops.asarray(np.zeros(3, strategies.ml_dtypes.int4), device=device)
    small[1] = -8
    small[2] = True
    assert small.numpy().astype(int).tolist() == [0, -8, 1]
    for value, error in ((8, OverflowError), (300, OverflowError), (1.5, TypeError), (1.0, TypeError)):
        with pytest.raises(error):
            small[0] = value
    with pytest.raises(OverflowError):
        dmlops.asarray(np.zeros(3, strategies.ml_dtypes.uint4), device=device)[0] = -1


@pytest.mark.parametrize("dtype, value, error", [
    ("u1", 256, OverflowError), ("u1", -1, OverflowError), ("i2", 40000, OverflowError), ("i8", 2**63, OverflowError),
    ("i4", 1.0, TypeError), ("?", 1, TypeError), ("f4", 1j, TypeError), ("i4", "1", TypeError), ("U2", "abc", ValueError),
    ("S1", b"ab", ValueError), ("f4", 1e39, OverflowError), ("c8", 1e39j, OverflowError), ("S2", "ab", TypeError),
    ("M8[ns]", datetime.date(9999, 1, 1), OverflowError), ("M8[s]", datetime.timedelta(1), TypeError),
    ("m8[s]", datetime.date(2020, 1, 1), TypeError), ("u1", datetime.date(2020, 1, 1), TypeError),
    ("f4", None, TypeError), ("M8[s]", 3, TypeError), ("f4", np.float64(1), TypeError), ("f4", [1.0], TypeError),
    ("f4", np.zeros(3), TypeError), ("f4", np.zeros(2, "f4"), ValueError), ("f4", np.zeros((2, 2, 3), "f4"), ValueError),
    ("f4", np.zeros((0, 3), "f4"), ValueError),
    ("f4", object(), TypeError), ("f4", np.zeros(3, ">f4"), TypeError),
])  # fmt: skip
def test_what_does_not_fit(device, dtype, value, error):
    a = dmlops.asarray(np.zeros((2, 3), dtype), device=device)
    with pytest.raises(error):
        a[...] = value
    with pytest.raises(error):
        a[...] = dmlops.asarray(value, device=device) if isinstance(value, np.ndarray) else value
    assert a.numpy().tobytes() == np.zeros((2, 3), dtype).tobytes()


def test_elements_cannot_be_deleted(device):
    a = dmlops.asarray([1, 2], device=device)
    with pytest.raises(TypeError):
        del a[0]


@pytest.mark.parametrize("call, error", [
    (lambda a: a.reshape("3"), TypeError), (lambda a: a.reshape(3.0, 4), TypeError), (lambda a: a.reshape(True, 12), TypeError),
    (lambda a: a.reshape(5, -1), ValueError),
    (lambda a: a.reshape(-1, -1), ValueError), (lambda a: a.reshape(-2, 6), ValueError),
    (lambda a: a.reshape([1] * 65 + [12]), ValueError), (lambda a: a.reshape(2**62, 2**62), ValueError),
    (lambda a: a.transpose(0), ValueError), (lambda a: a.transpose(0, 0), ValueError),
    (lambda a: a.transpose(0, 2), np.exceptions.AxisError),
    (lambda a: a.transpose(0, 1.0), TypeError),
])  # fmt: skip
def test_wrong_shapes_and_axes(device, call, error):
    a = dmlops.asarray(np.arange(12).reshape(3, 4), device=device)
    with pytest.raises(error):
        call(a)


def test_a_value_that_the_key_changes(device):
    """A slice's __index__ runs before the value is looked at: nothing beyond it is read."""
    behind = np.full(64, 77, np.uint8)
    value = behind[:16].view("V16")

    class Index:
        def __index__(self):
            value.dtype = "V1"
            return 0

    target = dmlops.asarray(np.zeros(4, "V16"), device=device)
    with pytest.raises(TypeError, match="dtype"):
        target[Index() :] = value
    assert target.numpy().tobytes() == bytes(64)
