"""Operators whose indices are arrays of a fused function: their results are maps of the indices."""

from __future__ import annotations

from typing import Any

import numpy as np

import dmlops.reference as reference  # not from dmlops, which would wait for late imports
from dmlops import structure
from dmlops.fusion.numpy_maps import look_up
from dmlops.fusion.traced import Traced, constant_from, refuse, refuse_places
from dmlops.operators.axes import new_axis
from dmlops.slice_keys import index_of

__all__ = ["classes_of", "rows_of"]


def classes_of(indices: Any, depth: Any, axis: Any, pair: Any, places: Any) -> Any:
    """dmlops.one_hot: each element is compared with each class. `pair`: the values elsewhere and at the index."""
    refuse_places("dmlops.one_hot", *places)
    if not isinstance(indices, Traced):  # run by NumPy
        made = reference.one_hot(np.asarray(indices), depth, axis=axis, on=pair[1], off=pair[0], dtype=pair.dtype)
        return made.view(type(indices))
    if indices.dtype.kind not in "iu":
        raise TypeError(f"indices must be of an integer dtype, not {indices.dtype}")
    rank = indices.ndim + 1
    size, at = new_axis(depth, axis, rank)
    wide: Any = indices.astype(np.int64)
    wide = np.where(wide < 0, wide + size, wide)
    classes = np.arange(size).reshape([size if k == at else 1 for k in range(rank)])
    return np.where(np.expand_dims(wide, at) == classes, pair[1], pair[0])


def rows_of(table: Any, indices: Any, axis: Any, batch_dims: Any, places: Any) -> Any:
    """dmlops.take of a constant table."""
    refuse_places("dmlops.take", *places)
    if not isinstance(indices, Traced):
        made = reference.take(np.asarray(table), np.asarray(indices), axis, batch_dims=batch_dims)
        return made.view(type(indices))
    if index_of(batch_dims, "batch_dims"):
        refuse("dmlops.take at traced indices with batch_dims", "write x[numpy.arange(n), indices]")
    if structure.is_recorded(table):
        return np.take(table, indices, axis)
    if indices.dtype.kind not in "iu":
        raise TypeError(f"indices must be of an integer dtype, not {indices.dtype}")
    rows = constant_from(table)
    rows = rows.reshape(-1) if axis is None else np.moveaxis(rows, axis, 0)
    at = 0 if axis is None else index_of(axis, "axis") % rows.ndim
    made = look_up(indices._trace, rows, indices, "dmlops.take")
    return np.moveaxis(made, range(indices.ndim), range(at, at + indices.ndim))
