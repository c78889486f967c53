"""The resizes of the backends' libraries. The one place that calls them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from dmlops.processors.plans import Array, Resize

__all__ = ["bilinear", "resize"]


def resize(picture: Array, step: Resize, backend: str, version: str, device: Any) -> Array:
    """A picture (H, W, C) of bytes, as Pillow or torchvision resizes it."""
    import dmlops

    size = step.height, step.width
    if step.filter == "11-bit bilinear":
        return bilinear(picture, *size)
    name: Any = step.filter
    found: Array
    if backend == "torchvision":
        found = dmlops.resize_torchvision(picture, size, name, antialias=step.antialias, axes=(0, 1), device=device)
    else:
        found = dmlops.resize_pillow(picture, size, name, axes=(0, 1), reducing_gap=step.gap, version=version, device=device)
    return found


def bilinear(picture: Array, height: int, width: int) -> Array:
    """SLANeXtImageProcessor._resize: weights of 11 bits, one sum of four products, rounded once."""
    rows, columns = _taps(picture.shape[0], height), _taps(picture.shape[1], width)
    total: Array = np.zeros((height, width, picture.shape[2]), np.int32)
    for row, down in rows:
        for column, right in columns:
            total += down[:, None, None] * right[None, :, None] * picture[row[:, None], column[None, :]].astype(np.int32)
    return np.asarray(np.clip((total + (1 << 21)) >> 22, 0, 255), np.uint8)


@functools.lru_cache(256)
def _taps(length: int, wanted: int) -> list[tuple[Array, Array]]:
    f = np.float32
    place = (np.arange(wanted, dtype=f) + f(0.5)) * f(float(length) / float(wanted)) - f(0.5)
    first = np.floor(place).astype(np.int32)
    share = np.where(first < 0, f(0), place - first.astype(f))
    first = np.where(first < 0, 0, first)
    share, first = np.where(first >= length - 1, f(1), share), np.where(first >= length - 1, length - 2, first)
    right = np.floor(share * f(2048) + f(0.5)).astype(np.int32)
    return [(first, 2048 - right), (first + 1, right)]
