"""NumPy's functions that select by arrays of indices, where some are arguments of the fused function."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from dmlops.fusion import movements
from dmlops.fusion.chosen import Along, Chosen, Entry, Index, Kept
from dmlops.fusion.graph import Node
from dmlops.fusion.traced import Trace, Traced, node_of, refuse

__all__ = ["by_arrays", "crops", "take", "take_along_axis"]


def by_arrays(trace: Trace, x: Any, entries: Sequence[Any]) -> Any:
    """Brackets with traced indices in them, perhaps beside constant ones and ints; the entries are those of `_getitem`."""
    node = node_of(x, operator.getitem)
    entries = [_index(entry) if isinstance(entry, (Traced, np.ndarray, int)) else entry for entry in entries]
    if Ellipsis not in entries:
        entries.append(Ellipsis)
    kept = movements.index(node, tuple(slice(None) if isinstance(entry, Index) else entry for entry in entries))
    places = [place for place, entry in enumerate(entries) if isinstance(entry, Index)]
    axes = _axes_of(entries, len(kept.shape))
    indices = [entries[place] for place in places]
    try:
        shape = np.broadcast_shapes(*(one.shape for one in indices))
    except ValueError:
        shapes = " ".join(str(one.shape) for one in indices)
        raise IndexError(f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}") from None
    together = places == list(range(places[0], places[-1] + 1))  # else the axes of the indices are the first, as in NumPy
    made = _chosen(kept, list(zip(axes, indices, strict=True)), shape, axes[0] if together else 0)
    return trace.record(operator.getitem, (x, tuple(entries)), {}, made)


def _index(entry: Any) -> Index:
    index = Index(entry)
    if index.dtype.kind == "b":
        refuse("a mask beside traced indices, or a traced mask", "how much it selects depends on values: use numpy.where")
    if index.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return index


def _axes_of(entries: Sequence[Any], rank: int) -> list[int]:
    """The axes of the view that the other entries select on which indices choose."""
    at = next(place for place, entry in enumerate(entries) if entry is Ellipsis)
    places = [place for place, entry in enumerate(entries) if isinstance(entry, Index)]
    return [place if place < at else rank - (len(entries) - place) for place in places]


def _chosen(x: Node, along: list[tuple[int, Index]], shape: Sequence[int], at: int, looked_at: bool = True) -> Node:
    """The axes of the indices stand where `at` says, among those that the array keeps."""
    for axis, _ in along:
        if x.shape[axis] == 0 and 0 not in shape:
            raise IndexError(f"index 0 is out of bounds for axis {axis} with size 0")
    chosen = [axis for axis, _ in along]
    dims: list[Entry | Kept] = [Kept(axis, size) for axis, size in enumerate(x.shape) if axis not in chosen]
    dims[at:at] = [Entry(extent) for extent in shape]
    return Chosen(x, [Along(axis, index, x.shape[axis]) for axis, index in along], (), dims, (), looked_at)


def take(trace: Trace, function: Any, a: Any, indices: Traced, axis: Any) -> Any:
    """numpy.take of traced indices."""
    x, at = movements.along(node_of(a, function), axis)
    if indices.dtype.kind not in "iu":
        raise TypeError(f"Cannot cast array data from {indices.dtype!r} to dtype('int64') according to the rule 'safe'")
    index = _index(indices)
    made = _chosen(x, [(at, index)], index.shape, at, 0 not in x.shape)  # of an empty array NumPy looks at no index
    return trace.record(np.take, (a, index), {"axis": axis}, made)


def take_along_axis(trace: Trace, arr: Any, indices: Traced, axis: Any) -> Any:
    """numpy.take_along_axis of traced indices: the others count along their axes."""
    x = node_of(arr, np.take_along_axis)
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    x, at = movements.along(x, axis)
    if indices.ndim != len(x.shape):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    index = _index(indices)
    along = []
    for k, size in enumerate(x.shape):
        line = np.arange(size).reshape([-1 if j == k else 1 for j in range(len(x.shape))])
        along.append((k, index if k == at else Index(line)))
    try:
        shape = np.broadcast_shapes(*(one.shape for _, one in along))
    except ValueError:
        raise IndexError("shape mismatch: indexing arrays could not be broadcast together") from None
    return trace.record(np.take_along_axis, (arr, index), {"axis": axis}, _chosen(x, along, shape, 0))


def crops(trace: Trace, function: Any, x: Any, starts: Any, sizes: Any, flip: Any, axes: Any) -> Any:
    """dmlops.crops, whose arguments its own function has checked."""
    node = node_of(x, function)
    first = starts if isinstance(starts, Traced) else np.asarray(starts)
    columns = [Index(first[:, k]) for k in range(len(axes))]
    along = [Along(0, Index(np.arange(node.shape[0])), node.shape[0])]
    for axis, size, column in zip(axes, sizes, columns, strict=True):
        along.append(Along(axis, column, node.shape[axis] - size + 1, size))
    mirrors = {} if flip is None else {axis: Index(flip[:, k]) for k, axis in enumerate(axes[-flip.shape[1] :])}
    numbers = {axis: number for number, axis in enumerate(mirrors)}
    extents = dict(zip(axes, sizes, strict=True))
    dims: list[Entry | Kept] = [Entry(node.shape[0])]
    dims += [Kept(axis, extents.get(axis, size), numbers.get(axis)) for axis, size in enumerate(node.shape) if axis > 0]
    given = Index(starts), None if flip is None else Index(flip)
    made = Chosen(node, along, list(mirrors.values()), dims, given)
    return trace.record(function, (x, given[0], sizes, given[1], axes), {}, made)
