"""The operators that cut windows out of an array, or put one into another."""

from __future__ import annotations

import bisect
import functools
import itertools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import dask.array as da
import numpy as np

from dmlops import operators
from dmlops.dask.arguments import dask_array, reusable, weightless
from dmlops.dask.chunks import Chunks, reshaped
from dmlops.dask.graphs import Part, arranged, call
from dmlops.other_forms import window_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dmlops._annotations import DeviceLike, Ints, IntSequence, Key

__all__ = ["cyclic", "roll", "slice", "slice_grad", "slicing", "split", "windows"]


def slice(
    input: da.Array | ArrayLike,
    offsets: IntSequence | Key,
    sizes: IntSequence | None = None,
    strides: IntSequence | None = None,
    *,
    output_sizes: IntSequence | None = None,
    device: DeviceLike | None = None,
) -> da.Array:
    """Copy a window of an array, with a stride on each axis that may be negative, as `dmlops.slice` does.

    Parameters
    ----------
    input : dask.array.Array or array_like
        Any chunks; nothing is rechunked.
    offsets, sizes, strides, output_sizes, device
        As for `dmlops.slice`. A NumPy index may stand in place of `offsets`, `sizes` and `strides`.

    Returns
    -------
    dask.array.Array
        Of the dtype of `input`. Each chunk of `input` becomes what the window takes of it, in reverse order where the stride is
        negative; chunks of which it takes nothing are neither computed nor kept.

    Examples
    --------
    >>> import dask.array as da, numpy as np, dmlops.dask
    >>> x = da.arange(12, chunks=4)
    >>> crop = dmlops.dask.slice(x, np.s_[9:0:-2])
    >>> crop.chunks
    ((1, 2, 2),)
    >>> crop.compute()
    array([9, 7, 5, 3, 1])
    """
    x = dask_array(input)
    window = (offsets, sizes, strides) if sizes is not None else window_of(weightless(x.shape), offsets, strides)
    begins, extents, strides, output_sizes = map(reusable, (*window, output_sizes))
    checked = operators.slice(weightless(x.shape), begins, extents, strides, output_sizes=output_sizes, device="host")
    steps = [1] * x.ndim if strides is None else [operator.index(stride) for stride in strides]
    parts = [
        windows(chunks, operator.index(offset), operator.index(size), step, count)
        for chunks, offset, size, step, count in zip(x.chunks, begins, extents, steps, checked.shape, strict=True)
    ]
    return arranged("slice", x, parts, slicing(steps, device), steps, device)


def split(
    input: da.Array | ArrayLike, axis: SupportsIndex, output_axis_sizes: IntSequence, *, device: DeviceLike | None = None
) -> list[da.Array]:
    """Cut an array into parts along an axis, as `dmlops.split` does.

    Parameters
    ----------
    input : dask.array.Array or array_like
        Any chunks; nothing is rechunked.
    axis, output_axis_sizes, device
        As for `dmlops.split`.

    Returns
    -------
    list of dask.array.Array
        Of the dtype of `input`. Each chunk of `input` becomes what a part takes of it; chunks of which it takes nothing are
        neither computed nor kept.

    Examples
    --------
    >>> import dask.array as da, dmlops.dask
    >>> left, right = dmlops.dask.split(da.arange(12, chunks=4), 0, [6, 6])
    >>> left.chunks, right.compute()
    (((4, 2),), array([ 6,  7,  8,  9, 10, 11]))
    """
    x = dask_array(input)
    output_axis_sizes = reusable(output_axis_sizes)
    operators.split(weightless(x.shape), axis, output_axis_sizes, device="host")
    along, sizes, steps = operator.index(axis) % x.ndim, [operator.index(size) for size in output_axis_sizes], [1] * x.ndim
    results = []
    for end, size in zip(itertools.accumulate(sizes), sizes, strict=True):
        parts = [
            windows(chunks, *((end - size, size) if k == along else (0, whole)))
            for k, (chunks, whole) in enumerate(zip(x.chunks, x.shape, strict=True))
        ]
        results.append(arranged("split", x, parts, slicing(steps, device), device))
    return results


def roll(input: da.Array | ArrayLike, shift: Ints, axis: Ints | None = None, *, device: DeviceLike | None = None) -> da.Array:
    """Shift the elements of an array along axes, round and round, as `dmlops.roll` does.

    Parameters
    ----------
    input : dask.array.Array or array_like
        Any chunks; nothing is rechunked.
    shift, axis, device
        As for `dmlops.roll`. Without an axis, Dask makes one axis of all, and of that the axes of `input` again.

    Returns
    -------
    dask.array.Array
        Of the shape and dtype of `input`. The chunks are those of `input`, shifted: one that leaves in part becomes two.

    Examples
    --------
    >>> import dask.array as da, dmlops.dask
    >>> turned = dmlops.dask.roll(da.arange(12, chunks=4), 2, 0)
    >>> turned.chunks, turned.compute()
    (((2, 4, 4, 2),), array([10, 11,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9]))
    """
    x = dask_array(input)
    shifts, axes = reusable(shift), reusable(axis)
    operators.roll(np.empty((0,) * x.ndim), shifts, axes, device="host")
    if axes is None:
        return reshaped(roll(reshaped(x, (x.size,)), shifts, 0, device=device), x.shape)
    offsets = [0] * x.ndim
    for amount, along in np.broadcast(shifts, axes):
        offsets[along] -= operator.index(amount)
    parts = [cyclic(sizes, offset, size) for sizes, offset, size in zip(x.chunks, offsets, x.shape, strict=True)]
    return arranged("roll", x, parts, slicing([1] * x.ndim, device), device, parts)


def slice_grad(
    gradient: da.Array | ArrayLike,
    output_shape: IntSequence,
    offsets: IntSequence,
    sizes: IntSequence,
    strides: IntSequence | None = None,
    *,
    device: DeviceLike | None = None,
) -> da.Array:
    """Write an array where `slice` would have read it, into zeros, as `dmlops.slice_grad` does.

    Parameters
    ----------
    gradient : dask.array.Array or array_like
        Any chunks; nothing is rechunked.
    output_shape, offsets, sizes, strides, device
        As for `dmlops.slice_grad`.

    Returns
    -------
    dask.array.Array
        Of the dtype of `gradient`. A chunk has the elements of one chunk of `gradient` and the zeros up to the next. The zeros
        outside of the window are in the first and the last chunk.

    Examples
    --------
    >>> import dask.array as da, numpy as np, dmlops.dask
    >>> gradient = da.from_array(np.array([1, 2, 3]), chunks=(2,))
    >>> result = dmlops.dask.slice_grad(gradient, [8], offsets=[1], sizes=[6], strides=[2])
    >>> result.chunks, result.compute()
    (((5, 3),), array([0, 1, 0, 2, 0, 3, 0, 0]))
    """
    x = dask_array(gradient)
    output_shape, offsets, sizes, strides = map(reusable, (output_shape, offsets, sizes, strides))
    checked = operators.slice_grad(weightless(x.shape), output_shape, offsets, sizes, strides, device="host")
    if x.size == 0:
        return da.zeros(checked.shape, dtype=x.dtype, chunks="auto" if checked.size else checked.shape)
    steps = [1] * x.ndim if strides is None else [operator.index(stride) for stride in strides]
    parts = [
        _spread(chunks, operator.index(offset), operator.index(size), step, whole)
        for chunks, offset, size, step, whole in zip(x.chunks, offsets, sizes, steps, checked.shape, strict=True)
    ]

    def task(windows: Sequence[tuple[int, ...]]) -> Any:
        shape, begins, lengths = ([window[k] for window in windows] for k in range(3))
        window = {"output_shape": shape, "offsets": begins, "sizes": lengths, "strides": steps}
        return functools.partial(call, "slice_grad", **window, device=device)

    return arranged("slice_grad", x, parts, task, steps, device)


def _spread(chunks: Chunks, offset: int, size: int, stride: int, whole: int) -> list[Part]:
    """Where the chunks of a gradient lie on an axis of `whole` elements. A window has its length, and where elements are."""
    start = offset if stride > 0 else offset + size - 1
    found = []
    for chunk, end in enumerate(itertools.accumulate(chunks)):
        if chunks[chunk]:
            found.append((*sorted((start + stride * (end - chunks[chunk]), start + stride * (end - 1))), chunk))
    found.sort()
    borders = [0, *(low for low, _, _ in found[1:]), whole]
    return [
        Part(chunk, end - begin, (end - begin, low - begin, high - low + 1))
        for (low, high, chunk), (begin, end) in zip(found, itertools.pairwise(borders), strict=True)
    ]


def slicing(steps: Sequence[int], device: DeviceLike | None) -> Any:
    """What makes a task of the windows of a block on each axis: offsets and sizes."""

    def task(windows: Sequence[tuple[int, ...]]) -> Any:
        offsets, sizes = ([window[k] for window in windows] for k in range(2))
        return functools.partial(call, "slice", offsets=offsets, sizes=sizes, strides=steps, device=device)

    return task


def cyclic(chunks: Chunks, offset: int, size: int) -> list[Part]:
    """The windows of the chunks that a slice takes of an axis whose elements come again and again."""
    whole = max(sum(chunks), 1)
    parts = windows(chunks * -(-(offset % whole + size) // whole), offset % whole, size)
    return [part._replace(chunk=part.chunk % len(chunks)) for part in parts]


def windows(chunks: Chunks, offset: int, size: int, stride: int = 1, count: int | None = None) -> list[Part]:
    """The windows of the chunks that a slice takes anything of, in the result's order: offset and size in each."""
    start = offset if stride > 0 else offset + size - 1
    taken = range(start, start + stride * (size if count is None else count), stride)
    ascending = taken if stride > 0 else taken[::-1]
    found = []
    for chunk, end in enumerate(itertools.accumulate(chunks)):
        begin = end - chunks[chunk]
        part = ascending[bisect.bisect_left(ascending, begin) : bisect.bisect_left(ascending, end)]
        if part:
            found.append(Part(chunk, len(part), (part[0] - begin, part[-1] - part[0] + 1)))
    return found if stride > 0 else found[::-1]
