"""What arrays of indices choose that are arguments: dmlops.crops, and NumPy's indices in fused functions."""

import struct
import warnings

import dmlops
import numpy as np
import pytest
from dmlops import _core, reference
from dmlops.fusion.proof import ProofError
from hypothesis import given
from hypothesis import strategies as st

import strategies
from strategies import FEWER
from support import counted

X = np.random.default_rng(0).integers(0, 256, (6, 9, 11, 3), np.uint8)
STARTS = np.random.default_rng(1).integers(0, (6, 7), (6, 2))
FLIP = np.array([True, False, False, True, True, False])


def same(one, other):
    return one.dtype == other.dtype and one.shape == other.shape and strategies.content(one) == strategies.content(other)


# --- crops ----------------------------------------------------------------------------------------------------------


def prepared(x, starts, flip):
    return np.moveaxis(dmlops.crops(x, starts, (4, 5), flip), -1, 1).astype(np.float32) / np.float32(255)


def test_crops_and_what_follows_are_one_program_for_all_starts(device):
    function, traced = counted(prepared)
    for shift in range(4):
        starts, flip = np.roll(STARTS, shift, 0), np.roll(FLIP, shift)
        expected = np.moveaxis(reference.crops(X, starts, (4, 5), flip), -1, 1).astype(np.float32) / np.float32(255)
        assert same(function(X, starts, flip, device=device), expected)
    assert len(traced) == 1
    proof = function.prove(X, STARTS, FLIP)
    assert (proof.passes, proof.elements) == (1, 6 * 4 * 5 * 3)
    assert function.explain(X, STARTS, FLIP, device=device).passes == 1
    plans = str(function.explain(X, STARTS, FLIP, device="host"))
    assert "6 times: from input 0, by a table, to result 0: 3 x 4 x 5 items" in plans


AFTER = {
    "channels first": lambda x: np.moveaxis(x, -1, 1),
    "floats": lambda x: x.astype(np.float32),
    "mirror": lambda x: x[:, :, ::-1],
    "rows": lambda x: x.reshape(len(x), x.shape[1], -1),
    "window": lambda x: x[:, 1:, ::2],
    "last": lambda x: x[-1:],
    "twice": lambda x: np.concatenate([x, x[:, ::-1]], 1),
}


@given(
    count=st.integers(1, 3),
    sizes=st.lists(st.tuples(st.integers(9, 30), st.integers(9, 30)), min_size=4, max_size=8),
    mirrored=st.booleans(),
    wide=st.booleans(),
    after=st.lists(st.sampled_from(sorted(AFTER)), max_size=3),
    seed=strategies.seeds,
)
@FEWER
def test_crops_of_one_size_after_another(count, sizes, mirrored, wide, after, seed):
    """What was compiled for one size is computed for others."""

    def function(x, starts, flip):
        x = dmlops.crops(x, starts, (x.shape[1] - 4 if wide else 5, 6), flip)
        for name in after:
            x = AFTER[name](x)
        return x

    fused, random = dmlops.fuse(function), np.random.default_rng(seed)
    for size in sizes:
        x = random.integers(0, 256, (count, *size, 3), np.uint8)
        starts = random.integers(0, (5 if wide else size[0] - 4, size[1] - 5), (count, 2))
        flip = random.random(count) < 0.5 if mirrored else None
        assert same(fused(x, starts, flip, device="host"), np.asarray(fused.reference(x, starts, flip)))
    assert fused.prove(x, starts, flip)


def test_images_and_masks_are_cropped_alike(device):
    function = dmlops.fuse(lambda x, mask, starts, flip: [dmlops.crops(one, starts, (4, 5), flip) for one in (x, mask)])
    mask = X[..., 0].astype(np.uint16)
    for one, other in zip(function(X, mask, STARTS, FLIP, device=device), (X, mask), strict=True):
        assert same(one, reference.crops(other, STARTS, (4, 5), FLIP))
    assert function.prove(X, mask, STARTS, FLIP).passes == 1


def test_a_proof_of_one_sample():
    """Which values are right for its starts is found by views of no axis."""
    assert dmlops.fuse(lambda x, starts: dmlops.crops(x, starts, (4, 5))).prove(X[:1], STARTS[:1]).elements == 4 * 5 * 3


def test_a_proof_of_one_index():
    """It is a view of no axis, into which right values are written."""
    function = dmlops.fuse(lambda x, chosen: x[:, chosen[-1]])
    x, chosen = X[:, :, :, 0], np.array([2, 0, 5])
    assert same(function(x, chosen, device="host"), x[:, 5]) and function.prove(x, chosen).passes == 1


def test_starts_that_are_no_arguments(device):
    function = dmlops.fuse(lambda x: dmlops.crops(x, STARTS.tolist(), (4, 5), FLIP)[:, ::-1])
    assert same(function(X, device=device), reference.crops(X, STARTS, (4, 5), FLIP)[:, ::-1])
    assert function.prove(X)


def test_arrays_of_a_device(device):
    x, starts, flip = (dmlops.asarray(one, device=device) for one in (X, STARTS, FLIP))
    expected = reference.crops(X, STARTS, (4, 5), FLIP)
    for given_starts, given_flip in ((STARTS, FLIP), (starts, flip)):
        found = dmlops.crops(x, given_starts, (4, 5), given_flip)
        assert isinstance(found, dmlops.DeviceArray) and same(found.numpy(), expected)
        found = dmlops.fuse(prepared)(x[:, ::-1], given_starts, given_flip)
        assert same(found.numpy(), dmlops.fuse(prepared).reference(X[:, ::-1], STARTS, FLIP))
    with pytest.raises(ValueError, match="must start in"):
        dmlops.crops(x, starts, (5, 11))


def test_many_samples_on_several_cores():
    x = np.random.default_rng(0).integers(0, 256, (40, 150, 150, 3), np.uint8)
    starts = np.random.default_rng(1).integers(0, 22, (40, 2))
    flip = starts[:, 0] % 2 == 0
    assert same(dmlops.crops(x, starts, 129, flip, device="host"), reference.crops(x, starts, 129, flip))


@pytest.mark.driverless
@pytest.mark.parametrize("more, error, words", [
    ({"starts": [[0, 0]] * 5}, ValueError, r"starts must have shape \(6, 2\), a row for each sample; got \(5, 2\)"),
    ({"starts": [0] * 6}, ValueError, r"starts must have shape \(6, 2\)"),
    ({"starts": [[0.0, 0]] * 6}, TypeError, "starts must be of an integer dtype, not float64"),
    ({"starts": [[0, 0], [0]] * 3}, ValueError, "starts"),
    ({"starts": [[0, 0]] * 5 + [[0, 7]]}, ValueError, r"size 11, must start in \[0, 6\]; starts has 7 for sample 5"),
    ({"starts": [[0, 0]] * 3 + [[-1, 0]] * 3}, ValueError, r"must start in \[0, 5\]; starts has -1 for sample 3"),
    ({"sizes": (4, 12)}, ValueError, r"sizes must be in \[0, 11\] on axis 2; got 12"),
    ({"sizes": (4, -1)}, ValueError, "sizes must be in"),
    ({"sizes": (12, 4)}, ValueError, r"on axis 1; got 12: they are \(height, width\), and input has the shape \(6, 9, 11, 3\)"),
    ({"input": np.moveaxis(X, -1, 1)}, ValueError, r"images with channels first, as of \(6, 3, 9, 11\), need axes=\(2, 3\)"),
    ({"input": X[0]}, ValueError, r"one image of \(9, 11, 3\) is the batch image\[None\]"),
    ({"input": np.zeros(0, int), "sizes": (4, 5)}, ValueError, r"input must be a batch, whose first axis .* shape \(0,\)"),
    ({"sizes": (4.0, 5)}, TypeError, "sizes"),
    ({"sizes": (4, 5, 1), "axes": (1, 2)}, ValueError, "sizes must have 2 entries, one for each of the axes; got 3"),
    ({"axes": (1, -4)}, ValueError, "the first axis, which has the samples"),
    ({"axes": (1, 1)}, ValueError, "each axis once"),
    ({"axes": (1, 4)}, np.exceptions.AxisError, "axis 4 is out of bounds"),
    ({"flip": [1] * 6}, TypeError, "flip must be of dtype bool, not int64"),
    ({"flip": [True] * 5}, ValueError, r"flip must have shape \(6,\) or \(6, 2\); got \(5,\)"),
    ({"flip": [[True]] * 6}, ValueError, "flip must have shape"),
    ({"sizes": (0, 5), "starts": [[10, 0]] * 6}, ValueError, r"must start in \[0, 9\]; starts has 10 for sample 0"),
    ({"sizes": 0, "starts": [[0, 0]] * 5 + [[0, -1]]}, ValueError, r"\[0, 11\]; starts has -1 for sample 5"),
    ({"input": X[..., :0], "starts": [[0, 0], [6, 0]] * 3}, ValueError, "starts has 6 for sample 1"),
    ({"starts": np.full((6, 2), 2**64 - 1, np.uint64)}, ValueError, f"starts has {2**64 - 1} for sample 0"),
    ({"input": np.uint8(3)}, ValueError, "input must have an axis"),
    ({"input": np.array([None])}, TypeError, "input"),
    ({"out": np.empty((6, 4, 5, 3), np.int8)}, ValueError, "out"),
])  # fmt: skip
def test_what_crops_refuse(more, error, words):
    given = {"input": X, "starts": STARTS, "sizes": (4, 5), **more}
    with pytest.raises(error, match=words):
        dmlops.crops(**given, device="host")
    if not {"out"} & set(more) and given["input"].dtype != object:
        with pytest.raises(error, match=words):
            reference.crops(**given)


@pytest.mark.driverless
def test_a_list_of_images_is_a_batch():
    assert np.array_equal(dmlops.crops([*X], STARTS, (4, 5)), dmlops.crops(X, STARTS, (4, 5)))
    assert np.array_equal(dmlops.crops((X[0], X[1]), STARTS[:2], (4, 5)), dmlops.crops(X[:2], STARTS[:2], (4, 5)))
    with pytest.raises(ValueError, match="same shape"):
        dmlops.crops([X[0], X[1][:4]], STARTS[:2], (4, 5))


@pytest.mark.driverless
@pytest.mark.parametrize("dtype", ["u8", ">i2", "u1"])
def test_the_twin_of_crops_takes_what_crops_takes(dtype):
    for size in (np.int64(2), np.array(2), [np.uint8(2), 3]):
        expected = dmlops.crops(X, STARTS.astype(dtype), size, FLIP, device="host")
        assert same(reference.crops(X, STARTS.astype(dtype), size, FLIP), expected)
    assert same(reference.crops(X, STARTS[:, :1], 3, axes=(2,)), dmlops.crops(X, STARTS[:, :1], 3, axes=(2,), device="host"))


@pytest.mark.driverless
def test_nothing_is_written_where_a_crop_reaches_beyond():
    out = np.zeros((6, 4, 5, 3), np.uint8)
    with pytest.raises(ValueError, match="sample 5"):
        dmlops.crops(X, [[0, 0]] * 5 + [[6, 0]], (4, 5), out=out, device="host")
    assert not out.any()


def test_starts_of_empty_crops_are_looked_at(device):
    x = dmlops.asarray(X[..., :0], device=device)
    assert dmlops.crops(x, STARTS, (4, 5)).shape == (6, 4, 5, 0)
    for sizes, wrong in ((0, [[10, 0]] * 6), ((4, 5), [[6, 0]] * 6)):
        with pytest.raises(ValueError, match="must start in"):
            dmlops.crops(x, wrong, sizes)
        with pytest.raises(ValueError, match="must start in"):
            dmlops.fuse(lambda x, starts, sizes=sizes: dmlops.crops(x, starts, sizes)[:, :0])(x, np.array(wrong))


CHOSEN = {
    "brackets": lambda x, i: x[:, i],
    "brackets, then nothing": lambda x, i: x[:, i][:, :0],
    "take": lambda x, i: np.take(x, i, 1),
    "take, then nothing": lambda x, i: np.take(x, i, 1)[:, :0],
    "along": lambda x, i: np.take_along_axis(x, i[None].repeat(len(x), 0), 1),
}


@pytest.mark.driverless
@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("rows", [0, 4])
@pytest.mark.parametrize("index", [[5], [-4], [2, 0], []])
def test_wrong_indices_of_what_is_empty_raise_where_numpys_do(name, rows, index):
    x, index, function = np.zeros((rows, 3)), np.array(index, int), CHOSEN[name]
    made = dmlops.fuse(function if name != "along" else lambda x, i: np.take_along_axis(x, i, 1))
    given = index if name != "along" else index[None].repeat(rows, 0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # by which NumPy 1 announces the error
            expected = function(x, index)
    except DeprecationWarning:
        with pytest.raises(IndexError, match="out of bounds"):
            made(x, given, device="host")
    except IndexError as error:
        with pytest.raises(IndexError) as caught:
            made(x, given, device="host")
        assert str(caught.value) == str(error)
    else:
        assert same(made(x, given, device="host"), expected)


# --- indices --------------------------------------------------------------------------------------------------------


SELECTIONS = {
    "rows": (lambda x, i: x[i], (4,), 6),
    "rows, two axes": (lambda x, i: x[i], (2, 3), 6),
    "no rows": (lambda x, i: x[i], (0,), 6),
    "one": (lambda x, i: x[i], (), 6),
    "behind": (lambda x, i: x[:, ::2, i], (4,), 11),
    "behind an ellipsis": (lambda x, i: x[..., i], (4,), 3),
    "beside a constant": (lambda x, i: x[np.arange(6), i], (6,), 9),
    "apart from a constant": (lambda x, i: x[np.arange(6), :, i, 1:], (6,), 11),
    "beside an int": (lambda x, i: x[:, 2, i], (4,), 11),
    "apart from an int": (lambda x, i: x[2, :, i], (4,), 11),
    "a pair": (lambda x, i: x[i[:, 0], i[:, 1]], (5, 2), 6),
    "broadcast": (lambda x, i: x[i[:, None], :, i[None]], (4,), 6),
    "new axes": (lambda x, i: x[None, i, ..., None], (4,), 6),
    "mirrored": (lambda x, i: x[::-1, ::-1][i][..., ::-1], (4,), 6),
    "and reshaped": (lambda x, i: x[i].reshape(-1, 33).T, (4,), 6),
    "and joined": (lambda x, i: np.concatenate([x[i], x, x[i][:1]]), (4,), 6),
    "and rolled": (lambda x, i: np.roll(x[i], 5), (4,), 6),
    "of what was rolled": (lambda x, i: np.roll(x, 4, 1)[i], (4,), 6),
    "of floats": (lambda x, i: (x.astype(np.float32) / 7)[i], (4,), 6),
    "to floats": (lambda x, i: x[i].astype(np.float32) / 7, (4,), 6),
    "of what was chosen": (lambda x, i: x[i][i[:2]], (4,), 4),
    "take": (lambda x, i: np.take(x, i, 1), (4,), 9),
    "take of all": (lambda x, i: np.take(x, i), (2, 4), 1782),
    "dmlops.take": (lambda x, i: dmlops.take(x, i, -1), (2, 2), 3),
    "along": (lambda x, i: np.take_along_axis(x[..., 0], i, 1), (6, 4, 11), 9),
    "along, broadcast": (lambda x, i: np.take_along_axis(x[:2, ..., 0], i, 1), (2, 4, 1), 9),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_indices_that_are_arguments(device, name):
    function, shape, size = SELECTIONS[name]
    fused, traced = counted(function)
    random = np.random.default_rng(2)
    for dtype in ("i8", "i8", "i2"):
        indices = random.integers(-size, size, shape).astype(dtype)
        assert same(np.asarray(fused(X, indices, device=device)), np.asarray(function(X, indices)))
    assert len(traced) == 2 and fused.prove(X, indices)


@st.composite
def keys(draw):
    """A shape of an array, and a key: indices by number, and what stays as it is."""
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    common, key, indices = draw(st.sampled_from([(), (3,), (2, 2)])), [], []
    for size in shape[: draw(st.integers(1, len(shape)))]:
        kind = draw(st.sampled_from(["index", "index", "slice", "int", "constant"]))
        if kind == "slice":
            key.append(slice(draw(st.integers(-5, 5)), draw(st.integers(-5, 5)), draw(st.sampled_from([1, -1, 2]))))
        elif kind == "int":
            key.append(draw(st.integers(-size, size - 1)))
        else:
            entries = common[draw(st.integers(0, len(common))) :]
            made = np.random.default_rng(draw(strategies.seeds)).integers(-size, size, entries)
            key.append(made if kind == "constant" else len(indices))
            if kind == "index":
                key[-1] = (len(indices),)
                indices.append(made)
    if draw(st.booleans()) and len(key) < len(shape):
        key.append(...)
    return draw(strategies.specs(tuple(shape))), key, indices


@given(drawn=keys())
@FEWER
def test_random_keys(devices, drawn):
    spec, key, indices = drawn
    x = spec.build()
    function = dmlops.fuse(lambda x, *given: x[tuple(given[one[0]] if isinstance(one, tuple) else one for one in key)])
    if not indices:
        return
    expected = np.asarray(function._function(strategies.raw(x), *indices))  # a scalar's view would make other bools
    for device in devices:
        found = function(x, *indices, device=device)
        assert found.shape == expected.shape and strategies.content(found) == strategies.content(expected.view(x.dtype))


@pytest.mark.driverless
def test_indices_out_of_range_and_others_that_are_refused():
    function = dmlops.fuse(lambda x, i: x[:, i])
    for wrong in (9, -10, 2**40):
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 1 with size 9"):
            function(X, np.array([0, wrong]), device="host")
    with pytest.raises(IndexError, match="size 0"):
        function(X[:, :0], np.array([0]), device="host")
    with pytest.raises(IndexError, match="could not be broadcast"):
        dmlops.fuse(lambda x, i, j: x[i, j])(X, np.zeros(3, int), np.zeros(2, int), device="host")
    with pytest.raises(IndexError, match="integer"):
        function(X, np.zeros(3), device="host")
    large = np.zeros(5000, int)
    for wrong, words in ((lambda x, i: x[:, i], "4,096 indices"), (lambda x, i: x[i + 1], "astype|bytes|index|map")):
        with pytest.raises(TypeError, match=words):
            dmlops.fuse(wrong)(X, large, device="host")
    with pytest.raises(TypeError, match="depends on values"):
        dmlops.fuse(lambda x, i: x[i])(np.zeros(5000, np.uint8), np.zeros(5000, bool), device="host")


def test_a_small_array_of_computed_indices_is_a_constant(device):
    function, traced = counted(lambda x, i: x[i + 1])
    for shift in range(2):
        indices = np.array([0, 3, -2]) + shift
        assert same(function(X, indices, device=device), X[indices + 1])
    assert len(traced) > 2


@pytest.mark.driverless
def test_a_proof_sees_another_place(monkeypatch):
    function = dmlops.fuse(prepared)
    real = _core._compiled_steps
    assert function.prove(X, STARTS, FLIP)

    def moved(program, selections):
        numbers = np.frombuffer(selections, np.int64).copy()
        numbers[-1] += 3 if numbers[-1] == 0 else -3
        return real(program, numbers.tobytes())

    monkeypatch.setattr(_core, "_compiled_steps", moved)
    with pytest.raises(ProofError, match="result 0"):
        function.prove(X, STARTS, FLIP)


def described(*sizes):
    return tuple((np.dtype(np.uint8), (size,), (1,)) for size in sizes)


WRONG = [(0, 1, 0), (0, 0), (2, 0, 0, 0), (-1, 0, 0, 0), (0, 11, 0, 0), (0, -1, 0, 0), (1, 0, 0, 2**63 - 1)]


@pytest.mark.driverless
@pytest.mark.parametrize("numbers", WRONG)
def test_selections_that_leave_an_array_are_refused(numbers):
    """Two steps of two variants, each of 5 of 15 bytes; the second one backwards from byte 4 on."""
    array = np.arange(15, dtype=np.uint8)
    ints = []
    for half in (0, 1):
        for first, step in ((0, 1), (4, -1)):
            ints += [0, 0, first, 0, -1, 0, -1, 1, 0, 5 * half, 5, 1, step, 0]
    steps = np.array(ints, np.int64).tobytes()
    program = _core._compile(described(15, 10), 1, steps, b"", 2)
    right = struct.pack("4q", 0, 10, 1, 3)
    (found,) = _core._run_compiled(program, [array], None, "host", None, right)
    assert found.tolist() == [10, 11, 12, 13, 14, 7, 6, 5, 4, 3]
    with pytest.raises(ValueError, match="selection|selections"):
        _core._run_compiled(program, [array], None, "host", None, struct.pack(f"{len(numbers)}q", *numbers))


@pytest.mark.driverless
def test_variants_that_write_something_else_are_refused():
    ints = [0, 0, 0, 0, -1, 0, -1, 1, 0, 0, 5, 1, 1, 0]
    _core._compile(described(15, 5), 1, np.array([*ints, *ints], np.int64).tobytes(), b"", 2)
    for second in ([*ints[:10], 4, *ints[11:]], []):
        with pytest.raises(ValueError, match="variant"):
            _core._compile(described(15, 5), 1, np.array([*ints, *second], np.int64).tobytes(), b"", 2)
