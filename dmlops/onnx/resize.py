"""Resize and Upsample by the nearest element, in every form that ONNX has for it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import dmlops
from dmlops.onnx.movements import device_of, runs_of, take
from dmlops.onnx.node import Node, axes_of

if TYPE_CHECKING:
    from dmlops._annotations import AnyArray, Array

__all__ = ["NEAREST", "resize", "upsample"]

# The attributes' values that choose an element, and do not compute one.
NEAREST = {
    "mode": ("nearest",),
    "antialias": (0,),
    "coordinate_transformation_mode": (
        "half_pixel",
        "half_pixel_symmetric",
        "pytorch_half_pixel",
        "align_corners",
        "asymmetric",
        "tf_half_pixel_for_nn",
    ),
    "nearest_mode": ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
    "keep_aspect_ratio_policy": ("stretch", "not_larger", "not_smaller"),
}


def resize(node: Node, a: AnyArray, *operands: Array | None) -> AnyArray:
    if node.version > 10:
        operands = operands[1:]  # the region of interest is for modes that are not allowed here
    scales, sizes = ((None if operand is None or operand.size == 0 else operand) for operand in (*operands, None, None)[:2])
    axes = axes_of(node, None, a.ndim) or list(range(a.ndim))
    old = [a.shape[axis] for axis in axes]
    for name, given in (("scales", scales), ("sizes", sizes)):
        if given is not None and (len(given) != len(axes) or given.min() < 0):
            raise ValueError(f"{name} must have an entry for each of {len(axes)} axes, none below 0, not {given.tolist()}")
    if scales is not None:
        factors = [_factor(float(scale)) for scale in scales]
        new = [math.floor(size * over / under) for size, (over, under) in zip(old, factors, strict=True)]
    elif sizes is not None:
        new = sizes.tolist()
        factors = [(float(result), float(size)) for result, size in zip(new, old, strict=True)]
        policy = node.attributes.get("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            over, under = (min if policy == "not_larger" else max)(factors, key=lambda factor: factor[0] / factor[1])
            factors = [(over, under)] * len(old)
            new = [math.floor(size * over / under + 0.5) for size in old]
    else:
        raise ValueError("scales or sizes must be given")
    if new == old:
        return a
    runs, whole = {}, [1] * a.ndim
    for axis, size, result, factor in zip(axes, old, new, factors, strict=True):
        index = _nearest_index(node, size, result, *factor)
        times = result // size if size else 1
        if times and np.array_equal(index, np.arange(size * times) // times):
            whole[axis] = times
        else:
            runs[axis] = runs_of(index)
    a = take(a, runs) if runs else a
    # To upsample, every axis is a spatial one; the new first axis is that of channels.
    return a if set(whole) <= {1} else dmlops.upsample(a[None], whole, device=device_of(a))[0]


def _factor(scale: float) -> tuple[float, float]:
    """A scale in single precision as a quotient; the inverse of an integer is exact."""
    under = float(round(1 / scale)) if scale > 0 else 0.0
    return (1.0, under) if under and np.float32(1 / under) == np.float32(scale) else (scale, 1.0)


def _nearest_index(node: Node, size: int, result: int, over: float, under: float) -> Array:
    """For each element of the result, the nearest one of the source; the axis is scaled by ``over / under``."""
    x: Any = np.arange(result, dtype=np.float64)
    mode = node.attributes.get("coordinate_transformation_mode", "half_pixel" if node.version > 10 else "asymmetric")
    if mode == "asymmetric" or over == under:
        x = x * under / over
    elif mode == "align_corners":
        x = x * (size - 1) / max(result - 1, 1)
    elif mode == "tf_half_pixel_for_nn":
        x = (x + 0.5) * under / over
    elif mode == "pytorch_half_pixel" and result <= 1:
        x = np.zeros_like(x)
    else:
        shift = size / 2 - result * under / over / 2 if mode == "half_pixel_symmetric" else 0.0
        x = (x + 0.5) * under / over - 0.5 + shift
    rounding = node.attributes.get("nearest_mode", "round_prefer_floor")
    if node.version <= 10:
        rounding = "ceil" if over < under else "floor"
    if rounding == "floor":
        x = np.floor(x)
    elif rounding == "ceil":
        x = np.ceil(x)
    else:
        x = np.ceil(x - 0.5) if rounding == "round_prefer_floor" else np.floor(x + 0.5)
    index: Array = x.astype(np.int64).clip(0, max(size - 1, 0))
    return index


def upsample(node: Node, a: AnyArray, scales: Array | None = None) -> AnyArray:
    if scales is None:
        given = node.attributes
        factors = given["scales"] if node.version > 1 else [1, 1, given["height_scale"], given["width_scale"]]
        scales = np.array(factors, np.float32)
    return resize(node, a, scales)
