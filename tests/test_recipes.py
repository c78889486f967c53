"""``dmlops.recipes``: results, inputs, ``out``, devices and errors, without the projects.

What their code gives is recorded in golden/recipes.json; peers/test_recipes_peers.py has it with cv2 and NumPy.
"""

import concurrent.futures
import doctest
import inspect
import re

import dmlops
import numpy as np
import pytest
from dmlops import _core, recipes

import recipe_cases
from processor_cases import photo
from recipe_cases import Case
from support import NO_VULKAN, ROOT, run_python

NAMES = sorted(recipes.__all__)
GREY = "easyocr_recognition"
CASES = list(recipe_cases.cases())


def small(name, count=2):
    sizes = [(37, 91), (50, 60), (64, 64)][:count]
    options = {"ultralytics": {"imgsz": 96, "rect": False}, "mmdetection": {"scale": (133, 80)}}
    return Case(name, sizes, options.get(name, {"input_size": (96, 64)} if name == "insightface_detection" else {}))


def called(case, photos, **more):
    return getattr(recipes, case.name)(photos, **case.options, **more)


def alike(found, expected):
    return list(found) == list(expected) and recipe_cases.digested(found.values()) == recipe_cases.digested(expected.values())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_each_recipe_gives_what_its_projects_code_gave(case):
    assert recipe_cases.digested(case.made()) == recipe_cases.recorded()[str(case)]


def test_everything_recorded_is_compared():
    assert sorted(map(str, CASES)) == sorted(recipe_cases.recorded()) and {case.name for case in CASES} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_device_gives_the_same_bits(name, device):
    case = small(name)
    assert alike(called(case, case.photos(), device=device), called(case, case.photos(), device="host"))


@pytest.mark.parametrize("name", NAMES)
def test_results_are_written_into_out(name):
    case = small(name, 1)
    expected = called(case, case.photos())
    pixels = next(iter(expected))
    out = np.full_like(expected[pixels], 7)
    assert called(case, case.photos(), out={pixels: out})[pixels] is out
    assert np.array_equal(out, expected[pixels])
    with pytest.raises(ValueError, match=f"out has 'pixels', not '{pixels}'"):
        called(case, case.photos(), out={"pixels": out})
    with pytest.raises(ValueError, match="out is float64"):
        called(case, case.photos(), out={pixels: out.astype(np.float64)})


def test_results_of_several_shapes_are_written_into_a_list():
    case = small("easyocr_detection")
    expected = called(case, case.photos())
    out = [np.full_like(one, 7) for one in expected["x"]]
    found = called(case, case.photos(), out={"x": out})["x"]
    assert all(one is into for one, into in zip(found, out, strict=True)) and alike({"x": out}, {"x": expected["x"]})
    with pytest.raises(ValueError, match="out has 1 arrays, the result 2"):
        called(case, case.photos(), out={"x": out[:1]})


@pytest.mark.parametrize("name", NAMES)
def test_forms_of_pictures(name):
    case = small(name, 1)
    one = case.photos()[0]
    expected = called(case, [one, one])
    Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    wider = np.empty((one.shape[0], 2 * one.shape[1], *one.shape[2:]), np.uint8)
    strided = wider[::-1, ::2]
    strided[...] = one
    rgb = one if name in (GREY, "easyocr_detection") else one[..., ::-1]
    for photos in (np.stack([one, one]), (one, one), [strided, dmlops.asarray(one, device="host")], [Image.fromarray(rgb)] * 2):
        assert alike(called(case, photos), expected)
    assert alike(called(case, one), called(case, [one]))


def test_a_result_is_the_callers_own():
    case = small("ultralytics")
    expected = recipe_cases.digested(called(case, case.photos()).values())
    found = called(case, case.photos())
    found["ratio_pad"].clear()
    found["img"][:] = 0
    assert recipe_cases.digested(called(case, case.photos()).values()) == expected


def test_threads_get_what_one_would():
    cases = [small(name) for name in NAMES] * 3
    expected = {case.name: recipe_cases.digested(case.made()) for case in cases}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda case: recipe_cases.digested(tuple(called(case, case.photos()).values())), cases))
    assert found == [expected[case.name] for case in cases]


@pytest.mark.parametrize("name, there", [("letterbox", "recipes.ultralytics"), ("easyocr", "recipes.easyocr_detection, or")])
def test_names_of_projects_lead_here(name, there):
    with pytest.raises(AttributeError, match=f"did you mean dmlops.{there}"):
        getattr(dmlops, name)


def test_yolos_of_other_numbers_of_channels():
    """The channels stay in their order, and what is around the picture is 114 in each."""
    one = photo(48, 64)
    whole = recipes.ultralytics(one, 64, rect=False)["img"]
    for channels in (1, 2, 4, 6):
        many = np.ascontiguousarray(np.concatenate([one, one], -1)[..., :channels])
        found = recipes.ultralytics(many, 64, rect=False)["img"]
        assert np.array_equal(found[0], np.concatenate([whole[0, ::-1]] * 2)[:channels])
    assert np.array_equal(recipes.ultralytics(one[..., 0], 64, rect=False)["img"], whole[:, 2:])


def test_opencv_before_4_11_multiplies_in_float64():
    face = photo(112, 112)
    less = np.moveaxis(face[..., ::-1], -1, 0).astype(np.float32) - np.float32(127.5)
    older, newer = (recipes.insightface_recognition(face, version=version)["blob"][0] for version in ("4.10.0", "4.11"))
    assert np.array_equal(older, (less.astype(np.float64) * (1 / 127.5)).astype(np.float32))
    assert np.array_equal(newer, less * np.float32(1 / 127.5)) and not np.array_equal(older, newer)


def test_imgsz_that_is_no_multiple_of_stride_is_rounded_up_with_a_warning():
    with pytest.warns(UserWarning, match=r"imgsz=100 is no multiple of stride=32: \(128, 128\) is taken"):
        assert recipes.ultralytics(photo(64, 64), 100)["img"].shape == (1, 3, 128, 128)


def test_no_driver_is_needed():
    code = "import dmlops, numpy as np; made = dmlops.recipes.ultralytics(np.zeros((480, 640, 3), np.uint8))\n"
    code += "assert made['img'].shape == (1, 3, 480, 640), made['img'].shape"
    run_python(code, env=NO_VULKAN)


def test_resizes_and_movements_run_on_the_device_that_is_named(monkeypatch):
    named = []
    resample, run_compiled = _core._resample, _core._run_compiled
    monkeypatch.setattr(_core, "_resample", lambda *a: named.append(a[5]) or resample(*a))
    monkeypatch.setattr(_core, "_run_compiled", lambda *a: named.append(a[3]) or run_compiled(*a))
    recipes.ultralytics(photo(60, 80), device="host")
    recipes.ultralytics(photo(60, 80))
    assert named == ["host", "host", "auto", "auto"]


# --- documentation ---


@pytest.mark.parametrize("name", NAMES)
def test_docstrings(name):
    recipe = getattr(recipes, name)
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(recipe), {}, name, None, None)
    assert doctest.DocTestRunner().run(test).failed == 0 and test.examples
    section = re.search(r"^Parameters\n-+\n(.*?)^Returns\n", inspect.getdoc(recipe), re.MULTILINE | re.DOTALL)[1]
    lines = re.findall(r"^(\w[\w, ]*) : ", section, re.MULTILINE)
    assert [one for line in lines for one in line.split(", ")] == list(inspect.signature(recipe).parameters)


def test_the_page():
    page = ROOT / "docs" / "preprocessing_of_projects.md"
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted >= 5 and result.failed == 0
    rows = [line.split(" | ") for line in page.read_text().splitlines() if line.startswith("| ")]
    rows = [row for row in rows if len(row) == 5][1:]
    assert sorted(row[1].strip("`") for row in rows) == NAMES
    for row in rows:
        found = called(small(name := row[1].strip("`"), 1), small(name, 1).photos())
        assert row[4].rstrip(" |") == ", ".join(f"`{key}`" for key in found)


# --- errors ---


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_picture_is_refused_with_what_is_right(name):
    case = small(name, 1)
    one = case.photos()[0]
    with pytest.raises(ValueError, match="picture 1 is None: cv2.imread gives that for a file that it cannot read"):
        called(case, [one, None])
    with pytest.raises(TypeError, match="picture 0 is float32: pictures must be bytes, uint8"):
        called(case, one.astype(np.float32))
    with pytest.raises(TypeError, match=r"as cv2.imread gives them; of floats from 0 to 1: \(picture \* 255\).round\(\)"):
        called(case, [one.astype(np.float32)])
    with pytest.raises(ValueError, match="there are no pictures"):
        called(case, [])
    with pytest.raises(ValueError, match="picture 0 of the shape .* has no pixels"):
        called(case, [one[:0]])


def test_shapes_of_pictures_are_refused_with_what_is_right():
    one = photo(40, 50)
    for name in set(NAMES) - {GREY, "ultralytics"}:
        recipe = getattr(recipes, name)
        with pytest.raises(ValueError, match=r"picture 0 has the shape \(3, 40, 50\), .*np.moveaxis\(picture, 0, -1\)"):
            recipe(np.moveaxis(one, -1, 0))
        with pytest.raises(ValueError, match=r"np.repeat\(picture\[..., None\], 3, -1\) makes three channels of grey"):
            recipe(one[..., 0])
        with pytest.raises(ValueError, match=r"picture\[..., :3\] leaves alpha out"):
            recipe(np.concatenate([one, one[..., :1]], -1))
    with pytest.raises(ValueError, match=r"picture 0 has the shape \(40, 50, 3\), not that of a grey picture"):
        recipes.easyocr_recognition([one])
    with pytest.raises(ValueError, match=r"picture 0 has the shape \(3, 40, 50\), .*np.moveaxis\(picture, 0, -1\)"):
        recipes.ultralytics(np.moveaxis(one, -1, 0))
    assert recipes.ultralytics(one[:3], imgsz=96)["img"].shape[1] == 3
    with pytest.raises(ValueError, match=r"one number of channels, not \[1, 3\]"):
        recipes.ultralytics([one, one[..., 0]])


REFUSED = {
    "ultralytics": [
        ({"imgsz": (1, 2, 3)}, "imgsz must be an int, or \\(height, width\\)"),
        ({"imgsz": 64.0}, "imgsz must be an int, or"),
        ({"stride": 0}, "stride must be 1 or more, not 0"),
        ({"padding_value": 256}, "padding_value must be a byte, not 256"),
        ({"imgsz": None}, "imgsz must be an int, or"),
        ({"imgsz": np.array(64.0)}, "imgsz must be an int"),
        ({"imgsz": {64, 32}}, "imgsz must be an int, or"),
        ({"imgsz": 2**40}, "imgsz must be below"),
        ({"imgsz": True}, "imgsz must be an int, not True"),
        ({"half": "no"}, "half must be True or False, not 'no'"),
        ({"rect": np.array([1, 0])}, "rect must be True or False"),
    ],
    "mmdetection": [
        ({"scale": (0, 80)}, r"scale\[0\] must be 1 or more, not 0"),
        ({"mean": None}, "mean and std must both be given, or both be None"),
        ({"std": (1, 2)}, "std must be a number, or 3 numbers"),
        ({"pad_size": (64, 64), "pad_to_square": True}, "pad_size must be None where pad_to_square is true"),
        ({"pad_val": 300}, "pad_val must be bytes, 0 to 255"),
        ({"pad_val": 0.5}, "pad_val must be bytes, 0 to 255"),
        ({"pad_size_divisor": 0}, "pad_size_divisor must be 1 or more"),
        ({"scale": None}, "scale must be an int, or \\(width, height\\), not None"),
        ({"pad_val": np.nan}, "pad_val must be finite, not nan"),
        ({"pad_val": (0, np.inf, 0)}, "pad_val must be finite, not inf"),
        ({"pad_value": (1, 2, 3)}, r"pad_value must be an int or a float, not \(1, 2, 3\)"),
        ({"pad_value": 1e300}, "values beyond all floats"),
        ({"mean": "123"}, "mean must be a number, or 3 numbers"),
        ({"mean": (1, None, 2)}, "mean must be a number, or 3 numbers"),
        ({"mean": np.nan}, "mean must be finite, not nan"),
        ({"std": 0}, "std must not be 0"),
        ({"std": (1, 1e-60, 1)}, "std must not be 0, as a float of 32 bits"),
        ({"std": (1, np.nan, 1)}, "std must be finite"),
        ({"keep_ratio": None}, "keep_ratio must be True or False"),
    ],
    "paddleocr_detection": [
        ({"limit_type": "least"}, "limit_type must be 'min', 'max' or 'resize_long', not 'least'"),
        ({"limit_side_len": 0}, "limit_side_len must be 1 or more"),
        ({"limit_type": np.array(["min", "max"])}, "limit_type must be 'min', 'max' or 'resize_long'"),
        ({"scale": None}, "scale must be an int or a float, not None"),
        ({"scale": "1"}, "scale must be an int or a float, not '1'"),
        ({"std": 0}, "std must not be 0"),
        ({"std": (0.2, 0, 0.2)}, "std must not be 0"),
        ({"scale": 1e300}, "values beyond all floats"),
    ],
    "paddleocr_recognition": [
        ({"rec_image_shape": (48, 320)}, r"rec_image_shape must be \(3, height, width\)"),
        ({"rec_image_shape": 48}, r"rec_image_shape must be \(3, height, width\), not 48"),
        ({"rec_image_shape": "348"}, r"rec_image_shape must be \(3, height, width\), not '348'"),
        ({"rec_image_shape": (1, 48, 320)}, r"rec_image_shape must be \(3, height, width\)"),
    ],
    "easyocr_detection": [
        ({"mag_ratio": 0}, "mag_ratio must be above 0, not 0"),
        ({"mag_ratio": np.array(1.0)}, "mag_ratio must be an int or a float"),
        ({"mag_ratio": "1"}, "mag_ratio must be an int or a float, not '1'"),
        ({"mag_ratio": None}, "mag_ratio must be an int or a float, not None"),
        ({"mag_ratio": np.nan}, "mag_ratio must be finite"),
        ({"variance": 0}, "variance must not be 0"),
        ({"canvas_size": 1}, "a picture of 40 x 50 would become one of 0 x 1"),
    ],
    "easyocr_recognition": [({"img_h": "64"}, "img_h must be an int, not '64'")],
    "insightface_detection": [
        ({"input_size": 640}, r"input_size must be \(width, height\), not 640"),
        ({"version": "3.0"}, "version"),
        ({"version": [4, 1]}, r"version must be a str, as '3.4', not \[4, 1\]"),
        ({"version": None}, "version must be a str"),
        ({"input_std": 0}, "input_std must not be 0"),
        ({"input_std": np.nan}, "input_std must be finite, not nan"),
        ({"input_mean": (1, 2, 3)}, r"input_mean must be an int or a float, not \(1, 2, 3\)"),
    ],
    "insightface_recognition": [
        ({"input_size": (112, -1)}, r"input_size\[1\] must be 1 or more, not -1"),
        ({"input_size": None}, r"input_size must be \(width, height\), not None"),
        ({"input_std": 0}, "input_std must not be 0"),
        ({"input_mean": None}, "input_mean must be an int or a float"),
    ],
}


@pytest.mark.parametrize("name, options, message", [(name, *one) for name, some in REFUSED.items() for one in some])
def test_arguments_are_refused_with_what_is_right(name, options, message):
    one = photo(40, 50)
    with pytest.raises((TypeError, ValueError), match=message):
        getattr(recipes, name)(one[..., 0] if name == GREY else one, **options)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_array_is_refused_alone_and_in_lists(name):
    case = small(name, 1)
    one = case.photos()[0]
    recipe = getattr(recipes, name)
    with pytest.raises(ValueError, match="picture 0 is None"):
        recipe(None)
    for wrong in ("cat.jpg", ROOT / "cat.jpg", object(), b"", {}):
        for photos in (wrong, [wrong]):
            with pytest.raises(TypeError, match=f"picture 0 is of type {type(wrong).__name__}: pictures must be arrays"):
                recipe(photos)
    with pytest.raises(TypeError, match="picture 1 is of type list: pictures must be arrays"):
        recipe([one, [one]])


def test_grey_boxes_are_told_from_pictures_with_channels():
    recipe, boxes = recipes.easyocr_recognition, photo(5, 40, 2)[..., :2].repeat(30, -1)  # (5, 40, 60)
    expected = recipe(list(boxes))["image_tensors"]
    assert np.array_equal(recipe(boxes)["image_tensors"], expected)
    assert np.array_equal(recipe(boxes[..., None])["image_tensors"], expected)
    for channels in (1, 3, 4):
        with pytest.raises(ValueError, match=rf"photos has the shape \(5, 40, {channels}\), which may be one picture with"):
            recipe(boxes[..., :channels])
    assert recipe([boxes[0, :, :3]])["image_tensors"].shape == recipe(boxes[0, :, :3])["image_tensors"].shape
    Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    colours = Image.fromarray(photo(30, 50))
    assert np.array_equal(recipe(colours)["image_tensors"], recipe(np.asarray(colours.convert("L")))["image_tensors"])


@pytest.mark.parametrize("name, options", [
    ("ultralytics", {"imgsz": 64, "stride": 16}), ("ultralytics", {"imgsz": (64, 96), "padding_value": 7}),
    ("mmdetection", {"scale": 64, "pad_val": (1, 2, 3)}), ("mmdetection", {"scale": (64, 48), "pad_size": (64, 64)}),
    ("paddleocr_detection", {"limit_side_len": 100}), ("paddleocr_recognition", {"rec_image_shape": (3, 32, 100)}),
    ("easyocr_detection", {"canvas_size": 100, "mag_ratio": 2}), ("easyocr_recognition", {"img_h": 32}),
    ("insightface_recognition", {"input_size": (40, 30), "input_mean": 3}),
])  # fmt: skip
def test_numpys_integers_are_ints(name, options):
    """So is whatever ``operator.index`` takes, alone, in tuples and as an array."""
    case = small(name, 1)
    expected = getattr(recipes, name)(case.photos(), **options)
    for kind in (np.int64, np.uint8, np.array):
        given = {key: tuple(map(kind, one)) if isinstance(one, tuple) else kind(one) for key, one in options.items()}
        if kind is np.array:  # one of none axes is an int, of one axis a sequence
            given = {key: np.array(one) if isinstance(one, tuple) else np.int32(one) for key, one in options.items()}
        assert alike(getattr(recipes, name)(case.photos(), **given), expected)


@pytest.mark.parametrize("name", NAMES)
def test_what_results_cannot_be_written_to_is_refused_before_the_work(name, monkeypatch):
    case = small(name, 1)
    pixels, expected = next(iter(called(case, case.photos()).items()))
    monkeypatch.setattr(_core, "_run_compiled", None)
    frozen = expected.copy()
    frozen.flags.writeable = False
    wider = np.zeros((*expected.shape[:-1], 2 * expected.shape[-1]), expected.dtype)[..., ::2]
    wrong = [
        (expected, TypeError, f"out must be a dict of arrays, such as {{'{pixels}': array}}, not ndarray"),
        ([1], TypeError, "out must be a dict of arrays, .* not list"),
        ({pixels: None}, TypeError, rf"out\['{pixels}'\] must be a C-contiguous array of NumPy, not NoneType"),
        ({pixels: [1]}, TypeError, rf"out\['{pixels}'\] must be a C-contiguous array of NumPy, not list"),
        ({pixels: frozen}, ValueError, "must be writable"),
        ({pixels: wider}, ValueError, "must be a C-contiguous array of NumPy"),
        ({1: expected}, ValueError, f"out has 1, not '{pixels}'"),
    ]
    for out, error, words in wrong:
        with pytest.raises(error, match=words):
            called(case, case.photos(), out=out)


@pytest.mark.parametrize("name", NAMES)
def test_dask_arrays_are_refused_since_they_are_not_in_memory(name):
    da = pytest.importorskip("dask.array", reason="Dask is not installed")
    one = small(name, 1).photos()[0]
    computed = da.from_array(one).map_blocks(lambda block: pytest.fail("computed"), dtype=np.uint8, meta=one[:0])
    stack = da.stack([computed] * 2)
    for photos, where in ((computed, "photos"), (stack, "photos"), ([one, computed], "picture 1"), ([stack], "picture 0")):
        with pytest.raises(TypeError, match=f"{where} is a Dask array, which is not in memory: its compute"):
            getattr(recipes, name)(photos)


@pytest.mark.driverless
@pytest.mark.parametrize("name, words", [
    ("yolo", "did you mean ultralytics?"), ("yolov8", "did you mean ultralytics?"), ("letterbox", "did you mean ultralytics?"),
    ("ultralitics", "did you mean ultralytics?"), ("RTMDet", "did you mean mmdetection?"), ("scrfd", "insightface_detection?"),
    ("easyocr", "did you mean easyocr_detection or easyocr_recognition?"), ("dali", "it has easyocr_detection, "),
])  # fmt: skip
def test_names_of_recipes_that_there_are_not(name, words):
    with pytest.raises(AttributeError, match=re.escape(words)):
        getattr(recipes, name)
    assert not hasattr(recipes, "__wrapped__")


class Tensor:
    """As torch has it: on a GPU, with a gradient."""

    def __init__(self, array, done=()):
        self.array, self.done, self.ndim, self.shape = array, done, array.ndim, array.shape

    def __array__(self, *_, **__):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")

    def detach(self):
        return Tensor(self.array, (*self.done, "detach"))

    def cpu(self):
        return Tensor(self.array, (*self.done, "cpu"))

    def numpy(self):
        assert self.done == ("detach", "cpu")
        return self.array


@pytest.mark.driverless
@pytest.mark.parametrize("name", NAMES)
def test_tensors_on_a_gpu_are_downloaded_as_preprocessing_does(name):
    case = small(name)
    assert alike(called(case, [Tensor(one) for one in case.photos()]), called(case, case.photos()))
