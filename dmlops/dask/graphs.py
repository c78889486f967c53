"""Graphs: calls of operators for the blocks of an array, and chunks that align with what an operator does."""

from __future__ import annotations

import functools
import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import dask.array as da
import numpy as np
from dask import config
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph
from dask.utils import format_bytes, parse_bytes

from dmlops import operators
from dmlops.dask.arguments import meta, refuse_device_array

if TYPE_CHECKING:
    from dmlops._annotations import Array

__all__ = [
    "Chunks",
    "Part",
    "aligned",
    "arranged",
    "between",
    "blockwise",
    "call",
    "chunked",
    "is_large",
    "rechunk",
    "reshaped",
]

Chunks: TypeAlias = tuple[int, ...]  # of one axis
Task: TypeAlias = "Callable[[Any], Array]"


def blockwise(
    name: str, x: da.Array, chunks: Iterable[Chunks], arguments: dict[str, Any], *lengths: da.Array | tuple[int, ...]
) -> da.Array:
    """One call of the operator `name` for each block of `x`, whose result has the chunk at the same place in `chunks`.

    `lengths` is another array of blocks and the axes of `x` that it runs along.
    """
    task = functools.partial(call, name, **arguments)
    axes = tuple(range(x.ndim))
    known = {"adjust_chunks": dict(enumerate(chunks)), "meta": meta(x), "dtype": x.dtype}
    return da.blockwise(task, axes, x, axes, *lengths, align_arrays=False, token=f"dmlops-{name}", **known)


class Part(NamedTuple):
    """Where a chunk of an axis comes from: the chunk's number in the input, its size in the result, and what happens to it."""

    chunk: int
    size: int
    window: tuple[int, ...] = ()


def arranged(
    name: str, x: da.Array, axes: Sequence[Sequence[Part]], task: Callable[[Sequence[tuple[int, ...]]], Task], *more: Any
) -> da.Array:
    """The blocks of `x` as the parts of each axis have them; an axis without parts is empty.

    `task` makes the function that is called with a block, from the windows on each axis. `more` is what that depends on, too.
    """
    chunks = tuple(tuple(part.size for part in parts) or (0,) for parts in axes)
    if not all(axes):
        return da.empty(tuple(map(sum, chunks)), dtype=x.dtype, chunks=chunks)
    name = f"dmlops-{name}-{tokenize(x, axes, *more)}"
    tasks = {}
    for position, parts in zip(np.ndindex(*map(len, axes)), itertools.product(*axes), strict=True):
        tasks[(name, *position)] = (task([part.window for part in parts]), (x.name, *(part.chunk for part in parts)))
    return da.Array(HighLevelGraph.from_collections(name, tasks, [x]), name, chunks, meta=meta(x))


def call(name: str, *blocks: Any, **arguments: Any) -> Array:
    """What a task runs, in the process of a worker."""
    for block in blocks:
        refuse_device_array(block)
    result: Array = getattr(operators, name)(*blocks, **arguments)
    return result


def rechunk(name: str, x: da.Array, chunks: Sequence[Chunks]) -> da.Array:
    """`x` with other chunks. Where they are large, a warning points at the caller of the public function that calls this."""
    if tuple(chunks) == x.chunks:
        return x
    largest = math.prod(map(max, chunks)) * x.dtype.itemsize
    if is_large(largest):
        limit = config.get("array.chunk-size")
        message = f"{name} rechunks its input, and the largest chunk is then {format_bytes(largest)}, more than {limit}"
        advice = "choose smaller chunks on the other axes, or raise array.chunk-size in Dask's configuration"
        warnings.warn(f"{message}: {advice}", da.PerformanceWarning, stacklevel=3)
    return x.rechunk(tuple(chunks))


def chunked(x: da.Array, chunks: Sequence[Chunks]) -> da.Array:
    """Lengths or indices in these chunks. Dask leaves those of an empty array as they are."""
    return x.rechunk(tuple(chunks)) if x.size else da.empty(x.shape, dtype=x.dtype, chunks=tuple(chunks))


def reshaped(x: da.Array, shape: tuple[int, ...]) -> da.Array:
    """The elements in C order in another shape. Dask itself fails at chunks without elements, and at arrays of such."""
    if not x.size:
        return da.empty(shape, dtype=x.dtype, chunks=shape)
    return x.rechunk(tuple(tuple(filter(None, sizes)) for sizes in x.chunks)).reshape(shape)


def is_large(nbytes: int) -> bool:
    """Whether Dask's configuration asks for smaller chunks."""
    return bool(nbytes > parse_bytes(config.get("array.chunk-size")))


def aligned(x: da.Array, multiples: Mapping[int, int]) -> list[Chunks]:
    """The chunks of `x`, on each axis in `multiples` with the borders moved to the nearest multiple of that number."""
    return [_aligned(sizes, multiples.get(axis, 1)) for axis, sizes in enumerate(x.chunks)]


def _aligned(chunks: Chunks, multiple: int) -> Chunks:
    """Fewer than `multiple` elements move from one chunk to the next."""
    if multiple == 0 or not any(size % multiple for size in chunks):
        return chunks
    return between({0} | {(end + multiple // 2) // multiple * multiple for end in itertools.accumulate(chunks)})


def between(borders: Iterable[int]) -> Chunks:
    """The chunks between borders, which begin with 0."""
    return tuple(end - begin for begin, end in itertools.pairwise(sorted(set(borders))))
