"""Each kernel, forced, and each feature taken away from a device: right results, and no byte beside them written.

The counts are of what the device ran: a kernel that cannot move a plan leaves it to another (see csrc/kernels/policy.c).
"""

import contextlib
import itertools

import dmlops
import numpy as np
import pytest
from dmlops import _core, reference
from hypothesis import given
from hypothesis import strategies as st

import strategies
import support
from strategies import AGAIN, FEWER, FEWEST, content, raw

KERNELS = _core._kernels()
FORCED = {name: KERNELS.index(name) for name in ("copy", "rows", "words", "elements", "blocks")}
COPY, ROWS, WORDS, ELEMENTS, BLOCKS = FORCED.values()
TRAITS = ["kernel", "host_import", "range", "binding", "staging", "group_size", "chunks", "max_groups"]
TRAITS += ["invocation_bytes", "cpu", "segments_always", "prefetch_ahead", "rounds"]


@contextlib.contextmanager
def overridden(**traits):
    for name, value in traits.items():
        _core._override(name, value)
    try:
        yield
    finally:
        for name in TRAITS:
            _core._override(name, -1)


@pytest.fixture(autouse=True)
def restored():
    yield
    for name in TRAITS:
        _core._override(name, -1)


def is_cpu(vulkan):
    return next(device for device in dmlops.devices() if device.index == vulkan).type == "cpu"


def ran(vulkan, function):
    """What a call returns, and how many pieces each kernel ran for it."""
    before = _core._counts(vulkan)
    result = function()
    return result, [after - count for after, count in zip(_core._counts(vulkan), before)]


def memory(nbytes, offset, seed):
    """(buffer, start): random bytes, of which those from `start` are `offset` bytes behind a cache line's begin."""
    buffer = np.random.default_rng(seed).integers(0, 256, nbytes + 256, np.uint8)
    return buffer, 64 + (-buffer.ctypes.data) % 64 + offset


def placed(array, offset):
    """The same array, in C order, at an address of our choice."""
    buffer, start = memory(array.nbytes, offset, 7)
    copy = np.ndarray(array.shape, array.dtype, buffer, start)
    raw(copy)[...] = raw(array)
    return copy


def check(vulkan, operator, array, *args, out_offset=None, out_gap=0, **kwargs):
    """Runs an operator, its `out` at an offset and with a gap between rows, and compares. Gives the kernels' counts."""
    expected = getattr(reference, operator)(raw(array), *args, **kwargs)
    function = getattr(dmlops, operator)
    if out_offset is None:
        result, counts = ran(vulkan, lambda: function(array, *args, device=vulkan, **kwargs))
        assert content(result) == content(expected)
        return counts
    item, shape = array.itemsize, expected.shape
    strides = [item] * len(shape)
    for k in range(len(shape) - 2, -1, -1):
        strides[k] = strides[k + 1] * max(shape[k + 1], 1) + (out_gap if k == len(shape) - 2 else 0)
    nbytes = strides[0] * shape[0] if shape else item
    buffer, start = memory(nbytes, out_offset, 3)
    out = np.ndarray(shape, array.dtype, buffer, start, strides)
    wanted = buffer.copy()
    np.ndarray(shape, expected.dtype, wanted, start, strides)[...] = expected
    result, counts = ran(vulkan, lambda: function(array, *args, device=vulkan, out=out, **kwargs))
    assert result is out
    wrong = np.flatnonzero(buffer != wanted)
    assert not wrong.size, f"wrong at bytes {wrong[:8] - start} of out, counted from its start"
    return counts


def random_array(shape, item, seed=0):
    bytes_ = np.random.default_rng(seed).integers(0, 256, int(np.prod(shape)) * item, np.uint8)
    return bytes_.view(f"V{item}").reshape(shape)


def only(kernel, pieces=1):
    return [pieces * (k == kernel) for k in range(len(KERNELS))]


# --- straight rows: runs that are contiguous on both sides ------------------------------------------------------------


def crop(width):
    return [0, 1], [3, width - 2]


@pytest.mark.parametrize("width", [34, 40, 64, 102, 106, 130, 200, 515, 3000])
def test_straight_rows_at_every_offset(vulkan, width):
    x = np.random.default_rng(width).integers(0, 256, (3, width), np.uint8)
    with overridden(kernel=ROWS):
        layouts = [(0, 0), (0, 16), (1, 0), (8, 8), (4, 4), (15, 3), (16, 0)]
        for offset, (out_offset, gap) in itertools.product(range(17), layouts):
            counts = check(vulkan, "slice", placed(x, offset), *crop(width), out_offset=out_offset, out_gap=gap)
            assert counts == only(ROWS), (offset, out_offset, gap)


@pytest.mark.parametrize("item", [2, 4, 8, 16, 24])
def test_straight_rows_of_wider_items(vulkan, item):
    step = min(item & -item, 8)
    with overridden(kernel=ROWS):
        for width, offset, out_offset in itertools.product([34, 67, 200], range(0, 17, step), [0, step, 16 - step]):
            array = placed(random_array((3, width), item), offset)
            assert check(vulkan, "slice", array, *crop(width), out_offset=out_offset) == only(ROWS)


@FEWER
@given(data=st.data())
def test_straight_rows(vulkan, data):
    width, item = data.draw(st.integers(3, 700)), data.draw(st.sampled_from([1, 2, 3, 4, 8, 12, 16]))
    rows = data.draw(st.sampled_from([1, 2, 3, 50]))
    array = placed(random_array((rows, width), item), data.draw(st.integers(0, 16)))
    left = data.draw(st.integers(0, min(width - 1, 20)))
    size = width - left - data.draw(st.integers(0, min(width - left - 1, 20)))
    out_offset, gap = data.draw(st.integers(0, 16)), data.draw(st.sampled_from([0, 0, 16, 1, 4, 8]))
    with overridden(kernel=ROWS):
        counts = check(vulkan, "slice", array, [0, left], [rows, size], out_offset=out_offset, out_gap=gap)
    whole = rows == 1 or (size == width and gap == 0)
    run = size * item * (rows if whole else 1)
    if run >= 128 or item == 1 and run >= 32:
        assert counts == only(ROWS)
    assert sum(counts) == 1 and counts[COPY] == 0


# --- gathers and mirrors ----------------------------------------------------------------------------------------------

STRIDES = [-8, -5, -3, -2, -1, 2, 3, 5, 8]


@pytest.mark.slow
@pytest.mark.many_pipelines
@pytest.mark.parametrize("item", [1, 2, 3, 4, 6, 8, 12, 16])
@pytest.mark.parametrize("stride", [-1, 2, -3])
def test_gathered_rows_at_every_offset(vulkan, item, stride):
    """Widths around whole tiles; every offset of the source, and of the destination those that suit the item."""
    even = item & -item
    array = random_array((2, 150), item)
    with overridden(kernel=ROWS):
        for offset in range(0, 16, max(even // 2, 1)):
            out_offset = even * (offset * 3 % 17) % 16
            width = 150 - offset % 3 * 16 if item == 1 else 150 - offset
            counts = check(
                vulkan, "slice", placed(array, offset), [0, 0], [2, width], [1, stride],
                out_offset=out_offset, out_gap=[0, 16, even][offset % 3],
            )  # fmt: skip
            assert counts == only(ROWS), offset


@FEWER
@given(data=st.data())
def test_gathered_rows(vulkan, data):
    item, stride = data.draw(st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16])), data.draw(st.sampled_from(STRIDES))
    count, rows = data.draw(st.integers(1, 200)), data.draw(st.integers(1, 5))
    width = (count - 1) * abs(stride) + data.draw(st.integers(1, abs(stride)))
    array = placed(random_array((rows, width), item), data.draw(st.integers(0, 16)))
    out_offset = data.draw(st.sampled_from([0, 16]) | st.integers(0, 16))
    gap = data.draw(st.sampled_from([0, 0, item, 16, 1]))
    outer = data.draw(st.sampled_from([1, 1, -1]))
    with overridden(kernel=ROWS):
        counts = check(vulkan, "slice", array, [0, 0], [rows, width], [outer, stride], out_offset=out_offset, out_gap=gap)
    # Any element may start a word where there is one that does; rows of less than 128 bytes may become one element.
    suits = item % 2 == 1 and count * item >= 128 or (out_offset | gap | count * item) % 16 == 0
    words = 16 // min(item & -item, 16)  # elements in whole words, whose sources must not lie too far apart
    near = (words - 1) * abs(stride) * item + item <= 248
    if count * item >= 32 and suits and near:
        assert counts == only(ROWS)
    assert sum(counts) == 1 and counts[COPY] == 0


@pytest.mark.slow
@pytest.mark.many_pipelines
@pytest.mark.parametrize("item", [1, 2, 4, 8, 12])
@pytest.mark.parametrize("beside", [1, 2, 4, 5])
def test_fields_of_packed_records(vulkan, item, beside):
    """Elements that lie at no multiple of their size."""
    record = np.dtype([("other", f"V{beside}"), ("field", f"V{item}")])
    x = random_array((3, 80), record.itemsize).view(record)
    with overridden(kernel=ROWS):
        for offset, stride in itertools.product((0, 1, 4), (1, -1)):
            field = placed(x, offset)["field"]
            assert check(vulkan, "slice", field, [0, 0], [3, 80], [1, stride], out_offset=16, out_gap=16) == only(ROWS)


@FEWER
@given(data=st.data())
def test_gathers_of_any_layout(vulkan, data):
    """Whatever NumPy strides make: rows from transposed, broadcast and overlapping sources."""
    call = data.draw(strategies.slices(4))
    with overridden(kernel=ROWS):
        result, counts = ran(vulkan, lambda: call.run(dmlops, device=vulkan))
    assert content(result) == content(call.expected(reference))
    assert counts[COPY] == 0


@pytest.mark.slow
@pytest.mark.many_pipelines
@pytest.mark.parametrize("item", [1, 2, 4, 8])
@pytest.mark.parametrize("kind", ["int64", "uint32", "int16"])
def test_scalars_at_indices_are_words_wherever_these_begin(vulkan, item, kind):
    """Heads and tails of all lengths, indices at any address, and so many that they are imported."""
    table, rng = random_array((300,), item), np.random.default_rng(item)
    size = np.dtype(kind).itemsize
    with overridden(kernel=ELEMENTS):
        for count, offset, begin in itertools.product((3, 70), (0, 4, 8, 9), range(4)):
            indices = rng.integers(-300 * (kind[0] == "i"), 300, (2, count)).astype(kind)
            for out_gap in (item, 16):  # of two rows, that begin at different places of a word
                there = placed(indices, offset)
                check(vulkan, "take", placed(table, item), there, 0, out_offset=begin * item, out_gap=out_gap)
        many = placed(rng.integers(0, 300, 70000 // size).astype(kind), 8)
        check(vulkan, "take", table, many, 0, out_offset=item)
    array, most = dmlops.asarray(table, device=vulkan), np.iinfo(kind)
    beyond = np.array([most.min, most.max, 299, 300, 301, most.max - 1, 0, 1] * 3, kind)
    found = dmlops.take(array, dmlops.asarray(beyond, device=vulkan), 0).numpy()
    wanted = [min(max(i + 300 * (i < 0), 0), 299) for i in beyond.tolist()]  # those on a device are clamped
    assert content(found) == content(table[wanted])


# --- interleaves and de-interleaves -----------------------------------------------------------------------------------


def block_shape(to_space, layout, channels, block, height, width):
    """The shape of an input, given that of the spread-out side in blocks."""
    deep = (channels * block * block, height, width)
    wide = (channels, height * block, width * block)
    c, h, w = deep if to_space else wide
    return (1, c, h, w) if layout == "NCHW" else (1, h, w, c)


@pytest.mark.slow
@pytest.mark.many_pipelines
@pytest.mark.parametrize("operator", ["depth_to_space", "space_to_depth"])
@pytest.mark.parametrize("block", [2, 3, 4, 8])
def test_blocks_of_bytes_at_every_offset(vulkan, operator, block):
    with overridden(kernel=ROWS):
        rows = 0
        for offset, width in itertools.product(range(17), [32, 33]):
            shape = block_shape(operator == "depth_to_space", "NCHW", 1, block, 3, width)
            array = placed(random_array(shape, 1, offset), offset)
            for out_offset in (0, offset % 16, 8):
                counts = check(vulkan, operator, array, block, out_offset=out_offset)
                assert sum(counts) == 1 and counts[COPY] == 0
                rows += counts[ROWS]
                if out_offset == 0 and width == 32:
                    assert counts == only(ROWS), (offset, width)
        assert rows > 0


@FEWER
@given(data=st.data())
def test_blocks(vulkan, data):
    operator = data.draw(st.sampled_from(["depth_to_space", "space_to_depth"]))
    layout, order = data.draw(st.sampled_from(["NCHW", "NCHW", "NHWC"])), data.draw(st.sampled_from(["DCR", "CRD"]))
    block = data.draw(st.sampled_from([2, 2, 3, 4, 8, 9, 10, 16]))
    item = data.draw(st.sampled_from([1, 2, 3, 4, 8, 12, 16]))
    channels = data.draw(st.sampled_from([1, 2, 3, 4]))
    height, width = data.draw(st.integers(1, 3)), data.draw(st.sampled_from([1, 2, 3, 7, 8, 16, 17, 31, 32, 40]))
    shape = block_shape(operator == "depth_to_space", layout, channels, block, height, width)
    array = placed(random_array(shape, item), data.draw(st.sampled_from([0, 0, 1, 4, 8, 3, 12])))
    out_offset = data.draw(st.sampled_from([None, 0, 0, item % 16, 8, 1, 4]))
    with overridden(kernel=ROWS):
        counts = check(vulkan, operator, array, block, order=order, layout=layout, out_offset=out_offset)
    assert sum(counts) == 1 and counts[COPY] == 0


@pytest.mark.parametrize("item", [1, 2, 4, 8])
@pytest.mark.parametrize("order", ["DCR", "CRD"])
def test_blocks_run_as_rows(vulkan, item, order):
    """The cases that matter most: whole images at NumPy's own alignment, not forced."""
    deep, wide = random_array((2, 12, 16, 48), item), random_array((2, 3, 32, 96), item)
    last = np.ascontiguousarray(deep.transpose(0, 2, 3, 1))
    assert check(vulkan, "depth_to_space", placed(deep, 16), 2, order=order, out_offset=16) == only(ROWS)
    assert check(vulkan, "space_to_depth", placed(wide, 16), 2, order=order, out_offset=16) == only(ROWS)
    assert check(vulkan, "depth_to_space", placed(last, 16), 2, order=order, layout="NHWC", out_offset=16)[COPY] == 0


@pytest.mark.parametrize("item", [1, 2, 4])
@pytest.mark.parametrize("order", ["DCR", "CRD"])
def test_large_blocks_run_as_blocks(vulkan, item, order):
    """Not forced: rows too short, or from too many places, for a pattern."""
    deep, wide = random_array((2, 768, 14, 14), item), random_array((2, 3, 224, 224), item)
    assert check(vulkan, "depth_to_space", deep, 16, order=order) == only(BLOCKS)
    assert check(vulkan, "space_to_depth", wide.swapaxes(2, 3), 14, order=order) == only(BLOCKS)
    assert check(vulkan, "space_to_depth", wide, 32, order=order) == only(BLOCKS)


@pytest.mark.parametrize("block, item, kernel", [(3, 1, ROWS), (3, 4, ROWS), (8, 4, ROWS), (14, 1, WORDS), (16, 1, ROWS)])
def test_patches_of_photographs(vulkan, block, item, kernel):
    """Not forced: rows that are a few words each, that are whole words together, and that share words with their neighbours."""
    wide = random_array((2, 2 * block, 56 * block, 3), item)
    deep = reference.space_to_depth(wide, block, layout="NHWC")
    for offset in (0, 16, item):
        array, patches = placed(wide, offset), placed(deep, offset)
        there = check(vulkan, "space_to_depth", array, block, layout="NHWC", out_offset=offset)
        back = check(vulkan, "depth_to_space", patches, block, layout="NHWC", out_offset=offset)
        if offset % 16 == 0 and is_cpu(vulkan):
            assert there == back == only(kernel)


# --- blocks: a destination without gaps, of scalars in any order -------------------------------------------------------


@pytest.mark.slow
@pytest.mark.many_pipelines
@pytest.mark.parametrize("item", [1, 2, 3, 4, 8, 12])
@pytest.mark.parametrize(
    "shape, axes",
    [
        ((13, 19, 11), (2, 0, 1)),  # rows that begin anywhere in a word
        ((9, 8, 21), (0, 2, 1)),  # of a word each
        ((30, 5, 17), (1, 2, 0)),  # that are longer than a tile
        ((3, 5, 7, 8), (3, 1, 0, 2)),
        ((2, 14, 8, 14), (0, 2, 1, 3)),  # contiguous on both sides
        ((2, 3, 4, 5, 2, 3, 2), (4, 2, 0, 6, 3, 1, 5)),  # of more axes than a row has
        ((3, 16, 7, 2), (3, 0, 2, 1)),  # neighbours in the source are rows on two axes
        ((2, 24, 5, 4), (3, 0, 2, 1)),
    ],
)
def test_blocks_in_any_order_at_every_offset(vulkan, item, shape, axes):
    step = min(item & -item, 8)
    for offset, grid in itertools.product({0, step, 8, 16 - step}, ({}, {"cpu": 0, "group_size": 128})):
        array = placed(random_array(shape, item, offset), offset)
        with overridden(kernel=BLOCKS, **grid):
            counts = check(vulkan, "transpose", array, axes, out_offset=offset * 3 % 16 // step * step)
        assert counts == only(BLOCKS), offset


@FEWER
@given(data=st.data())
def test_blocks_of_any_view(vulkan, data):
    """Axes in any order and direction, some with steps."""
    item, rank = data.draw(st.sampled_from([1, 2, 4, 8, 3, 6])), data.draw(st.integers(2, 6))
    shape = [data.draw(st.integers(1, 9)) for _ in range(rank)]
    key = tuple(slice(None, None, data.draw(st.sampled_from([1, 1, 1, -1, 2, -3]))) for _ in shape)
    array = placed(random_array(shape, item), data.draw(st.integers(0, 16)))[key]
    out_offset = data.draw(st.sampled_from([None, 0, 8, item, 1, 3]))
    with overridden(kernel=BLOCKS):
        counts = check(vulkan, "transpose", array, data.draw(st.permutations(range(rank))), out_offset=out_offset)
    assert sum(counts) == 1 and counts[BLOCKS] + counts[ELEMENTS] == 1


# --- transposes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("item", [1, 2, 4, 8])
@pytest.mark.parametrize("shape, axes", [((1037, 1501), (1, 0)), ((2, 801, 1104), (0, 2, 1)), ((343, 3110), (1, 0))])
@pytest.mark.parametrize("host_import", [pytest.param(1, marks=pytest.mark.needs_import), 0])
def test_transposes_of_any_size(vulkan, host_import, item, shape, axes):
    """Rows of the result begin anywhere in a word, and neither side is whole blocks."""
    array = random_array(shape, item)
    with overridden(host_import=host_import):
        for out_offset, gap in [(None, 0), (0, 0), (item, 0), (0, item), (16 - item, 5 * item)]:
            counts = check(vulkan, "transpose", array, axes, out_offset=out_offset, out_gap=gap)
            assert counts[ROWS] > 0


def test_a_submission_has_room_for_what_a_transpose_leaves(vulkan):
    """Of windows that overlap, several axes are contiguous, and what blocks along one leave is a transpose along the next."""
    few = np.random.default_rng(4).integers(0, 2**16, 136 * 256 + 64, np.uint16)
    x = np.lib.stride_tricks.as_strided(few, (15, 15, 15, 15, 136), (2, 2, 2, 2, 512))
    expected = np.concatenate([x[:1]] * 20 + [x])
    buffer, start = memory(expected.nbytes, 2, 3)
    out = np.ndarray(expected.shape, np.uint16, buffer, start)
    dmlops.join([x[:1]] * 20 + [x], 0, device=vulkan, out=out)
    assert np.array_equal(out, expected)


# --- reversals --------------------------------------------------------------------------------------------------------


def some_lengths(extent):
    """None, one, all, too many, and some in between."""
    return st.sampled_from([0, 1, extent, extent + 3, max(extent - 1, 0), 2]) | st.integers(0, extent)


@pytest.mark.parametrize("item", [1, 2, 3, 4, 6, 8, 12, 16])
def test_reversed_rows_of_every_length(vulkan, item):
    """Each length makes another shift between source and destination words, and other heads and tails of both parts."""
    width = 70
    even = item & -item
    lengths = np.arange(width + 2)[:, None]
    array = random_array((width + 2, width), item)
    with overridden(kernel=ROWS):
        for offset, out_offset, gap in [(0, 0, 0), (even, 0, 16), (1, even % 16, 0), (4, 8, even), (15, 0, 0)]:
            counts = check(
                vulkan, "reverse_subsequences", placed(array, offset), lengths, 1,
                out_offset=out_offset // even * even, out_gap=gap,
            )  # fmt: skip
            assert counts == only(ROWS), (offset, out_offset, gap)


@FEWER
@given(data=st.data())
def test_reversals(vulkan, data):
    item = data.draw(st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16]))
    shape = [data.draw(st.integers(1, 4)), data.draw(st.integers(1, 6)), data.draw(st.integers(1, 90))]
    axis = data.draw(st.integers(0, 2))
    length_shape = [1 if k == axis or data.draw(st.booleans()) else size for k, size in enumerate(shape)]
    count = int(np.prod(length_shape))
    lengths = data.draw(st.lists(some_lengths(shape[axis]), min_size=count, max_size=count))
    array = placed(random_array(shape, item), data.draw(st.sampled_from([0, 0, 16, 1, 2, 4, 8, 12])))
    out_offset, gap = data.draw(st.sampled_from([0, 16, 8, 4, 1])), data.draw(st.sampled_from([0, 16, 1, 8]))
    lengths = np.array(lengths).reshape(length_shape)
    with overridden(kernel=ROWS):
        counts = check(vulkan, "reverse_subsequences", array, lengths, axis, out_offset=out_offset, out_gap=gap)
    assert sum(counts) == 1 and counts[COPY] == 0


# --- work chunks and schedules ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.many_pipelines
@pytest.mark.parametrize("shape", [(1, 60_000), (3, 20_001), (20_000, 3), (300, 200), (257, 40), (2, 2, 9000)])
@pytest.mark.parametrize("stride", [2, -1])
def test_few_long_rows_and_many_short_ones(vulkan, shape, stride):
    x = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    strides = [1] * (len(shape) - 1) + [stride]
    for traits in ({}, {"chunks": 1}, {"chunks": 7, "max_groups": 5}, {"group_size": 1}, {"invocation_bytes": 16}, {"cpu": 0}):
        for kernel in (ROWS, WORDS, ELEMENTS):
            with overridden(kernel=kernel, **traits):
                counts = check(vulkan, "slice", x, [0] * len(shape), shape, strides, out_offset=1)
                assert counts == only(kernel) or (kernel == ROWS and shape[-1] < 64)
                lengths = np.full((*shape[:-1], 1), shape[-1] - 1)
                counts = check(vulkan, "reverse_subsequences", x, lengths, -1, out_offset=1)
                assert counts == only(kernel) or (kernel == ROWS and shape[-1] < 64)


@pytest.mark.parametrize("traits", [{"chunks": 16}, {"chunks": 40}, {"chunks": 40, "max_groups": 1}, {"chunks": 16, "cpu": 0}])
@pytest.mark.parametrize("item", [1, 2, 4])
def test_rows_side_by_side(vulkan, traits, item):
    """Rows with gaps between them, more than there are chunks; the last chunk has rows for some invocations only. Also more
    chunks than workgroups."""
    x = random_array((1222, 1000), item)
    with overridden(kernel=ROWS, **traits):
        assert check(vulkan, "slice", x, [0, 0], x.shape, [2, -1], out_offset=1 * item) == only(ROWS)
        lengths = np.random.default_rng(0).integers(0, 1001, (611, 1))
        assert check(vulkan, "reverse_subsequences", x[::2], lengths, 1, out_offset=3 * item) == only(ROWS)
        short = np.ascontiguousarray(x[:, :100])
        assert check(vulkan, "slice", short, [0, 0], short.shape, [1, -1], out_offset=1 * item) == only(ROWS)


@pytest.mark.slow
@pytest.mark.many_pipelines
@pytest.mark.parametrize("traits", [{"chunks": 7}, {"chunks": 60, "max_groups": 1}, {"chunks": 7, "cpu": 0}])
@pytest.mark.parametrize("item", [1, 2, 3, 4, 8, 16])
def test_rows_in_alternating_directions(vulkan, traits, item):
    """The source of the next row is prefetched; behind the last row, memory that may lie beyond either end of the source."""
    x = random_array((4, 30, 700 // item), item)
    lengths = np.random.default_rng(0).integers(0, 31, (4, 1, 1))
    rows = np.random.default_rng(0).integers(0, x.shape[2] + 1, (4, 30, 1))
    with overridden(kernel=ROWS, **traits):
        for offset, out_offset in ((0, 0), (item, 0), (0, item), (1, 16), (16, 3)):
            for steps in itertools.product((1, -1), repeat=3):
                array = placed(x, offset)[:, :, ::-1]  # else a whole row may be a single item
                assert check(vulkan, "slice", array, [0] * 3, x.shape, steps, out_offset=out_offset)[COPY] == 0
            for array in (placed(x, offset), placed(x, offset)[:, ::-1], placed(x, offset)[..., ::-1]):
                check(vulkan, "reverse_subsequences", array, lengths, 1, out_offset=out_offset)
                check(vulkan, "reverse_subsequences", array, rows, 2, out_offset=out_offset)


# --- words: a destination without gaps, of rows however short ----------------------------------------------------------


@pytest.mark.parametrize("item", [1, 2, 3, 5, 7, 8, 13, 15, 16, 17, 26, 31, 33, 62, 100, 300])
def test_words_of_items_at_every_offset(vulkan, item):
    with overridden(kernel=WORDS):
        for rows in (1, 2, 37):
            x = np.random.default_rng(item).integers(0, 256, (5, rows + 1, item + 3), np.uint8)
            for offset, out_offset in itertools.product(range(17), (0, 1, 4, 8, 15)):
                window = [0, 1, 2], [5, rows, item], [-1, 1, 1]
                counts = check(vulkan, "slice", placed(x, offset), *window, out_offset=out_offset)
                assert counts == only(WORDS), (rows, offset, out_offset)


@pytest.mark.slow
@pytest.mark.many_pipelines
@pytest.mark.parametrize("item", [1, 2, 4, 8])
def test_words_of_rows_whose_items_are_apart(vulkan, item):
    """Forwards and backwards, some shorter than a word, from wherever an item may begin."""
    for step, width in itertools.product((1, 2, 3, 7, 15, -1, -2, -3, -7, -15), (2, 7, 16, 17, 33)):
        extent = abs(step) * width
        x = np.random.default_rng(item).integers(0, 256, (13, (extent + 2) * item), np.uint8).view(f"u{item}")
        for grid in ({}, {"cpu": 0, "group_size": 128}):
            for offset, out_offset in ((0, 0), (item, 0), (0, item), (5 * item, 3 * item), (16 - item, 8)):
                with overridden(kernel=WORDS, **grid):
                    counts = check(vulkan, "slice", placed(x, offset), [0, 1], [13, extent], [1, step], out_offset=out_offset)
                assert counts == only(WORDS), (step, width, offset, out_offset)


@FEWER
@given(data=st.data())
def test_words_of_any_axes(vulkan, data):
    """Two axes, along which rows are found by steps, and more, where they are located anew; reversed up to any lengths."""
    shape = data.draw(st.lists(st.integers(1, 9), min_size=2, max_size=5))
    item = data.draw(st.sampled_from([1, 2, 3, 4, 8, 12, 26]))
    x = placed(random_array([size + 1 for size in shape], item), data.draw(st.integers(0, 16)))
    view = x[tuple(data.draw(st.sampled_from([slice(1, None), slice(None, 0, -1)])) for _ in shape)]
    axis = data.draw(st.integers(0, len(shape) - 1))
    length_shape = [1 if k == axis or data.draw(st.booleans()) else size for k, size in enumerate(shape)]
    count = int(np.prod(length_shape))
    lengths = data.draw(st.lists(some_lengths(shape[axis]), min_size=count, max_size=count))
    grid = data.draw(st.sampled_from([{}, {"cpu": 0}, {"chunks": 3, "group_size": 1}, {"group_size": 4, "max_groups": 2}]))
    with overridden(kernel=WORDS, **grid):
        out_offset = data.draw(st.integers(0, 16))
        lengths = np.array(lengths).reshape(length_shape)
        counts = check(vulkan, "reverse_subsequences", view, lengths, axis, out_offset=out_offset)
    assert counts == only(WORDS)


@pytest.mark.parametrize("narrower", [{"range": 4096}, {"host_import": 0, "staging": 4096}])
def test_words_in_pieces(vulkan, narrower):
    x = np.random.default_rng(0).integers(0, 256, (9, 50, 29), np.uint8)
    with overridden(kernel=WORDS, **narrower):
        counts = check(vulkan, "slice", placed(x, 1), [0, 1, 2], [9, 48, 26], [-1, 1, 1], out_offset=3)
    assert counts[WORDS] > 2 and counts[ROWS] == 0


# --- the other two kernels --------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.many_pipelines
@pytest.mark.parametrize("kernel", sorted(FORCED))
@pytest.mark.parametrize("operator", [*strategies.OPERATORS, *strategies.GATHERS])
@FEWEST
@given(data=st.data())
def test_any_call_by_any_kernel(vulkan, kernel, operator, data):
    if kernel == "rows":
        call = data.draw(strategies.CALLS[operator](5))
    else:
        call = data.draw(strategies.CALLS[operator]())
    with overridden(kernel=FORCED[kernel]):
        result, counts = ran(vulkan, lambda: call.run(dmlops, device=vulkan))
    expected = call.expected(reference)
    assert content(result) == content(expected)
    nbytes = sum(part.nbytes for part in strategies.parts(expected))
    assert sum(counts) == (nbytes > 0) if operator in strategies.PLANS else (sum(counts) > 0) == (nbytes > 0)
    if kernel == "elements":
        assert counts == only(ELEMENTS, sum(counts))
    elif kernel != "copy":
        assert counts[COPY] == 0 and (kernel == "rows" or counts[ROWS] == 0)


@FEWER
@given(data=st.data())
def test_copies_of_few_regions(vulkan, data):
    """Up to 64 runs, at any offset and any distance: the copy command's."""
    rows, width = data.draw(st.integers(1, 64)), data.draw(st.integers(1, 300))
    item = data.draw(st.sampled_from([1, 2, 3, 8]))
    array = placed(random_array((rows, width + 5), item), data.draw(st.integers(0, 16)))
    left, outer = data.draw(st.integers(0, 5)), data.draw(st.sampled_from([1, -1]))
    out_offset, gap = data.draw(st.integers(0, 16)), data.draw(st.integers(0, 9))
    with overridden(kernel=COPY):
        counts = check(vulkan, "slice", array, [0, left], [rows, width], [outer, 1], out_offset=out_offset, out_gap=gap)
    assert counts == only(COPY)


@pytest.mark.needs_copy_command
def test_copy_is_chosen_for_what_is_contiguous(vulkan):
    x = random_array((40, 1000), 4)
    assert check(vulkan, "slice", x, [3, 0], [20, 1000]) == only(COPY)
    assert check(vulkan, "slice", placed(x, 3), [3, 0], [20, 1000], out_offset=1) == only(COPY)
    assert check(vulkan, "depth_to_space", x.reshape(1, 40, 10, 100), 1) == only(COPY)
    long = random_array((4, 20_000), 1)
    assert check(vulkan, "slice", long, [0, 1], [4, 19_000]) == only(COPY)


@pytest.mark.parametrize("item", [1, 2, 3, 4, 8, 12, 16, 24])
def test_elements_at_every_offset(vulkan, item):
    array = random_array((3, 7, 5), item)
    with overridden(kernel=ELEMENTS):
        for offset, out_offset in itertools.product(range(17), (0, 1, 4, 8, item % 16)):
            source = placed(array, offset).transpose(2, 0, 1)
            counts = check(vulkan, "slice", source, [0, 0, 1], [5, 3, 6], [-1, 1, 2], out_offset=out_offset, out_gap=3)
            assert counts == only(ELEMENTS)


# --- what a device may lack -------------------------------------------------------------------------------------------


LACKS = [
    {"host_import": 0},
    {"host_import": 0, "staging": 4096},
    {"range": 4096},
    {"range": 4096, "host_import": 0},
    {"range": 65536},
    {"binding": 4096},
    {"binding": 10_000, "group_size": 4},
    {"binding": 4096, "kernel": ROWS},
    {"binding": 4096, "kernel": WORDS},
    {"binding": 4096, "kernel": ELEMENTS},
    {"binding": 4096, "kernel": BLOCKS},
    {"segments_always": 0},
    {"prefetch_ahead": 0},
    {"prefetch_ahead": 1},
    {"prefetch_ahead": 3, "range": 4096, "segments_always": 1, "kernel": ROWS},
    {"segments_always": 1},
    *({"segments_always": 1, "kernel": kernel} for kernel in (ROWS, WORDS, ELEMENTS, BLOCKS)),
    {"segments_always": 1, "range": 4096, "host_import": 0},
    {"group_size": 1},
    {"group_size": 4, "max_groups": 7},
    {"max_groups": 1},
    {"chunks": 1},
    {"cpu": 0},
    {"cpu": 0, "max_groups": 7},
    {"invocation_bytes": 16},
    {"range": 4096, "kernel": ROWS, "max_groups": 7},
]


@pytest.mark.slow
@pytest.mark.many_pipelines
@pytest.mark.parametrize("lack", LACKS, ids=lambda lack: "-".join(f"{name}={value}" for name, value in lack.items()))
@AGAIN
@given(data=st.data())
def test_any_call_without(vulkan, lack, data):
    operator = data.draw(st.sampled_from(strategies.PLANS) | st.sampled_from(strategies.PROGRAMS))
    call = data.draw(strategies.CALLS[operator]())
    with overridden(**lack):
        result, counts = ran(vulkan, lambda: call.run(dmlops, device=vulkan))
    expected = call.expected(reference)
    assert content(result) == content(expected)
    nbytes = sum(part.nbytes for part in strategies.parts(expected))
    moved = sum(part.nbytes for part in strategies.parts(call.build()))
    assert (sum(counts) > 0) == (nbytes > 0) or moved == 0  # where host memory is staged, the host fills it
    fills = call.operator == "slice_grad" or call.operator == "padding" and call.kwargs.get("mode", "constant") == "constant"
    if lack.get("range", 1 << 20) * 2 < (moved if fills and lack.get("host_import") == 0 else nbytes):
        assert sum(counts) > 2


@pytest.mark.slow
@pytest.mark.many_pipelines
@pytest.mark.parametrize("lack", LACKS, ids=lambda lack: "-".join(f"{name}={value}" for name, value in lack.items()))
@FEWEST
@given(data=st.data())
def test_any_gather_without(vulkan, lack, data):
    call = data.draw(strategies.CALLS[data.draw(st.sampled_from(sorted(strategies.GATHERS)))]())
    expected = call.expected(reference)
    with overridden(**lack):
        assert content(call.run(dmlops, device=vulkan)) == content(expected)
        array = dmlops.asarray(call.build(), device=vulkan)
        assert content(call.run(dmlops, array).numpy()) == content(expected)
        indices, *others = call.arguments()
        there = dmlops.asarray(np.asarray(indices), device=vulkan)
        if there.dtype.kind in "iu":
            found = getattr(dmlops, call.operator)(array, there, *others, **call.kwargs)
            assert content(found.numpy()) == content(expected)


@pytest.mark.parametrize("device_array", [False, True])
@pytest.mark.parametrize("size", [5000, 70000, 300000])
def test_an_item_to_fill_with_may_be_larger_than_a_range(vulkan, size, device_array):
    value = np.random.default_rng(size).integers(0, 256, size, np.uint8).view(f"V{size}")[0]
    x = np.zeros((2, 1), f"V{size}")
    expected = np.full((4, 3), value)
    expected[1:3, 1:2] = x
    with overridden(range=65536):
        source = dmlops.asarray(x, device=vulkan) if device_array else x
        result = dmlops.padding(source, [1, 1], [1, 1], value=value, device=vulkan)
        assert content(np.asarray(result)) == content(expected)


def test_device_arrays_in_more_pieces_than_are_submitted_together(vulkan):
    x = np.random.default_rng(1).integers(0, 2**32, (60, 4, 230), np.uint32)
    with overridden(range=4096):
        y = dmlops.asarray(x, device=vulkan)
        for _ in range(3):  # from the second time on there is nothing to wait for but the device
            y, counts = ran(vulkan, lambda y=y: dmlops.slice(y, [0] * 3, x.shape, [1, 1, -1]))
            assert sum(counts) > 32
        assert np.array_equal(y, x[:, :, ::-1])


@pytest.mark.parametrize("host_import", [1, 0])
@pytest.mark.parametrize("most", [4096, 65536])
def test_large_arrays_in_pieces(vulkan, host_import, most):
    x = np.random.default_rng(1).integers(0, 2**32, (2, 4, 60, 230), np.uint32)
    pieces = x.nbytes // most
    with overridden(host_import=host_import, range=most):
        for operator, *args in (
            ("slice", [0, 0, 1, 1], [2, 4, 59, 229], [1, -1, 1, 1]),
            ("slice", [0, 0, 0, 0], x.shape, [1, 1, 1, -1]),
            ("depth_to_space", 2),
            ("space_to_depth", 2),
            ("reverse_subsequences", [[[[60]], [[7]], [[0]], [[59]]]] * 2, 2),
            ("reverse_subsequences", np.arange(480).reshape(2, 4, 60, 1) % 231, 3),
            ("reverse_subsequences", np.arange(460).reshape(2, 1, 1, 230) % 6, 1),
        ):
            counts = check(vulkan, operator, placed(x, 4), *args, out_offset=12)
            assert sum(counts) > pieces, (operator, args)
        counts = check(vulkan, "slice", placed(x, 1), [0] * 4, x.shape, [1, -1, 2, 3], out_offset=3)
        assert sum(counts) > pieces // 6


@pytest.mark.needs_segments
@pytest.mark.parametrize("kernel", [None, "rows", "words", "elements", "blocks"])
def test_ranges_beyond_a_binding(vulkan, kernel):
    """A large image is not cut into pieces that each write a part of every row: its ranges are bound as segments."""
    x = np.random.default_rng(1).integers(0, 2**32, (1, 8, 60, 230), np.uint32)
    resident = dmlops.asarray(x, device=vulkan)
    with overridden(binding=32768, **({} if kernel is None else {"kernel": FORCED[kernel]})):
        for operator, *args in (
            ("depth_to_space", 2),
            ("space_to_depth", 2),
            ("slice", [0] * 4, [1, 8, 60, 230], [1, -1, 1, -1]),
            ("reverse_subsequences", [[[[60]], [[7]], [[0]], [[59]], [[1]], [[2]], [[3]], [[58]]]], 2),
            ("reverse_subsequences", np.arange(480).reshape(1, 8, 60, 1) % 231, 3),
        ):
            counts = check(vulkan, operator, placed(x, 4), *args, out_offset=12)
            result = getattr(dmlops, operator)(resident, *args)
            assert np.array_equal(result, getattr(reference, operator)(x, *args))
            if operator.endswith(("space", "depth")) and is_cpu(vulkan):  # other devices may do without segments
                assert sum(counts) == 1


@pytest.mark.parametrize("host_import", [1, 0])
@given(data=st.data())
@FEWEST
def test_a_reversed_axis_beyond_the_range(vulkan, host_import, data):
    """Nothing but the reversed axis itself can be cut: each piece then leaves out what belongs to another."""
    item = data.draw(st.sampled_from([1, 2, 3, 4, 8]))
    extent = data.draw(st.integers(4200, 13_000)) // item
    inner = data.draw(st.sampled_from([1, 1, 3]))
    shape = (2, extent, inner)
    lengths = np.array(data.draw(st.lists(some_lengths(extent), min_size=2, max_size=2))).reshape(2, 1, 1)
    array = placed(random_array(shape, item), data.draw(st.sampled_from([0, 1, 4])))
    if data.draw(st.booleans()):
        array = array[:, ::-1]
    out_offset = data.draw(st.sampled_from([None, 0, 1, 4]))
    with overridden(range=4096, host_import=host_import):
        counts = check(vulkan, "reverse_subsequences", array, lengths, 1, out_offset=out_offset)
    if extent * item > 4200:
        assert counts[ELEMENTS] >= 4 and sum(counts) == counts[ELEMENTS]


GUARDED = """
import ctypes, mmap, sys
import dmlops, numpy as np

libc, page, size = ctypes.CDLL(None), mmap.PAGESIZE, 5001
libc.mmap.restype = ctypes.c_void_p
pages = libc.mmap(None, ctypes.c_size_t(4 * page), mmap.PROT_READ | mmap.PROT_WRITE,
                  mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, ctypes.c_long(0))
assert libc.mprotect(ctypes.c_void_p(pages + 3 * page), ctypes.c_size_t(page), 0) == 0
x = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(pages + 3 * page - size))
x[:] = np.arange(size) % 251
dmlops._core._override("host_import", 0)
for most in (4096, 2000, 640):
    dmlops._core._override("range", most)
    for length in (size, size - 1, 3000, 0):
        result = dmlops.reverse_subsequences(x, [length], 0, device=int(sys.argv[1]))
        assert np.array_equal(result, np.concatenate([x[:length][::-1], x[length:]])), (most, length)
"""


@pytest.mark.posix
def test_staged_pieces_read_nothing_beyond_the_source(vulkan, tmp_path):
    """The array ends at a page that may not be read: an access beyond it ends the process."""
    script = tmp_path / "guarded.py"
    script.write_text(GUARDED)
    support.run_python(None, args=(script, str(vulkan)))


AUTOTUNER = """
import sys
import dmlops, numpy as np
from dmlops import _core

device = int(sys.argv[1])
_core._override("cpu", 0)  # a device that may have memory of its own
_core._override("staging", 65536)  # so that the number of pieces tells which way was taken

def pieces(call):
    before = sum(_core._counts(device))
    result = call()
    return sum(_core._counts(device)) - before, result

x = np.arange(1 << 20, dtype=np.uint8).reshape(16, 256, 256)
a = dmlops.asarray(x, device=device)
calls = {
    "both": lambda: dmlops.slice(x, [0, 0, 0], x.shape, [1, 1, -1], device=device),
    "up": lambda: dmlops.asarray(x.transpose(2, 1, 0), device=device).numpy().transpose(2, 1, 0)[..., ::-1],
    "down": lambda: a[..., ::-1].numpy(),
}
for name, call in calls.items():
    counts = []
    for _ in range(12):
        count, result = pieces(call)
        assert np.array_equal(result, x[..., ::-1]), name
        counts.append(count)
    assert len(set(counts[:6])) > 1, (name, "both ways are tried", counts)
    assert len(set(counts[7:])) == 1, (name, "then it is decided", counts)
y = np.concatenate([x, x])
rounds = {step: [] for step in (1, -1)}
for _ in range(3):
    for step, counts in rounds.items():
        count, result = pieces(lambda: dmlops.slice(y, [0, 0, 0], y.shape, [1, 1, step], device=device))
        assert np.array_equal(result, y[..., ::step])
        counts.append(count)
assert all(len(set(counts)) > 1 for counts in rounds.values()), ("both ways for either call", rounds)

x.setflags(write=False)  # some drivers import such memory, and fail when they use it
assert pieces(calls["both"])[0] == 16
if np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # lends no such memory before
    _core._override("mapped", 0)
    assert pieces(lambda: dmlops.from_dlpack(x, device=device))[0] == 16
    _core._override("mapped", -1)
x.setflags(write=True)
_core._override("host_import", 0)
assert pieces(calls["both"])[0] == 16
_core._override("host_import", -1)
_core._override("cpu", -1)
assert pieces(calls["both"])[0] == 1
"""


@pytest.mark.needs_import
@pytest.mark.needs_shared_memory
def test_the_autotuner_imports_or_stages(vulkan, tmp_path):
    script = tmp_path / "autotuner.py"
    script.write_text(AUTOTUNER)
    support.run_python(None, args=(script, str(vulkan)))


def test_pieces_for_the_lengths_alone(vulkan):
    """Each length is eight bytes: they can need cutting where neither array does."""
    x = np.random.default_rng(2).integers(0, 256, (1500, 2), np.uint8)
    lengths = np.random.default_rng(3).integers(0, 3, (1500, 1))
    with overridden(range=4096):
        assert sum(check(vulkan, "reverse_subsequences", x, lengths, 1, out_offset=3)) >= 3


def test_an_item_longer_than_the_range(vulkan):
    x = random_array((3, 2), 10_000)
    for host_import in (0, 1):
        with overridden(range=4096, host_import=host_import):
            assert sum(check(vulkan, "slice", x, [0, 0], [3, 2], [-1, -1])) >= 15
            assert sum(check(vulkan, "reverse_subsequences", x, [[2], [1], [0]], 1)) >= 15


def test_a_trait_that_is_none(vulkan):
    with pytest.raises(ValueError, match="no trait"):
        _core._override("speed", 1)
