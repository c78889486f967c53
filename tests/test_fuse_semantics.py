"""Fused functions have NumPy's semantics: operators as arrays have them, shapes, dtypes, fills, indices, exceptions."""

import itertools
import warnings

import dmlops
import numpy as np
import pytest

pytestmark = pytest.mark.driverless

U = np.arange(256, dtype=np.uint8)
H = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
X = np.arange(12, dtype=np.uint8).reshape(3, 4)
TWO = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


def same(one, other):
    one, other = np.asarray(one), np.asarray(other)
    return (one.dtype, one.shape) == (other.dtype, other.shape) and one.tobytes() == other.tobytes()


def check(function, *arrays):
    """A fused function gives what the function gives, or an error of the same kind, and is proved."""
    fused = dmlops.fuse(function)
    with np.errstate(all="ignore"):
        try:
            expected = function(*arrays)
        except Exception as error:
            with pytest.raises(type(error)) as caught:
                fused(*arrays, device="host")
            line = f"{function.__code__.co_filename}:"
            assert line in str(caught.value) or line in str(getattr(caught.value, "__notes__", ""))
            return error
    result = fused(*arrays, device="host")
    assert same(result, expected), (np.asarray(result), np.asarray(expected))
    fused.prove(*arrays)
    return None


# --- operators ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [0.5, -1, 2, 0, 1, 3, -0.5, 2.0, np.float16(0.5), np.float32(2)], ids=repr)
def test_powers_are_those_of_arrays(power):
    """`x ** 0.5` is a square root: of -0.0 and of minus infinity it differs from numpy.power's."""
    check(lambda x: x**power, H)
    check(lambda x: x**power, U)
    check(lambda x: power**x, U)


def test_the_square_root_of_minus_infinity():
    result = dmlops.fuse(lambda x: x**0.5)(np.float16([-0.0, -np.inf]), device="host")
    assert np.signbit(result[0]) and result[0] == 0 and np.isnan(result[1])
    assert dmlops.fuse(lambda x: pow(x, 2))(U, device="host").tolist() == (U * U).tolist()


def test_powers_of_scalars_are_those_of_scalars():
    """What an index of ints selects is a scalar in NumPy, and has no short cuts; with `...` it is an array."""
    for x in (np.float16([-0.0, 2]), np.float16([-np.inf, 2])):
        check(lambda x: x[0] ** 0.5, x)
        check(lambda x: (x[0] + np.float16(0)) ** 0.5, x)
        check(lambda x: x[0, ...] ** 0.5, x)
        check(lambda x: 2 ** x[0], x)
        check(lambda x: x**0.5, x[0, ...])


@pytest.mark.parametrize("code", ["u1", "i1"])
def test_arithmetic_of_what_has_no_axes_is_that_of_scalars(code):
    """Before version 2, NumPy widens it: 255 + 1 is 256 there."""
    for one in (lambda x: x[-1], lambda x: x[127, ...], lambda x: (x * x)[-1]):
        check(lambda x: one(x) + 1, U.view(code))
        check(lambda x: one(x) * 2.5 - one(x).dtype.type(1), U.view(code))
        check(lambda x: (one(x) + np.int64(100)) * 2, U.view(code))
        check(lambda x: one(x) + np.array([1, 300]), U.view(code))
        check(lambda x: np.ones_like(one(x)) + 300, U.view(code))


@pytest.mark.skipif(TWO, reason="dtypes depend on values before NumPy 2 only")
def test_dtypes_that_depend_on_values_are_refused():
    small = np.arange(3, dtype=np.int8)
    with pytest.raises(TypeError, match="chooses the dtype by the value: int16 or int8"):
        dmlops.fuse(lambda x: x[0] + small)(U, device="host")
    with pytest.raises(TypeError, match="by whose value this NumPy chooses the dtype"):
        dmlops.fuse(lambda x: np.concatenate([x[0], small], axis=None))(U, device="host")
    check(lambda x: x[0] + small.view(np.uint8), U)
    check(lambda x: np.concatenate([x[0], x], axis=None), U)


STRUCTURE = np.zeros(256, [("a", "u1")])
STRUCTURE["a"] = U

COMPARED = {
    "structures": (lambda x: x == x, STRUCTURE),
    "a structure": (lambda x: x == np.array((3,), STRUCTURE.dtype), STRUCTURE),
    "another structure": (lambda x: x != np.array([(3,)], STRUCTURE.dtype), STRUCTURE),
    "None": (lambda x: x != None, U),  # noqa: E711
    "text": (lambda x: x == b"a", np.array([b"a", b"b"])),
    "order of text": (lambda x: x < b"b", np.array([b"a", b"b"])),
    "a number that is no byte": (lambda x: x == 300, U),
}


@pytest.mark.parametrize("name", COMPARED)
def test_comparisons_are_those_of_arrays(name):
    check(*COMPARED[name])


@pytest.mark.skipif(not TWO, reason="older versions of NumPy warn, and give one bool")
def test_incomparable_dtypes_are_not_equal():
    check(lambda x: x == "a", U)
    assert isinstance(check(lambda x: x < "a", U), TypeError)


def test_what_has_operators_of_its_own_uses_them():
    class Own:
        __array_ufunc__ = None

        def __radd__(self, other):
            return other[::-1]

        def __eq__(self, other):
            return other[1:]

        __hash__ = None

    check(lambda x: x + Own(), U)
    check(lambda x: x == Own(), U)


# --- shapes ---------------------------------------------------------------------------------------------------------

ROW = np.array([[[1]], [[2]]], np.uint8)

SHAPED = {
    "zeros_like": lambda x: x[:1] + np.zeros_like(x),
    "where": lambda x: np.where(np.ones_like(x, bool), x[:1], 0),
    "clip": lambda x: np.clip(x[:1], np.zeros_like(x), 255),
    "constants alone": lambda x: np.zeros_like(x[:, :1]) + np.ones_like(x[:1]),
    "an axis, then the elements again": lambda x: (x + ROW) * x,
    "the elements, then an axis": lambda x: x * (x + ROW) - np.ones((2, 1, 1, 1), np.uint8),
    "two axes": lambda x: (x + ROW) * (x + ROW[:, None]),
}


@pytest.mark.parametrize("name", SHAPED)
def test_the_shape_of_a_map_is_numpys(name):
    check(SHAPED[name], X)


# --- fills ----------------------------------------------------------------------------------------------------------

PAYLOADS = np.array([[0x7FC00123, 0x7F800124], [1, 0xFFC00007]], np.uint32).view(np.float32)

FILLS = {
    "a timedelta of another unit": (np.array([1, 2], "m8[M]"), np.timedelta64(1, "Y")),
    "a datetime of another unit": (np.array([1, 2], "M8[ns]"), np.datetime64("2020-01-01", "D")),
    "not a time": (np.array([1, 2], "M8[us]"), np.datetime64("NaT")),
    "a payload": (np.zeros(2, np.float32), PAYLOADS[0, 0]),
    "a payload in an array": (np.zeros(2, np.float32), PAYLOADS[:1, 1]),
    "two payloads": (np.zeros(2, np.float32), PAYLOADS[0]),
    "one for each side": (np.zeros((2, 2), np.float32), PAYLOADS),
    "one for each axis": (np.zeros((2, 2), np.float32), [[1], [2]]),
    "a byte": (U, 7),
    "an array of timedeltas": (np.array([1, 2], "m8[M]"), np.array([1], "m8[Y]")),
}


@pytest.mark.parametrize("name", FILLS)
def test_fills_of_pad_are_numpys(name):
    x, fill = FILLS[name]
    check(lambda x: np.pad(x, 1, constant_values=fill), x)


@pytest.mark.parametrize("name", FILLS)
def test_fills_of_pad_of_device_arrays_are_numpys(name):
    x, fill = FILLS[name]
    made = np.pad(dmlops.asarray(x, device="host"), 1, constant_values=fill)
    assert same(made.numpy(), np.pad(x, 1, constant_values=fill))


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
def test_padding_far_beyond_an_axis_is_numpys_or_refused(mode):
    refused = 0
    for size, before, after in itertools.product((1, 2, 3, 5), (0, 1, 4, 10, 13), (0, 1, 2, 9, 16)):
        x = X.ravel()[:size]
        try:
            made = dmlops.fuse(lambda x, before=before, after=after: np.pad(x, (before, after), mode))(x, device="host")
        except TypeError as error:
            assert "NumPy 1" in str(error)
            refused += 1
        else:
            assert same(made, np.pad(x, (before, after), mode)), (size, before, after)
    assert (refused > 0) == (not TWO and mode in ("reflect", "symmetric"))  # NumPy 1 does not repeat a period there


def test_a_year_is_twelve_months():
    x = np.array([1, 2], "m8[M]")
    padded = dmlops.fuse(lambda x: np.pad(x, 1, constant_values=np.timedelta64(1, "Y")))(x, device="host")
    assert padded.astype(int).tolist() == [12, 1, 2, 12]
    there: dmlops.DeviceArray = np.pad(dmlops.asarray(x, device="host"), 1, constant_values=np.timedelta64(1, "Y"))
    assert there.numpy().astype(int).tolist() == [12, 1, 2, 12]


# --- dtypes of joins ------------------------------------------------------------------------------------------------

JOINED = {
    "a number adapts": lambda x: np.concatenate([x, 5], axis=None),
    "a float": lambda x: np.concatenate([x, 5.5], axis=None),
    "too large a number wraps": lambda x: np.concatenate([x, 300], axis=None),
    "a number of NumPy's": lambda x: np.concatenate([x, np.int64(5)], axis=None),
    "a list": lambda x: np.concatenate([x, [5]]),
    "append": lambda x: np.append(x, 5),
    "stack": lambda x: np.stack([x[0], 5]),
    "hstack": lambda x: np.hstack([x, 5]),
    "hstack, none of the axes": lambda x: np.hstack([x.astype("i1"), x[3]]),
    "stack of what has no axes": lambda x: np.stack([x[3].astype("f4"), x[3], 300]),
    "block": lambda x: np.block([x, 5]),
    "where": lambda x: np.where(x > 3, x, 5),
    "where, a float": lambda x: np.where(x > 3, x, 5.0),
    "dtype": lambda x: np.concatenate([x, x[::-1]], dtype=np.float32),
    "stack to a dtype": lambda x: np.stack([x, x.astype("f4")], dtype="u1", casting="unsafe"),
    "a dtype that refuses": lambda x: np.concatenate([x, x.astype("f4")], dtype="u1"),
    "scalars on an axis": lambda x: np.concatenate([x, 5]),
}


@pytest.mark.parametrize("name", JOINED)
def test_the_dtype_of_a_join_is_numpys(name):
    check(JOINED[name], U)


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe", "bogus"])
@pytest.mark.parametrize("function", [np.concatenate, np.stack, np.vstack, np.hstack], ids=lambda one: one.__name__)
def test_casting_of_joins_is_checked(function, casting):
    error = check(lambda x: function([x, np.zeros(256, np.uint16)], casting=casting), U)
    assert (error is None) == (casting in ("safe", "same_kind", "unsafe"))


@pytest.mark.parametrize("code", ["?", "u1", "i1", "f2"])
def test_conjugates_are_those_of_arrays(code):
    x = np.array([0, 1], code)
    for function in (lambda x: x.conj(), lambda x: x.conjugate(), lambda x: np.conj(x)):
        check(function, x)
        check(lambda x: function(x.astype(np.complex64)), U)


# --- indices and arguments ------------------------------------------------------------------------------------------


class Both:
    """An int, and a sequence."""

    def __index__(self):
        return 1

    def __len__(self):
        return 2

    def __getitem__(self, k):
        return [0, 2][k]


class Zero:
    """A 0-d array by its method alone."""

    def __array__(self, dtype=None, copy=None):
        return np.array(1)


INDEXED = {
    "an int that is a sequence": lambda x: x[Both()],
    "on the second axis": lambda x: x[:, Both()],
    "a 0-d array by its method": lambda x: x[Zero()],
    "of a constant": lambda x: x + Zero(),
    "taken": lambda x: np.take(x, Zero()),
    "a float": lambda x: x[0.5],
    "floats": lambda x: x[np.zeros(2)],
    "a slice of floats beside a float": lambda x: x[0.0:, 0.0],
    "a slice of floats": lambda x: x[0.0:],
    "text": lambda x: x["a"],
    "objects": lambda x: x[np.array([1], object)],
    "repeated a bool times": lambda x: np.repeat(x, True),
    "repeated a float times": lambda x: np.repeat(x, 2.0),
    "repeated an array of floats times": lambda x: np.repeat(x, np.array(2.0)),
    "repeated fewer than no times": lambda x: np.repeat(x, -1),
    "rolled by a float": lambda x: np.roll(x, 1.7),
    "pads of no width": lambda x: np.pad(x, []),
    "ragged pads": lambda x: np.pad(x, [[1], [1, 2]]),
    "pads of floats": lambda x: np.pad(x, 1.5),
    "pads without sign": lambda x: np.pad(x, np.uint8(1)),
    "negative pads": lambda x: np.pad(x, -1),
    "pads of three axes": lambda x: np.pad(x, [1, 2, 3]),
    "looked up by floats": lambda x: np.take_along_axis(np.arange(256), x.ravel().astype("f4"), 0),
    "looked up by bools": lambda x: np.take_along_axis(np.arange(256), x.ravel() > 3, 0),
    "axes that do not match": lambda x: x.transpose(0, 1, 2),
    "an axis out of range": lambda x: np.moveaxis(x, 0, 5),
    "an order in small letters": lambda x: x.T.reshape(12, order="f"),
}


@pytest.mark.parametrize("name", INDEXED)
def test_indices_and_arguments_are_taken_and_refused_as_numpy_does(name):
    check(INDEXED[name], X)


RESHAPED = {
    "turned": (lambda x: x.T.reshape(2, 6, copy=False), True),
    "as it is": (lambda x: x.reshape(2, 6, copy=False), False),
    "turned, in its own order": (lambda x: x.T.reshape(2, 6, order="F", copy=False), False),
    "a function": (lambda x: np.reshape(x[:, None], (3, 2, 2), copy=False), False),
    "of a slice": (lambda x: np.reshape(x[:, ::3], 6, copy=False), True),
    "of a slice that allows it": (lambda x: np.reshape(x[:, ::2], 6, copy=False), False),
    "of a map of what is turned": (lambda x: (x.T + np.uint8(1)).reshape(12, copy=False), True),
    "of a map": (lambda x: (x + np.uint8(1)).reshape(12, copy=False), False),
    "of what is joined": (lambda x: np.concatenate([x.T, x.T]).reshape(24, copy=False), True),
    "of a copy": (lambda x: x.T.reshape(12).reshape(2, 6, copy=False), False),
    "text": (lambda x: x.reshape(2, 6, copy="False"), True),
}


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy has reshape(copy=) since 2.1")
@pytest.mark.parametrize("name", RESHAPED)
def test_a_reshape_without_a_copy_is_refused_where_numpy_refuses(name):
    function, refused = RESHAPED[name]
    assert (check(function, X) is not None) == refused
    check(lambda x: x.reshape(12, copy=False), X.T)  # an input's own strides
    check(lambda x: x.reshape(12, copy=False), X[::-1])


# --- tables by classes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [X, X.view(np.int8) - np.int8(5)], ids=["uint8", "int8"])
def test_one_hot_of_bytes(x):
    for depth, kwargs in ((5, {}), (7, {"axis": 0, "on": 2.5, "dtype": np.float32}), (0, {}), (1, {"axis": 1, "off": 3})):
        fused = dmlops.fuse(lambda x: dmlops.one_hot(x, depth, **kwargs))
        expected = dmlops.one_hot(x, depth, **kwargs, device="host")
        assert same(fused(x, device="host"), expected) and same(fused.reference(x), expected)
        assert fused.prove(x).passes == 1
    scaled = dmlops.fuse(lambda x: np.moveaxis(dmlops.one_hot(x[::-1] // np.uint8(2), 4), -1, 0) * np.float32(2))
    assert same(scaled(X, device="host"), np.moveaxis(np.eye(256, 4, dtype=int)[X[::-1] // 2], -1, 0) * np.float32(2))
    for wrong, error in ((lambda x: dmlops.one_hot(x, -1), ValueError), (lambda x: dmlops.one_hot(x, 2, axis=5), ValueError)):
        with pytest.raises(error):
            dmlops.fuse(wrong)(x, device="host")
    for wrong in (lambda x: dmlops.one_hot(x > 3, 2), lambda x: dmlops.one_hot(x, 2, device="host")):
        with pytest.raises(TypeError):
            dmlops.fuse(wrong)(x, device="host")


TABLE = np.random.default_rng(0).random((256, 3, 2), np.float32)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_rows_of_constant_tables(axis):
    table = TABLE[:, 0, 0] if axis is None else np.moveaxis(TABLE, 0, axis)
    fused = dmlops.fuse(lambda x: dmlops.take(table, x, axis))
    expected = np.take(table, X, axis)
    assert same(fused(X, device="host"), expected) and same(fused.reference(X), expected) and fused.prove(X)
    with pytest.raises(TypeError, match="dmlops.take of 10 rows by uint8 cannot be fused: use a table that has a row for"):
        dmlops.fuse(lambda x: dmlops.take(TABLE[:10], x, 0))(X, device="host")
    with pytest.raises(TypeError, match="traced indices"):
        dmlops.fuse(lambda x: dmlops.take(TABLE, x, 1, batch_dims=1))(X, device="host")


# --- errors ---------------------------------------------------------------------------------------------------------


class FromCV2(Warning):
    __module__ = "cv2"


def resize(x):
    """Raises from C, as OpenCV does."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = "OpenCV: error: in function 'resize' > - src is not a numpy array, neither a scalar"
        warnings.warn(text, FromCV2, stacklevel=1)


def flip(x):
    raise TypeError("flip(): argument 'input' (position 1) must be Tensor, not Traced")


WORDS = {
    "a table": (lambda x: TABLE[x], TypeError, r"for table\[x\] .* write dmlops.take\(table, x, 0\)"),
    "an identity": (lambda x: np.eye(10)[x], TypeError, r"dmlops.one_hot\(x, K\)"),
    "permute": (lambda x: x.permute(1, 0), AttributeError, r"did you mean .transpose\(...\)\?"),
    "float": (lambda x: x.float(), AttributeError, r"did you mean .astype\(numpy.float32\)\?"),
    "a slip": (lambda x: x.reshpe(12), AttributeError, r"did you mean .reshape\?"),
    "unsqueeze": (lambda x: x.unsqueeze(0), AttributeError, r"numpy.expand_dims"),
    "if": (lambda x: x if x else x, TypeError, r"numpy.where\(x > 0, a, b\) chooses"),
    "in": (lambda x: x if 3 in x else x, TypeError, r"numpy.isin"),
    "mean": (lambda x: x - x.mean(), TypeError, "numpy.mean cannot be fused: .*a number that it gives can be an argument"),
    "a number": (lambda x: x * float(x[0, 0]), TypeError, "compute the number before the fused function, and pass it"),
    "OpenCV": (lambda x: resize(x), TypeError, "another library cannot take a traced array .*src is not a numpy array"),
    "PyTorch": (lambda x: flip(x), TypeError, "another library cannot take a traced array .*must be Tensor"),
    "PyTorch's protocol": (
        lambda x: type(x).__torch_function__(flip, (), (x,)),
        TypeError,
        "torch.flip cannot be fused: write numpy.flip",
    ),
    "axes": (lambda x: x.transpose(0, 1, 2), ValueError, "axes don't match array"),
    "an operator": (lambda x: dmlops.slice(x, [0, 0], [9, 9]), ValueError, r"sizes\[0\]"),
    "an axis": (lambda x: np.flip(x, 9), np.exceptions.AxisError, "axis 9 is out of bounds"),
}


@pytest.mark.parametrize("name", WORDS)
def test_errors_say_a_way_out_and_name_the_line(name):
    function, error, words = WORDS[name]
    with pytest.raises(error, match=words) as caught:
        dmlops.fuse(function)(X, device="host")
    assert str(caught.value).count("test_fuse_semantics.py:") == 1


def test_errors_of_the_function_itself_stay_what_they_are():
    class OwnError(ValueError):
        pass

    def function(x):
        raise OwnError("no numpy array here, 3 channels wanted") if x.shape[-1] != 3 else TypeError("of its own")

    for x, error in ((X, OwnError), (X[:, :3], TypeError)):
        with pytest.raises(error) as caught:
            dmlops.fuse(function)(x, device="host")
        assert type(caught.value) is error


def test_pillow_wants_numpys_arrays():
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    with pytest.raises(AttributeError, match="it is no NumPy array; call what wants one before the fused function"):
        dmlops.fuse(lambda x: image.fromarray(x))(X, device="host")
