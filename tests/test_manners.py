"""What shells, notebooks, NumPy's functions and Python's conversions make of a device array."""

import operator
import re
import traceback
import warnings

import dmlops
import numpy as np
import pytest
from dmlops import _core
from hypothesis import given
from hypothesis import strategies as st

import strategies
import support

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


# --- repr -------------------------------------------------------------------------------------------------------


def shown(a):
    """What repr must be, apart from the line break before the shape."""
    values = np.array2string(np.asarray(a), separator=", ", prefix="DeviceArray(", suffix=",")
    return f"DeviceArray({values}, shape={a.shape}, dtype={a.dtype}, device={a.device.name!r})"


def on_one_line(text):
    return text.replace(",\n            shape=", ", shape=")


def test_repr_of_a_small_array():
    integers = dmlops.asarray(np.int64([1, 2, 3]), device="host")
    assert repr(integers) == "DeviceArray([1, 2, 3], shape=(3,), dtype=int64, device='host')"
    assert str(dmlops.asarray(2.5, device="host")) == "DeviceArray(2.5, shape=(), dtype=float64, device='host')"
    a = dmlops.asarray([[1.5, 2], [-1, 0]], device="host")
    first, second = repr(a).splitlines()
    assert first == "DeviceArray([[ 1.5,  2. ],"
    assert second == "             [-1. ,  0. ]], shape=(2, 2), dtype=float64, device='host')"
    long = dmlops.asarray(np.arange(22, dtype=np.int64), device="host")
    assert repr(long).splitlines()[-1] == "            shape=(22,), dtype=int64, device='host')"


@given(data=st.data())
def test_values_are_printed_as_numpy_prints_them(devices, data):
    dtype = data.draw(st.sampled_from([np.dtype(code) for code in "? i1 u8 f2 f4 >f8 c8 M8[s] U3 S2 V3".split()]))
    x = data.draw(strategies.specs(data.draw(strategies.shapes(max_rank=4)), dtype)).build()
    arrays = [dmlops.asarray(x, device=device) for device in devices]
    limits = {"threshold": (0, 20), "edgeitems": (1, 3), "linewidth": (20, 120), "precision": (0, 9)}
    options = {name: data.draw(st.integers(*both)) for name, both in limits.items()}
    with np.printoptions(**options):
        for a in arrays:
            assert on_one_line(repr(a)) == shown(a)


@pytest.mark.parametrize("shape", [(7,), (6,), (1001,), (1000,), (100, 7, 2), (3, 700), (5, 6, 40), (0, 2000), (2000, 1)])
def test_repr_is_short(device, shape):
    x = np.random.default_rng(0).normal(size=shape)
    a = dmlops.asarray(x, device=device)
    for view in (a, a.T, a[::-1]):
        assert on_one_line(repr(view)) == shown(view)


def test_no_items_at_the_edge():
    with np.printoptions(threshold=0, edgeitems=0):
        assert repr(dmlops.asarray(np.arange(9), device="host")).startswith("DeviceArray([..., 8], shape=(9,)")


def test_repr_downloads_what_it_prints(device, monkeypatch):
    """Less than a kibibyte of an array of any size."""
    downloaded = []
    numpy = dmlops.DeviceArray.numpy

    def counted(self, *args):
        result = numpy(self, *args)
        downloaded.append(result.nbytes)
        return result

    monkeypatch.setattr(dmlops.DeviceArray, "numpy", counted)
    text = repr(dmlops.empty((64, 1024, 1024), np.uint8, device=device))
    assert "shape=(64, 1024, 1024), dtype=uint8" in text and text.count("...") == 6 * 6 + 6 + 1
    assert 6 * 6 * 6 == sum(downloaded) < 1024
    a = dmlops.empty(2**28 - 64, np.float32, device=device)
    downloaded.clear()
    assert repr(a) and sum(downloaded) == 6 * 4


def test_repr_waits_for_the_work(device):
    a = dmlops.asarray(np.arange(4_000_000, dtype=np.int32).reshape(2000, 2000), device=device)
    for _ in range(21):
        a = dmlops.slice(a, [0, 0], [2000, 2000], [1, -1])
    assert repr(a).startswith("DeviceArray([[   1999,    1998,    1997, ...,       2,       1,       0],")


@pytest.mark.posix
def test_repr_of_a_lost_array(vulkan):
    """The child of a fork sees the parent's array: printing it is no error."""
    done = support.run_python("""
import os, sys, dmlops
a = dmlops.asarray([1, 2, 3])
pid = os.fork()
if pid == 0:
    print(repr(a), flush=True)
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
""")
    assert done.stdout.startswith("DeviceArray(<DeviceLostError: ")
    assert "forked" in done.stdout and "shape=(3,), dtype=int64" in done.stdout


# --- one element ------------------------------------------------------------------------------------------------

CONVERSIONS = [bool, int, float, complex, operator.index, lambda x: x.item(), lambda x: x.tolist()]
CONVERSIONS += [lambda x: [10, 20, 30][x], lambda x: x.item(0), lambda x: x.item(-1), lambda x: x.item(1)]
CONVERSIONS += [lambda x: x.item(0, 0), lambda x: x.item((0,)), lambda x: x.item(1.5), lambda x: x.item("no")]
CONVERSIONS += [lambda x: x.item(10**30)]
ARRAYS = [np.int16(2), np.float64(2.5), np.complex64(1 + 2j), np.bool_(True), [0], [[1]], [1.5], [1, 2], [[1, 2], [3, 4]]]
ARRAYS += [[], np.zeros((2, 0)), "3", "text", b"abc", np.datetime64("2026-01-01"), np.zeros(2, "V3")]


def outcome(convert, x):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = convert(x)
        except Exception as error:
            result = type(error), str(error)
    return type(result), result, [one.category for one in warned]


@pytest.mark.parametrize("x", ARRAYS, ids=repr)
def test_conversions_are_numpy_s(device, x):
    """The values, the types, the errors and their words, the warnings."""
    x = np.asarray(x)
    a = dmlops.asarray(x, device=device)
    for convert in CONVERSIONS:
        assert outcome(convert, a) == outcome(convert, x)


@given(data=st.data())
def test_item_by_any_index(devices, data):
    x = np.arange(120).reshape(data.draw(st.sampled_from([(120,), (4, 30), (2, 3, 4, 5), (1, 120)])))
    arrays = [dmlops.asarray(x, device=device) for device in devices]
    index = data.draw(st.one_of(st.integers(-130, 130), st.tuples(*[st.integers(-size - 1, size) for size in x.shape])))
    args = data.draw(st.sampled_from([(index,), index])) if isinstance(index, tuple) else (index,)
    for a in arrays:
        assert outcome(lambda array: array.item(*args), a) == outcome(lambda array: array.item(*args), x)


def test_a_condition(device):
    assert dmlops.asarray(1, device=device) and not dmlops.asarray([[0.0]], device=device)


def test_an_array_as_index(device):
    a, two = dmlops.asarray(X, device=device), dmlops.asarray(1, device=device)
    assert np.array_equal(a[two].numpy(), X[1]) and np.array_equal(X[two], X[1])
    assert np.array_equal(a[dmlops.asarray([0, 1], device=device)].numpy(), X[[0, 1]])
    for many in (dmlops.asarray(one, device=device) for one in ([True], [0.5], 1.0)):
        with pytest.raises((IndexError, TypeError), match="only int"):
            a[many]


def test_lists_of_elements_make_an_array(device):
    small = dmlops.asarray(3, device=device)
    assert np.array([small, small]).tolist() == [3, 3]
    assert dmlops.asarray([small, small], device=device).tolist() == [3, 3]


# --- views ------------------------------------------------------------------------------------------------------


@given(data=st.data())
def test_views_are_numpy_s(devices, data):
    x = np.arange(48).reshape(data.draw(st.sampled_from([(48,), (1, 48), (2, 3, 8), (4, 1, 3, 1, 4), (2, 2, 2, 2, 3, 1)])))
    arrays = [dmlops.asarray(x, device=device) for device in devices]
    axes = [data.draw(st.integers(-x.ndim - 1, x.ndim)) for _ in range(2)]
    squeezes = [lambda y: y.squeeze(), lambda y: y.squeeze(axes[0]), lambda y: y.squeeze(axis=tuple(axes))]
    for view in (lambda y: y.swapaxes(*axes), *squeezes):
        assert [result_of(view, a) for a in arrays] == [result_of(view, x)] * len(arrays)


def result_of(view, x):
    try:
        result = view(x)
    except Exception as error:
        return type(error), str(error)
    strides = [stride for stride, size in zip(result.strides, result.shape, strict=True) if size > 1]
    return result.shape, strides, result.tolist()


def test_ravel_is_a_view(device):
    a = dmlops.asarray(X, device=device)
    flat = a[:, ...].ravel()
    flat[5] = -1
    assert flat.shape == (24,) and a.numpy()[0, 1, 1] == -1
    with pytest.raises(ValueError, match="copy"):
        a.T.ravel()
    assert a.T.copy().ravel().tolist() == a.numpy().T.ravel().tolist()


def test_a_view_by_a_function_must_be_one(device):
    a = dmlops.asarray(X, device=device)
    with pytest.raises(TypeError, match="must return a view"):
        _core._view(a, lambda like: 3)
    with pytest.raises(ZeroDivisionError):
        _core._view(a, lambda like: 1 / 0)
    for wrong in ((a,), (X, lambda like: like)):
        with pytest.raises(TypeError):
            _core._view(*wrong)


# --- methods ------------------------------------------------------------------------------------------------------

# What NumPy's arrays have, and device arrays too: calls whose results are NumPy's.
METHODS = {
    "astype": [lambda x: x.astype(x.dtype), lambda x: x.astype("f4", copy=False)],
    "copy": [lambda x: x.copy()],
    "diagonal": [lambda x: x.diagonal(), lambda x: x.diagonal(1, 1, 2), lambda x: x.diagonal(-1, axis1=2, axis2=0)],
    "flatten": [lambda x: x.flatten(), lambda x: x.flatten("F"), lambda x: x[0, 0, 0].flatten(order="C")],
    "ravel": [lambda x: x[1, 0].ravel()],
    "repeat": [lambda x: x.repeat(2), lambda x: x.repeat([3], axis=1), lambda x: x.repeat(0, -1)],
    "reshape": [lambda x: x.reshape(x.shape), lambda x: x[0, 1].reshape(1, -1)],
    "squeeze": [lambda x: x[:, :1].squeeze()],
    "swapaxes": [lambda x: x.swapaxes(0, -1)],
    "take": [lambda x: x.take([1, 0], 1), lambda x: x.take(3), lambda x: x.take([[0, -1]], axis=-1)],
    "to_device": [lambda x: x.to_device(x.device)],
    "transpose": [lambda x: x.transpose(), lambda x: x.transpose(2, 0, 1)],
    "item": [lambda x: x.item(3)],
    "tolist": [lambda x: x.tolist()],
    "tobytes": [lambda x: x.tobytes(), bytes],
    "dtype": [lambda x: x.dtype], "itemsize": [lambda x: x.itemsize], "nbytes": [lambda x: x.nbytes],
    "ndim": [lambda x: x.ndim], "shape": [lambda x: x.shape], "size": [lambda x: x.size], "strides": [lambda x: x.strides],
    "T": [lambda x: x.T], "mT": [lambda x: x.mT],
    "fill": [], "device": [],  # tested elsewhere: they return nothing, or something else
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in dir(np.ndarray) if not name.startswith("_")])
def test_attributes_of_numpys_arrays(device, name):
    """Each is there and does the same, or its absence says what to do."""
    a = dmlops.asarray(X, device=device)
    if name in METHODS:
        for view, of in ((a, X), (a[:, ::-1, 1:], X[:, ::-1, 1:])):
            for call in METHODS[name]:
                result, expected = call(view), call(of)
                array = isinstance(expected, (np.ndarray, np.generic))
                assert type(result) is (dmlops.DeviceArray if array else type(expected))
                assert np.array_equal(result, expected) and np.shape(result) == np.shape(expected)
        return
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'(; did you mean |: what \.numpy\(\) gives)") as caught:
        getattr(a, name)
    assert caught.value.obj is a and not hasattr(dmlops.DeviceArray, name)


@pytest.mark.driverless
def test_no_method_is_of_nobody():
    ours = {"numpy", "wait"}
    there = {name for name in vars(dmlops.DeviceArray) if not name.startswith("_")}
    assert there == {*METHODS, *ours}


def test_methods_that_copy_and_that_are_views(device):
    for copy in (lambda a: a.flatten(), lambda a: a.astype("f4"), lambda a: a.repeat(1), lambda a: a.take([0], 0)):
        a = dmlops.asarray(X, device=device)
        copy(a).fill(-1)
        assert np.array_equal(a, X)
    a.diagonal(0, 1, 2).fill(-1)
    assert np.array_equal(a.numpy()[:, [0, 1, 2], [0, 1, 2]], np.full((2, 3), -1)) and a.numpy()[0, 0, 1] == X[0, 0, 1]
    assert a.astype("f4", copy=False) is a
    a[0].fill(np.float32(7))
    assert np.array_equal(a[0], np.full((3, 4), 7))


def test_methods_refuse_what_numpy_refuses(device):
    a = dmlops.asarray(X, device=device)
    wrong = [lambda x: x.diagonal(0, 1, 1), lambda x: x.diagonal(0, 0, 3), lambda x: x.repeat(-1), lambda x: x.repeat(2, 3)]
    wrong += [lambda x: x.take(24), lambda x: x.take([0], 3), lambda x: x.flatten("X"), lambda x: x[0, 0].diagonal()]
    for number, call in enumerate(wrong):
        with pytest.raises(Exception) as expected:
            call(X)
        with pytest.raises(type(expected.value)):
            call(a)
            raise SystemError(number)
    with pytest.raises(TypeError, match=r"^astype from float32 to float64 computes: .*\.numpy\(\).*dmlops\.fuse"):
        a.astype("f8")


# Attributes that other libraries' tensors have, and what is named in their place.
OTHERS = {
    "permute": ".transpose", "to": ".to_device", "cuda": ".to_device", "cpu": ".numpy()", "get": ".numpy()",
    "contiguous": ".copy()", "clone": ".copy()", "flip": "numpy.flip", "unsqueeze": "numpy.expand_dims", "pad": "numpy.pad",
    "block_until_ready": ".wait()", "flat": ".ravel()", "put": "a[index] = value",
}  # fmt: skip


def test_attributes_of_other_libraries(device):
    a = dmlops.asarray(X, device=device)
    for name, there in OTHERS.items():
        with pytest.raises(AttributeError, match=f"no attribute '{name}'; did you mean .*{re.escape(there)}"):
            getattr(a, name)
        for place, found in re.findall(r"(numpy|)\.([a-z_]+)", there):
            assert hasattr(np if place else a, found), there
    for name in ("xyzzy", "__array_interface__", "_private"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'$"):
            getattr(a, name)


def test_formats(device):
    assert f"{dmlops.asarray(2.5, device=device):.2f}" == "2.50" and f"{dmlops.asarray(7, device=device):>3}" == "  7"
    a = dmlops.asarray([1.0], device=device)
    assert f"{a}" == repr(a)
    with pytest.raises(TypeError, match="format"):
        f"{a:.2f}"


# --- NumPy's functions --------------------------------------------------------------------------------------------

VIEWS = {
    "flip": [(), (1,), ((0, 2),)], "fliplr": [()], "flipud": [()], "rot90": [(), (2,), (3, (1, 2))],
    "transpose": [(), ((2, 0, 1),)], "moveaxis": [(0, -1)], "rollaxis": [(2,)], "swapaxes": [(0, 2)],
    "expand_dims": [(0,), ((0, -1),)], "squeeze": [()], "diagonal": [(), (1, 1, 2)], "permute_dims": [(), ((2, 0, 1),)],
    "matrix_transpose": [()], "reshape": [((4, 6),), (-1,)], "ravel": [()],
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_functions_that_are_views(device, name):
    function = getattr(np, name, None)
    if function is None:
        pytest.skip(f"this NumPy has no {name}")
    a = dmlops.asarray(X, device=device)
    for args in VIEWS[name]:
        result = function(a, *args)
        expected = function(X, *args)
        assert type(result) is dmlops.DeviceArray and result.device == a.device
        assert result.shape == expected.shape and np.array_equal(result, expected)
    before = np.array(a)
    function(a, *VIEWS[name][0])[...] = -1
    assert not np.array_equal(a, before)


def outcome(call, *arrays):
    try:
        return np.asarray(call(*arrays)).tolist()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("values", [[0], [-1], [1, 0], [[0]], 0, 1], ids=str)
def test_axes_that_are_a_device_array(device, values):
    """The array itself, too: its elements are read, as NumPy reads those of its own."""
    calls = [lambda a: np.transpose(a, a), lambda a: np.transpose(axes=a, a=a), lambda a: np.moveaxis(a, a, a)]
    calls += [lambda a: np.rollaxis(a, a, start=a), lambda a: np.swapaxes(a, a, a), lambda a: np.expand_dims(a, a)]
    calls += [lambda a: np.flip(axis=a, m=a), lambda a: np.squeeze(a[None], a), lambda a: np.diagonal(a[None], a, a)]
    x = np.array(values)
    a = dmlops.asarray(x, device=device)
    for number, call in enumerate(calls):
        assert outcome(call, a) == outcome(call, x), number
    of_two = [lambda b, a: np.transpose(b, a), lambda b, a: np.moveaxis(b, a, a), lambda b, a: np.flip(b, a), np.size]
    y = np.arange(6).reshape(2, 3)
    for number, call in enumerate(of_two):
        assert outcome(call, dmlops.asarray(y, device=device), a) == outcome(call, y, x), number


class Index:
    def __index__(self):
        raise LookupError


def test_tracebacks_show_locals(device):
    """What a view was to be made of: somebody who shows the variables of frames may print, copy and change it."""
    a = dmlops.asarray(X, device=device)
    wrong = [lambda: np.flip(a, 3), lambda: a.transpose(0, 5), lambda: a.squeeze(0), lambda: a.T.reshape(24), lambda: a[9]]
    wrong += [lambda: np.rot90(a, axes=(0, 0)), lambda: np.expand_dims(a, 9), lambda: np.diagonal(a, 0, 1, 1)]
    wrong += [lambda: np.moveaxis(a, [0], [0, 1]), lambda: a[Index()], lambda: np.transpose(a, [Index()] * 3)]
    found = []
    for call in wrong:
        with pytest.raises((ValueError, IndexError, LookupError)) as caught:  # AxisError is both of the first
            call()
        traceback.TracebackException.from_exception(caught.value, capture_locals=True)
        frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
        found += [value for frame in frames for value in frame.f_locals.values() if type(value) is np.ndarray]
    assert len(found) >= 5
    for like in found:
        like.copy()[...] = like
        assert like.tobytes() == b"" and str(like) and like.tolist() and np.array_equal(like, like)
    assert np.array_equal(a, X)


def test_a_view_must_be_within_the_array(device):
    a = dmlops.asarray(X, device=device)[1:, ::-1]
    strided = np.lib.stride_tricks.as_strided
    outside = [lambda like: like.copy(), lambda like: np.zeros((1, 3, 4), "V0"), lambda like: X[1:]]
    outside += [lambda like: strided(like, (2, 3, 4), (48, -16, 4)), lambda like: strided(like, (9,), (-16,))]
    outside += [lambda like: strided(like, (3,), (2**62,)), lambda like: like[:, ::-1][:, :1].view()[..., 3:].repeat(9, 1)]
    for wrong in outside:
        with pytest.raises(TypeError, match="must return a view"):
            _core._view(a, wrong)


def test_keywords_of_views(device):
    a = dmlops.asarray(X, device=device)
    assert np.array_equal(np.flip(m=a, axis=0), X[::-1])
    assert np.array_equal(np.ravel(a=a, order="C"), X.ravel())
    assert np.array_equal(np.ravel(a, "C"), X.ravel()) and np.array_equal(np.reshape(a, (4, 6), "C"), X.reshape(4, 6))
    for view in (lambda a: np.reshape(a.T, (4, 6), order="F"), lambda a: np.ravel(a, order="K"), lambda a: np.ravel(a.T, "f")):
        assert np.array_equal(view(a), view(X)) and type(view(a)) is dmlops.DeviceArray
    for copies in (lambda: np.ravel(a.T), lambda: np.reshape(a, (4, 6), order="F"), lambda: np.ravel(a, "F")):
        with pytest.raises(ValueError, match="copy"):
            copies()
    with pytest.raises(np.exceptions.AxisError):
        np.flip(a, 3)


LAYOUTS = {
    "C": lambda x: x,
    "F": lambda x: x.T,
    "mirrored": lambda x: x[::-1],
    "first axes": lambda x: x.swapaxes(0, 1),
    "mirrored and turned": lambda x: x[:, ::-1].transpose(2, 0, 1),
    "an axis of size 1": lambda x: x[:1].T,
    "matrix": lambda x: x[0].T,
    "empty": lambda x: x[:0].T,
    "vector": lambda x: x[0, 0],
    "scalar": lambda x: x[(0,) * x.ndim + (...,)],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", ["C", "F", "f", "A", "K", "k", None])
def test_orders(device, layout, order):
    """Elements in each of NumPy's orders; copies also have the strides."""
    x = LAYOUTS[layout](X)
    a = LAYOUTS[layout](dmlops.asarray(X, device=device))
    for call in (lambda x: x.flatten(order), lambda x: x.copy(order), lambda x: x.copy(order=order)):
        result, expected = call(a), call(x)
        assert type(result) is dmlops.DeviceArray and result.dtype == expected.dtype and result.shape == expected.shape
        assert strategies.content(result.numpy()) == strategies.content(expected)
        assert x.size < 2 or [s for s, n in zip(result.strides, x.shape) if n > 1] == [
            s for s, n in zip(expected.strides, x.shape) if n > 1
        ]
    assert a.tobytes(order) == x.tobytes(order)
    shapes = [()] if x.ndim == 0 else [(-1, 2), (2, -1)] if x.size else [(0, 2)]
    views = [lambda x: x.ravel(order), *(lambda x, shape=shape: x.reshape(shape, order=order) for shape in shapes)]
    for view in views[: 1 if order in ("K", "k") else None]:
        try:
            result = view(a)
        except ValueError as error:
            assert "without a copy" in str(error)
            continue
        assert strategies.content(result.numpy()) == strategies.content(view(x))
        assert x.size == 0 or np.shares_memory(view(x), x) or x.ndim == 0
    for shape in shapes * (order not in ("K", "k")):
        copied = a.reshape(shape, order=order, copy=True)
        assert strategies.content(copied.numpy()) == strategies.content(x.reshape(shape, order=order))


@pytest.mark.parametrize("wrong", ["q", "foo", "", "CF", 3, b"X"])
def test_orders_that_there_are_not(device, wrong):
    a = dmlops.asarray(X, device=device)
    calls = [lambda x: x.flatten(wrong), lambda x: x.copy(wrong), lambda x: x.ravel(order=wrong), lambda x: x.tobytes(wrong)]
    for call in [*calls, lambda x: x.reshape(24, order=wrong), lambda x: np.reshape(x, 24, wrong)]:
        with pytest.raises((TypeError, ValueError)) as expected:
            call(X)
        with pytest.raises(type(expected.value), match="order"):
            call(a)
    for keep in ("K", "k"):
        with pytest.raises(ValueError, match="not permitted for reshaping"):
            a.reshape(24, order=keep)


def test_copy_of_reshape_is_no_text(device):
    with pytest.raises(ValueError, match="True/False/None"):
        dmlops.asarray(X, device=device).T.reshape(24, copy="False")


def test_strings_of_no_bytes_stay_so(device):
    for code in ("S0", "U0", "V0"):
        x = np.ndarray((2, 3), code)
        a = dmlops.asarray(x, device=device)
        assert a.dtype == a.numpy().dtype == a.copy().numpy().dtype == a[1:].numpy().dtype == np.dtype(code)
        assert dmlops.transpose(x, device=device).dtype == np.dtype(code) and a.T.numpy().shape == (3, 2)
        assert a.numpy().tolist() == x.tolist()


def test_flip_of_a_0d_array(device):
    a = dmlops.asarray(X[0, 0, 0], device=device)
    for flip in (np.flip, lambda a: np.flip(a, axis=()), dmlops.array_api.flip):
        result = flip(a)
        assert type(result) is dmlops.DeviceArray and result.shape == () and result.numpy() == X[0, 0, 0]


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="numpy.reshape has no `copy` before NumPy 2.1")
def test_reshape_copies_where_asked_to(device):
    a = dmlops.asarray(X, device=device)
    copied, view = np.reshape(a.T, shape=24, copy=True), np.reshape(a, 24, copy=False)
    view[...] = 0
    assert np.array_equal(copied, X.T.ravel()) and not a.numpy().any()
    with pytest.raises(ValueError, match="copy"):
        np.reshape(a.T, 24, copy=False)


def test_questions_about_shape_and_dtype(device):
    a = dmlops.asarray(X, device=device)
    assert (np.shape(a), np.ndim(a), np.size(a), np.size(a, 1)) == ((2, 3, 4), 3, 24, 3)
    assert np.isrealobj(a) and not np.iscomplexobj(a) and np.result_type(a, np.float64) == np.float64


DOWNLOADS = {
    "concatenate of a list": lambda a: np.concatenate([a, X]), "stack": lambda a: np.stack([a, [[[1.0]]]]),
    "concatenate of two dtypes": lambda a: np.concatenate([a, dmlops.asarray(X.astype("f8"), device=a.device)]),
    "vstack": lambda a: np.vstack([X, a]), "mean": lambda a: np.mean(a), "sum": lambda a: np.sum(a),
    "where": lambda a: np.where(X > 0, a, X), "copyto": lambda a: np.copyto(X.copy(), a), "pad": lambda a: np.pad(a, 1, "mean"),
    "block": lambda a: np.block([[a], [X]]), "append scalar": lambda a: np.append(a, 3),
    "linalg.norm": lambda a: np.linalg.norm(a), "fft.fft": lambda a: np.fft.fft(a), "append": lambda a: np.append(a, X),
    "take": lambda a: np.take(a, [0], mode="wrap"), "put_along_axis": lambda a: np.put_along_axis(a, X.astype(int), 0, 0),
    "tile": lambda a: np.tile(X, a), "roll": lambda a: np.roll(a, a),
    "save": lambda a: np.save("never written", a), "repeat": lambda a: np.repeat(a, [1, 2], 0),
    "isclose": lambda a: np.isclose(a, X),
}  # fmt: skip


@pytest.mark.parametrize("name", DOWNLOADS)
def test_functions_that_would_download(device, name):
    with pytest.raises(TypeError, match=rf"^numpy\.{name.split()[0]}.* would download a dmlops.DeviceArray: .*\.numpy\(\)"):
        DOWNLOADS[name](dmlops.asarray(X, device=device))


def binary_operators():
    functions = {"add": "add", "subtract": "sub", "multiply": "mul", "power": "pow", "bitwise_and": "and_", "matmul": "matmul"}
    for name, function in (functions | {"equal": "eq", "not_equal": "ne", "(less|greater)": "lt"}).items():
        yield name, getattr(operator, function)
    yield "divide", operator.truediv
    yield "add", operator.iadd


@pytest.mark.parametrize("name, function", list(binary_operators()))
def test_operators_say_what_to_do(device, name, function):
    """Between a device array and another, NumPy's arrays and scalars, Python's scalars, in either order."""
    a = dmlops.asarray(X, device=device)
    for other in (a, X, X[0, 0, 0], np.float32(2), np.array(3), 2, 2.5):
        for left, right in ((a, other), (other, a)):
            with pytest.raises(TypeError, match=rf"^numpy\.{name} would download a dmlops.DeviceArray: .*\.numpy\(\)"):
                function(left, right)
    assert np.array_equal(a, X)


def test_ufuncs_say_what_to_do(device):
    a = dmlops.asarray(X, device=device)
    for name, call in {
        "numpy.negative": lambda: -a, "numpy.absolute": lambda: abs(a), "numpy.sin": lambda: np.sin(a),
        "numpy.add": lambda: np.add(X, 1, out=a), "numpy.add.reduce": lambda: np.add.reduce(a), "numpy.greater": lambda: max(a),
        "mine (vectorized)": lambda: np.frompyfunc(mine, 1, 1)(a), "numpy.equal": lambda: a in [X],
    }.items():  # fmt: skip
        with pytest.raises(TypeError, match=rf"^{re.escape(name)} would download a dmlops.DeviceArray: .*\.numpy\(\)"):
            call()


def mine(element):
    return element


def test_other_libraries_may_take_the_operators(device):
    class Other:
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return "taken"

    class Reflected:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "reflected"

    a = dmlops.asarray(X, device=device)
    assert a + Other() == "taken" and np.add(Other(), a) == "taken" and a + Reflected() == "reflected"


def test_functions_that_download_for_tests(device):
    a = dmlops.asarray(X, device=device)
    for equal in (np.array_equal, np.array_equiv, np.allclose):
        assert equal(a, X) and equal(X, a) and equal(a, a) and not equal(a, X + 1)
    for name in ("array_equal", "equal", "allclose", "array_almost_equal"):
        check = getattr(np.testing, f"assert_{name}")
        check(a, X)
        check(X, a)
        with pytest.raises(AssertionError):
            check(a, X + 1)


def test_other_libraries_may_take_device_arrays(device):
    class Other:
        def __array_function__(self, func, types, args, kwargs):
            return "taken"

    assert np.concatenate([dmlops.asarray(X, device=device), Other()]) == "taken"


def test_the_stub_has_the_methods_of_device_arrays():
    """All but the hooks that _core.pyi leaves out on purpose."""
    import ast

    stub = ast.parse((support.ROOT / "dmlops" / "_core.pyi").read_text())
    (body,) = [node.body for node in stub.body if isinstance(node, ast.ClassDef)]
    said = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    there = {name for name in vars(dmlops.DeviceArray) if not name.startswith("__")}
    assert {name for name in said if not name.startswith("__")} == there
    assert all(hasattr(dmlops.DeviceArray, name) for name in said)
    assert all(getattr(dmlops.DeviceArray, name).__doc__ for name in there)
