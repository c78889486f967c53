"""How the steps of resizing run: each by an operator, or by a resampling of the extension."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from dmlops import _core
from dmlops._core import DeviceArray
from dmlops.operators.gathers import gather_nd
from dmlops.operators.nearest import steps_along
from dmlops.operators.parts import join
from dmlops.operators.sampling import fused, selected, taken
from dmlops.operators.tracking import PART, how
from dmlops.operators.windows import slice as window_of
from dmlops.resizing.plans import ResizePlan
from dmlops.resizing.steps import Alpha, Indices, Step, Window, window_view
from dmlops.structure import is_recorded

__all__ = ["run"]


def run(name: str, array: Any, plan: ResizePlan, out: Any, device: Any, progress: Any) -> Any:
    """Steps one after the other; the last one makes the result."""
    axes, steps = plan.axes, plan.steps or [Window((0, 0), plan.size)]
    for step in steps[:-1]:
        if isinstance(step, Window):
            array = window_view(array, axes, step.begin, step.size)
        else:
            array = made("", array, step, axes, None, device, None)
    return made(name, array, steps[-1], axes, out, device, progress)


def made(name: str, array: Any, step: Step, axes: tuple[int, int], out: Any, device: Any, progress: Any) -> Any:
    """What a step makes; without a name a part of a call."""
    if isinstance(step, Window):
        offsets, sizes = [0] * array.ndim, list(array.shape)
        for axis, begin, size in zip(axes, step.begin, step.size, strict=True):
            offsets[axis], sizes[axis] = begin, size
        return window_of(array, offsets, sizes, out=out, device=device, progress=progress)
    if isinstance(step, Indices):
        if is_recorded(array):
            return np.take(np.take(array, step.rows, axes[0]), step.columns, axes[1])
        left: Any = steps_along(array.shape, dict(zip(axes, (step.rows, step.columns), strict=True)))
        array, left = taken(name, array, left, out, device, progress)
        if left is None:
            return array
        return fused(selected, name or "resize_nearest")(array, left, out=out, device=device, progress=progress)
    if isinstance(step, Alpha):
        return with_alpha(array, step.multiplies, out, device, progress)
    window = 0, step.size[0], 0, step.size[1]
    return _core._resample(array, step.resampling, axes, window, out, device, how(name, progress) if name else PART)


@functools.cache
def alpha_table(multiplies: bool) -> Any:
    """What becomes of a channel: table[alpha, channel]."""
    channel, alpha = np.arange(256), np.arange(256)[:, None]
    if multiplies:
        product = channel * alpha + 128
        return ((product + (product >> 8)) >> 8).astype(np.uint8)
    quotient = np.minimum(255 * channel // np.maximum(alpha, 1), 255)
    return np.where((alpha == 0) | (alpha == 255), channel, quotient).astype(np.uint8)


def with_alpha(array: Any, multiplies: bool, out: Any, device: Any, progress: Any) -> Any:
    """On a device, alpha and each other channel are indices of a table."""
    if is_recorded(array):
        from dmlops.fusion.traced import refuse

        refuse("resizing with alpha, which multiplies channels by another one", "resize before the fused function")
    if not isinstance(array, DeviceArray):
        made = _core._with_alpha(array, multiplies)
        given = out is not None or progress is not None
        return window_of(made, [0] * made.ndim, made.shape, out=out, device=device, progress=progress) if given else made
    channels, alpha = array[..., :-1], array[..., -1:]
    device = array.device if device is None else device
    repeated = alpha.repeat(channels.shape[-1], -1)
    pairs = join([repeated[..., None], channels[..., None]], array.ndim, device=device)
    channels = gather_nd(_core._asarray(alpha_table(multiplies), None, device, None), pairs, device=device)
    return join([channels, alpha], -1, out=out, device=device, progress=progress)
