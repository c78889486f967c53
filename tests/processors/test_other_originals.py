"""timm, open_clip and torchvision's own transforms, against what ``dmlops.preprocessing`` makes of their configurations."""

import dataclasses
import json

import dmlops
import numpy as np
import originals  # noqa: F401  torchvision works beside a CPU torch
import open_clip.transform
import PIL.Image
import pytest
import timm.data
import torch
from timm.data.transforms_factory import create_transform
from torchvision import transforms as v1
from torchvision.transforms import InterpolationMode, v2
from torchvision.transforms._presets import ImageClassification, ObjectDetection, SemanticSegmentation

SIZES = [(480, 640), (333, 500), (64, 48), (224, 224), (600, 601), (1, 1), (37, 400)]
TIMM = [
    {"input_size": (3, 224, 224), "crop_pct": 0.875, "interpolation": "bilinear"},
    {"input_size": (3, 224, 224), "crop_pct": 0.95},
    {"input_size": (3, 192, 256), "crop_pct": 0.9, "interpolation": "lanczos"},
    {"input_size": (3, 224, 224), "crop_pct": 0.9, "crop_mode": "squash"},
    {"input_size": (3, 224, 224), "crop_pct": 1.0, "crop_mode": "border", "mean": (0.5, 0.5, 0.5), "std": (0.5, 0.4, 0.3)},
    {"input_size": (3, 240, 200), "crop_pct": 0.8, "crop_mode": "border"},
    {"input_size": (3, 128, 128), "interpolation": "nearest"},
    {"architecture": "vit"},
]
OPEN_CLIP = [
    {},
    {"resize_mode": "longest", "fill_color": 7},
    {"resize_mode": "squash", "interpolation": "bilinear"},
    {"size": (224, 288)},
    {"size": (200, 300), "resize_mode": "longest"},
]
HALF = [0.5, 0.5, 0.5]
OF_PICTURES = [
    ImageClassification(crop_size=224),
    ImageClassification(crop_size=384, resize_size=384, interpolation=InterpolationMode.BICUBIC),
    SemanticSegmentation(resize_size=300),
    ObjectDetection(),
    v1.Compose([v1.Resize(100), v1.CenterCrop((90, 120)), v1.ToTensor(), v1.Normalize(HALF, HALF)]),
    v1.Compose([v1.Resize((50, 60)), v1.PILToTensor(), v1.ConvertImageDtype(torch.float32)]),
    v2.Compose(
        [
            v2.Resize(100),
            v2.CenterCrop((90, 120)),
            v2.ToImage(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(HALF, HALF),
        ]
    ),
]
OF_TENSORS = [
    v2.Compose(
        [
            v2.ToImage(),
            v2.Resize(100),
            v2.CenterCrop((90, 120)),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(HALF, HALF),
        ]
    ),
    v2.Compose([v2.Resize((224, 224), interpolation=InterpolationMode.BICUBIC), v2.ToDtype(torch.float32, scale=True)]),
    v2.Compose([v2.Resize((224, 224), antialias=False), v2.ToDtype(torch.float32, scale=False)]),
]


def photo(size):
    return np.random.default_rng(size).integers(0, 256, (*size, 3), np.uint8)


def check(source, transform, picture, backend=None):
    try:
        expected = transform(picture).numpy()
    except Exception:  # a crop that is larger than the picture, to some
        return
    found = dmlops.preprocessing(source, backend=backend)(picture)["pixel_values"][0]
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("configuration", TIMM, ids=str)
def test_timm(configuration, size):
    resolved = timm.data.resolve_data_config(pretrained_cfg=configuration)
    transform = create_transform(**resolved)
    picture = PIL.Image.fromarray(photo(size))
    check({"pretrained_cfg": configuration}, transform, picture)
    check(transform, transform, picture, "pil")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("configuration", OPEN_CLIP, ids=str)
def test_open_clip(configuration, size):
    made = open_clip.transform.PreprocessCfg(**configuration)
    transform = open_clip.transform.image_transform_v2(made, False)
    picture = PIL.Image.fromarray(photo(size))
    check({"preprocess_cfg": json.loads(json.dumps(dataclasses.asdict(made)))}, transform, picture)
    check(transform, transform, picture, "pil")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("transform", OF_PICTURES, ids=range(len(OF_PICTURES)))
def test_torchvision_of_pictures(transform, size):
    check(transform, transform, PIL.Image.fromarray(photo(size)), "pil")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("transform", OF_TENSORS, ids=range(len(OF_TENSORS)))
def test_torchvision_of_tensors(transform, size):
    tensor = torch.from_numpy(photo(size).transpose(2, 0, 1).copy())
    check(transform, transform, tensor, "torchvision")
