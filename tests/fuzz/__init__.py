"""Bytes become a call with arguments of every kind, sensible and not, for a fuzzer to choose: see `one`."""

import copy
import itertools
import math
import unittest.mock

import dmlops
import numpy as np
from dmlops import reference

DTYPES = ["u1", "i2", "<f4", ">f8", "c16", "S3", "V0", "V5", "M8[s]", "?", "U2", "O", "f2", "i8,u1"]
ALLOWED = (TypeError, ValueError, OverflowError, MemoryError, IndexError)
OPERATORS = ["slice", "reverse_subsequences", "depth_to_space", "space_to_depth"]
OPERATORS += ["padding", "tile", "join", "split", "transpose", "upsample", "slice_grad"]
OPERATORS += ["resize_pillow", "resize_opencv", "resize_torchvision"]
OPERATORS += ["take", "take_along_axis", "gather_nd", "put_along_axis", "scatter_nd"]
MODES = ["constant", "constant", "edge", "reflection", "symmetric", "wrap", "reflect", None]
MOST = 2**22  # bytes of a result that are moved; more are asked for only where no memory holds them
ITERATOR = type(iter([]))
HUGE = [2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**200]


class Mine(ValueError):
    """What the arguments themselves raise."""


class Choices:
    """Numbers from a string of bytes; when it is used up, zeros."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def below(self, limit):
        byte = self.data[self.at] if self.at < len(self.data) else 0
        self.at += 1
        return byte % limit

    def one_of(self, *things):
        return things[self.below(len(things))]


class Hostile:
    """Stands for an int or an array, and does something when it is looked at."""

    resizes = True

    def __init__(self, value, array, deed):
        self.value, self.array, self.deed = value, array, deed

    def act(self):
        if self.deed == 0:
            raise Mine("hostile")
        if self.deed == 1:
            dmlops.slice([1, 2], [0], [2], [-1], device="host")
        if self.deed == 2 and self.array.base is None:
            if not self.resizes:
                raise Mine("would resize")
            self.array.resize(self.array.size // 2, refcheck=False)
        if self.deed == 3 and self.array.dtype != object:
            self.array[...] = self.array.dtype.type() if self.array.dtype.fields is None else 0

    def __index__(self):
        self.act()
        return self.value

    def __array__(self, dtype=None, copy=None):
        self.act()
        return self.array


def array(c, least=0, dtypes=DTYPES):
    """Of up to a few thousand elements in any layout, or of more than there are in the world."""
    shape = tuple(c.one_of(1, 2, 3, 4, 8, 0, 17) for _ in range(max(least, c.below(6))))
    dtype = np.dtype(c.one_of(*dtypes))
    size = int(np.prod(shape)) * dtype.itemsize
    if dtype == object:
        return np.zeros(shape, object)
    data = np.frombuffer((np.arange(size + 16) * 7 % 251).astype(np.uint8).tobytes(), np.uint8)
    x = np.ndarray(shape, dtype, data, c.below(16)).copy() if c.below(4) else np.ndarray(shape, dtype, data, c.below(16))
    how = c.below(8)
    if how == 1:
        x = x.T
    elif how == 2 and x.ndim:
        x = x[::-1]
    elif how == 3 and x.ndim:
        x = x[..., ::2]
    elif how == 4:
        x = np.broadcast_to(x, (3, *shape))
    elif how == 5 and x.ndim == 0 and dtype.itemsize:
        x = np.broadcast_to(x, (2 ** c.one_of(40, 50),))
    return x


def number(c, x):
    """An int near the array's extents, or something else."""
    kind = c.below(16)
    if kind < 8:
        return c.one_of(0, 1, 2, 3, 4, -1, -2, 8)
    if kind < 11 and x.ndim:
        return int(x.shape[c.below(x.ndim)]) - c.below(3)
    return c.one_of(
        c.one_of(*HUGE),
        -c.one_of(*HUGE),
        None,
        1.5,
        "2",
        True,
        np.int8(2),
        np.uint64(2**64 - 1),
        np.array(3),
        [1],
        Hostile(c.below(5), x, c.below(5)),
    )


def numbers(c, x, sensible):
    """A sequence, mostly one for each axis."""
    kind = c.below(16)
    if kind < 10:
        return list(sensible)
    entries = [number(c, x) for _ in range(x.ndim if kind < 14 else c.below(9))]
    return c.one_of(entries, tuple(entries), iter(entries), number(c, x), np.array([1, 2, 3]), range(x.ndim), {1: 2}, b"1")


def lengths(c, x):
    kind = c.below(8)
    shape = list(x.shape)
    if shape:
        shape[c.below(len(shape))] = 1
    if kind < 4 and int(np.prod(shape)) < 10_000:
        return (np.arange(int(np.prod(shape))) % 9).astype(c.one_of("i8", "u1", "u8", "i4")).reshape(shape)
    return c.one_of(
        np.full((1,) * x.ndim, c.one_of(2**64 - 1, 2**63, 5), np.uint64),
        np.full((1,) * x.ndim, -3),
        array(c) if c.below(2) else [1, 2, 3],
        [[c.one_of(*HUGE)]],
        Hostile(2, np.ones((1,) * x.ndim, int), c.below(5)),
        list(range(x.shape[0])) if x.ndim and x.shape[0] < 1000 else 3,
    )


def indexing(c, x, name):
    """Arguments of what reads or writes at indices."""
    axis = c.below(x.ndim) if x.ndim and c.below(4) else number(c, x)
    size = x.shape[axis] if type(axis) is int and -x.ndim <= axis < x.ndim else 3
    shape = [min(n, 64) for n in x.shape]
    if name.endswith("nd"):
        shape, size = [c.one_of(1, 2, 0, 5), c.below(x.ndim + 1)], min(x.shape, default=1)
    elif name == "take":
        shape = [c.one_of(1, 2, 0, 5)] * c.below(3)
    elif x.ndim and type(axis) is int and -x.ndim <= axis < x.ndim:
        shape[axis] = c.one_of(1, 2, 0, 5)
    low, high = (-size, max(size, 1)) if c.below(4) else (-size - 1, size + 1)
    indices = (np.arange(math.prod(shape)) * 7 % (high - low) + low).reshape(shape).astype(c.one_of("i8", "i4", "u1", "i2"))
    indices = c.one_of(indices, indices, indices.tolist(), number(c, x), Hostile(0, indices.astype("i8"), c.below(5)))
    values = c.one_of(0, x[:1] if x.ndim else x, array(c), "1", None, Hostile(1, np.ones(1), c.below(5)))
    args = [indices, values] if name in ("put_along_axis", "scatter_nd") else [indices]
    if name.endswith("nd"):
        return args, {"batch_dims": number(c, x)} if name == "gather_nd" and c.below(3) == 0 else {}
    return [*args, axis], {"batch_dims": c.below(3)} if name == "take" and c.below(3) == 0 else {}


def resizing(c, x, name):
    """Arguments of what resizes. Sizes are small ones, or beyond what is taken."""
    size = numbers(c, x, [1 + c.below(20), 1 + c.below(20)])
    kwargs = {"axes": c.one_of((0, 1), (-1, 0), numbers(c, x, [0, 1]))}
    if name == "resize_pillow":
        way = c.one_of("bicubic", "box", "hamming", "lanczos", "nearest", "area", c.below(9))
        box = c.one_of((0, 0, 1, 1), (0.5, 0, 2, 1.75), (1, 1, 3, 3), numbers(c, x, [0, 0, 2, 2]))
        kwargs |= {"box": box, "reducing_gap": c.one_of(1.0, 2.5, number(c, x)), "alpha": c.one_of(True, False, False, 1)}
        kwargs |= {"version": c.one_of("13.0", "12.3", "9", 13)}
    elif name == "resize_opencv":
        way = c.one_of("linear", "area", "cubic", "lanczos4", "linear-exact", "nearest", "nearest-exact", "box", c.below(9))
        fx, fy = (c.one_of(0.5, 2, 1 / 3, 1.3, 0.1, 1e12, math.nan, "1", Hostile(2, x, c.below(5))) for _ in "xy")
        size = c.one_of(size, size, None)
        kwargs |= {"fx": fx, "fy": fy, "version": c.one_of("5.0", "4.8", "3.4", "x")}
    else:
        way = c.one_of("bilinear", "bicubic", "lanczos", "nearest", "nearest-exact", "box")
        size = c.one_of(size, size, number(c, x))
        kwargs |= {"antialias": c.one_of(True, True, False, None)}
    kwargs = {key: value for key, value in kwargs.items() if c.below(2)}
    return [size, way], kwargs if name != "resize_opencv" else kwargs | {"ipp": c.one_of(False, False, False, True)}


def joined(c, x):
    """What may be given as `inputs`."""
    kind = c.below(8)
    if kind < 4:
        return c.one_of([x], [x, x], (x, x[:1] if x.ndim else x), [x, x.copy() if x.size < 5000 else x, x])
    return c.one_of(
        [], x, iter([x, x]), [x, array(c)], [Hostile(0, x, c.below(5)), x], 5, [x, x.tolist() if x.size < 5000 else x], None
    )


def volume(x, name, args):
    """As many elements as the result has, an axis of 0 counted as one of 1, and what is no plain int as 17."""

    def entries(argument):
        argument = list(copy.copy(argument)) if isinstance(argument, ITERATOR) else argument
        listed = isinstance(argument, (list, tuple, range)) or isinstance(argument, np.ndarray) and argument.ndim
        plain = argument if listed else [argument] * (x.ndim - 2 if name == "upsample" else x.ndim)
        return [max(0, number) if type(number) is int else 17 for number in plain]

    if name == "padding":
        sizes = [sum(axis) for axis in itertools.zip_longest(x.shape, *map(entries, args[:2]), fillvalue=0)]
    else:
        sizes = [*(x.shape if name != "slice_grad" else ()), *entries(args[0])]
    return math.prod(max(1, size) for size in sizes)


def growing(c, x, name):
    """Arguments of the operators whose results may be larger than their input."""
    few = [c.below(3) for _ in range(x.ndim)]
    if name == "padding":
        sensible = [few, few[::-1]]
        args = [numbers(c, x, entries) for entries in sensible]
        value = c.one_of(
            0, 1.5, -1, 300, "a", b"ab", None, True, np.float32(2), np.array(3), [1], 2**70, 1j, Hostile(1, x, c.below(5))
        )
        kwargs = {"mode": c.one_of(*MODES), "value": value}
    elif name == "slice_grad":
        begins, step = [min(n, 1) for n in few], c.one_of(1, 2, -1, -3)
        spans = [(min(n, 4096) - 1) * abs(step) + 1 if n else 0 for n in x.shape]
        sensible = [[a + b for a, b in zip(spans, few)], [min(a, b) for a, b in zip(begins, few)], spans]
        args = [numbers(c, x, entries) for entries in sensible] + c.one_of([], [[step] * x.ndim], [numbers(c, x, few)])
        kwargs = {}
    elif name == "tile":
        sensible = [few]
        args, kwargs = [numbers(c, x, few)], {}
    else:
        sensible = [2]
        args = [c.one_of(2, 1, (2, 3), (2,), (1, 2, 1), number(c, x), numbers(c, x, [2] * x.ndim))]
        kwargs = {"layout": c.one_of("NCHW", "NHWC", "", 3)}
    kwargs = {key: value for key, value in kwargs.items() if c.below(3)}
    if MOST < volume(x, name, args) * max(1, x.dtype.itemsize) < 2**60:
        args = sensible
    return args, kwargs


def arguments(c):
    """An operator's name, its input and a function of a device that makes its other arguments anew."""
    x = array(c)
    name = c.one_of(*OPERATORS)
    kwargs = {}
    if name == "slice":
        offset, step = c.below(2), c.one_of(1, -1, 2, -3)
        sizes = [max(0, min(n, 4096) - offset) for n in x.shape]
        args = [
            numbers(c, x, [min(offset, n) for n in x.shape]),
            numbers(c, x, sizes),
            c.one_of(None, numbers(c, x, [step] * x.ndim)),
        ]
        kwargs = c.one_of({}, {}, {"output_sizes": numbers(c, x, [1] * x.ndim)})
    elif name == "reverse_subsequences":
        args = [lengths(c, x), number(c, x)]
        kwargs = c.one_of({}, {}, {"batch_axis": number(c, x)})
    elif name in ("depth_to_space", "space_to_depth"):
        args = [c.one_of(2, 1, (2, 2), (2,), (1, 2, 1), number(c, x), numbers(c, x, [2] * x.ndim))]
        kwargs = {"order": c.one_of("DCR", "CRD", "crd", None), "layout": c.one_of("NCHW", "NHWC", "", 3)}
        kwargs = {key: value for key, value in kwargs.items() if c.below(3)}
    elif name == "join":
        return name, x, joined(c, x), [number(c, x)], {}
    elif name == "split":
        axis = number(c, x)
        size = x.shape[axis] if type(axis) is int and -x.ndim <= axis < x.ndim else 4
        args = [axis, numbers(c, x, [min(1, size), size - min(1, size)])]
    elif name.startswith("resize"):
        x = array(c, c.one_of(2, 3, 3, 0), ["u1", "u1", "u1", c.one_of(*DTYPES)])
        args, kwargs = resizing(c, x, name)
    elif name in OPERATORS[-5:]:
        args, kwargs = indexing(c, x, name)
    elif name == "transpose":
        turn = c.below(4)
        axes = [*range(x.ndim)][turn:] + [*range(x.ndim)][:turn]
        args = c.one_of([], [None], [numbers(c, x, axes)], [numbers(c, x, [axis - x.ndim for axis in axes[::-1]])])
    else:
        args, kwargs = growing(c, x, name)
    given = c.one_of(x, x, x, x, x, Hostile(0, x, c.below(5)), x.tolist() if x.size < 5000 else x)
    return name, x, given, args, kwargs


def described(result):
    """The dtype, the shape and the bytes of each array of a result."""
    return tuple((part.dtype.str, part.shape, part.tobytes()) for part in (result if isinstance(result, list) else [result]))


def truths(results):
    """The same, with bytes that are no bool as NumPy's scalars have them."""
    return [(kind, shape, bytes(map(bool, data)) if kind == "|b1" else data) for kind, shape, data in results]


def attempt(data, device):
    """What a call made of the bytes returns, or the type of what it raises; the rest of `data` decides about out."""
    c = Choices(data)
    name, x, given, args, kwargs = arguments(c)
    out, before = None, None
    if c.below(3) == 0:
        out = c.one_of(x, x.copy() if x.size < 5000 else x, array(c), 5)
        before = out.tobytes() if isinstance(out, np.ndarray) and out.size < 100_000 and out is not x else None
    outs = out
    if name == "split" and out is not None and c.below(4):
        outs = [out] if not isinstance(out, np.ndarray) or not out.ndim or c.below(2) else [out[:1], out[1:]]
    try:
        result = getattr(dmlops, name)(given, *args, **kwargs, out=outs, device=device)
    except ALLOWED as error:
        hostile = data and any(
            isinstance(a, Hostile) for a in (given, *args, *kwargs.values(), *(given if isinstance(given, list) else ()))
        )
        assert before is None or hostile or out.tobytes() == before, f"{name} changed out and raised {error!r}"
        return type(error).__name__
    except RuntimeError as error:
        assert "NumPy ISO datetime" in str(error)  # NumPy's own, where updates are times and the array has short strings
        return type(error).__name__
    assert isinstance(result, list if name == "split" else np.ndarray)
    pairs = zip(result if isinstance(outs, list) else [result], outs if isinstance(outs, list) else [outs], strict=True)
    assert out is None or all(part is target for part, target in pairs)
    return described(result)


def expected(data):
    """What the reference makes of the same bytes; None where it knows no better than to raise."""
    name, x, given, args, kwargs = arguments(Choices(data))
    if name in OPERATORS[-2:] and any(isinstance(one, Hostile) for one in (given, *args)):
        return None  # the twin copies its input before it looks at the others, the operator afterwards
    try:
        # NumPy's own views of an array look on at the memory that it had before it was resized.
        with unittest.mock.patch.object(Hostile, "resizes", False):
            return described(getattr(reference, name)(given, *args, **kwargs))
    except Exception:
        return None


def one(data):
    """Host and device do the same, and what they do is right."""
    on_host = attempt(data, "host")
    on_device = attempt(data, None)
    assert on_host == on_device, (on_host, on_device)
    right = expected(data) if isinstance(on_host, tuple) else None
    assert right is None or truths(on_host) == truths(right), (on_host, right)
