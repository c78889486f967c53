"""The operators that make a block of the result of each block of the input."""

from __future__ import annotations

import functools
import math
import operator
from typing import TYPE_CHECKING, SupportsIndex

import dask.array as da
import numpy as np

from dmlops import operators
from dmlops.dask.arguments import dask_array, in_dask, known, meta, refuse_device_array, reusable, weightless
from dmlops.dask.chunks import aligned, chunked, rechunk
from dmlops.dask.graphs import blockwise, call
from dmlops.entries import lengths_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dmlops._annotations import DeviceLike, Ints, IntSequence, Layout, Lengths, Order

__all__ = ["depth_to_space", "reverse_subsequences", "space_to_depth", "transpose", "upsample"]


def reverse_subsequences(
    input: da.Array | ArrayLike,
    sequence_lengths: da.Array | Lengths,
    axis: SupportsIndex,
    *,
    batch_axis: SupportsIndex | None = None,
    device: DeviceLike | None = None,
) -> da.Array:
    """Reverse the beginning of each sequence along an axis, as `dmlops.reverse_subsequences` does.

    Parameters
    ----------
    input : dask.array.Array or array_like
        `axis` should lie in one chunk; it is rechunked otherwise. The other axes may have any chunks.
    sequence_lengths : dask.array.Array or array_like of int
        As for `dmlops.reverse_subsequences`. Lengths get the chunks of `input`. Those in a Dask array are not computed here:
        a negative one raises ValueError when its block is computed.
    axis, batch_axis, device
        As for `dmlops.reverse_subsequences`.

    Returns
    -------
    dask.array.Array
        Of the shape and dtype of `input`.

    Warns
    -----
    dask.array.PerformanceWarning
        Rechunking makes a chunk larger than ``array.chunk-size`` of Dask's configuration.

    Examples
    --------
    >>> import dask.array as da, numpy as np, dmlops.dask
    >>> x = da.from_array(np.array([[1, 2, 3, 0], [4, 5, 0, 0]]), chunks=(1, 4))
    >>> dmlops.dask.reverse_subsequences(x, [3, 2], axis=1, batch_axis=0).compute()
    array([[3, 2, 1, 0],
           [5, 4, 0, 0]])
    """
    x = dask_array(input)
    lengths = _lengths(sequence_lengths, x, axis, batch_axis)
    along = operator.index(axis) % x.ndim
    x = rechunk("reverse_subsequences", x, aligned(x, {along: x.shape[along]}))
    axes = tuple(range(x.ndim))
    length_axes = axes if batch_axis is None else (operator.index(batch_axis) % x.ndim,)
    # Without batch_axis a size of 1 is broadcast, to empty chunks too.
    broadcast = [batch_axis is None and size == 1 for size in lengths.shape]
    chunks = tuple((1,) if one else x.chunks[k] for k, one in zip(length_axes, broadcast, strict=True))
    lengths = chunked(lengths, chunks)
    arguments = {"axis": along, "batch_axis": None if batch_axis is None else length_axes[0], "device": device}
    return blockwise("reverse_subsequences", x, x.chunks, arguments, lengths, length_axes)


def depth_to_space(
    input: da.Array | ArrayLike,
    block_size: Ints,
    *,
    order: Order = "DCR",
    layout: Layout = "NCHW",
    device: DeviceLike | None = None,
) -> da.Array:
    """Move blocks of channels into the spatial axes, as `dmlops.depth_to_space` does.

    Parameters
    ----------
    input : dask.array.Array or array_like
        Batch and spatial axes may have any chunks. With `order` ``"DCR"`` the channels should lie in one chunk, with ``"CRD"``
        in chunks of multiples of the block sizes' product; they are rechunked otherwise.
    block_size, order, layout, device
        As for `dmlops.depth_to_space`.

    Returns
    -------
    dask.array.Array
        Of the dtype of `input`. A chunk has the block's size times as many elements on each spatial axis.

    Warns
    -----
    dask.array.PerformanceWarning
        Rechunking makes a chunk larger than ``array.chunk-size`` of Dask's configuration.

    Examples
    --------
    >>> import dask.array as da, dmlops.dask
    >>> x = da.zeros((4, 64, 100, 100), chunks=(1, 32, 50, 50))
    >>> dmlops.dask.depth_to_space(x, 4, order="CRD").chunksize
    (1, 2, 200, 200)
    >>> dmlops.dask.depth_to_space(x, 4).chunksize
    (1, 4, 200, 200)
    """
    x = dask_array(input)
    block_size = reusable(block_size)
    operators.depth_to_space(weightless(x.shape), block_size, order=order, layout=layout, device="host")
    channels, blocks = _axes(x, block_size, layout)
    volume = math.prod(blocks.values())
    whole = volume if order == "CRD" or volume == 1 else x.shape[channels]
    x = rechunk("depth_to_space", x, aligned(x, {channels: whole}))
    chunks = [tuple(size * blocks.get(axis, 1) for size in sizes) for axis, sizes in enumerate(x.chunks)]
    chunks[channels] = tuple(size // volume for size in x.chunks[channels])
    arguments = {"block_size": tuple(blocks.values()), "order": order, "layout": layout, "device": device}
    return blockwise("depth_to_space", x, chunks, arguments)


def space_to_depth(
    input: da.Array | ArrayLike,
    block_size: Ints,
    *,
    order: Order = "DCR",
    layout: Layout = "NCHW",
    device: DeviceLike | None = None,
) -> da.Array:
    """Move blocks of the spatial axes into channels, as `dmlops.space_to_depth` does.

    Parameters
    ----------
    input : dask.array.Array or array_like
        Batch axes may have any chunks. Spatial chunks should be multiples of the block size; the borders between others are
        moved to the nearest multiple. With `order` ``"DCR"`` the channels should lie in one chunk, and are rechunked otherwise;
        with ``"CRD"`` they may have any chunks.
    block_size, order, layout, device
        As for `dmlops.space_to_depth`.

    Returns
    -------
    dask.array.Array
        Of the dtype of `input`. A chunk has the block's size times fewer elements on each spatial axis.

    Warns
    -----
    dask.array.PerformanceWarning
        Rechunking makes a chunk larger than ``array.chunk-size`` of Dask's configuration.

    Examples
    --------
    >>> import dask.array as da, dmlops.dask
    >>> x = da.zeros((1, 3, 96, 96), chunks=(1, 3, 50, 46))
    >>> dmlops.dask.space_to_depth(x, 16).chunks
    ((1,), (768,), (3, 3), (3, 3))
    """
    x = dask_array(input)
    block_size = reusable(block_size)
    operators.space_to_depth(weightless(x.shape), block_size, order=order, layout=layout, device="host")
    channels, blocks = _axes(x, block_size, layout)
    volume = math.prod(blocks.values())
    whole = 1 if order == "CRD" or volume == 1 else x.shape[channels]
    x = rechunk("space_to_depth", x, aligned(x, blocks | {channels: whole}))
    chunks = [tuple(size // blocks.get(axis, 1) for size in sizes) for axis, sizes in enumerate(x.chunks)]
    chunks[channels] = tuple(size * volume for size in x.chunks[channels])
    arguments = {"block_size": tuple(blocks.values()), "order": order, "layout": layout, "device": device}
    return blockwise("space_to_depth", x, chunks, arguments)


def transpose(input: da.Array | ArrayLike, axes: IntSequence | None = None, *, device: DeviceLike | None = None) -> da.Array:
    """Copy an array with its axes in another order, as `dmlops.transpose` does.

    Parameters
    ----------
    input : dask.array.Array or array_like
        Any chunks; nothing is rechunked. ``da.transpose`` makes views of the blocks instead, which cost nothing at first.
    axes, device
        As for `dmlops.transpose`.

    Returns
    -------
    dask.array.Array
        Of the dtype of `input`. Axis i has the chunks of axis ``axes[i]`` of `input`.

    Examples
    --------
    >>> import dask.array as da, dmlops.dask
    >>> photographs = da.zeros((16, 480, 640, 3), dtype="uint8", chunks=(4, 480, 320, 3))
    >>> dmlops.dask.transpose(photographs, (0, 3, 1, 2)).chunksize
    (4, 3, 480, 320)
    """
    x = dask_array(input)
    axes = reusable(axes)
    operators.transpose(weightless(x.shape), axes, device="host")
    before = tuple(range(x.ndim))
    order = before[::-1] if axes is None else tuple(operator.index(axis) % x.ndim for axis in axes)
    task = functools.partial(call, "transpose", axes=order, device=device)
    return da.blockwise(task, order, x, before, token="dmlops-transpose", meta=meta(x), dtype=x.dtype)


def upsample(
    input: da.Array | ArrayLike, scale_size: Ints, *, layout: Layout = "NCHW", device: DeviceLike | None = None
) -> da.Array:
    """Repeat each element along the spatial axes, as `dmlops.upsample` does.

    Parameters
    ----------
    input : dask.array.Array or array_like
        Any chunks; nothing is rechunked.
    scale_size, layout, device
        As for `dmlops.upsample`.

    Returns
    -------
    dask.array.Array
        Of the dtype of `input`. A chunk has its factor times as many elements on each spatial axis.

    Examples
    --------
    >>> import dask.array as da, dmlops.dask
    >>> dmlops.dask.upsample(da.zeros((1, 3, 96, 96), chunks=(1, 3, 50, 46)), (2, 3)).chunks
    ((1,), (3,), (100, 92), (138, 138, 12))
    """
    x = dask_array(input)
    scale_size = reusable(scale_size)
    operators.upsample(weightless(x.shape), scale_size, layout=layout, device="host")
    _, factors = _axes(x, scale_size, layout)
    chunks = [tuple(size * factors.get(axis, 1) for size in sizes) for axis, sizes in enumerate(x.chunks)]
    arguments = {"scale_size": tuple(factors.values()), "layout": layout, "device": device}
    return blockwise("upsample", x, chunks, arguments)


def _lengths(lengths: da.Array | Lengths, x: da.Array, axis: SupportsIndex, batch_axis: SupportsIndex | None) -> da.Array:
    """Sequence lengths for `x`, checked as far as they are known."""
    refuse_device_array(lengths)
    if not isinstance(lengths, da.Array):
        operators.reverse_subsequences(weightless(x.shape), lengths, axis, batch_axis=batch_axis, device="host")
        array = None if isinstance(lengths, (list, tuple)) else np.array(lengths)
        return in_dask(array if array is not None and array.dtype.kind in "iu" else lengths_of(lengths, array))
    shape, sizes = list(x.shape), list(known("sequence_lengths", lengths).shape)
    if batch_axis is None and len(sizes) == x.ndim:
        # The check takes an array of lengths. Sizes that fit are made small, since there may be many lengths.
        others = [k for k in range(x.ndim) if axis not in (k, k - x.ndim)]
        small = {k: min(sizes[k], 2) for k in others if sizes[k] == shape[k]}
        shape, sizes = ([small.get(k, size) for k, size in enumerate(both)] for both in (shape, sizes))
    zeros = np.zeros(sizes, lengths.dtype)
    operators.reverse_subsequences(weightless(shape), zeros, axis, batch_axis=batch_axis, device="host")
    return lengths


def _axes(x: da.Array, block_size: Ints, layout: Layout) -> tuple[int, dict[int, int]]:
    """The axis of channels, and the block size of each spatial axis."""
    blocks = [block_size] * (x.ndim - 2) if isinstance(block_size, SupportsIndex) else list(block_size)
    first = x.ndim - len(blocks) - (layout == "NHWC")
    sizes = {first + k: operator.index(block) for k, block in enumerate(blocks)}
    return (x.ndim - 1 if layout == "NHWC" else first - 1), sizes
