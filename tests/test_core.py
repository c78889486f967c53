"""csrc/core by itself: plans, their simplification and splitting, the operators' plans, and kernel choice.

No device is used, and nothing of dmlops but the NumPy reference: csrc/core is compiled into a library of its own.
"""

import ctypes
import difflib
import functools
import itertools
import os
import random
import subprocess
from ctypes import byref

import numpy as np
import pytest
from dmlops import reference
from hypothesis import given
from hypothesis import strategies as st

import core as mirror
import strategies
import support
from core import ANY, BLOCKS, CONSTANTS, COPY, DST, ELEMENTS, ROWS, SRC, WORDS, golden
from strategies import FEWER, content

pytestmark = [pytest.mark.driverless, pytest.mark.posix]


@pytest.fixture(scope="module")
def core_library(tmp_path_factory):
    return support.built_once(tmp_path_factory, mirror.LIBRARY, mirror.build)


@pytest.fixture(scope="module")
def core(core_library):
    core = mirror.Core(core_library)
    core.library.dml_cache_open(ctypes.c_size_t(1 << 24), ctypes.c_size_t(0))  # of which the host's stages are
    return core


def test_the_headers_are_read_as_the_compiler_reads_them(core):
    assert not core.mismatches()
    assert len(mirror.STRUCTURES) > 15 and len(mirror.CONSTANTS) > 50


# --- plans to try -----------------------------------------------------------------------------------------------------


class Case:
    """A plan as plain data, and the lengths it points to, in which their offset and strides count."""

    def __init__(self, item, axes, src_offset, dst_offset, reversed_, first, lengths, dtype="<i8"):
        self.lengths = np.array(lengths, np.int64).astype(dtype)
        self.plan = mirror.Plan(item=item, src_offset=src_offset, dst_offset=dst_offset, reversed=reversed_, rank=len(axes))
        self.plan.entries = entries_of(self.lengths, first)
        for k, (*axis, step) in enumerate(axes):
            self.plan.axes[k] = mirror.Axis(*axis, step * self.lengths.itemsize)
        self.text = f"Case({item}, {axes}, {src_offset}, {dst_offset}, {reversed_}, {first}, {lengths}, {dtype!r})"

    def __repr__(self):
        return self.text


def entries_of(array, first=0):
    """An array of integers, from entry `first` on, as the core has it."""
    entries = mirror.Entries(item=array.itemsize, offset=first * array.itemsize, is_signed=array.dtype.kind == "i")
    entries.data = array.ctypes.data_as(ctypes.POINTER(ctypes.c_int))
    entries.swapped = not array.dtype.isnative
    return entries


INTEGERS = st.sampled_from(["<i8", "<i8", "<u8", ">i8", "<i4", "<u4", ">u4", "<i2", ">u2", "<i1", "<u1"])


ITEMS = [1, 1, 1, 2, 3, 4, 4, 6, 8, 8, 12, 16, 24, 100, 160]


@st.composite
def cases(draw, elements=300, empty=True):
    item = draw(st.sampled_from(ITEMS + [0] if empty else ITEMS))
    rank = draw(st.integers(0, 6))
    order = list(draw(st.permutations(range(rank))))  # the destination's axes, the fastest first
    extents, budget = [1] * rank, elements
    for k in order:
        sizes = st.sampled_from([1, 2, 2, 3, 4, 5, 8, 9, 16, 31, 64, 65, 100, 129, 200, 300])
        extents[k] = min(draw(sizes), budget)
        budget //= extents[k]
    if empty and rank and draw(st.integers(0, 19)) == 0:
        extents[draw(st.integers(0, rank - 1))] = 0

    axes = [[extent, 0, 0, 0] for extent in extents]
    src_span = dst_span = item
    for k in order:
        reach = max(extents[k] - 1, 0)
        gap = draw(st.sampled_from([0, 0, 0, 0, 0, 1, 4, 16, 7]))
        dst = dst_span + gap
        kind = draw(st.sampled_from(["chain", "chain", "chain", "gap", "step", "zero", "any", "any"]))
        src = {"chain": src_span, "gap": src_span + gap, "step": item * draw(st.integers(1, 9)), "zero": 0}.get(kind)
        if src is None:
            src = draw(st.sampled_from([1, 2, 8, 16, 64, 65, 160, 1024])) * draw(st.sampled_from([1, item]))
        axes[k][1:3] = [src, dst]
        src_span, dst_span = max(src_span, src_span + src * reach), dst_span + dst * reach
        signs = draw(st.sampled_from(["both", "both", "both", "src", "dst", "neither"]))
        if signs in ("src", "neither"):
            axes[k][1] = -src
        if signs in ("dst", "neither"):
            axes[k][2] = -dst

    reversed_ = draw(st.integers(0, rank - 1)) if rank and draw(st.booleans()) else -1
    first, count = 0, 1
    for k in order:
        if reversed_ >= 0 and k != reversed_ and draw(st.booleans()):
            axes[k][3] = count * draw(st.sampled_from([1, 1, -1]))
            first += min(0, (max(extents[k], 1) - 1) * axes[k][3])
            count *= max(extents[k], 1)
    most = extents[reversed_] if reversed_ >= 0 else 0
    seed = draw(strategies.seeds)
    lengths = np.random.default_rng(seed).integers(0, most, count, endpoint=True)
    lengths = np.where(lengths % 3 == 0, most, lengths) if seed % 2 else lengths
    offsets = [draw(st.sampled_from([0, 0, 16, 1, 3, 8, 4, -16, 12345, 2**33 + 2])) for _ in range(2)]
    lengths = lengths.tolist() if reversed_ >= 0 else []
    return Case(item, axes, *offsets, reversed_, -first, lengths, draw(INTEGERS))


@st.composite
def gather_cases(draw, most=40):
    """A plan with one to three gathered axes, whose entries lie along some of the others."""
    item, rank, gathered = draw(st.sampled_from(ITEMS)), draw(st.integers(0, 4)), draw(st.sampled_from([1, 1, 1, 2, 3]))
    axes, dst, first, count = [], item, 0, gathered
    for _ in range(rank):
        extent = draw(st.sampled_from([1, 2, 3, 5, 8, 17, 33]))
        extent = min(extent, max(1, 300 // max(1, dst // item)))
        src = draw(st.sampled_from([0, 0, item, dst, -item, 1, 64]))
        step = 0
        if draw(st.booleans()):
            step = count * draw(st.sampled_from([1, 1, -1]))
            first += min(0, (extent - 1) * step)
            count *= extent
        axes.insert(0, (extent, src, dst * draw(st.sampled_from([1, 1, 1, -1])), step))
        dst = dst * extent + draw(st.sampled_from([0, 0, 0, 7, 16]))
    extents = [draw(st.integers(1, most)) for _ in range(gathered)]
    rng = np.random.default_rng(draw(strategies.seeds))
    indices = np.stack([rng.integers(-extent - 2, extent + 2, count // gathered) for extent in extents], axis=-1).ravel()
    dtype = draw(INTEGERS)
    indices = np.abs(indices) if "u" in dtype else indices
    offsets = [draw(st.sampled_from([0, 16, 1, 8, 12345, 2**33 + 2])) for _ in range(2)]
    case = Case(item, axes, *offsets, -1, -first, indices.tolist(), dtype)
    case.plan.gathered = gathered
    for k, extent in enumerate(extents):
        stride = draw(st.sampled_from([item, item * most, 16 * item, -item, 1, 64, 24]))
        case.plan.gathers[k] = mirror.Gathered(extent, 0, extent, stride, k * case.lengths.itemsize)
        case.text += f", gathered {extent} at {stride}"
    return case


# --- simplify ---------------------------------------------------------------------------------------------------------


@given(case=cases())
def test_simplifying_moves_the_same_bytes(core, case):
    simple = core.simplified(case.plan)
    assert mirror.same(mirror.moves(simple, case.lengths), mirror.moves(case.plan, case.lengths))


@given(case=gather_cases())
def test_gathers_stay_the_same_where_they_are_simplified_run_by_the_host_and_cut(core, case):
    simple, expected = core.simplified(case.plan), mirror.moves(case.plan, case.lengths)
    assert mirror.same(mirror.moves(simple, case.lengths), expected)
    assert core.span("entry", case.plan) == (0, case.lengths.nbytes)
    (begin, end), (low, high) = mirror.source_span(case.plan), mirror.span_of(expected[1])
    source = np.random.default_rng(1).integers(0, 256, end - begin, np.uint8)
    given_ = np.zeros(high - low, np.uint8)
    bases = [(array.ctypes.data - first) % 2**64 for array, first in ((source, begin), (given_, low))]
    core.library.dml_host_run(byref(case.plan), *bases, None)
    wanted = np.zeros_like(given_)
    wanted[expected[1] - low] = source[expected[0] - begin]
    assert np.array_equal(given_, wanted)
    for limit in (max(64, (end - begin) // 3), 2**40):
        pairs = []
        for piece in core.pieces(simple, limit):
            reads, (first, last) = core.span("src", piece), core.span("entry", piece.plan)
            assert begin <= reads[0] and reads[1] <= end and reads[1] - reads[0] <= limit and last - first <= limit
            assert piece.cut == any(axis.count < axis.extent for axis in piece.plan.gathers[: piece.plan.gathered])
            src, dst = mirror.moves(piece.plan, case.lengths)
            assert not src.size or reads[0] <= src.min() and src.max() < reads[1]
            pairs.append((src, dst))
        assert mirror.same(mirror.joined(pairs), expected)


@given(case=gather_cases(), make_traits=st.deferred(lambda: traits()), forced=st.sampled_from([ROWS, WORDS, ELEMENTS, ANY]))
def test_kernels_gather_what_the_plan_says(core, case, make_traits, forced):
    offered = make_traits(core)
    for limit in (2**40, 256):
        for piece in itertools.islice(core.pieces(core.simplified(case.plan), limit), 20):
            piece = piece if piece.cut else core.simplified_piece(piece)
            check_choice(core, piece, case.lengths, offered, 0, 3, forced)


@given(case=cases())
def test_what_is_simplified_is_simple(core, case):
    simple = core.simplified(case.plan)
    again = core.simplified(simple)
    assert mirror.describe(again) == mirror.describe(simple), "simplifying twice is not simplifying once"
    count = core.library.dml_plan_count(byref(case.plan))
    if count == 0:
        assert mirror.describe(simple)[4:] == (-1, [(0, 0, 0, 0)])
        return
    axes = simple.axes[: simple.rank]
    assert simple.rank <= case.plan.rank and simple.item >= case.plan.item
    assert simple.item * core.library.dml_plan_count(byref(simple)) == case.plan.item * count
    assert all(axis.extent > 1 for axis in axes)
    assert all(axis.dst_stride > 0 for k, axis in enumerate(axes) if k != simple.reversed)
    steps = [abs(axis.dst_stride) for axis in axes]
    assert steps == sorted(steps, reverse=True)
    if simple.reversed < 0:
        assert not any(axis.entry_stride for axis in axes)
    for k in range(simple.rank - 1):
        a, b = axes[k], axes[k + 1]
        names = ("src_stride", "dst_stride", "entry_stride")
        chain = all(getattr(a, name) == b.extent * getattr(b, name) for name in names)
        assert not chain or simple.reversed in (k, k + 1), "two axes could be one"
    if axes and simple.reversed != simple.rank - 1 and not axes[-1].entry_stride:
        assert {axes[-1].src_stride, axes[-1].dst_stride} != {simple.item}, "the item could be longer"


@pytest.mark.parametrize(
    "axes, item, expected",
    [
        ([(2, 12, 12), (3, 4, 4)], 4, (24, [])),  # contiguous: one item
        ([(3, 4, 8), (2, 12, 4)], 4, (4, [(3, 4, 8), (2, 12, 4)])),  # a transpose stays one
        ([(5, 100, 20), (5, 4, 4)], 4, (20, [(5, 100, 20)])),  # rows grow the item
        ([(5, 16, -16), (4, 4, 4)], 4, (16, [(5, -16, 16)])),  # the destination is walked upwards
        ([(2, 4, 4), (3, 8, 8)], 4, (24, [])),  # in whichever order
        ([(1, 7, 9), (1, 3, -5)], 4, (4, [])),  # extents of one go
    ],
)
def test_simplified_by_hand(core, axes, item, expected):
    simple = core.simplified(Case(item, [(*axis, 0) for axis in axes], 0, 0, -1, 0, []).plan)
    item, *_, axes = mirror.describe(simple)
    assert (item, [axis[:3] for axis in axes]) == expected


# --- spans and the host's run -----------------------------------------------------------------------------------------


@given(case=cases(empty=False))
def test_spans(core, case):
    src, dst = mirror.moves(case.plan, case.lengths)
    begin, end = mirror.source_span(case.plan)
    assert (begin, end) == mirror.span_of(src) or case.plan.reversed >= 0 and begin <= src.min() and src.max() < end
    assert core.span("dst", case.plan) == mirror.span_of(dst)
    begin, end = core.span("entry", case.plan)
    assert (begin, end) == (0, case.lengths.nbytes) or case.plan.reversed < 0 and begin == end


@FEWER  # thousands are moved below, by what is compiled for that
@given(case=cases())
def test_the_host_moves_what_the_plan_says(core, case):
    src, dst = mirror.moves(case.plan, case.lengths)
    if not dst.size:
        core.library.dml_host_run(byref(case.plan), None, None, None)
        return
    begin, end = mirror.source_span(case.plan)
    low, high = mirror.span_of(dst)
    source = np.random.default_rng(1).integers(0, 256, end - begin, np.uint8)
    given_ = np.random.default_rng(2).integers(0, 256, high - low, np.uint8)
    expected = given_.copy()
    expected[dst - low] = source[src - begin]
    bases = [(array.ctypes.data - first) % 2**64 for array, first in ((source, begin), (given_, low))]
    core.library.dml_host_run(byref(case.plan), *bases, None)
    assert np.array_equal(given_, expected)


BORDERS = [1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 64, 65, 255, 257, 1023, 1024, 1025, 2050]


@st.composite
def tables(draw):
    """Numbers in any layout, the result's bytes that they become, and the table, whose rows may lie along any axis."""
    rank = draw(st.integers(2, 4))
    extents, budget = [1] * rank, 30_000
    for k in draw(st.permutations(range(rank))):
        extents[k] = draw(st.sampled_from([size for size in BORDERS if size <= budget]))
        budget //= extents[k]
    rng = np.random.default_rng(draw(strategies.seeds))
    kind, item = draw(st.sampled_from([np.uint8, np.uint8, np.uint16])), draw(st.sampled_from([1, 2, 4, 8, 3, 12]))
    order = draw(st.permutations(range(rank)))
    steps = [draw(st.sampled_from([1, 1, 1, -1, 2, -3])) for _ in range(rank)]
    whole = rng.integers(0, 1 << 16, [extents[k] * abs(step) for k, step in zip(order, steps, strict=True)]).astype(kind)
    numbers = whole[tuple(slice(None, None, step) for step in steps)].transpose(np.argsort(order))
    gaps = [draw(st.sampled_from([0, 0, 0, 1])) for _ in range(rank)]
    result = np.zeros([extent + gap for extent, gap in zip(extents, gaps, strict=True)] + [item], np.uint8)
    rows, budget = [1] * rank, 128 if kind is np.uint8 else 5
    for k in draw(st.permutations(range(rank))):
        rows[k] = draw(st.sampled_from([1, extents[k] if extents[k] <= budget else 1]))
        budget //= rows[k]
    table = rng.integers(0, 256, (*rows, np.iinfo(kind).max + 1, item), np.uint8)
    return numbers, result[tuple(map(slice, extents))], table


def check_lookups(core, numbers, result, table):
    whole = result.base
    rows = [np.arange(extent).reshape(-1, *[1] * (numbers.ndim - 1 - k)) for k, extent in enumerate(table.shape[:-2])]
    expected = np.zeros_like(whole)
    expected[tuple(map(slice, numbers.shape))] = table[(*rows, numbers)]
    plan = mirror.Plan(item=table.shape[-1], reversed=-1, src_item=numbers.itemsize, rank=numbers.ndim)
    plan.entries = mirror.Entries(item=table[(0,) * numbers.ndim].nbytes)
    plan.entries.data = table.ctypes.data_as(ctypes.POINTER(ctypes.c_int))
    for k, extent in enumerate(numbers.shape):
        entry = table.strides[k] if table.shape[k] > 1 else 0
        plan.axes[k] = mirror.Axis(extent, numbers.strides[k], result.strides[k], entry)
    core.library.dml_host_run(byref(plan), numbers.ctypes.data, result.ctypes.data, None)
    assert np.array_equal(whole, expected), (numbers.shape, numbers.strides, result.strides, table.shape)


@given(case=tables())
def test_the_host_looks_up_what_the_table_has(core, case):
    check_lookups(core, *case)


@pytest.mark.parametrize("axis", range(3))
def test_rows_of_a_table_follow_blocks_of_what_the_host_transposes(core, axis):
    rng = np.random.default_rng(axis)
    numbers = rng.integers(0, 256, (2, 9000, 100), np.uint8).transpose(0, 2, 1)
    table = rng.integers(0, 256, [extent if k == axis else 1 for k, extent in enumerate(numbers.shape)] + [256, 2], np.uint8)
    check_lookups(core, numbers, np.zeros((*numbers.shape, 2), np.uint8)[...], table)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("pixel", [1, 3, 4, 5])
def test_rows_of_a_table_follow_blocks_of_pixels(core, pixel, axis):
    rng = np.random.default_rng(axis)
    numbers = rng.integers(0, 256, (4500, 150, pixel), np.uint8).transpose(1, 0, 2)
    table = rng.integers(0, 256, [extent if k == axis else 1 for k, extent in enumerate(numbers.shape)] + [256, 2], np.uint8)
    check_lookups(core, numbers, np.zeros((*numbers.shape, 2), np.uint8)[...], table)


@pytest.fixture(scope="module")
def fuzz_host(core_library, tmp_path_factory):
    """A function that gives the program, with sanitizers or without."""

    @functools.cache
    def build(sanitized):
        program = tmp_path_factory.mktemp("host") / "fuzz_host"
        if sanitized:
            library = support.built_once(tmp_path_factory, mirror.SANITIZED_LIBRARY, mirror.build_sanitized)
            mirror.compile_program(program, library, *mirror.SANITIZED)
        else:
            mirror.compile_program(program, core_library, "-O2")
        return program

    return build


# Sanitizers find what is read or written beyond an array. Without them the compiler optimises as it does for users.
@pytest.mark.parametrize(
    "plans, size, sanitized",
    [
        pytest.param(4000, 10_000, False, id="small"),
        pytest.param(60, 3_000_000, False, id="large"),
        pytest.param(20_000, 20_000, True, id="sanitized", marks=pytest.mark.check),
        pytest.param(500_000, 20_000, True, id="many sanitized", marks=pytest.mark.soak),
        pytest.param(300, 4_000_000, True, id="large sanitized", marks=pytest.mark.check),
    ],
)
def test_the_host_moves_random_plans(plans, size, sanitized, fuzz_host):
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    seed = random.randrange(2**32)
    command = [str(fuzz_host(sanitized)), str(plans), str(seed), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, f"{' '.join(command[1:])}: {done.stdout}{done.stderr}"


# --- split ------------------------------------------------------------------------------------------------------------


def own_moves(piece, lengths):
    return mirror.moves(piece.plan, lengths, piece if piece.plan.reversed >= 0 else None)


def limit_for(plan, pieces):
    """A limit that makes about so many pieces of a plan, or few more."""
    return max(64, plan.item * int(np.prod([axis.extent for axis in plan.axes[: plan.rank]])) // pieces)


def check_pieces(core, plan, lengths, limit, binding=None):
    pairs = []
    readable = mirror.source_span(plan)
    for piece in core.pieces(plan, limit, binding=binding):
        src, _ = pair = own_moves(piece, lengths)
        if piece.plan.reversed < 0:
            assert not piece.cut and (piece.reversed_begin, piece.source_begin, piece.source_end) == (0, 0, 0)
        elif piece.cut:
            assert src.size, "a piece with nothing to do"
        else:
            extent = piece.plan.axes[piece.plan.reversed].extent
            assert (piece.reversed_begin, piece.source_begin, piece.source_end) == (0, 0, extent)
        reads = core.span("src", piece)
        assert readable[0] <= reads[0] and reads[1] <= readable[1], "a piece would read beyond the source"
        assert not src.size or reads[0] <= src.min() and src.max() < reads[1]
        assert all(end - begin <= limit for begin, end in (reads, core.span("dst", piece.plan)))
        begin, end = core.span("entry", piece.plan)
        assert end - begin <= (binding or limit)
        pairs.append(pair)
    assert mirror.same(mirror.joined(pairs), mirror.moves(plan, lengths))
    return len(pairs)


@given(case=cases(empty=False), pieces=st.integers(1, 12), bindings=st.integers(1, 6))
def test_pieces_are_the_whole_and_fit(core, case, pieces, bindings):
    plan = core.simplified(case.plan)
    limit = limit_for(plan, pieces)
    check_pieces(core, plan, case.lengths, limit, max(64, limit // bindings))
    assert check_pieces(core, plan, case.lengths, 2**40) == 1


def looked_up(offsets, copy):
    """Where bytes that were packed lay before: `offsets` are after, `copy` moved them."""
    before, after = mirror.moves(copy, [])
    order = np.argsort(after, kind="stable")
    found = order[np.searchsorted(after, offsets, sorter=order)]
    assert np.array_equal(after[found], offsets), "the piece uses bytes that were not packed"
    return before[found]


def check_packing(core, plan, lengths, chunk, packs):
    """Pieces whose sides are packed, some or all, are still the whole, and small enough."""
    pairs, limit = [], 2**41
    for piece in core.pieces(plan, limit, chunk, *packs):
        packed, copies = piece, {}
        for side in (side for side in (SRC, DST) if packs[side]):
            packed, copies[side] = core.packed(packed, side, side == DST)
            begin, end = core.span("src", packed) if side == SRC else core.span("dst", packed.plan)
            assert begin == 0 and end <= chunk
            moved = copies[side]
            written = mirror.moves(moved, [])[1]
            assert written.size == np.unique(written).size and written.max() < end
            if side == DST:
                elements = core.library.dml_plan_count(byref(piece.plan))
                assert written.size == elements * piece.plan.item, "more than the elements"
        if not packed.cut:
            packed = core.simplified_piece(packed)
        src, dst = own_moves(packed, lengths)
        if SRC in copies:
            src = looked_up(src, copies[SRC])
        if DST in copies:
            dst = looked_up(dst, copies[DST])
        pairs.append((src, dst))
    assert mirror.same(mirror.joined([mirror.in_order(*pair) for pair in pairs]), mirror.moves(plan, lengths))
    return len(pairs)


PACKS = st.sampled_from([(True, True), (True, False), (False, True)])


@given(case=cases(empty=False), pieces=st.integers(1, 12), packs=PACKS)
def test_packed_pieces_are_the_whole_and_fit(core, case, pieces, packs):
    plan = core.simplified(case.plan)
    check_packing(core, plan, case.lengths, limit_for(plan, pieces), packs)
    assert check_packing(core, plan, case.lengths, 2**40, packs) == 1


@st.composite
def long_reversals(draw):
    """A reversed axis that is longer than the limit; the pieces are some nine for each row."""
    item, extent, rows = draw(st.sampled_from([1, 2, 3, 8, 16])), draw(st.integers(70, 900)), draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(0, extent) | st.just(extent), min_size=rows, max_size=rows))
    src, dst = draw(st.sampled_from([1, 1, -1, 2])) * item, draw(st.sampled_from([1, 1, -1, 3])) * item
    axes = [(rows, abs(src) * extent + 5, abs(dst) * extent, 1), (extent, src, dst, 0)]
    return Case(item, axes, 1000, 3, 1, 0, lengths, draw(INTEGERS))


@given(case=long_reversals(), pieces=st.integers(2, 4), packs=PACKS)
def test_pieces_of_a_reversed_axis(core, case, pieces, packs):
    plan = core.simplified(case.plan)
    axis = plan.axes[plan.rank - 1]
    limit = max(64, axis.extent * max(abs(axis.src_stride), abs(axis.dst_stride)) // pieces)
    check_pieces(core, plan, case.lengths, limit)
    check_packing(core, plan, case.lengths, limit, packs)
    offered = core.traits("gpu", group_size=8, max_groups=7, chunks=256, invocation_bytes=64, range=limit, binding=limit)
    for piece in core.pieces(plan, limit):
        check_choice(core, piece, case.lengths, offered, 0, 7, ANY)


def count_pieces(core, item, axes, reversed_, limit):
    plan = core.simplified(Case(item, axes, 0, 0, reversed_, 0, [0]).plan)
    plan.entries.data = None  # nothing is known of them: no piece can be left out
    return sum(1 for _ in itertools.islice(core.pieces(plan, limit), 10_000))


@pytest.mark.parametrize("limit", [2**26, 2**27, 2**32 - 8192])
@pytest.mark.parametrize(
    "rows, columns", [(2, 10**9), (3, 150 * 10**6), (4, 33 * 10**6), (100, 10**7), (10**7, 100), (10**9, 1)]
)
@pytest.mark.parametrize("entry_stride", [0, 1])
def test_large_arrays_are_cut_into_few_pieces(core, rows, columns, entry_stride, limit):
    """An array reversed along its outer axis, with a length for each column or one for all: how often it is cut must
    depend on its size, and not on how many elements it has."""
    whole = rows * columns * (8 if entry_stride else 1)
    axes = [(rows, columns, columns, 0), (columns, 1, 1, entry_stride)]
    tiles = min(rows, 3 * (rows * columns // limit + 1))
    assert count_pieces(core, 1, axes, 0, limit) <= tiles**2 * (2 + 8 * whole // limit)
    axes = [(columns, 1, 1, 0), (rows, columns, columns, entry_stride)]
    assert count_pieces(core, 1, axes, -1, limit) <= 4 + 4 * whole // limit


@pytest.mark.parametrize("rows, columns", [(2**22, 4), (2**21, 8), (2**20, 16), (2**18, 64)])
def test_long_sequences_are_not_staged_over_and_over(core, rows, columns):
    """64 MiB reversed along the outer axis, a length for each column. Cutting that axis is what makes chunks smaller; where
    columns are a few bytes apart, cutting these makes hardly any difference."""
    whole = rows * columns * 4
    case = Case(4, [(rows, columns * 4, columns * 4, 0), (columns, 4, 4, 1)], 0, 0, 0, 0, [rows * 3 // 4] * columns)
    packed = [core.packed(piece, SRC, False)[0] for piece in core.pieces(core.simplified(case.plan), 2**27, 2**22, True, True)]
    staged = sum(end - begin for begin, end in (core.span("src", piece) for piece in packed))
    assert staged <= 3 * whole and len(packed) <= 64


def test_pieces_fit_a_binding_where_they_do_not_overlap(core):
    """Images and rows are cut apart. Instead of pieces that would each span all of one side, ranges are bound as segments."""

    def spans(axes, reversed_=-1):
        plan = core.simplified(Case(1, axes, 0, 0, reversed_, 0, [0]).plan)
        pieces = core.pieces(plan, 2**31, binding=2**27)
        return [core.span(side, piece if side == "src" else piece.plan) for piece in pieces for side in ("src", "dst")]

    def shuffled(images, height, width):  # depth_to_space by blocks of 2, of one channel
        block = [(height, width, 4 * width, 0), (2, 2 * height * width, 2 * width, 0)]
        block += [(width, 1, 2, 0), (2, height * width, 1, 0)]
        return [(images, 4 * height * width, 4 * height * width, 0), *block]

    assert len(spans(shuffled(1, 2**13, 2**13))) == 2  # 2**28 bytes
    assert len(spans(shuffled(1, 2**15, 2**15))) > 2  # more than a range
    planes = (2, 2**27, 1, 0), (2**27, 1, 2, 0)
    swapped = [(extent, dst, src, 0) for extent, src, dst, _ in planes]
    assert len(spans(planes)) == len(spans(swapped)) == 2  # one side has each to itself
    uneven = shuffled(10, 2**12, 2**11)  # four, four and two
    for axes in (shuffled(16, 2**12, 2**12), uneven, [(2**15, 2**14, -(2**14), 0), (2**13, 2, 1, 0)]):
        found = spans(axes)
        assert len(found) >= 4 and all(end - begin <= 2**27 for begin, end in found)
    assert len(spans([(2**29, 1, 1, 0)], reversed_=0)) == 2


def test_overlapping_sources_are_not_packed_into_more_than_a_chunk(core):
    """Their elements share memory only as long as strides are kept; cutting for the destination may end that, as may a last,
    smaller piece."""
    axes = [(776, 68, 80 * 68 * 4, 0), (80, 29200, 68 * 4, 0), (68, 19124, 4, 0)]
    for piece in core.pieces(core.simplified(Case(4, axes, 0, 0, -1, 0, []).plan), 2**27, 2**22, True, True):
        begin, end = core.span("src", core.packed(piece, SRC, False)[0])
        assert begin == 0 and end <= 2**22
        begin, end = core.span("dst", core.packed(piece, DST, True)[0].plan)
        assert begin == 0 and end <= 2**22


# --- choice -----------------------------------------------------------------------------------------------------------


@st.composite
def traits(draw):
    """A function that makes the traits of some device, given the core."""
    of = draw(st.sampled_from(["cpu", "gpu"]))
    changes = {
        "group_size": draw(st.sampled_from([1, 4, 8, 32, 64])),
        "max_groups": draw(st.sampled_from([1, 7, 65535, 2**31 - 1])),
        "chunks": draw(st.sampled_from([1, 3, 256, 2**16])),
        "invocation_bytes": draw(st.sampled_from([16, 32, 64])),
        "alignment": draw(st.sampled_from([16, 64, 256])),
        "range": 2**32 - 8192,
        "binding": draw(st.sampled_from([2**32 - 16, 4096, 5000, 512])),
        "segments_always": draw(st.booleans()),
        "prefetch_ahead": draw(st.sampled_from([0, 1, 2])),
    }
    return lambda core: core.traits(of, **changes)


bases = st.sampled_from([0, 16, 8, 4, 1, 2, 3, 5, 6, 12, 15, 33, 4096, 2**47 - 17])


def regions(core, plan):
    src, dst = ctypes.c_int64(), ctypes.c_int64()
    index = 0
    while core.library.dml_plan_element(byref(plan), index, byref(src), byref(dst)):
        yield src.value, dst.value
        index += 1


def run_copy(core, plan):
    pairs = [(src + np.arange(plan.item), dst + np.arange(plan.item)) for src, dst in regions(core, plan)]
    assert len(pairs) <= max(64, plan.item)
    return mirror.joined(pairs)


def check_choice(core, piece, lengths, traits, src_base, dst_base, forced):
    dispatch = core.choose(piece, traits, src_base, dst_base, forced)
    ranges = dispatch.src_range, dispatch.dst_range
    spans = core.span("src", piece), core.span("dst", piece.plan)
    expected = own_moves(piece, lengths)
    for bound, span, base, side in zip(ranges, spans, (src_base, dst_base), expected):
        assert (base + bound.begin) % traits.alignment == 0, "a range must be bound at an aligned address"
        assert not side.size or bound.begin <= side.min() and side.max() < bound.end, "a byte is beyond its range"
        assert bound.end == span[1] and 0 <= span[0] - bound.begin < traits.alignment
    segment, widest = dispatch.constants[CONSTANTS["DML_SEGMENT_BITS"]], max(bound.end - bound.begin for bound in ranges)
    segmented = traits.tunables.segments_always or widest > traits.binding
    # Segments are as large as they may be, where one is too small or all are wanted.
    assert segment == (traits.binding.bit_length() - 1 if segmented else 0)
    rests = core.rests(piece, dispatch)
    for rest in rests:
        check_choice(core, rest, lengths, traits, src_base, dst_base, forced)
    if dispatch.kernel == COPY:
        assert forced in (COPY, ANY) and piece.plan.reversed < 0
        got = run_copy(core, piece.plan)
    else:
        assert forced != COPY or piece.plan.reversed >= 0 or core.library.dml_plan_count(byref(piece.plan)) > 64
        assert forced != ELEMENTS or dispatch.kernel == ELEMENTS
        assert forced != WORDS or dispatch.kernel in (WORDS, ELEMENTS)
        assert forced != BLOCKS or dispatch.kernel in (BLOCKS, ELEMENTS)
        assert dispatch.groups == min(dispatch.table.chunks, traits.max_groups) >= 1
        assert dispatch.constants[CONSTANTS["DML_GROUP_SIZE"]] == traits.group_size
        assert dispatch.constants[CONSTANTS["DML_DYNAMIC"]] == traits.tunables.dynamic
        begin, end = core.span("entry", piece.plan)
        got = mirror.Machine(dispatch, np.asarray(lengths).view(np.uint8)[begin:end]).run()
        got = got[0] + ranges[0].begin, got[1] + ranges[1].begin
    if rests:
        assert dispatch.kernel == ROWS
        got = mirror.unique(mirror.joined([got, *(own_moves(rest, lengths) for rest in rests)]))
    assert mirror.same(got, expected)
    return dispatch


@given(data=st.data())
def test_a_dispatch_moves_what_its_piece_says(core, data):
    case = data.draw(cases(1200, empty=False))
    plan = core.simplified(case.plan)
    limit = limit_for(plan, data.draw(st.integers(1, 4)))
    kernels = st.sampled_from([ANY, COPY, ROWS, ROWS, ROWS, WORDS, WORDS, ELEMENTS, BLOCKS, BLOCKS])
    arguments = [data.draw(s) for s in (traits(), bases, bases, kernels)]
    offered = arguments[0](core)
    for number, piece in enumerate(core.pieces(plan, limit)):
        check_choice(core, piece, case.lengths, offered, *arguments[1:])
        if number == 10:
            break


@st.composite
def row_cases(draw):
    """Plans that are meant for rows: a contiguous destination, and sources that interleave."""
    item = draw(st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16]))
    words = [48, 72, 80, 136, 144]  # whole words, but not tiles
    row = draw(st.sampled_from([1, 3, 5, 16, 17, 40, 65, 130, 200] + words))
    width = draw(st.sampled_from([1, 2, 3, 4, 8, 9, 10, 16]))
    kind = draw(st.sampled_from(["gather", "interleave", "streams", "window", "reversed", "straight"]))
    outer, gap = draw(st.integers(1, 4)), draw(st.sampled_from([0, 0, 0, 1, 4, 16, 100]))
    step = draw(st.sampled_from([1, -1, 2, -2, 3, -3, 5, 8, -8]))
    if kind == "straight":
        length = item * row
        return Case(length, [(outer, length + gap, length, 0)], 0, 0, -1, 0, [])
    if kind == "gather":
        odd = draw(st.sampled_from([0, 0, 1, 2, 4]))  # as fields of packed records lie
        axes = [(outer, item * row * abs(step) + gap, item * row, 0), (row, step * item + odd, item, 0)]
    elif kind == "interleave":  # a row of pixels whose channels lie the other way round, and two deep
        axes = [(row, 2 * width * item, 2 * width * item, 0), (2, item, width * item, 0), (width, 2 * item, item, 0)]
    elif kind == "streams":  # each channel is a plane
        plane = item * row + gap + 64
        axes = [(outer, plane * width, item * row * width, 0), (row, item, item * width, 0), (width, plane, item, 0)]
    elif kind == "window":  # the planes are made from rows of pixels
        plane = item * row + gap
        axes = [(width, item, plane, 0), (row, item * width, item, 0)]
    else:
        axes = [(outer, item * row + gap, item * row, 1), (row, item if step > 0 else -item, item, 0)]
    if draw(st.booleans()):
        axes[0] = (axes[0][0], -axes[0][1], *axes[0][2:])
    extent = axes[-1][0]
    lengths = draw(st.lists(st.integers(0, extent), min_size=outer, max_size=outer))
    return Case(item, axes, 0, 0, 1 if kind == "reversed" else -1, 0, lengths if kind == "reversed" else [], draw(INTEGERS))


@given(data=st.data())
def test_rows_move_what_their_piece_says(core, data):
    case = data.draw(row_cases())
    plan = core.simplified(case.plan)
    piece = next(core.pieces(plan, 2**40))
    offered, src_base, dst_base = (data.draw(s) for s in (traits(), bases, bases))
    for forced in (ROWS, WORDS, ANY):
        check_choice(core, piece, case.lengths, offered(core), src_base, dst_base, forced)


@pytest.mark.parametrize("item", [1, 2, 4, 8])
@pytest.mark.parametrize("rows, columns", [(8, 16), (72, 48), (136, 32)])
@pytest.mark.parametrize("outer, step, base", [(1, 1, 0), (3, 1, 4), (2, -1, 16)])
def test_transposes_are_moved_by_blocks(core, item, rows, columns, outer, step, base):
    """Their source may begin anywhere and go either way; rows of the destination begin at words."""
    pitch, plane = rows * item + 512, (rows * item + 512) * columns
    axes = [(outer, plane, rows * columns * item, 0), (rows, item, columns * item, 0), (columns, step * pitch, item, 0)]
    dispatch = choose(core, item, axes, ROWS, base * item // 4, 32)
    assert dispatch.kernel == ROWS and dispatch.constants[CONSTANTS["DML_ROWS_PER_WINDOW"]] == 8
    assert choose(core, item, axes, ROWS, 0, item // 2 or 1).kernel == ELEMENTS


@pytest.mark.parametrize("item, rows, columns", [(1, 278, 275), (1, 274, 278), (2, 189, 195), (4, 139, 146), (8, 99, 101)])
@pytest.mark.parametrize("step, base", [(1, 0), (-1, 8)])
def test_transposes_leave_what_is_no_whole_blocks(core, item, rows, columns, step, base):
    """Rows of the destination begin anywhere in a word. Where rests are worth it from fewer bytes on, few do to see it."""
    axes = [(rows, item, columns * item, 0), (columns, step * rows * item, item, 0)]
    dispatch = choose(core, item, axes, src_base=base, dst_base=base, traits=core.traits(rest_bytes=65536))
    assert dispatch.kernel == ROWS and dispatch.rest_count >= 2


def dispatches(core, item, axes, dst_base=0):
    def count(piece):
        dispatch = core.choose(piece, core.traits(), 0, dst_base, ANY)
        return 1 + sum(map(count, core.rests(piece, dispatch)))

    return count(next(core.pieces(core.simplified(Case(item, axes, 0, 0, -1, 0, []).plan), 2**40)))


@pytest.mark.parametrize("item", [1, 2, 4, 8])
@pytest.mark.parametrize("rows", [5003, 50_257, 999_983, 2**24 - 1, 2**24 - 9])
def test_a_transpose_of_many_rows_is_few_dispatches(core, item, rows):
    """Each of its passes may leave some rows, which are a transpose again. A range has 4 GiB at most."""
    columns = 256 // item + 1
    axes = [(rows, item, columns * item, 0), (columns, rows * item, item, 0)]
    assert 3 <= dispatches(core, item, axes) <= CONSTANTS["DML_MAX_DISPATCHES"]


@pytest.mark.parametrize("contiguous", [1, 2, 3, 4, 5, 6])
def test_a_transpose_of_overlapping_windows_is_few_dispatches(core, contiguous):
    """Several axes of the source are contiguous: what blocks along one of them leave is a transpose along the next."""
    axes = [(15, 2, 15**k * 272, 0) for k in reversed(range(contiguous))] + [(136, 4096, 2, 0)]
    assert dispatches(core, 2, [(16, 2**20, 15**contiguous * 272, 0), *axes], 2) <= CONSTANTS["DML_MAX_DISPATCHES"]


def choose(
    core, item, axes, forced=ANY, src_base=0, dst_base=0, *, reversed=-1, gathered=(), lengths=(), traits=None, check=True
):
    case = Case(item, axes, 0, 0, reversed, 0, lengths)
    if gathered:
        extent, stride = gathered
        case.plan.gathered, case.plan.gathers[0] = 1, mirror.Gathered(extent, 0, extent, stride, 0)
    piece = next(core.pieces(core.simplified(case.plan), 2**40))
    traits = traits or core.traits()
    if not check:
        return core.choose(piece, traits, src_base, dst_base, forced)
    return check_choice(core, piece, case.lengths, traits, src_base, dst_base, forced)


def choose_line(core, line, check=False):
    """The dispatch of a line of the golden file."""
    arguments = [line.item, line.axes, line.forced, line.src, line.dst]
    lengths = [7] * 1000 if line.reversed >= 0 or line.gathered else []
    traits = core.traits(line.device, **line.changes)
    more = {"reversed": line.reversed, "gathered": line.gathered, "lengths": lengths}
    return choose(core, *arguments, **more, traits=traits, check=check)


def test_choices_are_those_of_the_golden_file(core):
    before = golden.PATH.read_text()
    after = golden.rendered(before, lambda line: choose_line(core, line))
    lines = before.splitlines(), after.splitlines()
    difference = "\n".join(difflib.unified_diff(*lines, "choices.txt", "now", n=0, lineterm=""))
    if difference:
        pytest.fail(f"choices have changed; if that is meant: python tests/core/golden.py\n{difference}", pytrace=False)


@pytest.mark.parametrize(
    "least, most",
    [
        pytest.param(0, 2**21, marks=pytest.mark.slow, id="up to 2 MiB"),
        pytest.param(2**21, 2**23, marks=pytest.mark.check, id="2 MiB and more"),
        pytest.param(2**23, 2**26, marks=pytest.mark.soak, id="8 MiB and more"),  # minutes, and gigabytes of memory
    ],
)
def test_choices_of_the_golden_file_move_the_right_bytes(core, least, most):
    lines = [line for line in golden.lines(golden.PATH.read_text()) if isinstance(line, golden.Line)]
    chosen = [line for line in lines if least <= line.item * np.prod([extent for extent, *_ in line.axes]) < most]
    assert len(chosen) >= 5
    for line in chosen:
        choose_line(core, line, check=True)


@pytest.mark.parametrize("item, axes", [(1, [(100, 30, 10, 0), (10, 2, 1, 0)]), (1, [(1000, 136, 9, 0), (9, 15, 1, 0)])])
def test_words_are_made_where_they_are_forced(core, item, axes):
    """Also where they are not worth it: scalars as far apart as the shader has room for."""
    assert choose(core, item, axes, WORDS).kernel == WORDS


def test_every_tile_is_in_a_part(core):
    """Both bodies of a reversed row may end with a tile that overlaps: one tile more than its elements are worth."""
    extent, lengths = 4096 + 16, [16 + 32 * n for n in range(8)]
    dispatch = choose(core, 1, [(8, extent, extent, 1), (extent, 1, 1, 0)], reversed=1, lengths=lengths)
    assert dispatch.kernel == ROWS
    table = dispatch.table
    assert table.strip * (table.total // table.rows) >= extent // dispatch.constants[CONSTANTS["DML_ROWS_TILE"]] + 2


def test_an_axis_that_was_cut_to_one_index_is_none(core):
    plan = core.simplified(Case(4, [(1000, 8192, 2048, 0), (2, 4096, 2**21, 0), (512, 8, 4, 0)], 0, 0, -1, 0, []).plan)
    *_, piece = core.pieces(plan, 2**19)
    assert 1 in [axis.extent for axis in piece.plan.axes[: piece.plan.rank]]
    dispatch = check_choice(core, piece, [], core.traits(), 0, 0, ANY)
    assert dispatch.kernel == ROWS
    assert 1 not in [axis.extent for axis in dispatch.table.axes[: dispatch.table.rank]]


def test_all_that_fits_32_bits(core):
    """Gigabytes, of which nothing is touched: no count overflows."""
    total = 2**32 - 8192
    for chunks, most in ((2**16, 2**31 - 1), (2**16, 65535), (1, 1), (256, 7)):
        offered = core.traits("gpu", max_groups=most, chunks=chunks, alignment=256, range=total, binding=total)
        plans = [(1, [(total // 7, 3, 7)]), (4, [(total // 4, 0, 4)]), (1, [(total // 2, 2, 1)]), (total, [])]
        for item, axes in plans:
            case = Case(item, [(*axis, 0) for axis in axes], 0, 0, -1, 0, [])
            for forced in (ROWS, WORDS, ELEMENTS, BLOCKS):
                dispatch = core.choose(next(core.pieces(core.simplified(case.plan), total)), offered, 0, 0, forced)
                table = dispatch.table
                assert 1 <= dispatch.groups == table.chunks <= most
                assert (table.chunks - 1) * table.chunk < table.total <= table.chunks * table.chunk
                assert (table.chunks - 1) * table.chunk < 2**32
                steps = table.elements_extent
                if dispatch.kernel == ROWS:
                    steps = table.rows_extent // dispatch.constants[CONSTANTS["DML_ROWS_TILE"]] + 2
                if dispatch.kernel == WORDS:
                    steps = -(-table.words_rows * table.words_row // (16 * dispatch.constants[CONSTANTS["DML_WORDS_TILE"]]))
                if dispatch.kernel == BLOCKS:
                    steps = table.blocks_count + table.blocks_edges
                assert (table.total // table.rows - 1) * table.strip < steps <= table.total // table.rows * table.strip


# --- the operators' plans ---------------------------------------------------------------------------------------------


def tensor_of(array):
    tensor = mirror.Tensor(rank=array.ndim, item=array.itemsize)
    tensor.shape[: array.ndim], tensor.strides[: array.ndim] = array.shape, array.strides
    return tensor


WORDS_OF = {"order": ["DCR", "CRD"], "layout": ["NCHW", "NHWC"]}


def argument(kind, name, value):
    if kind == CONSTANTS["DML_ARG_LENGTHS"]:
        values = value.shape
    elif name in WORDS_OF:
        values = [WORDS_OF[name].index(value or WORDS_OF[name][0])]
    else:
        values = value if np.iterable(value) else [value or 0]
    single = kind == CONSTANTS["DML_ARG_INT_OR_INTS"] and not np.iterable(value)
    return mirror.Ints(given=value is not None, single=single, count=len(values), value=tuple(values), name=name.encode())


def built(core, call, array):
    """An operator's result shape, its plan and its lengths, made by the core alone."""
    operator = mirror.Operator.in_dll(core.library, f"dml_op_{call.operator}")
    kinds = {parameter.name.decode(): parameter.kind for parameter in operator.parameters if parameter.name}
    values = dict.fromkeys(kinds) | dict(zip(kinds, call.args)) | call.kwargs
    if "sequence_lengths" in values:
        values["sequence_lengths"] = np.asarray(values["sequence_lengths"].build(), dtype=object)
    args = (mirror.Ints * len(kinds))(*(argument(kind, name, values[name]) for name, kind in kinds.items()))
    tensor, output, status, step = tensor_of(array), mirror.Tensor(), mirror.Status(), mirror.Step()
    program = mirror.Program(input_count=1, result_count=1, inputs=ctypes.pointer(tensor), results=ctypes.pointer(output))
    program.op, program.args = ctypes.pointer(operator), args
    assert core.library.dml_operator_shape(byref(program), byref(status)) == 0
    lengths = np.minimum(values.get("sequence_lengths", np.zeros(0)), 2**62).astype(np.int64).reshape(-1)
    program.entries = entries_of(lengths)
    assert program.count == 1
    core.library.dml_program_step(byref(program), 0, byref(step))
    return tuple(output.shape[: output.rank]), step.plan, lengths


@pytest.mark.parametrize("operator", strategies.PLANS)
@FEWER
@given(data=st.data())
def test_operators_become_the_right_plan(core, operator, data):
    call = data.draw(strategies.CALLS[operator]())
    array = call.input.build()
    expected = call.expected(reference, array)
    shape, plan, lengths = built(core, call, array)
    assert shape == expected.shape
    src, dst = mirror.moves(plan, lengths)
    assert np.array_equal(dst, np.arange(expected.size * expected.itemsize)), "not each byte of the result, once"
    if dst.size:
        at = array.ctypes.data - call_base(call, array)
        assert call.input.parent()[src + at].tobytes() == content(expected)


def call_base(call, array):
    """The address of the first byte of the buffer that an array was made in."""
    return array.ctypes.data - call.input.offset
