"""Fused functions: which program a call gets, whatever its arguments are, and what arguments and results may be."""

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import gc
import struct
import tracemalloc
import types

import dmlops
import numpy as np
import pytest
from dmlops.fusion.proof import ProofError

from strategies import content

X = np.arange(256, dtype=np.uint8)


def same(one, other):
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and content(one) == content(other)
    if isinstance(one, (dict, collections.UserDict)):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (tuple, list, collections.deque, collections.UserList)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def check(function, *args, **kwargs):
    """A fused function is what NumPy makes of it."""
    assert same(function(*args, device="host", **kwargs), function._function(*args, **kwargs))


# --- keys -----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Norm:
    by: object


@dataclasses.dataclass
class Open:
    by: object


class Sizes(collections.namedtuple("Sizes", "a b")):
    pass


class Small(enum.IntEnum):
    ONE = 1


def number_of(nan):
    return struct.unpack("d", struct.pack("Q", nan))[0]


NANS = number_of(0x7FF8000000000001), number_of(0xFFF8000000000002)
PAIRS = {
    "an int and a float": (2, 2.0),
    "a bool and an int": (True, 1),
    "an enum's member and an int": (Small.ONE, 1),
    "zeros": (0.0, -0.0),
    "complex zeros": (complex(0.0, 0.0), complex(0.0, -0.0)),
    "nans": NANS,
    "NumPy's scalars": (np.float32(2), np.float64(2)),
    "NumPy's zeros": (np.float32(0), np.float32(-0.0)),
    "units": (np.timedelta64(1, "Y"), np.timedelta64(1, "M")),
    "decimals": (decimal.Decimal("1.0"), decimal.Decimal("1.00")),
    "fractions": (fractions.Fraction(2), 2),
    "a str and bytes": ("a", b"a"),
    "ranges": (range(0, 2, 5), range(0, 3, 5)),
    "members of slices": (slice(0.0), slice(-0.0)),
    "lists and tuples": ([1], (1,)),
    "dicts": ({1: 0}, {1.0: 0}),
    "dicts in other orders": ({1: 0, 2: 0}, {2: 0, 1: 0}),
    "sets": ({1}, {1.0}),
    "frozen sets": (frozenset([0.0]), frozenset([-0.0])),
    "named tuples": (Sizes(1, 2), (1, 2)),
    "deques": (collections.deque([1], 2), collections.deque([1], 3)),
    "dicts with defaults": (collections.defaultdict(int, a=1), collections.defaultdict(float, a=1)),
    "bytes that change": (bytearray(b"a"), bytearray(b"b")),
    "arrays of Python": (array.array("b", [1]), array.array("h", [1])),
    "partial functions": (functools.partial(int, 1), functools.partial(int, 1.0)),
    "methods": ([1].count, [1.0].count),
    "mappings": (types.MappingProxyType({"a": 1}), types.MappingProxyType({"a": True})),
    "times": (datetime.timedelta(1), datetime.timedelta(2)),
    "times of a zone": (
        datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc),
        datetime.datetime(2020, 1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
    ),
    "dtypes": (np.dtype("u1", metadata={"a": 1}), np.dtype("u1", metadata={"a": 2})),
    "structures": (np.dtype("u1,i1", align=True), np.dtype("u1,i1")),
    "functions": (lambda: 1, lambda: 1),
}
SAME_INSIDE = {
    "in a list": lambda value: [value],
    "in a dict": lambda value: {"a": value},
    "as a key": lambda value: {value: 0} if isinstance(value, (int, float, complex, str)) else [value],
    "in a set": lambda value: {value} if isinstance(value, (int, float, complex, str)) else [value],
    "in a frozen dataclass": Norm,
    "in a dataclass": Open,
    "in a named tuple": lambda value: Sizes(value, 0),
    "in a slice": slice,
    "in a namespace": lambda value: types.SimpleNamespace(by=value),
    "in a partial function": lambda value: functools.partial(print, value),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_different_constants_are_different_programs(pair):
    for inside in (lambda value: value, *SAME_INSIDE.values()):
        seen = []
        function = dmlops.fuse(lambda x, other, seen=seen: seen.append(other) or x[::-1])
        for value in (*map(inside, pair), *map(inside, pair)):
            function(X, value, device="host")
        assert len(seen) == 2


def test_numbers_as_they_are():
    function = dmlops.fuse(lambda x, norm: x * norm.by)
    for value in (2, 2.0, np.float32(2), True, 0.0, -0.0, *NANS):
        check(function, X, Norm(value))
        check(function, X, Open(value))


def test_scalars_whatever_printing_shows():
    function = dmlops.fuse(lambda x, other: x + other)
    with np.printoptions(precision=1, legacy="1.13", floatmode="fixed"):
        for value in (np.float32(0.123), np.float32(0.124)):
            check(function, X, value)


@dataclasses.dataclass(init=False)
class OfUnit(float):
    unit: str = "px"


@dataclasses.dataclass(init=False)
class Named(str):
    count: int = 1


@dataclasses.dataclass(init=False)
class Days(datetime.date):
    unit: str = "d"


@dataclasses.dataclass(init=False, eq=False)
class OfBytes(array.array):
    name: str = "s"


DERIVED = {
    "float": (OfUnit(2.0), OfUnit(3.0), float),
    "str": (Named("a"), Named("abc"), len),
    "date": (Days(2020, 1, 1), Days(2020, 1, 2), lambda one: one.day),
    "a buffer": (OfBytes("B", b"\1"), OfBytes("B", b"\2"), lambda one: one[0]),
    "fold": (datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, fold=1), lambda one: one.fold),
    "fold of a time": (datetime.time(1), datetime.time(1, fold=1), lambda one: one.fold),
}


@pytest.mark.parametrize("name", DERIVED)
def test_dataclasses_that_are_numbers_text_or_dates(name):
    one, other, number = DERIVED[name]
    function = dmlops.fuse(lambda x, value: x + np.uint8(number(value)))
    for value in (one, other, one):
        check(function, X, value)


# --- arrays that are passed twice, and their strides --------------------------------------------------------------------


SHARED = {
    "is": lambda x, y: x + np.uint8(x is y),
    "id": lambda x, y: x + np.uint8(len({id(x), id(y)})),
    "in lists": lambda x, y: x[0] + np.uint8(x[0] is y[0]) if isinstance(x, list) else x + np.uint8(x is y),
}


@pytest.mark.parametrize("name", SHARED)
def test_an_array_that_is_passed_twice_is_one(name):
    function = dmlops.fuse(SHARED[name])
    other = X.copy()
    for x, y in ((X, other), (X, X), (other, other), (X, other), ([X], [X]), ([X], [other])):
        if isinstance(x, list) == (name == "in lists"):
            check(function, x, y)
            function.prove(x, y)
    a = dmlops.asarray(X) if dmlops.devices()[0].usable and name == "is" else None
    if a is not None:
        assert np.array_equal(function(a, a).numpy(), X + np.uint8(1))
        assert np.array_equal(function(a, a[:]).numpy(), X)


def test_of_small_arrays_that_are_constants_and_parameters():
    function = dmlops.fuse(lambda x, m, n, scale: (x * scale + m + n) * np.float32(m is n))
    m, other, x = np.ones(4, np.float32), np.ones(4, np.float32), X.reshape(-1, 4)
    for scale in (np.float32(2), np.float32(3), np.float32(4)):
        for pair in ((m, m), (m, other), (other, other)):
            check(function, x, *pair, scale)
            function.prove(x, *pair, scale)
    strides = dmlops.fuse(lambda x, m: x * np.float32(m.strides[0] if m[0] else 0))
    check(strides, x, np.ones(4, np.float32))
    strides.prove(x, np.ones(4, np.float32))
    for m in (np.ones(8, np.float32)[::2], np.ones(4, np.float32)[::-1]):  # of which the trace has a copy without gaps
        strides(x, m, device="host")
        with pytest.raises(ProofError, match="the function itself"):
            strides.prove(x, m)


def test_a_constant_is_no_larger_than_its_elements():
    table = np.lib.stride_tricks.as_strided(np.ones(1 << 22, np.float32), (100, 100), (160_000, 4))
    function = dmlops.fuse(lambda x, m: x - m)
    tracemalloc.start()
    for k in range(20):
        function(X.astype(np.float32)[:100], table[:, k] + np.float32(0) if k > 90 else table[:, k], device="host")
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held < 4 << 20
    assert function.prove(X.astype(np.float32)[:100], table[:, 1])


def test_of_small_arrays_that_are_the_first_one_again():
    """An input that is also a constant would be neither."""

    def function(x, y):
        n = int(y[2])
        return x[:n] if x is y else x[n:]

    fused, x = dmlops.fuse(function), np.arange(6, dtype=np.uint8)
    check(fused, x, x.copy())
    with pytest.raises(TypeError, match="not its values"):
        fused(x, x, device="host")
    large = np.arange(8000, dtype=np.int64).reshape(-1, 2)
    three = dmlops.fuse(lambda x, y, z: x[int(y[0]) :] * np.int64(1 + (y is z)))
    y = np.array([3, 4])
    for pair in ((y, y), (y, y.copy())):
        check(three, large, *pair)
        three.prove(large, *pair)


def test_references_and_dask_know_what_is_passed_twice():
    function = dmlops.fuse(lambda x, y: x[:, ::-1] if x is y else x[:, :3])
    x = np.arange(4000, dtype=np.uint8).reshape(10, 400)
    for y in (x, x.copy()):
        assert same(function.reference(x, y), function._function(x, y))
        assert dmlops.compare(function, x, y)
    array = pytest.importorskip("dask.array")
    one, other = array.from_array(x, chunks=(4, 400)), array.from_array(x, chunks=(4, 400), name="other")
    for pair in ((one, one), (one, other), (one, one.map_blocks(lambda block: block, dtype=x.dtype))):
        found, right = function(*pair), function._function(x, x if pair[0] is pair[1] else x.copy())
        assert found.shape == right.shape and same(found.compute(scheduler="synchronous"), right)


EQUAL = [lambda: {"a": {1, 2}, 3: [Norm(2.5)]}, lambda: Norm((1.5, b"a", None)), lambda: slice(1, 9, 2)]


@pytest.mark.parametrize("make", EQUAL)
def test_equal_constants_share_a_program(make):
    function = dmlops.fuse(lambda x, other: x[::-1])
    for _ in range(3):
        function(X, make(), device="host")
    assert len(function._programs) == 1


def test_long_doubles_are_the_same_whatever_lies_in_their_holes():
    function = dmlops.fuse(lambda x, other: x[::-1])
    size = np.dtype(np.longdouble).itemsize
    for fill in (0, 255):
        memory = np.full(size, fill, np.uint8)
        memory[:10] = np.array(1.5, np.longdouble).reshape(1).view(np.uint8)[:10]
        function(X, memory.view(np.longdouble)[0], device="host")
    assert len(function._programs) == (1 if np.finfo(np.longdouble).nmant == 63 else 2)


class Foreign:
    """Whatever compares or hashes it by its own rules, fails."""

    def __eq__(self, other):
        raise AssertionError("compared")

    def __hash__(self):
        raise AssertionError("hashed")

    def __repr__(self):
        raise AssertionError("printed")


class OfForeignType(type):
    def __eq__(cls, other):
        raise AssertionError("compared")

    def __hash__(cls):
        raise AssertionError("hashed")


def test_other_objects_are_known_by_identity_alone():
    function = dmlops.fuse(lambda x, other: x[::-1])
    one, other, kind = Foreign(), Foreign(), OfForeignType("Kind", (), {})
    for value in (one, other, [one], kind, kind(), Norm(one), {"a": kind}) * 2:
        if type(value) is not kind:
            function(X, value, device="host")
    assert len(function._programs) == 6


def test_an_identity_is_not_used_again_while_its_program_is_kept():
    made = []
    function = dmlops.fuse(lambda x, scale: made.append(scale.by) or x + scale.by)

    class Scale:
        def __init__(self, by):
            self.by = by

    for number in range(20):
        assert function(X, Scale(np.uint8(number)), device="host")[0] == number
        gc.collect()
    assert made == list(range(20))


def test_methods_of_equal_instances(device):
    class Scale:
        def __init__(self, by):
            self.by = by

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 1

        @dmlops.fuse
        def scaled(self, x):
            return x * self.by

    for by in (np.uint8(1), np.uint8(2), np.float32(2)):
        assert same(Scale(by).scaled(X, device=device), X * by)

    @dataclasses.dataclass
    class Changing:
        by: object

        @dmlops.fuse
        def scaled(self, x):
            return x * self.by

    changing = Changing(2)
    assert changing.scaled(X[:9], device=device)[1] == 2
    changing.by = 3
    assert changing.scaled(X[:9], device=device)[1] == 3


def test_named_arguments_are_no_dict():
    function = dmlops.fuse(lambda *args, **kwargs: args[0][:: -1 if kwargs else 1])
    check(function, X, {"a": 1})
    check(function, X, a=1)


def test_a_circle_in_a_constant():
    ring = Open(None)
    ring.by = [ring]
    function = dmlops.fuse(lambda x, ring: x[::-1])
    for _ in range(2):
        check(function, X, ring)
    assert len(function._programs) == 1


# --- arguments ------------------------------------------------------------------------------------------------------


class Batch(dict):
    """With attributes of its own."""


class Column(list):
    pass


def containers(x):
    batch, column = Batch(image=x), Column([x, 3])
    batch.name = "first"
    return {
        "OrderedDict": collections.OrderedDict(b=x, a=x[::-1]),
        "defaultdict": collections.defaultdict(list, a=x),
        "UserDict": collections.UserDict(a=x),
        "UserList": collections.UserList([x, 1]),
        "deque": collections.deque([x, x[::-1]], 5),
        "namedtuple": Sizes(x, x[::2]),
        "dict": batch,
        "list": column,
    }


@pytest.mark.parametrize("name", containers(X))
def test_containers_keep_their_type(device, name):
    kinds = []

    def function(batch):
        kinds.append(type(batch))
        return batch

    fused = dmlops.fuse(function)
    for shift in (0, 1):
        given = containers(X + np.uint8(shift))[name]
        result = fused(given, device=device)
        assert same(result, given) and result is not given
        assert getattr(result, "name", None) == getattr(given, "name", None)
        assert getattr(result, "maxlen", None) == getattr(given, "maxlen", None)
    assert kinds == [type(given)] and type(fused.reference(given)) is type(given)
    fused.prove(given)


def test_out_goes_by_key(device):
    function = dmlops.fuse(lambda v: [{"a": v, "b": 255 - v}, Sizes(v[:3], 7)])
    a, b, c = np.zeros_like(X), np.zeros_like(X), np.zeros(3, np.uint8)
    result = function(X, out=[{"b": b, "a": a}, Sizes(c, None)], device=device)
    assert (a == X).all() and (b == 255 - X).all() and (c == X[:3]).all()
    assert result[0]["a"] is a and result[0]["b"] is b and result[1] == (c, 7) or result[1].a is c
    for wrong, words in (
        ([{"a": a}, (c, None)], r"out\[0\] must be a dict with the results' keys 'a', 'b'"),
        ([{"a": a, "b": b}], "out must have one array per result: 2, got 1"),
        (a, "out must be a list or tuple"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            function(X, out=wrong, device=device)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("kind", [np.matrix, np.ma.masked_array, np.char.array])
def test_arrays_that_mean_something_else_are_refused(kind):
    value = kind(["a", "b"]) if kind is np.char.array else kind(X.reshape(16, 16))
    function = dmlops.fuse(lambda x: x[0])
    for arguments in ((value,), ([value],)):
        with pytest.raises(TypeError, match=f"an argument of type {type(value).__name__} cannot be fused: pass a plain"):
            function(*arguments, device="host")


def test_arrays_of_derived_types_that_mean_the_same(device, tmp_path):
    class Image(np.ndarray):  # as ImageIO has them
        def __array_finalize__(self, other):
            self.meta = getattr(other, "meta", {})

    X.tofile(tmp_path / "x")
    function = dmlops.fuse(lambda x: x[::-1])
    for value in (X.view(Image), X.view(np.recarray), np.memmap(tmp_path / "x", np.uint8, "r")):
        assert same(function(value, device=device), X[::-1].copy())


CHANGED = {
    "array": lambda: array.array("B", [1, 2]),
    "memoryview": lambda: memoryview(bytearray([1, 2])),
    "deque": lambda: collections.deque([1, 2]),
    "list": lambda: [1, 2],
}


@pytest.mark.parametrize("name", CHANGED)
def test_arguments_are_read_at_the_call(device, name):
    def change(values):
        for k in range(2):
            values[k] += 5

    def function(x, values):
        found = np.isin(x, values), np.interp(x, [0, 255], values), np.clip(x, values[0], 99)
        change(values)
        return found

    fused, given, other = dmlops.fuse(function), CHANGED[name](), CHANGED[name]()
    assert same(fused(X, given, device=device), function(X, other))
    outside = dmlops.fuse(lambda x, values: np.interp(x, [0, 255], values))
    for _ in range(2):
        assert same(outside(X, given, device=device), np.interp(X, [0, 255], given))
        change(given)


def test_a_traced_array_of_another_call_is_refused():
    kept = []
    uses = {
        "itself": lambda x, last: last,
        "a view": lambda x, last: last[::-1],
        "joined": lambda x, last: np.concatenate([x, last]),
        "the other way": lambda x, last: np.stack([last, x]),
        "a difference": lambda x, last: x - last,
        "operator": lambda x, last: dmlops.join([x, last], 0),
        "a choice": lambda x, last: np.where(x > 3, x, last),
    }
    words = "a traced array that was kept from another call cannot be fused: pass it as an argument"
    for name, use in uses.items():
        kept.clear()

        def function(x, use=use):
            last, kept[:] = (kept or [x])[0], [x]
            return use(x, last)

        fused = dmlops.fuse(function)
        fused(X[:9], lambda x, last: x, device="host")
        with pytest.raises(TypeError, match=words):
            fused(X, use, device="host")
            pytest.fail(name)


# --- small arrays that are constants ---------------------------------------------------------------------------------

MEAN, STD = np.array([[[1]], [[2]], [[3]]], np.float32), np.array([[[3]], [[5]], [[7]]], np.float32)


def norm(image, mean=MEAN, std=STD):
    return (np.moveaxis(image, -1, 0) / np.float32(255) - mean) / std


def test_small_arrays_are_constants_where_their_values_are_needed(device):
    function = dmlops.fuse(norm)
    image = np.random.default_rng(0).integers(0, 256, (50, 40, 3), np.uint8)
    mean, std = MEAN + 1, STD * 2
    for arguments, named in (((image, mean, std), {}), ((image, mean), {"std": std}), ((image,), {"mean": mean})):
        assert same(function(*arguments, device=device, **named), norm(*arguments, **named))
        on_device = function(dmlops.asarray(image, device=device), *arguments[1:], **named)
        assert same(on_device.numpy(), norm(*arguments, **named))
        explained = function.explain(*arguments, device="host", **named)
        assert explained.passes == 1 and "values are needed: float32[3,1,1]" in repr(explained)
        function.prove(*arguments, **named)
    before = len(function._programs)
    mean[0] = 9  # another value is another program, and the same is the same
    for _ in range(2):
        assert same(function(image, mean, std, device=device), norm(image, mean, std))
    assert len(function._programs) == before + 1
    assert dmlops.compare(function, image, mean, std, devices="host", repeat=1)


def test_small_arrays_stay_inputs_where_they_are_moved(device):
    traced = []
    function = dmlops.fuse(lambda x, y: traced.append(0) or np.concatenate([x, y]))
    for shift in range(3):
        y = np.arange(5, dtype=np.uint8) + np.uint8(shift)
        assert same(function(X, y, device=device), np.concatenate([X, y]))
    assert len(traced) == 1


@pytest.mark.parametrize("count", [4096, 4097])
def test_how_small_they_are(count):
    function = dmlops.fuse(lambda x, places: np.take_along_axis(places, x, 0))
    table = np.arange(count).astype(np.uint8)
    if count <= 4096:
        check(function, np.arange(200, dtype=np.uint8).repeat(30), table)
    else:
        with pytest.raises(TypeError, match="test_fuse_arguments.py"):
            function(np.zeros(5000, np.uint8), table, device="host")


def test_an_array_of_a_device_is_no_constant():
    function, image = dmlops.fuse(norm), np.zeros((60, 40, 3), np.uint8)
    on_host = [dmlops.asarray(one, device="host") for one in (image, MEAN)]
    with pytest.raises(TypeError, match="several traced arrays"):
        function(*on_host)
    function(image, MEAN, device="host")
    with pytest.raises(TypeError, match="a device array whose values are needed"):
        function(*on_host)


# --- results --------------------------------------------------------------------------------------------------------


def test_what_is_no_array_is_passed_through(device):
    class Meta:
        pass

    def function(x, meta, label):
        more = {"more": [None, "a", 2.5, Small.ONE], "size": {x.shape[0]}, "norm": Norm(3)}
        return {"image": x[::-1], "label": label, "meta": meta, **more}

    fused = dmlops.fuse(function)
    for label in (3, 4):
        meta = Meta()
        result = fused(X, meta, label, device=device)
        assert result["meta"] is meta and same(result, {**function(X, meta, label), "image": X[::-1].copy()})
        result["size"].add(0)
        assert fused(X, meta, label, device=device)["size"] == {256}
    fused.prove(X, meta, 3)
    assert dmlops.compare(fused, X, meta, 3, devices="host", repeat=1)
    out = np.zeros_like(X)
    assert fused(X, meta, 3, device=device, out={"image": out})["image"] is out


def test_an_equal_dataclass_is_returned_by_its_own_call():
    function = dmlops.fuse(lambda x, meta: (x, meta))
    for meta in (Open(3), Open(3)):
        assert function(X, meta, device="host")[1] is meta
    assert len(function._programs) == 1


HIDDEN = [Open, lambda x: {"a": Norm(x)}, lambda x: (one for one in [x]), lambda x: types.SimpleNamespace(a=[x]), lambda x: 3]


@pytest.mark.parametrize("wrap", HIDDEN)
def test_arrays_hidden_in_results_are_refused(wrap):
    function = dmlops.fuse(lambda x: wrap(x))
    with pytest.raises(TypeError, match="must return an array, or a tuple, list or dict of arrays"):
        function(X, device="host")


# --- errors ---------------------------------------------------------------------------------------------------------

NO_ARRAYS = {
    "None": (None, "photos is None, not an array"),
    "a path": ("a.png", "photos must be an array, not str; a file is read first"),
    "a number": (3, "photos must be an array, not int"),
    "numbers": ([[1, 2], [3, 4]], r"photos is a list; numpy.asarray\(photos\) makes an array of it"),
    "ragged": ([[1, 2], [3]], "photos makes no array: .*; pad them to one shape first"),
    "a generator": ((one for one in [X]), r"photos must be an array, not generator; list\(photos\) makes a list"),
}


@pytest.mark.parametrize("name", NO_ARRAYS)
def test_what_is_no_array_is_named(name):
    value, words = NO_ARRAYS[name]
    function = dmlops.fuse(lambda photos, scale=1: photos[::-1])
    with pytest.raises(TypeError, match=words):
        function(value)
    if name != "a generator":
        with pytest.raises(TypeError, match="no array among its arguments: " + words):
            function(photos=value)


def test_an_image_that_could_not_be_read():
    for function in (lambda photos: np.stack(photos), lambda photos: np.concatenate(photos)):
        with pytest.raises(TypeError, match=r"arrays\[1\] is None, not an array \(.*test_fuse_arguments.py:"):
            dmlops.fuse(function)([X, None], device="host")


def test_an_array_of_objects_is_named():
    function = dmlops.fuse(lambda x, photos: x)
    words = r"photos must have elements that are plain bytes; .*numpy.asarray\(photos, dtype='float64'\) converts them"
    with pytest.raises(TypeError, match=words):
        function(X, [np.array([1.5, None], object)], device="host")


def test_a_generator_beside_arrays_is_not_read():
    function = dmlops.fuse(lambda x, more: np.stack([x, *more]))
    for more in ((one for one in [X]), iter([X]), map(abs, [X])):
        with pytest.raises(TypeError, match=r"more must be an array, not \w+; list\(more\)"):
            function(X, more, device="host")
        assert same(next(more), X)


def test_keywords_that_are_misspelled():
    @dmlops.fuse
    def prepare(photos, crop=2):
        return photos[crop:]

    for keyword, meant in (("devise", "device"), ("corp", "crop"), ("progres", "progress")):
        words = rf"^prepare\(\) got an unexpected keyword argument '{keyword}'; did you mean '{meant}'\?$"
        with pytest.raises(TypeError, match=words):
            prepare(X, **{keyword: "auto"})
    with pytest.raises(TypeError, match=r"^prepare\(\) missing a required argument: 'photos'$"):
        prepare()


def test_what_fuse_takes():
    for value, words in (
        (np.zeros((2000, 2000)), r"fuse takes a function, not an array: write dmlops.fuse\(function\)\(array\)"),
        (dmlops.asarray(X, device="host"), "fuse takes a function, not an array"),
        (3, "fuse takes a function, not int"),
    ):
        with pytest.raises(TypeError, match=words) as caught:
            dmlops.fuse(value)
        assert len(str(caught.value)) < 100


class Cropping:
    """A callable object."""

    def __init__(self, by):
        self.by, self.prove = by, None

    def __call__(self, x):
        return x[self.by :]


CALLABLES = {
    "partial": (functools.partial(lambda x, by: x[by:], by=3), "<lambda>"),
    "instance": (Cropping(3), "Cropping"),
    "lru_cache": (functools.lru_cache(Cropping(3)), "Cropping"),
    "method": (Cropping(3).__call__, "__call__"),
}


@pytest.mark.parametrize("name", CALLABLES)
def test_callables_have_a_name(name):
    function, named = CALLABLES[name]
    fused = dmlops.fuse(function)
    assert fused.__name__ == named and repr(fused) == f"<dmlops.fuse of {named}>"
    assert same(fused(X, device="host"), X[3:])
    assert fused.prove(X).function == named and named in repr(fused.explain(X, device="host"))
    assert dmlops.compare(fused, X, devices="host", repeat=1).operator == named
    assert same(fused(X, device="host", progress=lambda done, total: None), X[3:])
    assert dmlops.fuse(fused)(X, device="host")[0] == 3
