"""Arguments that have an int for each of several axes, and what is said of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dmlops.errors import shown
from dmlops.slice_keys import index_of

__all__ = ["axes_of", "ints_of", "new_axis", "windows"]


def ints_of(given: Any, name: str) -> tuple[int, ...]:
    """An int, or a sequence of them, as a tuple."""
    if isinstance(given, str | bytes) or not np.iterable(given):
        return (index_of(given, name),)
    return tuple(index_of(entry, f"{name}[{k}]") for k, entry in enumerate(given))


def axes_of(axes: Any, rank: int) -> tuple[int, ...]:
    """The axes that are named, counted from the front, none twice; all where none is."""
    named = tuple(range(rank)) if axes is None else ints_of(axes, "axes")
    for axis in named:
        if not -rank <= axis < rank:
            raise np.exceptions.AxisError(axis, rank, "axes")
    counted = tuple(axis % rank for axis in named)
    if len(set(counted)) < len(counted):
        raise ValueError(f"axes must name each axis once, not {shown(named)}")
    return counted


def _several(given: Any, count: int, name: str) -> tuple[int, ...]:
    """An int of 1 or more for each of `count` axes."""
    entries = ints_of(given, name)
    entries = entries * count if not np.iterable(given) else entries
    if len(entries) != count or min(entries, default=1) < 1:
        raise ValueError(f"{name} must have an int of 1 or more for each of {count} axes, not {shown(given)}")
    return entries


def windows(
    shape: Sequence[int], sizes: Any, axes: Any = None, strides: Any = None, dilations: Any = None
) -> tuple[tuple[int, int, int, int, int], ...]:
    """Of each axis: which, the window's size, stride, dilation, and how many there are."""
    along = axes_of(axes, len(shape))
    counts = len(along)
    each = [_several(1 if one is None else one, counts, name) for one, name in ((strides, "strides"), (dilations, "dilations"))]
    plan = []
    for axis, size, stride, dilation in zip(along, _several(sizes, counts, "sizes"), *each, strict=True):
        span = dilation * (size - 1) + 1
        if span > shape[axis]:
            raise ValueError(f"a window of {span} elements is larger than axis {axis} of size {shape[axis]}")
        plan.append((axis, size, stride, dilation, 1 + (shape[axis] - span) // stride))
    return tuple(plan)


def new_axis(depth: Any, axis: Any, rank: int) -> tuple[int, int]:
    """Its size, and which axis it is of the result's, of which there are `rank`."""
    size, at = index_of(depth, "depth"), index_of(axis, "axis")
    if size < 0:
        raise ValueError(f"depth must be 0 or more, not {size}")
    if not -rank <= at < rank:
        raise np.exceptions.AxisError(at, rank, "axis")
    return size, at % rank
