"""The picture of a comparison: images side by side. Needs Pillow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

try:
    import PIL.Image
    import PIL.ImageDraw
except ImportError as error:
    raise ImportError("picture=True needs Pillow (pip install pillow), which matplotlib brings too") from error

__all__ = ["draw"]

_HEIGHT = 240  # pixels that small images are enlarged to
_LARGEST = 4096  # pixels that no side of an image exceeds
_MARGIN = 24  # above, for captions, and between images


def draw(panels: dict[str, Any]) -> PIL.Image.Image:
    """Draw images side by side, each below its name."""
    images = {name: _enlarged(_pixels(array)) for name, array in panels.items()}
    width = sum(image.width + _MARGIN for image in images.values()) - _MARGIN
    sheet = PIL.Image.new("RGB", (width, max(image.height for image in images.values()) + _MARGIN), "white")
    left = 0
    for name, image in images.items():
        sheet.paste(image, (left, _MARGIN))
        PIL.ImageDraw.Draw(sheet).text((left, 6), name, "black")
        left += image.width + _MARGIN
    return sheet


def _enlarged(pixels: Any) -> PIL.Image.Image:
    factor = max(1, min(_HEIGHT // pixels.shape[0], _LARGEST // pixels.shape[1]))
    image = PIL.Image.fromarray(pixels)
    return image.resize((image.width * factor, image.height * factor), PIL.Image.Resampling.NEAREST).convert("RGB")


def _pixels(array: Any) -> Any:
    """Bytes of shape (height, width) or (height, width, 3): of the first image of a batch, channels first or last."""
    if array.ndim < 2 or array.size == 0 or array.dtype.kind not in "biuf":
        raise ValueError(f"picture=True needs images: numbers of rank 2 or more, not {array.dtype} of shape {array.shape}")
    image = array[(0,) * (array.ndim - 3)] if array.ndim > 3 else array
    if image.ndim == 3 and image.shape[-1] not in (1, 3, 4):
        image = np.moveaxis(image, 0, -1) if image.shape[0] in (1, 3, 4) else _side_by_side(image)
    image = _bytes(_thinned(image))
    return image if image.ndim == 2 else image[..., 0] if image.shape[-1] == 1 else image[..., :3]


def _side_by_side(channels: Any) -> Any:
    """Many channels: each as a grey image, in rows of about as many as there are rows."""
    count, height, width = channels.shape
    columns = math.ceil(math.sqrt(count))
    rows = math.ceil(count / columns)
    sheet = np.zeros((rows * columns, height, width), channels.dtype)
    sheet[:count] = channels
    return sheet.reshape(rows, columns, height, width).swapaxes(1, 2).reshape(rows * height, columns * width)


def _thinned(image: Any) -> Any:
    """Every so many rows and columns of a large image; what differs in any of those left out stays."""
    for axis in range(2):
        step = math.ceil(image.shape[axis] / _LARGEST)
        if image.dtype == bool:
            image = np.logical_or.reduceat(image, range(0, image.shape[axis], step), axis)
        else:
            image = image[(slice(None),) * axis + (slice(None, None, step),)]
    return image


def _bytes(image: Any) -> Any:
    """Bytes as they are, other numbers from the smallest to the largest."""
    if image.dtype == np.uint8:
        return np.ascontiguousarray(image)
    values = np.nan_to_num(image.astype(np.float64), posinf=0, neginf=0)
    low, high = values.min(), values.max()
    if image.dtype == bool:
        low, high = 0, 1
    return ((values - low) / ((high - low) or 1) * 255).astype(np.uint8)
