"""Where onnxruntime does otherwise than ONNX's text: its arithmetic for Resize, and nodes that are left to it.

``OPERATORS`` follows the text, ``ONNXRUNTIME`` onnxruntime on a CPU. A Session uses the latter.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from dmlops.onnx.node import Node
from dmlops.onnx.operator_table import OPERATORS
from dmlops.onnx.resize import resize, upsample

if TYPE_CHECKING:
    from dmlops._annotations import AnyArray, Array

__all__ = ["ONNXRUNTIME"]


class SinglePrecision:
    """The positions of onnxruntime, which computes them in single precision, step by step."""

    scale = staticmethod(np.float32)

    @staticmethod
    def quotient(result: int, size: int) -> np.float32:
        return np.float32(result) / np.float32(size)

    @staticmethod
    def scaled(size: int, scale: np.float32) -> int:
        return int(scale * np.float32(size))

    @staticmethod
    def rounded(size: int, scale: np.float32) -> int:
        return int(np.floor(np.float64(scale * np.float32(size)) + 0.5))

    @staticmethod
    def nearest(mode: str, rounding: str, size: int, result: int, scale: np.float32) -> Array:
        """For each element of the result, the nearest one of the source."""
        one, half = np.float32(1), np.float32(0.5)
        x: Any = np.arange(result).astype(np.float32)
        old, new = np.float32(size), np.float32(result)
        if mode == "asymmetric" or scale == 1:
            x = x / scale
        elif mode == "align_corners":
            x = x * (old - one) / (new - one) if result > 1 else x
        elif mode == "tf_half_pixel_for_nn":
            x = (x + half) / scale
        elif mode == "half_pixel_symmetric":
            offset = old / np.float32(2) * (one - new / (scale * old))
            x = (offset + (x.astype(np.float64) + 0.5) / scale.astype(np.float64) - 0.5).astype(np.float32)
        elif mode == "pytorch_half_pixel" and result <= 1:
            x = np.zeros_like(x)
        else:
            x = (x + half) / scale - half
        if rounding == "floor":
            x = np.floor(x)
        elif rounding == "ceil":
            x = np.ceil(x)
        else:  # a position within 1e-6 of the middle is in the middle, as of onnxruntime 1.32
            exact = x.astype(np.float64)
            x = np.ceil(exact - 0.500001) if rounding == "round_prefer_floor" else np.floor(exact + 0.500001)
        index: Array = x.clip(0, size - 1).astype(np.int64)
        return index


def _resize(node: Node, *operands: Array | None) -> str | None:
    """Under a policy, onnxruntime leaves an axis that is counted from the end as it is."""
    policy = node.attributes.get("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch" and any(axis < 0 for axis in node.attributes.get("axes", ())):
        return "counts axes from the end under an aspect policy, which onnxruntime reads in its own way"
    return None


def _slice(node: Node, starts: Array | None = None, ends: Array | None = None, *others: Array | None) -> str | None:
    """Backwards, onnxruntime takes the largest integers as an end to mean the first element; the text clamps them."""
    steps = others[1] if len(others) > 1 else None
    if len(node.inputs) < 5 or not node.inputs[4] or (steps is not None and (steps >= 0).all()):
        return None
    if steps is None or ends is None or np.isin(ends, [np.iinfo(np.int32).max, np.iinfo(np.int64).max]).any():
        return "may slice backwards to the largest integer, which onnxruntime reads in its own way"
    return None


def _squeeze(node: Node, axes: Array | None = None) -> str | None:
    """With no axis in `axes`, onnxruntime squeezes all of size 1, as it does without `axes`; the text squeezes none."""
    given = axes if len(node.inputs) > 1 and node.inputs[1] else node.attributes.get("axes", ())
    if given is None or (len(given) == 0 and (len(node.inputs) > 1 or "axes" in node.attributes)):
        return "may have no axes, which onnxruntime reads in its own way"
    return None


def _range(node: Node, limit: Array | None = None, delta: Array | None = None) -> str | None:
    """Of floats, onnxruntime adds up; the text multiplies."""
    known = next((one for one in (limit, delta) if one is not None), None)
    return None if known is not None and known.dtype.kind in "iu" else "may be of floats, which onnxruntime adds up"


def _reverse_sequence(node: Node, a: AnyArray, lengths: Array) -> Any:
    """onnxruntime refuses a length beyond the axis, where there is an element."""
    size = a.shape[node.attributes.get("time_axis", 0)]
    if a.size and lengths.size and lengths.max() > size:
        raise ValueError(f"{node} has a sequence length of {lengths.max()}, beyond the {size} elements of the axis")
    return OPERATORS["ReverseSequence"].run(node, a, lengths)


def _one_hot(node: Node, *operands: Array | None) -> str:
    return "reads its indices on the host, where onnxruntime is, too"


ONNXRUNTIME = OPERATORS | {
    "OneHot": dataclasses.replace(OPERATORS["OneHot"], doubt=_one_hot),
    "Range": dataclasses.replace(OPERATORS["Range"], doubt=_range),
    "Resize": dataclasses.replace(OPERATORS["Resize"], run=functools.partial(resize, numbers=SinglePrecision), doubt=_resize),
    "ReverseSequence": dataclasses.replace(OPERATORS["ReverseSequence"], run=_reverse_sequence),
    "Slice": dataclasses.replace(OPERATORS["Slice"], doubt=_slice),
    "Squeeze": dataclasses.replace(OPERATORS["Squeeze"], doubt=_squeeze),
    "Upsample": dataclasses.replace(OPERATORS["Upsample"], run=functools.partial(upsample, numbers=SinglePrecision)),
}
