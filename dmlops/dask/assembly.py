"""The operators that put blocks together: they repeat blocks, add to those at a border, or rearrange them only."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from dmlops import operators
from dmlops.dask.arguments import dask_array, meta, passed_on, refuse_device_array, reusable, weightless
from dmlops.dask.chunks import Chunks, between, is_large, rechunk
from dmlops.dask.graphs import Part, arranged, blockwise, call
from dmlops.dask.windows import cyclic, slicing
from dmlops.other_forms import mode_of, widths_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dmlops._annotations import DeviceLike, IntSequence, PaddingMode, PadWidths, Scalar

__all__ = ["join", "padding", "tile"]

MOST_CHUNKS = 10**6  # a graph of more takes minutes and gigabytes before anything is computed


def join(inputs: Iterable[da.Array | ArrayLike], axis: SupportsIndex, *, device: DeviceLike | None = None) -> da.Array:
    """Put arrays one after the other along an axis, as `dmlops.join` does.

    Parameters
    ----------
    inputs : sequence of dask.array.Array or of array_like
        As for `dmlops.join`: nothing is converted. Any chunks; where they differ on the other axes, all arrays are cut at the
        borders of each.
    axis
        As for `dmlops.join`.
    device
        Not used, since blocks are only rearranged.

    Returns
    -------
    dask.array.Array
        Of the dtype of `inputs`. Its chunks along `axis` are theirs, one after the other.

    Examples
    --------
    >>> import dask.array as da, dmlops.dask
    >>> parts = [da.zeros((4, 6), chunks=(2, 3)), da.ones((4, 2), chunks=(1, 2))]
    >>> dmlops.dask.join(parts, axis=1).chunks
    ((1, 1, 1, 1), (3, 3, 2))
    """
    refuse_device_array(inputs)
    if isinstance(inputs, da.Array):
        raise TypeError(f"inputs must be a sequence of arrays, not {type(inputs).__name__}")
    inputs = list(inputs) if isinstance(inputs, np.ndarray) and inputs.ndim else reusable(inputs)
    if not isinstance(inputs, list) or not inputs:
        operators.join(inputs, axis, device="host")  # raises
    arrays = [dask_array(array) for array in inputs]
    operators.join([np.empty(0, x.dtype) for x in arrays], 0, device="host")
    checked = operators.join([weightless(x.shape) for x in arrays], axis, device="host")
    along, dtype = operator.index(axis) % checked.ndim, arrays[0].dtype
    full = [x for x in arrays if x.size]
    if not full:
        return da.empty(checked.shape, dtype=dtype, chunks=checked.shape)
    chunks = [_common([x.chunks[k] for x in full]) for k in range(checked.ndim)]
    parts = [x.rechunk((*chunks[:along], x.chunks[along], *chunks[along + 1 :])) for x in full]
    chunks[along] = tuple(itertools.chain.from_iterable(part.chunks[along] for part in parts))
    name = f"dmlops-join-{tokenize(parts, along)}"
    places = [(part, k) for part in parts for k in range(part.numblocks[along])]
    tasks = {}
    for position in np.ndindex(*map(len, chunks)):
        part, k = places[position[along]]
        tasks[(name, *position)] = (passed_on, (part.name, *position[:along], k, *position[along + 1 :]))
    return da.Array(HighLevelGraph.from_collections(name, tasks, parts), name, tuple(chunks), meta=meta(parts[0]))


def _common(chunks: Sequence[Chunks]) -> Chunks:
    """Chunks with the borders of all. Where there is one way only, also empty ones stay."""
    return chunks[0] if len(set(chunks)) == 1 else between({0}.union(*map(itertools.accumulate, chunks)))


def tile(input: da.Array | ArrayLike, repeats: IntSequence, *, device: DeviceLike | None = None) -> da.Array:
    """Repeat a whole array along each axis, as `dmlops.tile` does.

    Parameters
    ----------
    input : dask.array.Array or array_like
        Any chunks; nothing is rechunked.
    repeats, device
        As for `dmlops.tile`.

    Returns
    -------
    dask.array.Array
        Of the dtype of `input`. Along an axis that is one chunk, this is repeated by dmlops and stays one, unless it would be
        larger than ``array.chunk-size`` of Dask's configuration. Otherwise the same chunks come again, without a call.

    Examples
    --------
    >>> import dask.array as da, dmlops.dask
    >>> dmlops.dask.tile(da.zeros((4, 6), chunks=(4, 3)), [2, 3]).chunks
    ((8,), (3, 3, 3, 3, 3, 3))
    """
    x = dask_array(input)
    repeats = reusable(repeats)
    checked = operators.tile(weightless(x.shape), repeats, device="host")
    times = [operator.index(count) for count in repeats]
    if checked.size == 0:
        few = math.prod(len(sizes) * max(1, count) for sizes, count in zip(x.chunks, times, strict=True)) <= MOST_CHUNKS
        chunks = tuple(sizes * count or (0,) for sizes, count in zip(x.chunks, times, strict=True)) if few else checked.shape
        return da.empty(checked.shape, dtype=x.dtype, chunks=chunks)
    inner, nbytes = [1] * x.ndim, math.prod(map(max, x.chunks)) * x.dtype.itemsize
    for axis, count in enumerate(times):
        if len(x.chunks[axis]) == 1 and not is_large(nbytes * count):
            inner[axis], nbytes = count, nbytes * count
    blocks = math.prod(len(sizes) * (count // within) for sizes, count, within in zip(x.chunks, times, inner, strict=True))
    if blocks > MOST_CHUNKS:
        remedy = "give the axis one chunk, raise array.chunk-size in Dask's configuration, or tile twice, by fewer repeats each"
        raise ValueError(f"repeats of {times} make {blocks} chunks, more than {MOST_CHUNKS}: {remedy}")
    if max(inner, default=1) > 1:
        grown = [tuple(size * count for size in sizes) for sizes, count in zip(x.chunks, inner, strict=True)]
        x = blockwise("tile", x, grown, {"repeats": inner, "device": device})
    outer = [count // within for count, within in zip(times, inner, strict=True)]
    if x.ndim and max(outer) == 1:
        return x
    parts = [[Part(k, size) for k, size in enumerate(sizes)] * count for sizes, count in zip(x.chunks, outer, strict=True)]
    return arranged("tile", x, parts, lambda windows: passed_on)


def padding(
    input: da.Array | ArrayLike,
    start_padding: IntSequence | PadWidths,
    end_padding: IntSequence | None = None,
    *,
    mode: PaddingMode = "constant",
    value: Scalar = 0,
    device: DeviceLike | None = None,
) -> da.Array:
    """Add elements before and after an array along each axis, as `dmlops.padding` does.

    Parameters
    ----------
    input : dask.array.Array or array_like
        Any chunks with `mode` ``"constant"`` and ``"wrap"``. What the other modes add comes from the first or the last chunk of
        an axis. These are merged with their neighbours until they are large enough.
    start_padding, end_padding, mode, value, device
        As for `dmlops.padding`.

    Returns
    -------
    dask.array.Array
        Of the dtype of `input`. The first and the last chunk of an axis have what is added; the blocks between them are passed
        on as they are. With `mode` ``"wrap"`` an axis of several chunks gets chunks of its own for that.

    Warns
    -----
    dask.array.PerformanceWarning
        Rechunking makes a chunk larger than ``array.chunk-size`` of Dask's configuration.

    Examples
    --------
    >>> import dask.array as da, dmlops.dask
    >>> x = da.arange(10, chunks=4)
    >>> dmlops.dask.padding(x, [2], [3], mode="reflection").chunks
    ((6, 9),)
    >>> dmlops.dask.padding(x, [2], [3], mode="wrap").compute()
    array([8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2])
    """
    x = dask_array(input)
    widths = (start_padding, end_padding) if end_padding is not None else widths_of(weightless(x.shape), start_padding)
    before, after = map(reusable, widths)
    mode = mode_of(mode)
    checked = operators.padding(weightless(x.shape), before, after, mode=mode, device="host")
    operators.padding(np.empty(0, x.dtype), [0], [0], mode=mode, value=value, device="host")
    value = value.copy() if isinstance(value, np.ndarray) else value
    starts, ends = ([operator.index(count) for count in counts] for counts in (before, after))
    if checked.size == 0:
        return da.empty(checked.shape, dtype=x.dtype, chunks=checked.shape)
    if x.size == 0:  # then there are only constants
        chunks = [sizes if size else (0,) for sizes, size in zip(x.chunks, x.shape, strict=True)]
        x = da.empty(x.shape, dtype=x.dtype, chunks=tuple(chunks))
    elif mode == "wrap":
        x = _wrapped(x, starts, ends, device)
    else:
        x = rechunk("padding", x, [_roomy(*axis, mode) for axis in zip(x.chunks, starts, ends, strict=True)])
    if x.shape == checked.shape:
        return x
    parts = []
    for sizes, start, end in zip(x.chunks, starts, ends, strict=True):
        last = len(sizes) - 1
        grown = [(start if k == 0 else 0, end if k == last else 0) for k in range(len(sizes))]
        parts.append([Part(k, size + sum(added), added) for k, (size, added) in enumerate(zip(sizes, grown, strict=True))])

    def task(windows: Sequence[tuple[int, ...]]) -> Any:
        if not any(map(any, windows)):
            return passed_on
        before, after = ([window[k] for window in windows] for k in range(2))
        amounts = {"start_padding": before, "end_padding": after, "mode": mode, "value": value}
        return functools.partial(call, "padding", **amounts, device=device)

    return arranged("padding", x, parts, task, mode, value, device)


def _roomy(chunks: Chunks, start: int, end: int, mode: str) -> Chunks:
    """Chunks of which the first and the last have all elements that the padding beside them takes."""

    def needed(count: int) -> int:
        return {"edge": 1, "reflection": count + 1, "symmetric": count}.get(mode, 0) if count else 0

    front, back = _enough(chunks, needed(start)), _enough(chunks[::-1], needed(end))
    if front == back == 1:
        return chunks
    if front + back > len(chunks):
        return (sum(chunks),)
    rest = len(chunks) - back
    merged = (sum(chunks[:front]), *chunks[front:rest], sum(chunks[rest:]))
    return tuple(size for size in merged if size)  # Dask need not rechunk to empty chunks


def _enough(chunks: Chunks, needed: int) -> int:
    """How many chunks have the elements that are needed, at least one."""
    for count, elements in enumerate(itertools.accumulate(chunks), 1):
        if elements >= needed:
            return count
    return len(chunks)


def _wrapped(x: da.Array, starts: list[int], ends: list[int], device: DeviceLike | None) -> da.Array:
    """`x` padded on the axes of several chunks: a window of its repetitions. Their entries in `starts` and `ends` become 0."""
    parts, several = [], False
    for axis, (chunks, size) in enumerate(zip(x.chunks, x.shape, strict=True)):
        whole = starts[axis] + size + ends[axis]
        if len(chunks) == 1 or whole == size:
            parts.append([Part(k, each, (0, each)) for k, each in enumerate(chunks)])
            continue
        parts.append(cyclic(chunks, -starts[axis], whole))
        starts[axis], ends[axis], several = 0, 0, True
    return arranged("padding", x, parts, slicing([1] * x.ndim, device), device) if several else x
