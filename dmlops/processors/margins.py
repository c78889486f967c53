"""The margins of a page, which some classes cut off before a picture's size counts."""

from __future__ import annotations

import numpy as np

from dmlops.processors.plans import Array

__all__ = ["trimmed"]

_DARK = 200


def trimmed(picture: Array, backend: str) -> Array:
    """crop_margin: the rows and columns that have something dark, in greys from the darkest to the lightest."""
    grey = _grey_of_pillow(picture) if backend == "pil" else _grey_of_torchvision(picture)
    least, most = grey.min(), grey.max()
    if least == most:
        return picture
    kind = np.float64 if backend == "pil" else np.float32
    dark = (grey - least).astype(kind) / kind(most - least) * kind(255) < _DARK
    rows, columns = np.flatnonzero(dark.any(1)), np.flatnonzero(dark.any(0))
    return picture[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _grey_of_pillow(picture: Array) -> Array:
    red, green, blue = np.moveaxis(picture.astype(np.uint32), -1, 0)
    found: Array = ((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16).astype(np.uint8)
    return found


def _grey_of_torchvision(picture: Array) -> Array:
    """Products are added without being rounded before, as fused operations do."""
    red, green, blue = np.moveaxis(picture.astype(np.float64), -1, 0)
    found: Array = (red * np.float64(np.float32(0.2989))).astype(np.float32)
    for channel, weight in ((green, 0.587), (blue, 0.114)):
        found = (found.astype(np.float64) + channel * np.float64(np.float32(weight))).astype(np.float32)
    return np.asarray(found, np.uint8)
