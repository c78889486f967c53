"""Resizing in fused functions: the bits of the steps apart, a proof, and no more of an image than what follows reads."""

import re

import dmlops
import numpy as np
import pytest
from dmlops.fusion import tracing
from dmlops.fusion.proof import ProofError, prove
from dmlops.fusion.reads import boxes_of
from dmlops.fusion.resized import ResizePass
from hypothesis import given
from hypothesis import strategies as st

from strategies import FEWER


def photos(shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def passes(function, *arrays):
    return function._compiled(arrays, {}).program.passes


def check_same(results, right):
    """Arrays or tuples of them, of the same shapes, dtypes and elements."""
    for one, other in zip(*[each if isinstance(each, tuple) else (each,) for each in (results, right)], strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other, strict=True)


RESIZES = {
    "pillow": lambda x, size, axes: dmlops.resize_pillow(x, size, "bicubic", axes=axes),
    "pillow with a box": lambda x, size, axes: dmlops.resize_pillow(
        x, size, "lanczos", box=(0.5, 0, x.shape[axes[1]] - 0.25, x.shape[axes[0]]), axes=axes
    ),
    "pillow with a gap": lambda x, size, axes: dmlops.resize_pillow(x, size, reducing_gap=1.0, axes=axes),
    "pillow nearest": lambda x, size, axes: dmlops.resize_pillow(x, size, "nearest", axes=axes),
    "opencv": lambda x, size, axes: dmlops.resize_opencv(x, size, axes=axes),
    "opencv area": lambda x, size, axes: dmlops.resize_opencv(x, size, "area", axes=axes),
    "torchvision": lambda x, size, axes: dmlops.resize_torchvision(x, size, "bicubic", axes=axes),
    "torchvision without antialias": lambda x, size, axes: dmlops.resize_torchvision(x, size, antialias=False, axes=axes),
}
BEFORE = {
    "nothing": lambda x: x,
    "crop": lambda x: x[:, 1:, 2:],
    "mirror": lambda x: x[:, :, ::-1],
    "every other row": lambda x: x[:, ::-2],
    "channels reversed": lambda x: x[..., ::-1],
    "a batch axis": lambda x: x[None],
    "roll": lambda x: np.roll(x, 2, 1),
    "map": lambda x: 255 - x,
    "one photo": lambda x: x[0],
}
AFTER = {
    "nothing": lambda x: x,
    "crop": lambda x: x[..., 1:, :, :],
    "small crop": lambda x: x[..., 2:3, 1:2, :],
    "mirror": lambda x: x[..., ::-1, :],
    "every other column": lambda x: x[..., ::2, :],
    "channels first": lambda x: np.moveaxis(x, -1, 0),
    "floats": lambda x: (x / np.float32(255) - np.float32(0.5)) / np.float32(0.25),
    "reshape": lambda x: x.reshape(x.size)[::-1],
    "twice": lambda x: np.concatenate([x[..., :1, :, :], x], -3),
    "both": lambda x: (x, x[..., 1:2, :]),
    "padding": lambda x: np.pad(x[..., 1:], [(0, 0)] * (x.ndim - 2) + [(1, 2), (0, 0)], constant_values=7),
}


@FEWER
@given(
    st.sampled_from(sorted(BEFORE)),
    st.sampled_from(sorted(RESIZES)),
    st.lists(st.sampled_from(sorted(AFTER)), max_size=3).filter(lambda names: not {"both", "reshape"} & {*names[:-1]}),
    st.tuples(st.integers(3, 40), st.integers(3, 40)),
    st.tuples(st.integers(3, 30), st.integers(3, 30)),
    st.integers(1, 4),
)
def test_functions_that_resize_equal_their_steps(before, name, after, old, new, channels):
    def function(x):
        x = RESIZES[name](BEFORE[before](x), new, (-3, -2))
        for step in after:
            x = AFTER[step](x)
        return x

    fused = dmlops.fuse(function)
    x = photos((2, *old, channels))
    with tracing.untraced():
        right = function(x)
    results = fused(x, device="host")
    check_same(results, right)
    fused.prove(x)
    check_same(results, fused.reference(x))


@FEWER
@given(
    st.sampled_from(sorted(BEFORE)),
    st.sampled_from(sorted(RESIZES)),
    st.lists(st.sampled_from(sorted(AFTER)), max_size=3).filter(lambda names: not {"both", "reshape"} & {*names[:-1]}),
    st.lists(st.tuples(st.integers(3, 40), st.integers(3, 40)), min_size=4, max_size=8),
    st.booleans(),
)
def test_functions_that_resize_equal_their_steps_at_one_size_after_another(before, name, after, sizes, whole):
    """What was compiled for one size is computed for others."""

    def function(x):
        rows, columns = x.shape[1:3]
        x = RESIZES[name](BEFORE[before](x), (9, 12) if whole else (4 + rows // 2, 2 * columns // 3 + 3), (-3, -2))
        for step in after:
            x = AFTER[step](x)
        return x

    fused = dmlops.fuse(function)
    for number, size in enumerate(sizes):
        x = photos((2, *size, 3), number)
        with tracing.untraced():
            right = function(x)
        check_same(fused(x, device="host"), right)
    fused.prove(x)


@pytest.mark.parametrize("layout", ["channels last", "channels first", "one image"])
def test_on_every_device(device, layout):
    first = layout == "channels first"

    @dmlops.fuse
    def prepare(x):
        x = dmlops.resize_torchvision(x, (20, 24), axes=(-2, -1) if first else (-3, -2))
        x = x if first else np.moveaxis(x, -1, -3)
        return x[..., 2:18, 4:20].astype(np.float32) / 255

    x = photos((3, 48, 41) if layout == "one image" else (2, 3, 41, 48))
    x = x if first else np.moveaxis(x, -3, -1)
    right = prepare.reference(x)
    for array in (x, np.ascontiguousarray(x)):
        np.testing.assert_array_equal(prepare(array, device=device), right)
    on_device = dmlops.asarray(x, device=device)
    result = prepare(on_device)
    assert isinstance(result, dmlops.DeviceArray) and result.device == on_device.device
    np.testing.assert_array_equal(result.numpy(), right)


# --- what passes do -------------------------------------------------------------------------------------------------


def test_a_crop_behind_it_makes_a_window_alone():
    fused = dmlops.fuse(lambda x: np.moveaxis(dmlops.resize_pillow(x, (30, 40))[3:27, 8:32], -1, 0) / np.float32(255))
    x = photos((50, 60, 3))
    first, second = passes(fused, x)
    assert isinstance(first, ResizePass) and first.window == (3, 24, 8, 24)
    assert first.nodes[0].shape == (24, 24, 3) and second.nodes[0].shape == (3, 24, 24)


def test_a_resize_alone_is_one_pass_that_writes_to_out():
    fused = dmlops.fuse(lambda x: dmlops.resize_pillow(x[:, 2:, ::-1], (9, 8))[:, 1:])
    x = photos((2, 20, 21, 3))
    (only,) = passes(fused, x)
    assert isinstance(only, ResizePass) and only.window == (1, 8, 0, 8)
    out = np.empty((2, 8, 8, 3), np.uint8)
    assert fused(x, out=out, device="host") is out
    np.testing.assert_array_equal(out, fused.reference(x))


def test_views_are_read_where_they_lie_and_windows_are_resized_again():
    fused = dmlops.fuse(lambda x: dmlops.resize_pillow(dmlops.resize_pillow(x.swapaxes(0, 1), (30, 20))[4:, 3:], (7, 9)))
    x = photos((40, 50, 3))
    assert [type(one).__name__ for one in passes(fused, x)] == ["ResizePass", "ResizePass"]
    np.testing.assert_array_equal(fused(x, device="host"), fused.reference(x))
    assert fused.prove(x).passes == 2


BETWEEN = {
    "two crops": lambda x: x[5:][4:][:6],
    "a mirror and a crop": lambda x: x[::-1][3:8],
    "every other row, backwards, and a crop": lambda x: x[::-2, 2:][1:6, ::-1],
    "an axis that comes and goes": lambda x: x[5:][None][:, 4:10][0],
    "one column, with an axis in its place": lambda x: x[:, :, None][:, 3],
    "one row behind a transposition": lambda x: x.transpose(1, 0, 2)[4:, 6:][:, 3:4],
}


@pytest.mark.parametrize("name", BETWEEN)
def test_views_one_after_the_other_are_of_the_window_that_was_resized(name):
    """The first of them selects more than the window that is there."""
    fused = dmlops.fuse(lambda x: dmlops.resize_pillow(BETWEEN[name](dmlops.resize_pillow(x, (20, 24))), (7, 9)))
    for number, size in enumerate([(30, 40), (40, 33), (23, 29), (50, 50)]):
        x = photos((*size, 3), number)
        np.testing.assert_array_equal(fused(x, device="host"), fused.reference(x))
    assert fused.prove(x).passes == 2


def test_what_two_results_need_is_resized_once():
    def function(x):
        y = dmlops.resize_opencv(x, (20, 20))
        return y[2:6], y[10:12, :5].astype(np.float32)

    resized = [one for one in passes(dmlops.fuse(function), photos((30, 30, 3))) if isinstance(one, ResizePass)]
    assert [one.window for one in resized] == [(2, 10, 0, 20)]


def test_boxes_have_what_is_read():
    fused = dmlops.fuse(lambda x: x[2:9:3, 1:][:, ::-1][:, :2])
    x = photos((10, 6))
    compiled = fused._compiled((x,), {})
    assert boxes_of(compiled.results)[compiled.inputs[0]] == ((2, 9), (4, 6))


def test_empty_batches():
    fused = dmlops.fuse(lambda x: np.moveaxis(dmlops.resize_pillow(x, (4, 5)), -1, 1).astype(np.float32))
    assert fused(photos((0, 9, 9, 3))).shape == (0, 3, 4, 5)


# --- proof, explanation, refusal ------------------------------------------------------------------------------------


def test_a_proof_finds_a_pass_that_resizes_something_else():
    fused = dmlops.fuse(lambda x: dmlops.resize_pillow(x[1:], (5, 5))[:, ::-1])
    x = photos((12, 11, 3))
    compiled = fused._compiled((x,), {})
    first, *rest = compiled.program.passes
    other = passes(dmlops.fuse(lambda x: dmlops.resize_pillow(x[:-1], (5, 5))[:, ::-1]), x)[0]
    wrong = compiled._replace(program=compiled.program._replace(passes=(first._replace(seen=other.seen), *rest)))
    with pytest.raises(ProofError, match="what is resized has byte 0 of input 0"):
        prove("f", wrong)


def test_a_proof_checks_the_sums(monkeypatch):
    fused = dmlops.fuse(lambda x: dmlops.resize_pillow(x, (5, 5)))
    x = photos((12, 11, 3))
    fused(x, device="host")
    monkeypatch.setattr("dmlops.fusion.proof.resampled", lambda *_: np.zeros((5, 5, 3), np.uint8))
    with pytest.raises(ProofError, match="sums by NumPy give"):
        fused.prove(x)


def test_an_explanation_says_what_is_resized():
    fused = dmlops.fuse(lambda x: dmlops.resize_pillow(x, (20, 24), "bilinear")[2:] / np.float32(255))
    explained = fused.explain(photos((40, 50, 3)), device="host")
    assert explained.passes == 2
    assert "rows: 40 to 18 of 20, each a sum of " in str(explained) and "columns: 50 to 24, each a sum of " in str(explained)
    assert "columns: 50 to 24" in explained._repr_html_()


def test_an_explanation_for_a_device_has_its_kernels(vulkan):
    fused = dmlops.fuse(lambda x: dmlops.resize_pillow(x[:, ::-1], (20, 24), "bilinear")[2:] / np.float32(255))
    explained = str(fused.explain(photos((40, 50, 3)), device=vulkan))
    assert "step 1: from input 0 to what lies between the passes" in explained and "auto:" not in explained
    assert len(re.findall("1 x sums, of ", explained)) == 2 and "why: a sum: inputs by their weights" in explained


def test_auto_weighs_resizing_too(vulkan):
    """A pass that resizes is a part of the estimates: it is the only one here."""
    fused = dmlops.fuse(lambda x: dmlops.resize_pillow(x, (20, 24)))
    said = next(line for line in str(fused.explain(photos((40, 50, 3)), device="auto")).splitlines() if "auto: " in line)
    times = [float(time) for time in re.findall(r"([0-9.e+]+) us", said)]
    assert said.startswith("auto: on host") and len(times) == 2 and 0 < times[0] < times[1] < 1e6


def test_what_cannot_be_fused_is_said():
    x = photos((8, 8, 4))
    with pytest.raises(TypeError, match="alpha.*cannot be fused"):
        dmlops.fuse(lambda x: dmlops.resize_pillow(x, (4, 4), alpha=True))(x)
    with pytest.raises(TypeError, match="uint8"):
        dmlops.fuse(lambda x: dmlops.resize_pillow(x.astype(np.float32), (4, 4)))(x)
    with pytest.raises(TypeError, match="give them to the fused function"):
        dmlops.fuse(lambda x: dmlops.resize_pillow(x, (4, 4), device="host"))(x)
    with pytest.raises(ValueError, match="1 or more"):
        dmlops.fuse(lambda x: dmlops.resize_pillow(x, (0, 4)))(x)


def test_axes_of_one_index_behind_a_resize_are_those_of_numpy():
    """They move no bytes."""
    x = photos((1, 9, 8, 1))
    resized = dmlops.resize_opencv(x, (3, 4), device="host")
    for movement in (lambda x: np.moveaxis(x, -1, 0), lambda x: x[0], lambda x: x[..., 0], lambda x: x.reshape(3, 4)):
        function = dmlops.fuse(lambda x: movement(dmlops.resize_opencv(x, (3, 4))))
        np.testing.assert_array_equal(function(x, device="host"), movement(resized))


def test_a_list_of_images_is_a_batch():
    """As it is without fuse."""
    images = [np.random.default_rng(k).integers(0, 256, (40, 50, 3), np.uint8) for k in range(3)]
    function = dmlops.fuse(lambda images: dmlops.resize_pillow(images, (20, 30)))
    assert np.array_equal(function(images, device="host"), dmlops.resize_pillow(np.stack(images), (20, 30), device="host"))
    assert np.array_equal(function(images, device="host"), function.reference(images))
