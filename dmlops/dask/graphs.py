"""Graphs: calls of operators for the blocks of an array."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from dmlops import operators
from dmlops.dask.arguments import meta, refuse_device_array
from dmlops.dask.chunks import Chunks

if TYPE_CHECKING:
    from dmlops._annotations import Array

__all__ = ["Part", "arranged", "blockwise", "call"]

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
