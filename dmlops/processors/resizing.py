"""The resizes of the backends' libraries, and of OpenCV. The one place that calls them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dmlops import _core
from dmlops.operators.tracking import row_of
from dmlops.processors.plans import Array, Resize, Size, Window
from dmlops.resizing.arguments import PILLOW, TORCHVISION, version_of
from dmlops.resizing.plans import OLDEST_PILLOW
from dmlops.resizing.steps import Sums, pillow_steps, torchvision_steps

__all__ = ["bilinear", "resizer"]


def _resize(picture: Array, step: Resize, backend: str, version: str, device: Any) -> Array:
    """A picture (H, W, C) of bytes, as Pillow, torchvision or OpenCV resizes it."""
    import dmlops

    size = step.height, step.width
    if step.filter == "11-bit bilinear":
        return bilinear(picture, *size)
    if step.filter == "opencv linear":
        return np.asarray(dmlops.resize_opencv(picture, size, axes=(0, 1), device=device))
    name: Any = step.filter
    found: Array
    if backend == "torchvision":
        found = dmlops.resize_torchvision(picture, size, name, antialias=step.antialias, axes=(0, 1), device=device)
    else:
        more: Any = {"reducing_gap": step.gap, "alpha": _has_alpha(picture, backend), "axes": (0, 1), "version": version}
        found = dmlops.resize_pillow(picture, size, name, **more, device=device)
    return found


def _has_alpha(picture: Array, backend: str) -> bool:
    """The originals make an image of Pillow's of an array, which is one of mode LA or RGBA if it has so many channels."""
    return backend != "torchvision" and picture.shape[-1] in (2, 4)


def resizer(size: Size, step: Resize, cut: Window | None, backend: str, version: str) -> Callable[[Array, Any], Array]:
    """That resize of pictures of one size, on a device, or a window of it: what depends on sizes alone is found once."""
    steps = _sums_of(size, step, backend, version)
    window = cut or Window(0, 0, step.height, step.width)
    rows, columns = slice(window.top, window.top + window.height), slice(window.left, window.left + window.width)

    def whole(picture: Array, device: Any) -> Any:
        return np.asarray(_resize(picture, step, backend, version, device))[rows, columns]

    if len(steps) != 1 or not isinstance(steps[0], Sums):
        return whole
    resampling, place = steps[0].resampling, (window.top, window.height, window.left, window.width)

    def resized(picture: Array, device: Any) -> Any:
        if _has_alpha(picture, backend):
            return whole(picture, device)
        return _core._resample(picture, resampling, (0, 1), place, None, device, row_of("preprocessing"))

    return resized


def _sums_of(size: Size, step: Resize, backend: str, version: str) -> list[Any]:
    """The steps of a library's resize; none of what is made in another way."""
    new = step.height, step.width
    if backend == "torchvision":
        known = step.filter in TORCHVISION and (step.antialias or step.filter != "lanczos")
        return torchvision_steps(size, new, step.filter, step.antialias) if known else []
    if step.filter not in PILLOW:
        return []
    return pillow_steps(size, new, step.filter, None, step.gap, False, version_of(version, OLDEST_PILLOW, "Pillow"))


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
