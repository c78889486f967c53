"""Pictures and configurations for the tests of ``dmlops.preprocessing``, made by NumPy alone."""

import hashlib
import json
import os
import pathlib
import zlib

import numpy as np
from dmlops.processors.comparing import as_arrays
from dmlops.processors.configuration import census
from dmlops.processors.rows import ROWS

DIGESTS = pathlib.Path(__file__).parent / "processors" / "digests.json"

# What a class needs to be said to run without OCR, and without means of floats.
NEEDED = {
    "LayoutLMv2ImageProcessor": {"apply_ocr": False},
    "LayoutLMv3ImageProcessor": {"apply_ocr": False},
    "VideoLlama3VideoProcessor": {"use_token_compression": False},
}

# Of the pictures of a call. A picture of one pixel is one of Pillow's, since arrays of 1 x 1 x 3 have channels first.
SIZES = {
    "480x640": [(480, 640)],
    "333x500": [(333, 500)],
    "64x48": [(64, 48)],
    "224x224": [(224, 224)],
    "1x1": [(1, 1)],
    "mixed": [(60, 80), (50, 90), (60, 80)],
}
RECORDED = ("64x48", "224x224", "mixed")  # for `make test`
FRAMES = 3


def photo(height, width, seed=0):
    """Like a photograph: a smooth ground with edges and noise; integers alone, so the same bits everywhere."""
    random = np.random.default_rng([seed, height, width])
    y, x = np.arange(height)[:, None, None], np.arange(width)[None, :, None]
    base, down, right = (random.integers(0, n, 3) for n in (256, 509, 509))
    ground = (base * 64 + y * (down - 254) // 4 + x * (right - 254) // 4) // 64 % 512
    picture = np.where(ground > 255, 511 - ground, ground)
    for _ in range(12):
        top, left = int(random.integers(0, height)), int(random.integers(0, width))
        bottom, end = top + int(random.integers(1, height + 1)), left + int(random.integers(1, width + 1))
        picture[top:bottom, left:end] = (picture[top:bottom, left:end] + random.integers(0, 256, 3)) // 2
    return np.clip(picture + random.integers(-12, 13, (height, width, 3)), 0, 255).astype(np.uint8)


def rows():
    """Each class and backend."""
    classes = census()["classes"]
    return [(name, backend) for name in sorted(ROWS) for backend in classes[name]["backends"]]


def drawn(items, of, key=""):
    """One of so many of these, where DMLOPS_TEST_PROCESSORS is a number, such as the day's: over so many days each; else all.

    `key`: what they belong to, so that each gets others.
    """
    number = os.environ.get("DMLOPS_TEST_PROCESSORS", "all")
    items = list(items)
    return items if number == "all" else items[(int(number) + zlib.crc32(key.encode())) % of :: of]


def is_video(name):
    return name.endswith("VideoProcessor")


def source(name, keys):
    kind = "video_processor_type" if is_video(name) else "image_processor_type"
    return {kind: name, **NEEDED.get(name, {}), **keys}


def photos(name, sizes):
    """Pictures of these sizes, or videos; None where a class cannot be given them alike."""
    if is_video(name):
        if min(map(min, sizes)) < 4:
            return None
        videos = [[photo(*size, seed=10 * k + frame) for frame in range(FRAMES)] for k, size in enumerate(sizes)]
        return [np.stack(video) for video in videos]
    pictures = [photo(*size, seed=k) for k, size in enumerate(sizes)]
    if min(map(min, sizes)) >= 4:
        return pictures
    import PIL.Image

    return [PIL.Image.fromarray(one) for one in pictures]


def digest(results):
    """Of all results: names, shapes, dtypes, bytes."""
    found = hashlib.sha256()
    for name in sorted(results):
        _feed(found, name, as_arrays(results[name]))
    return found.hexdigest()[:16]


def _feed(found, name, value):
    if isinstance(value, list):
        found.update(f"{name} {len(value)};".encode())
        for one in value:
            _feed(found, "", one)
        return
    value = np.ascontiguousarray(value)
    found.update(f"{name} {value.shape} {value.dtype};".encode())
    found.update(value.tobytes())


def recorded():
    return json.loads(DIGESTS.read_text())


# --- other values of keys ---

# What has no effect on pixels, or none that a call with arrays has.
HARMLESS = {
    "default_to_square",
    "device",
    "return_tensors",
    "disable_grouping",
    "data_format",
    "input_data_format",
    "image_seq_length",
    "do_reduce_labels",
    "do_sample_frames",
    "format",
    "do_convert_annotations",
    "class_info_file",
}
SIZE_KEYS = {"size", "crop_size", "pad_size", "high_res_size", "codebook_size", "codebook_crop_size", "max_image_size"}
ALWAYS = {"do_pad", "pad_size", "do_center_crop", "crop_size", "do_resize", "do_normalize", "do_rescale", "size", "resample"}


def changed(name):
    """Configurations that differ from the defaults in one key."""
    row = census()["classes"][name]
    for key in sorted((set(row["values"]) | set(row["keys"]) | ALWAYS) - HARMLESS):
        value = row["values"].get(key)
        for other in alternatives(key, value):
            if other != value:
                more = {"crop_size": {"height": 50, "width": 60}} if key == "do_center_crop" and other else {}
                yield {key: other, **({} if "crop_size" in row["values"] else more)}


def alternatives(key, value):
    if key in SIZE_KEYS:
        return other_sizes(key, value)
    if key.endswith("resample"):
        return [0, 1, 2, 3, 4, 5]
    if key.endswith(("image_mean", "image_std")):
        return [[0.1, 0.2, 0.3], [0.5, 0.25, 0.75], 0.5, None]
    if key.endswith("rescale_factor"):
        return [1 / 127.5, 0.5, 0.017]
    if isinstance(value, bool):
        return [not value, None]
    if value is None:
        return [True, False] if key.startswith(("do_", "return_", "crop_to", "use_")) else [1, 2, 0.5]
    if isinstance(value, int):
        return [value + 1, max(1, value // 2), value * 2, None]
    if isinstance(value, float):
        return [value * 1.1, value * 0.8, None]
    if isinstance(value, dict):
        return [{k: one // 2 for k, one in value.items()}, 28]
    return [[1, 2, 3], [255, 255, 255]] if key == "background_color" else []


def other_sizes(key, value):
    if value is None:
        return [{"height": 100, "width": 120}, {"height": 64, "width": 64}]
    if not isinstance(value, dict):
        return [64, {"height": 100, "width": 90}]
    found = [{k: one * 3 // 4 for k, one in value.items()}, {k: one * 5 // 4 + 3 * (one < 5000) for k, one in value.items()}]
    if set(value) == {"height", "width"}:
        found.append({"height": value["height"] * 3 // 4, "width": value["width"] * 2 // 3})
    if key in ("size", "crop_size"):
        found += [64, [48, 80], {"shortest_edge": 56}, {"height": 40, "width": 72}, {"shortest_edge": 56, "longest_edge": 90}]
        found += [{"max_height": 60, "max_width": 50}, {"longest_edge": 72}]
    return found
