"""Every array NumPy can hold, and every way to call an operator on one, as Hypothesis strategies.

What is drawn is a description (plain data with a readable repr), not an array: filled with random bytes, an array of
strings or dates could not even be printed when an example fails. `build()` makes the array.
"""

import builtins
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from dmlops.operators.nearest import COORDINATES, ROUNDINGS
from hypothesis import settings
from hypothesis import strategies as st

try:
    import ml_dtypes
except ImportError:  # where the suite runs against an old NumPy
    ml_dtypes = None

MAX_RANK = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32

PLAIN = "? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8 c16 g G m8[ns] M8[D] S1 S3 S16 U1 U5 V7 V1 V2 V12 V32 V100".split()
DTYPES = [np.dtype(code) for code in PLAIN]
DTYPES += [np.dtype(code).newbyteorder(">") for code in ("i2", "u4", "i8", "f2", "f4", "f8", "c16", "M8[us]", "U2")]
DTYPES += [
    np.dtype([("r", "u1"), ("g", "u1"), ("b", "u1")]),
    np.dtype([("x", "<f4"), ("y", "<f4"), ("z", ">f4")]),
    np.dtype([("a", "u1"), ("b", "f8")], align=True),  # 16 bytes, seven of which are nobody's
    np.dtype([("t", "i4", (2, 3)), ("name", "S3")]),
    np.dtype("V0"),
    np.dtype([]),
]
if ml_dtypes is not None:
    DTYPES += [np.dtype(name) for name in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)]

# Sizes on both sides of every word's and work group's border.
BORDERS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 127, 128, 129, 200, 255, 256, 257, 300]
STARTS = [0, 0, 16, 1, 2, 3, 4, 6, 7, 8, 12, 15]
BUDGET = 6000  # elements, at most, in one array

# For what takes long to run, for the calls that test_conformance.py draws, in other memory or on lesser devices, and for what
# has parameters besides: 50, 18 and 8 examples where the profile has 150.
FEWER = settings(max_examples=max(settings.default.max_examples // 3, 10))
AGAIN = settings(max_examples=max(settings.default.max_examples // 8, 10))
FEWEST = settings(max_examples=max(settings.default.max_examples // 18, 5))

dtypes = st.sampled_from(DTYPES)
# Half of the arrays have the item sizes that have kernels of their own.
common_dtypes = st.sampled_from([np.dtype(code) for code in ("u1", "f2", "f4", "f8")]) | dtypes
seeds = st.integers(0, 2**32 - 1)


@dataclass(frozen=True)
class ArraySpec:
    """An array somewhere inside a larger buffer of random bytes."""

    dtype: np.dtype
    shape: tuple
    strides: tuple  # bytes
    offset: int  # of the first element, in bytes from the buffer's start
    nbytes: int  # of the buffer
    seed: int = 0
    writeable: bool = True

    def parent(self):
        return np.random.default_rng(self.seed).integers(0, 256, self.nbytes, np.uint8)

    def view(self, parent, shift=0):
        """The array's place in `parent`, or in one that begins `shift` bytes later."""
        array = np.ndarray(self.shape, self.dtype, parent, self.offset + shift, self.strides)
        array.flags.writeable = self.writeable
        return array

    def build(self):
        return self.view(self.parent())


def raw(array):
    """The same memory as elements without meaning: NumPy copies those whole, holes between fields included."""
    return array.view(np.dtype(f"V{array.dtype.itemsize}"))


def content(array):
    """Every byte of every element, in C order; of a list of arrays, as a list."""
    if isinstance(array, list):
        return [content(part) for part in array]
    return np.ascontiguousarray(raw(array)).tobytes()  # NumPy 2.0 and 2.1 flatten no more than 32 dimensions otherwise


def parts(result):
    """The arrays of a result: most operators have one, `split` has a list."""
    return result if isinstance(result, list) else [result]


@st.composite
def layouts(draw, shape, itemsize, distinct=False):
    """(strides, offset, nbytes) for an array; with `distinct` no two elements share a byte."""
    rank = len(shape)
    kind = draw(st.sampled_from(["C", "C", "F", "any", "any"]))
    start = draw(st.sampled_from(STARTS))
    if kind == "any":
        order = draw(st.permutations(range(rank))) if rank <= 8 else range(rank)
        steps = ["dense", "dense", "gap", "skip"] + ([] if distinct else ["broadcast", "window"])
    else:
        order = range(rank) if kind == "F" else reversed(range(rank))
        steps = ["dense"]
    strides = [0] * rank
    span, first = itemsize, start
    for axis in order:
        step = draw(st.sampled_from(steps)) if len(steps) > 1 and shape[axis] > 1 else "dense"
        stride = span
        if step == "gap":
            stride = span + draw(st.integers(1, 20))
        elif step == "skip":
            stride = span * draw(st.integers(2, 3))
        elif step == "broadcast":
            stride = 0
        elif step == "window":
            stride = itemsize
        reach = stride * (max(shape[axis], 1) - 1)
        if kind == "any" and draw(st.booleans()):
            stride, first = -stride, first + reach
        strides[axis] = stride
        span = max(span, itemsize) + reach
    return tuple(strides), first, start + span + draw(st.sampled_from([0, 0, 1, 5, 40]))


@st.composite
def specs(draw, shape, dtype=None, distinct=False):
    """An array of a given shape, of any dtype and layout. With `distinct` it can serve as `out`."""
    dtype = draw(common_dtypes) if dtype is None else dtype
    strides, offset, nbytes = draw(layouts(shape, dtype.itemsize, distinct))
    writeable = distinct or draw(st.booleans())
    return ArraySpec(dtype, tuple(shape), strides, offset, nbytes, draw(seeds), writeable)


def _sizes(budget):
    """A size of an axis that leaves room for at least one element on every other."""
    borders = [size for size in BORDERS if size <= budget]
    return st.integers(1, min(12, budget)) | st.sampled_from(borders)


@st.composite
def shapes(draw, min_rank=0, max_rank=MAX_RANK):
    kind = draw(st.sampled_from(["rows", "rows", "rows", "small", "high"]))
    top = {"rows": 4, "small": 7, "high": MAX_RANK}[kind]
    rank = draw(st.integers(min_rank, max(min_rank, min(top, max_rank))))
    shape, budget = [1] * rank, BUDGET
    if kind == "high":
        for axis in draw(st.lists(st.integers(0, max(rank - 1, 0)), max_size=8)) if rank else []:
            shape[axis] = 2
    elif kind == "small":
        shape = [draw(st.integers(0 if draw(st.integers(0, 9)) == 0 else 1, 3)) for _ in range(rank)]
    else:
        for axis in draw(st.permutations(range(rank))):
            shape[axis] = draw(_sizes(budget))
            budget //= shape[axis]
    return tuple(shape)


@dataclass(frozen=True)
class Call:
    """One call of an operator: its name, its first argument, and all the others."""

    operator: str
    input: ArraySpec
    args: tuple
    kwargs: dict = field(default_factory=dict)
    others: tuple | None = None  # the first argument is a list of arrays: `input`, then these

    @property
    def specs(self):
        """Of all arrays of the first argument."""
        return [self.input, *(self.others or ())]

    def build(self):
        """The first argument."""
        arrays = [spec.build() for spec in self.specs]
        return arrays[0] if self.others is None else arrays

    def arguments(self):
        """The arguments as Python objects; a description among them becomes the array it describes."""
        return tuple(arg.build() if isinstance(arg, (ArraySpec, LengthsSpec, IndicesSpec)) else arg for arg in self.args)

    def expected(self, module, array=None):
        """What `module`'s twin of the operator makes of the bytes of `array` (the first argument, if not given)."""
        arrays, kwargs, dtype = parts(self.build() if array is None else array), dict(self.kwargs), self.input.dtype
        if self.operator == "padding":
            kwargs["value"] = stored(kwargs.get("value", 0), dtype)
        first = arrays if self.operator in RESIZES and dtype == np.uint8 else [raw(each) for each in arrays]  # which computes
        arguments = [raw(made) if isinstance(arg, ArraySpec) else made for arg, made in zip(self.args, self.arguments())]
        result = getattr(module, self.operator)(first[0] if self.others is None else first, *arguments, **kwargs)
        results = [np.ascontiguousarray(part).view(dtype).reshape(part.shape) for part in parts(result)]
        return results if isinstance(result, list) else results[0]

    def run(self, module, array=None, **more):
        array = self.build() if array is None else array
        return getattr(module, self.operator)(array, *self.arguments(), **self.kwargs, **more)


def stored(value, dtype):
    """The bytes of an element in what ``numpy.full`` makes, as an element without meaning."""
    item = np.zeros((), dtype)
    np.copyto(item, value, casting="unsafe")
    if np.issubdtype(dtype, np.longdouble) or np.issubdtype(dtype, np.clongdouble):  # whose other bytes mean nothing
        whole = item.reshape(1).view(np.uint8).reshape(-1, np.dtype(np.longdouble).itemsize)
        meant = 10 if np.finfo(np.longdouble).nmant == 63 else whole.shape[1]
        (whole if dtype.isnative else whole[:, ::-1])[:, meant:] = 0
    return raw(item)[()]


@st.composite
def windows(draw, shape):
    """(offsets, sizes, strides, counts): what `slice` may be asked for, the counts as its `output_sizes`."""
    axes = []
    for dim in shape:
        offset = draw(st.integers(0, min(dim, 20)))
        size = dim - offset - draw(st.integers(0, min(dim - offset, 9)))
        if len(shape) > 8 and draw(st.integers(0, 9)):
            stride = 1
        else:
            stride = draw(st.sampled_from([1, 1, 2, 3, -1, -1, -2, -3, 4, 7, -16, 2**40, -(2**63), 2**63 - 1]))
        reachable = 0 if size == 0 else 1 + (size - 1) // abs(stride)
        axes.append((offset, size, stride, reachable - draw(st.integers(0, min(3, max(reachable - 1, 0))))))
    return [list(column) for column in zip(*axes)] if axes else [[], [], [], []]


@st.composite
def slices(draw, max_rank=MAX_RANK):
    spec = draw(specs(draw(shapes(max_rank=max_rank))))
    offsets, sizes, strides, counts = draw(windows(spec.shape))
    form = draw(st.sampled_from(["strides", "strides", "counts", "none"]))
    if form == "none":
        return Call("slice", spec, (offsets, sizes))
    container = draw(st.sampled_from([list, tuple]))
    kwargs = {"output_sizes": container(counts)} if form == "counts" else {}
    return Call("slice", spec, (container(offsets), container(sizes), container(strides)), kwargs)


@st.composite
def blocks(draw, to_space, max_rank=MAX_RANK):
    """A call of depth_to_space or space_to_depth, made from the sizes that both sides share."""
    single = draw(st.integers(0, 2)) == 0
    spatial = draw(st.integers(2, 4) if single else st.sampled_from([1, 2, 2, 2, 3, 4]))
    if not single and draw(st.integers(0, 19)) == 0:
        spatial = draw(st.integers(5, max_rank - 1)) if max_rank > 6 else spatial
    batch = 1 if single else draw(st.integers(0, min(2, max_rank - 1 - spatial)))
    if not single and draw(st.integers(0, 19)) == 0:
        batch = max_rank - 1 - spatial
    budget = BUDGET
    blocks_ = []
    for _ in range(1 if single else spatial):
        most = max(1, min(4, int(budget ** (1 / (spatial if single else 1)) / 2)))
        block = draw(st.sampled_from([1, 2, 2, 2, 3, 3, 4])) if spatial <= 4 else draw(st.integers(1, 2))
        block = min(block, most)
        budget //= block ** (spatial if single else 1)
        blocks_.append(block)
    every = blocks_ * spatial if single else blocks_
    inner = []
    for _ in range(spatial):  # the last spatial axis first: long rows are where the kernels differ
        size = draw(_sizes(max(1, budget // 2)))
        budget = max(1, budget // size)
        inner.insert(0, size)
    channels = draw(st.integers(1, min(5, budget)))
    outer = [draw(st.integers(1, 2)) if budget >= 8 and batch <= 3 else 1 for _ in range(batch)]
    if draw(st.integers(0, 19)) == 0 and outer:
        outer[draw(st.integers(0, batch - 1))] = 0

    product = int(np.prod(every))
    if to_space:
        channels *= product
    else:
        inner = [size * block for size, block in zip(inner, every)]
    layout = draw(st.sampled_from(["NCHW", "NHWC"]))
    shape = outer + ([channels] + inner if layout == "NCHW" else inner + [channels])
    kwargs = {"layout": layout, "order": draw(st.sampled_from(["DCR", "CRD"]))}
    kwargs = {name: value for name, value in kwargs.items() if draw(st.booleans()) or value in ("NHWC", "CRD")}
    name = "depth_to_space" if to_space else "space_to_depth"
    return Call(name, draw(specs(tuple(shape))), (blocks_[0] if single else blocks_,), kwargs)


@st.composite
def basic_keys(draw, shape):
    """What may stand in the brackets behind an array of this shape, and makes a view: ints, slices, `...` and None."""
    used = draw(st.integers(0, len(shape)))
    # Behind an ellipsis the entries are for the last axes.
    front = draw(st.integers(0, used))
    key = []
    for extent in [*shape[:front], *shape[len(shape) - used + front :]]:
        ends = st.none() | st.integers(-extent - 2, extent + 2)
        step = draw(st.sampled_from([None, 1, 1, 2, 3, -1, -1, -2, 7, 2**40]))
        as_int = extent > 0 and draw(st.integers(0, 3)) == 0
        key.append(draw(st.integers(-extent, extent - 1)) if as_int else builtins.slice(draw(ends), draw(ends), step))
    if used < len(shape) and front < used or draw(st.booleans()):
        key.insert(front, ...)
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        if len(shape) + key.count(None) < 8:
            key.insert(draw(st.integers(0, len(key))), None)
    return key[0] if len(key) == 1 and draw(st.booleans()) else tuple(key)


@dataclass(frozen=True)
class ViewSpec:
    """How an array is made part of a larger one, from which basic indexing and a transposition get it back."""

    order: tuple  # axis k of the large one is axis order[k]
    front: tuple  # elements on each of its axes that come before,
    back: tuple  # after,
    steps: tuple  # and between

    def embed(self, array):
        """The large array, and the function that finds `array` in it."""
        moved = raw(array).transpose(self.order)
        spans = [max(n - 1, 0) * abs(step) + (n > 0) for n, step in zip(moved.shape, self.steps)]
        large = np.zeros([f + span + b for f, span, b in zip(self.front, spans, self.back)], moved.dtype)
        key = tuple(
            builtins.slice(f, f + span, step) if step > 0 else builtins.slice(f + span - 1, f - 1 if f else None, step)
            for f, span, step in zip(self.front, spans, self.steps)
        )
        if array.size:
            large[(..., *key)] = moved

        def find(large):
            if not array.size:
                key_ = tuple(builtins.slice(0, n) for n in moved.shape)
                return large[(..., *key_)].transpose(*np.argsort(self.order))
            return large[(..., *key)].transpose(*np.argsort(self.order))

        return large.view(array.dtype).reshape(large.shape), find


@st.composite
def view_specs(draw, rank):
    small = rank <= 8
    order = draw(st.permutations(range(rank))) if small and draw(st.booleans()) else range(rank)

    def each(values, otherwise):
        return tuple(draw(st.sampled_from(values)) if small else otherwise for _ in range(rank))

    return ViewSpec(tuple(order), each([0, 0, 1, 2], 0), each([0, 0, 1], 0), each([1, 1, 1, 2, -1, -2], 1))


LENGTH_DTYPES = [np.dtype(code) for code in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8")]


@dataclass(frozen=True)
class LengthsSpec:
    """Sequence lengths: an array of any integers, or nested lists of ints of any magnitude."""

    shape: tuple
    size: int  # of the axis that is reversed
    spec: ArraySpec | None  # None: nested lists
    seed: int
    repeated: bool = False  # along the first axis, by a stride of zero

    def build(self):
        rng = np.random.default_rng(self.seed)
        values = rng.integers(0, self.size + 2, self.shape, dtype=np.int64, endpoint=True)
        values = np.where(rng.integers(0, 5, self.shape) == 0, self.size, values)
        most = 2**80 if self.spec is None else int(np.iinfo(self.spec.dtype).max)
        values = np.minimum(values.astype(object), most)
        values = np.where(rng.integers(0, 20, self.shape) == 0, most, values)
        if self.spec is None:
            return values.tolist()
        array = self.spec.view(np.zeros(self.spec.nbytes, np.uint8))
        array.flags.writeable = True
        array[...] = values
        array.flags.writeable = self.spec.writeable
        return np.broadcast_to(array[:1], self.shape) if self.repeated else array


@st.composite
def reversals(draw, max_rank=MAX_RANK):
    spec = draw(specs(draw(shapes(min_rank=1, max_rank=max_rank))))
    rank = len(spec.shape)
    axis = draw(st.integers(0, rank - 1)) if draw(st.booleans()) else rank - 1
    kwargs = {}
    if rank > 1 and draw(st.booleans()):
        batch_axis = draw(st.integers(0, rank - 2))
        batch_axis += batch_axis >= axis
        shape = (spec.shape[batch_axis],)
        kwargs["batch_axis"] = batch_axis - rank if draw(st.booleans()) else batch_axis
    else:
        shape = [1 if i == axis or draw(st.integers(0, 3)) == 0 else size for i, size in enumerate(spec.shape)]
    # Nested lists cannot say the shape of what lies beyond an axis of size zero.
    as_list = 0 not in shape and len(shape) <= 32 and draw(st.integers(0, 3)) == 0
    lengths = None if as_list else draw(specs(tuple(shape), draw(st.sampled_from(LENGTH_DTYPES)), distinct=True))
    repeated = lengths is not None and shape[0] > 1 and draw(st.integers(0, 4)) == 0
    described = LengthsSpec(tuple(shape), spec.shape[axis], lengths, draw(seeds), repeated)
    return Call("reverse_subsequences", spec, (described, axis - rank if draw(st.booleans()) else axis), kwargs)


@dataclass(frozen=True)
class IndicesSpec:
    """Indices: an array of any integers, or nested lists of ints."""

    shape: tuple
    sizes: tuple  # of the axes that are indexed: one, or one for each entry of a tuple
    spec: ArraySpec | None  # None: nested lists
    seed: int

    def build(self):
        signed = self.spec is None or self.spec.dtype.kind == "i"
        limits = (-(2**62), 2**62) if self.spec is None else (np.iinfo(self.spec.dtype).min, np.iinfo(self.spec.dtype).max)
        sizes = np.array(self.sizes if len(self.sizes) != 1 else self.sizes[0], np.int64)
        sizes = np.maximum(np.broadcast_to(sizes, self.shape), 1).ravel()
        values = np.random.default_rng(self.seed).integers(-sizes * signed, sizes).clip(*map(int, limits)).reshape(self.shape)
        if self.spec is None:
            return values.tolist()
        array = self.spec.view(np.zeros(self.spec.nbytes, np.uint8))
        array.flags.writeable = True
        array[...] = values
        array.flags.writeable = self.spec.writeable
        return array


def indices(draw, shape, *sizes):
    as_list = 0 not in shape and len(shape) <= 32 and draw(st.integers(0, 3)) == 0
    spec = None if as_list else draw(specs(tuple(shape), draw(st.sampled_from(LENGTH_DTYPES)), distinct=True))
    return IndicesSpec(tuple(shape), sizes, spec, draw(seeds))


def _index_shape(draw, size, beside, rank):
    """The shape of indices into axes of so many elements, each of which takes `beside` elements; without any, it is empty."""
    shape, room = [], max(1, 2 * BUDGET // max(1, beside))
    for _ in range(min(draw(st.integers(0, 2)), rank)):
        shape.append(draw(st.integers(0, min(room, 40)) | st.sampled_from([1, 2, room])))
        room //= max(1, shape[-1])
    return shape if size or 0 in shape else [0, *shape[1:]] if rank else None


@st.composite
def takes(draw, max_rank=MAX_RANK):
    spec = draw(specs(draw(shapes(1, max_rank))))
    rank = len(spec.shape)
    axis = draw(st.integers(0, rank - 1))
    batch = draw(st.integers(0, axis)) if draw(st.integers(0, 2)) == 0 else 0
    count = int(np.prod(spec.shape))
    own = _index_shape(draw, spec.shape[axis], count // max(1, spec.shape[axis]), max(1, max_rank - rank + 1))
    own = own[: MAX_RANK - rank + 1]
    described = indices(draw, (*spec.shape[:batch], *own), spec.shape[axis])
    kwargs = {"batch_dims": batch} if batch else {}
    return Call("take", spec, (described, axis - rank if draw(st.booleans()) else axis), kwargs)


@st.composite
def takes_along(draw, max_rank=MAX_RANK):
    spec = draw(specs(draw(shapes(1, min(max_rank, 30)))))  # of more axes NumPy takes none
    rank = len(spec.shape)
    axis = draw(st.integers(0, rank - 1))
    shape = [1 if draw(st.integers(0, 5)) == 0 else size for size in spec.shape]
    beside = int(np.prod(spec.shape)) // max(1, spec.shape[axis])
    shape[axis] = draw(st.integers(0, min(40, 2 * BUDGET // max(1, beside)))) if spec.shape[axis] else 0
    described = indices(draw, shape, spec.shape[axis])
    return Call("take_along_axis", spec, (described, axis - rank if draw(st.booleans()) else axis))


@st.composite
def gathers_nd(draw, max_rank=MAX_RANK):
    spec = draw(specs(draw(shapes(0, max_rank))))
    rank = len(spec.shape)
    batch = draw(st.integers(0, rank)) if draw(st.integers(0, 2)) == 0 else 0
    count = draw(st.integers(0, min(3, rank - batch)))
    sizes = spec.shape[batch : batch + count]
    beside = int(np.prod(spec.shape)) // max(1, int(np.prod(sizes)))
    room = min(max_rank, MAX_RANK - 1) - rank + count
    own = (_index_shape(draw, 0 not in sizes, beside, max(0, room)) or [])[: max(0, room)]
    if 0 in sizes and 0 not in (*own, *spec.shape[:batch]):
        count, sizes = 0, ()
    described = indices(draw, (*spec.shape[:batch], *own, count), *sizes)
    return Call("gather_nd", spec, (described,), {"batch_dims": batch} if batch or draw(st.booleans()) else {})


@st.composite
def puts_along(draw, max_rank=MAX_RANK):
    call = draw(takes_along(max_rank))
    described, axis = call.args
    shape = list(np.broadcast_shapes(*(np.delete(one, axis).tolist() for one in (call.input.shape, described.shape))))
    shape.insert(axis % len(described.shape), described.shape[axis])
    return Call("put_along_axis", call.input, (described, draw(specs(tuple(shape), call.input.dtype)), axis))


@st.composite
def scatters_nd(draw, max_rank=MAX_RANK):
    spec = draw(specs(draw(shapes(0, min(max_rank, 30)))))
    count = draw(st.integers(0, min(3, len(spec.shape))))
    sizes, row = spec.shape[:count], spec.shape[count:]
    own = (_index_shape(draw, 0 not in sizes, int(np.prod(row)), 2) or [])[:2]
    if 0 in sizes and 0 not in own:
        count, sizes, row = 0, (), spec.shape
    described = indices(draw, (*own, count), *sizes)
    return Call("scatter_nd", spec, (described, draw(specs((*own, *row), spec.dtype))))


def growths(draw, shape):
    """For each axis, by how much it may grow for the result not to become large; an axis of 0 counts as one of 1."""
    room, rank = max(1, 3 * BUDGET // max(1, int(np.prod([max(1, size) for size in shape])))), len(shape)
    most = [1] * rank
    for axis in draw(st.permutations(range(rank)))[:4]:
        most[axis] = draw(st.sampled_from([1, 2, 3, 5, 9, 20, room]))
        most[axis] = min(most[axis], room)
        room //= most[axis]
    return most


VALUES = {
    "b": [True, False],
    "i": [0, 1, -1, 100, -128],
    "u": [0, 1, 255],
    "f": [0, 1.5, -0.0, float("nan"), float("inf"), 7],
    "c": [0, 1.5, 2 - 3j, float("nan")],
    "S": [b"", b"ab", b"x"],
    "U": ["", "ab", "\u00e9"],
}


def values(draw, dtype):
    """What `padding` takes as the value of a dtype: a scalar of Python's, or a scalar or an array of NumPy's."""
    if dtype.kind in VALUES:
        room = dtype.itemsize // (4 if dtype.kind == "U" else 1)
        value = draw(
            st.sampled_from(
                [value for value in VALUES[dtype.kind] if not isinstance(value, (bytes, str)) or len(value) <= room]
            )
        )
    elif dtype.kind == "V" and not issubclass(dtype.type, np.void):  # of ml_dtypes
        value = draw(st.sampled_from([0, 1.5, 1, -2.0]))
    elif dtype.fields or not dtype.itemsize:
        return np.zeros((), dtype)[()]  # no holes with something in them
    else:
        return np.frombuffer(bytes(range(1, 1 + dtype.itemsize)), dtype)[0]
    return draw(st.sampled_from([value, value, np.array(value, dtype)[()], np.array(value, dtype)]))


@st.composite
def paddings(draw, max_rank=MAX_RANK):
    mode = draw(st.sampled_from(["constant", "constant", "edge", "reflection", "symmetric", "wrap"]))
    spec = draw(specs(draw(shapes(max_rank=max_rank))))
    starts, ends = [], []
    for size, most in zip(spec.shape, growths(draw, spec.shape)):
        room = max(1, size) * (most - 1) if size or mode == "constant" else 0
        starts.append(draw(st.integers(0, min(room, 3)) | st.integers(0, room)))
        ends.append(draw(st.integers(0, min(room - starts[-1], 3)) | st.integers(0, room - starts[-1])))
    kwargs = {"mode": mode} if mode != "constant" or draw(st.booleans()) else {}
    if draw(st.booleans()) or spec.dtype.kind in "SU":  # where 0 is no empty string
        kwargs["value"] = values(draw, spec.dtype)
    container = draw(st.sampled_from([list, tuple]))
    return Call("padding", spec, (container(starts), container(ends)), kwargs)


@st.composite
def tiles(draw, max_rank=MAX_RANK):
    spec = draw(specs(draw(shapes(max_rank=max_rank))))
    repeats = [draw(st.integers(1, most)) for most in growths(draw, spec.shape)]
    if repeats and draw(st.integers(0, 19)) == 0:
        repeats[draw(st.integers(0, len(repeats) - 1))] = 0
    return Call("tile", spec, (repeats,))


@st.composite
def transposes(draw, max_rank=MAX_RANK):
    spec = draw(specs(draw(shapes(max_rank=max_rank))))
    rank = len(spec.shape)
    axes = draw(st.permutations(range(rank)))
    axes = [axis - rank if draw(st.integers(0, 4)) == 0 else axis for axis in axes] if rank <= 8 else axes
    return Call("transpose", spec, draw(st.sampled_from([(axes,), (tuple(axes),), (), (None,)])))


@st.composite
def upsamples(draw, max_rank=MAX_RANK):
    single = draw(st.integers(0, 2)) == 0
    layout = draw(st.sampled_from(["NCHW", "NHWC"]))
    shape = draw(shapes(4 if single else 2, max_rank))
    spatial = len(shape) - 2 if single else draw(st.integers(1, len(shape) - 1))
    first = len(shape) - spatial - (layout == "NHWC")
    most = growths(draw, shape)[first : first + spatial]
    if single:
        size, factor = max(1, int(np.prod([max(1, extent) for extent in shape]))), draw(st.integers(1, max(most)))
        while factor > 1 and size * factor**spatial > 3 * BUDGET:
            factor -= 1
        factors = factor
    else:
        factors = [draw(st.integers(1, growth)) for growth in most]
    kwargs = {"layout": layout} if layout == "NHWC" or draw(st.booleans()) else {}
    return Call("upsample", draw(specs(shape)), (factors,), kwargs)


@st.composite
def joins(draw, max_rank=MAX_RANK):
    first = draw(specs(draw(shapes(1, max_rank))))
    rank = len(first.shape)
    axis = draw(st.integers(0, rank - 1))
    beside = int(np.prod(first.shape)) // max(1, first.shape[axis])
    others = []
    for _ in range(draw(st.sampled_from([0, 1, 1, 2, 3, 11]))):
        most = max(1, min(40, BUDGET // (3 * max(1, beside))))
        size = draw(st.just(first.shape[axis]) | st.integers(0, most)) if len(others) < 3 else draw(st.integers(0, 2))
        shape = (*first.shape[:axis], size, *first.shape[axis + 1 :])
        others.append(draw(specs(shape, first.dtype)))
    return Call("join", first, (axis - rank if draw(st.booleans()) else axis,), others=tuple(others))


@st.composite
def splits(draw, max_rank=MAX_RANK):
    spec = draw(specs(draw(shapes(1, max_rank))))
    rank = len(spec.shape)
    axis = draw(st.integers(0, rank - 1))
    size = spec.shape[axis]
    cuts = sorted(draw(st.lists(st.integers(0, size), max_size=draw(st.sampled_from([0, 1, 1, 2, 3, 9])))))
    sizes = [end - begin for begin, end in zip([0, *cuts], [*cuts, size])]
    return Call("split", spec, (axis - rank if draw(st.booleans()) else axis, draw(st.sampled_from([list, tuple]))(sizes)))


@st.composite
def slice_grads(draw, max_rank=MAX_RANK):
    shape = draw(shapes(max_rank=max_rank))
    offsets, sizes, strides, counts = draw(windows(shape))
    if draw(st.integers(0, 3)) == 0:
        strides = None
        counts = [size - draw(st.integers(0, min(2, max(size - 1, 0)))) for size in sizes]
    args = (list(shape), offsets, sizes, *([] if strides is None else [strides]))
    return Call("slice_grad", draw(specs(tuple(counts))), args)


@st.composite
def small(draw, max_rank):
    shape = draw(st.lists(st.integers(1, 7), max_size=max_rank))
    return draw(specs(tuple(shape)))


@st.composite
def several(draw, entries, count):
    """An entry for each axis, or one for all."""
    return draw(entries) if draw(st.booleans()) else [draw(entries) for _ in range(count)]


@st.composite
def some_axes(draw, rank):
    axes = draw(st.permutations(range(rank)))[: draw(st.integers(0, rank))]
    return [axis - rank if draw(st.booleans()) else axis for axis in axes]


@st.composite
def sliding(draw, max_rank=4):
    spec = draw(small(min(max_rank, 4)))
    axes = draw(some_axes(len(spec.shape)))
    sizes, strides, dilations = [], [], []
    for axis in axes:
        size = draw(st.integers(1, spec.shape[axis]))
        sizes.append(size)
        strides.append(draw(st.integers(1, 4)))
        dilations.append(draw(st.integers(1, (spec.shape[axis] - 1) // (size - 1) if size > 1 else 9)))
    return Call("sliding_windows", spec, (sizes, axes), {"strides": strides, "dilations": dilations})


@st.composite
def resizes(draw, max_rank=3):
    spec = draw(small(min(max_rank, 3)))
    axes = draw(some_axes(len(spec.shape)))
    scale = st.fractions(Fraction(1, 4), 4, max_denominator=9) | st.floats(0.25, 4) | st.sampled_from([1, 2, np.float32(1 / 3)])
    offset = st.sampled_from([0, 0.5, -0.5, 0.25, Fraction(1, 3), -2])
    kwargs = {"axes": axes, "rounding": draw(st.sampled_from(ROUNDINGS))}
    kwargs["coordinates"] = draw(
        st.sampled_from(COORDINATES) | st.tuples(several(offset, len(axes)), several(offset, len(axes)))
    )
    form = draw(st.sampled_from(["sizes", "scales", "both"]))
    if form != "sizes":
        kwargs["scales"] = draw(several(scale, len(axes)))
    args = ([draw(st.integers(0, 12)) for _ in axes],) if form != "scales" else ()
    return Call("resize_nearest", spec, args, kwargs)


@st.composite
def rolls(draw, max_rank=5):
    spec = draw(small(min(max_rank, 5)))
    rank, shift = len(spec.shape), st.integers(-20, 20)
    if rank == 0 or draw(st.booleans()):
        return Call("roll", spec, (draw(shift),))
    axes = draw(st.lists(st.integers(-rank, rank - 1), min_size=1, max_size=3))
    return Call("roll", spec, (draw(several(shift, len(axes))), axes))


@st.composite
def crops(draw, max_rank=4):
    shape = draw(st.lists(st.integers(1, 7), min_size=1, max_size=min(max_rank, 4)))
    shape[0] = draw(st.integers(0, 5))
    spec, rank = draw(specs(tuple(shape))), len(shape)
    axes = draw(st.permutations(range(1, rank)))[: draw(st.integers(0, rank))]
    sizes = [draw(st.integers(0 if draw(st.integers(0, 9)) == 0 else 1, shape[axis])) for axis in axes]
    starts = [[draw(st.integers(0, shape[axis] - size)) for axis, size in zip(axes, sizes)] for _ in range(shape[0])]
    starts = np.array(starts, draw(st.sampled_from(["i8", "u1", ">i4"]))).reshape(shape[0], len(axes))
    random = np.random.default_rng(draw(seeds))
    flips = [None, random.random(starts.shape) < 0.5] + [random.random(shape[0]) < 0.5] * bool(axes)
    named = [axis - rank if draw(st.booleans()) else axis for axis in axes]
    return Call("crops", spec, (starts, sizes, draw(st.sampled_from(flips))), {"axes": named})


@st.composite
def images(draw, max_rank, behind, any_dtype):
    """Images with two axes somewhere among batch and channels, and these two: None where they are the default."""
    rank = draw(st.integers(2, min(max_rank, 4)))
    shape = [draw(st.integers(1, 3)) for _ in range(rank)]
    axes = draw(st.permutations(range(rank)))[:2] if draw(st.booleans()) else None
    last = rank - (behind if rank > 2 else 0)
    rows, columns = axes or (last - 2, last - 1)
    shape[rows], shape[columns] = (draw(st.integers(1, 9) | st.integers(1, 25)) for _ in "yx")
    dtype = draw(common_dtypes) if any_dtype else np.dtype(np.uint8)
    return draw(specs(tuple(shape), dtype)), axes, (shape[rows], shape[columns])


def sides(old):
    return st.integers(1, 9) | st.integers(1, 25) | st.sampled_from([old, max(old // 2, 1), max(old // 3, 1)])


@st.composite
def pillow_resizes(draw, max_rank=4):
    resample = draw(st.sampled_from(["nearest", "box", "bilinear", "hamming", "bicubic", "lanczos", "mks2013", "mks2021"]))
    spec, axes, old = draw(images(max_rank, 1, resample == "nearest"))
    kwargs = {"axes": axes, "version": draw(st.sampled_from(["13.0", "12.3", "10.0"]))}
    if draw(st.booleans()):
        left, top = draw(st.floats(0, old[1] - 0.5, width=32)), draw(st.floats(0, old[0] - 0.5, width=32))
        right, bottom = draw(st.floats(left + 0.125, old[1])), draw(st.floats(top + 0.125, old[0]))
        kwargs["box"] = (left, top, right, bottom)
    if draw(st.booleans()):
        kwargs["reducing_gap"] = draw(st.floats(1, 3))
    channels_last = axes is None and len(spec.shape) > 2 or axes is not None and len(spec.shape) - 1 not in axes
    kwargs["alpha"] = channels_last and spec.shape[-1] > 1 and draw(st.booleans())
    return Call("resize_pillow", spec, ((draw(sides(old[0])), draw(sides(old[1]))), resample), kwargs)


@st.composite
def opencv_resizes(draw, max_rank=4):
    modes = ["nearest", "nearest-exact", "linear", "linear-exact", "area", "cubic", "lanczos4"]
    interpolation = draw(st.sampled_from(modes))
    spec, axes, old = draw(images(max_rank, 1, interpolation.startswith("nearest")))
    kwargs = {"axes": axes, "ipp": False, "version": draw(st.sampled_from(["5.0", "4.8", "3.4"]))}
    factor = st.sampled_from([0.5, 0.25, 1 / 3, 2]) | st.floats(0.06, 3)
    fx, fy = draw(factor), draw(factor)
    if draw(st.booleans()) and round(old[0] * fy) and round(old[1] * fx):
        size, kwargs = None, {"fx": fx, "fy": fy} | kwargs
    else:
        size = draw(sides(old[0])), draw(sides(old[1]))
    behind = [] if axes is None else [k for k, size in enumerate(spec.shape) if k > axes[1] and k != axes[0] and size > 1]
    interpolation = "lanczos4" if interpolation == "cubic" and len(behind) > 1 else interpolation
    return Call("resize_opencv", spec, (size, interpolation), kwargs)


@st.composite
def torchvision_resizes(draw, max_rank=4):
    interpolation = draw(st.sampled_from(["nearest", "nearest-exact", "bilinear", "bicubic", "lanczos"]))
    spec, axes, old = draw(images(max_rank, 0, interpolation.startswith("nearest")))
    size = draw(st.integers(1, 9)) if draw(st.integers(0, 4)) == 0 else (draw(sides(old[0])), draw(sides(old[1])))
    kwargs = {"axes": axes, "antialias": interpolation == "lanczos" or draw(st.booleans())}
    return Call("resize_torchvision", spec, (size, interpolation), kwargs)


CALLS = {
    "slice": slices,
    "depth_to_space": lambda max_rank=MAX_RANK: blocks(True, max_rank),
    "space_to_depth": lambda max_rank=MAX_RANK: blocks(False, max_rank),
    "reverse_subsequences": reversals,
    "padding": paddings,
    "tile": tiles,
    "join": joins,
    "split": splits,
    "transpose": transposes,
    "upsample": upsamples,
    "slice_grad": slice_grads,
}
GATHERS = {"take": takes, "take_along_axis": takes_along, "gather_nd": gathers_nd}
RESIZES = {"resize_opencv": opencv_resizes, "resize_pillow": pillow_resizes, "resize_torchvision": torchvision_resizes}
COMPOSED = {"sliding_windows": sliding, "resize_nearest": resizes, "roll": rolls, "crops": crops} | RESIZES
SCATTERS = {"put_along_axis": puts_along, "scatter_nd": scatters_nd}
OPERATORS = sorted(CALLS)
CALLS |= GATHERS | SCATTERS | COMPOSED
FUNCTIONS = sorted(CALLS)
PLANS = ["depth_to_space", "reverse_subsequences", "slice", "space_to_depth"]  # each call is one plan
PROGRAMS = [operator for operator in OPERATORS if operator not in PLANS]  # and of these some are several
