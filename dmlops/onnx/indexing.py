"""Gather and Scatter of ONNX, in every form, and Where: operators whose indices are NumPy arrays, and are checked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import dmlops
from dmlops.onnx.movements import device_of, expanded, reshape, take
from dmlops.onnx.node import Node, positive

if TYPE_CHECKING:
    from dmlops._annotations import AnyArray, Array

__all__ = ["gather", "gather_elements", "gather_nd", "scatter_elements", "scatter_nd", "where"]


def gather(node: Node, a: AnyArray, index: Array) -> AnyArray:
    axis = positive(node.attributes.get("axis", 0), a.ndim)
    size = a.shape[axis]
    if index.size and not (-size <= index.min() and index.max() < size):
        raise IndexError(f"an index is out of range for axis {axis} of size {size}")
    index = index.astype(np.int64)
    taken = take(a, np.where(index < 0, index + size, index).reshape(-1), axis)
    return reshape(taken, a.shape[:axis] + index.shape + a.shape[axis + 1 :])


def gather_elements(node: Node, a: AnyArray, indices: Array) -> AnyArray:
    key, axis = _beside(node, a, indices)
    return dmlops.take_along_axis(a[key], indices, axis, device=device_of(a))


def gather_nd(node: Node, a: AnyArray, indices: Array) -> AnyArray:
    batch = node.attributes.get("batch_dims", 0)
    row = a.shape[batch + indices.shape[-1] :] if indices.ndim else ()
    if 0 in row and a.shape[:batch] == indices.shape[:batch]:  # whatever the indices are, as in onnxruntime
        return reshape(a, indices.shape[:-1] + row)
    return dmlops.gather_nd(a, indices, batch_dims=batch, device=device_of(a))


def scatter_elements(node: Node, a: AnyArray, indices: Array, updates: Any) -> AnyArray:  # both of one kind
    key, axis = _beside(node, a, indices)
    if updates.shape != indices.shape:
        raise ValueError(f"updates must have the shape of indices, {list(indices.shape)}, not {list(updates.shape)}")
    written = dmlops.put_along_axis(a[key], indices, updates, axis, device=device_of(a))
    if written.shape == a.shape:
        return written
    whole = a.copy()
    whole[key] = written
    return whole


def scatter_nd(node: Node, a: AnyArray, indices: Array, updates: Any) -> AnyArray:  # both of one kind
    rows = indices.shape[:-1] + a.shape[indices.shape[-1] :] if indices.ndim else updates.shape
    if updates.shape != rows:
        raise ValueError(f"updates must have the shape {list(rows)}, not {list(updates.shape)}")
    return dmlops.scatter_nd(a, indices, updates, device=device_of(a))


def where(node: Node, condition: Array, a: Any, b: Any) -> AnyArray:  # both of one kind
    """Elements taken of both operands, joined along one axis: the condition's axes, from the first that varies to the last."""
    shape = np.broadcast_shapes(condition.shape, a.shape, b.shape)
    condition, *operands = (x[(None,) * (len(shape) - x.ndim) + (...,)] for x in (condition, a, b))
    several = [axis for axis, size in enumerate(condition.shape) if size != 1]
    along = slice(several[0], several[-1] + 1) if several else slice(0, 0)
    before, behind = shape[: along.start], shape[along.stop :]
    parts: list[Any] = []
    places: list[Array] = []
    count = 0
    for x in operands:
        sizes = x.shape[along]
        places.append(count + np.arange(math.prod(sizes)).reshape(sizes))
        parts.append(reshape(expanded(x, before + sizes + behind), (math.prod(before), places[-1].size, math.prod(behind))))
        count += places[-1].size
    index = np.where(condition.reshape(condition.shape[along]), *places)
    return reshape(take(dmlops.join(parts, 1, device=device_of(a, b)), index.ravel(), 1), shape)


def _beside(node: Node, a: AnyArray, indices: Array) -> tuple[tuple[slice, ...], int]:
    """What the indices of single elements stand beside: first elements along all axes but the node's; and that axis."""
    axis = positive(node.attributes.get("axis", 0), a.ndim)
    fits = [k == axis or size <= whole for k, (size, whole) in enumerate(zip(indices.shape, a.shape, strict=False))]
    if indices.ndim != a.ndim or not all(fits):
        raise ValueError(f"indices of the shape {list(indices.shape)} do not fit {list(a.shape)} beside axis {axis}")
    return tuple(slice(None) if k == axis else slice(size) for k, size in enumerate(indices.shape)), axis
