"""Resize and Upsample by the nearest element, in every form that ONNX has for it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

import dmlops
from dmlops.onnx.movements import device_of, take
from dmlops.onnx.node import Node, axes_of
from dmlops.operators.nearest import COORDINATES, ROUNDINGS, line, positions, simple_fraction

if TYPE_CHECKING:
    from dmlops._annotations import AnyArray, Array

__all__ = ["NEAREST", "Exact", "resize", "upsample"]

# The attributes' values that choose an element, and do not compute one.
NEAREST = {
    "mode": ("nearest",),
    "antialias": (0,),
    "coordinate_transformation_mode": COORDINATES,
    "nearest_mode": ROUNDINGS,
    "keep_aspect_ratio_policy": ("stretch", "not_larger", "not_smaller"),
}


class Exact:
    """The positions of ONNX's text, in rational numbers."""

    @staticmethod
    def scale(value: float) -> Fraction:
        return simple_fraction(value, single=True)

    @staticmethod
    def quotient(result: int, size: int) -> Fraction:
        return Fraction(result, size)

    @staticmethod
    def scaled(size: int, scale: Fraction) -> int:
        return math.floor(size * scale)

    @staticmethod
    def rounded(size: int, scale: Fraction) -> int:
        return math.floor(size * scale + Fraction(1, 2))

    @staticmethod
    def nearest(mode: str, rounding: str, size: int, result: int, scale: Fraction) -> Array:
        """For each element of the result, the nearest one of the source."""
        return positions(*line(mode, size, result, scale), rounding, size, result)


def resize(node: Node, a: AnyArray, *operands: Array | None, numbers: Any = Exact) -> AnyArray:
    """Run a Resize; `numbers` is ``Exact``, or has other arithmetic in functions of the same names."""
    if node.version > 10:
        operands = operands[1:]  # the region of interest is for modes that are not allowed here
    scales, sizes = (
        (None if operand is None or operand.size == 0 else operand.ravel()) for operand in (*operands, None, None)[:2]
    )
    if scales is not None and sizes is not None:
        raise ValueError("scales and sizes must not both be given")
    axes = axes_of(node, None, a.ndim) or list(range(a.ndim))
    old = [a.shape[axis] for axis in axes]
    for name, given in (("scales", scales), ("sizes", sizes)):
        if given is not None and (given.shape != (len(axes),) or not given.min() >= 0):
            raise ValueError(f"{name} must have an entry for each of {len(axes)} axes, none below 0, not {given.tolist()}")
    if scales is not None:
        if not (np.isfinite(scales) & (scales > 0)).all():
            raise ValueError(f"scales must be above 0 and finite, not {scales.tolist()}")
        factors = [numbers.scale(scale) for scale in scales.tolist()]
        new = [numbers.scaled(size, factor) for size, factor in zip(old, factors, strict=True)]
    elif sizes is not None:
        new = sizes.tolist()
        if any(result and not size for result, size in zip(new, old, strict=True)):
            raise ValueError(f"sizes {old} cannot become {new}: an axis of size 0 has no element")
        factors = [
            numbers.quotient(result, size) if size else numbers.scale(1.0) for result, size in zip(new, old, strict=True)
        ]
        policy = node.attributes.get("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            factors = [(min if policy == "not_larger" else max)(factors)] * len(old)
            new = [numbers.rounded(size, factor) for size, factor in zip(old, factors, strict=True)]
    else:
        raise ValueError("scales or sizes must be given")
    if new == old:
        return a
    mode, rounding = _modes(node)
    whole = [1] * a.ndim
    for axis, size, result, factor in zip(axes, old, new, factors, strict=True):
        if not result:
            a = take(a, np.zeros(0, np.int64), axis)
            continue
        simple = {"": "ceil" if factor < 1 else "floor"}
        index = numbers.nearest(mode, simple.get(rounding, rounding), size, result, factor)
        times = result // size
        if times and np.array_equal(index, np.arange(size * times) // times):
            whole[axis] = times
        else:
            a = take(a, index, axis)
    # To upsample, every axis is a spatial one; the new first axis is that of channels.
    return a if set(whole) <= {1} else dmlops.upsample(a[None], whole, device=device_of(a))[0]


def _modes(node: Node) -> tuple[str, str]:
    """How positions are computed and rounded; before opset 11 that depends on the scale."""
    if node.version <= 10:
        return "asymmetric", ""
    given = node.attributes
    return given.get("coordinate_transformation_mode", "half_pixel"), given.get("nearest_mode", "round_prefer_floor")


def upsample(node: Node, a: AnyArray, scales: Array | None = None, *, numbers: Any = Exact) -> AnyArray:
    if scales is None:
        given = node.attributes
        factors = given["scales"] if node.version > 1 else [1, 1, given["height_scale"], given["width_scale"]]
        scales = np.array(factors, np.float32)
    return resize(node, a, scales, numbers=numbers)
