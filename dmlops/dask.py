"""The operators for `dask.array`: lazy, one dmlops call for each block, on any of Dask's schedulers.

    >>> import dask.array as da, dmlops.dask
    >>> images = da.zeros((64, 3, 1024, 1024), dtype="uint8", chunks=(8, 3, 512, 512))
    >>> patches = dmlops.dask.space_to_depth(images, 16)
    >>> patches
    dask.array<dmlops-space_to_depth, shape=(64, 768, 64, 64), dtype=uint8, chunksize=(8, 768, 32, 32), chunktype=numpy.ndarray>

The functions have the names and the arguments of the package's, without `out`. Arguments are checked at once; what depends on
values in a Dask array is checked when its block is computed. Shape, dtype and chunks of a result are known without computing.

Blocks are NumPy arrays. Device arrays cannot travel between processes, so they are refused. `device` is looked up where a block
is computed: on a cluster each worker uses a device of its own of that name, type or index.

Views need no operator: ``da.transpose``, ``da.moveaxis`` and ``da.swapaxes`` copy nothing.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
import operator
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

import numpy as np

from dmlops import operators
from dmlops._core import DeviceArray

try:
    import dask.array as da
    from dask import config
    from dask.base import tokenize
    from dask.highlevelgraph import HighLevelGraph
    from dask.utils import format_bytes, parse_bytes
except ImportError as error:
    raise ImportError('dmlops.dask needs Dask: pip install "dmlops[dask]"') from error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dmlops._annotations import Array, DeviceLike, Ints, IntSequence, Layout, Lengths, Order

__all__ = ["depth_to_space", "reverse_subsequences", "slice", "space_to_depth"]

_Chunks = tuple[int, ...]  # of one axis


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
    x = _input(input)
    lengths = _lengths(sequence_lengths, x, axis, batch_axis)
    along = operator.index(axis) % x.ndim
    x = _rechunk("reverse_subsequences", x, {along: x.shape[along]})
    axes = tuple(range(x.ndim))
    length_axes = axes if batch_axis is None else (operator.index(batch_axis) % x.ndim,)
    # Without batch_axis a size of 1 is broadcast, to empty chunks too.
    broadcast = [batch_axis is None and size == 1 for size in lengths.shape]
    chunks = tuple((1,) if one else x.chunks[k] for k, one in zip(length_axes, broadcast, strict=True))
    # Dask leaves the chunks of an empty array as they are.
    lengths = lengths.rechunk(chunks) if lengths.size else da.empty(lengths.shape, dtype=lengths.dtype, chunks=chunks)
    arguments = {"axis": along, "batch_axis": None if batch_axis is None else length_axes[0], "device": device}
    return _blockwise("reverse_subsequences", x, x.chunks, arguments, lengths, length_axes)


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
    x = _input(input)
    block_size = _reusable(block_size)
    operators.depth_to_space(_weightless(x.shape), block_size, order=order, layout=layout, device="host")
    channels, blocks = _axes(x, block_size, layout)
    volume = math.prod(blocks.values())
    x = _rechunk("depth_to_space", x, {channels: volume if order == "CRD" or volume == 1 else x.shape[channels]})
    chunks = [tuple(size * blocks.get(axis, 1) for size in sizes) for axis, sizes in enumerate(x.chunks)]
    chunks[channels] = tuple(size // volume for size in x.chunks[channels])
    arguments = {"block_size": tuple(blocks.values()), "order": order, "layout": layout, "device": device}
    return _blockwise("depth_to_space", x, chunks, arguments)


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
    x = _input(input)
    block_size = _reusable(block_size)
    operators.space_to_depth(_weightless(x.shape), block_size, order=order, layout=layout, device="host")
    channels, blocks = _axes(x, block_size, layout)
    volume = math.prod(blocks.values())
    x = _rechunk("space_to_depth", x, blocks | {channels: 1 if order == "CRD" or volume == 1 else x.shape[channels]})
    chunks = [tuple(size // blocks.get(axis, 1) for size in sizes) for axis, sizes in enumerate(x.chunks)]
    chunks[channels] = tuple(size * volume for size in x.chunks[channels])
    arguments = {"block_size": tuple(blocks.values()), "order": order, "layout": layout, "device": device}
    return _blockwise("space_to_depth", x, chunks, arguments)


def slice(
    input: da.Array | ArrayLike,
    offsets: IntSequence,
    sizes: IntSequence,
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
        As for `dmlops.slice`. `dmlops.slice_from_key` makes them of a NumPy index.

    Returns
    -------
    dask.array.Array
        Of the dtype of `input`. Each chunk of `input` becomes what the window takes of it, in reverse order where the stride is
        negative; chunks of which it takes nothing are neither computed nor kept.

    Examples
    --------
    >>> import dask.array as da, numpy as np, dmlops.dask
    >>> x = da.arange(12, chunks=4)
    >>> crop = dmlops.dask.slice(x, *dmlops.slice_from_key(x.shape, np.s_[9:0:-2]))
    >>> crop.chunks
    ((1, 2, 2),)
    >>> crop.compute()
    array([9, 7, 5, 3, 1])
    """
    x = _input(input)
    offsets, sizes, strides, output_sizes = map(_reusable, (offsets, sizes, strides, output_sizes))
    checked = operators.slice(_weightless(x.shape), offsets, sizes, strides, output_sizes=output_sizes, device="host")
    steps = [1] * x.ndim if strides is None else [operator.index(stride) for stride in strides]
    windows = [
        _windows(chunks, operator.index(offset), operator.index(size), step, count)
        for chunks, offset, size, step, count in zip(x.chunks, offsets, sizes, steps, checked.shape, strict=True)
    ]
    chunks = tuple(tuple(window.taken for window in axis) or (0,) for axis in windows)
    if not all(windows):
        return da.empty(checked.shape, dtype=x.dtype, chunks=chunks)
    name = "dmlops-slice-" + tokenize(x, windows, steps, device)
    graph = {}
    for position, parts in zip(np.ndindex(*map(len, windows)), itertools.product(*windows), strict=True):
        window = {"offsets": [part.offset for part in parts], "sizes": [part.size for part in parts], "strides": steps}
        call = functools.partial(_call, "slice", device=device, **window)
        graph[(name, *position)] = (call, (x.name, *(part.chunk for part in parts)))
    return da.Array(HighLevelGraph.from_collections(name, graph, [x]), name, chunks, meta=_meta(x))


class _Window(NamedTuple):
    """What a slice takes of a chunk of an axis: the chunk's number, the window inside of it, the number of elements taken."""

    chunk: int
    offset: int
    size: int
    taken: int


def _windows(chunks: _Chunks, offset: int, size: int, stride: int, count: int) -> list[_Window]:
    """The windows of the chunks that a slice takes anything of, in the result's order."""
    start = offset if stride > 0 else offset + size - 1
    taken = range(start, start + stride * count, stride)
    ascending = taken if stride > 0 else taken[::-1]
    windows = []
    for chunk, end in enumerate(itertools.accumulate(chunks)):
        begin = end - chunks[chunk]
        part = ascending[bisect.bisect_left(ascending, begin) : bisect.bisect_left(ascending, end)]
        if part:
            windows.append(_Window(chunk, part[0] - begin, part[-1] - part[0] + 1, len(part)))
    return windows if stride > 0 else windows[::-1]


def _blockwise(
    name: str, x: da.Array, chunks: Iterable[_Chunks], arguments: dict[str, Any], *lengths: da.Array | tuple[int, ...]
) -> da.Array:
    """One call of the operator `name` for each block of `x`, whose result has the chunk at the same place in `chunks`.

    `lengths` is another array of blocks and the axes of `x` that it runs along.
    """
    call = functools.partial(_call, name, **arguments)
    axes = tuple(range(x.ndim))
    known = {"adjust_chunks": dict(enumerate(chunks)), "meta": _meta(x), "dtype": x.dtype}
    return da.blockwise(call, axes, x, axes, *lengths, align_arrays=False, token=f"dmlops-{name}", **known)


def _call(name: str, *blocks: Any, **arguments: Any) -> Array:
    """What a task runs, in the process of a worker."""
    for block in blocks:
        _refuse_device_array(block)
    result: Array = getattr(operators, name)(*blocks, **arguments)
    return result


def _rechunk(name: str, x: da.Array, multiples: dict[int, int]) -> da.Array:
    """`x` with chunks of multiples of a number on the axes in `multiples`. A warning points at the public function's caller."""
    chunks = tuple(_aligned(sizes, multiples.get(axis, 1)) for axis, sizes in enumerate(x.chunks))
    if chunks == x.chunks:
        return x
    largest = math.prod(map(max, chunks)) * x.dtype.itemsize
    limit = config.get("array.chunk-size")
    if largest > parse_bytes(limit):
        message = f"{name} rechunks its input, and the largest chunk is then {format_bytes(largest)}, more than {limit}"
        advice = "choose smaller chunks on the other axes, or raise array.chunk-size in Dask's configuration"
        warnings.warn(f"{message}: {advice}", da.PerformanceWarning, stacklevel=3)
    return x.rechunk(chunks)


def _aligned(chunks: _Chunks, multiple: int) -> _Chunks:
    """Chunks with each border moved to the nearest multiple: fewer than `multiple` elements move from one to the next."""
    if multiple == 0 or not any(size % multiple for size in chunks):
        return chunks
    borders = sorted({0} | {(end + multiple // 2) // multiple * multiple for end in itertools.accumulate(chunks)})
    return tuple(end - begin for begin, end in itertools.pairwise(borders))


def _input(array: da.Array | ArrayLike) -> da.Array:
    """The argument as a Dask array of plain bytes and known chunks."""
    _refuse_device_array(array)
    if not hasattr(array, "dtype"):
        array = np.asarray(array)
    # The operators refuse dtypes whose elements are not plain bytes.
    operators.slice(np.empty(0, array.dtype), [0], [0], device="host")
    return _known("input", da.asarray(array))


def _known(argument: str, x: da.Array) -> da.Array:
    if any(map(math.isnan, x.shape)):
        raise ValueError(f"{argument} has chunks of unknown size: call its compute_chunk_sizes() first")
    return x


def _lengths(lengths: da.Array | Lengths, x: da.Array, axis: SupportsIndex, batch_axis: SupportsIndex | None) -> da.Array:
    """Sequence lengths for `x`, checked as far as they are known."""
    _refuse_device_array(lengths)
    if not isinstance(lengths, da.Array):
        operators.reverse_subsequences(_weightless(x.shape), lengths, axis, batch_axis=batch_axis, device="host")
        array = np.array(lengths, dtype=getattr(lengths, "dtype", object))
        if array.dtype == object:  # ints of any magnitude
            array = np.minimum(array, x.shape[operator.index(axis)]).astype(np.int64)
        return da.asarray(array)
    shape, sizes = list(x.shape), list(_known("sequence_lengths", lengths).shape)
    if batch_axis is None and len(sizes) == x.ndim:
        # The check takes an array of lengths. Sizes that fit are made small, since there may be many lengths.
        others = [k for k in range(x.ndim) if axis not in (k, k - x.ndim)]
        small = {k: min(sizes[k], 2) for k in others if sizes[k] == shape[k]}
        shape, sizes = ([small.get(k, size) for k, size in enumerate(both)] for both in (shape, sizes))
    zeros = np.zeros(sizes, lengths.dtype)
    operators.reverse_subsequences(_weightless(shape), zeros, axis, batch_axis=batch_axis, device="host")
    return lengths


def _refuse_device_array(array: Any) -> None:
    """Raise TypeError for a device array, and for a Dask array that says its blocks are some."""
    if isinstance(array, DeviceArray) or isinstance(getattr(array, "_meta", None), DeviceArray):
        raise TypeError(
            "device arrays cannot travel between processes: pass NumPy blocks to dmlops.dask, and name the device with device="
        )


def _weightless(shape: Sequence[int]) -> Array:
    """Elements without bytes: an operator checks its arguments and finds the shape of its result, and moves nothing."""
    return np.empty(shape, dtype=[])


def _meta(x: da.Array) -> Array:
    """What Dask knows of the result's blocks: they are plain NumPy arrays."""
    return np.empty((0,) * x.ndim, x.dtype)


def _axes(x: da.Array, block_size: Ints, layout: Layout) -> tuple[int, dict[int, int]]:
    """The axis of channels, and the block size of each spatial axis."""
    blocks = [block_size] * (x.ndim - 2) if isinstance(block_size, SupportsIndex) else list(block_size)
    first = x.ndim - len(blocks) - (layout == "NHWC")
    sizes = {first + k: operator.index(block) for k, block in enumerate(blocks)}
    return (x.ndim - 1 if layout == "NHWC" else first - 1), sizes


def _reusable(argument: Any) -> Any:
    """What can be iterated over twice: the operator's check comes first."""
    return list(argument) if np.iterable(argument) else argument
