"""out=: any strides, any overlap with the inputs, and not one byte beside its own elements."""

import dmlops
import numpy as np
import pytest
from dmlops import reference
from hypothesis import given
from hypothesis import strategies as st

import strategies
import support
from strategies import content

RANK = 7  # an axis for the bytes of an element is added below, and few arrays have more anyway


def own_bytes(spec, size, shift=0):
    """Which bytes of a buffer of `size` belong to the array's elements."""
    mask = np.zeros(size, bool)
    if spec.dtype.itemsize:
        itemsize = spec.dtype.itemsize
        np.ndarray((*spec.shape, itemsize), bool, mask, spec.offset + shift, (*spec.strides, 1))[...] = True
    return mask


@pytest.mark.parametrize("operator", strategies.OPERATORS)
@given(data=st.data())
def test_out_of_any_layout(device, operator, data):
    call = data.draw(strategies.CALLS[operator](RANK))
    expected = call.expected(reference)
    spec = data.draw(strategies.specs(expected.shape, call.input.dtype, distinct=True))
    parent = spec.parent()
    before = parent.copy()
    out = spec.view(parent)
    assert call.run(dmlops, device=device, out=out) is out
    assert content(out) == content(expected)
    others = ~own_bytes(spec, parent.size)
    assert np.array_equal(parent[others], before[others]), "wrote beside out's elements"


@pytest.mark.parametrize("operator", strategies.OPERATORS)
@given(data=st.data())
def test_out_that_shares_memory_with_the_input(device, operator, data):
    call = data.draw(strategies.CALLS[operator](RANK))
    spec = data.draw(strategies.specs(call.expected(reference).shape, call.input.dtype, distinct=True))
    shifts = [data.draw(st.sampled_from([0, 0, 1, 4, 16, 64, 100])) for _ in range(2)]
    size = max(call.input.nbytes + shifts[0], spec.nbytes + shifts[1])
    parent = np.random.default_rng(spec.seed).integers(0, 256, size, np.uint8)
    before = parent.copy()
    array, out = call.input.view(parent, shifts[0]), spec.view(parent, shifts[1])
    expected = call.expected(reference, call.input.view(before, shifts[0]))
    assert call.run(dmlops, array, device=device, out=out) is out
    assert content(out) == content(expected)
    others = ~own_bytes(spec, size, shifts[1])
    assert np.array_equal(parent[others], before[others]), "wrote beside out's elements"


def test_in_place(device):
    x = np.arange(5000, dtype=np.float32).reshape(50, 100)
    expected = x[:, ::-1].copy()
    assert dmlops.slice(x, [0, 0], [50, 100], [1, -1], out=x, device=device) is x
    assert np.array_equal(x, expected)


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
    x = np.arange(6, dtype=np.dtype("l"))
    out = np.zeros(6, np.dtype("q"))  # the same eight bytes: equal, but not the same type number
    assert x.dtype == out.dtype and x.dtype.char != out.dtype.char
    assert dmlops.slice(x, [0], [6], [-1], out=out, device=device).tolist() == [5, 4, 3, 2, 1, 0]


def test_a_subclass_as_out_is_filled_and_returned(device):
    out = np.ma.zeros((2, 2), np.int64)
    assert dmlops.slice(np.eye(2, dtype=np.int64), [0, 0], [2, 2], [1, -1], out=out, device=device) is out
    assert np.asarray(out).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("name", ["vulkan", "host"])
def test_nothing_beyond_the_pages_of_the_arrays_is_touched(name, request):
    """Arrays flush against pages that may be neither read nor written; a stray access ends the process."""
    device = str(request.getfixturevalue("vulkan")) if name == "vulkan" else "host"
    script = str(support.ROOT / "tests" / "guard_pages.py")
    done = support.run_python(None, args=(script, device), timeout=500, check=False)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-2000:]}"
    assert "cases, all right" in done.stdout


@pytest.mark.parametrize(
    "strides, apart", [((3, 2), True), ((2, 2), False), ((5, 2), True), ((3, 3), False), ((1, 3), True)]
)
def test_out_whose_strides_interleave(device, strides, apart):
    """Whether elements share bytes is then to be found out one by one."""
    parent = np.full(40, 7, np.uint8)
    out = np.lib.stride_tricks.as_strided(parent, (2, 3), strides)
    x = np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
    if apart:
        assert dmlops.slice(x, [0, 0], [2, 3], out=out, device=device) is out and np.array_equal(out, x)
    else:
        with pytest.raises(ValueError, match="share memory"):
            dmlops.slice(x, [0, 0], [2, 3], out=out, device=device)
    assert (parent == 7).sum() == (34 if apart else 40)
