"""Elements taken at indices from the chunks of an axis."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from dmlops import operators
from dmlops.dask.arguments import dask_array, in_dask, known, refuse_device_array, weightless
from dmlops.dask.chunks import chunked, rechunk, reshaped
from dmlops.dask.graphs import call
from dmlops.entries import integers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dmlops._annotations import Array, DeviceLike, Indices

__all__ = ["take"]


def take(
    input: da.Array | ArrayLike,
    indices: da.Array | Indices,
    axis: SupportsIndex | None = None,
    *,
    batch_dims: SupportsIndex = 0,
    device: DeviceLike | None = None,
) -> da.Array:
    """Take elements, or whole rows, at indices along an axis, as `dmlops.take` does.

    Parameters
    ----------
    input : dask.array.Array or array_like
        Any chunks; nothing is rechunked where `indices` are in memory and `batch_dims` is 0. Otherwise `axis` should lie in one
        chunk; it is rechunked to that.
    indices : int, dask.array.Array or array_like of int
        As for `dmlops.take`. Those in a Dask array are not computed here: one out of range raises IndexError when its block is
        computed.
    axis, batch_dims, device
        As for `dmlops.take`. Without an axis, Dask makes one axis of all.

    Returns
    -------
    dask.array.Array
        Of the dtype of `input`. If `indices` have one axis and point to the chunks in order, as sorted ones do, a chunk along
        their axis is taken of one chunk of `input`. Otherwise it is gathered from several, by a call for each. It has about as
        many elements along `axis` as the largest chunk of `input`, or fewer. Chunks of which nothing is taken are not computed.

    Warns
    -----
    dask.array.PerformanceWarning
        Rechunking makes a chunk larger than ``array.chunk-size`` of Dask's configuration.

    Examples
    --------
    >>> import dask.array as da, numpy as np, dmlops.dask
    >>> x = da.arange(12, chunks=4)
    >>> dmlops.dask.take(x, [0, 3, 6, 9, 10]).chunks
    ((2, 1, 2),)
    >>> dmlops.dask.take(x, [9, 0, -1, 3, 5]).compute()
    array([ 9,  0, 11,  3,  5])
    """
    x = dask_array(input)
    refuse_device_array(indices)
    lazy = isinstance(indices, da.Array)
    index = known("indices", indices) if lazy else np.array(integers(indices))
    given = np.broadcast_to(np.zeros((), index.dtype), index.shape) if lazy else index
    checked = operators.take(weightless(x.shape), given, axis, batch_dims=batch_dims, device="host")
    x, along = (reshaped(x, (x.size,)), 0) if axis is None else (x, operator.index(axis) % x.ndim)
    batch = operator.index(batch_dims)
    if lazy or batch:
        return _beside(x, in_dask(index), along, batch, device)
    if checked.size == 0:
        return da.empty(checked.shape, dtype=x.dtype, chunks=checked.shape)
    index = index.astype(np.int64)
    return _chunkwise(x, np.where(index < 0, index + x.shape[along], index), along, device)


def _chunkwise(x: da.Array, index: Array, axis: int, device: DeviceLike | None) -> da.Array:
    """What indices, none below 0, take of the chunks of an axis."""
    begins = np.cumsum((0, *x.chunks[axis]))
    chunk = np.searchsorted(begins, index, side="right") - 1
    name = f"dmlops-take-{tokenize(x, index, axis, device)}"
    taken = functools.partial(call, "take", axis=axis, device=device)
    pieces: list[Any] = _pieces(chunk, max(x.chunks[axis])) if index.ndim else [...]
    tasks: dict[Any, Any] = {}
    for k, piece in enumerate(pieces):
        here, of, own = index[piece], chunk[piece], (k, *[0] * (index.ndim - 1)) if index.ndim else ()
        needed = np.unique(of).tolist()
        several = len(needed) > 1
        take_of = {n: functools.partial(taken, indices=(here[of == n] if several else here) - begins[n]) for n in needed}
        places = np.empty(of.size, np.int64)  # in what is taken of one chunk after the other
        places[np.argsort(of, axis=None, kind="stable")] = np.arange(of.size)
        assembled = functools.partial(_assembled, axis, places.reshape(of.shape), device)
        for position in np.ndindex(*x.numblocks[:axis], *x.numblocks[axis + 1 :]):
            before, behind = position[:axis], position[axis:]
            place = (*before, *own, *behind)
            parts = [(f"{name}-part", *place, n) if several else (name, *place) for n in needed]
            tasks |= {part: (take_of[n], (x.name, *before, n, *behind)) for part, n in zip(parts, needed, strict=True)}
            if several:
                tasks[(name, *place)] = (assembled, *parts)
    sizes = [tuple(len(chunk[piece]) for piece in pieces), *((size,) for size in index.shape[1:])] if index.ndim else []
    chunks = (*x.chunks[:axis], *sizes, *x.chunks[axis + 1 :])
    like = np.empty((0,) * len(chunks), x.dtype)
    return da.Array(HighLevelGraph.from_collections(name, tasks, [x]), name, chunks, meta=like)


def _pieces(chunk: Array, most: int) -> list[slice]:
    """The indices of each chunk of the result, about `most`, along their first axis. `chunk` is where each points to."""
    is_sorted = chunk.ndim == 1 and (np.diff(chunk) >= 0).all()
    changes = (np.flatnonzero(np.diff(chunk)) + 1).tolist() if is_sorted else []
    each = max(1, most // max(1, math.prod(chunk.shape[1:])))
    runs = itertools.pairwise([0, *changes, len(chunk)])
    return [slice(begin, min(begin + each, end)) for first, end in runs for begin in range(first, end, each)]


def _assembled(axis: int, places: Array, device: DeviceLike | None, *parts: Array) -> Array:
    return operators.take(operators.join(parts, axis, device=device), places, axis, device=device)


def _beside(x: da.Array, index: da.Array, axis: int, batch: int, device: DeviceLike | None) -> da.Array:
    """What each block of indices takes of the blocks beside it; the axis becomes one chunk."""
    x = rechunk("take", x, (*x.chunks[:axis], (x.shape[axis],), *x.chunks[axis + 1 :]))
    index = chunked(index, (*x.chunks[:batch], *index.chunks[batch:]))
    own = range(x.ndim, x.ndim + index.ndim - batch)
    result = (*range(axis), *own, *range(axis + 1, x.ndim))
    task = functools.partial(_of_list, axis, batch, device)
    like = np.empty((0,) * len(result), x.dtype)
    operands = x, range(x.ndim), index, (*range(batch), *own)
    return da.blockwise(task, result, *operands, align_arrays=False, token="dmlops-take", meta=like, dtype=x.dtype)


def _of_list(axis: int, batch: int, device: DeviceLike | None, blocks: list[Array], index: Array) -> Array:
    """A task for blocks along the axis that is no axis of the result: one, or some without elements."""
    block = blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis)
    return call("take", block, indices=index, axis=axis, batch_dims=batch, device=device)
