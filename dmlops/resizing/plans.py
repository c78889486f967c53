"""What calls that resize ask for: arguments, checked, and the steps that do it.

`array` is anything with a shape and a dtype.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dmlops.resizing.arguments import (
    OPENCV,
    PILLOW,
    TORCHVISION,
    box_of,
    check_bytes,
    check_cubic,
    flag_of,
    gap_of,
    has_words,
    image_axes,
    name_of,
    opencv_size,
    shortest_edge,
    size_of,
    version_of,
)
from dmlops.resizing.steps import Step, opencv_steps, pillow_steps, torchvision_steps

__all__ = ["OLDEST_OPENCV", "OLDEST_PILLOW", "ResizePlan", "opencv_plan", "pillow_plan", "torchvision_plan"]

OLDEST_PILLOW, OLDEST_OPENCV = (10, 0), (3, 4)


@dataclass(frozen=True)
class ResizePlan:
    """Images of a shape resized: what by, the axes of height and width, their sizes, and the steps."""

    name: str
    axes: tuple[int, int]
    size: tuple[int, int]
    steps: list[Step]
    channels: tuple[int, ...] = ()  # axes whose items depend on each other, or on how many they are


def _old(array: Any, axes: tuple[int, int]) -> tuple[int, int]:
    return array.shape[axes[0]], array.shape[axes[1]]


def pillow_plan(
    array: Any, mode: str | None, size: Any, resample: Any, box: Any, gap: Any, alpha: Any, axes: Any, version: Any
) -> ResizePlan:
    """`mode` is that of an image of Pillow's."""
    name = name_of(resample, PILLOW, "resample")
    name = "nearest" if mode in ("1", "P") else name
    pair = image_axes(axes, array.shape, 1)
    old = _old(array, pair)
    new, reducing, number = size_of(size), gap_of(gap), version_of(version, OLDEST_PILLOW, "Pillow")
    corners = box_of(box, *old)
    if name != "nearest":
        check_bytes(array, name, "resample='nearest'", "Pillow")
    premultiplies = mode in ("RGBA", "LA") if alpha is None else flag_of(alpha, "alpha")
    if premultiplies and (array.ndim - 1 in pair or array.shape[-1] < 2):
        raise ValueError("alpha needs channels on the last axis: one for alpha, and others")
    steps = pillow_steps(old, new, name, corners, reducing, premultiplies, number, has_words(array))
    return ResizePlan(name, pair, new, steps, (array.ndim - 1,) if premultiplies else ())


def opencv_plan(array: Any, size: Any, interpolation: Any, fx: Any, fy: Any, ipp: Any, axes: Any, version: Any) -> ResizePlan:
    name = name_of(interpolation, OPENCV, "interpolation")
    pair = image_axes(axes, array.shape, 1)
    old = _old(array, pair)
    new, factors = opencv_size(size, fx, fy, old)
    number = version_of(version, OLDEST_OPENCV, "OpenCV")
    if not name.startswith("nearest"):
        check_bytes(array, name, "interpolation='nearest'", "OpenCV")
    behind = tuple(axis for axis in range(pair[1] + 1, array.ndim) if axis != pair[0])
    sizes = [array.shape[axis] for axis in behind]
    if name == "cubic" and new != old:
        check_cubic(sizes, old, math.prod(sizes), ipp)
    steps = opencv_steps(old, new, name, factors, max(math.prod(sizes), 1), number)
    return ResizePlan(name, pair, new, steps, () if name.startswith("nearest") else behind)


def torchvision_plan(array: Any, size: Any, interpolation: Any, antialias: Any, axes: Any) -> ResizePlan:
    name = name_of(interpolation, TORCHVISION, "interpolation")
    pair = image_axes(axes, array.shape, 0)
    old = _old(array, pair)
    new = shortest_edge(size, *old)
    if not name.startswith("nearest"):
        check_bytes(array, name, "interpolation='nearest'", "torchvision")
    if not flag_of(antialias, "antialias") and name == "lanczos":
        raise ValueError("'lanczos' needs antialias=True, as in torchvision")
    return ResizePlan(name, pair, new, torchvision_steps(old, new, name, bool(antialias)))
