"""out=: any strides, any overlap with the inputs, and not one byte beside its own elements."""

import re

import dmlops
import numpy as np
import pytest
from dmlops import reference
from hypothesis import given
from hypothesis import strategies as st

import strategies
import support
from strategies import AGAIN, content, parts

RANK = 7  # an axis for the bytes of an element is added below, and few arrays have more anyway


def own_bytes(spec, size, shift=0):
    """Which bytes of a buffer of `size` belong to the array's elements."""
    mask = np.zeros(size, bool)
    if spec.dtype.itemsize:
        itemsize = spec.dtype.itemsize
        np.ndarray((*spec.shape, itemsize), bool, mask, spec.offset + shift, (*spec.strides, 1))[...] = True
    return mask


def out_specs(data, call, expected):
    """For each array of the result one that takes it, of any layout."""
    return [data.draw(strategies.specs(part.shape, call.input.dtype, distinct=True)) for part in parts(expected)]


def run_into(call, device, outs, array=None):
    """Run a call with `outs` for its result, which must be what is returned."""
    single = call.operator != "split"
    result = call.run(dmlops, array, device=device, out=outs[0] if single else outs)
    assert all(ours is out for ours, out in zip(parts(result), outs, strict=True))


@pytest.mark.parametrize("operator", [*strategies.OPERATORS, *strategies.GATHERS, *strategies.SCATTERS])
@given(data=st.data())
@AGAIN
def test_out_of_any_layout(devices, operator, data):
    call = data.draw(strategies.CALLS[operator](RANK))
    expected = call.expected(reference)
    specs = out_specs(data, call, expected)
    for device in devices:
        parents = [spec.parent() for spec in specs]
        before = [parent.copy() for parent in parents]
        outs = [spec.view(parent) for spec, parent in zip(specs, parents)]
        run_into(call, device, outs)
        assert content(outs) == content(parts(expected)), device
        for spec, parent, old in zip(specs, parents, before):
            others = ~own_bytes(spec, parent.size)
            assert np.array_equal(parent[others], old[others]), "wrote beside out's elements"


@pytest.mark.parametrize("operator", strategies.FUNCTIONS)
@given(data=st.data())
@AGAIN
def test_out_that_shares_memory_with_the_input(devices, operator, data):
    """All inputs lie in one buffer, and so do the results, side by side."""
    call = data.draw(strategies.CALLS[operator](RANK))
    specs = out_specs(data, call, call.expected(reference))
    begins = [data.draw(st.sampled_from([0, 0, 1, 4, 16, 64, 100])) for _ in call.specs]
    places, size = [], 0
    for spec in specs:
        places.append(size + data.draw(st.sampled_from([0, 0, 1, 4, 16, 64, 100])))
        size = places[-1] + spec.nbytes
    size = max(size, *(spec.nbytes + begin for spec, begin in zip(call.specs, begins)))
    before = np.random.default_rng(call.input.seed).integers(0, 256, size, np.uint8)

    def inputs(buffer):
        arrays = [spec.view(buffer, begin) for spec, begin in zip(call.specs, begins)]
        return arrays[0] if call.others is None else arrays

    expected = content(parts(call.expected(reference, inputs(before))))
    mine = [own_bytes(spec, size, place) for spec, place in zip(specs, places)]
    others = ~np.any([np.zeros(size, bool), *mine], axis=0)
    for device in devices:
        parent = before.copy()
        outs = [spec.view(parent, place) for spec, place in zip(specs, places)]
        run_into(call, device, outs, inputs(parent))
        assert content(outs) == expected, device
        assert np.array_equal(parent[others], before[others]), "wrote beside out's elements"


def test_in_place(device):
    x = np.arange(5000, dtype=np.float32).reshape(50, 100)
    expected = x[:, ::-1].copy()
    assert dmlops.slice(x, [0, 0], [50, 100], [1, -1], out=x, device=device) is x
    assert np.array_equal(x, expected)


def test_join_in_place(device):
    """Where the parts of `out` are the inputs, in another order."""
    x = np.arange(4000, dtype=np.float32).reshape(40, 100)
    expected = np.concatenate([x[25:], x[:25]])
    assert dmlops.join([x[25:], x[:25]], 0, out=x, device=device) is x
    assert np.array_equal(x, expected)


def test_split_in_place(device):
    """Where the results are parts of the input, in another order."""
    x = np.arange(4000, dtype=np.float32).reshape(40, 100)
    expected = np.concatenate([x[15:], x[:15]])
    outs = [x[25:], x[:25]]
    result = dmlops.split(x, 0, [15, 25], out=outs, device=device)
    assert all(part is out for part, out in zip(result, outs, strict=True))
    assert np.array_equal(x, expected)


def test_padding_in_place(device):
    x = np.arange(4000, dtype=np.float32).reshape(40, 100)
    expected = np.pad(x[5:35, 20:90], ((5, 5), (20, 10)), "reflect")
    assert dmlops.padding(x[5:35, 20:90], [5, 20], [5, 10], mode="reflection", out=x, device=device) is x
    assert np.array_equal(x, expected)


def test_slice_grad_clears_out(device):
    out = np.full((4, 5), 7)
    assert dmlops.slice_grad([[1, 2]], (4, 5), [1, 0], [1, 5], [1, -3], out=out, device=device) is out
    assert out.tolist() == [[0] * 5, [0, 2, 0, 0, 1], [0] * 5, [0] * 5]


def test_out_that_shares_memory_with_the_lengths(device):
    buffer = np.arange(20).reshape(4, 5) % 6
    lengths = buffer[:, :1]
    expected = reference.reverse_subsequences(buffer.copy(), lengths.copy(), 1)
    dmlops.reverse_subsequences(buffer.copy(), lengths, 1, out=buffer, device=device)
    assert np.array_equal(buffer, expected)


def test_both_inputs_and_out_are_one_array(device):
    buffer = np.array([[3, 1, 2], [2, 0, 1], [0, 5, 6]])
    expected = reference.reverse_subsequences(buffer.copy(), buffer[:, :1].copy(), 1)
    dmlops.reverse_subsequences(buffer, buffer[:, :1], 1, out=buffer, device=device)
    assert np.array_equal(buffer, expected)


def test_out_of_an_equal_dtype_of_another_name(device):
    x = np.arange(6, dtype="l")
    out = np.zeros(6, "q" if x.itemsize == 8 else "i")  # the same bytes: equal, but not the same type number
    assert x.dtype == out.dtype and x.dtype.char != out.dtype.char
    assert dmlops.slice(x, [0], [6], [-1], out=out, device=device).tolist() == [5, 4, 3, 2, 1, 0]


def test_a_subclass_as_out_is_filled_and_returned(device):
    out = np.ma.zeros((2, 2), np.int64)
    assert dmlops.slice(np.eye(2, dtype=np.int64), [0, 0], [2, 2], [1, -1], out=out, device=device) is out
    assert np.asarray(out).tolist() == [[0, 1], [1, 0]]


@pytest.mark.posix
@pytest.mark.parametrize("name", [pytest.param("vulkan", marks=pytest.mark.needs_import), "host"])
def test_nothing_beyond_the_pages_of_the_arrays_is_touched(name, request):
    """Arrays flush against pages that may be neither read nor written; a stray access ends the process."""
    device = str(request.getfixturevalue("vulkan")) if name == "vulkan" else "host"
    script = str(support.ROOT / "tests" / "guard_pages.py")
    done = support.run_python(None, args=(script, device), check=False)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-2000:]}"
    assert "cases, all right" in done.stdout


@pytest.mark.parametrize("strides, apart", [((3, 2), False), ((2, 2), False), ((5, 2), True), ((3, 3), False), ((1, 3), True)])
def test_out_whose_strides_interleave(device, strides, apart):
    """Where no axis steps over all that the others reach they count as sharing memory, even if they do not."""
    parent = np.full(40, 7, np.uint8)
    out = np.lib.stride_tricks.as_strided(parent, (2, 3), strides)
    x = np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
    if apart:
        assert dmlops.slice(x, [0, 0], [2, 3], out=out, device=device) is out and np.array_equal(out, x)
    else:
        with pytest.raises(ValueError, match="share memory"):
            dmlops.slice(x, [0, 0], [2, 3], out=out, device=device)
    assert (parent == 7).sum() == (34 if apart else 40)


def meet(a, b):
    """Whether the bytes from the first to the last of one lie between those of the other."""
    return min(a) <= max(b) and min(b) <= max(a)


@given(data=st.data())
def test_results_that_share_memory(data):
    """Of any strides, in one buffer: refused where two elements share a byte, by the names of two arrays that lie between each
    other, and never without such arrays."""
    rank, count = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 6))
    axis, itemsize = data.draw(st.integers(0, rank - 1)), data.draw(st.sampled_from([1, 2, 4]))
    common = [data.draw(st.integers(1, 4)) for _ in range(rank)]
    alike = data.draw(st.booleans())
    strides = [data.draw(st.integers(-24, 24)) for _ in range(rank)]
    buffer = np.full(2000, 7, np.uint8)
    outs, elements = [], []
    for _ in range(count):
        shape = [*common]
        shape[axis] = data.draw(st.integers(0, 4))
        own = strides if alike else [data.draw(st.integers(-24, 24)) for _ in range(rank)]
        start = 1000 + data.draw(st.integers(-100, 100))
        first = np.ndarray(1, f"u{itemsize}", buffer, start)
        outs.append(np.lib.stride_tricks.as_strided(first, shape, own))
        elements.append([start + int(np.dot(index, own)) for index in np.ndindex(*shape)])
    used = [[first + byte for first in firsts for byte in range(itemsize)] for firsts in elements]
    wrong = any(len(set(one)) < len(one) for one in used) or len(set().union(*used)) < sum(len(set(one)) for one in used)
    lie = {(k, k) for k in range(count) if used[k]} | {
        (j, k) for k in range(count) for j in range(k) if used[j] and used[k] and meet(used[j], used[k])
    }
    sizes = [out.shape[axis] for out in outs]
    x = np.arange(np.prod([*common[:axis], sum(sizes), *common[axis + 1 :]])).astype(outs[0].dtype)
    x = x.reshape([*common[:axis], sum(sizes), *common[axis + 1 :]])
    try:
        dmlops.split(x, axis, sizes, out=outs, device="host")
    except ValueError as error:
        named = [int(number) for number in re.findall(r"out\[(\d+)\]", str(error))]
        assert "share memory" in str(error) and (min(named), max(named)) in lie and (buffer == 7).all()
    else:
        assert not wrong
        assert all(np.array_equal(out, part) for out, part in zip(outs, reference.split(x, axis, sizes), strict=True))


INTERLEAVED = {
    "columns": lambda parent: [parent[:, :, k] for k in range(64)],
    "columns of every other row": lambda parent: [parent[k % 2 :: 2, :, k] for k in range(64)],
    "tiles": lambda parent: [parent[a : a + 128, b : b + 8] for a in range(0, 1024, 128) for b in range(0, 16, 8)],
    "mirrored columns": lambda parent: [parent[:: 1 - 2 * (k % 2), ::-1, k] for k in range(64)],
    "rows, the last one first": lambda parent: list(parent[::-1]),
}


@pytest.mark.parametrize("views", INTERLEAVED.values(), ids=INTERLEAVED)
def test_many_results_that_interleave(device, views):
    parent = np.zeros((1024, 16, 64), np.uint16)
    outs = views(parent)
    x = np.random.default_rng(0).integers(0, 2**16, (len(outs) * len(outs[0]), *outs[0].shape[1:]), np.uint16)
    result = dmlops.split(x, 0, [len(outs[0])] * len(outs), out=outs, device=device)
    assert all(np.array_equal(part, right) for part, right in zip(result, np.split(x, len(outs)), strict=True))
    before = parent.copy()
    again = [*outs, outs[len(outs) // 2][::-1]]
    with pytest.raises(ValueError, match=rf"out\[{len(outs)}\] must not share memory with out\[{len(outs) // 2}\]"):
        dmlops.split(np.concatenate([x, x[: len(outs[0])]]), 0, [len(outs[0])] * len(again), out=again, device=device)
    assert np.array_equal(parent, before)


def test_results_whose_axes_do_not_nest_count_as_sharing_memory(device):
    """Tiles, each row of them shifted: they share no byte."""
    parent = np.zeros((1024, 16, 64), np.uint16)
    outs = [parent[a + b : a + b + 100, b : b + 8] for a in range(0, 800, 100) for b in range(0, 16, 8)]
    x = np.ones((1600, 8, 64), np.uint16)
    with pytest.raises(ValueError, match=r"out\[\d+\] must not share memory with out\[\d+\]"):
        dmlops.split(x, 0, [100] * 16, out=outs, device=device)
    assert not parent.any()


def test_thousands_of_results(device):
    parent = np.zeros((5000, 6), np.int16)
    x = np.arange(30_000, dtype=np.int16).reshape(5000, 6)
    outs = [parent[k : k + 1] for k in np.random.default_rng(0).permutation(5000)]
    dmlops.split(x, 0, [1] * 5000, out=outs, device=device)
    assert np.array_equal(np.concatenate(outs), x)
    on_device = dmlops.asarray(np.zeros_like(parent), device=device)
    outs = [on_device[k : k + 1] for k in range(4999, -1, -1)]
    dmlops.split(dmlops.asarray(x, device=device), 0, [1] * 5000, out=outs)
    assert np.array_equal(on_device.numpy(), x[::-1])
    outs[17] = on_device[::-1][4000:4001]
    with pytest.raises(ValueError, match=r"out\[4000\] must not share memory with out\[17\]"):
        dmlops.split(dmlops.asarray(x, device=device), 0, [1] * 5000, out=outs)
