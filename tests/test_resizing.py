"""Resizing has the bits of Pillow, OpenCV and torchvision: of recorded results of theirs, and of the twins, on every device.

``tests/golden/resizing.jsonl`` has what the libraries made of some hundred cases; tests/peers/record_resizing.py wrote it.
"""

import enum
import json
import os
import random
from concurrent.futures import ThreadPoolExecutor

import dmlops
import numpy as np
import pytest
from dmlops import _core, reference
from dmlops.resizing import opencv_rule, pillow_rule, torchvision_rule
from hypothesis import given
from hypothesis import strategies as st

import resizing_cases
import strategies
import support
from resampled import resampled
from strategies import FEWER

RECORDED = [json.loads(line) for line in (support.ROOT / "tests" / "golden" / "resizing.jsonl").read_text().splitlines()]
EVERY_LIBRARY = pytest.mark.parametrize("library", resizing_cases.DRAW)
X = np.arange(5 * 6 * 3, dtype=np.uint8).reshape(5, 6, 3)


def version_of(case):
    return {} if case["library"] == "torchvision" else {"version": case["version"]}


def described(case):
    return {name: case[name] for name in ("library", "version", "shape", "arguments", "seed")}


def test_there_are_records_of_several_versions():
    assert len(RECORDED) > 400
    versions = {(case["library"], case["version"]) for case in RECORDED}
    assert len([1 for library, _ in versions if library == "pillow"]) >= 4
    assert len([1 for library, _ in versions if library == "opencv"]) >= 4


def test_the_twins_give_what_was_recorded():
    for case in RECORDED:
        found = resizing_cases.resized(case["library"], case, reference, **version_of(case))
        assert resizing_cases.child.digest(found) == case["digest"], described(case)


def test_the_functions_give_what_was_recorded(device):
    for case in RECORDED:
        found = resizing_cases.resized(case["library"], case, device=device, **version_of(case))
        assert resizing_cases.child.digest(found) == case["digest"], described(case)


@pytest.mark.parametrize("interpolation", ["area", "linear", "linear-exact"])
def test_halves_of_any_number_of_channels(device, interpolation):
    """OpenCV rounds them up where there are 1, 3 or 4; others become even, but of two by "linear-exact"."""
    sums = np.arange(4 * 255 + 1)
    for channels in range(1, 18):
        each = (sums[:, None] + 111 * np.arange(channels)) % sums.size
        rest = np.clip(each[..., None] - 255 * np.arange(4), 0, 255).astype(np.uint8)  # four bytes of that sum
        x = rest.reshape(1, -1, channels, 2, 2).transpose(0, 3, 1, 4, 2).reshape(2, -1, channels)
        up = channels in (1, 3, 4) or (channels == 2 and interpolation == "linear-exact")
        expected = (each + 2) // 4 if up else np.rint(each / 4)
        size = 1, sums.size
        assert np.array_equal(dmlops.resize_opencv(x, size, interpolation, device=device)[0], expected), channels
        assert np.array_equal(reference.resize_opencv(x, size, interpolation)[0], expected), channels
        assert np.array_equal(dmlops.resize_opencv(x[:, ::-1], size, interpolation, device=device)[0, ::-1], expected), channels


GAPS = """
import dmlops, numpy as np
from dmlops import reference
planes = (np.arange(3 * 65 * 30) % 251).astype(np.uint8).reshape(3, 65, 30)
turned = (np.arange(3 * 17 * 3) % 251).astype(np.uint8).reshape(3, 17, 3)
for x, size, axes in ((planes.transpose(1, 2, 0), (40, 21), (0, 1)), (turned, (9, 20), (2, 0)), (turned, (9, 20), (1, 0))):
    for _ in range(3):
        found = dmlops.resize_opencv(x, size, "cubic", axes=axes, ipp=False, device="host")
        assert np.array_equal(found, reference.resize_opencv(x, size, "cubic", axes=axes))
"""


def test_rows_between_the_passes_have_gaps():
    """On the host, in a process of its own: the gaps were written to, and had no memory, beyond the end of a page."""
    support.run_python(GAPS)


@EVERY_LIBRARY
@given(seed=strategies.seeds)
@FEWER
def test_larger_images(devices, library, seed):
    """Of up to some hundred rows and columns, by chunks and kernels that small ones do not have."""
    case = resizing_cases.DRAW[library](random.Random(seed), 250) | {"seed": seed}
    expected = resizing_cases.resized(library, case, reference)
    for device in devices:
        assert np.array_equal(resizing_cases.resized(library, case, device=device), expected), device


# --- weights: those of the extension are the twins' ---------------------------------------------------------------------


def rows_of(weights):
    """What a pass of a resampling adds: for each output the weight of each input."""
    _, size, taps, _, is_float, _, _, _, _, rows = weights
    rows = np.frombuffer(rows, np.int32).reshape(-1, 1 + taps)
    values = rows[:, 1:].view(np.float32) if is_float else rows[:, 1:]
    result = []
    for first, row in zip(rows[:, 0], values, strict=True):
        sums = {}
        for tap in np.flatnonzero(row):
            index = min(max(int(first) + int(tap), 0), size - 1)
            sums[index] = sums.get(index, 0) + row[tap].item()
        result.append({index: weight for index, weight in sums.items() if weight})
    return result


def twins(rows):
    result = []
    for row in rows:
        sums = {}
        for index, weight in row:
            sums[index] = sums.get(index, 0) + float(weight)
        result.append({index: weight for index, weight in sums.items() if weight})
    return result


def passed(library, name, size, count, begin=0.0, end=0.0, newer=True):
    """The weights of columns; rows stay as they are."""
    request = (1, size), (1, count), (0.0, begin), (1.0 if library == 0 else 0.0, end), 1, newer
    resampling = _core._resampling(library, name, *request)
    return None if resampling is None else _core._resampling_described(resampling)[0][0]


SIZES = st.integers(1, 300) | st.integers(1, 4000)


@given(size=SIZES, count=SIZES, data=st.data())
def test_weights_of_pillow(size, count, data):
    names = ["box", "bilinear", "hamming", "bicubic", "lanczos", "mks2013", "mks2021"]
    name = data.draw(st.sampled_from(names))
    begin = data.draw(st.just(0.0) | st.floats(0, size - 0.5, width=32))
    end = data.draw(st.just(float(size)) | st.floats(begin + 0.25, size))
    end = float(np.float32(end))
    found = passed(0, names.index(name), size, count, begin, end)
    if found:
        assert rows_of(found) == twins(pillow_rule.rows_of(name, size, begin, end, count))


@given(size=SIZES, count=SIZES, name=st.sampled_from(list(torchvision_rule.TAPS)), antialias=st.booleans())
def test_weights_of_torchvision(size, count, name, antialias):
    numbers = {"bilinear": 1, "bicubic": 3, "lanczos": 4}
    antialias = antialias or name == "lanczos"
    found = passed(3, numbers[name], size, count, newer=antialias)
    if found:
        rows, bits = torchvision_rule.rows_of(name, size, count, antialias)
        assert rows_of(found) == twins(rows) and found[3] == bits


@given(size=SIZES, count=SIZES, name=st.sampled_from(["linear-exact", "area", "lanczos4"]))
def test_weights_of_opencv(size, count, name):
    numbers = {"linear-exact": 1, "area": 2, "lanczos4": 4}
    found = passed(2, numbers[name], size, count)
    if not found or (name == "area" and (size <= count or opencv_rule._whole(count / size))):
        return
    rows = {
        "linear-exact": opencv_rule._exact_taps,
        "area": opencv_rule._area_taps,
        "lanczos4": lambda *of: opencv_rule._many_taps(*of, opencv_rule._lanczos_weights, 3),
    }
    assert rows_of(found) == twins(rows[name](size, count, count / size))


PILE = """
import os
from dmlops import _core
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
for count in range(1, 3000):
    if count == 300:
        before = resident()
    assert _core._resampling(0, 4, (1, 3000), (1, count), (0.0, 0.0), (1.0, 3000.0), 1, True) is not None
assert resident() - before < 40 << 20, resident() - before  # all of them have some 250 MiB
"""


@pytest.mark.posix
def test_the_weights_of_thousands_of_axes_do_not_pile_up():
    keeps_nothing = f"{os.environ.get('ASAN_OPTIONS', '')}:quarantine_size_mb=1"  # where the sanitizers run
    support.run_python(PILE, env={"ASAN_OPTIONS": keeps_nothing})


def test_weights_that_no_memory_holds():
    with pytest.raises(MemoryError, match="no memory for the weights of 1000 outputs of 2147483646 inputs"):
        passed(0, 4, 2**31 - 2, 1000, 0.0, 2.0**31)
    with pytest.raises(ValueError, match="no library has such a filter"):
        passed(4, 0, 3, 4)
    with pytest.raises(ValueError, match="sizes must be 1 or more"):
        passed(0, 0, 3, 0)


def test_threads_make_weights_at_once():
    """Of hundreds of sizes, some of which are evicted while another thread has them."""
    x = np.random.default_rng(0).integers(0, 256, (40, 30), np.uint8)
    sizes = [(1 + k % 37, 1 + k % 41) for k in range(600)]
    expected = [dmlops.resize_pillow(x, size, device="host") for size in sizes]

    def run(seed):
        order = random.Random(seed).sample(range(len(sizes)), len(sizes))
        return all(np.array_equal(dmlops.resize_pillow(x, sizes[k], device="host"), expected[k]) for k in order)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(4)))


FORKS = """
import os, signal, threading, numpy as np, dmlops
x, stop = np.arange(900, dtype=np.uint8).reshape(30, 30), threading.Event()
def busy():
    size = 1
    while not stop.is_set():
        size = size % 500 + 1
        dmlops.resize_pillow(x, (size % 29 + 1, size), device="host")
dmlops.resize_pillow(x, (9, 9), device="host")  # a child of a fork never gets a module that another thread imports just then
threads = [threading.Thread(target=busy) for _ in range(3)]
for thread in threads:
    thread.start()
try:
    for size in range(1, 251):
        child = os.fork()
        if child == 0:
            signal.alarm(300)
            os._exit(dmlops.resize_pillow(x, (size, 9), device="host").shape != (size, 9))
        assert os.waitpid(child, 0)[1] == 0
finally:
    stop.set()
"""


@pytest.mark.posix
@pytest.mark.slow
def test_children_of_forks_make_weights():
    """Also where another thread had the cache when the process forked: else one child in some hundred hangs."""
    support.run_python(FORKS)


@EVERY_LIBRARY
@given(seed=strategies.seeds)
@FEWER
def test_resamplings_mean_what_the_twins_do(library, seed):
    """What passes, sums and parts say, done in NumPy: what each kernel has to equal."""
    from dmlops.resizing import steps

    case = resizing_cases.DRAW[library](random.Random(seed), 90) | {"seed": seed}
    *old, items = case["shape"]
    arguments = dict(case["arguments"])
    if library == "pillow":
        arguments |= {"alpha": False, "reducing_gap": None, "resample": arguments["resample"].replace("nearest", "box")}
        box = arguments.get("box") or (0, 0, old[1], old[0])
        made = steps.pillow_steps(tuple(old), tuple(arguments["size"]), arguments["resample"], tuple(box), None, False, (13, 0))
    elif library == "opencv":
        arguments["interpolation"] = arguments["interpolation"].replace("nearest-exact", "area").replace("nearest", "cubic")
        size = arguments.get("size") or (round(old[0] * arguments["fy"]), round(old[1] * arguments["fx"]))
        factors = None if "size" in arguments else (arguments["fy"], arguments["fx"])
        made = steps.opencv_steps(tuple(old), tuple(size), arguments["interpolation"], factors, items, (5, 0))
    else:
        arguments |= {"size": (old[1], old[0]), "interpolation": "bicubic"}
        made = steps.torchvision_steps(tuple(old), arguments["size"], "bicubic", arguments["antialias"])
    if len(made) == 1 and isinstance(made[0], steps.Sums):
        x = resizing_cases.child.picture(case["shape"], seed).reshape(case["shape"])
        expected = resizing_cases.resized(library, case | {"arguments": arguments}, reference)
        assert np.array_equal(resampled(x, made[0].resampling), expected)


# --- arguments ----------------------------------------------------------------------------------------------------------


class Resampling(enum.IntEnum):
    """As PIL.Image has it."""

    NEAREST, LANCZOS, BILINEAR, BICUBIC, BOX, HAMMING, MKS2013, MKS2021 = range(8)


class InterpolationMode(enum.Enum):
    """As torchvision.transforms has it."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BICUBIC = "bicubic"
    HAMMING = "hamming"


def test_constants_of_the_libraries():
    small = X[..., 0]
    for constant in Resampling:
        expected = reference.resize_pillow(small, (3, 4), constant.name.lower())
        for given_one in (constant, int(constant), np.int64(constant)):
            assert np.array_equal(dmlops.resize_pillow(small, (3, 4), given_one, device="host"), expected)
    for number, name in enumerate(["nearest", "linear", "cubic", "area", "lanczos4", "linear_exact", "nearest_exact"]):
        expected = reference.resize_opencv(small, (3, 4), name)
        assert np.array_equal(dmlops.resize_opencv(small, (3, 4), number, ipp=False, device="host"), expected)
    for mode in list(InterpolationMode)[:3]:
        expected = reference.resize_torchvision(small, (3, 4), mode.value)
        assert np.array_equal(dmlops.resize_torchvision(small, (3, 4), mode, device="host"), expected)


def test_which_axes_are_height_and_width():
    assert dmlops.resize_pillow(X, (2, 4), device="host").shape == (2, 4, 3)
    assert dmlops.resize_opencv(X, (2, 4), device="host").shape == (2, 4, 3)
    assert dmlops.resize_torchvision(X, (2, 4), device="host").shape == (5, 2, 4)
    assert dmlops.resize_pillow(X[None, None], (2, 4), device="host").shape == (1, 1, 2, 4, 3)
    assert dmlops.resize_pillow(X, (2, 4), axes=(2, 0), device="host").shape == (4, 6, 2)
    for function in (dmlops.resize_pillow, dmlops.resize_opencv, dmlops.resize_torchvision):
        assert function(X[..., 0], (2, 4), device="host").shape == (2, 4)


def test_a_batch_of_none(device):
    for function, shape in ((dmlops.resize_pillow, (0, 5, 6, 3)), (dmlops.resize_torchvision, (0, 3, 5, 6))):
        assert function(np.zeros(shape, np.uint8), (2, 4), device=device).size == 0
    assert dmlops.resize_opencv(np.zeros((5, 6, 0), np.uint8), (2, 4), device=device).shape == (2, 4, 0)


def test_other_dtypes_are_moved_by_the_nearest(device):
    x = X.astype(">f8")
    for name in ("pillow", "opencv", "torchvision"):
        expected = getattr(reference, f"resize_{name}")(x, (7, 3), "nearest", axes=(0, 1))
        assert np.array_equal(getattr(dmlops, f"resize_{name}")(x, (7, 3), "nearest", axes=(0, 1), device=device), expected)


def test_the_shorter_edge():
    for shape, size, expected in (((480, 640), 224, (224, 298)), ((640, 480), 224, (298, 224)), ((7, 7), 3, (3, 3))):
        assert dmlops.resize_torchvision(np.zeros(shape, np.uint8), size, device="host").shape == expected


def test_cubic_where_ipp_has_no_part():
    """Images of two channels, and small ones, are the same with IPP and without."""
    for x in (X[..., :2], X[:3]):
        assert np.array_equal(
            dmlops.resize_opencv(x, (7, 9), "cubic", device="host"), reference.resize_opencv(x, (7, 9), "cubic")
        )
    assert np.array_equal(dmlops.resize_opencv(X, (5, 6), "cubic", device="host"), X)


class Picture:
    """As an image of Pillow's is: its mode says what alpha is."""

    __module__ = "PIL.Image"

    def __init__(self, array, mode):
        self.array, self.mode = array, mode

    @property
    def __array_interface__(self):
        return self.array.__array_interface__


def test_images_of_pillow_are_resized_as_their_mode_says():
    four = np.random.default_rng(1).integers(0, 256, (5, 6, 4), np.uint8)
    found = dmlops.resize_pillow(Picture(four, "RGBA"), (3, 3), device="host")
    assert np.array_equal(found, reference.resize_pillow(four, (3, 3), alpha=True))
    assert not np.array_equal(found, reference.resize_pillow(four, (3, 3)))
    assert np.array_equal(
        dmlops.resize_pillow(Picture(four, "RGBA"), (3, 3), alpha=False, device="host"), reference.resize_pillow(four, (3, 3))
    )
    assert np.array_equal(
        dmlops.resize_pillow(Picture(four, "CMYK"), (3, 3), device="host"), reference.resize_pillow(four, (3, 3))
    )
    for mode, array in (("P", four[..., 0]), ("1", four[..., 0] > 99)):
        found = dmlops.resize_pillow(Picture(np.ascontiguousarray(array), mode), (3, 3), "lanczos", device="host")
        assert np.array_equal(found, reference.resize_pillow(array, (3, 3), "nearest"))


def test_nearest_of_words_as_pillow_does_it():
    """Images of 16 bits, Pillow's modes I;16: their position is a product, not a running sum. Compared with Pillow 13."""
    x = np.arange(200 * 156, dtype=np.uint16).reshape(200, 156)
    words = dmlops.resize_pillow(x, (185, 136), "nearest", device="host")
    others = dmlops.resize_pillow(x.astype(np.int32), (185, 136), "nearest", device="host")
    assert np.array_equal(words, reference.resize_pillow(x, (185, 136), "nearest"))
    assert np.array_equal(others, reference.resize_pillow(x.astype(np.int32), (185, 136), "nearest"))
    differ = [18, 55, 92]
    assert np.array_equal(np.flatnonzero((words != others).any(1)), differ)
    assert [*words[differ, 0]] == [3120, 9360, 15600] and [*others[differ, 0]] == [2964, 9204, 15444]


REFUSED = [
    ("resize_pillow", {"size": (0, 3)}, ValueError, "size must be 1 or more each way"),
    ("resize_pillow", {"size": 224}, ValueError, r"size must be two ints, \(height, width\), not 224"),
    ("resize_pillow", {"size": (2, 3, 4)}, ValueError, "size must be two ints"),
    ("resize_pillow", {"size": (2.0, 3)}, TypeError, r"size\[0\] must be an int, not float"),
    ("resize_pillow", {"size": (-1, 3)}, ValueError, "size must be 1 or more each way"),
    ("resize_pillow", {"size": None}, TypeError, r"size must be two ints, \(height, width\), not None"),
    ("resize_pillow", {"resample": True}, TypeError, "Pillow's constant, not True"),
    ("resize_pillow", {"box": "0065"}, TypeError, "box must be four numbers"),
    ("resize_pillow", {"reducing_gap": float("nan")}, ValueError, "reducing_gap must be finite"),
    ("resize_pillow", {"reducing_gap": 10**400}, ValueError, "reducing_gap must be finite"),
    ("resize_opencv", {"size": None, "fx": float("inf"), "fy": 1}, ValueError, "fx must be finite"),
    ("resize_pillow", {"size": (2**31, 3)}, ValueError, "size must be below 2147483647"),
    ("resize_pillow", {"resample": "area"}, ValueError, "Pillow has 'box'"),
    ("resize_pillow", {"resample": "Bicubic"}, ValueError, "Pillow has 'bicubic'"),
    ("resize_pillow", {"resample": 8}, ValueError, "resample must be a constant of Pillow"),
    ("resize_pillow", {"resample": None}, TypeError, "resample must be one of 'nearest'"),
    ("resize_pillow", {"resample": InterpolationMode.BICUBIC}, ValueError, "Pillow's constant, not InterpolationMode.BICUBIC"),
    ("resize_pillow", {"box": (0, 0, 7, 5)}, ValueError, r"box must lie within the image, \(0, 0, 6, 5\)"),
    ("resize_pillow", {"box": (-1, 0, 6, 5)}, ValueError, "box must lie within the image"),
    ("resize_pillow", {"box": (3, 0, 3, 5)}, ValueError, "with some area"),
    ("resize_pillow", {"box": (0, 0, 6)}, TypeError, "box must be four numbers"),
    ("resize_pillow", {"box": (0, 0, "6", 5)}, TypeError, r"box\[2\] must be an int or a float"),
    ("resize_pillow", {"box": (0, 0, float("nan"), 5)}, ValueError, r"box\[2\] must be finite"),
    ("resize_pillow", {"reducing_gap": 0.5}, ValueError, "reducing_gap must be 1.0 or greater"),
    ("resize_pillow", {"reducing_gap": "2"}, TypeError, "reducing_gap must be an int or a float"),
    ("resize_pillow", {"alpha": 1}, TypeError, "alpha must be True or False"),
    ("resize_pillow", {"alpha": True, "axes": (1, 2)}, ValueError, "alpha needs channels on the last axis"),
    ("resize_pillow", {"axes": (0,)}, ValueError, "axes must be two"),
    ("resize_pillow", {"axes": (0, 3)}, np.exceptions.AxisError, "axes: axis 3 is out of bounds"),
    ("resize_pillow", {"version": "9.5"}, ValueError, "version must be 10.0 or later"),
    ("resize_pillow", {"version": 13}, TypeError, "version must be a str"),
    ("resize_pillow", {"version": "new"}, ValueError, "version must be numbers"),
    ("resize_opencv", {"interpolation": "bicubic"}, ValueError, "OpenCV has 'cubic'"),
    ("resize_opencv", {"interpolation": "bilinear"}, ValueError, "OpenCV has 'linear'"),
    ("resize_opencv", {"interpolation": Resampling.BICUBIC}, ValueError, "OpenCV's constant, not"),
    ("resize_opencv", {"interpolation": 7}, ValueError, "interpolation must be a constant of OpenCV"),
    ("resize_opencv", {"interpolation": "cubic"}, ValueError, "ipp=False"),
    ("resize_opencv", {"interpolation": "cubic", "ipp": 0}, TypeError, "ipp must be True or False"),
    ("resize_opencv", {"size": None}, ValueError, "size must be given, or both fx and fy"),
    ("resize_opencv", {"size": None, "fx": 0.5}, ValueError, "size must be given, or both fx and fy"),
    ("resize_opencv", {"size": None, "fx": 0.5, "fy": -1}, ValueError, "fx and fy must be above 0"),
    ("resize_opencv", {"size": None, "fx": 0.01, "fy": 1}, ValueError, "fx and fy make 5 rows of 0"),
    ("resize_opencv", {"version": "2.4"}, ValueError, "version must be 3.4 or later"),
    ("resize_torchvision", {"interpolation": "lanczos", "antialias": False}, ValueError, "needs antialias=True"),
    ("resize_torchvision", {"interpolation": "hamming"}, ValueError, "interpolation must be one of"),
    ("resize_torchvision", {"interpolation": InterpolationMode.HAMMING}, ValueError, "torchvision's constant, not"),
    ("resize_torchvision", {"interpolation": 2}, TypeError, "interpolation must be one of"),
    ("resize_torchvision", {"antialias": "yes"}, TypeError, "antialias must be True or False"),
    ("resize_torchvision", {"size": 0}, ValueError, "size must be 1 or more"),
    ("resize_pillow", {"size": 0.5}, TypeError, r"size must be two ints, \(height, width\), not 0.5"),
    ("resize_pillow", {"size": "224"}, TypeError, r"size must be two ints, \(height, width\), not '224'"),
    ("resize_pillow", {"resample": "bilinaer"}, ValueError, "not 'bilinaer'; Pillow has 'bilinear'"),
    ("resize_opencv", {"interpolation": "INTER_AREA"}, ValueError, "not 'INTER_AREA'; OpenCV has 'area'"),
    ("resize_opencv", {"interpolation": "INTER_NEAREST_EXACT"}, ValueError, "OpenCV has 'nearest-exact'"),
]


@pytest.mark.parametrize("name, arguments, error, message", REFUSED)
def test_what_is_refused(name, arguments, error, message):
    with pytest.raises(error, match=message):
        getattr(dmlops, name)(X, **{"size": (3, 4)} | arguments, device="host")


@EVERY_LIBRARY
def test_what_is_no_image(library):
    function = getattr(dmlops, f"resize_{library}")
    for array, error, message in (
        (
            X.astype(np.float32),
            TypeError,
            "modes I, F and I;16" if library == "pillow" else "results of floats depend on the processor",
        ),
        (X.astype(np.uint16), TypeError, "must be of dtype uint8"),
        (X > 3, TypeError, "must be of dtype uint8"),
        (X[0, 0], ValueError, "two axes or more, not 1"),
        (X[:0, :, :2] if library != "torchvision" else X[:, :0], ValueError, "nothing to resize"),
        ("photo.jpg", TypeError, "an array, not str"),
        (b"photo.jpg", TypeError, "an array, not bytes; a file is read first"),
        (None, TypeError, "not None: cv2.imread gives that for a file that it cannot read"),
        (np.array(None), TypeError, "input"),
        ([X, X[:4]], ValueError, r"images of several shapes, \(.*\), \(.*\): resize each by a call of its own"),
        ([[1, 2], [3]], ValueError, "inhomogeneous"),
    ):
        with pytest.raises(error, match=message):
            function(array, (3, 4), device="host")
    with pytest.raises(ValueError, match="device"):
        function(X, (3, 4), device="gpu of nobody")
    with pytest.raises(ValueError, match="out"):
        function(X, (3, 4), device="host", out=np.zeros((3, 5, 3), np.uint8))


def test_an_image_of_pillows_is_no_tensor_of_torchvisions():
    """Its channels are last; torchvision has Pillow resize it."""

    class Image:
        mode = "RGB"

        def __array__(self, *_, **__):
            return X

    Image.__module__ = "PIL.Image"
    with pytest.raises(TypeError, match=r"image of Pillow's.* resize_pillow\(image, \(height, width\), \"bilinear\"\)"):
        dmlops.resize_torchvision(Image(), (3, 4), device="host")
    assert dmlops.resize_pillow(Image(), (3, 4), device="host").shape == (3, 4, *X.shape[2:])


class Growing:
    """An int that changes an array when it is looked at."""

    def __init__(self, array):
        self.array = array

    def __index__(self):
        self.array.resize((3, 300, 3), refcheck=False)
        return 4


def test_an_input_that_changes_while_arguments_are_read(device):
    """Weights of the former size never read beyond the new one."""
    for resample in ("bicubic", "nearest"):
        x = X.copy()
        try:
            assert dmlops.resize_pillow(x, (Growing(x), 4), resample, device=device).shape == (4, 4, 3)
        except (ValueError, IndexError):
            assert x.shape == (3, 300, 3)


def test_cubic_takes_one_axis_of_channels():
    with pytest.raises(ValueError, match="one axis of channels"):
        dmlops.resize_opencv(X[..., None].repeat(2, -1), (3, 4), "cubic", ipp=False, axes=(0, 1), device="host")
