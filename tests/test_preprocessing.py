"""``dmlops.preprocessing``: files and their odd forms, inputs, results, without the originals.

What the originals gave is recorded in processors/digests.json; tests/processors/ has them themselves.
"""

import itertools
import json
import pickle
import sys
import threading
from pathlib import Path

import dmlops
import numpy as np
import pytest
from dmlops import _core
from dmlops.processors import execution, margins
from dmlops.processors.comparing import as_arrays, difference
from dmlops.processors.configuration import census
from dmlops.processors.kept import Kept
from dmlops.processors.rows import REFUSED, ROWS
from dmlops.processors.sources import OPENAI

import processor_cases as cases
from support import NO_VULKAN, run_python

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")

VIT = {"image_processor_type": "ViTImageProcessor"}
CLIP = {"image_processor_type": "CLIPImageProcessor"}
BACKENDS = pytest.mark.parametrize("backend", ["pil", "torchvision"])


def preprocessor(name, backend, keys=None):
    return dmlops.preprocessing(cases.source(name, keys or {}), backend=backend, video=cases.is_video(name))


def pixels(source, photos, backend="torchvision", **more):
    return dmlops.preprocessing(source, backend=backend, **more)(photos)["pixel_values"]


# --- results ---


@BACKENDS
def test_four_channels_are_colours_times_alpha_to_pillow_alone(backend):
    photo = np.random.default_rng(0).integers(0, 256, (60, 50, 4), np.uint8)
    source = {**VIT, "size": {"height": 40, "width": 30}, "do_normalize": False, "do_rescale": False}
    if backend == "pil":
        resized = np.asarray(Image.fromarray(photo).resize((30, 40), Image.Resampling.BILINEAR))
    else:
        resized = dmlops.resize_torchvision(photo, (40, 30), "bilinear", axes=(0, 1), device="host")
    assert np.array_equal(pixels(source, photo, backend)[0], resized.transpose(2, 0, 1))


@pytest.mark.parametrize("name", sorted(ROWS))
def test_every_class_gives_what_its_original_gave(name):
    recorded = cases.recorded()
    for backend, size in itertools.product(census()["classes"][name]["backends"], cases.RECORDED):
        photos = cases.photos(name, cases.SIZES[size])
        if photos is not None:
            assert cases.digest(preprocessor(name, backend)(photos)) == recorded[f"{name} {backend} {size}"], (backend, size)


@pytest.mark.parametrize("name", sorted(set(ROWS) - {"NougatImageProcessor", "PPFormulaNetImageProcessor"}))
def test_the_movements_are_numpys(name):
    """What compiled programs move, look up and fill, NumPy does too."""
    backend = census()["classes"][name]["backends"][-1]
    made = preprocessor(name, backend)
    photos = cases.photos(name, [(60, 80), (61, 79)])
    frames = [frame for video in photos for frame in video] if cases.is_video(name) else photos
    groups = [len(video) for video in photos] if cases.is_video(name) else [2] if made._row.form == "nested" else [1, 1]
    work = made._work([one.shape for one in frames], groups)
    arrays, found = work.arrays(frames, "host"), made(photos, device="host")
    for name, result in work.plan.items():
        for one, moved in zip(result, found[name], strict=True) if isinstance(result, list) else [(result, found[name])]:
            if hasattr(one, "blocks"):
                assert not difference(moved, execution.reference(one, work, arrays))


def test_sizes_without_pixels_are_those_of_the_results():
    names = ["DetrImage", "Qwen2VLImage", "LlavaNextImage", "SamImage", "Idefics3Image"]
    for name, size in itertools.product(names, [(60, 80), (333, 500)]):
        made = preprocessor(f"{name}Processor", "torchvision")
        found = {key: np.shape(value) for key, value in made(cases.photo(*size)).items()}
        assert made.sizes(*size) == found
    video = preprocessor("Qwen2VLVideoProcessor", "torchvision")
    frames = np.stack([cases.photo(60, 80, k) for k in range(5)])
    assert video.sizes(60, 80, 5) == {key: value.shape for key, value in video(frames).items()}
    with pytest.raises(dmlops.UnsupportedError, match="follow from the pixels"):
        preprocessor("NougatImageProcessor", "pil", {"do_pad": False}).sizes(480, 640)


def test_sizes_are_whole_numbers():
    made, video = dmlops.preprocessing(CLIP, backend="pil"), preprocessor("VideoMAEVideoProcessor", None)
    assert made.sizes(np.int64(60), np.uint8(80)) == made.sizes(60, 80)
    for height, width, name in (("a", 5, "height"), (48.5, 5, "height"), (5, None, "width"), (5, True, "width")):
        with pytest.raises(TypeError, match=f"{name} must be an int, not"):
            made.sizes(height, width)
        with pytest.raises(TypeError, match=f"{name} must be an int, not"):
            made.code_for(height, width)
    with pytest.raises(ValueError, match="height must be 1 or more, not 0"):
        made.sizes(0, 5)
    with pytest.raises(TypeError, match="frames must be an int, not 2.5"):
        video.sizes(60, 80, 2.5)


@BACKENDS
def test_results_are_written_into_out(backend):
    made, photos = dmlops.preprocessing(CLIP, backend=backend), [cases.photo(60, 80), cases.photo(50, 90)]
    expected = made(photos)["pixel_values"]
    out = np.full_like(expected, np.nan)
    assert made(photos, out={"pixel_values": out})["pixel_values"] is out
    assert np.array_equal(out, expected)
    padded = preprocessor("DetrImageProcessor", backend, {"size": {"shortest_edge": 40, "longest_edge": 70}})
    expected = padded(photos)
    out = {name: np.full_like(value, 7) for name, value in expected.items()}
    padded(photos, out=out)
    assert all(np.array_equal(out[name], expected[name]) for name in expected)
    with pytest.raises(ValueError, match="out is float64"):
        made(photos, out={"pixel_values": np.zeros(expected["pixel_values"].shape)})
    with pytest.raises(ValueError, match="'pixels'; the results are 'pixel_values'"):
        made(photos, out={"pixels": out})


def test_outputs_that_do_not_fit_are_refused_before_the_work(monkeypatch):
    made = preprocessor("DetrImageProcessor", "pil", {"size": {"shortest_edge": 40, "longest_edge": 70}})
    photos = [cases.photo(60, 80)]
    expected = made(photos)
    monkeypatch.setattr(_core, "_resample", None)
    frozen = expected["pixel_mask"].copy()
    frozen.flags.writeable = False
    wrong = [
        (expected["pixel_values"], TypeError, "out must be a dict of arrays, such as {'pixel_mask': array}, not ndarray"),
        ([1], TypeError, "out must be a dict of arrays, .* not list"),
        ({"pixel_values": None}, TypeError, r"out\['pixel_values'\] must be a C-contiguous array of NumPy, not NoneType"),
        ({"pixel_mask": None}, TypeError, r"out\['pixel_mask'\] must be a C-contiguous array of NumPy, not NoneType"),
        ({"pixel_values": dmlops.asarray(expected["pixel_values"], device="host")}, TypeError, "not DeviceArray"),
        ({"pixel_values": expected["pixel_values"][..., ::-1]}, ValueError, "must be a C-contiguous array"),
        ({"pixel_mask": expected["pixel_mask"].astype(np.int8)}, ValueError, "out is int8"),
        ({"pixel_mask": expected["pixel_mask"][0]}, ValueError, "out is int64"),
        ({"pixel_mask": frozen}, ValueError, r"out\['pixel_mask'\] must be writable"),
    ]
    for out, error, words in wrong:
        with pytest.raises(error, match=words):
            made(photos, out=out)
    several = preprocessor("MllamaImageProcessor", "pil")
    with pytest.raises(TypeError, match=r"out\['num_tiles'\].* is no array"):
        several(photos, out={"num_tiles": [[np.zeros(1)]]})


@pytest.mark.parametrize("backend", ["torchvision", "pil"])
def test_each_device_gives_the_same_bits(device, backend):
    photos = [cases.photo(60, 80), cases.photo(50, 90)]
    for name in ("CLIPImage", "Qwen2VLImage", "DetrImage", "InklingImage", "Siglip2Image"):
        keys = {"size": {"shortest_edge": 56, "longest_edge": 3136}} if "Detr" in name else {}
        if backend not in census()["classes"][f"{name}Processor"]["backends"]:
            continue
        made = preprocessor(f"{name}Processor", backend, keys)
        expected, found = made(photos, device="host"), made(photos, device=device)
        assert all(np.array_equal(found[key], expected[key]) for key in expected)


def test_resizes_and_movements_run_on_the_device_that_is_named(monkeypatch):
    named = []
    resample, run_compiled = _core._resample, _core._run_compiled
    monkeypatch.setattr(_core, "_resample", lambda *a: named.append(a[5]) or resample(*a))
    monkeypatch.setattr(_core, "_run_compiled", lambda *a: named.append(a[3]) or run_compiled(*a))
    for backend in ("torchvision", "pil"):
        made = dmlops.preprocessing(CLIP, backend=backend)
        made(cases.photo(300, 400), device="host")
        made(cases.photo(300, 400))
    assert named == ["host", "host", "auto", "auto"] * 2


def table_of_classes():
    """The table of docs/preprocessing_from_a_configuration.md."""
    yield "| class | torchvision | pil | refused because |"
    yield "|---|---|---|---|"
    for name, known in sorted(census()["classes"].items()):
        marks = ["yes" if name in ROWS and one in known["backends"] else "" for one in ("torchvision", "pil")]
        yield f"| `{name}` | {marks[0]} | {marks[1]} | {REFUSED.get(name, '')} |".replace("|  |", "| |").replace("|  |", "| |")


def test_the_page_has_all_classes():
    page = Path(__file__).resolve().parent.parent / "docs" / "preprocessing_from_a_configuration.md"
    table = page.read_text().partition("## Classes\n")[2]
    assert [line for line in table.splitlines() if line.startswith("|")] == list(table_of_classes())


def test_no_driver_is_needed():
    code = f"import dmlops, numpy as np; made = dmlops.preprocessing({CLIP!r}, backend='pil')\n"
    code += "photo = np.zeros((480, 640, 3), np.uint8); found = made(photo)['pixel_values']; space = {}\n"
    code += "exec(made.code, space); assert np.array_equal(space['prepare'](photo)['pixel_values'], found)"
    run_python(code, env=NO_VULKAN)


# --- speed: what is done, and how often ---


def test_of_a_resize_only_the_window_that_is_kept_is_made(monkeypatch):
    windows = []
    resample = _core._resample
    monkeypatch.setattr(_core, "_resample", lambda *a: windows.append(a[3]) or resample(*a))
    for backend in ("torchvision", "pil"):
        dmlops.preprocessing(CLIP, backend=backend)(cases.photo(480, 640))
    assert windows == [(0, 224, 37, 224)] * 2
    windows.clear()  # all tiles of one resize are cut from it
    preprocessor("LlavaNextImageProcessor", "torchvision")(cases.photo(480, 640))
    assert windows == [(0, 224, 0, 224), (0, 504, 0, 672)]


def test_a_result_is_made_by_one_program_whatever_lies_between_its_blocks(monkeypatch):
    made, photos = preprocessor("DetrImageProcessor", "pil"), [cases.photo(60, 80), cases.photo(50, 90)]
    made(photos)
    calls = []
    run_compiled = _core._run_compiled
    monkeypatch.setattr(_core, "_run_compiled", lambda *a: calls.append(a[2]) or run_compiled(*a))
    monkeypatch.setattr(_core, "_compile", None)  # nor is any made anew
    made(photos)
    assert calls == [None]  # not an array of zeros, which would be written twice


def test_plans_of_many_sizes_keep_little():
    made = preprocessor("DetrImageProcessor", "pil")
    made._works.most = 8
    for width in range(300, 330):
        made.sizes(400, width)
    assert len(made._works) <= 8
    assert made._work([(400, 329, 3)], [1]).nbytes == 0  # its mask of 800 x 658 is made for each call


def test_what_was_used_last_is_kept():
    kept = Kept(4, 100)
    for number in range(4):
        kept.put(number, str(number), 10)
    assert kept.get(0) == "0" and kept.get(9) is None
    kept.put(4, "4", 10)
    assert [kept.get(number) for number in range(5)] == ["0", None, None, "3", "4"]
    kept.put(5, "5", 90)
    assert len(kept) == 1 and kept.get(5) == "5"
    kept.put(6, "6", 101)
    assert kept.get(6) is None and kept.get(5) == "5"


# --- threads, processes ---

MIXED = [CLIP, {"image_processor_type": "DetrImageProcessor", "size": {"shortest_edge": 50, "longest_edge": 80}}]


def test_sixteen_threads_get_what_one_would():
    """Pictures and lists of sizes of their own and common ones, in preprocessors that keep fewer plans than these are."""
    made = [dmlops.preprocessing(source, backend=backend) for source in MIXED for backend in ("torchvision", "pil")]
    for one in made:
        one._works.most = 6
    photos = [cases.photo(40 + k % 9, 60 + k % 5, k) for k in range(20)]
    calls = [*photos, photos[:3], photos[7:9], photos[3:11]]
    expected = [[one(call) for call in calls] for one in made]
    wrong, begin = [], threading.Barrier(16)

    def work(number):
        begin.wait()
        for place in np.random.default_rng(number).permutation(len(made) * len(calls)):
            which, call = divmod(int(place), len(calls))
            found = made[which](calls[call])
            if any(not np.array_equal(found[key], expected[which][call][key]) for key in expected[which][call]):
                wrong.append((number, which, call))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and all(len(one._works) <= 6 + 16 for one in made)


def test_a_first_call_imports_little():
    """Nothing beside NumPy, the standard library and a part of dmlops: no tracer, no proofs, no other front end."""
    call = f"dmlops.preprocessing({VIT}, backend='pil')(np.zeros((9, 9, 3), np.uint8))"
    code = f"import sys, numpy as np\nbefore = set(sys.modules)\nimport dmlops\n{call}\nprint(*set(sys.modules) - before)"
    found = run_python(code).stdout.split()
    others = {name.partition(".")[0] for name in found} - {"dmlops"} - sys.stdlib_module_names
    assert not others
    allowed = ("dmlops.processors", "dmlops.operators", "dmlops.resizing", "dmlops.fusion.graph", "dmlops.fusion.layout")
    parts = [name for name in found if name.count(".") > 1 and not name.startswith((*allowed, "dmlops.fusion.runs"))]
    assert parts == [] and len([name for name in found if name.startswith("dmlops")]) < 75
    assert not {"asyncio", "multiprocessing", "concurrent", "dmlops.reference", "dmlops.onnx", "dmlops.dask"} & set(found)


@BACKENDS
def test_a_configuration_is_the_preprocessors_own(backend):
    """Neither what is given nor what is handed out is shared: not with the caller, nor with others of the class."""
    given, photo = {**VIT, "size": {"height": 40, "width": 30}, "image_mean": [0.5, 0.5, 0.5]}, cases.photo(60, 80)
    made = dmlops.preprocessing(given, backend=backend)
    expected, defaults = made(photo)["pixel_values"], dmlops.preprocessing(VIT, backend=backend).configuration
    given["size"]["height"] = 7
    given["image_mean"].append(9)
    for one in (made, dmlops.preprocessing(VIT, backend=backend)):
        found = one.configuration
        found["size"]["height"] = 5
        found["image_std"][0] = 77
        found["image_mean"].clear()
    made.__reduce__()[1][0]["size"]["height"] = 5
    assert made.configuration["size"] == {"height": 40, "width": 30}
    assert dmlops.preprocessing(VIT, backend=backend).configuration == defaults
    for again in (made, pickle.loads(pickle.dumps(made))):
        again._works = Kept(8, 1 << 20)
        assert np.array_equal(again(photo)["pixel_values"], expected)


def test_configurations_of_the_other_forms_are_the_preprocessors_own():
    timm = {"pretrained_cfg": {"input_size": [3, 96, 96], "mean": [0.5] * 3, "std": [0.5] * 3}}
    transforms = {"transforms": [{"resize": [40, 30], "filter": "bilinear"}, {"scale": "divide"}], "library": "timm 1.0"}
    for given in (timm, transforms):
        made = dmlops.preprocessing(given, backend="pil")
        before = made.configuration
        for one in made.configuration["transforms"]:
            one.clear()
        next(iter(given.values())).clear()
        assert made.configuration == before and dmlops.preprocessing(VIT, backend="pil")
        assert made.sizes(60, 80)["pixel_values"][1] == 3


def test_versions_that_are_none_are_refused_at_once():
    for version, error in ((13, TypeError), ([13, 0], TypeError), ("new", ValueError)):
        with pytest.raises(error, match="version must be"):
            dmlops.preprocessing(VIT, backend="pil", version=version)


def test_pillows_version_is_that_of_resize_pillow():
    """Pillow 13 resizes the height first where it is reduced much more than the width."""
    photo, source = cases.photo(400, 60), {**VIT, "size": {"height": 50, "width": 55}}
    older, newer = (pixels(source, photo, "pil", version=version) for version in ("12.0", "13.0"))
    assert not np.array_equal(older, newer)


# --- configurations ---


def test_a_folder_a_file_and_a_dict_are_the_same(tmp_path):
    photo = cases.photo(60, 80)
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(CLIP))
    expected = pixels(CLIP, photo)
    for source in (tmp_path, str(tmp_path), tmp_path / "preprocessor_config.json"):
        assert np.array_equal(pixels(source, photo), expected)


def test_a_nested_file_wins(tmp_path):
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(CLIP))
    (tmp_path / "processor_config.json").write_text(json.dumps({"image_processor": VIT, "video_processor": {"x": 1}}))
    assert dmlops.preprocessing(tmp_path, backend="pil").name == "ViTImageProcessor"
    (tmp_path / "processor_config.json").write_text(json.dumps({"processor_class": "CLIPProcessor"}))
    assert dmlops.preprocessing(tmp_path, backend="pil").name == "CLIPImageProcessor"


def test_videos_have_a_file_of_their_own_or_that_of_pictures(tmp_path):
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({"image_processor_type": "Qwen2VLImageProcessorFast"}))
    assert dmlops.preprocessing(tmp_path, video=True).name == "Qwen2VLVideoProcessor"
    (tmp_path / "video_preprocessor_config.json").write_text(json.dumps({"video_processor_type": "Qwen3VLVideoProcessor"}))
    assert dmlops.preprocessing(tmp_path, video=True).name == "Qwen3VLVideoProcessor"
    assert dmlops.preprocessing(tmp_path, backend="pil").name == "Qwen2VLImageProcessor"


def test_older_and_other_names_of_a_class():
    others = [{"image_processor_type": f"ViTImageProcessor{suffix}"} for suffix in ("", "Fast", "Pil")]
    for keys in [*others, {"feature_extractor_type": "ViTFeatureExtractor"}, {"model_type": "ijepa"}]:
        assert dmlops.preprocessing(keys, backend="pil").name == "ViTImageProcessor"


def test_the_kind_of_model_names_the_class(tmp_path):
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({"size": 100}))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "clip"}))
    made = dmlops.preprocessing(tmp_path, backend="pil")
    assert (made.name, made.sizes(60, 80)) == ("CLIPImageProcessor", {"pixel_values": (1, 3, 224, 224)})


def test_forms_of_sizes():
    photo = cases.photo(60, 80)
    assert pixels({**VIT, "size": 50}, photo).shape == (1, 3, 50, 50)
    assert pixels({**VIT, "size": [40, 50]}, photo).shape == (1, 3, 40, 50)
    assert pixels({**CLIP, "size": 30, "do_center_crop": False}, photo).shape == (1, 3, 30, 40)
    assert pixels({"image_processor_type": "DonutImageProcessor", "size": [40, 50]}, photo).shape == (1, 3, 50, 40)
    with pytest.raises(ValueError, match="size must have the keys"):
        dmlops.preprocessing({**VIT, "size": {"width": 3}}, backend="pil")(photo)
    with pytest.raises(ValueError, match="size must have an int as height, not 30.5"):
        dmlops.preprocessing({**VIT, "size": {"height": 30.5, "width": 20}}, backend="pil")(photo)
    with pytest.raises(ValueError, match="size must have numbers below 2"):
        dmlops.preprocessing({**VIT, "size": 10**20}, backend="pil")(photo)
    assert pixels({**VIT, "size": {"height": np.int64(40), "width": np.uint8(50)}}, photo).shape == (1, 3, 40, 50)
    far = {"shortest_edge": 30, "longest_edge": 10**10}
    assert pixels({"image_processor_type": "DetrImageProcessor", "size": far}, photo).shape == (1, 3, 30, 40)


def test_older_keys():
    detr = {"image_processor_type": "DetrImageProcessor", "size": 40, "max_size": 50, "pad_and_return_pixel_mask": False}
    made = dmlops.preprocessing(detr, backend="pil")
    assert made.sizes(60, 120) == {"pixel_values": (1, 3, 25, 50)} and made.ignored == []
    qwen = {"image_processor_type": "Qwen2VLImageProcessor", "min_pixels": 3136, "max_pixels": 6272}
    assert dmlops.preprocessing(qwen, backend="pil").sizes(480, 640)["image_grid_thw"] == (1, 3)
    assert dmlops.preprocessing(qwen, backend="pil").sizes(480, 640)["pixel_values"] == (24, 1176)


def test_null_is_null_and_no_default():
    with pytest.raises(ValueError, match="do_normalize needs image_mean"):
        dmlops.preprocessing({**VIT, "image_mean": None}, backend="pil")
    assert pixels({**VIT, "do_normalize": None, "do_rescale": None}, cases.photo(60, 80)).dtype == np.uint8


def test_keys_without_effect_are_listed():
    made = dmlops.preprocessing({**VIT, "do_resize": False, "size": 5, "resample": 3, "colour": "red"}, backend="pil")
    assert made.ignored == ["colour", "resample", "size"]
    assert "without effect: colour, resample, size" in str(made)


def test_the_backend_must_be_said_where_there_are_two():
    with pytest.raises(TypeError, match="say backend='torchvision' or backend='pil'.*transformers takes torchvision"):
        dmlops.preprocessing(VIT)
    with pytest.raises(ValueError, match="must be 'pil' or 'torchvision', not 'cv2'"):
        dmlops.preprocessing(VIT, backend="cv2")
    assert dmlops.preprocessing({"image_processor_type": "Sam2ImageProcessor"}).backend == "torchvision"
    with pytest.raises(dmlops.UnsupportedError, match="with the backend 'torchvision' only"):
        dmlops.preprocessing({"image_processor_type": "Sam2ImageProcessor"}, backend="pil")
    photo = cases.photo(60, 80)
    assert not np.array_equal(pixels(VIT, photo, "pil"), pixels(VIT, photo, "torchvision"))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_refused_says_why(name):
    with pytest.raises(dmlops.UnsupportedError) as caught:
        dmlops.preprocessing(cases.source(name, {}), video=cases.is_video(name))
    assert (caught.value.class_name, caught.value.key, caught.value.reason) == (name, None, REFUSED[name])
    assert pickle.loads(pickle.dumps(caught.value)).reason == REFUSED[name]


def test_a_key_that_is_refused_is_named_before_the_first_call():
    with pytest.raises(dmlops.UnsupportedError) as caught:
        dmlops.preprocessing({**VIT, "resample": 4}, backend="torchvision")
    assert (caught.value.class_name, caught.value.key) == ("ViTImageProcessor", "resample")
    assert "torchvision has no filter 'box'" in str(caught.value)


def test_what_calls_of_transformers_have_is_explained():
    p = dmlops.preprocessing(VIT, backend="pil")
    photo = cases.photo(60, 80)
    for more, words in (
        ({"return_tensors": "pt"}, "takes no return_tensors: results are NumPy arrays"),
        ({"size": 224}, "takes no size: keys belong to the configuration"),
        ({"videos": [photo]}, "takes no videos: videos are the first argument, without a name"),
    ):
        with pytest.raises(TypeError, match=words):
            p(photo, **more)
    with pytest.raises(TypeError, match="takes no images: pictures are the first argument, without a name"):
        p(images=photo, return_tensors="pt")
    with pytest.raises(ValueError, match="picture 0 is None"):
        p()
    for wrong, kind in (("cat.jpg", "str"), ({"image": photo}, "dict"), (iter([photo]), "list_iterator")):
        with pytest.raises(TypeError, match=f"picture 0 is of type {kind}: pictures are arrays.*; a file is read first"):
            p(wrong)
    with pytest.raises(ValueError, match="image_mean must have 4 elements.*convert the picture to RGB"):
        p(np.zeros((60, 80, 4), np.uint8))


@pytest.mark.parametrize("source, words", [
    ("ViTImageProcessor", r"a class is named in a dict, {'image_processor_type': 'ViTImageProcessor'}"),
    ("ViTImageProcessorFast", "a class is named in a dict"),
    ("google/vit-base", r"nothing is downloaded: huggingface_hub.snapshot_download\('google/vit-base'\)"),
    ("/no/such", "there is no file or folder '/no/such'$"), ("no_such", "there is no file or folder 'no_such'$"),
])  # fmt: skip
def test_names_that_are_no_folder(source, words, capsys):
    with pytest.raises(FileNotFoundError, match=words):
        dmlops.preprocessing(source, backend="pil")


def test_what_is_no_configuration(tmp_path):
    with pytest.raises(dmlops.UnsupportedError, match="transformers 5.24.0 has no such class"):
        dmlops.preprocessing({"image_processor_type": "MyOwnImageProcessor"})
    with pytest.raises(ValueError, match="image_processor_type is missing"):
        dmlops.preprocessing({"size": 224})
    with pytest.raises(ValueError, match="model_type 'bert' has no processor"):
        dmlops.preprocessing({"model_type": "bert"})
    with pytest.raises(FileNotFoundError, match="no preprocessing configuration: none of processor_config.json"):
        dmlops.preprocessing(tmp_path)
    (tmp_path / "preprocessor_config.json").write_text("[1]")
    with pytest.raises(dmlops.UnsupportedError, match="no such class; did you mean ViTImageProcessor?"):
        dmlops.preprocessing({"image_processor_type": "ViTImageProcessr"})
    for text in (b"{", b"\xff"):
        (tmp_path / "wrong.json").write_bytes(text)
        with pytest.raises(ValueError, match=r"wrong\.json has no JSON object: "):
            dmlops.preprocessing(tmp_path / "wrong.json")
    with pytest.raises(ValueError, match="no JSON object, but list"):
        dmlops.preprocessing(tmp_path)
    with pytest.raises(TypeError, match="a folder, a file, a dict or a transform of torchvision, not builtins.int"):
        dmlops.preprocessing(5)


@pytest.mark.parametrize("backend", ["pil", "torchvision"])
@pytest.mark.parametrize(
    ("name", "keys", "said"),
    [
        ("NougatImageProcessor", {"size": {"longest_edge": 60}}, "KeyError\\('height'"),
        ("JanusImageProcessor", {"image_mean": 0.5}, "TypeError"),
    ],
)
def test_values_of_another_form(name, keys, said, backend):
    with pytest.raises(dmlops.UnsupportedError, match=f"{name}: a value of the configuration has another form .*{said}"):
        dmlops.preprocessing({"image_processor_type": name, **keys}, backend=backend)(np.zeros((50, 60, 3), np.uint8))


# --- timm and open_clip ---


def test_timm(tmp_path):
    cfg = {"input_size": [3, 96, 96], "crop_pct": 0.9, "mean": [0.5] * 3, "std": [0.5] * 3, "classifier": "x"}
    (tmp_path / "config.json").write_text(json.dumps({"architecture": "a", "pretrained_cfg": cfg}))
    made, photo = dmlops.preprocessing(tmp_path), cases.photo(60, 80)
    resized = np.asarray(Image.fromarray(photo).resize((141, 106), Image.Resampling.BICUBIC))
    x = np.moveaxis(resized[5:101, 22:118], -1, 0).astype(np.float32) / np.float32(255)
    assert np.array_equal(made(photo)["pixel_values"][0], (x - np.float32(0.5)) / np.float32(0.5))
    assert made.ignored == ["classifier"]
    assert np.array_equal(made(Image.fromarray(photo))["pixel_values"], made(photo)["pixel_values"])


def test_open_clip(tmp_path):
    cfg = {"size": 32, "resize_mode": "longest", "interpolation": "bilinear", "fill_color": 9}
    (tmp_path / "open_clip_config.json").write_text(json.dumps({"model_cfg": {}, "preprocess_cfg": cfg}))
    made, photo = dmlops.preprocessing(tmp_path), cases.photo(60, 80)
    resized = np.asarray(Image.fromarray(photo).resize((32, 24), Image.Resampling.BILINEAR))
    square = np.full((32, 32, 3), 9, np.uint8)
    square[4:28] = resized
    x = np.moveaxis(square, -1, 0).astype(np.float32) / np.float32(255)
    mean, std = (np.array(one, np.float32)[:, None, None] for one in OPENAI)
    assert np.array_equal(made(photo)["pixel_values"][0], (x - mean) / std)
    with pytest.raises(dmlops.UnsupportedError, match="converted behind the resize"):
        made(Image.fromarray(photo).convert("L"))


# --- inputs ---


def test_forms_of_pictures():
    photo, other = cases.photo(60, 80), cases.photo(50, 90)
    made = dmlops.preprocessing(CLIP, backend="torchvision")
    expected, second = made(photo)["pixel_values"], made(other)["pixel_values"]
    first = np.ascontiguousarray(np.moveaxis(photo, -1, 0))
    both = np.concatenate([expected, second])
    for form in (
        Image.fromarray(photo),
        first,
        np.moveaxis(photo, -1, 0),
        [photo],
        (photo,),
        photo[None],
        dmlops.asarray(photo),
    ):
        assert np.array_equal(made(form)["pixel_values"], expected)
    for form in ([photo, other], [photo, Image.fromarray(other)], [first, other], [[photo], [other]]):
        assert np.array_equal(made(form)["pixel_values"], both)
    turned = np.ascontiguousarray(photo[::-1, ::2])
    assert np.array_equal(made(photo[::-1, ::2])["pixel_values"], made(turned)["pixel_values"])
    frozen = photo.copy()
    frozen.flags.writeable = False
    assert np.array_equal(made(frozen)["pixel_values"], expected)


def test_channels_that_may_be_first_or_last_are_first_with_a_warning():
    with pytest.warns(UserWarning, match="first is taken"):
        found = pixels({**CLIP, "do_center_crop": False, "size": {"height": 4, "width": 6}}, np.zeros((3, 5, 3), np.uint8))
    assert found.shape == (1, 3, 4, 6)
    with pytest.raises(ValueError, match="no axis of 1, 3, 4 channels"):
        pixels(CLIP, np.zeros((5, 5, 5), np.uint8))


def test_grey_and_alpha_are_converted_as_the_original_does():
    photo = cases.photo(60, 80)
    grey = photo[..., :1]
    made = dmlops.preprocessing(CLIP, backend="pil")
    assert np.array_equal(made(grey)["pixel_values"], made(np.repeat(grey, 3, -1))["pixel_values"])
    image = Image.fromarray(photo).convert("L")
    assert np.array_equal(made(image)["pixel_values"], made(image.convert("RGB"))["pixel_values"])
    clear = np.dstack([photo, np.zeros((60, 80, 1), np.uint8)])
    white = made(np.full_like(photo, 255))["pixel_values"]
    for backend in ("pil", "torchvision"):
        assert np.array_equal(pixels(CLIP, clear, backend), pixels(CLIP, np.full_like(photo, 255), backend))
    assert np.array_equal(made(Image.fromarray(clear))["pixel_values"], white)
    with pytest.raises(ValueError, match="image_mean must have 1 elements"):
        pixels(VIT, photo[..., 0])


@pytest.mark.parametrize("name, backend, keys, channels", [
    ("SuperPointImageProcessor", "torchvision", {}, (1, 3)),
    ("EomtImageProcessor", "pil", {"do_normalize": False}, (3, 4)),
])  # fmt: skip
def test_pictures_of_different_numbers_of_channels_are_refused_by_name(name, backend, keys, channels):
    many = np.concatenate([cases.photo(60, 80)] * 2, -1)
    with pytest.raises(dmlops.UnsupportedError) as caught:
        preprocessor(name, backend, keys)([np.ascontiguousarray(many[..., :count]) for count in channels])
    assert caught.value.class_name == name and f"numbers of channels: {channels[0]}, {channels[1]}" in caught.value.reason
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("name", "CLIP ViT Detr Qwen2VL Sam LlavaNext Donut".split())
def test_empty_lists_among_lists_have_no_part_in_the_results(name):
    """As in the originals; see processors/test_inputs.py. Where a list is a sample they are refused."""
    made, photo = preprocessor(f"{name}ImageProcessor", "torchvision"), cases.photo(60, 80)
    expected = made([photo])
    for photos in ([[], [photo]], [[photo], []]):
        found = made(photos)
        assert not unlike(found, expected)
    for photos in ([], [[]], [[], []]):
        with pytest.raises(ValueError, match="there are no pictures"):
            made(photos)
    with pytest.raises(ValueError, match="picture 1 is a list beside pictures"):
        made([photo, [photo]])


def test_empty_lists_are_no_samples():
    photo = cases.photo(60, 80)
    for name in ("Idefics3ImageProcessor", "LlavaOnevisionImageProcessor", "MllamaImageProcessor"):
        with pytest.raises(ValueError, match="there are no pictures in list 1 of them"):
            preprocessor(name, "pil")([[photo], [], [photo]])


DIVISORS = [
    ("ViTImageProcessor", {"image_std": [0.5, 0, 0.5], "do_rescale": False}),
    ("EfficientNetImageProcessor", {"image_std": 0}),
    ("Llama4ImageProcessor", {"image_std": [0, 0.5, 0.5]}),
    ("ViTImageProcessor", {"rescale_factor": 0}),
]


@pytest.mark.parametrize("name, keys", DIVISORS, ids=str)
def test_what_torchvision_does_not_divide_by(name, keys):
    with pytest.raises(ValueError, match="must not be 0: torchvision"):
        preprocessor(name, "torchvision", keys)(cases.photo(60, 80))


@pytest.mark.parametrize("channels", [1, 4])
@pytest.mark.parametrize("name, backend, keys", [
    ("ViTImageProcessor", "pil", {}),
    ("Llama4ImageProcessor", "torchvision", {}),
    ("EfficientNetImageProcessor", "pil", {"do_normalize": False}),
])  # fmt: skip
def test_a_deviation_for_each_channel(name, backend, keys, channels):
    """Whatever the class makes its table of: channels without a row would read what lies behind it."""
    photo = np.zeros((channels, 60, 80), np.uint8)
    with pytest.raises(ValueError, match=f"must have {channels} elements, as many as the picture has channels, not 3"):
        preprocessor(name, backend, {"do_convert_rgb": False, **keys})(photo)


def test_pictures_that_cannot_be_taken():
    photo = cases.photo(60, 80)
    with pytest.raises(ValueError, match="picture 1 is None: it could not be read"):
        pixels(CLIP, [photo, None])
    for dtype in (np.float32, np.uint16, np.bool_):
        with pytest.raises(dmlops.UnsupportedError, match=f"picture 0 is {np.dtype(dtype)}: only uint8"):
            pixels(CLIP, photo.astype(dtype))
    with pytest.raises(ValueError, match="there are no pictures"):
        pixels(CLIP, [])
    with pytest.raises(ValueError, match="different numbers of channels: 1, 3"):
        pixels({**VIT, "do_normalize": False}, [photo, photo[..., :1]])
    with pytest.raises(ValueError, match="no pixels"):
        pixels(CLIP, np.zeros((0, 5, 3), np.uint8))


def test_forms_of_videos():
    frames = [cases.photo(60, 80, k) for k in range(4)]
    made = dmlops.preprocessing({"video_processor_type": "VideoMAEVideoProcessor"}, video=True)
    expected = made(np.stack(frames))["pixel_values"]
    assert expected.shape == (1, 4, 3, 224, 224)
    for form in (frames, [frames], [np.stack(frames)], np.stack(frames)[None], [Image.fromarray(one) for one in frames]):
        assert np.array_equal(made(form)["pixel_values"], expected)
    with pytest.raises(ValueError, match="one size"):
        preprocessor("Qwen2VLVideoProcessor", None)([[frames[0], cases.photo(50, 80)]])


def test_samples_of_several_pictures():
    photos = [cases.photo(60, 80, k) for k in range(3)]
    idefics = preprocessor("Idefics2ImageProcessor", "torchvision")
    assert idefics(photos)["pixel_values"].shape[:2] == (1, 3)
    assert idefics([photos[:1], photos[1:]])["pixel_attention_mask"].shape[:2] == (2, 2)
    llava = preprocessor("LlavaOnevisionImageProcessor", "torchvision")
    assert llava(photos)["batch_num_images"].tolist() == [1, 1, 1]
    assert llava([photos[:1], photos[1:]])["batch_num_images"].tolist() == [1, 2]


# --- what a preprocessor says of itself ---


def prepared_by(code, photo):
    names = {}
    exec(code, names)
    return names["prepare"](photo)


def unlike(found, expected):
    assert found.keys() == expected.keys()
    return [key for key in expected if difference(as_arrays(found[key]), as_arrays(expected[key]))]


@pytest.mark.parametrize("name", sorted(ROWS))
def test_the_code_of_every_class_runs_and_gives_the_same(name):
    for backend in census()["classes"][name]["backends"]:
        made = preprocessor(name, backend)
        if cases.is_video(name):
            video = np.stack([cases.photo(48, 64, k) for k in range(3)])
            assert not unlike(prepared_by(made.code_for(48, 64, 3), video), made(video)), backend
            continue
        photo = cases.photo(48, 64)
        size = margins.trimmed(photo, backend).shape[:2] if made._crops_by_content else (48, 64)
        assert not unlike(prepared_by(made.code_for(*size), photo), made(photo)), backend


@pytest.mark.parametrize("name", "CLIP Qwen2VL LlavaNext Inkling MobileViT SLANeXt Swin2SR".split())
def test_the_code_is_that_of_480_x_640(name):
    made, photo = preprocessor(f"{name}ImageProcessor", "torchvision"), cases.photo(480, 640)
    assert not unlike(prepared_by(made.code, photo), made(photo))


def test_the_code_of_a_video_is_that_of_eight_frames():
    made, video = preprocessor("Qwen2VLVideoProcessor", None), np.stack([cases.photo(480, 640, k) for k in range(8)])
    assert not unlike(prepared_by(made.code, video), made(video))


def test_the_code_for_what_lies_within_margins_names_another_size():
    made, photo = preprocessor("NougatImageProcessor", "pil"), np.full((60, 80, 3), 255, np.uint8)
    photo[10:50, 20:75] = cases.photo(40, 55) // 4
    assert not unlike(prepared_by(made.code_for(40, 55), photo), made(photo))
    with pytest.raises(ValueError, match=r"within its margins the picture has 40 x 55: code_for\(40, 55\) is for it"):
        prepared_by(made.code, photo)


@pytest.mark.parametrize("name", ["SLANeXtImageProcessor", "NougatImageProcessor"])
def test_the_code_runs_in_a_process_of_its_own(name):
    backend = census()["classes"][name]["backends"][-1]
    made = preprocessor(name, backend)
    expected = cases.digest(made(np.zeros((48, 64, 3), np.uint8)))
    code = made.code_for(48, 64) + "\nimport sys; sys.path.insert(0, TESTS); import processor_cases\n"
    code += "assert processor_cases.digest(prepare(np.zeros((48, 64, 3), np.uint8))) == DIGEST"
    run_python(code.replace("TESTS", repr(str(Path(__file__).parent))).replace("DIGEST", repr(expected)))


def test_it_prints_its_steps():
    text = str(preprocessor("CLIPImageProcessor", "torchvision"))
    assert text.startswith("CLIPImageProcessor: equals transformers 5.24.0, backend 'torchvision', to the bit")
    assert "resized to 224 x 298, bicubic, 224 x 224 from (0, 37)" in text
    assert "0 to 255 become -1.7922626 to 1.9303362" in text
    assert repr(preprocessor("CLIPImageProcessor", "pil")) == "<dmlops.preprocessing: CLIPImageProcessor, backend 'pil'>"


def test_it_is_pickled_as_its_configuration():
    made, photo = dmlops.preprocessing({**CLIP, "size": 100}, backend="pil", version="12.0"), cases.photo(60, 80)
    data = pickle.dumps(made)
    assert len(data) < 500
    again = pickle.loads(data)
    assert np.array_equal(again(photo)["pixel_values"], made(photo)["pixel_values"])
    assert (again.name, again.backend, again._version) == (made.name, made.backend, "12.0")


def test_dask_maps_it_over_chunks_of_pictures():
    dask = pytest.importorskip("dask.array")
    made = dmlops.preprocessing(CLIP, backend="torchvision")
    photos = np.stack([cases.photo(60, 80, k) for k in range(6)])
    chunks = dask.from_array(photos, chunks=(2, 60, 80, 3))
    found = chunks.map_blocks(lambda block: made(block)["pixel_values"], dtype=np.float32, chunks=((2, 2, 2), 3, 224, 224))
    assert np.array_equal(found.compute(), made(photos)["pixel_values"])


def test_compare_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError):
        dmlops.preprocessing(CLIP, backend="pil").compare(cases.photo(60, 80))


def test_differences_are_counted():
    zeros = np.zeros((2, 2), np.float32)
    assert difference(zeros, zeros) == ""
    assert difference(zeros, -zeros).startswith("4 of 4 differ, by up to 0")
    assert "the shape is" in difference(zeros, zeros[:1]) and "the dtype is" in difference(zeros, zeros.astype(int))
    assert difference([zeros], [zeros, zeros]) == "lists of different lengths"


def test_the_command(tmp_path):
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(VIT))
    done = run_python("", args=("-m", "dmlops", "preprocessing", str(tmp_path), "--backend", "pil"))
    assert (done.returncode, done.stderr) == (0, "") and "resized to 224 x 224, bilinear" in done.stdout
    done = run_python("", args=("-m", "dmlops", "preprocessing", str(tmp_path)), check=False)
    assert done.returncode == 1 and "say backend='torchvision' or backend='pil'" in done.stderr
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({"image_processor_type": "RfDetrImageProcessor"}))
    done = run_python("", args=("-m", "dmlops", "preprocessing", str(tmp_path)), check=False)
    assert done.returncode == 1 and done.stderr == f"error: RfDetrImageProcessor: {REFUSED['RfDetrImageProcessor']}\n"


def test_neither_torch_nor_pillow_is_imported():
    call = f"dmlops.preprocessing({VIT}, backend='pil')(np.zeros((9, 9, 3), np.uint8))"
    code = f"import sys, numpy as np, dmlops\n{call}\nprint(*{{'torch', 'PIL', 'transformers'}} & set(sys.modules))"
    done = run_python(code)
    assert (done.returncode, done.stdout.strip()) == (0, "")
