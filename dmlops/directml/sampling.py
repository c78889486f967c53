"""Resampling by the nearest element, and sliding windows: their rules, and how they run."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import dmlops
from dmlops._annotations import AnyArray
from dmlops.directml import descs
from dmlops.directml.checks import Checks
from dmlops.directml.enums import DML_AXIS_DIRECTION
from dmlops.directml.running import Runner
from dmlops.operators.axes import windows
from dmlops.operators.sampling import fused, stacked

__all__ = ["RULES", "RUNNERS"]


# --- rules --------------------------------------------------------------------------------------------------------------


def _resample(check: Checks, desc: Any) -> None:
    check.nearest(desc.InterpolationMode)
    arrays = ["Scales", *(name for name in ("InputPixelOffsets", "OutputPixelOffsets") if hasattr(desc, name))]
    count = "ScaleCount" if hasattr(desc, "ScaleCount") else "DimensionCount"
    if not check.counts(count, getattr(desc, count), *arrays):
        return
    for name in arrays:
        for axis, value in enumerate(getattr(desc, name)):
            fine = math.isfinite(value) and (name != "Scales" or bool(np.float32(value) > 0))
            allowed = "a finite number" + (" above 0" if name == "Scales" else "")
            check.that(fine, f"{name}[{axis}]", value, allowed)
    for axis, (old, new) in enumerate(zip(desc.InputTensor.Sizes, desc.OutputTensor.Sizes, strict=True)):
        check.that(old > 0 or new == 0, f"OutputTensor.Sizes[{axis}]", new, "0: InputTensor has no element on this axis")


def _unfold(check: Checks, desc: descs.UNFOLD_OPERATOR_DESC) -> None:
    count, rank = desc.DimensionCount, desc.InputTensor.rank
    if not check.that(
        1 <= count == rank - 2, "DimensionCount", count, f"{rank - 2}, the spatial axes of InputTensor, which has {rank}"
    ):
        return
    names = ("WindowSizes", "Strides", "Dilations", "StartPadding", "EndPadding")
    lengths = [len(getattr(desc, name)) for name in names]
    for name, length in zip(names, lengths, strict=True):
        check.that(length == count, f"len({name})", length, f"{count}, the DimensionCount")
    if lengths != [count] * len(names):
        return
    blocks = []
    for axis in range(count):
        for name in names[:3]:
            value = getattr(desc, name)[axis]
            if not check.that(value > 0, f"{name}[{axis}]", value, "1 or more"):
                return
        whole = desc.StartPadding[axis] + desc.InputTensor.Sizes[axis + 2] + desc.EndPadding[axis]
        span = desc.Dilations[axis] * (desc.WindowSizes[axis] - 1) + 1
        field = f"Dilations[{axis}] * (WindowSizes[{axis}] - 1) + 1"
        if not check.that(span <= whole, field, span, f"at most {whole}, the size of the padded axis"):
            return
        blocks.append(1 + (whole - span) // desc.Strides[axis])
    batch, channels = desc.InputTensor.Sizes[:2]
    sizes = (batch, channels * math.prod(desc.WindowSizes), math.prod(blocks))
    check.sizes("OutputTensor", desc.OutputTensor, sizes, "batch, channels times WindowSizes, and how many windows there are")


RULES: dict[str, Callable[[Checks, Any], None]] = {
    "RESAMPLE": _resample,
    "RESAMPLE1": _resample,
    "RESAMPLE2": _resample,
    "RESAMPLE3": _resample,
    "UNFOLD": _unfold,
}


# --- how they run -------------------------------------------------------------------------------------------------------


def _run_resample(desc: Any, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    """FLOATs stand for the quotients of small integers that round to them. RESAMPLE and RESAMPLE1 round halves up."""
    offsets = [
        tuple(map(np.float32, getattr(desc, name, [half] * desc.InputTensor.rank)))
        for name, half in (("InputPixelOffsets", 0.5), ("OutputPixelOffsets", -0.5))
    ]
    rounding: Any = "round_prefer_ceil"
    if hasattr(desc, "RoundingDirection"):
        rounding = "ceil" if desc.RoundingDirection == DML_AXIS_DIRECTION.INCREASING else "floor"
    result: AnyArray = dmlops.resize_nearest(
        bound["InputTensor"],
        desc.OutputTensor.Sizes,
        scales=tuple(map(np.float32, desc.Scales)),
        coordinates=(offsets[0], offsets[1]),
        rounding=rounding,
        **where,
    )
    return result


def _columns(x: Any, widths: Any, sizes: Any, strides: Any, dilations: Any) -> Any:
    before, after = ((0, 0, *each) for each in widths)
    x = dmlops.padding(x, before, after)
    axes = range(2, x.ndim)
    batch, channels = x.shape[:2]
    plan = windows(x.shape, sizes, axes, strides, dilations)
    count = math.prod(each[-1] for each in plan)
    x = stacked(x, plan)
    x = np.moveaxis(x, tuple(axes), tuple(range(-len(plan), 0)))
    return np.reshape(x, (batch, channels * math.prod(sizes), count))


_columns.__name__ = "unfold"


def _run_unfold(desc: descs.UNFOLD_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    widths = tuple(desc.StartPadding), tuple(desc.EndPadding)
    arguments = (tuple(each) for each in (desc.WindowSizes, desc.Strides, desc.Dilations))
    result: AnyArray = fused(_columns)(bound["InputTensor"], widths, *arguments, **where)
    return result


RUNNERS: dict[str, Runner] = {
    "RESAMPLE": _run_resample,
    "RESAMPLE1": _run_resample,
    "RESAMPLE2": _run_resample,
    "RESAMPLE3": _run_resample,
    "UNFOLD": _run_unfold,
}
