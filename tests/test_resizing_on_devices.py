"""Resizing on a Vulkan device equals the host's: every library, layout and kind of sum, whole and in pieces, from host memory
and from device arrays."""

import contextlib

import dmlops
import numpy as np
import pytest
from dmlops import _core, explain
from dmlops.operators.tracking import PART
from hypothesis import given
from hypothesis import strategies as st

from strategies import FEWER

PILLOW, REDUCE, OPENCV, TORCHVISION = range(4)
FILTERS = {PILLOW: range(7), REDUCE: [0], OPENCV: range(5), TORCHVISION: [1, 3, 4]}  # by dml_filter and dml_opencv_mode
LINEAR, AREA, CUBIC = 0, 2, 3
BILINEAR, BICUBIC = 1, 3
TRAITS = ["group_size", "host_import", "range", "binding", "staging", "cpu", "rounds", "segments_always", "shuffles"]
SUMS = [_core._kernels().index(name) for name in ("sums", "float_sums", "shuffled_sums")]


@contextlib.contextmanager
def overridden(**traits):
    try:
        for name, value in traits.items():
            _core._override(name, value)
        yield
    finally:
        for name in TRAITS:
            _core._override(name, -1)


def resampling(library, filter, inputs, outputs, items=1, newer=True):
    """None where the result is the input, or the library has no such mode."""
    begin, end = (0.0, 0.0), tuple(map(float, inputs)) if library == PILLOW else (0.0, 0.0)
    if library == REDUCE:
        begin = tuple(float(-(-size // result)) for size, result in zip(inputs, outputs, strict=True))
        outputs = tuple(-(-size // int(block)) for size, block in zip(inputs, begin, strict=True))
    try:
        return _core._resampling(library, filter, inputs, outputs, begin, end, items, newer)
    except ValueError:
        return None


def resample(x, how, axes, device, window=None, out=None):
    return _core._resample(x, how, axes, window, out, device, None)


def sums(vulkan):
    return [_core._counts(vulkan)[kernel] for kernel in SUMS]


def image(shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


class Case:
    """An image or several, a resampling of them, and which of its outputs are made."""

    def __init__(self, draw):
        size = st.integers(1, 40) | st.integers(1, 200)
        height, width = self.inputs = draw(size), draw(size)
        rows, columns = draw(size), draw(size)
        library = draw(st.sampled_from([PILLOW, OPENCV, TORCHVISION, REDUCE]))
        channels = draw(st.integers(1, 5))
        shape, self.axes, items = draw(
            st.sampled_from(
                [
                    ((height, width, channels), [0, 1], channels),
                    ((2, height, width, channels), [1, 2], channels),
                    ((channels, height, width), [-2, -1], 1),
                    ((height, width), [0, 1], 1),
                ]
            )
        )
        filter = draw(st.sampled_from(FILTERS[library]))
        self.how = resampling(library, filter, self.inputs, (rows, columns), items, draw(st.booleans()))
        self.window = None
        if self.how and draw(st.booleans()):
            whole = resample(image(shape), self.how, self.axes, "host").shape
            rows, columns = whole[self.axes[0]], whole[self.axes[1]]
            top, left = draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1))
            self.window = [top, draw(st.integers(1, rows - top)), left, draw(st.integers(1, columns - left))]
        flipped = tuple(slice(None, None, draw(st.sampled_from([1, 1, -1]))) for _ in shape)
        self.image = image(shape, draw(st.integers(0, 99)))[flipped]

    def check(self, device):
        if self.how is None:
            return
        expected = resample(self.image, self.how, self.axes, "host", self.window)
        assert np.array_equal(resample(self.image, self.how, self.axes, device, self.window), expected)
        on_device = dmlops.asarray(self.image, device=device)
        result = resample(on_device, self.how, self.axes, None, self.window)
        assert np.array_equal(result.numpy(), expected)
        parent = np.full((*expected.shape[:-1], expected.shape[-1] + 3), 7, np.uint8)
        out = parent[..., :-3]
        assert resample(self.image, self.how, self.axes, device, self.window, out) is out
        assert np.array_equal(out, expected) and (parent[..., -3:] == 7).all()


@FEWER
@given(data=st.data())
def test_a_device_resizes_as_the_host_does(vulkan, data):
    Case(data.draw).check(vulkan)


WAYS = [
    {"host_import": 0},
    {"host_import": 0, "staging": 4096},
    {"binding": 4096},
    {"binding": 8192, "range": 8192},
    {"binding": 8192, "range": 8192, "host_import": 0},
    {"cpu": 0},
    {"segments_always": 1},
    {"shuffles": 0},
    {"group_size": 4},
]


@pytest.mark.slow
@pytest.mark.many_pipelines
@FEWER
@given(data=st.data(), way=st.sampled_from(WAYS))
def test_in_pieces_staged_and_as_a_gpu_does(vulkan, data, way):
    with overridden(**way):
        try:
            Case(data.draw).check(vulkan)
        except ValueError as error:  # of tall images
            assert "range" in way and "reads at most 8192 at once" in str(error)


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 17])
@pytest.mark.parametrize("width", [96, 97])
def test_whole_words_and_rows_that_begin_anywhere(vulkan, channels, width):
    """Results that are large enough for tiles; of views whose rows begin at odd addresses."""
    x = image((70, 151, channels))
    for view in (x, x[1:, 1:], x[:, ::-1]):
        for library, filter in ((PILLOW, BICUBIC), (OPENCV, LINEAR), (OPENCV, AREA), (OPENCV, CUBIC), (TORCHVISION, BILINEAR)):
            for size in ((64, width), (33, width), (200, width)):
                how = resampling(library, filter, view.shape[:2], size, channels)
                expected = resample(view, how, [0, 1], "host")
                assert np.array_equal(resample(view, how, [0, 1], vulkan), expected), (library, filter, size)


@pytest.mark.many_pipelines
@pytest.mark.parametrize("columns", [1600, 640, 200, 60])
def test_windows_of_every_width(vulkan, columns):
    """From a unit or two, which few invocations of a subgroup load, to more than they have registers for; rows from a word on,
    and from any byte; fewer rows than a subgroup makes."""
    for channels, begin, rows in ((3, 0, 37), (3, 1, 16), (1, 0, 20), (4, 0, 15), (2, 3, 33)):
        x = image((rows, columns + begin, channels))[:, begin:]
        for size in ((rows, 101), (rows, 24), (11, 25), (50, 333)):
            for library, filter in ((PILLOW, BICUBIC), (TORCHVISION, BILINEAR), (OPENCV, LINEAR)):
                how = resampling(library, filter, x.shape[:2], size, channels)
                if how:
                    expected = resample(x, how, [0, 1], "host")
                    assert np.array_equal(resample(x, how, [0, 1], vulkan), expected), (channels, begin, size, library)


def test_each_pass_is_one_dispatch_of_a_kernel_of_sums(vulkan):
    x, placed = image((120, 160, 3)), explain.Array("uint8", (120, 160, 3)).without_memory()
    cases = [
        (2, "integers", resampling(PILLOW, BICUBIC, (120, 160), (64, 96))),
        (1, "integers", resampling(PILLOW, BICUBIC, (120, 160), (120, 96))),
        (2, "floats", resampling(OPENCV, AREA, (120, 160), (64, 96), 3)),
    ]
    for shuffles, integers in ((1, "shuffled_sums"), (0, "sums")):
        if not shuffles or [piece["kernel"] for piece in explained(placed, cases[0][2], vulkan)] == ["shuffled_sums"] * 2:
            for passes, kind, how in cases:
                before = sums(vulkan)
                with overridden(shuffles=shuffles):
                    resample(x, how, [0, 1], vulkan)
                kernel = SUMS.index(_core._kernels().index(integers if kind == "integers" else "float_sums"))
                assert [after - number for after, number in zip(sums(vulkan), before, strict=True)] == [
                    passes * (k == kernel) for k in range(len(SUMS))
                ]


def test_work_between_device_arrays_is_queued(vulkan):
    """Each resize begins after what its input comes from, and the memory between the passes is used again at once."""
    x = image((8, 60, 80, 3))
    smaller = resampling(PILLOW, BICUBIC, (60, 80), (40, 50))
    larger = resampling(PILLOW, BILINEAR, (40, 50), (90, 70))
    expected = resample(resample(x, smaller, [1, 2], "host"), larger, [1, 2], "host")
    arrays = [dmlops.asarray(part, device=vulkan) for part in x]
    results = [resample(resample(a, smaller, [0, 1], None), larger, [0, 1], None) for a in arrays]
    for result, wanted in zip(results, expected, strict=True):
        assert np.array_equal(result.numpy(), wanted)


def test_views_of_device_arrays_are_resized(vulkan):
    x = image((3, 90, 100))
    how = resampling(TORCHVISION, BICUBIC, (44, 70), (60, 61))
    a = dmlops.asarray(x, device=vulkan)
    for key in np.s_[:, 1:89:2, 5:75], np.s_[::-1, 88:0:-2, 74:4:-1]:
        assert np.array_equal(resample(a[key], how, [1, 2], None).numpy(), resample(x[key], how, [1, 2], "host"))


def test_without_a_promise_of_rounding_floats_are_refused(vulkan):
    x = image((50, 60, 3))
    area = resampling(OPENCV, AREA, (50, 60), (33, 41), 3)
    linear = resampling(OPENCV, LINEAR, (50, 60), (33, 41), 3)
    with overridden(rounds=0):
        with pytest.raises(ValueError, match='does not promise how it rounds float32.*device="host" can'):
            resample(x, area, [0, 1], vulkan)
        assert np.array_equal(resample(x, linear, [0, 1], vulkan), resample(x, linear, [0, 1], "host"))
    assert np.array_equal(resample(x, area, [0, 1], vulkan), resample(x, area, [0, 1], "host"))


VIEWS = {
    "three of four channels": lambda x: x[..., :3],
    "the last three": lambda x: x[..., 1:],
    "channels reversed": lambda x: x[..., 2::-1],
    "one channel": lambda x: x[..., 2],
    "columns reversed": lambda x: x[:, ::-1, :3],
    "every second column": lambda x: x[:, ::2, 1:4],
    "every second column, all reversed": lambda x: x[::-1, ::-2, 3:0:-1],
    "planes as pixels": lambda x: np.ascontiguousarray(x.transpose(2, 0, 1))[:3].transpose(1, 2, 0),
}


@pytest.mark.many_pipelines
@pytest.mark.parametrize("shuffles", [1, 0])
@pytest.mark.parametrize("view", VIEWS)
def test_views_are_resized_as_fast_as_what_lies_side_by_side(vulkan, view, shuffles):
    """Several outputs of an invocation, whatever the strides of pixels and channels."""
    x = VIEWS[view](image((41, 94, 4)))
    channels = x.shape[2] if x.ndim == 3 else 1
    with overridden(shuffles=shuffles):
        for library, filter in ((PILLOW, BICUBIC), (OPENCV, LINEAR), (OPENCV, AREA), (OPENCV, CUBIC), (REDUCE, 0)):
            for size in ((20, 47), (41, 33), (60, 97)):
                how = resampling(library, filter, x.shape[:2], size, channels)
                if how:
                    on_device = dmlops.asarray(VIEWS[view](image((41, 94, 4))), device=vulkan)
                    expected = resample(x, how, [0, 1], "host")
                    assert np.array_equal(resample(x, how, [0, 1], vulkan), expected), (library, filter, size)
                    assert np.array_equal(resample(on_device, how, [0, 1], None).numpy(), expected), (library, filter, size)
        how = resampling(PILLOW, BICUBIC, x.shape[:2], (41, 150))  # more than is worth no pipeline of its own
        if view != "planes as pixels":
            (piece,) = explained(VIEWS[view](explain.Array("uint8", (41, 94, 4)).without_memory()), how, vulkan)
            assert piece["tile_bytes"] > 1


def explained(x, how, device):
    steps, *_ = _core._resample(explain._placed(x, np.dtype("uint8")), how, [0, 1], None, None, device, "explain")
    return [piece for *_, pieces in steps for piece in pieces]


def test_explain_names_passes_and_kernels(vulkan):
    x = image((120, 160, 3))
    how = resampling(OPENCV, AREA, (120, 160), (64, 96), 3)
    memory = explain.Array("uint8", x.shape).without_memory()
    placed = explain._placed(memory, x.dtype)
    steps, on_host, on_device = _core._resample(placed, how, [0, 1], None, None, vulkan, "explain")
    assert [{piece["kernel"] for piece in pieces} for *_, pieces in steps] == [{"float_sums"}, {"float_sums"}]
    text = explain.text_of(steps)
    assert "step 1: from input 0 to what lies between the passes" in text
    assert "step 2: from what lies between the passes to result 0" in text
    assert "why: a sum of floats, which the device rounds to nearest even" in text
    assert 0 < on_host < on_device


def test_auto_resizes_on_the_host_where_the_device_is_a_cpu(vulkan):
    x = image((480, 640, 3))
    before = sums(vulkan)
    resample(x, resampling(PILLOW, BILINEAR, (480, 640), (224, 224)), [0, 1], "auto")
    assert sums(vulkan) == before


def test_progress_tells_of_portions(vulkan):
    x = image((6, 50, 60, 3))
    how = resampling(PILLOW, BICUBIC, (50, 60), (33, 41))
    seen = []
    result = _core._resample(x, how, [1, 2], None, None, vulkan, (lambda done, all: seen.append((done, all)), 1000, PART))
    assert np.array_equal(result, resample(x, how, [1, 2], "host"))
    assert seen[0] == (0, result.nbytes) and seen[-1] == (result.nbytes, result.nbytes) and len(seen) > 3
