"""The rooms of csrc without Python and Vulkan: compiled into a library of its own, what a plan means in NumPy, and what the
shaders make of a dispatch.

What a plan means and what the shaders do is written anew from the headers' words, for the C to be judged by.
"""

import ctypes
from ctypes import POINTER, byref, c_bool, c_int, c_int64, c_longlong, c_uint64

import numpy as np

import support
from core.headers import CONSTANTS, STRUCTURES, check_source, expected

MAX_RANK, MAX_AXES = CONSTANTS["DML_MAX_RANK"], CONSTANTS["DML_MAX_AXES"]
INNERS = CONSTANTS["DML_MAX_INNERS"]
KERNELS = ("COPY", "ROWS", "WORDS", "ELEMENTS", "BLOCKS", "COUNT")
COPY, ROWS, WORDS, ELEMENTS, BLOCKS, ANY = (CONSTANTS[f"DML_KERNEL_{name}"] for name in KERNELS)
SRC, DST = CONSTANTS["DML_SRC"], CONSTANTS["DML_DST"]

Axis, Entries, Span, Gathered = (STRUCTURES[f"dml_{name}"] for name in ("axis", "entries", "span", "gathered"))
Plan, Piece = STRUCTURES["dml_plan"], STRUCTURES["dml_piece"]
Split, Limits = STRUCTURES["dml_split"], STRUCTURES["dml_limits"]
Tensor, Ints, Status = STRUCTURES["dml_tensor"], STRUCTURES["dml_ints"], STRUCTURES["dml_status"]
Operator, Program, Step = (STRUCTURES[f"dml_{name}"] for name in ("operator", "program", "step"))
Traits, Tunables, Dispatch = (STRUCTURES[f"dml_{name}"] for name in ("traits", "tunables", "dispatch"))


def core_sources():
    return sorted(path for room in support.CORE for path in (support.ROOT / "csrc" / room).glob("*.c"))


def base_sources():
    """What the core needs of csrc/base."""
    names = "blocking cache counters fork idle interrupt lock machine pages parallel pool processor status thread usable_memory"
    return [support.ROOT / "csrc" / "base" / f"{name}.c" for name in names.split()]


LIBRARY, SANITIZED_LIBRARY = "core.so", "sanitized.so"
SANITIZED = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
FLAGS = ["-std=c11", "-pthread", "-Wall", "-Wextra", *(f"-I{support.ROOT / folder}" for folder in ("csrc", "shaders"))]


def compile_core(target, *flags):
    """Compiles the core, with what it needs of csrc/base and nothing else, as `flags` say, into a library."""
    support.compile_c([*FLAGS, *flags, "-shared", "-fPIC", *core_sources(), *base_sources(), "-lm", "-o", target])


def build(folder):
    """Compiles the core into `folder` as a library of its own, optimised as it is for users."""
    truth = folder / "truth.c"
    truth.write_text(check_source())
    compile_core(folder / LIBRARY, "-O2", truth)


def build_sanitized(folder):
    """Compiles the core with what finds each read and write beyond an array."""
    compile_core(folder / SANITIZED_LIBRARY, *SANITIZED)


def compile_program(target, library, *flags):
    """Compiles the program of this folder that is called as `target` is, with a library of the core."""
    source = support.ROOT / "tests" / "core" / f"{target.name}.c"
    support.compile_c([*FLAGS, *flags, source, library, "-lm", "-o", target])


class Core:
    """The library that `build` has made."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        for name in ("dst", "entry"):
            getattr(self.library, f"dml_plan_{name}_span").restype = Span
        self.library.dml_piece_src_span.restype = Span
        self.library.dml_plan_count.restype = c_int64
        self.library.dml_split_next.restype = c_bool
        self.library.dml_split_begin.argtypes = [POINTER(Split), POINTER(Plan), POINTER(Limits)]
        self.library.dml_pack.argtypes = [POINTER(c_bool), POINTER(Piece), c_int, c_bool, POINTER(Plan)]
        self.library.dml_host_run.argtypes = [POINTER(Plan)] + 3 * [ctypes.c_void_p]
        self.library.dml_dispatch_choose.argtypes = [
            POINTER(Piece),
            POINTER(Traits),
            c_uint64,
            c_uint64,
            POINTER(Dispatch),
        ]
        self.library.dml_plan_element.argtypes = [POINTER(Plan), c_int64, POINTER(c_int64), POINTER(c_int64)]
        self.library.dml_plan_element.restype = c_bool
        self.library.dml_program_step.argtypes = [POINTER(Program), c_int64, POINTER(Step)]
        self.tunables = {name: Tunables.in_dll(self.library, f"dml_tunables_{name}") for name in ("cpu", "gpu")}

    def mismatches(self):
        """Where the headers as they were read differ from the compiler's: empty if they are true."""
        truth = (c_longlong * len(expected())).in_dll(self.library, "dml_truth")
        return [(name, here, value) for (name, here), value in zip(expected(), truth, strict=True) if here != value]

    def traits(self, kind="cpu", **changes):
        """A device of a class, with other traits or tunables."""
        of = self.tunables[kind]
        groups = min(of.max_groups, 65535)
        traits = Traits(group_size=of.group_size or 8, max_groups=groups, alignment=16, range=2**27, binding=2**27)
        traits.tunables, traits.kernels = of, 2**32 - 1
        for name, value in changes.items():
            setattr(traits if hasattr(traits, name) else traits.tunables, name, value)
        return traits

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
        self.library.dml_pack(piece.split.kept[side], byref(packed), side, exact, byref(copy))
        return packed, copy

    def choose(self, piece, traits, src_base, dst_base, forced):
        dispatch = Dispatch()
        ctypes.memset(byref(dispatch), 0xA5, ctypes.sizeof(dispatch))  # nothing may be left from the call before
        if forced != ANY:  # as the override "kernel" has it
            traits = Traits.from_buffer_copy(traits)
            traits.kernels = 1 << forced
        if forced == COPY:
            traits.kernels |= 1 << ROWS
            traits.tunables.copy_regions, traits.tunables.copy_run = 64, 0
        self.library.dml_dispatch_choose(byref(piece), byref(traits), src_base, dst_base, byref(dispatch))
        return dispatch

    def rests(self, piece, dispatch):
        """What the dispatch of a piece leaves, as pieces."""
        pieces = [Piece() for _ in range(dispatch.rest_count)]
        for rest, cut in zip(pieces, dispatch.rests):
            rest.depth = piece.depth + 1
            self.library.dml_plan_take(byref(rest.plan), byref(piece.plan), byref(cut))
        return pieces

    def span(self, which, plan):
        """The "dst" that a plan writes, or the "entry" that it reads; of a piece, the "src" that it may read."""
        kind = "piece" if isinstance(plan, Piece) else "plan"
        span = getattr(self.library, f"dml_{kind}_{which}_span")(byref(plan))
        return span.begin, span.end


def describe(plan):
    """Everything that a plan says, comparable and readable."""
    axes = [tuple(getattr(axis, name) for name, _ in Axis._fields_) for axis in plan.axes[: plan.rank]]
    return plan.item, plan.src_offset, plan.dst_offset, plan.entries.offset, plan.reversed, axes


# --- what a plan means ------------------------------------------------------------------------------------------------


def clamped(lengths, most):
    """Integers of any type, as lengths."""
    return np.where(lengths > most, np.int64(most), np.maximum(lengths, 0)).astype(np.int64)


def picked(entries, extent):
    """Integers of any type, as indices of an axis: those below 0 from its end, then clamped."""
    if entries.dtype.kind == "u":
        return np.minimum(entries, extent - 1).astype(np.int64)
    wide = entries.astype(np.int64)
    return np.clip(np.where(wide < 0, wide + extent, wide), 0, extent - 1)


def moves(plan, lengths, piece=None):
    """The (source byte, destination byte) pairs of a plan or piece, as two arrays in the order of the destination."""
    src = np.array([plan.src_offset])
    dst = np.array([plan.dst_offset])
    entry = np.array([plan.entries.offset])
    index = np.array([0])
    for k, axis in enumerate(plan.axes[: plan.rank]):
        i = np.arange(axis.extent)
        dst = np.add.outer(dst, i * axis.dst_stride).ravel()
        entry = np.add.outer(entry, i * axis.entry_stride).ravel()
        src = np.add.outer(src, i * (0 if k == plan.reversed else axis.src_stride)).ravel()
        index = np.add.outer(index, i if k == plan.reversed else 0 * i).ravel()
    if plan.reversed >= 0 and dst.size:
        index = index + (piece.reversed_begin if piece else 0)
        most = piece.longest if piece else plan.axes[plan.reversed].extent
        length = clamped(lengths[entry // plan.entries.item], most)
        index = np.where(index < length, length - 1 - index, index)
        if piece:
            mine = (piece.source_begin <= index) & (index < piece.source_end)
            src, dst, index = src[mine], dst[mine], index[mine] - piece.source_begin
        src = src + index * plan.axes[plan.reversed].src_stride
    for axis in plan.gathers[: plan.gathered]:
        index = picked(lengths[(entry + axis.entry_offset) // plan.entries.item], axis.extent) - axis.begin
        mine = (index >= 0) & (index < axis.count)
        src, dst, entry = (src + index * axis.src_stride)[mine], dst[mine], entry[mine]
    byte = np.arange(plan.item)
    return in_order(np.add.outer(src, byte).ravel(), np.add.outer(dst, byte).ravel())


def in_order(src, dst):
    """By the destination, then by the source: both in one number, which sorts much faster than one after the other."""
    if not dst.size:
        return src, dst
    (least, above), (first, beyond) = span_of(src), span_of(dst)
    width = above - least
    assert width * (beyond - first) < 2**63, "more bytes than one number tells apart"
    pairs = np.sort((dst - first) * width + (src - least))
    dst = pairs // width
    return pairs - dst * width + least, dst + first


def joined(pairs):
    """Several results of `moves` as one."""
    return in_order(*(np.concatenate([pair[side] for pair in pairs]) for side in (0, 1)))


def unique(pairs):
    """The same without repetitions."""
    first = np.append(True, (np.diff(pairs[0]) != 0) | (np.diff(pairs[1]) != 0))
    return pairs[0][first], pairs[1][first]


def same(a, b):
    return np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1])


def source_span(plan):
    """What a plan may read, whatever its lengths are."""
    reaches = [(axis.extent - 1) * axis.src_stride for axis in plan.axes[: plan.rank]]
    reaches += [(axis.count - 1) * axis.src_stride for axis in plan.gathers[: plan.gathered]]
    begin, end = (sum(limit(reach, 0) for reach in reaches) for limit in (min, max))
    return plan.src_offset + begin, plan.src_offset + plan.item + end


def span_of(values):
    return int(values.min()), int(values.max()) + 1


# --- what the shaders make of a dispatch ------------------------------------------------------------------------------

MASK = 0xFFFFFFFF
ENTRIES_ROW = CONSTANTS["DML_ENTRIES_ROW"]


class Machine:
    """Runs a dispatch as the shader of its kernel does, but on numbers of bytes: what comes out is the
    (source byte, destination byte) pairs, relative to the ranges. Checks what the shaders take for granted."""

    def __init__(self, dispatch, lengths):
        self.dispatch, self.lengths, self.table = dispatch, lengths, dispatch.table  # the bytes of the lengths
        own = {ROWS: "DML_ROWS_", WORDS: "DML_WORDS_", ELEMENTS: None, BLOCKS: "DML_BLOCKS_"}[dispatch.kernel]
        names = {f"DML_{name.upper()}": name for name in ("group_size", "entries_way", "scalar", "dynamic", "segment_bits")}
        names["DML_GATHERED"] = "gathered"
        names |= {name: name.removeprefix("DML_").lower() for name in CONSTANTS if name.startswith("DML_ENTRY_")}
        names |= {name: name.removeprefix(own).lower() for name in CONSTANTS if own and name.startswith(own)}
        for name, attribute in names.items():
            setattr(self, attribute, int(dispatch.constants[CONSTANTS[name]]))
        least = CONSTANTS["DML_TABLE_MIN_AXES"]
        present = self.table.axes[: max(self.table.rank, least)]
        axes = [[getattr(axis, name) for name, _ in axis._fields_[:5]] for axis in present]
        assert self.table.gathers == len(axes) or not dispatch.constants[CONSTANTS["DML_GATHERED"]]
        rank = len(axes) + dispatch.constants[CONSTANTS["DML_GATHERED"]]
        assert dispatch.table_bytes == type(self.table).axes.offset + ctypes.sizeof(self.table.axes[0]) * rank
        assert all(axis == [1, MASK, 0, 0, 0] for axis in axes[self.table.rank :])
        self.axes = np.array(axes[: self.table.rank][::-1], np.int64).reshape(-1, 5)  # here the outermost first
        self.reversed_axis = self.table.rank - 1 - self.table.reversed_axis
        divisors = [(self.table.rows, self.table.rows_multiplier), *self.axes[:, :2].tolist()]
        if dispatch.kernel == WORDS:
            divisors.append((self.table.words_row, self.table.words_row_multiplier))
        if dispatch.kernel == BLOCKS:
            divisors.append((self.table.blocks_sides, self.table.blocks_sides_multiplier))
            divisors.append((self.table.blocks_tiles, self.table.blocks_tiles_multiplier))
        for d, multiplier in divisors:
            for n in (MASK, MASK // d * d, MASK // d * d - 1):
                assert self.divide(n, d, multiplier) == n // d, "a division would be wrong"
        if dispatch.kernel == ROWS:
            self.derive_rows()
        self.src, self.dst = [], []
        self.made = {}

    def once(self, make, *arguments):
        """What a function makes of numbers; the next row that has the same ones does not ask again."""
        key = make.__name__, *arguments
        if key not in self.made:
            self.made[key] = make(*arguments)
        return self.made[key]

    def derive_rows(self):
        """What rows.comp works out from its constants."""
        inner = [(getattr(self, f"extent_{i}"), getattr(self, f"stride_{i}")) for i in range(INNERS)]
        self.element = self.item * int(np.prod([extent for extent, _ in inner]))
        self.words, odd = divmod(self.tile * self.element, self.word)
        assert odd == 0, "a tile is not whole words"
        assert self.phase < self.word and self.skew < self.word
        self.words -= self.phase + self.skew > 0
        self.even = self.element & -self.element
        reaches = [(extent - 1) * stride for extent, stride in (*inner, (self.per_window, self.window_stride))]
        strides = self.stride, -self.stride
        self.low, self.forward_low = (
            sum(min(reach, 0) for reach in (*reaches, (self.tile - 1) * stride)) for stride in strides
        )
        self.window = (sum(map(abs, (*reaches, (self.tile - 1) * self.stride))) + self.item + 7) // 8
        streams = [1, *(extent for extent, _ in inner)][self.stream]
        assert self.window * streams <= CONSTANTS["DML_MAX_WINDOW_WORDS"], "more words than the shader has room for"
        self.side = self.schedule or 1
        assert self.group_size % self.side == 0, "invocations that no row has"
        whole = self.table.total == self.table.rows
        assert self.side == 1 or whole, "rows side by side are whole"
        assert self.schedule > 0 or whole, "the next row is another workgroup's"
        assert (self.schedule == 0) == (self.table.rows_prefetch_lines > 0)
        forwards = self.schedule > 0 and self.stride > 0 and self.entries_way != ENTRIES_ROW
        assert self.ahead == 0 or forwards, "prefetch of what is not read next"

    def run(self):
        total, chunk, chunks = self.table.total, self.table.chunk, self.table.chunks
        assert (chunks - 1) * chunk < total <= chunks * chunk, "chunks are not all of the work"
        assert self.dispatch.groups == chunks or self.dynamic, "nobody to do a chunk"
        if self.dispatch.kernel == ELEMENTS:
            self.elements(total)
        elif self.dispatch.kernel == WORDS:
            self.whole_words(total)
        elif self.dispatch.kernel == BLOCKS:
            self.blocks(total)
            return unique(in_order(np.concatenate(self.src), np.concatenate(self.dst)))  # the last rows may overlap others
        else:
            for first in range(0, total, chunk):
                self.chunk_of_rows(first, min(first + chunk, total))
        return in_order(np.concatenate(self.src), np.concatenate(self.dst))

    @staticmethod
    def divide(n, d, multiplier):
        high = (n * multiplier) >> 32
        return np.where(n - high * d >= d, high + 1, high)

    def locate(self, n):
        offsets = (self.table.src_offset, self.table.dst_offset, self.table.entry_offset, 0)
        src, dst, entry, index = (offset + 0 * n for offset in offsets)
        for k in reversed(range(self.table.rank)):
            extent, multiplier, src_stride, dst_stride, entry_stride = map(int, self.axes[k])
            quotient = self.divide(n, extent, multiplier)
            assert np.array_equal(quotient, n // extent)
            here, n = n - quotient * extent, quotient
            dst = (dst + here * dst_stride) & MASK
            if self.entries_way:
                entry = (entry + here * entry_stride) & MASK
                if k == self.reversed_axis:
                    index = here
                    continue
            src = (src + here * src_stride) & MASK
        return src, dst, entry, index

    def length_at(self, entry):
        return clamped(self.integer_at(entry), self.table.longest)

    def gather(self, src, dst, entry):
        """Where elements are whose indices on gathered axes are in the piece."""
        for k in range(self.gathered):
            axis = self.table.axes[self.table.gathers + k]
            extent, begin = axis.extent | axis.multiplier << 32, axis.src_stride | axis.dst_stride << 32
            index = picked(self.integer_at((entry + axis.entry_stride) & MASK), extent) - begin
            mine = (index >= 0) & (index < axis.gathered_count)
            assert self.entries_way == CONSTANTS["DML_ENTRIES_CUT"] or np.all(mine)
            src, dst, entry = (src + index * axis.gathered_stride)[mine] & MASK, dst[mine], entry[mine]
        return src, dst

    def integer_at(self, entry):
        """Integers at these bytes, of which a unit lies in a word of four bytes."""
        unit, swapped = self.entry_unit, bool(self.entry_swapped)
        assert unit in (1, 2, 4) and self.entry_bytes % unit == 0 and not np.any(np.asarray(entry) % unit)
        assert unit == 1 or not swapped, "a unit has bytes in the wrong order"
        raw = self.lengths[np.add.outer(entry, np.arange(self.entry_bytes))]
        dtype = f"{'<>'[swapped]}{'ui'[self.entry_signed]}{self.entry_bytes}"
        return raw.view(dtype)[..., 0]

    def give(self, src, dst, size):
        """Words of `size` bytes, at their own alignment."""
        src, dst = np.asarray(src) & MASK, np.asarray(dst) & MASK
        assert not np.any(src % size) and not np.any(dst % size), "a word is not aligned"
        byte = np.arange(size)
        self.src.append(np.add.outer(src, byte).ravel())
        self.dst.append(np.add.outer(dst, byte).ravel())

    def elements(self, total):
        """Scalars along the last axis, each row in strips: all of them at once, since none knows of another."""
        assert self.table.elements_extent == self.axes[-1][0] and self.table.rows * self.table.elements_extent <= MASK
        n = np.arange(total)
        strip = self.divide(n, self.table.rows, self.table.rows_multiplier)
        assert np.array_equal(strip, n // self.table.rows)
        positions = self.locate((n - strip * self.table.rows) * self.table.elements_extent)
        begin = strip * self.table.strip
        assert not np.any(begin >= self.table.elements_extent), "a strip with nothing in it"
        size = np.minimum(self.table.strip, self.table.elements_extent - begin)
        row = np.repeat(n, size)
        i = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size) + begin[row]
        src, dst, entry, index = ((at[row] + i * stride) & MASK for at, stride in zip(positions, self.axis_strides(-1)))
        if self.gathered:
            src, dst = self.gather(src, dst, entry)
        elif self.entries_way:
            cut = self.table.cut_begin, self.table.source_begin, self.table.source_end
            whole = self.entries_way != CONSTANTS["DML_ENTRIES_CUT"]
            reversed_begin, source_begin, source_end = (0, 0, 2**62) if whole else cut
            index = index + reversed_begin
            length = self.length_at(entry)
            index = np.where(index < length, length - 1 - index, index)
            mine = (source_begin <= index) & (index < source_end)
            src = src[mine] + (index[mine] - source_begin) * self.table.reversed_stride
            dst = dst[mine]
        self.give(src, dst, self.scalar)

    def whole_words(self, total):
        """A destination without gaps: where each byte comes from, and whether what the shader builds on is so. How it follows
        the rows through the words is left to the devices."""
        ratio, odd = divmod(self.stride, self.scalar)
        assert self.table.rows == 1 and self.table.words_row > 0 and self.table.words_row % self.scalar == 0
        assert odd == 0 and 1 <= abs(ratio) <= CONSTANTS["DML_MAX_WORDS_STRIDE"], "more words than the shader has room for"
        size = self.table.words_rows * self.table.words_row
        head = min(-self.table.dst_offset % 16, size)
        words = (size - head) // 16
        tiles = -(-words // self.tile)
        assert total * self.table.strip >= tiles, "words that nobody makes"
        src, dst, entry, index = self.locate(np.arange(self.table.words_rows))
        rows = np.arange(self.table.words_rows) * self.table.words_row
        assert np.array_equal(dst, (self.table.dst_offset + rows) & MASK), "the destination has gaps"
        # Along the last two axes a stride, or a wrap where the last of them begins again, is as good as locating.
        inner, outer = [int(extent) for extent in [1, 1, *self.axes[:, 0]][-1:-3:-1]]
        n = np.arange(1, self.table.words_rows)
        for at, stride, out in zip((src, dst, entry, index), self.axis_strides(-1), self.axis_strides(-2)):
            moved = (at[:-1] + np.where(n % inner == 0, out - (inner - 1) * stride, stride)) & MASK
            assert np.array_equal(at[1:][n % (inner * outer) != 0], moved[n % (inner * outer) != 0])
        if self.gathered:
            src, _ = self.gather(src, dst, entry)
        elif self.entries_way:
            length = self.length_at(entry)
            src = src + np.where(index < length, length - 1 - index, index) * self.table.reversed_stride
        byte = np.arange(size)
        within = byte % self.table.words_row
        source = (src[byte // self.table.words_row] + within // self.scalar * self.stride + within % self.scalar) & MASK
        assert np.all(source >> 4 <= self.table.src_last >> 1), "a byte beyond what is bound"
        whole = (head <= byte) & (byte < head + 16 * words)
        self.src.append(source[whole])
        self.dst.append((self.table.dst_offset + byte[whole]) & MASK)
        ends = byte[~whole][:: self.scalar]
        self.give(source[ends], self.table.dst_offset + ends, self.scalar)

    def blocks(self, total):
        """Words of several rows at once, and scalars around the ends of what is moved together."""
        table, chain = self.table, CONSTANTS["DML_MAX_CHAIN"]
        row = self.axes[-chain:]
        extent, _, src_stride, dst_stride, _ = map(int, self.axes[-1 - chain])
        size = int(np.prod(row[:, 0])) * self.scalar
        assert table.blocks_row == size >= 8 and dst_stride in (size, 0) and np.all(row[: chain - self.chain, 0] == 1)
        assert self.rows == 1 or src_stride == self.scalar and self.rows * self.scalar <= 8, "rows that no window has"
        assert self.phased or (table.dst_offset | size) % 8 == 0
        outer, odd = divmod(table.blocks_bytes, extent * size)
        assert odd == 0 and table.blocks_count == outer * table.blocks_sides * table.blocks_tiles
        assert table.blocks_sides * self.rows >= extent, "rows that nobody moves"
        assert table.blocks_tiles * table.blocks_words * 8 >= size, "words that nobody moves"
        assert table.rows == 1 and total * table.strip >= table.blocks_count + table.blocks_edges
        source = self.locate(np.arange(outer * extent * size // self.scalar))[0]
        for n in range(table.blocks_count):
            along, side = divmod(n, table.blocks_sides)
            outer, tile = divmod(along, table.blocks_tiles)
            first = outer * extent + min(side * self.rows, extent - self.rows)
            self.tile_of_blocks(source, first, tile * table.blocks_words * 8)
        for n in range(table.blocks_edges):
            outer, side = divmod(n - 1, table.blocks_sides)
            end = (outer * extent + min((side + 1) * self.rows, extent)) * size if n else 0
            word = (table.dst_offset + end) // 8 * 8 - table.dst_offset
            stop = word + 8 * ((end + table.dst_offset) % 8 > 0)
            within = np.arange(max(word, 0), min(stop, table.blocks_bytes), self.scalar)
            self.give(source[within // self.scalar], table.dst_offset + within, self.scalar)

    def tile_of_blocks(self, source, first, begin):
        """From byte `begin` on of the rows that follow `first`."""
        size = self.table.blocks_row
        for at in range(begin, min(begin + 8 * self.table.blocks_words, size), 8):
            window = source[first * size // self.scalar + np.arange(at, min(at + 8, size), self.scalar) // self.scalar]
            assert not np.any(window % self.align), "a window is not aligned"
            for r in range(self.rows):
                to = (first + r) * size + at
                phase = -(self.table.dst_offset + to) % 8
                if at + phase >= size or (r + 1 == self.rows and at + phase + 8 > size):
                    continue
                assert self.phased or phase == 0
                byte = to + phase + np.arange(8)
                assert np.all(source[byte // self.scalar] // 8 <= self.table.src_last)
                self.src.append(source[byte // self.scalar] + byte % self.scalar)
                self.dst.append(self.table.dst_offset + byte)

    def axis_strides(self, k):
        """From one index to the next on an axis, counted from the last, -1."""
        if self.table.rank + k < 0:
            return 0, 0, 0, 0
        _, _, src, dst, length = map(int, self.axes[k])
        reversed_ = self.reversed_axis == self.table.rank + k
        return (0 if reversed_ else src), dst, length, int(reversed_)

    def chunk_of_rows(self, n, end):
        """Rows one after the other: the first is located, those behind it along the last two axes a stride away, or a wrap to
        where the last axis begins again. Rows side by side are all located."""
        extents = [1, 1, *map(int, self.axes[:, 0])]
        stride, outer = self.axis_strides(-1), self.axis_strides(-2)
        wrap = [to - (extents[-1] - 1) * back for to, back in zip(outer, stride)]
        while n < end:
            strip = int(self.divide(np.int64(n), self.table.rows, self.table.rows_multiplier))
            assert strip == n // self.table.rows
            row, walk = n - strip * self.table.rows, extents[-2] * extents[-1]
            position = [int(value) for value in self.locate(np.int64(row))]
            run = min(walk - row % walk, end - n) if self.side == 1 else 1
            n += run
            for i in range(row, row + run):
                self.row(*position, strip)
                wraps = (i + 1) % extents[-1] == 0
                position = [(at + way) & MASK for at, way in zip(position, wrap if wraps else stride)]

    def row(self, src, dst, entry, index, strip):
        length = int(self.length_at(entry)) if self.entries_way and not self.gathered else 0
        if self.gathered:
            src = int(self.gather(*map(np.array, ([src], [dst], [entry])))[0][0])
        elif self.entries_way == CONSTANTS["DML_ENTRIES_ADVANCE"]:
            src += (length - 1 - index if index < length else index) * self.table.reversed_stride
        self.copy_row(src, dst, length if self.entries_way == ENTRIES_ROW else 0, strip)

    def offsets(self, byte, stride):
        """(stream, source offset) of bytes of a row, from its first element."""
        within = byte % self.element
        index, offset, stream = within // self.item, byte // self.element * stride + within % self.item, 0 * byte
        for i in range(INNERS):
            extent, stride = getattr(self, f"extent_{i}"), getattr(self, f"stride_{i}")
            x = index if i == INNERS - 1 else index % extent
            index = index // extent
            if self.stream == i + 1:
                stream = x
            else:
                offset = offset + x * stride
        return stream, offset

    def whole_words_of_a_row(self, phase, first, last):
        """(first element, elements) of what is whole words in a range of a row's elements, if that is a tile or more. The row
        begins `phase` bytes behind a word."""
        period = max(self.word // self.even, 1)
        starts = (phase + (first + np.arange(period)) * self.element) % self.word
        head = int(np.argmax(starts == starts.min()))  # the first element at a word, or where none is, at any
        head = min(head, last - first)
        whole = (last - first - head) // period * period
        return first + head, whole if whole >= self.tile else 0

    def copy_row(self, src, dst, length, strip):
        """A row whose first `length` elements are reversed."""
        phase = dst % self.word
        a = self.once(self.whole_words_of_a_row, phase, 0, length) if self.entries_way == ENTRIES_ROW else (0, 0)
        b = self.once(self.whole_words_of_a_row, phase, length, self.table.rows_extent)
        forward = -self.stride if self.entries_way == ENTRIES_ROW else self.stride
        self.copy_head_and_tail(src, dst, length, forward, a, b, strip)
        # Of each: the elements' order, their source, and the pattern. A row's tiles are shared out as one.
        before = 0
        for (first, whole), mirrored in ((a, True), (b, False)):
            if not whole:
                continue
            element, own = self.once(self.tiles_of_a_row, first, whole, before, strip)
            before += -(-whole // self.tile)
            if self.entries_way == ENTRIES_ROW and not mirrored:
                pattern = forward, self.forward_low, self.forward_unit
            else:
                pattern = self.stride, self.low, self.unit
            at = (length - 1 - element if mirrored else element) * forward + pattern[1]
            if element.size:
                self.copy_tiles(src + at, dst + element * self.element, own, *pattern)
        assert strip > 0 or before <= self.table.strip * (self.table.total // self.table.rows), "tiles that no strip has"

    def tiles_of_a_row(self, first, whole, before, strip):
        """(first elements, own bytes) of a strip's tiles, of whole words that have `before` tiles before them. The last may
        overlap the one before it, which leaves it the words that it lacks."""
        begin, end = strip * self.table.strip - before, (strip + 1) * self.table.strip - before
        tile = np.arange(max(begin, 0), max(0, min(end, -(-whole // self.tile))))
        begins = np.minimum(tile * self.tile, whole - self.tile)
        skip = (tile * self.tile - begins) * self.element
        assert not np.any(skip % self.word) and (self.scalar > 0 or not np.any(skip))
        assert not tile.size or skip.max() < self.word * self.words, "a tile with nothing of its own"
        return first + begins, np.arange(self.word * self.words) >= skip[:, None]

    def head_and_tail(self, *inside):
        """A row's elements but for those inside of what is whole words: (first element, elements)."""
        element = np.arange(self.table.rows_extent)
        return element[~np.any([(first <= element) & (element < first + whole) for first, whole in inside], axis=0)]

    def copy_head_and_tail(self, src, dst, length, forward, a, b, strip):
        element = self.once(self.head_and_tail, a, b)
        if self.scalar == 0:
            assert element.size == 0, "there are heads or tails"
        elif strip == 0 and element.size:
            byte = np.arange(0, self.element, self.scalar)
            stream, offset = self.offsets(byte, 0)
            source = np.where(element < length, length - 1 - element, element) * forward
            for r in range(self.per_window):
                at = np.add.outer(source, offset + stream * self.table.rows_stream_stride) + src + r * self.window_stride
                to = np.add.outer(element * self.element, byte) + dst + r * self.table.rows_window_dst_stride
                self.give(at.ravel(), to.ravel(), self.scalar)

    def pattern(self, r, stride, low, unit):
        """Of the r-th row of a window, for each byte of a tile: where it is in the row, its stream, and where in the window."""
        byte = np.arange(self.word * self.words)
        skipped = -(self.phase + r * self.skew) % self.word
        stream, offset = self.offsets(byte + skipped, stride)
        offset = offset - low + r * self.window_stride
        assert offset.min() >= 0 and offset.max() < 8 * self.window, "the pattern leaves its window"
        assert np.array_equal(offset, offset[byte // unit * unit] + byte % unit)
        assert np.array_equal(stream, stream[byte // unit * unit]) and not np.any(offset[::unit] % unit)
        return byte + skipped, stream, offset

    def copy_tiles(self, src, dst, own, stride, low, unit):
        for r in range(self.per_window):
            place, stream, offset = self.once(self.pattern, r, stride, low, unit)
            windows = np.add.outer(src, stream * self.table.rows_stream_stride) & MASK
            assert not (windows % self.align).any(), "a window is not aligned"
            self.check_loads(windows, offset // 8)
            stores = (np.add.outer(dst, place) + r * self.table.rows_window_dst_stride) & MASK
            assert not (stores[:, :: self.word] % self.word).any(), "a store is not aligned"
            self.src.append((windows + offset)[own])
            self.dst.append(stores[own])

    def check_loads(self, windows, i):
        """Words that are loaded, and not held back at the window's end by the shader itself, are inside of it."""
        if self.align >= 8:
            assert ((windows >> 3) + i <= (self.table.src_last | (self.align == 16))).all()
        else:
            assert np.all(windows >> 4 <= self.table.src_last >> 1)  # the first pair; those behind it are held back
