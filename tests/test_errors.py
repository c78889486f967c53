"""The error table, row by row: each argument, what is wrong with it, what is raised, what the message says."""

import datetime
import decimal
import functools
import itertools
import re
from fractions import Fraction

import dmlops
import numpy as np
import pytest
from dmlops import _core
from numpy.exceptions import AxisError

import support
from strategies import parts

X = np.arange(24, dtype=np.float32).reshape(1, 4, 2, 3)
WIDE = np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4)
ONES = np.ones((1, 4, 2, 1), np.int64)
OBJECTS = np.array([[None]], object)
NESTED_OBJECTS = np.zeros((2, 2), [("a", "i4"), ("b", "O")])
HUGE = 2**70
SEVERAL = dmlops.asarray([0, 1], device="host")  # like the arrays of any library it has __index__, for one element


def frozen(array):
    array.flags.writeable = False
    return array


def swapped(array):
    return array.astype(array.dtype.newbyteorder())


# What each operator is called with where a row says nothing else, and the shape of that call's result.
VALID = {
    "reverse_subsequences": (dict(input=X, sequence_lengths=ONES, axis=3), (1, 4, 2, 3)),
    "depth_to_space": (dict(input=X, block_size=2), (1, 1, 4, 6)),
    "space_to_depth": (dict(input=WIDE, block_size=2), (1, 8, 2, 2)),
    "slice": (dict(input=X, offsets=[0, 0, 0, 1], sizes=[1, 4, 2, 2]), (1, 4, 2, 2)),
    "padding": (dict(input=X, start_padding=[0, 0, 1, 0], end_padding=[0, 1, 0, 2]), (1, 5, 3, 5)),
    "tile": (dict(input=X, repeats=[1, 2, 1, 3]), (1, 8, 2, 9)),
    "join": (dict(inputs=[X, X[:, :1]], axis=1), (1, 5, 2, 3)),
    "split": (dict(input=X, axis=3, output_axis_sizes=[1, 2]), [(1, 4, 2, 1), (1, 4, 2, 2)]),
    "transpose": (dict(input=X, axes=[0, 2, 3, 1]), (1, 2, 3, 4)),
    "upsample": (dict(input=X, scale_size=2), (1, 4, 4, 6)),
    "slice_grad": (
        dict(gradient=X, output_shape=[2, 4, 5, 3], offsets=[0, 0, 1, 0], sizes=[1, 4, 3, 3], strides=[1, 1, -2, 1]),
        (2, 4, 5, 3),
    ),
}


def first(operator, array):
    """The first argument, which operators call differently."""
    return {"inputs": [array]} if operator == "join" else {"gradient" if operator == "slice_grad" else "input": array}


def outs(operator, make):
    """`out` of arrays that `make` makes of their shapes."""
    shape = VALID[operator][1]
    return [make(part) for part in shape] if isinstance(shape, list) else make(shape)


# operator, what differs from the valid call, the exception, words of the message
ROWS = []


def row(operator, exception, words, **changes):
    ROWS.append((operator, changes, exception, words.split()))


# Every operator: input, out, device.
for name in VALID:
    (argument,) = first(name, X)
    row(name, TypeError, f"{argument} object", **first(name, OBJECTS))
    row(name, TypeError, argument, **first(name, NESTED_OBJECTS))
    row(name, TypeError, "out list", out=outs(name, lambda shape: [[0.0]]))
    row(name, TypeError, "out str", out=outs(name, lambda shape: "out"))
    row(name, TypeError, "out str", out="out")
    row(name, ValueError, "out (7,)", out=outs(name, lambda shape: np.zeros(7, np.float32)))
    row(name, ValueError, "out", out=outs(name, lambda shape: np.zeros(shape[1:], np.float32)))
    row(name, ValueError, "out float64 float32", out=outs(name, np.zeros))
    row(name, ValueError, "out >f4", out=outs(name, lambda shape: swapped(np.zeros(shape, np.float32))))
    row(name, ValueError, "out read-only", out=outs(name, lambda shape: frozen(np.zeros(shape, np.float32))))
    shared = np.zeros(999, np.float32)
    view = functools.partial(np.lib.stride_tricks.as_strided, shared, strides=(4, 16, 8, 0))
    row(name, ValueError, "out memory", out=outs(name, view))
    row(name, ValueError, "device gtx-9999", device="gtx-9999")
    row(name, ValueError, "device 4711", device=4711)
    row(name, ValueError, "device 4711", device="4711")
    row(name, ValueError, "device -1", device=-1)
    row(name, TypeError, "device float", device=1.0)
    row(name, TypeError, "device bool", device=True)
    row(name, TypeError, "device list", device=["host"])
    row(name, TypeError, "device must be an int, a str, a dmlops.Device or None, not DeviceArray", device=SEVERAL)
    if hasattr(np.dtypes, "StringDType"):
        row(name, TypeError, argument, **first(name, np.array([["a"]], np.dtypes.StringDType())))


class Path:
    def __fspath__(self):
        return "cat.png"


IMAGES = np.empty(2, object)  # what a DataFrame's column becomes
IMAGES[:] = [X, X]
PACKED = np.zeros(2, [("a", "i1"), ("images", "O")])
PACKED["images"] = IMAGES
for name in VALID:
    (argument,) = first(name, X)
    row(name, TypeError, f"{argument} array of arrays; np.stack", **first(name, IMAGES))
    row(name, TypeError, f"{argument} array of arrays; np.stack", **first(name, PACKED["images"]))  # not aligned
    row(name, TypeError, f"{argument} must be an array, not str; a file is read first", **first(name, "cat.png"))
    row(name, TypeError, f"{argument} is a path; a file is read first", **first(name, Path()))
    # None is what OpenCV makes of a file that is not there.
    row(name, TypeError, f"{argument} is None, not an array", **first(name, None))
    if name != "join":
        row(name, TypeError, f"{argument} must be an array, not set; sorted({argument})", **first(name, {1, 2}))
        row(name, TypeError, f"{argument} must be an array, not generator; list({argument})", **first(name, (k for k in "ab")))
        row(name, ValueError, f"{argument} inhomogeneous pad them to one shape first", **first(name, [[1, 2], [3]]))
        words = f"{argument} object numpy.asarray({argument}, dtype='float64') converts"
        row(name, TypeError, words, **first(name, np.array([1, None], object)))


def int_rows(operator, name, good, counted=True):
    """A sequence of one int for each of four axes."""
    for bad in ([good] * 3, [good] * 5, [], [good] * 100) if counted else ():
        row(operator, ValueError, f"{name} {len(bad)} 4", **{name: bad})
    for kind, bad in (("float", 1.0), ("bool", True), ("str", "1"), ("NoneType", None), ("DeviceArray", SEVERAL)):
        row(operator, TypeError, f"{name} {kind}", **{name: [good] * 3 + [bad]})
    row(operator, TypeError, f"{name} int", **{name: 1})
    row(operator, TypeError, name, **{name: "1111"})
    row(operator, TypeError, f"{name} must be an array or list of ints, not set", **{name: {1, 2, 3, 4}})
    row(operator, TypeError, name, **{name: np.ones(4)})
    row(operator, TypeError, name, **{name: np.ones(4, bool)})
    row(operator, ValueError, f"{name} one-dimensional 2", **{name: np.ones((2, 2), int)})
    row(operator, (ValueError, OverflowError), name, **{name: [good] * 3 + [2**64]})
    row(operator, (ValueError, OverflowError), name, **{name: [good] * 3 + [-HUGE]})


def axis_rows(operator):
    """`axis` of four."""
    for value in (4, -5, 100):
        row(operator, AxisError, f"axis {value} 4", axis=value)
    row(operator, (AxisError, OverflowError), "axis", axis=HUGE)
    for kind, value in (("float", 1.0), ("bool", True), ("str", "3"), ("NoneType", None), ("DeviceArray", SEVERAL)):
        row(operator, TypeError, f"axis {kind}", axis=value)


# reverse_subsequences
for bad in (np.ones((4, 2, 1), int), np.ones(4, int), np.int64(3), 3):
    row("reverse_subsequences", ValueError, "sequence_lengths 4", sequence_lengths=bad)
row("reverse_subsequences", ValueError, "sequence_lengths 3", sequence_lengths=np.ones((1, 4, 2, 3), int))
row("reverse_subsequences", ValueError, "sequence_lengths 5 4", sequence_lengths=np.ones((1, 5, 2, 1), int))
row("reverse_subsequences", ValueError, "sequence_lengths 0", sequence_lengths=np.ones((1, 4, 0, 1), int))
NEGATIVE = ONES.copy()
NEGATIVE[0, 2, 1, 0] = -7
NEGATIVE[0, 3, 0, 0] = -9
row("reverse_subsequences", ValueError, "sequence_lengths 2, 1, -7", sequence_lengths=NEGATIVE)
row("reverse_subsequences", ValueError, "sequence_lengths 2, 1, -7", sequence_lengths=NEGATIVE.astype(np.int8))
row("reverse_subsequences", ValueError, "sequence_lengths 2, 1, -7", sequence_lengths=NEGATIVE.astype(">i2"))
row("reverse_subsequences", ValueError, "sequence_lengths", sequence_lengths=[[[[-HUGE]]]])
row("reverse_subsequences", TypeError, "sequence_lengths float64", sequence_lengths=ONES.astype(float))
row("reverse_subsequences", TypeError, "sequence_lengths bool", sequence_lengths=ONES.astype(bool))
row("reverse_subsequences", TypeError, "sequence_lengths", sequence_lengths=ONES.astype("m8[s]"))
row("reverse_subsequences", TypeError, "sequence_lengths", sequence_lengths=[[[["3"]]]])
row("reverse_subsequences", TypeError, "sequence_lengths", sequence_lengths=[[[[1.0]]]])
row("reverse_subsequences", TypeError, "sequence_lengths", sequence_lengths=[[[[True]]]])
row("reverse_subsequences", TypeError, "sequence_lengths", sequence_lengths=[[[[None]]]])
row("reverse_subsequences", TypeError, "sequence_lengths", sequence_lengths=None)
row("reverse_subsequences", ValueError, "sequence_lengths inhomogeneous", sequence_lengths=[[1], [1, 2]])
for kind, bad in (("set", {1}), ("generator", (1 for _ in range(1))), ("object", object())):
    words = f"sequence_lengths must be an array or list of ints, not {kind}"
    row("reverse_subsequences", TypeError, words, sequence_lengths=bad)
axis_rows("reverse_subsequences")
row("reverse_subsequences", AxisError, "axis", input=np.float32(1), sequence_lengths=1, axis=0)
for value in (4, -5):
    row("reverse_subsequences", AxisError, f"batch_axis {value} 4", batch_axis=value, sequence_lengths=[1])
row("reverse_subsequences", ValueError, "batch_axis axis", batch_axis=3, sequence_lengths=[1, 1, 1])
row("reverse_subsequences", ValueError, "batch_axis axis", batch_axis=-1, sequence_lengths=[1, 1, 1])
row("reverse_subsequences", TypeError, "batch_axis float", batch_axis=1.0, sequence_lengths=[1] * 4)
row("reverse_subsequences", TypeError, "batch_axis bool", batch_axis=True, sequence_lengths=[1] * 4)
row("reverse_subsequences", TypeError, "batch_axis str", batch_axis="1", sequence_lengths=[1] * 4)
row("reverse_subsequences", ValueError, "sequence_lengths 3 4", batch_axis=1, sequence_lengths=[1, 2, 3])
row("reverse_subsequences", ValueError, "sequence_lengths 1 4", batch_axis=1, sequence_lengths=[1])
row("reverse_subsequences", ValueError, "sequence_lengths", batch_axis=1, sequence_lengths=ONES)
row("reverse_subsequences", ValueError, "sequence_lengths", batch_axis=1, sequence_lengths=3)
row("reverse_subsequences", ValueError, "sequence_lengths 1 -3", batch_axis=1, sequence_lengths=[1, -3, 2, 1])

# depth_to_space and space_to_depth
for name in ("depth_to_space", "space_to_depth"):
    for value in (0, -1, -2):
        row(name, ValueError, f"block_size {value}", block_size=value)
        row(name, ValueError, f"block_size {value}", block_size=[2, value])
    row(name, (ValueError, OverflowError), "block_size", block_size=HUGE)
    row(name, (ValueError, OverflowError), "block_size", block_size=[1, HUGE])
    for few in (np.zeros(4), np.zeros(())):
        row(name, ValueError, f"block_size input rank 2 {few.ndim}", input=few, block_size=[2])
    row(name, ValueError, "block_size", block_size=2**62)
    row(name, ValueError, "block_size", block_size=[2**32, 2**32])
    row(name, TypeError, "block_size float", block_size=2.0)
    row(name, TypeError, "block_size bool", block_size=True)
    row(name, TypeError, "block_size", block_size="2")
    row(name, TypeError, "block_size NoneType", block_size=None)
    row(name, TypeError, "block_size float", block_size=[2, 2.0])
    row(name, TypeError, "block_size bool", block_size=[2, True])
    row(name, ValueError, "block_size", block_size=[])
    row(name, ValueError, "block_size 4", block_size=[1] * 4)
    row(name, ValueError, "block_size", block_size=[1] * 100)
    row(name, ValueError, "block_size (2, 2) (2,)", input=X[0], block_size=2)
    row(name, ValueError, "block_size 2", input=X[0, 0], block_size=2)
    row(name, ValueError, "block_size", input=np.float32(1), block_size=2)
    row(name, ValueError, "block_size 1", input=X[0, 0, 0], block_size=[2])
    row(name, ValueError, "order XYZ DCR CRD", order="XYZ")
    row(name, ValueError, "order", order="")
    row(name, TypeError, "order int", order=0)
    row(name, TypeError, "order NoneType", order=None)
    row(name, TypeError, "order bytes", order=b"DCR")
    row(name, ValueError, "layout NCWH NCHW NHWC", layout="NCWH")
    for image in ("HWC", "CHW"):
        row(name, ValueError, f'layout NCHW NHWC {image} layout="N{image}" sequence of blocks', layout=image)
    row(name, TypeError, "block_size must be an int, or an array or list of ints, not set", block_size={2})
    row(name, ValueError, "block_size must have exactly 1 entry rank 2 got 2", input=X[0, 0], block_size=[2, 2])
    row(name, TypeError, "layout int", layout=1)
    row(name, TypeError, "layout NoneType", layout=None)
row("depth_to_space", ValueError, "4 9", block_size=3)
row("depth_to_space", ValueError, "3 4", layout="NHWC")
row("depth_to_space", ValueError, "4 6", block_size=[2, 3])
words = f"block_size {2**40} {2**30} overflows"
row("depth_to_space", ValueError, words, input=np.zeros((1, 0, 1, 2**40)), block_size=[1, 2**30])
row("space_to_depth", ValueError, words, input=np.zeros((1, 2**40, 0, 1)), block_size=[2**30, 1])
row("space_to_depth", ValueError, "4 3", block_size=3)
row("space_to_depth", ValueError, "4 3", block_size=[2, 3])
row("space_to_depth", ValueError, "4 3", block_size=[3, 2])
row("space_to_depth", ValueError, "2 4", layout="NHWC", block_size=4)

row("depth_to_space", ValueError, 'channels last? layout="NHWC"', input=np.zeros((1, 6, 6, 4)))
row("space_to_depth", ValueError, 'size 3, not divisible channels last? layout="NHWC"', input=np.zeros((1, 4, 6, 3)))
words = 'size 3, not divisible channels last? layout="NHWC"'
row("space_to_depth", ValueError, words, input=np.zeros((4, 6, 3)), block_size=[2, 2])
words = 'size 3, not divisible channels first? layout="NCHW"'
row("space_to_depth", ValueError, words, input=np.zeros((1, 3, 4, 6)), layout="NHWC")

# slice
for name, good in (("offsets", 0), ("sizes", 1), ("strides", 1), ("output_sizes", 1)):
    int_rows("slice", name, good)
for name in ("offsets", "sizes"):
    row("slice", TypeError, f"{name} NoneType", **{name: None})
row("slice", ValueError, "offsets -1", offsets=[0, 0, 0, -1])
row("slice", ValueError, "sizes -1", sizes=[1, 4, -1, 2])
row("slice", ValueError, "sizes 3 2", sizes=[1, 4, 3, 2])
row("slice", ValueError, "1 3", sizes=[1, 4, 2, 3])
row("slice", ValueError, "offsets 4", offsets=[0, 0, 0, 4], sizes=[1, 4, 2, 0])
row("slice", ValueError, "4611686018427387904", offsets=[0, 0, 0, 2**62], sizes=[1, 4, 2, 2**62])
row("slice", ValueError, "9223372036854775807", offsets=[0, 0, 0, 2**63 - 1], sizes=[1, 4, 2, 2**63 - 1])
row("slice", ValueError, "strides 0", strides=[1, 1, 0, 1])
row("slice", ValueError, "output_sizes 0", output_sizes=[1, 4, 2, 0])
row("slice", ValueError, "output_sizes -1", output_sizes=[1, 4, 2, -1])
row("slice", ValueError, "output_sizes 3 2", output_sizes=[1, 4, 2, 3])
row("slice", ValueError, "output_sizes 2 1", strides=[1, 1, 1, 2], output_sizes=[1, 4, 2, 2])
row("slice", ValueError, "output_sizes 1 0", sizes=[1, 4, 2, 0], output_sizes=[1, 4, 2, 1])

# padding
BYTES = X.astype(np.uint8)
for name in ("start_padding", "end_padding"):
    int_rows("padding", name, 0)
    row("padding", TypeError, f"{name} NoneType", **{name: None})
    row("padding", ValueError, f"{name} -1", **{name: [0, 0, -1, 0]})
    row("padding", ValueError, f"{name} overflows", **{name: [0, 0, 2**63 - 1, 0]})
for value in ("mirror", "CONSTANT", ""):
    row("padding", ValueError, f"mode {value} constant edge reflection symmetric wrap", mode=value)
for kind, value in (("int", 0), ("NoneType", None), ("bytes", b"edge")):
    row("padding", TypeError, f"mode {kind}", mode=value)
for value in ("edge", "reflection", "symmetric", "wrap"):
    row("padding", ValueError, 'mode "constant" empty axis 2', mode=value, input=X[:, :, :0])
for value in ("1", b"1", None, [1], np.ones(1), np.ones(4, np.float32), 1j, object()):
    row("padding", TypeError, "value", value=value)
for value in (1.5, 1j, "1", np.float32(1), None):
    row("padding", TypeError, "value uint8", input=BYTES, value=value)
for value in (256, -1, HUGE, -HUGE):
    row("padding", OverflowError, f"value {value} uint8", input=BYTES, value=value)
row("padding", OverflowError, "value 128 int8", input=X.astype(np.int8), value=128)
STRUCT = np.zeros(X.shape, [("a", "u1", 2), ("b", "S3")])
for dtype, bad in (
    ("S2", [255, 3.75, b"abc", "abc", True, 2**70]), ("U2", [255, 3.75, "abc", np.datetime64("2020-01-01")]),
    ("V2", [-1, 1.5, b"abc", "ab"]), ("M8[ns]", [np.datetime64("9999-12-31"), "9999", np.uint64(2**63), HUGE]),
    ("M8[ps]", [np.datetime64("1971-01-01"), "1971"]), ("M8[as]", [np.datetime64("2020-01-01")]),
    ("M8[ns]", [datetime.date(9999, 1, 1), datetime.datetime(1600, 1, 1)]),
    ("m8[ns]", [np.timedelta64(300, "Y"), np.timedelta64(2**62, "D"), datetime.timedelta(days=999_999_999)]),
    ("f2", [70000, 1e300, np.float32(65520)]), ("f4", [1e39, -1e39, 2**200, np.longdouble("1e50")]), ("f8", [10**400]),
    ("c8", [1e300, 1e300j]), ("?", [2, -1]), ("u8", [-1, np.int8(-1), 2**64]), ("i8", [np.uint64(2**63)]),
    (STRUCT.dtype, [256, -1, 1234, np.array(([1, 256], b""), [("x", "i8", 2), ("y", "S1")])]),
):  # fmt: skip
    for value in bad:
        words = f"value does not fit into input's dtype {np.dtype(dtype)}"
        row("padding", OverflowError, words, input=np.zeros(X.shape, dtype), value=value)
for dtype, bad in (
    ("M8[s]", [1.5, datetime.timedelta(1), np.timedelta64(1, "s"), "tomorrow", datetime.time(1)]),
    ("m8[s]", [1.5, datetime.date(2020, 1, 1), np.datetime64(1, "s"), "soon"]), ("U9", [None, datetime.date(2020, 1, 1)]),
    ("i4", [float("nan"), float("inf"), np.datetime64(1, "s")]), (STRUCT.dtype, [None, [1]]), ("V8", [None]),
    (STRUCT.dtype, [1.5, np.zeros((), [("x", "u1")]), np.zeros((), "u1,u1,u1")]), ("f4", [np.array(None)]),
):  # fmt: skip
    for value in bad:
        row("padding", TypeError, "value scalar", input=np.zeros(X.shape, dtype), value=value)

# tile
int_rows("tile", "repeats", 1)
row("tile", TypeError, "repeats NoneType", repeats=None)
row("tile", ValueError, "repeats -1", repeats=[1, 1, -1, 1])
row("tile", ValueError, "repeats overflows", repeats=[1, 1, 1, 2**62])

# join
axis_rows("join")
row("join", ValueError, "inputs empty", inputs=[])
for kind, value in (("int", 3), ("NoneType", None)):
    row("join", TypeError, f"inputs {kind}", inputs=value)
row("join", TypeError, "inputs str", inputs="ab")
row("join", TypeError, "inputs[1] float64 float32", inputs=[X, X.astype(np.float64), BYTES])
row("join", TypeError, "inputs[2] >f4", inputs=[X, X, swapped(X)])
row("join", TypeError, "inputs[1] object", inputs=[X, OBJECTS])
row("join", ValueError, "inputs[1] rank 3 4", inputs=[X, X[0]])
row("join", ValueError, "inputs[2] 1 2", inputs=[X, X, X[:, :, :1]])
row("join", AxisError, "axis 0", inputs=[np.float32(1)] * 2, axis=0)

# split
axis_rows("split")
int_rows("split", "output_axis_sizes", 1, counted=False)
row("split", AxisError, "axis 0", input=np.float32(1), axis=0, output_axis_sizes=[])
row("split", TypeError, "output_axis_sizes NoneType", output_axis_sizes=None)
row("split", TypeError, "output_axis_sizes Fraction", output_axis_sizes=Fraction(1))  # a class with a metaclass
row("split", TypeError, "axis Fraction", axis=Fraction(1))
row("split", ValueError, "output_axis_sizes -1", output_axis_sizes=[-1, 4])
for wrong in ([1, 1], [1, 3], [], [0], [2**62, 2**62], [2**63 - 1, 1, 3]):
    row("split", ValueError, "output_axis_sizes 3", output_axis_sizes=wrong)
PAIR = [np.zeros(shape, np.float32) for shape in VALID["split"][1]]
row("split", ValueError, "out 1 2", out=PAIR[:1])
row("split", ValueError, "out 3 2", out=[*PAIR, PAIR[0]])
row("split", TypeError, "out", out=np.zeros((2, 1, 4, 2, 2), np.float32))
row("split", TypeError, "out dict", out=dict(enumerate(PAIR)))
row("split", ValueError, "out memory", output_axis_sizes=[1, 1, 1], out=PAIR[:1] * 3)
BUFFER = np.zeros((1, 4, 2, 3), np.float32)
row("split", ValueError, "out memory", out=[BUFFER[..., :1], BUFFER[..., :2]])

# transpose
int_rows("transpose", "axes", 0)
for value in (4, -5, 100):
    row("transpose", AxisError, f"axes {value} 4", axes=[0, 1, 2, value])
row("transpose", ValueError, "axes 1", axes=[0, 1, 2, 1])
row("transpose", ValueError, "axes 1", axes=[0, 1, 2, -3])

# upsample
for value in (0, -1, -2):
    row("upsample", ValueError, f"scale_size {value}", scale_size=value)
    row("upsample", ValueError, f"scale_size {value}", scale_size=[2, value])
row("upsample", (ValueError, OverflowError), "scale_size", scale_size=HUGE)
row("upsample", ValueError, "scale_size overflows", scale_size=2**62)
row("upsample", ValueError, "scale_size overflows", scale_size=[2**62])
for kind, value in (("float", 2.0), ("bool", True), ("str", "2"), ("NoneType", None), ("set", {2})):
    row("upsample", TypeError, f"scale_size {kind}", scale_size=value)
    if kind != "set":
        row("upsample", TypeError, f"scale_size {kind}", scale_size=[2, value])
for value in ([], [1] * 4, [1] * 100):
    row("upsample", ValueError, "scale_size", scale_size=value)
row("upsample", ValueError, "scale_size (2, 2) (2,)", input=X[0], scale_size=2)
row("upsample", ValueError, "scale_size", input=np.float32(1), scale_size=2)
row("upsample", ValueError, "layout NCWH NCHW NHWC", layout="NCWH")
row("upsample", ValueError, 'layout NCHW NHWC HWC layout="NHWC" sequence', layout="HWC")
row("upsample", TypeError, "layout int", layout=1)

# slice_grad
for name, good in (("output_shape", 9), ("offsets", 0), ("sizes", 1), ("strides", 1)):
    int_rows("slice_grad", name, good)
for name in ("output_shape", "offsets", "sizes"):
    row("slice_grad", TypeError, f"{name} NoneType", **{name: None})
row("slice_grad", ValueError, "output_shape -1", output_shape=[2, 4, -1, 3])
row("slice_grad", ValueError, "offsets -1", offsets=[0, 0, -1, 0])
row("slice_grad", ValueError, "sizes -1", sizes=[1, 4, -1, 3])
row("slice_grad", ValueError, "2 3 5", output_shape=[2, 4, 5, 3], offsets=[0, 0, 3, 0])
row("slice_grad", ValueError, "9223372036854775807", offsets=[0, 0, 2**63 - 1, 0], sizes=[1, 4, 2**63 - 1, 3])
row("slice_grad", ValueError, "strides 0", strides=[1, 1, 0, 1])
row("slice_grad", ValueError, "gradient 2 1", strides=[1, 1, 3, 1])
row("slice_grad", ValueError, "gradient 2 0", sizes=[1, 4, 0, 3])
row("slice_grad", ValueError, "gradient 0", gradient=X[:, :, :0])
row("slice_grad", ValueError, "gradient 3 4", gradient=X[0])


def title(one):
    """Without addresses, which differ between the processes that run the suite."""
    operator, changes, exception, _ = one

    def text(value):
        return getattr(value, "shape", None) or re.sub(" at 0x[0-9a-f]+", "", repr(value))[:30]

    said = ",".join(f"{name}={text(value)}" for name, value in changes.items())
    return f"{operator}-{said}"


def violation(one, run=lambda operator, arguments: getattr(dmlops, operator)(**arguments), **more):
    """Makes the row's call; returns what is wrong with how it failed, or None."""
    operator, changes, exception, words = one
    arguments = {**VALID[operator][0], **more, **changes}
    try:
        run(operator, arguments)
    except exception as error:
        missing = [word for word in words if word not in str(error)]
        if issubclass(type(error), AxisError) and AxisError not in np.atleast_1d(exception):
            return f"AxisError where {exception} belongs: {error}"
        return f"the message lacks {missing}: {type(error).__name__}: {error}" if missing else None
    except Exception as error:
        return f"{type(error).__name__} instead of {exception}: {error}"
    return "nothing was raised"


@pytest.mark.parametrize("one", ROWS, ids=title)
def test_row(one, devices):
    operator, changes, _, _ = one
    for device in devices:
        more = {} if "device" in changes else {"device": device}
        assert violation(one, **more) is None
        if "out" not in changes:
            canary = outs(operator, lambda shape: np.full(shape, 7, np.float32))
            if isinstance(changes.get("output_axis_sizes"), list):
                canary = [canary[0].copy() for _ in changes["output_axis_sizes"]]
            assert violation(one, **more, out=canary) is None
            assert all((part == 7).all() for part in parts(canary)), "out was changed"
        else:
            assert not any(np.any(part) for part in parts(changes["out"]) if isinstance(part, np.ndarray)), "out was changed"


def of_its_own_arguments(one):
    """Whether a row is wrong in what a fused function gives the operator: a trace takes the place of its input."""
    operator, changes, *_ = one
    (argument,) = first(operator, X)
    array = changes.get(argument, X)
    return not {"out", "device", "progress", "inputs"} & {*changes} and isinstance(array, np.ndarray) and array.dtype == X.dtype


@pytest.mark.parametrize("one", [one for one in ROWS if of_its_own_arguments(one)], ids=title)
def test_row_in_a_fused_function(one):
    """The exception and the words are those of the operator outside."""

    def run(operator, arguments):
        (argument,) = first(operator, X)
        others = {name: value for name, value in arguments.items() if name != argument}
        given = tuple(arguments[argument]) if argument == "inputs" else arguments[argument]

        def function(given):
            return getattr(dmlops, operator)(**{argument: given}, **others)

        dmlops.fuse(function)(given, device="host")

    assert violation(one, run) is None


@pytest.mark.parametrize("operator", VALID)
def test_the_valid_calls_are_valid(operator, device):
    out = outs(operator, lambda shape: np.zeros(shape, np.float32))
    result = getattr(dmlops, operator)(**VALID[operator][0], out=out, device=device)
    assert all(part is given for part, given in zip(parts(result), parts(out), strict=True))


@pytest.mark.needs_variables
def test_wrong_arguments_never_reach_a_device():
    """The whole table again, where there is no device at all: it is the arguments that are complained of."""
    code = f"""
import sys
sys.path.insert(0, {str(support.ROOT / "tests")!r})
import dmlops, test_errors
for operator, (arguments, _) in test_errors.VALID.items():
    try:
        getattr(dmlops, operator)(**arguments)
        print("no NoDeviceError from", operator)
    except dmlops.NoDeviceError:
        pass
for one in test_errors.ROWS:
    if "device" not in one[1]:
        wrong = test_errors.violation(one)
        if wrong:
            print(test_errors.title(one), wrong)
print("done")
"""
    done = support.run_python(code, env=support.NO_VULKAN)
    assert done.stdout == "done\n"


def test_missing_and_unknown_arguments(device):
    for call in (
        lambda: dmlops.slice(X, device=device),
        lambda: dmlops.slice(X, [0] * 4, device=device),
        lambda: dmlops.slice(X, [0] * 4, [1] * 4, offset=3, device=device),
        lambda: dmlops.slice(X, [0] * 4, [1] * 4, None, [1] * 4, device=device),  # output_sizes is keyword-only
        lambda: dmlops.depth_to_space(X, device=device),
        lambda: dmlops.depth_to_space(X, 2, "DCR", device=device),
        lambda: dmlops.reverse_subsequences(X, ONES, device=device),
        lambda: dmlops.reverse_subsequences(X, ONES, 3, 0, device=device),
        lambda: dmlops.padding(X, [0] * 4, device=device),
        lambda: dmlops.padding(X, [0] * 4, [0] * 4, "edge", device=device),
        lambda: dmlops.tile(X, device=device),
        lambda: dmlops.join([X], device=device),
        lambda: dmlops.join([X], 0, None, device=device),
        lambda: dmlops.split(X, 0, device=device),
        lambda: dmlops.transpose(device=device),
        lambda: dmlops.upsample(X, 2, "NCHW", device=device),
        lambda: dmlops.slice_grad(X, [9] * 4, [0] * 4, device=device),
    ):
        with pytest.raises(TypeError):
            call()


def test_an_int_that_python_does_not_print(device):
    with pytest.raises(OverflowError, match="value an int of thousands of digits does not fit into input's dtype float32"):
        dmlops.padding(X, [1] * 4, [1] * 4, value=10**5000, device=device)


def test_device_arrays_of_ints_are_ints_and_sequences(device):
    one, two = dmlops.asarray(2, device=device), dmlops.asarray([2, 2], device=device)
    for block_size in (one, two):
        assert dmlops.depth_to_space(X, block_size, device=device).shape == (1, 1, 4, 6)
    assert dmlops.empty(one, device=device).shape == (2,) and dmlops.empty(two, device=device).shape == (2, 2)
    with pytest.raises(TypeError, match=r"shape\[0\] must be an int, not DeviceArray"):
        dmlops.empty(two[None], device=device)


@pytest.mark.parametrize("operator, others", [
    ("tile", {"repeats": [1, 1, 2, 1]}), ("slice", {"offsets": [0, 0, 0, 1], "sizes": [1, 4, 2, 2]}),
    ("split", {"axis": 3, "output_axis_sizes": [1, 2]}), ("transpose", {"axes": [0, 2, 3, 1]}),
    ("upsample", {"scale_size": [2, 1]}), ("depth_to_space", {"block_size": 2}),
    ("padding", {"start_padding": [0, 0, 1, 0], "end_padding": [0, 1, 0, 2]}),
])  # fmt: skip
@pytest.mark.parametrize("resident", [False, True])
def test_device_arrays_of_ints_in_a_fused_function(device, operator, others, resident):
    """They say nothing of where the result belongs; the twins take them, too."""
    there = {name: dmlops.asarray(ints, device=device) for name, ints in others.items()}
    traced = dmlops.fuse(lambda x: getattr(dmlops, operator)(x, **there))
    expected = parts(getattr(dmlops, operator)(X, **others, device="host"))
    x = dmlops.asarray(X, device=device) if resident else X
    for found in (traced(x, **({} if resident else {"device": device})), traced.reference(x)):
        for one, other in zip(parts(found), expected, strict=True):
            assert np.array_equal(np.asarray(one.numpy() if isinstance(one, dmlops.DeviceArray) else one), other)


def test_none_means_the_default(device):
    full = dict(offsets=[0, 0, 0, 1], sizes=[1, 4, 2, 2])
    result = dmlops.slice(X, **full, strides=None, output_sizes=None, out=None, device=device)
    assert np.array_equal(result, X[..., 1:])
    assert np.array_equal(dmlops.reverse_subsequences(X, ONES, 3, batch_axis=None, device=device), X)
    assert np.array_equal(dmlops.transpose(X, None, device=device), X.T)
    assert np.array_equal(dmlops.slice_grad(X, X.shape, [0] * 4, X.shape, None, device=device), X)


@pytest.mark.parametrize("empty", [(0, 4, 2, 2), (1, 0, 2, 2), (1, 4, 0, 2), (1, 4, 2, 0)])
def test_axes_of_size_zero_are_fine(empty, device):
    x = np.zeros(empty, np.float32)
    n, c, h, w = empty
    assert dmlops.depth_to_space(x, 2, device=device).shape == (n, c // 4, 2 * h, 2 * w)
    assert dmlops.space_to_depth(x, 2, device=device).shape == (n, 4 * c, h // 2, w // 2)
    assert dmlops.reverse_subsequences(x, np.ones((n, c, h, 1), int), 3, device=device).shape == empty
    assert dmlops.slice(x, [0] * 4, list(empty), [-1] * 4, device=device).shape == empty
    assert dmlops.tile(x, [2] * 4, device=device).shape == (2 * n, 2 * c, 2 * h, 2 * w)
    assert dmlops.upsample(x, 3, device=device).shape == (n, c, 3 * h, 3 * w)
    assert dmlops.transpose(x, device=device).shape == empty[::-1]
    assert dmlops.join([x, x], 1, device=device).shape == (n, 2 * c, h, w)
    assert [part.shape for part in dmlops.split(x, 3, [0, w], device=device)] == [(n, c, h, 0), empty]
    for mode in ("constant", "edge", "reflection", "symmetric", "wrap"):
        pads = [0 if size == 0 else 2 for size in empty]
        assert dmlops.padding(x, pads, [0] * 4, mode=mode, device=device).shape == tuple(map(sum, zip(empty, pads)))
    assert (dmlops.padding(x, [1] * 4, [0] * 4, value=5, device=device) == 5).all()
    assert not dmlops.slice_grad(x, [4] * 4, [0] * 4, empty, device=device).any()


def test_the_rules_hold_for_empty_arrays_too(device):
    with pytest.raises(ValueError, match="offsets|sizes"):
        dmlops.slice(np.zeros((0, 3)), [0, 2], [0, 2], device=device)
    with pytest.raises(ValueError, match="sequence_lengths"):
        dmlops.reverse_subsequences(np.zeros((2, 0)), [[-1], [0]], 1, device=device)
    with pytest.raises(ValueError, match="device"):
        dmlops.slice(np.zeros((0, 3)), [0, 0], [0, 3], device="gtx-9999")


@pytest.mark.parametrize("name", VALID)
def test_the_extension_counts_its_arguments(name):
    with pytest.raises(TypeError, match="expected . arguments, got 1"):
        getattr(_core, f"_{name}")(X)


def test_the_host_has_no_kernels_to_count():
    with pytest.raises(ValueError, match="Vulkan"):
        _core._counts("host")


def test_what_makes_no_array_is_named(device):
    for call, name in [
        (lambda: dmlops.asarray([[1], [1, 2]]), "obj"),
        (lambda: dmlops.slice([[1], [1, 2]], [0], [1], device=device), "input"),
        (lambda: dmlops.slice_grad([[1], [1, 2]], [1], [0], [1], device=device), "gradient"),
        (lambda: dmlops.join([X, [[1], [1, 2]]], 0, device=device), r"inputs\[1\]"),
        (lambda: dmlops.reverse_subsequences(X, [[1], [1, 2]], 1, batch_axis=0, device=device), "sequence_lengths"),
    ]:
        with pytest.raises((TypeError, ValueError), match=f"^{name} makes no array: ") as raised:
            call()
        assert type(raised.value.__cause__) is raised.type


def test_errors_of_other_types_than_numpy_s_own_stay(device):
    class Undecodable:
        def __array__(self, dtype=None, copy=None):
            return b"\xff".decode()

    for call in (
        lambda: dmlops.slice(Undecodable(), [0], [1], device=device),
        lambda: dmlops.take(X, Undecodable(), 0, device=device),
        lambda: dmlops.roll(Undecodable(), 1, device=device),
        lambda: dmlops.reverse_subsequences(X, Undecodable(), 1, batch_axis=0, device=device),
    ):
        with pytest.raises(UnicodeDecodeError):
            call()


@pytest.mark.parametrize("operator", VALID)
def test_a_hint_is_given_only_where_it_helps(operator, device):
    """No layout takes blocks of 5."""
    if operator.endswith("depth"):
        with pytest.raises(ValueError) as raised:
            dmlops.space_to_depth(WIDE, 5, device=device)
        assert "layout" not in str(raised.value)
    with pytest.raises(TypeError) as raised:
        getattr(dmlops, operator)(**{**VALID[operator][0], **first(operator, OBJECTS)}, device=device)
    assert "stack" not in str(raised.value)


@pytest.mark.parametrize("place, takes", [((1, 0), True), ((2, 0), False), (None, False)])
def test_what_only_dlpack_can_read(place, takes):
    class Tensor:
        def __array__(self, *args, **kwargs):
            raise TypeError("Got unsupported ScalarType BFloat16")

        def __dlpack_device__(self):
            if place is None:
                raise ValueError("nowhere")
            return place

    for call, name in [(lambda x: dmlops.slice(x, [0], [1]), "input"), (dmlops.asarray, "obj")]:
        with pytest.raises(TypeError, match=f"{name} makes no array: Got unsupported ScalarType BFloat16") as raised:
            call(Tensor())
        assert str(raised.value).endswith("; dmlops.from_dlpack takes it") == takes
        assert type(raised.value.__cause__) is TypeError


def test_asarray_of_images_in_a_column(device):
    with pytest.raises(TypeError, match="obj is an array of arrays; np.stack"):
        dmlops.asarray(IMAGES, device=device)
    with pytest.raises(TypeError, match="obj is a path; a file is read first"):
        dmlops.asarray(Path(), device=device)


RAGGED, LISTS = np.empty(2, object), np.empty(2, object)
RAGGED[:] = [np.ones(2), np.ones(3)]
LISTS[:] = [[1], [2, 3]]


@pytest.mark.parametrize("obj, words", [
    ({1: 2}, "must be an array, not dict; pass one of its values"), (frozenset("a"), "not frozenset; sorted(obj)"),
    ({1: 2}.values(), "not dict_values; list(obj)"), (map(abs, [1]), "not map; list(obj)"),
    (iter([1]), "not list_iterator; list(obj)"),
    (object(), "must be an array, not object"), (int, "must be an array, not type"),
    (np.array([1, 2], object), "numpy.asarray(obj, dtype='int64') converts them"),
    (np.array([True, False], object), "dtype='bool'"), (np.array([1, 2.5, None], object), "dtype='float64'"),
    ([decimal.Decimal(1)], "dtype='float64'"), ([2**70, 1], "dtype='float64'"), (2**70, "dtype='float64'"),
    (np.array([1, 2j], object), "dtype='complex128'"), (np.array(["a", "bc"], object), "dtype='str'"),
    (np.array([b"a"], object), "dtype='bytes'"), ([datetime.date(2020, 1, 2), None], "dtype='datetime64[us]'"),
    ([datetime.timedelta(3)], "dtype='timedelta64[us]'"),
    (np.array(["a", None], object), "dtype object are not; the first is of type str"),
    ([{1}, {2}], "the first is of type set"), (LISTS, "an array of lists; pad them to one shape first"),
    (RAGGED, "an array of arrays; pad them to one shape first, then np.stack"),
    ([[1], [2, 3]], "; pad them to one shape first"),
    ([np.ones(2), np.ones(3)], "; pad them to one shape first"), ([[1, 2], 3], "; pad them to one shape first"),
    (NESTED_OBJECTS, "leave out or convert 'b'"),
], ids=lambda value: None if isinstance(value, str) else re.sub(" at 0x[0-9a-f]+", "", repr(value))[:30])  # fmt: skip
def test_what_is_no_array_of_plain_bytes_says_what_would_do(device, obj, words):
    with pytest.raises((TypeError, ValueError), match=f"^obj .*{re.escape(words)}"):
        dmlops.asarray(obj, device=device)
    if "converts" in words or "dtype='" in words:
        converted = np.asarray(obj, words.split("dtype='")[1].split("'")[0])
        assert dmlops.asarray(converted, device=device).shape == converted.shape


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="this NumPy has no StringDType")
def test_strings_of_any_length_are_converted_by_asarray(device):
    strings = np.array(["a", "bc"], np.dtypes.StringDType())
    with pytest.raises(TypeError, match=r"StringDType.*: numpy.asarray\(obj, dtype='U2'\) converts them"):
        dmlops.asarray(strings, device=device)
    assert dmlops.asarray(np.asarray(strings, "U2"), device=device).tolist() == ["a", "bc"]


def test_sparse_arrays(device):
    class Matrix:  # of SciPy
        def toarray(self):
            return np.ones(2)

    class Tensor:  # of PyTorch
        def __array__(self, *args, **kwargs):
            raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")

        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **kwargs):
            raise BufferError("no strided tensor")

    with pytest.raises(TypeError, match=r"^obj must be an array, not Matrix; obj.toarray\(\) makes one$"):
        dmlops.asarray(Matrix(), device=device)
    with pytest.raises(TypeError, match=r"^obj makes no array: can't .* Use Tensor.to_dense\(\) first$"):
        dmlops.asarray(Tensor(), device=device)


def test_a_dtype_of_objects_is_named(device):
    message = "^dtype must have elements that are plain bytes; those of dtype object are not$"
    with pytest.raises(TypeError, match=message):
        dmlops.asarray([1], dtype=object, device=device)
    with pytest.raises(TypeError, match=message):
        dmlops.empty(1, object, device=device)


def test_copy_that_has_no_truth_value(device):
    with pytest.raises(ValueError, match="truth value"):
        dmlops.asarray([1, 2], device=device, copy=np.ones(2))


def test_the_family():
    assert issubclass(dmlops.VulkanError, RuntimeError)
    for child in (dmlops.OutOfDeviceMemoryError, dmlops.DeviceLostError, dmlops.NoDeviceError):
        assert issubclass(child, dmlops.VulkanError)
    assert issubclass(dmlops.OutOfDeviceMemoryError, MemoryError)
    assert not issubclass(dmlops.DeviceLostError, MemoryError)


# --- indices ----------------------------------------------------------------------------------------------------------

X34 = np.arange(12).reshape(3, 4)
WRONG_INDICES = [
    ("take", (X34, [0, 3], 0), IndexError, r"indices\[1\] is 3; an index must be in \[-3, 3\)"),
    ("take", (X34, 3, 0), IndexError, r"indices is 3; an index must be in \[-3, 3\)"),
    ("take", (X34, [[0], [-5]], 1), IndexError, r"indices\[1, 0\] is -5"),
    ("take", (X34, np.uint64([2**63]), 1), IndexError, r"indices\[0\] is 9223372036854775808"),
    ("take", (X34, [1.0], 0), TypeError, "integer dtype, not float64"),
    ("take", (X34, [True], 0), TypeError, "integer dtype, not bool"),
    ("take", (X34, [[1], [1, 2]], 0), ValueError, "indices makes no array"),
    ("take", (X34, [0], 2), np.exceptions.AxisError, "axis"),
    ("take", (X34, [0], 0.5), TypeError, "axis"),
    ("take", (np.zeros((0, 3)), [0], 0), IndexError, "axis 0 of input has size 0"),
    ("take_along_axis", (X34, [0], 1), ValueError, "input's rank, 2; got rank 1"),
    ("take_along_axis", (X34, [[0], [1]], 1), ValueError, "size 3 or 1 on axis 0, as input has; got 2"),
    ("take_along_axis", (X34, [[4]], 1), IndexError, r"indices\[0, 0\] is 4"),
    ("gather_nd", (X34, 0), ValueError, "must have an axis"),
    ("gather_nd", (X34, [0, 0, 0]), ValueError, "at most 2 entries.*got 3"),
    ("gather_nd", (X34, [[0, 0], [-4, 9]]), IndexError, r"indices\[1, 0\] is -4; an index must be in \[-3, 3\)"),
    ("gather_nd", (X34, [[0, 0], [2, 4]]), IndexError, r"indices\[1, 1\] is 4; an index must be in \[-4, 4\)"),
    ("put_along_axis", (X34, [[0, 4]], 1, 1), IndexError, r"indices\[0, 1\] is 4"),
    ("put_along_axis", (X34, [0], 1, 1), ValueError, "input's rank, 2; got rank 1"),
    ("put_along_axis", (X34, [[0], [0]], 1, 1), ValueError, "size 3 or 1 on axis 0"),
    ("put_along_axis", (X34, [[0]], 1, 2), np.exceptions.AxisError, "axis"),
    ("put_along_axis", (X34, [[0]], [1, 2], 1), ValueError, "broadcast"),
    ("put_along_axis", (X34, [[0]], X34, 1), ValueError, r"values must have shape \(3, 1\) .* got \(3, 4\)"),
    ("scatter_nd", (X34, [[0]], X34), ValueError, r"updates must have shape \(1, 4\) .* got \(3, 4\)"),
    ("scatter_nd", (X34, 0, 1), ValueError, "must have an axis"),
    ("scatter_nd", (X34, [0, 0, 0], 1), ValueError, "at most 2 entries"),
    ("scatter_nd", (X34, [[3]], 1), IndexError, r"indices\[0, 0\] is 3"),
]
if np.lib.NumpyVersion(np.__version__) >= "2.0.0":  # before, arrays have at most 32 axes
    WRONG_INDICES.append(("take", (np.zeros((1,) * 40), np.zeros((1,) * 30, int), 0), ValueError, "rank 69"))


@pytest.mark.parametrize("name, args, error, text", WRONG_INDICES, ids=lambda value: value if isinstance(value, str) else "")
def test_wrong_indices(device, name, args, error, text):
    out = np.full((2, 4), 7)
    with pytest.raises(error, match=text):
        getattr(dmlops, name)(*args, device=device)
    x, indices, *others = args
    array = dmlops.asarray(x, device=device)
    with pytest.raises(error, match=text):
        getattr(dmlops, name)(array, indices, *others)
    with pytest.raises(IndexError):
        dmlops.take(X34, [0, 3], 0, out=out, device=device)
    assert (out == 7).all(), "nothing is written"


@pytest.mark.driverless
@pytest.mark.parametrize("dtype", "bBhHiIqQ")
def test_the_host_finds_a_wrong_index_while_it_gathers(dtype):
    """By each of its loops: items of a common size and of others, one after the other, prefetched, in rows, in threads."""
    calls = [
        (lambda x, i: dmlops.take_along_axis(x, i, 1, device="host"), (3, 90), (3, 700)),
        (lambda x, i: dmlops.take_along_axis(x, i[..., ::2], 0, device="auto"), (90, 70), (600, 140)),
        (lambda x, i: dmlops.take(x, i, 0, device="host"), (90, 5), (1000,)),
        (lambda x, i: dmlops.take(x, i, 0, device="host"), (90, 500), (1500,)),
        (lambda x, i: dmlops.take(x, i, 1, device="host"), (700, 90), (800,)),
        (lambda x, i: dmlops.take(x, i, 1, device="host"), (7, 90), ()),
        (lambda x, i: dmlops.gather_nd(x, i, device="auto"), (90, 90, 3), (500, 2)),
    ]
    for (call, shape, count), item in itertools.product(calls, ("u1", "f4", "V3", "c16")):
        x, good = np.ones(shape, item), np.full(count, 89, dtype)
        assert call(x, good).tobytes() == call(x, np.zeros_like(good)).tobytes()
        for k in {0, good.size // 2 & ~1, (good.size - 1) & ~1}:
            for wrong in (90, 127, -91, -128) if good.dtype.kind == "i" else (90, 127, np.iinfo(dtype).max):
                bad = good.copy()
                bad.flat[k] = wrong
                with pytest.raises(IndexError, match=f"is {wrong}; an index must be in "):
                    call(x, bad)


def test_wrong_batches_of_indices(device):
    for call, text in [
        (lambda x: dmlops.take(x, [[0]], 0, batch_dims=1), r"batch_dims must be in \[0, 0\]; got 1"),
        (lambda x: dmlops.take(x, [[0]], 1, batch_dims=-1), r"batch_dims must be in \[0, 1\]; got -1"),
        (lambda x: dmlops.take(x, [[0]], 1, batch_dims=1), "indices must have size 3 on axis 0, a batch axis"),
        (lambda x: dmlops.take(x, [0], batch_dims=1), "axis must be given"),
        (lambda x: dmlops.gather_nd(x, [[0]] * 2, batch_dims=1), "indices must have size 3 on axis 0, a batch axis"),
        (lambda x: dmlops.gather_nd(x, [[0, 0]] * 3, batch_dims=1), "at most 1 entries.*behind the batch axes; got 2"),
    ]:
        with pytest.raises(ValueError, match=text):
            call(dmlops.asarray(X34, device=device))


def test_indices_and_values_that_lie_elsewhere(device):
    there = dmlops.asarray([[0]], device=device)
    with pytest.raises(TypeError, match="indices must not be a dmlops.DeviceArray unless input is one"):
        dmlops.take(X34, there, 0)
    with pytest.raises(TypeError, match="unless input is one"):
        dmlops.scatter_nd(X34, [[0, 0]], there)
    with pytest.raises(TypeError, match="integer dtypes, not float64"):
        dmlops.take(dmlops.asarray(X34, device=device), dmlops.asarray([1.0], device=device), 0)
    with pytest.raises(IndexError, match="axis 0 of input has size 0"):
        dmlops.take(dmlops.empty((0, 3), int, device=device), there, 0)
