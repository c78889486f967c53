"""Recipes of the page "Preprocessing, by model": fused functions with arrays to run them on, and the same in other libraries.

The site shows the source of each function, proves it and measures it; tests/test_fuse_pipelines.py runs each, and compares what
the others return.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

import dmlops

# --- what the recipes share; the page begins with these lines ---
MEAN = np.array([0.485, 0.456, 0.406], np.float32).reshape(3, 1, 1)  # ImageNet's
STD = np.array([0.229, 0.224, 0.225], np.float32).reshape(3, 1, 1)
CLIP_MEAN = np.array([0.48145466, 0.4578275, 0.40821073], np.float32).reshape(3, 1, 1)
CLIP_STD = np.array([0.26862954, 0.26130258, 0.27577711], np.float32).reshape(3, 1, 1)
# ---

RECIPES: list[Recipe] = []


@dataclasses.dataclass
class Recipe:
    """A fused function, and what the page says of it."""

    title: str
    text: str
    arguments: Callable[[int], list]  # for sizes divided by a number that divides 16; 1 is what the page measures
    function: Callable
    others: dict[str, Callable] = dataclasses.field(default_factory=dict)  # by the library's name: NumPy arrays in and out


def recipe(title, text, arguments):
    def add(function):
        RECIPES.append(Recipe(title, text, arguments, function))
        return function

    return add


def also(library):
    """The recipe before it, as another library's users write it."""

    def add(function):
        RECIPES[-1].others[library] = function
        return function

    return add


def photos(*shape):
    return np.random.default_rng(0).integers(0, 256, shape, np.uint8)


# --- classifiers ----------------------------------------------------------------------------------------------------


@recipe(
    "ImageNet classifiers",
    "ResNet, EfficientNet, ConvNeXt, ViT and most others: a crop of the centre, channels first, mean and deviation by channel.",
    lambda scale: [photos(8, 256 // scale, 256 // scale, 3)],
)
@dmlops.fuse
def classifier(images):  # uint8, (N, H, W, 3), RGB
    top, left = images.shape[1] // 16, images.shape[2] // 16
    x = images[:, top:-top, left:-left]
    x = np.moveaxis(x, -1, 1) / np.float32(255)
    return (x - MEAN) / STD


@also("PyTorch")
def classifier_in_torch(images):
    import torch

    top, left = images.shape[1] // 16, images.shape[2] // 16
    x = torch.from_numpy(images)[:, top:-top, left:-left].permute(0, 3, 1, 2)
    x = (x.float() / 255 - torch.from_numpy(MEAN)) / torch.from_numpy(STD)
    return x.contiguous().numpy()


@also("OpenCV")
def classifier_in_opencv(images):
    import cv2

    top, left = images.shape[1] // 16, images.shape[2] // 16
    x = list(images[:, top:-top, left:-left])
    x = cv2.dnn.blobFromImages(x, 1 / 255, mean=(255 * MEAN).ravel().tolist())
    x /= STD
    return x


@recipe(
    "CLIP and ViT patches",
    "Normalised pixels as the rows of a matrix, a row for each patch of 16 x 16: what the first layer multiplies.",
    lambda scale: [photos(8, 224 // scale, 224 // scale, 3), 16 // scale],
)
@dmlops.fuse
def patches(images, size):  # uint8, (N, H, W, 3), RGB
    x = np.moveaxis(images, -1, 1) / np.float32(255)
    x = (x - CLIP_MEAN) / CLIP_STD
    n, channels, height, width = x.shape
    x = x.reshape(n, channels, height // size, size, width // size, size)
    return x.transpose(0, 2, 4, 1, 3, 5).reshape(n, -1, channels * size * size)


@also("PyTorch")
def patches_in_torch(images, size):
    import torch

    x = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
    x = (x - torch.from_numpy(CLIP_MEAN)) / torch.from_numpy(CLIP_STD)
    n, channels, height, width = x.shape
    x = x.reshape(n, channels, height // size, size, width // size, size)
    return x.permute(0, 2, 4, 1, 3, 5).reshape(n, -1, channels * size * size).numpy()


# --- detectors and segmenters ---------------------------------------------------------------------------------------


@recipe(
    "YOLO: letterbox",
    "Grey around a photograph that is not square, RGB of BGR, channels first, [0, 1].",
    lambda scale: [photos(480 // scale, 640 // scale, 3)],
)
@dmlops.fuse
def letterbox(image):  # uint8, (H, W, 3), BGR
    size = max(image.shape)
    down, right = size - image.shape[0], size - image.shape[1]
    widths = ((down // 2, down - down // 2), (right // 2, right - right // 2), (0, 0))
    x = np.pad(image, widths, constant_values=114)
    return x[..., ::-1].transpose(2, 0, 1)[None] / np.float32(255)


@also("PyTorch")
def letterbox_in_torch(image):
    import torch

    size = max(image.shape)
    down, right = size - image.shape[0], size - image.shape[1]
    x = torch.from_numpy(image).permute(2, 0, 1).flip(0)
    widths = (right // 2, right - right // 2, down // 2, down - down // 2)
    x = torch.nn.functional.pad(x, widths, value=114)
    return (x[None].float() / 255).numpy()


@also("OpenCV")
def letterbox_in_opencv(image):
    import cv2

    size = max(image.shape)
    down, right = size - image.shape[0], size - image.shape[1]
    widths = (down // 2, down - down // 2, right // 2, right - right // 2)
    x = cv2.copyMakeBorder(image, *widths, cv2.BORDER_CONSTANT, value=(114, 114, 114))
    return cv2.dnn.blobFromImage(x, 1 / 255, swapRB=True)


@recipe(
    "YOLO: Focus",
    "The four phases of every second pixel become channels, before the first convolution.",
    lambda scale: [photos(640 // scale, 640 // scale, 3)],
)
@dmlops.fuse
def focus(image):  # uint8, (H, W, 3)
    x = image.transpose(2, 0, 1)[None].astype(np.float32)
    phases = [x[..., row::2, column::2] for column in (0, 1) for row in (0, 1)]
    return np.concatenate(phases, axis=1)


@also("PyTorch")
def focus_in_torch(image):
    import torch

    x = torch.from_numpy(image).permute(2, 0, 1)[None].float()
    phases = [x[..., row::2, column::2] for column in (0, 1) for row in (0, 1)]
    return torch.cat(phases, 1).numpy()


@also("OpenCV")
def focus_in_opencv(image):
    import cv2

    x = cv2.dnn.blobFromImage(image)
    phases = [x[..., row::2, column::2] for column in (0, 1) for row in (0, 1)]
    return np.concatenate(phases, axis=1)


@recipe(
    "DETR",
    "Photographs of several sizes in one batch, with a mask of what is photograph. An argument may be a list of arrays, and a "
    "result a dict of them.",
    lambda scale: [[photos(480 // scale, 640 // scale, 3), photos(600 // scale, 400 // scale, 3)]],
)
@dmlops.fuse
def detr(images):  # a list: uint8, (H, W, 3), RGB
    height, width = (max(image.shape[k] for image in images) for k in (0, 1))
    pixels, mask = [], []
    for image in images:
        below, right = height - image.shape[0], width - image.shape[1]
        x = (image.transpose(2, 0, 1) / np.float32(255) - MEAN) / STD
        pixels.append(np.pad(x, ((0, 0), (0, below), (0, right))))
        mask.append(np.pad(np.ones(image.shape[:2], bool), ((0, below), (0, right))))
    return {"pixel_values": np.stack(pixels), "pixel_mask": np.stack(mask)}


@also("PyTorch")
def detr_in_torch(images):
    import torch

    height, width = (max(image.shape[k] for image in images) for k in (0, 1))
    pixels = torch.zeros(len(images), 3, height, width)
    mask = torch.zeros(len(images), height, width, dtype=torch.bool)
    for k, image in enumerate(images):
        x = torch.from_numpy(image).permute(2, 0, 1).float() / 255
        x = (x - torch.from_numpy(MEAN)) / torch.from_numpy(STD)
        pixels[k, :, : image.shape[0], : image.shape[1]] = x
        mask[k, : image.shape[0], : image.shape[1]] = True
    return {"pixel_values": pixels.numpy(), "pixel_mask": mask.numpy()}


@recipe(
    "SAM",
    "Mean and deviation of 0 to 255, then zeros below and to the right: the padding is not normalised.",
    lambda scale: [photos(683 // scale, 1024 // scale, 3)],
)
@dmlops.fuse
def sam(image):  # uint8, (H, W, 3), RGB; the longer side has the size of the model
    mean = np.array([123.675, 116.28, 103.53], np.float32)
    deviation = np.array([58.395, 57.12, 57.375], np.float32)
    x = ((image - mean) / deviation).transpose(2, 0, 1)
    size = max(image.shape)
    return np.pad(x, ((0, 0), (0, size - x.shape[1]), (0, size - x.shape[2])))[None]


@also("PyTorch")
def sam_in_torch(image):
    import torch

    mean = torch.tensor([123.675, 116.28, 103.53])[:, None, None]
    deviation = torch.tensor([58.395, 57.12, 57.375])[:, None, None]
    x = (torch.from_numpy(image).permute(2, 0, 1) - mean) / deviation
    size = max(image.shape)
    widths = (0, size - x.shape[2], 0, size - x.shape[1])
    return torch.nn.functional.pad(x, widths)[None].numpy()


@also("OpenCV")
def sam_in_opencv(image):
    import cv2

    x = cv2.dnn.blobFromImage(image, mean=(123.675, 116.28, 103.53))[0]
    x /= np.array([58.395, 57.12, 57.375], np.float32)[:, None, None]
    size = max(image.shape)
    return np.pad(x, ((0, 0), (0, size - x.shape[1]), (0, size - x.shape[2])))[None]


# --- text -----------------------------------------------------------------------------------------------------------


@recipe(
    "OCR: detection",
    "As PaddleOCR and its relatives compute it: in float64, since `0.5` and `255.0` are numbers of Python and `uint8` is no "
    "float; float32 comes last. A table does not care.",
    lambda scale: [photos(736 // scale, 960 // scale, 3)],
)
@dmlops.fuse
def text_detection(image):  # uint8, (H, W, 3), BGR
    x = (image / 255.0 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    return x.transpose(2, 0, 1)[None].astype(np.float32)


@also("PyTorch")
def text_detection_in_torch(image):
    import torch

    mean = torch.tensor([0.485, 0.456, 0.406], dtype=torch.float64)
    deviation = torch.tensor([0.229, 0.224, 0.225], dtype=torch.float64)
    x = (torch.from_numpy(image).double() / 255 - mean) / deviation
    return x.permute(2, 0, 1)[None].float().contiguous().numpy()


@recipe(
    "OCR: recognition",
    "Lines of text of several widths in one batch, around 0, with zeros behind them.",
    lambda scale: [[photos(48, width // scale, 3) for width in (320, 180, 256, 92)]],
)
@dmlops.fuse
def text_recognition(lines):  # a list: uint8, (48, W, 3), BGR
    width = max(line.shape[1] for line in lines)
    batch = []
    for line in lines:
        x = line.transpose(2, 0, 1).astype(np.float32) / np.float32(255)
        x = (x - np.float32(0.5)) / np.float32(0.5)
        batch.append(np.pad(x, ((0, 0), (0, 0), (0, width - x.shape[2]))))
    return np.stack(batch)


@also("PyTorch")
def text_recognition_in_torch(lines):
    import torch

    width = max(line.shape[1] for line in lines)
    batch = torch.zeros(len(lines), 3, lines[0].shape[0], width)
    for k, line in enumerate(lines):
        x = torch.from_numpy(line).permute(2, 0, 1).float() / 255
        batch[k, ..., : line.shape[1]] = (x - 0.5) / 0.5
    return batch.numpy()


# --- tiles ----------------------------------------------------------------------------------------------------------


@recipe(
    "Super-resolution: tiles",
    "A photograph that is too large for the network becomes tiles that overlap; it is reflected at its ends.",
    lambda scale: [photos(768 // scale, 1024 // scale, 3), 256 // scale],
)
@dmlops.fuse
def tiles(image, size, border=8):  # uint8, (H, W, 3)
    x = np.pad(image, ((border, border), (border, border), (0, 0)), "reflect")
    whole = size + 2 * border
    height, width = image.shape[:2]
    rows = [x[at : at + whole] for at in range(0, height, size)]
    cut = [row[:, at : at + whole] for row in rows for at in range(0, width, size)]
    return np.stack(cut).transpose(0, 3, 1, 2) / np.float32(255)


@also("PyTorch")
def tiles_in_torch(image, size, border=8):
    import torch

    x = torch.from_numpy(image).permute(2, 0, 1)[None].float() / 255
    x = torch.nn.functional.pad(x, (border,) * 4, "reflect")[0]
    x = x.unfold(1, size + 2 * border, size).unfold(2, size + 2 * border, size)
    return x.permute(1, 2, 0, 3, 4).flatten(0, 1).contiguous().numpy()


@recipe(
    "Super-resolution: back again",
    "The network has doubled the tiles. Borders are cut off, and tiles become one photograph. Items of four bytes are moved; "
    "make bytes of them afterwards.",
    lambda scale: [np.random.default_rng(0).random((12, 3, 544 // scale, 544 // scale), np.float32), 4, 16],
)
@dmlops.fuse
def untiled(tiles, columns, border):  # float32, (N, 3, H, W)
    x = tiles[:, :, border:-border, border:-border]
    n, channels, height, width = x.shape
    x = x.reshape(n // columns, columns, channels, height, width).transpose(0, 3, 1, 4, 2)
    return x.reshape(n // columns * height, columns * width, channels)


@also("PyTorch")
def untiled_in_torch(tiles, columns, border):
    import torch

    x = torch.from_numpy(tiles)[:, :, border:-border, border:-border]
    n, channels, height, width = x.shape
    x = x.reshape(n // columns, columns, channels, height, width).permute(0, 3, 1, 4, 2)
    x = x.reshape(n // columns * height, columns * width, channels)
    return x.contiguous().numpy()


# --- sequences ------------------------------------------------------------------------------------------------------


@recipe(
    "Video",
    "Clips for VideoMAE and its relatives: every second frame, normalised, as tubelets of two frames and 16 x 16 pixels.",
    lambda scale: [photos(32, 224 // scale, 224 // scale, 3), 16 // scale],
)
@dmlops.fuse
def tubelets(frames, size):  # uint8, (T, H, W, 3), RGB
    x = (frames[::2] / np.float32(255) - MEAN.ravel()) / STD.ravel()
    time, height, width, channels = x.shape
    x = x.reshape(time // 2, 2, height // size, size, width // size, size, channels)
    x = x.transpose(0, 2, 4, 1, 3, 5, 6)
    return x.reshape(-1, 2 * size * size * channels)


@also("PyTorch")
def tubelets_in_torch(frames, size):
    import torch

    x = torch.from_numpy(frames)[::2].float() / 255
    x = (x - torch.from_numpy(MEAN).ravel()) / torch.from_numpy(STD).ravel()
    time, height, width, channels = x.shape
    x = x.reshape(time // 2, 2, height // size, size, width // size, size, channels)
    return x.permute(0, 2, 4, 1, 3, 5, 6).reshape(-1, 2 * size * size * channels).numpy()


@recipe(
    "Token sequences",
    "A corpus of tokens of 16 bits, as GPT's trainers keep it, becomes windows that overlap by half, and the same one token "
    "further on as labels: what an evaluation reads.",
    lambda scale: [np.random.default_rng(0).integers(0, 50257, 2**17 // scale + 1, np.uint16), 1024 // scale],
)
@dmlops.fuse
def windows(tokens, length):  # uint16, (T,)
    starts = range(0, len(tokens) - length, length // 2)
    inputs = np.stack([tokens[start : start + length] for start in starts])
    labels = np.stack([tokens[start + 1 : start + 1 + length] for start in starts])
    return inputs.astype(np.int64), labels.astype(np.int64)


@also("PyTorch")
def windows_in_torch(tokens, length):
    import torch

    x = torch.from_numpy(tokens.astype(np.int64))
    both = x[:-1].unfold(0, length, length // 2), x[1:].unfold(0, length, length // 2)
    return tuple(one.contiguous().numpy() for one in both)
