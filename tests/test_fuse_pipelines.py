"""Preprocessing as image processors, detectors and recognizers have it, of images that have their final size: one pass each."""

import inspect
import sys

import dmlops
import numpy as np
import pytest

from strategies import content
from support import ROOT

sys.path.append(str(ROOT / "docs"))

import recipes  # noqa: E402
from dmlops.structure import leaves

IMAGENET_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
IMAGENET_STD = np.array([0.229, 0.224, 0.225], np.float32)
CLIP_MEAN = np.array([0.48145466, 0.4578275, 0.40821073], np.float32)
CLIP_STD = np.array([0.26862954, 0.26130258, 0.27577711], np.float32)


def by_channel(numbers, rank=3):
    """Of channels first."""
    return np.asarray(numbers).reshape(-1, *[1] * (rank - 1))


def classifier(image, crop=24):
    """Rescaled in float64 and cast, then normalised: crop, float, channels first."""
    top, left = (image.shape[0] - crop) // 2, (image.shape[1] - crop) // 2
    x = image[top : top + crop, left : left + crop]
    x = (x.astype(np.float64) * (1 / 255)).astype(np.float32)
    x = (x - IMAGENET_MEAN) / IMAGENET_STD
    return np.moveaxis(x, -1, 0)[None]


def fast_classifier(images):
    """Channels first, mean and deviation multiplied by 255 beforehand."""
    x = np.moveaxis(images, -1, 1).astype(np.float32)
    return (x - by_channel(CLIP_MEAN * np.float32(255))) / by_channel(CLIP_STD * np.float32(255))


def tensor_and_normalize(image):
    """A tensor of [0, 1], then normalised."""
    x = np.transpose(image, (2, 0, 1)).astype(np.float32) / np.float32(255)
    return (x - by_channel(IMAGENET_MEAN)) / by_channel(IMAGENET_STD)


def vision_language_patches(frames, patch=4, merge=2):
    """Patches of merged windows, two frames each, a row for each patch."""
    x = (np.moveaxis(frames, -1, 1) / np.float32(255) - by_channel(CLIP_MEAN)) / by_channel(CLIP_STD)
    time, channels, height, width = x.shape
    rows, columns = height // patch, width // patch
    x = x.reshape(time // 2, 2, channels, rows // merge, merge, patch, columns // merge, merge, patch)
    x = x.transpose(0, 3, 6, 4, 7, 2, 1, 5, 8)
    return x.reshape(time // 2 * rows * columns, channels * 2 * patch * patch)


def letterboxed_detector(image, size=48, half=True):
    """Grey around the image, channels swapped and first, [0, 1], perhaps of 16 bits."""
    down, right = size - image.shape[0], size - image.shape[1]
    x = np.pad(image, ((down // 2, down - down // 2), (right // 2, right - right // 2), (0, 0)), constant_values=114)
    x = x[..., ::-1].transpose(2, 0, 1)
    return (x.astype(np.float16 if half else np.float32) / (np.float16(255) if half else np.float32(255)))[None]


def padded_detector(image, size=48):
    """The image at the upper left of a grey one; floats that are not scaled."""
    x = np.full_like(image, 114, shape=(size, size, 3))
    height, width = image.shape[:2]
    lower = np.concatenate([image, x[:height, width:]], 1)
    return np.concatenate([lower, x[height:]], 0).transpose(2, 0, 1).astype(np.float32)


def focus(image):
    """The four phases of every second pixel, as channels."""
    x = np.moveaxis(image, -1, 0)[None] / np.float32(255)
    return np.concatenate([x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]], 1)


def grey_recognizer(line):
    """One channel, around 0."""
    x = line[..., 0].astype(np.float32) / np.float32(255)
    return ((x - np.float32(0.5)) / np.float32(0.5))[None, None]


def text_detector(image):
    """In float64, as numbers of Python make it of integers."""
    x = (image / 255.0 - np.array([0.5, 0.5, 0.5])) / np.array([0.5, 0.5, 0.5])
    return x.transpose(2, 0, 1)[None].astype(np.float32)


def text_recognizer(line, width=100):
    """Around 0, with zeros to the right."""
    x = line.astype(np.float32).transpose(2, 0, 1) / np.float32(255)
    x = (x - np.float32(0.5)) / np.float32(0.5)
    return np.pad(x, ((0, 0), (0, 0), (0, width - x.shape[-1])))[None]


def face_embedding(faces):
    """Channels swapped, around 0 by 127.5."""
    return np.stack([((face[..., ::-1] - np.float32(127.5)) / np.float32(127.5)).transpose(2, 0, 1) for face in faces])


def segmenter(image, size=40):
    """Normalised by 0 to 255, then zeros below and to the right."""
    x = (image.transpose(2, 0, 1) - by_channel(np.float32([123.675, 116.28, 103.53]))) / by_channel(
        np.float32([58.395, 57.12, 57.375])
    )
    return np.pad(x, ((0, 0), (0, size - x.shape[1]), (0, size - x.shape[2])))[None]


def server_client(image, scaling="inception", dtype=np.float16):
    """As a client of an inference server scales."""
    x = image.astype(dtype)
    x = x / dtype(127.5) - dtype(1) if scaling == "inception" else x - np.array([123, 117, 104], dtype)
    return x.transpose(2, 0, 1)


def style_transfer(image):
    """Floats that are not scaled, around which the image is reflected."""
    return np.pad(image.transpose(2, 0, 1)[None].astype(np.float32), ((0, 0), (0, 0), (9, 9), (9, 9)), "reflect")


def blob(images):
    """Centre crop, channels swapped, mean subtracted and scaled."""
    x = np.moveaxis(images[:, 2:-2, 1:-1, ::-1], -1, 1).astype(np.float32)
    return (x - by_channel(np.float32([104, 117, 123]))) * np.float32(0.017)


def crop_mirror_normalize(images, mirror=(True, False)):
    """Some of the images mirrored; floats of 16 bits."""
    x = np.stack([image[:, ::-1] if flip else image for image, flip in zip(images[:, 3:-3, 3:-3], mirror)])
    x = (np.moveaxis(x, -1, 1) - by_channel(np.float32([123.675, 116.28, 103.53]))) / by_channel(np.float32([58.4, 57.1, 57.4]))
    return x.astype(np.float16)


def video(frames):
    """Clips of frames, channels before time."""
    x = (frames / np.float32(255) - np.float32(0.45)) / np.float32(0.225)
    return x[::2].transpose(3, 0, 1, 2)[None]


def super_resolution_tiles(image, tile=12, border=3):
    """Tiles that overlap, the image reflected at its ends."""
    x = np.pad(image, ((border, border), (border, border), (0, 0)), "symmetric")
    tiles = [
        x[row : row + tile + 2 * border, column : column + tile + 2 * border]
        for row in range(0, image.shape[0], tile)
        for column in range(0, image.shape[1], tile)
    ]
    return np.moveaxis(np.stack(tiles), -1, 1) / np.float32(255)


def decoded(values):
    """Quantised values, with a scale and a zero point for each channel."""
    x = (values.astype(np.float32) - by_channel(np.float32([3, -2, 0]))) * by_channel(np.float32([0.1, 0.25, 0.05]))
    return dmlops.depth_to_space(np.concatenate([x[None]] * 4, 1), 2)


def face_detector(image, size=48):
    """The image at the upper left of a black one, channels swapped, around 0 by 128."""
    x = np.pad(image, ((0, size - image.shape[0]), (0, size - image.shape[1]), (0, 0)))
    return ((x[..., ::-1].astype(np.float32) - np.float32(127.5)) / np.float32(128)).transpose(2, 0, 1)[None]


def small_detector(image):
    """Mean and deviation of 0 to 255, of BGR, divided by 255 first."""
    mean, deviation = np.float32([[[103.53, 116.28, 123.675]]]) / 255, np.float32([[[57.375, 57.12, 58.395]]]) / 255
    return ((image.astype(np.float32) / 255 - mean) / deviation).transpose(2, 0, 1)[None]


def half_super_resolution(image):
    """Channels first, [0, 1], in 16 bits by way of 32."""
    return (image.transpose(2, 0, 1)[None].astype(np.float32) / np.float32(255)).astype(np.float16)


def model_with_preprocessing(image, crop=24):
    """As nodes of a model have it: cropped, of int64 sizes, cast, scaled, normalised, a batch axis last."""
    top, left = ((np.array(image.shape[:2]) - crop) // 2).tolist()
    x = image[top : top + crop, left : left + crop].astype(np.float32) * np.float32(0.00392156862745098)
    return np.expand_dims(np.transpose((x - IMAGENET_MEAN) / IMAGENET_STD, (2, 0, 1)), 0)


def mobile(image):
    """Channels swapped, mean subtracted, multiplied by the reciprocals of deviations, rows of floats."""
    x = image[..., ::-1] - np.float32([104, 117, 123])
    return (x * np.float32([0.017, 0.0175, 0.0171])).transpose(2, 0, 1).reshape(3, -1)


def tensor_of_image(image, size=48):
    """Black around the image, mirrored, [-1, 1] by a scale and an offset."""
    down, right = size - image.shape[0], size - image.shape[1]
    x = np.pad(image, ((down // 2, down - down // 2), (right // 2, right - right // 2), (0, 0)))[:, ::-1]
    return (x.astype(np.float32) * np.float32(2 / 255) + np.float32(-1))[None]


def divided_by_the_largest(image, largest):
    """The largest value is found before: it is a constant here."""
    return (image.astype(np.float32) / largest - IMAGENET_MEAN).transpose(2, 0, 1)[None] / by_channel(IMAGENET_STD)


RNG = np.random.default_rng(0)
SMALL = RNG.integers(0, 256, (36, 36, 3), np.uint8)
PIPELINES = {
    classifier: SMALL,
    fast_classifier: RNG.integers(0, 256, (2, 20, 24, 3), np.uint8),
    tensor_and_normalize: SMALL,
    vision_language_patches: RNG.integers(0, 256, (4, 16, 24, 3), np.uint8),
    letterboxed_detector: RNG.integers(0, 256, (30, 48, 3), np.uint8),
    padded_detector: RNG.integers(0, 256, (30, 41, 3), np.uint8),
    focus: SMALL,
    grey_recognizer: RNG.integers(0, 256, (32, 90, 1), np.uint8),
    text_detector: SMALL,
    text_recognizer: RNG.integers(0, 256, (32, 70, 3), np.uint8),
    face_embedding: RNG.integers(0, 256, (3, 28, 28, 3), np.uint8),
    segmenter: RNG.integers(0, 256, (40, 27, 3), np.uint8),
    server_client: SMALL,
    style_transfer: RNG.integers(0, 256, (30, 41, 3), np.uint8),
    blob: RNG.integers(0, 256, (2, 28, 30, 3), np.uint8),
    crop_mirror_normalize: RNG.integers(0, 256, (2, 30, 30, 3), np.uint8),
    video: RNG.integers(0, 256, (8, 18, 20, 3), np.uint8),
    super_resolution_tiles: SMALL,
    face_detector: RNG.integers(0, 256, (30, 41, 3), np.uint8),
    small_detector: SMALL,
    half_super_resolution: SMALL,
    model_with_preprocessing: SMALL,
    mobile: SMALL,
    tensor_of_image: RNG.integers(0, 256, (30, 41, 3), np.uint8),
    decoded: RNG.integers(-128, 128, (3, 8, 10), np.int8),
}


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda pipeline: pipeline.__name__)
def test_pipelines_are_one_pass(device, pipeline):
    array = PIPELINES[pipeline]
    fused = dmlops.fuse(pipeline)
    expected = fused.reference(array)
    result = fused(array, device=device)
    assert result.dtype == expected.dtype and result.shape == expected.shape and content(result) == content(expected)
    assert content(fused(dmlops.asarray(array, device=device)).numpy()) == content(expected)
    proof = fused.prove(array)
    assert proof.passes == 1 and proof.elements == expected.size and proof.entries >= 256


def test_what_is_found_before_is_a_constant(device):
    fused = dmlops.fuse(divided_by_the_largest)
    assert content(fused(SMALL, np.float32(SMALL.max()), device=device)) == content(
        fused.reference(SMALL, np.float32(SMALL.max()))
    )
    assert fused.prove(SMALL, np.float32(200)).passes == 1


# Steps of pipelines that combine elements: they stay outside, and the error says so.
COMBINED = {
    "numpy.max": lambda image: image / image.max(),
    "numpy.matmul": lambda image: image @ np.float32([0.299, 0.587, 0.114]),
    "numpy.add of several traced arrays": lambda image: image[..., 0] * np.float32(0.3) + image[..., 1] * np.float32(0.6),
    "numpy.fft.rfft": lambda image: np.fft.rfft(image[..., 0]),
    "numpy.einsum": lambda image: np.einsum("hwc,c->hw", image, np.ones(3)),
    "assignment to elements": lambda image: np.zeros_like(image, shape=(48, 48, 3)).__setitem__((slice(36), slice(36)), image),
}


@pytest.mark.driverless
@pytest.mark.parametrize("name", COMBINED)
def test_what_combines_elements_is_refused_by_name(name):
    with pytest.raises(TypeError, match=f"^{name}.* cannot be fused: .*test_fuse_pipelines.py"):
        dmlops.fuse(COMBINED[name])(SMALL, device="host")


@pytest.mark.parametrize("recipe", recipes.RECIPES, ids=lambda recipe: recipe.function.__name__)
def test_recipes_are_one_pass(device, recipe):
    arguments = recipe.arguments(8)
    expected, results = leaves(recipe.function.reference(*arguments)), leaves(recipe.function(*arguments, device=device))
    assert [content(one) for one in results] == [content(one) for one in expected]
    assert recipe.function.prove(*arguments).passes == 1


@pytest.mark.parametrize("recipe", recipes.RECIPES, ids=lambda recipe: recipe.function.__name__)
def test_recipes_in_other_libraries_do_the_same(recipe):
    arguments = recipe.arguments(8)
    expected = leaves(recipe.function.reference(*arguments))
    for library, function in recipe.others.items():
        pytest.importorskip({"PyTorch": "torch", "OpenCV": "cv2"}[library])
        results = leaves(function(*arguments))
        assert [one.dtype for one in results] == [one.dtype for one in expected]
        for one, other in zip(results, expected, strict=True):
            assert np.allclose(one, other, rtol=1e-5, atol=1e-5)


def test_recipes_fit_on_a_page():
    for recipe in recipes.RECIPES:
        for function in (recipe.function, *recipe.others.values()):
            source = inspect.getsource(function)
            assert max(map(len, source[source.index("def ") :].splitlines())) <= 90, function.__name__
