"""Where crops begin: the arguments of `crops`, and what NumPy makes of them, which a trace has as one step."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlops.entries import index_array
from dmlops.operators.axes import axes_of, ints_of
from dmlops.refused_arrays import no_array
from dmlops.structure import is_array

__all__ = ["arguments", "cropped", "fitting", "starting"]


def arguments(starts: Any, sizes: Any, flip: Any, axes: Any) -> tuple[Any, tuple[int, ...], Any, tuple[int, ...] | None]:
    """Starts, sizes, flips and axes as arrays and ints. Raises for those of another type."""
    places, mirrored = _starts(starts), None if flip is None else _flip(flip)
    along = None if axes is None else ints_of(axes, "axes")
    extents = ints_of(sizes, "sizes")
    if not np.iterable(sizes):
        extents *= 2 if along is None else len(along)
    return places, extents, mirrored, along


def _array(name: str, value: Any) -> Any:
    if is_array(value):
        return value
    try:
        return index_array(value)
    except (ValueError, TypeError) as cause:
        raise no_array(name, value, cause)


def _starts(value: Any) -> Any:
    array = _array("starts", value)
    if array.dtype.kind not in "iu":
        raise TypeError(f"starts must be of an integer dtype, not {array.dtype}")
    return array


def _flip(value: Any) -> Any:
    array = _array("flip", value)
    if array.dtype != bool and array.size:
        raise TypeError(f"flip must be of dtype bool, not {array.dtype}")
    return array


def fitting(x: Any, starts: Any, sizes: tuple[int, ...], flip: Any, axes: tuple[int, ...] | None) -> tuple[Any, ...]:
    """What `cropped` takes: starts, sizes, flips of each axis, or None, and the axes. Raises for shapes that do not fit."""
    along = _axes(x, sizes, axes)
    if tuple(starts.shape) != (x.shape[0], len(along)):
        raise ValueError(f"starts must have shape {(x.shape[0], len(along))}, a row for each sample; got {starts.shape}")
    if flip is not None:
        shapes = [(x.shape[0],)] * bool(along) + [(x.shape[0], len(along))]
        if tuple(flip.shape) not in shapes:
            raise ValueError(f"flip must have shape {' or '.join(map(str, shapes))}; got {flip.shape}")
        flip = flip[:, None] if flip.ndim == 1 else flip
    return starts, sizes, flip, along


def _axes(x: Any, sizes: tuple[int, ...], axes: tuple[int, ...] | None) -> tuple[int, ...]:
    """The axes to crop, counted from the first. Raises for those that do not fit."""
    if x.ndim == 0:
        raise ValueError("input must have an axis, the first one, of its samples")
    if axes is None and x.ndim < 1 + len(sizes):
        raise ValueError(f"input must be a batch, whose first axis has the samples; it has the shape {tuple(x.shape)}")
    counted = axes_of(tuple(range(1, 1 + len(sizes))) if axes is None else axes, x.ndim)
    if 0 in counted:
        raise ValueError("axes must not name the first axis, which has the samples")
    if len(sizes) != len(counted):
        raise ValueError(f"sizes must have {len(counted)} entries, one for each of the axes; got {len(sizes)}")
    for axis, size in zip(counted, sizes, strict=True):
        if not 0 <= size <= x.shape[axis]:
            raise ValueError(f"sizes must be in [0, {x.shape[axis]}] on axis {axis}; got {size}{_meant(x, counted)}")
    return counted


def _meant(x: Any, axes: tuple[int, ...]) -> str:
    """What else the axes of images may be."""
    if axes == (1, 2) and x.ndim == 4 and x.shape[1] <= 4:
        return f": images with channels first, as of {tuple(x.shape)}, need axes=(2, 3)"
    if axes == (1, 2) and x.ndim == 3 and x.shape[2] <= 4:
        return f": the first axis has the samples, and one image of {tuple(x.shape)} is the batch image[None]"
    return f": they are (height, width), and input has the shape {tuple(x.shape)}" if axes == (1, 2) else ""


def cropped(x: Any, starts: Any, sizes: tuple[int, ...], flip: Any, axes: tuple[int, ...]) -> Any:
    """What NumPy makes of it, sample by sample."""
    shape = [sizes[axes.index(axis)] if axis in axes else size for axis, size in enumerate(x.shape)]
    made = np.empty(shape, x.dtype)
    first = [starting(starts[:, k], axis, sizes[k], x.shape[axis]).tolist() for k, axis in enumerate(axes)]
    for n, sample in enumerate(x):
        key: list[Any] = [slice(None)] * sample.ndim
        for axis, start, size in zip(axes, [column[n] for column in first], sizes, strict=True):
            key[axis - 1] = slice(start, start + size)
        crop = sample[tuple(key)]
        turned = () if flip is None else tuple(axis - 1 for axis, on in zip(axes[-flip.shape[1] :], flip[n], strict=True) if on)
        made[n] = np.flip(crop, turned)
    return made.view(type(x)) if isinstance(x, np.ndarray) else made


cropped.__name__ = "crops"


def starting(values: Any, axis: int, extent: int, size: int) -> Any:
    """Where crops of `extent` begin on an axis of `size`, for each sample. ValueError for one that reaches beyond it."""
    wrong = (values < 0) | (values > size - extent)
    if wrong.any():
        raise ValueError(
            f"a crop of {extent} on axis {axis}, which has size {size}, must start in [0, {size - extent}]; "
            f"starts has {int(values[wrong][0])} for sample {int(np.flatnonzero(wrong)[0])}"
        )
    return values.astype(np.int64)
