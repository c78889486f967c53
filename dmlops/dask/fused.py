"""Fused functions of Dask arrays: a call for each chunk of the first axis, the batch.

That is right where a function does to each item of a batch the same, and nothing else. Its plans say so: those for the whole
array, and those for each size of a chunk, must be the same plan for each item.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Iterator
from typing import Any, NoReturn, Protocol

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from dmlops import _core, structure
from dmlops.dask.arguments import dask_array, refuse_device_array
from dmlops.dask.chunks import Chunks, rechunk
from dmlops.fusion.arguments import OfFunction
from dmlops.fusion.chosen import index_inputs
from dmlops.fusion.compiled import Compiled
from dmlops.fusion.compiler import Pass
from dmlops.fusion.graph import Input, pack
from dmlops.fusion.layout import Along
from dmlops.fusion.resized import ResizePass
from dmlops.refused_arrays import is_lazy

__all__ = ["by_chunks"]


class Fused(OfFunction, Protocol):
    """A fused function, which calls this."""

    def __call__(self, *args: Any, device: Any = None, **kwargs: Any) -> Any: ...

    def _compiled(self, args: Any, kwargs: Any) -> Compiled: ...


@dataclasses.dataclass(frozen=True)
class _Block:
    """Stands for a Dask array among the arguments."""

    number: int


def by_chunks(fused: Fused, args: Any, kwargs: Any, device: Any) -> Any:
    """The results as Dask arrays, in the structure that the function returns them in."""
    arrays: list[da.Array] = []
    blocks: dict[int, _Block] = {}

    def block(value: Any) -> Any:
        refuse_device_array(value)
        if not is_lazy(value):
            return value
        if id(value) not in blocks:  # what is passed twice is one array
            blocks[id(value)] = _Block(len(arrays))
            arrays.append(dask_array(value))
        return blocks[id(value)]

    bound = fused._signature.bind(*args, **kwargs)
    arguments = structure.rebuilt((bound.args, bound.kwargs), block)
    arrays = _in_batches(fused, arrays)
    count, chunks = arrays[0].shape[0], arrays[0].chunks[0]
    sizes = sorted({count, *chunks} - {0}, reverse=True) or [1]
    programs = {size: _compiled(fused, arguments, arrays, size) for size in sizes}
    items = {size: _item(fused, compiled, arguments, size) for size, compiled in programs.items()}
    for size in sizes[1:]:
        if items[size] != items[sizes[0]]:
            _refuse(fused, f"a chunk of {size} is not treated as a part of {sizes[0]}")
    return _graph(fused, arguments, arrays, chunks, programs[sizes[0]], sizes[0], device)


def _refuse(fused: Fused, why: str) -> NoReturn:
    raise ValueError(
        f"{fused!r} does not do the same to each item of the first axis, so it has no result for each chunk: {why}; "
        "give it NumPy arrays, or move that step behind the fused function"
    )


def _in_batches(fused: Fused, arrays: list[da.Array]) -> list[da.Array]:
    """With chunks along the first axis only, the same for all."""
    for x in arrays:
        if x.ndim == 0 or x.shape[0] != arrays[0].shape[0]:
            shapes = ", ".join(str(one.shape) for one in arrays)
            raise ValueError(f"{fused!r} needs Dask arrays with one size of the first axis, the batch, not {shapes}")
    chunks = arrays[0].chunks[0]
    return [rechunk(repr(fused), x, (chunks, *((size,) for size in x.shape[1:]))) for x in arrays]


def _compiled(fused: Fused, arguments: Any, arrays: list[da.Array], size: int) -> Compiled:
    """The program for chunks of so many items; the arrays that stand for them have no memory."""

    def like(value: Any) -> Any:
        if not isinstance(value, _Block):
            return value
        return described[value.number]

    shapes = [(size, *x.shape[1:]) for x in arrays]
    described = [
        structure.Described(x.dtype, shape, pack(shape, x.dtype.itemsize)) for x, shape in zip(arrays, shapes, strict=True)
    ]
    args, kwargs = structure.rebuilt(arguments, like)
    try:
        return fused._compiled(args, kwargs)
    except Exception as error:
        error.add_note(f"where a chunk has {size} items along the first axis")
        raise


# --- what a program does to an item ---------------------------------------------------------------------------------


def _item(fused: Fused, compiled: Compiled, arguments: Any, size: int) -> Any:
    """What is done to each of `size` items, as something to compare; raises where it is not the same for each."""
    places = zip(structure.leaves((compiled.args, compiled.kwargs)), structure.leaves(arguments), strict=True)
    batched = [isinstance(one, _Block) for place, one in places if isinstance(place, Input)]
    passes = []
    if index_inputs(compiled.results):
        _refuse(fused, "indices that are arguments choose elements in it")
    for one in compiled.program.passes:
        for node in one.nodes:
            if not node.shape or node.shape[0] % size:
                _refuse(fused, f"{size} items become an array of shape {node.shape}")
        shapes = [(node.dtype, node.shape[0] // size, node.shape[1:]) for node in one.nodes]
        steps = [_resizing(fused, one)] if isinstance(one, ResizePass) else sorted(map(repr, _steps(fused, one, batched, size)))
        passes.append((shapes, steps))
    return passes


def _resizing(fused: Fused, one: ResizePass) -> Any:
    """What a pass resizes, and how; of the first axis it takes all, as it is."""
    views = [(view.dims[1:], view.fixed) for view in one.seen.views]
    if 0 in one.node.axes or any(view.dims[0] != Along(0, 0, 1, view.shape[0]) for view in one.seen.views):
        _refuse(fused, "what it resizes are not the items along the first axis")
    return one.seen.source.number, views, _core._resampling_described(one.node.resampling), one.node.axes, one.window


def _steps(fused: Fused, one: Pass, batched: list[bool], size: int) -> Iterator[Any]:
    """The plans of a pass, for one item each."""
    for src, dst, item, src_offset, dst_offset, entries, axes in _core._compiled_steps(one.program, None):
        node = one.nodes[dst]
        entry, constants = node.dtype.itemsize, one.constants_bytes
        if entry == 0 or node.size == 0:
            continue
        read = one.inputs[src][0].itemsize if entries >= 0 else entry
        own = node.nbytes // size  # bytes of an item's result
        inner, outer = _axes([*axes, (item // entry, read, entry, 0)], own)
        from_batch = src >= len(batched) or (src >= 0 and batched[src])
        stride = math.prod(one.inputs[src][1]) * one.inputs[src][0].itemsize // size if from_batch else 0
        if outer != ([(size, stride, own, 0)] if size > 1 else []) or dst_offset < 0:
            _refuse(fused, "elements of several items come together, or change their order")
        low, high = _range(src_offset, [(extent, step) for extent, step, _, _ in inner], read)
        if from_batch and not 0 <= low < high <= stride:
            _refuse(fused, "an item of the result is made of another one")
        placed = one.formula_at(entries)
        row = placed.item if placed else entry << 8 * read
        first, last = _range(entries, [(extent, step) for extent, _, _, step in inner], row)
        rows = constants[first:last] if entries >= 0 else b""
        rows += placed.formula.to_bytes() if placed else b""
        bytes_of = constants[low:high] if src < 0 else b""
        yield src, src_offset - (low if src < 0 else 0), dst, dst_offset, inner, bytes_of, rows, entries - first


def _axes(axes: Any, own: int) -> tuple[list[Any], list[Any]]:
    """The axes within an item of `own` bytes, and those over items: one that goes beyond an item is cut in two."""
    inner, outer = [], []
    for extent, src, dst, row in axes:
        within = own // dst if 0 < dst < own else 1
        if extent == 1:
            continue
        if 0 < dst < own and extent > within and own % dst == 0 and extent % within == 0:
            inner.append((within, src, dst, row))
            outer.append((extent // within, src * within, own, row * within))
        else:
            (inner if dst < own else outer).append((extent, src, dst, row))
    return _merged(inner), _merged(outer)


def _merged(axes: list[Any]) -> list[Any]:
    """The largest first; those that continue each other as one."""
    merged: list[Any] = []
    for extent, *steps in sorted((axis for axis in axes if axis[0] > 1), key=lambda axis: -axis[2]):
        if merged and list(merged[-1][1:]) == [extent * step for step in steps]:
            merged[-1] = (merged[-1][0] * extent, *steps)
        else:
            merged.append((extent, *steps))
    return merged


def _range(start: int, axes: list[tuple[int, int]], size: int) -> tuple[int, int]:
    """Where what is read begins and ends."""
    reach = [(extent - 1) * step for extent, step in axes]
    return start + sum(min(0, one) for one in reach), start + sum(max(0, one) for one in reach) + size


# --- the graph ------------------------------------------------------------------------------------------------------


def _graph(
    fused: Fused, arguments: Any, arrays: list[da.Array], chunks: Chunks, compiled: Compiled, size: int, device: Any
) -> Any:
    name = f"dmlops-fuse-{tokenize(fused._function, arguments, arrays, str(device))}"
    task = functools.partial(_call, fused, arguments, device)
    tasks = {}
    nothing = functools.partial(_nothing, [(node.shape[1:], node.dtype) for node in compiled.results])
    for k, count in enumerate(chunks):
        tasks[(name, k)] = (task, *((x.name, k, *[0] * (x.ndim - 1)) for x in arrays)) if count else (nothing,)
    layer = HighLevelGraph.from_collections(name, tasks, arrays)

    def result(number: int) -> da.Array:
        node = compiled.results[number]
        own, each = f"dmlops-{fused.__name__}-{tokenize(name, number)}", node.shape[0] // size
        parts = {(own, k, *[0] * (len(node.shape) - 1)): (operator.itemgetter(number), (name, k)) for k in range(len(chunks))}
        graph = HighLevelGraph({**layer.layers, own: parts}, {**layer.dependencies, own: {name}})
        sizes = (tuple(each * count for count in chunks), *((extent,) for extent in node.shape[1:]))
        return da.Array(graph, own, sizes, meta=np.empty((0,) * len(node.shape), node.dtype))

    return compiled.returned.of_call([*map(result, range(len(compiled.results)))], lambda: structure.leaves(arguments))


def _nothing(kinds: Any) -> list[Any]:
    """The results for no items: not every function takes an empty batch."""
    return [np.empty((0, *shape), dtype) for shape, dtype in kinds]


def _call(fused: Fused, arguments: Any, device: Any, *blocks: Any) -> list[Any]:
    """What a task runs, in the process of a worker: the results, in order."""
    for block in blocks:
        refuse_device_array(block)
    views = [one.view() for one in blocks]  # different Dask arrays may give one
    args, kwargs = structure.rebuilt(arguments, lambda value: views[value.number] if isinstance(value, _Block) else value)
    returned = structure.leaves(fused(*args, device=device, **kwargs))
    return [one for one in returned if isinstance(one, np.ndarray)]
