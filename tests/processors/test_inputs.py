"""What may be passed: pictures, arrays and tensors of every kind, alone and in lists, as the originals take them."""

import itertools

import dmlops
import numpy as np
import originals
import PIL.Image
import pytest
import torch
from test_originals import differences, outcome

import processor_cases as cases


def photo(height, width, seed):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def pictures():
    random = photo(60, 80, 1)
    picture = PIL.Image.fromarray(random)
    transparent = np.dstack([random, np.linspace(0, 255, 60 * 80).reshape(60, 80).astype(np.uint8)])
    grid = np.stack(np.meshgrid(np.arange(256), np.arange(256)), -1).astype(np.uint8)
    all_of_alpha = np.dstack([grid[..., :1]] * 3 + [grid[..., 1:]])
    palette = picture.convert("P")
    palette.info["transparency"] = 3
    first = random.transpose(2, 0, 1).copy()
    tensor = torch.from_numpy(first.copy())
    lists = {
        "batch": np.stack([random, random]),
        "tensors": torch.stack([tensor, tensor]),
        "two sizes": [random, photo(50, 90, 2)],
        "tuple": (random, picture),
        "nested": [[random], [random, picture]],
        "grey and colours": [random[..., :1], random],
        "batch of grey": random[None, ..., 0][[0, 0]],
    }
    arrays = {
        "array": random,
        "channels first": first,
        "tensor": tensor,
        "tensor, channels last": torch.from_numpy(random),
        "strided": random[::-1, ::2],
        "from BGR": random[..., ::-1],
        "grey": random[..., 0],
        "grey, last": random[..., :1],
        "grey, first": random[None, ..., 0],
        "alpha": transparent,
        "every alpha": all_of_alpha,
        "alpha, first": transparent.transpose(2, 0, 1).copy(),
        "alpha, tensor": torch.from_numpy(all_of_alpha),
        "floats": (random / 255).astype(np.float32),
        "16 bits": random.astype(np.uint16) * 257,
        "booleans": random > 127,
        "two channels": random[..., :2],
        "3 x 3": random[:3, :3],
        "three rows": random[:3],
        "a row": random[:1],
        "four rows": random[:4],
    }
    modes = {mode: picture.convert(mode) for mode in ("RGB", "L", "P", "1", "CMYK", "YCbCr", "HSV")}
    modes |= {"LA": PIL.Image.fromarray(transparent).convert("LA"), "RGBA": PIL.Image.fromarray(transparent)}
    modes |= {"every alpha, RGBA": PIL.Image.fromarray(all_of_alpha), "transparent P": palette}
    return {**lists, **arrays, **modes}


PICTURES = pictures()


@pytest.mark.parametrize("backend", ["pil", "torchvision"])
@pytest.mark.parametrize("name", ["ViT", "CLIP", "Detr", "BridgeTower"])
def test_alpha_that_stays(name, backend):
    keys = {"do_normalize": False, "do_convert_rgb": False}
    source = cases.source(name + "ImageProcessor", keys)
    expected = originals.run(name + "ImageProcessor", backend, keys, PICTURES["alpha"])
    assert not differences(dmlops.preprocessing(source, backend=backend)(PICTURES["alpha"]), expected)


TAKERS = ["ViT", "CLIP", "MobileNetV1", "Qwen2VL", "Idefics3", "LlavaOnevision", "VideoMAE"]


@pytest.mark.parametrize(
    "name, backend, given",
    [(*row, one) for row in itertools.product(TAKERS, ("torchvision", "pil")) for one in cases.drawn(PICTURES, 6, str(row))],
)
def test_inputs_are_taken_as_the_original_takes_them(name, backend, given):
    name += "ImageProcessor"
    expected = outcome(originals.run, name, backend, {}, PICTURES[given])
    found = outcome(dmlops.preprocessing({"image_processor_type": name}, backend=backend), PICTURES[given])
    # The originals fail for some that are taken here, such as torchvision's for strides below zero.
    if not isinstance(expected, Exception) and not isinstance(found, dmlops.UnsupportedError):
        assert not isinstance(found, Exception), found
        if name == "VideoMAEImageProcessor" and given == "nested":  # videos are arrays here, with Pillow lists there
            expected = {key: [np.stack(video) for video in expected[key]] for key in expected}
        assert not differences(found, expected)


FORMS = {
    "none, then one": lambda x, y: [[], [x]],
    "one, then none": lambda x, y: [[x], []],
    "none between": lambda x, y: [[x], [], [y, x]],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("backend", ["pil", "torchvision"])
@pytest.mark.parametrize("name", "CLIP ViT Detr Qwen2VL Sam LlavaNext Donut".split())
def test_empty_lists_have_no_part_in_the_originals_results_either(name, backend, form):
    name, photos = name + "ImageProcessor", FORMS[form](photo(60, 80, 1), photo(50, 90, 2))
    found = dmlops.preprocessing({"image_processor_type": name}, backend=backend)(photos)
    assert not differences(found, originals.run(name, backend, {}, photos))


KEYS = [{"image_std": [0.5, 0, 0.5]}, {"image_std": 0.0}, {"image_std": float("nan")}, {"image_mean": [float("nan"), 0, 0]}]
KEYS += [{**keys, "do_rescale": False} for keys in KEYS] + [{"rescale_factor": 0}, {"rescale_factor": float("nan")}]


@pytest.mark.parametrize("name", ["ViT", "Qwen2VL", "EfficientNet", "Llama4"])
@pytest.mark.parametrize("backend", ["pil", "torchvision"])
def test_deviations_of_zero_and_none_do_what_they_do_in_the_original(name, backend):
    name += "ImageProcessor"
    for keys in KEYS if backend in cases.census()["classes"][name]["backends"] else ():
        expected = outcome(originals.run, name, backend, keys, photo(60, 80, 1))
        found = outcome(lambda keys=keys: dmlops.preprocessing(cases.source(name, keys), backend=backend)(photo(60, 80, 1)))
        if isinstance(found, dmlops.UnsupportedError):
            assert found.class_name == name
        elif isinstance(expected, Exception):
            assert isinstance(found, ValueError), (keys, found)
        else:
            assert not differences(found, expected), keys
