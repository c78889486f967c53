"""Maps of items of 4 and 8 bytes: by exact operations on the host, to NumPy's bits."""

import array
import functools
import operator
import os
import pathlib
import random
import re
import warnings

import dmlops
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dmlops import _core
from dmlops.fusion import formula_checks, formulas, lowering, maps
from dmlops.fusion.programs import Programs
from flushing import CAN_FLUSH, flushing
from strategies import content
from test_kernels import FEWEST, overridden

MEAN = np.array([0.485, 0.456, 0.406], np.float32)
STD = np.array([0.229, 0.224, 0.225], np.float32)


def same(function, *arrays):
    """Whether the fused function gives NumPy's bits, and dtypes, on the host."""
    fused = dmlops.fuse(function)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = fused.reference(*arrays)
        found = fused(*arrays, device="host")
    pairs = zip(*([one] if not isinstance(one, tuple) else one for one in (found, expected)), strict=True)
    return all(content(one) == content(np.ascontiguousarray(other)) for one, other in pairs)


def values(dtype, shape):
    """Special values, then random ones of all bits."""
    special = formulas.some_values(np.dtype(dtype).str)
    return np.resize(special, int(np.prod(shape))).reshape(shape)


# --- chains of operations ---------------------------------------------------------------------------------------------

BINARY = [np.add, np.subtract, np.multiply, np.divide, np.minimum, np.maximum, np.floor_divide]
BINARY += [np.less, np.greater_equal, np.equal, operator.ne, operator.gt, np.logical_and, np.bitwise_xor, np.bitwise_and]
UNARY = [
    np.negative,
    np.absolute,
    np.sqrt,
    np.floor,
    np.ceil,
    np.trunc,
    np.rint,
    np.square,
    np.isnan,
    np.invert,
    np.logical_not,
]
DTYPES = ["f4", "f8", "i4", "i8", "u4", "u1", "i2", "?", "f2"]
CONSTANTS = [0, 1, -3, 255, 0.5, -0.0, 1e30, np.float32(0.1), np.float64(2.5), np.int64(7), np.uint8(200), np.inf, True]
LAYOUTS = {
    "as it is": lambda x: x,
    "channels first": lambda x: np.moveaxis(x, -1, 0),
    "cropped, mirrored": lambda x: x[1:, ::-1, :-1],
    "channels swapped": lambda x: x[..., ::-1],
    "every other": lambda x: x[::2, ::-2],
    "padded": lambda x: np.pad(x, ((0, 1), (2, 0), (0, 0)), constant_values=3),
    "patches": lambda x: dmlops.space_to_depth(x[: len(x) // 2 * 2, : x.shape[1] // 2 * 2], 2, layout="NHWC"),
    "twice": lambda x: np.concatenate([x, x[::-1]]),
}


@st.composite
def steps(draw):
    kind = draw(st.sampled_from(["binary", "binary", "unary", "cast", "clip", "where", "layout", "own"]))
    if kind == "binary":
        many = draw(st.booleans())
        numbers = [draw(st.sampled_from(CONSTANTS)) for _ in range(3)] if many else draw(st.sampled_from(CONSTANTS))
        return (
            kind,
            draw(st.sampled_from(BINARY)),
            numbers,
            draw(st.booleans()),
            draw(st.sampled_from(["f4", "f8", "i4", "i2"])),
        )
    choices = {"unary": UNARY, "cast": DTYPES, "clip": [(0, 1), (-1, None), (0.25, 200)], "layout": sorted(LAYOUTS)}
    return kind, draw(st.sampled_from(choices.get(kind, [0, 1, 5])))


def apply(x, step):
    kind, what, *more = step
    if kind == "layout":
        return LAYOUTS[what](x)
    if kind == "unary":
        return what(x)
    if kind == "cast":
        return x.astype(what)
    if kind == "clip":
        return np.clip(x, *what)
    if kind == "where":
        return np.where(x > what, x, what)
    if kind == "own":
        return np.where(x == x, x + x, x)
    numbers, turned, dtype = more
    if isinstance(numbers, list):
        with np.errstate(all="ignore"):
            numbers = np.array(numbers, np.float64).astype(dtype)
        if x.shape[-1] != 3:
            numbers = numbers[:1]
    return what(numbers, x) if turned else what(x, numbers)


@FEWEST
@given(
    dtype=st.sampled_from(["f4", "f4", "f8", "i4", "i8", "u4"]),
    shape=st.tuples(st.integers(1, 5), st.integers(1, 30), st.sampled_from([1, 2, 3, 4])),
    chain=st.lists(steps(), min_size=1, max_size=5),
    start=st.integers(0, 700),
)
def test_random_chains(dtype, shape, chain, start):
    def function(x):
        for step in chain:
            x = apply(x, step)
        return x

    x = np.roll(values(dtype, (1000,)), start)[: int(np.prod(shape))].reshape(shape)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(x)
        except (TypeError, ValueError, OverflowError):
            return  # NumPy has no such operation
    try:
        assert same(function, x)
    except TypeError as error:
        assert "cannot be fused" in str(error)


# --- what people write ------------------------------------------------------------------------------------------------


def planes(x):
    return (np.moveaxis(x[2:-2, 3:-3], -1, 0) - MEAN[:, None, None]) / STD[:, None, None]


USES = {
    "normalised, in planes": planes,
    "normalised": lambda x: (x - MEAN) / STD,
    "channels swapped": lambda x: (x[..., ::-1] - MEAN) / STD,
    "transposed": lambda x: (x * 2 - 1).T,
    "bytes": lambda x: (x * 255).clip(0, 255).astype(np.uint8),
    "half": lambda x: np.moveaxis(x, -1, 0).astype(np.float16),
    "padded": lambda x: np.pad(x / 2, ((1, 2), (3, 0), (0, 0)), constant_values=0.5) + 1,
    "a mean of each element": lambda x: x - np.arange(x.size, dtype=np.float32).reshape(x.shape),
    "several results": lambda x: (abs(x), -x, x > 0.5, x / 3),
    "mapped, moved, mapped": lambda x: np.moveaxis(x - MEAN, -1, 0)[:, ::-1] * STD[:, None, None] + 1,
    "chosen": lambda x: np.where((x > 0) & (x < 1), x, 0).astype(np.float64),
    "joined": lambda x: np.concatenate([x, -x, np.zeros_like(x)], -1) + 1,
    "squares": lambda x: x**2 + np.square(x),
    "isnan": lambda x: np.where(np.isnan(x), np.float32(0), x),
}


@pytest.mark.parametrize("shape", [(9, 11, 3), (40, 300, 3)], ids=str)
@pytest.mark.parametrize("function", USES.values(), ids=USES)
def test_uses(function, shape):
    x = values(np.float32, shape)
    assert same(function, x)
    assert same(function, x[:, ::-1])
    odd = np.zeros(x.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(shape)  # at odd addresses
    odd[...] = x
    assert same(function, odd)
    fused = dmlops.fuse(function)
    assert fused.explain(x, device="host").passes == 1
    proof = fused.prove(x)
    assert proof.entries > 0 and proof.formulas > 0 and "special and random values" in str(proof)


SHORT_ROWS = {
    "three of four channels": lambda x: x[..., :3],
    "channels backwards": lambda x: x[..., 2::-1],
    "columns backwards": lambda x: x[:, ::-1],
    "columns first": lambda x: x.transpose(1, 0, 2),
    "columns first, all backwards": lambda x: x[::-1, ::-1, ::-1].transpose(1, 0, 2),
    "patches": lambda x: x.reshape(100, 3, 20, 2, -1).transpose(0, 2, 1, 3, 4),
    "rows again": lambda x: np.broadcast_to(x[:, None], (300, 2, 40, x.shape[-1])),
}


@pytest.mark.parametrize("channels", [4, 9, 65])
@pytest.mark.parametrize("moved", SHORT_ROWS.values(), ids=SHORT_ROWS)
def test_short_rows_go_together(moved, channels):
    """Of 300 x 40 x 4 in one stage, of more in several."""
    x = values("f4", (300, 40, channels))
    shift = np.arange(channels, dtype=np.float32)
    assert same(lambda x: moved((x - shift) * 2), x)
    assert same(lambda x: moved(x * 2 - 1), values("f8", x.shape))


SHORT_ROWS_APART = {
    "channels in another order": lambda x: x[..., [2, 1, 0, 3]],
    "a channel added": lambda x: np.pad(x, ((0, 0), (0, 0), (0, 1))),
    "pixels and a channel added": lambda x: np.pad(x, ((0, 0), (2, 1), (1, 0))),
    "columns first, a channel added": lambda x: np.pad(x.transpose(1, 0, 2), ((0, 0), (0, 0), (0, 1))),
    "images side by side": lambda x: np.concatenate([x[:, :20], x[:, 20:, ::-1] * 2], -1),
    "a few columns each": lambda x: np.pad(x.reshape(300, 20, 2, -1), ((0, 0), (1, 0), (0, 1), (0, 1))),
}


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("moved", SHORT_ROWS_APART.values(), ids=SHORT_ROWS_APART)
def test_short_rows_are_taken_across(moved, axis):
    """What the result has between them, and constants along each axis."""
    x = values("f4", (300, 40, 4))
    shift = np.arange(x.shape[axis], dtype=np.float32).reshape([-1] + [1] * (2 - axis))
    assert same(lambda x: moved((x - shift) * 2), x)
    assert same(lambda x: moved(x * 2 - 1), x)


def test_large_arrays_are_cut_where_constants_go_on(monkeypatch):
    x = np.random.default_rng(0).normal(0, 1, (300, 700, 3)).astype(np.float32)
    for function in (planes, USES["normalised"], USES["channels swapped"], USES["transposed"]):
        assert same(function, x)
        seen = []
        out = np.empty(function(x).shape, np.float32)
        dmlops.fuse(function)(x, out=out, device="host", progress=lambda done, total: seen.append(done))
        assert content(out) == content(np.ascontiguousarray(function(x))) and seen


@pytest.mark.parametrize("dtype", ["i4", "i8", "u4"])
def test_integers_wrap_around_and_are_divided_as_numpy_does(dtype):
    x = values(dtype, (700,))
    assert same(lambda x: (x * 3 + 7, x // 3, x // x.dtype.type(0), abs(x), x / 7, x & 255, ~x, -x, x.astype(np.int8)), x)
    if dtype != "u4":
        assert same(lambda x: (x // -1, x // -5, np.minimum(x, -3)), x)


def test_a_nan_keeps_its_bits_by_way_of_float16():
    """Also one that signals, which the processor's conversion to float64 makes quiet: NumPy's from float16 does not."""
    x = values(np.float32, (700,))
    x = np.concatenate([x, np.array([0x7FA00000, 0x7F800001, 0xFFA00000, 0x7FC02000], np.uint32).view(np.float32)])
    assert same(lambda x: x.astype(np.float16).astype(np.float64), x)
    assert same(lambda x: (np.where(x > 0, x, 0).astype(np.float16).astype(np.float64), x.astype(np.float16).astype("f4")), x)


def test_constants_may_be_arguments():
    x = values(np.float32, (5, 6, 3))
    fused = dmlops.fuse(lambda x, mean, std: (x - mean) / std)
    with np.errstate(all="ignore"):
        assert content(fused(x, MEAN, STD, device="host")) == content((x - MEAN) / STD)
        assert content(fused(x, STD, MEAN, device="host")) == content((x - STD) / MEAN)


def test_numbers_may_be_arguments():
    x = values(np.float32, (5, 6, 3))
    fused = dmlops.fuse(lambda x, scale: (x * scale - 1) / scale)
    with np.errstate(all="ignore"):
        for scale in (2.0, 3.0, 0.0, np.float64(3), np.inf):
            assert content(fused(x, scale, device="host")) == content((x * scale - 1) / scale)


def test_explain_names_the_operations():
    x = np.zeros((4, 5, 3), np.float32)
    assert "from input 0, by subtract, divide, to result 0" in repr(dmlops.fuse(USES["normalised"]).explain(x, device="host"))


def test_compare_runs_where_it_can():
    comparison = dmlops.compare(dmlops.fuse(USES["normalised"]), np.ones((4, 5, 3), np.float32), repeat=1)
    assert comparison and [row.device.type for row in comparison.rows] == ["host"]


def test_dask_arrays():
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    x = values(np.float32, (6, 9, 5, 3))
    fused = dmlops.fuse(lambda x: np.moveaxis((x - MEAN) / STD, -1, 1))
    with np.errstate(all="ignore"):
        assert content(fused(da.from_array(x, chunks=(2, 9, 5, 3))).compute()) == content(
            np.ascontiguousarray(fused.reference(x))
        )


# --- what is refused --------------------------------------------------------------------------------------------------

REFUSED = {
    "numpy.exp of items of 4 bytes": lambda x: np.exp(x),
    "numpy.power of items of 4 bytes": lambda x: x**3,
    "numpy.add of items of 4 bytes of a NaN": lambda x: x + np.float32(np.nan),
    "numpy.clip of items of 4 bytes with a bound of NaN": lambda x: np.clip(x, np.nan, 1),
    "numpy.clip of items of 4 bytes between bounds that are no constants": lambda x: np.clip(x, 0, x),
    "numpy.astype from float32 to complex64 of items of 4 bytes of complex64": lambda x: x.astype(np.complex64),
    "numpy.add of several traced arrays": lambda x: x + x[::-1],
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals_name_the_line(text):
    with pytest.raises(TypeError, match=text + r".*test_fuse_formulas\.py:"):
        dmlops.fuse(REFUSED[text])(np.zeros((2, 5000), np.float32), device="host")


def test_swapped_bytes_are_refused():
    with pytest.raises(TypeError, match="of items of 4 bytes of >f4 cannot be fused"):
        dmlops.fuse(lambda x: x.astype(">f4"))(np.zeros(3, np.float32), device="host")


def test_what_only_the_host_computes_names_it(vulkan):
    x = values(np.float64, (5, 6, 3))
    fused = dmlops.fuse(USES["normalised"])
    with pytest.raises(ValueError, match='device="host"'):
        fused(x, device=vulkan)
    with pytest.raises(ValueError, match='device="host"'):
        fused(dmlops.asarray(x, device=vulkan))
    with pytest.raises(ValueError, match='device="host"'):
        fused.explain(x, device=vulkan)
    with np.errstate(all="ignore"):
        assert content(fused(x, device="auto")) == content((x - MEAN) / STD)
    assert "host" in repr(fused.explain(x, device="auto"))


# --- on devices -------------------------------------------------------------------------------------------------------

STEPS = {
    "add": lambda x: x + x.dtype.type(3),
    "subtract": lambda x: x.dtype.type(7) - x,
    "multiply": lambda x: x * x.dtype.type(3),
    "square": np.square,
    "minimum": lambda x: np.minimum(x, x.dtype.type(100)),
    "maximum": lambda x: np.maximum(x, x.dtype.type(-100)),
    "clip": lambda x: np.clip(x, x.dtype.type(-5), x.dtype.type(5)),
    "negative": np.negative,
    "absolute": np.absolute,
    "where": lambda x: np.where(x > x.dtype.type(2), x, x.dtype.type(0)),
    "comparisons": lambda x: (x < x.dtype.type(9)) & (x >= x.dtype.type(-9)) | (x == x.dtype.type(50)),
    "others": lambda x: (x <= x.dtype.type(-9)) ^ (x != x.dtype.type(2)),
    "to int32": lambda x: x.astype(np.int32),
    "to bytes": lambda x: np.clip(x, x.dtype.type(0), x.dtype.type(255)).astype(np.uint8),
    "to int8": lambda x: x.astype(np.int8),
    "to int16": lambda x: x.astype(np.int16) + np.int16(5),
    "to uint16": lambda x: x.astype(np.uint16) * np.uint16(500),
    "by row": lambda x: x * np.arange(x.shape[-1], dtype=x.dtype) - x.dtype.type(1),
}
OF_FLOATS = {
    "divide": lambda x: x / np.float32(3),
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "normalised": lambda x: (x - MEAN[0]) / STD[0],
}
OF_INTEGERS = {
    "to floats": lambda x: x.astype(np.float32),
    "bits": lambda x: (x & np.int32(0x0FF0)) ^ np.int32(77) | np.int32(1 << 30),
    "invert": np.invert,
}
MOVED = {"as it is": lambda x: x, "transposed": lambda x: x.T, "mirrored": lambda x: x[:, ::-1], "cut": lambda x: x[1:-1, 3:]}


def computed(function, x, device):
    """What a fused function makes of an array on a device, and what NumPy makes."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dmlops.fuse(lambda x: function(x))(dmlops.asarray(x, device=device)).numpy(), np.ascontiguousarray(function(x))


@pytest.mark.parametrize("name", [*STEPS, *OF_FLOATS])
def test_floats_on_devices(vulkan, name):
    x = values(np.float32, (40, 33))
    made, expected = computed({**STEPS, **OF_FLOATS}[name], x, vulkan)
    assert content(made) == content(expected)


@pytest.mark.parametrize("name", [*STEPS, *OF_INTEGERS])
def test_integers_on_devices(vulkan, name):
    x = values(np.int32, (40, 33))
    made, expected = computed({**STEPS, **OF_INTEGERS}[name], x, vulkan)
    assert content(made) == content(expected)


@pytest.mark.parametrize("moved", MOVED)
@pytest.mark.parametrize("shape", [(9, 7), (64, 96), (128, 3)])
def test_moved_elements_on_devices(vulkan, shape, moved):
    x = values(np.float32, shape)
    made, expected = computed(lambda x: MOVED[moved](x * np.float32(2) - np.float32(1)), x, vulkan)
    assert content(made) == content(expected)


def test_channels_on_devices(vulkan):
    x = values(np.float32, (40, 50, 3))
    made, expected = computed(lambda x: (x[4:, ::-1] * STD - MEAN).transpose(2, 0, 1), x, vulkan)
    assert content(made) == content(expected)


def test_elements_at_odd_addresses_on_devices(vulkan):
    """Of host arrays, whose memory the device imports or gets a copy of."""
    memory = np.zeros(4 * 3000 + 1, np.uint8)
    x = memory[1:].view(np.float32)
    x[:] = values(np.float32, 3000)
    with np.errstate(all="ignore"):
        made = dmlops.fuse(STEPS["clip"])(x, device=vulkan)
        assert content(made) == content(STEPS["clip"](x))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.astype(np.float64),
        lambda x: x.astype(np.int64),
        lambda x: x.astype(np.float16),
        lambda x: (x.astype(np.float16) + np.float16(1)).astype(np.float32),
        lambda x: x.astype(np.int32) // np.int32(3),
        lambda x: np.clip(np.clip(x, np.float32(1), np.float32(2)) * np.float32(3), np.float32(4), np.float32(5)),
        lambda x: functools.reduce(lambda y, _: np.sqrt(np.abs(y)), range(5), x),
    ],
    ids=["float64", "int64", "float16", "by float16", "integers divided", "five constants", "ten steps"],
)
def test_what_the_kernel_lacks(vulkan, function):
    x = dmlops.asarray(np.ones((8, 8), np.float32), device=vulkan)
    with pytest.raises(ValueError, match='device="host"'):
        dmlops.fuse(function)(x)


@pytest.mark.parametrize("dtype", [np.int64, np.uint32])
def test_items_that_the_kernel_lacks(vulkan, dtype):
    with pytest.raises(ValueError, match='device="host"'):
        dmlops.fuse(lambda x: x + x.dtype.type(1))(dmlops.asarray(np.ones(8, dtype), device=vulkan))


def test_a_device_must_promise_how_it_rounds(vulkan):
    with overridden(rounds=0), pytest.raises(ValueError, match='device="host"'):
        dmlops.fuse(lambda x: x + np.float32(8))(dmlops.asarray(np.ones(8, np.float32), device=vulkan))


def test_devices_that_are_no_cpus_do_not_divide(vulkan):
    with overridden(cpu=0):
        x = dmlops.asarray(values(np.float32, (8, 8)), device=vulkan)
        with pytest.raises(ValueError, match='device="host"'):
            dmlops.fuse(lambda x: x / np.float32(7))(x)
        with pytest.raises(ValueError, match='device="host"'):
            dmlops.fuse(lambda x: np.sqrt(x))(x)


def test_explain_names_the_kernel(vulkan):
    x = dmlops.asarray(np.ones((64, 96), np.float32), device=vulkan)
    text = repr(dmlops.fuse(lambda x: x * np.float32(2)).explain(x))
    assert "formulas" in text and "a formula: its operations on each element" in text
    assert "formulas" in repr(dmlops.fuse(lambda x: x * np.float32(2)).explain(np.ones(9999, np.float32), device="gpu-class"))


@pytest.mark.parametrize("traits", [{"range": 4096}, {"range": 65536, "binding": 4096, "segments_always": 1}])
def test_arrays_that_are_cut_on_devices(vulkan, traits):
    x = values(np.float32, (96, 128, 3))
    with overridden(**traits):
        made, expected = computed(lambda x: (x * STD - MEAN).transpose(2, 0, 1), x, vulkan)
    assert content(made) == content(expected)


FEW_DENORMALS = np.where(np.arange(16) == 5, np.float32(1e-40), np.float32(3))
FLUSHED = {
    "products": lambda x: x * np.float32(0.3712),
    "one of many constants": lambda x: np.where(x >= np.float32(1), np.float32(1), np.float32(0)) * FEW_DENORMALS,
    "one value": lambda x: np.where(x == np.float32(12345.678), np.float32(1), np.float32(0)) * np.float32(1e-40),
}


@CAN_FLUSH
@pytest.mark.skipif("DMLOPS_TEST_DIRECT" in os.environ, reason="that driver runs workgroups in the thread that waits, too")
@pytest.mark.parametrize("name", FLUSHED)
def test_a_device_that_makes_other_bits_is_found(vulkan, name):
    """As one that flushes denormals where the host does not: here the host does, in this thread, and the device does not."""
    x = dmlops.asarray(np.ones(16, np.float32), device=vulkan)
    fused = dmlops.fuse(lambda x: FLUSHED[name](x))
    fused(np.ones(16, np.float32), device="host")
    with flushing(), pytest.raises(ValueError, match='to other bits than NumPy: give the call device="host"'):
        fused(x)
    with pytest.raises(ValueError, match="to other bits than NumPy"):  # it is not tried again
        fused(x)


@CAN_FLUSH
def test_all_threads_of_a_call_take_denormals_as_its_caller_does():
    x = np.full(1 << 21, 1e-40, np.float32)
    fused = dmlops.fuse(lambda x: x * np.float32(1))
    assert content(fused(x, device="host")) == content(x)
    for _ in range(5):
        with flushing():
            made = fused(x, device="host")
        assert not made.view(np.uint32).any()
        assert content(fused(x, device="host")) == content(x)


# --- what is found ----------------------------------------------------------------------------------------------------


@pytest.fixture
def unchecked(monkeypatch):
    """As if no operation had been compared, and no formula been made."""
    monkeypatch.setattr(formula_checks, "_compared", {})
    monkeypatch.setattr(maps, "_tables", Programs())


@pytest.mark.parametrize("name", ["subtract", "maximum", "less", "divide"])
def test_a_wrong_operation_is_found_when_it_is_first_used(unchecked, monkeypatch, name):
    """As on a machine whose operation differs."""
    others = {"subtract": "add", "maximum": "raise", "less": "less_equal", "divide": "multiply"}
    monkeypatch.setitem(formulas.OPERATIONS, name, formulas.OPERATIONS[others[name]])
    functions = {
        "subtract": lambda x: x - 1,
        "maximum": lambda x: np.maximum(x, 0),
        "less": lambda x: x < 0,
        "divide": lambda x: x / 3,
    }
    with pytest.raises(TypeError, match="on this machine: of .*NumPy has"):
        dmlops.fuse(functions[name])(np.zeros(3, np.float32), device="host")


def test_a_wrong_formula_is_found_when_it_is_made(unchecked, monkeypatch):
    real = lowering.continued
    wrong = lambda *args: (made := real(*args))._replace(constants=tuple(one + 1 for one in made.constants))  # noqa: E731
    monkeypatch.setattr(lowering, "continued", wrong)
    with pytest.raises(TypeError, match="a map cannot be fused on this machine"):
        dmlops.fuse(USES["normalised"])(np.zeros((3, 3), np.float32), device="host")
    monkeypatch.setattr(formula_checks, "compare", lambda *_: None)
    with pytest.raises(dmlops.ProofError if hasattr(dmlops, "ProofError") else AssertionError, match="other values than NumPy"):
        dmlops.fuse(USES["normalised"]).prove(np.zeros((3, 3), np.float32))


@pytest.mark.driverless
def test_codes_are_those_of_the_extension():
    text = (pathlib.Path(__file__).parent.parent / "csrc/plan/formula.h").read_text()
    operations = [name.lower() for name in re.findall(r"^    DML_DO_(\w+)", text, re.MULTILINE)]
    assert {name: code for code, name in enumerate(operations)} == formulas.OPERATIONS
    memories = [
        name.lower().replace("f16", "f2").replace("f32", "f4").replace("f64", "f8")
        for name in re.findall(r"^    DML_IN_(\w+)", text, re.MULTILINE)
    ]
    sizes = {"8": "1", "16": "2", "32": "4", "64": "8"}
    codes = [name if name[1:] in "248" and name[0] == "f" else name[0] + sizes[name[1:]] for name in memories]
    assert {code: at for at, code in enumerate(codes)} == {code: at for code, at in formulas.MEMORY.items() if code != "b1"}


@pytest.mark.driverless
def test_code_that_is_not_whole_is_refused():
    """Whatever its bytes are: it is refused, or stays within its arrays."""
    source = np.dtype("f4")
    made = lowering.begun(source)
    for calls in (["add", "multiply", "where", "sqrt", "less", "cast"],):
        code = [
            formulas.Instruction("add", 0, (0, -1)),
            formulas.Instruction("less", 0, (1, -2)),
            formulas.Instruction("where", 0, (2, 1, 0)),
        ]
        made = formulas.Formula(source, source, tuple(code), (np.ones(2, "f4"), np.zeros(2, "f4")), 3)
    rows = made.packed().tobytes()
    rows += bytes(-len(rows) % 16)
    code, chance, taken = made.to_bytes(), random.Random(0), 0
    step = array.array("q", (0, 0, 0, 4, 0, 0, len(rows), 1, 0, 0, 5, 1, 4, 0)).tobytes()
    arrays = ((source, (5,), (4,)),) * 2
    assert _core._compile(arrays, 1, step, rows + code)
    for _ in range(3000):
        wrong = bytearray(code)
        for _ in range(chance.randint(1, 3)):
            wrong[chance.randrange(len(wrong))] = chance.choice([0, 1, 2, 3, 6, 23, 24, 29, 255, chance.randrange(256)])
        try:
            program = _core._compile(
                arrays, 1, step, rows + bytes(wrong[: chance.choice([len(wrong), chance.randrange(len(wrong))])])
            )
        except ValueError:
            continue
        taken += 1
        _core._run_compiled(program, [np.ones(5, "f4")], None, "host", None)
    assert 0 < taken < 1500
