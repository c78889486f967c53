"""csrc/core without Python and without Vulkan: its structures mirrored for ctypes, what a plan means in NumPy, and what
the shaders make of a dispatch.

Everything here is written anew from the headers' words, for the C to be judged by.
"""

import ctypes
from ctypes import POINTER, Structure, byref, c_bool, c_char, c_char_p, c_int, c_longlong
from ctypes import c_int32, c_int64, c_uint32, c_uint64

import numpy as np

import support

MAX_RANK = 64
MAX_AXES = 2 * MAX_RANK + 2
CONSTANTS = 28
INNERS = 3
TABLE_WORDS = 28 + 8 * (MAX_AXES + 1)
COPY, ROWS, WORDS, ELEMENTS, ANY = range(5)
SRC, DST = range(2)


class Axis(Structure):
    _fields_ = [(name, c_int64) for name in ("extent", "src_stride", "dst_stride", "length_stride")]


class Span(Structure):
    _fields_ = [("begin", c_int64), ("end", c_int64)]


class Plan(Structure):
    _fields_ = [
        ("item", c_int64),
        ("src_offset", c_int64),
        ("dst_offset", c_int64),
        ("lengths", POINTER(c_int64)),
        ("length_offset", c_int64),
        ("rank", c_int),
        ("reversed", c_int),
        ("axes", Axis * MAX_AXES),
    ]


class Piece(Structure):
    _fields_ = [
        ("plan", Plan),
        ("reversed_begin", c_int64),
        ("source_begin", c_int64),
        ("source_end", c_int64),
        ("cut", c_bool),
    ]


class Split(Structure):
    _fields_ = [
        ("plan", Plan),
        ("tile", c_int64 * (MAX_AXES + 1)),
        ("begin", c_int64 * (MAX_AXES + 1)),
        ("kept", c_bool * MAX_AXES * 2),
        ("done", c_bool),
    ]


class Limits(Structure):
    _fields_ = [("window", c_int64), ("binding", c_int64), ("chunk", c_int64), ("pack_src", c_bool), ("pack_dst", c_bool)]


class Tensor(Structure):
    _fields_ = [("rank", c_int), ("item", c_int64), ("shape", c_int64 * MAX_RANK), ("strides", c_int64 * MAX_RANK)]


class Ints(Structure):
    _fields_ = [("count", c_int64), ("value", c_int64 * MAX_RANK)]


class SliceArgs(Structure):
    _fields_ = [(name, POINTER(Ints)) for name in ("offsets", "sizes", "strides", "output_sizes")]


class BlockArgs(Structure):
    _fields_ = [
        ("block_size", POINTER(Ints)),
        ("single", c_bool),
        ("to_space", c_bool),
        ("crd", c_bool),
        ("channels_last", c_bool),
    ]


class ReverseArgs(Structure):
    _fields_ = [("axis", c_int), ("batch_axis", c_int), ("length_rank", c_int), ("length_shape", POINTER(c_int64))]


class Status(Structure):
    _fields_ = [("code", c_int), ("result", c_int), ("axis", c_longlong), ("rank", c_int), ("in_use", c_int), ("message", c_char * 512)]


class Traits(Structure):
    _fields_ = [
        ("group_size", c_uint32),
        ("max_groups", c_uint32),
        ("parallel", c_uint32),
        ("grain", c_uint32),
        ("cpu", c_bool),
        ("alignment", c_uint32),
        ("window", c_int64),
        ("binding", c_int64),
    ]


class Dispatch(Structure):
    _fields_ = [
        ("kernel", c_int),
        ("src_window", Span),
        ("dst_window", Span),
        ("constants", c_int32 * CONSTANTS),
        ("groups", c_uint32),
        ("table_words", c_uint32),
        ("table", c_uint32 * TABLE_WORDS),
    ]


class _Entry(Structure):
    _fields_ = [("name", c_char_p), ("value", c_longlong)]


MIRRORED = {
    "dml_axis": Axis,
    "dml_span": Span,
    "dml_plan": Plan,
    "dml_piece": Piece,
    "dml_split": Split,
    "dml_limits": Limits,
    "dml_tensor": Tensor,
    "dml_ints": Ints,
    "dml_slice_args": SliceArgs,
    "dml_block_args": BlockArgs,
    "dml_reverse_args": ReverseArgs,
    "dml_status": Status,
    "dml_traits": Traits,
    "dml_dispatch": Dispatch,
}


class Core:
    """The core, compiled into `folder` as a library of its own, with nothing else linked to it."""

    def __init__(self, folder):
        path = folder / "core.so"
        sources = [*sorted((support.ROOT / "csrc").glob("core/*.c")), support.ROOT / "csrc/base/status.c", support.ROOT / "tests" / "core" / "sizes.c"]
        flags = ["-std=c11", "-O1", "-g", "-shared", "-fPIC", "-Wall", "-Wextra", f"-I{support.ROOT / 'csrc'}"]
        support.compile_c([*flags, *sources, "-o", path])
        self.library = ctypes.CDLL(str(path))
        self.values = {}
        entries = ctypes.cast(self.library.dml_sizes, POINTER(_Entry))
        while entries[len(self.values)].name:
            entry = entries[len(self.values)]
            self.values[entry.name.decode()] = entry.value
        for name in ("dst", "length"):
            getattr(self.library, f"dml_plan_{name}_span").restype = Span
        self.library.dml_piece_src_span.restype = Span
        self.library.dml_plan_count.restype = c_int64
        self.library.dml_split_next.restype = c_bool
        self.library.dml_split_begin.argtypes = [POINTER(Split), POINTER(Plan), POINTER(Limits)]
        self.library.dml_pack.argtypes = [POINTER(Split), POINTER(Piece), c_int, c_bool, POINTER(Plan)]
        self.library.dml_host_run.argtypes = [POINTER(Plan), ctypes.c_void_p, ctypes.c_void_p]
        self.library.dml_dispatch_choose.argtypes = [
            POINTER(Piece),
            POINTER(Traits),
            c_uint64,
            c_uint64,
            c_int,
            POINTER(Dispatch),
        ]
        self.library.dml_dispatch_region.argtypes = [POINTER(Plan), c_int64, POINTER(c_int64), POINTER(c_int64)]
        self.library.dml_dispatch_region.restype = c_bool

    def simplified(self, plan):
        copy = Plan.from_buffer_copy(plan)
        self.library.dml_plan_simplify(byref(copy))
        return copy

    def simplified_piece(self, piece):
        copy = Piece.from_buffer_copy(piece)
        self.library.dml_plan_simplify(byref(copy.plan))
        return copy

    def pieces(self, plan, limit, chunk=0, pack_src=False, pack_dst=False, binding=None):
        split, limits = Split(), Limits(limit, binding or limit, chunk, pack_src, pack_dst)
        self.library.dml_split_begin(byref(split), byref(plan), byref(limits))
        while True:
            piece = Piece()
            piece.split = split
            if not self.library.dml_split_next(byref(split), byref(piece)):
                return
            yield piece

    def packed(self, piece, side, exact):
        """The piece with one side packed, and what moves that side's elements."""
        packed, copy = Piece.from_buffer_copy(piece), Plan()
        packed.split = piece.split
        ctypes.memset(byref(copy), 0xA5, ctypes.sizeof(copy))
        self.library.dml_pack(byref(piece.split), byref(packed), side, exact, byref(copy))
        return packed, copy

    def choose(self, piece, traits, src_base, dst_base, forced):
        dispatch = Dispatch()
        ctypes.memset(byref(dispatch), 0xA5, ctypes.sizeof(dispatch))  # nothing may be left from the call before
        self.library.dml_dispatch_choose(byref(piece), byref(traits), src_base, dst_base, forced, byref(dispatch))
        return dispatch

    def span(self, which, plan):
        """The "dst" that a plan writes, or the "length" that it reads; of a piece, the "src" that it may read."""
        kind = "piece" if isinstance(plan, Piece) else "plan"
        span = getattr(self.library, f"dml_{kind}_{which}_span")(byref(plan))
        return span.begin, span.end


def mismatches(values):
    """Where the mirror differs from the C: empty if it is true."""
    wrong = []
    for name, value in values.items():
        if name.startswith("sizeof "):
            here = ctypes.sizeof(MIRRORED[name.removeprefix("sizeof ")])
        elif "." in name:
            struct, member = name.split(".")
            here = getattr(MIRRORED[struct], member).offset
        else:
            continue
        if here != value:
            wrong.append((name, here, value))
    return wrong


def describe(plan):
    """Everything that a plan says, comparable and readable."""
    axes = [tuple(getattr(axis, name) for name, _ in Axis._fields_) for axis in plan.axes[: plan.rank]]
    return plan.item, plan.src_offset, plan.dst_offset, plan.length_offset, plan.reversed, axes


# --- what a plan means ------------------------------------------------------------------------------------------------


def moves(plan, lengths, piece=None):
    """The (source byte, destination byte) pairs of a plan or piece, as two arrays in the order of the destination."""
    src = np.array([plan.src_offset])
    dst = np.array([plan.dst_offset])
    entry = np.array([plan.length_offset])
    index = np.array([0])
    for k, axis in enumerate(plan.axes[: plan.rank]):
        i = np.arange(axis.extent)
        dst = np.add.outer(dst, i * axis.dst_stride).ravel()
        entry = np.add.outer(entry, i * axis.length_stride).ravel()
        src = np.add.outer(src, i * (0 if k == plan.reversed else axis.src_stride)).ravel()
        index = np.add.outer(index, i if k == plan.reversed else 0 * i).ravel()
    if plan.reversed >= 0 and dst.size:
        index = index + (piece.reversed_begin if piece else 0)
        length = lengths[entry]
        index = np.where(index < length, length - 1 - index, index)
        if piece:
            mine = (piece.source_begin <= index) & (index < piece.source_end)
            src, dst, index = src[mine], dst[mine], index[mine] - piece.source_begin
        src = src + index * plan.axes[plan.reversed].src_stride
    byte = np.arange(plan.item)
    return in_order(np.add.outer(src, byte).ravel(), np.add.outer(dst, byte).ravel())


def in_order(src, dst):
    order = np.lexsort((src, dst))
    return src[order], dst[order]


def joined(pairs):
    """Several results of `moves` as one."""
    return in_order(*(np.concatenate([pair[side] for pair in pairs]) for side in (0, 1)))


def same(a, b):
    return np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1])


def source_span(plan):
    """What a plan may read, whatever its lengths are."""
    reaches = [(axis.extent - 1) * axis.src_stride for axis in plan.axes[: plan.rank]]
    return plan.src_offset + sum(min(reach, 0) for reach in reaches), plan.src_offset + plan.item + sum(max(reach, 0) for reach in reaches)


def span_of(values):
    return int(values.min()), int(values.max()) + 1


# --- what the shaders make of a dispatch ------------------------------------------------------------------------------

MASK = 0xFFFFFFFF


class Machine:
    """Runs a dispatch as the shader of its kernel does, but on numbers of bytes: what comes out is the
    (source byte, destination byte) pairs, relative to the windows. Checks what the shaders take for granted."""

    def __init__(self, core, dispatch, lengths):
        self.dispatch, self.lengths = dispatch, lengths
        names = core.values
        for name, value in names.items():
            if name.startswith("DML_TABLE_"):
                setattr(self, "t_" + name[10:].lower(), int(dispatch.table[value]) if value < TABLE_WORDS else value)
        constants = list(names)[list(names).index("DML_GROUP_SIZE") : list(names).index("DML_CONSTANTS")]
        for name in constants:
            setattr(self, name[4:].lower(), int(dispatch.constants[names[name]]))
        self.element = self.item * self.extent_0 * self.extent_1 * self.extent_2
        words = np.array(dispatch.table[names["DML_TABLE_AXES"] : dispatch.table_words], np.int64)
        self.axes = words.reshape(-1, names["DML_TABLE_AXIS"])[::-1]  # here the outermost first
        missing = max(names["DML_MIN_AXES"] - self.t_rank, 0)
        assert len(self.axes) == self.t_rank + missing and np.all(self.axes[:missing, :5] == (1, MASK, 0, 0, 0))
        self.axes = self.axes[missing:]
        self.t_reversed = self.t_rank - 1 - self.t_reversed
        divisors = [(self.t_rows, self.t_rows_multiplier), *self.axes[:, :2].tolist()]
        if dispatch.kernel == WORDS:
            divisors.append((self.t_item, self.t_item_multiplier))
        for d, multiplier in divisors:
            for n in (MASK, MASK // d * d, MASK // d * d - 1):
                assert self.divide(n, d, multiplier) == n // d, "a division would be wrong"
        if dispatch.kernel == ROWS:
            streams = [1, self.extent_0, self.extent_1, self.extent_2][self.stream]
            assert self.window * streams <= 32, "more words than the shader has room for"
            assert self.group_size % self.abreast == 0, "invocations that no row has"
            assert self.abreast == 1 or self.t_total == self.t_rows, "rows side by side are whole"
            assert self.ahead == 0 or self.abreast == 1 and self.t_total == self.t_rows, "the next row is somebody else's"
        cut = [int(word) for word in dispatch.table[names["DML_TABLE_CUT"] : names["DML_TABLE_CUT"] + 6]]
        self.cut = [np.array(cut, np.uint32).view(np.int64)[i] for i in range(3)]
        self.src, self.dst = [], []

    def run(self):
        total, per_share, shares = self.t_total, self.t_per_share, self.t_shares
        assert (shares - 1) * per_share < total <= shares * per_share, "shares are not all of the work"
        assert self.dispatch.groups == shares or self.dynamic, "nobody to do a share"
        if self.dispatch.kernel == ELEMENTS:
            self.walks(total)
        elif self.dispatch.kernel == WORDS:
            self.whole_words(total)
        else:
            for first in range(0, total, per_share):
                self.share_of_rows(first, min(first + per_share, total))
        return in_order(np.concatenate(self.src), np.concatenate(self.dst))

    @staticmethod
    def divide(n, d, multiplier):
        high = (n * multiplier) >> 32
        return np.where(n - high * d >= d, high + 1, high)

    def locate(self, n):
        src, dst, entry, index = self.t_src + 0 * n, self.t_dst + 0 * n, self.t_length + 0 * n, 0 * n
        for k in reversed(range(self.t_rank)):
            extent, multiplier, src_stride, dst_stride, length_stride = map(int, self.axes[k][:5])
            quotient = self.divide(n, extent, multiplier)
            assert np.array_equal(quotient, n // extent)
            here, n = n - quotient * extent, quotient
            dst = (dst + here * dst_stride) & MASK
            if self.reversed:
                entry = (entry + here * length_stride) & MASK
                if k == self.t_reversed:
                    index = here
                    continue
            src = (src + here * src_stride) & MASK
        return src, dst, entry, index

    def give(self, src, dst, size):
        """Words of `size` bytes, at their own alignment."""
        src, dst = np.asarray(src) & MASK, np.asarray(dst) & MASK
        assert not np.any(src % size) and not np.any(dst % size), "a word is not aligned"
        byte = np.arange(size)
        self.src.append(np.add.outer(src, byte).ravel())
        self.dst.append(np.add.outer(dst, byte).ravel())

    def walks(self, total):
        """Elements along the last axis, each walk in parts: all of them at once, since none knows of another."""
        assert self.t_extent == self.axes[-1][0] and self.t_rows * self.t_extent <= MASK
        n = np.arange(total)
        part = self.divide(n, self.t_rows, self.t_rows_multiplier)
        assert np.array_equal(part, n // self.t_rows)
        places = self.locate((n - part * self.t_rows) * self.t_extent)
        begin = part * self.t_part_tiles
        assert not np.any(begin >= self.t_extent), "a part with nothing in it"
        size = np.minimum(self.t_part_tiles, self.t_extent - begin)
        walk = np.repeat(n, size)
        i = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size) + begin[walk]
        src, dst, entry, index = ((at[walk] + i * step) & MASK for at, step in zip(places, self.axis_step(-1)))
        if self.reversed:
            reversed_begin, source_begin, source_end = self.cut if self.reversed == 2 else (0, 0, 2**62)
            index = index + reversed_begin
            length = self.lengths[entry]
            index = np.where(index < length, length - 1 - index, index)
            mine = (source_begin <= index) & (index < source_end)
            src = src[mine] + (index[mine] - source_begin) * self.t_reversed_stride
            dst = dst[mine]
        self.give(src, dst, self.edge)

    def whole_words(self, total):
        """A destination without gaps: where each byte comes from, and whether what the shader builds on is so. How it follows the rows
        through the words is left to the devices."""
        ratio, odd = divmod(self.step, self.edge)
        assert self.t_rows == 1 and self.t_item > 0 and self.t_item % self.edge == 0
        assert odd == 0 and 1 <= abs(ratio) <= 15, "more words than the shader has room for"
        size = self.t_extent * self.t_item
        head = min(-self.t_dst % 16, size)
        words = (size - head) // 16
        tiles = -(-words // self.words)
        assert total * self.t_part_tiles >= tiles, "words that nobody makes"
        src, dst, entry, index = self.locate(np.arange(self.t_extent))
        assert np.array_equal(dst, (self.t_dst + np.arange(self.t_extent) * self.t_item) & MASK), "the destination has gaps"
        # Along the last two axes a step, or a turn where the last of them begins again, is as good as looking up.
        inner, outer = [int(extent) for extent in [1, 1, *self.axes[:, 0]][-1:-3:-1]]
        n = np.arange(1, self.t_extent)
        for at, step, out in zip((src, dst, entry, index), self.axis_step(-1), self.axis_step(-2)):
            moved = (at[:-1] + np.where(n % inner == 0, out - (inner - 1) * step, step)) & MASK
            assert np.array_equal(at[1:][n % (inner * outer) != 0], moved[n % (inner * outer) != 0])
        if self.reversed:
            length = self.lengths[entry]
            src = src + np.where(index < length, length - 1 - index, index) * self.t_reversed_stride
        byte = np.arange(size)
        within = byte % self.t_item
        source = (src[byte // self.t_item] + within // self.edge * self.step + within % self.edge) & MASK
        assert np.all(source >> 4 <= self.t_last >> 1), "a byte beyond what is bound"
        whole = (head <= byte) & (byte < head + 16 * words)
        self.src.append(source[whole])
        self.dst.append((self.t_dst + byte[whole]) & MASK)
        narrow = byte[~whole][:: self.edge]
        self.give(source[narrow], self.t_dst + narrow, self.edge)

    def axis_step(self, k):
        """From one place to the next along an axis, counted from the last, -1."""
        if self.t_rank + k < 0:
            return 0, 0, 0, 0
        _, _, src, dst, length, *_ = map(int, self.axes[k])
        reversed_ = self.t_reversed == self.t_rank + k
        return (0 if reversed_ else src), dst, length, int(reversed_)

    def share_of_rows(self, n, end):
        """Rows one after the other: the first is looked up, those behind it along the last two axes are a step away, or a turn to
        where the last axis begins again. Rows side by side are all looked up."""
        extents = [1, 1, *map(int, self.axes[:, 0])]
        step, outer = self.axis_step(-1), self.axis_step(-2)
        turn = [to - (extents[-1] - 1) * back for to, back in zip(outer, step)]
        while n < end:
            part = int(self.divide(np.int64(n), self.t_rows, self.t_rows_multiplier))
            assert part == n // self.t_rows
            row, walk = n - part * self.t_rows, extents[-2] * extents[-1]
            place = [int(value) for value in self.locate(np.int64(row))]
            run = min(walk - row % walk, end - n) if self.abreast == 1 else 1
            n += run
            for i in range(row, row + run):
                self.row(*place, part)
                turns = (i + 1) % extents[-1] == 0
                place = [(at + way) & MASK for at, way in zip(place, turn if turns else step)]

    def row(self, src, dst, entry, index, part):
        length = int(self.lengths[entry]) if self.reversed else 0
        if self.reversed == 1:
            src += (length - 1 - index if index < length else index) * self.t_reversed_stride
        self.copy_row(src, dst, length if self.reversed == 2 else 0, part)

    def offsets(self, byte, step):
        """(stream, source offset) of bytes of a row, from its first element."""
        within = byte % self.element
        index, offset, stream = within // self.item, byte // self.element * step + within % self.item, 0 * byte
        for i in range(INNERS):
            extent, stride = getattr(self, f"extent_{i}"), getattr(self, f"stride_{i}")
            x = index if i == INNERS - 1 else index % extent
            index = index // extent
            if self.stream == i + 1:
                stream = x
            else:
                offset = offset + x * stride
        return stream, offset

    def whole_words_of_a_row(self, dst, first, last):
        """(first element, elements) of what is whole words in a range of a row's elements, if that is a tile or more."""
        even = self.element & -self.element
        heads = self.word // even if even < self.word else 1
        head = (-(dst + first * self.element) & (self.word - 1)) // min(even, self.word) * self.head & (heads - 1)
        head = min(head, last - first)
        whole = (last - first - head) // heads * heads
        return first + head, whole if whole >= self.count else 0

    def copy_row(self, src, dst, length, part):
        """A row whose first `length` elements are reversed."""
        a = self.whole_words_of_a_row(dst, 0, length) if self.reversed == 2 else (0, 0)
        b = self.whole_words_of_a_row(dst, length, self.t_extent)
        forward = -self.step if self.reversed == 2 else self.step
        self.copy_edges(src, dst, length, forward, a, b, part)
        # Of each: the elements' order, their source, and the pattern. A row's tiles are shared out as one. The last may overlap the one
        # before it, which leaves it the words that it lacks.
        begin, end = part * self.t_part_tiles, (part + 1) * self.t_part_tiles
        before = 0
        for (first, whole), turned in ((a, True), (b, False)):
            tiles = -(-whole // self.count)
            tile = np.arange(max(begin - before, 0), max(0, min(end - before, tiles)))
            before += tiles
            begins = np.minimum(tile * self.count, whole - self.count)
            element, skip = first + begins, (tile * self.count - begins) * self.element
            assert not np.any(skip % self.word) and (self.edge > 0 or not np.any(skip))
            assert not tile.size or skip.max() < self.word * self.words, "a tile with nothing of its own"
            if self.reversed == 2 and not turned:
                pattern = forward, self.low_2, self.unit_2
            else:
                pattern = self.step, self.low, self.unit
            at = (length - 1 - element if turned else element) * forward + pattern[1]
            if tile.size:
                self.copy_tiles(src + at, dst + element * self.element, skip, *pattern)
        assert part > 0 or before <= self.t_part_tiles * (self.t_total // self.t_rows), "tiles that no part has"

    def copy_edges(self, src, dst, length, forward, a, b, part):
        place = np.arange(self.t_extent)
        inside = [(first <= place) & (place < first + whole) for first, whole in (a, b)]
        place = place[~inside[0] & ~inside[1]]
        if self.edge == 0:
            assert place.size == 0, "there are edges"
        elif part == 0:
            byte = np.arange(0, self.element, self.edge)
            stream, offset = self.offsets(byte, 0)
            source = np.where(place < length, length - 1 - place, place) * forward
            for o in range(self.outs):
                at = np.add.outer(source, offset + stream * self.t_stream) + src + o * self.out_step
                to = np.add.outer(place * self.element, byte) + dst + o * self.t_out
                self.give(at.ravel(), to.ravel(), self.edge)

    def copy_tiles(self, src, dst, skip, step, low, unit):
        byte = np.arange(self.word * self.words)
        mine = byte >= skip[:, None]
        for o in range(self.outs):
            stream, offset = self.offsets(byte, step)
            offset = offset - low + o * self.out_step
            assert offset.min() >= 0 and offset.max() < 8 * self.window, "the pattern leaves its window"
            assert np.array_equal(offset, offset[byte // unit * unit] + byte % unit)
            assert np.array_equal(stream, stream[byte // unit * unit]) and not np.any(offset[::unit] % unit)
            windows = np.add.outer(src, stream * self.t_stream) & MASK
            assert not np.any(windows % self.align), "a window is not aligned"
            self.check_loads(windows, np.broadcast_to(offset // 8, windows.shape))
            places = (np.add.outer(dst, byte) + o * self.t_out) & MASK
            assert not np.any(places[:, :: self.word] % self.word), "a store is not aligned"
            self.src.append((windows + offset)[mine])
            self.dst.append(places[mine])

    def check_loads(self, windows, i):
        """Words that are loaded, and not held back at the window's end by the shader itself, are inside of it."""
        if self.align >= 8:
            assert np.all((windows >> 3) + i <= (self.t_last | (self.align == 16)))
        else:
            assert np.all(windows >> 4 <= self.t_last >> 1)  # the first pair; those behind it are held back
