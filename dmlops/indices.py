"""The indices of gathers and scatters, and scatters as gathers."""

from __future__ import annotations

import contextlib
import math
import operator
from typing import Any

import numpy as np

from dmlops import _core
from dmlops._core import DeviceArray
from dmlops.entries import checked, from_the_start, index_array, integers
from dmlops.late_imports import late
from dmlops.operators.tracking import PART, how
from dmlops.refused_arrays import lazy, not_plain

__all__ = ["flat", "gather_at", "moved", "scattered"]

_Array = np.ndarray[Any, np.dtype[Any]]


def flat(input: Any) -> Any:
    """All elements of an array in C order: a view where there is one."""
    return _reshaped(input, (-1,))


def _array(input: Any) -> Any:
    """An input as an array of either kind."""
    if isinstance(input, DeviceArray):
        return input
    if isinstance(input, str):
        raise not_plain("input", input)
    if type(input).__module__.partition(".")[0] in ("dask", "zarr"):
        raise lazy("input", input)
    return np.asarray(input)


def _reshaped(array: Any, shape: tuple[int, ...]) -> Any:
    array = _array(array)
    if not isinstance(array, DeviceArray):
        holes = array.dtype.names is not None  # which NumPy does not copy: it copies elements without fields whole
        return array.view(f"V{array.itemsize}").reshape(shape).view(array.dtype) if holes else array.reshape(shape)
    with late():
        from dmlops.fusion import on_devices

    return on_devices.reshape(array, shape)


def moved(function: Any, *args: Any, **kwargs: Any) -> DeviceArray:
    """What a function of NumPy's gives, which checkers do not know to take device arrays."""
    made: DeviceArray = function(*args, **kwargs)
    return made


# --- scatters ----------------------------------------------------------------------------------------------------------


def scattered(
    name: str, mode: str, input: Any, indices: Any, axis: Any, values: Any, out: Any, device: Any, progress: Any
) -> _Array | DeviceArray:
    """An array that has others at indices: on the host a copy that NumPy writes to, else a gather from both, joined.

    A row is what an index of that mode selects. The numbers of those that are written are computed from the indices.
    """
    input = _array(input)
    here = integers(indices.numpy() if isinstance(indices, DeviceArray) else indices)
    indexed = input.ndim if mode == "along" else here.shape[-1] if here.ndim else 0
    rows, row = input.shape[:indexed], input.shape[indexed:]
    count = math.prod(rows)
    flat_rows, along = ((count,), 0) if mode == "along" and axis is None else (rows, axis)
    like: Any = np.dtype(np.int8), flat_rows, (0,) * len(flat_rows)
    _core._gather(like, here, along, 0, mode, None, "cpu-class", "explain")  # checks the shapes
    places = _places(flat_rows, here, along)
    updates = _like("values" if mode == "along" else "updates", values, places.shape + row, input)
    simple = isinstance(input, np.ndarray) and out is None and progress is None
    if simple and _core._may_be_host(device):  # where NumPy's arrays are, no device is faster
        result: Any = _core._join([_reshaped(input, (count, *row))], 0, None, "host", how(name, None))
        item = f"V{input.itemsize}"  # without fields, between which NumPy would copy nothing
        result.view(item)[places.ravel()] = _reshaped(updates, (places.size, *row)).view(item)  # equal places: the last wins
        return result.reshape(input.shape)  # type: ignore[no-any-return]
    both = _core._join([_reshaped(input, (count, *row)), _reshaped(updates, (places.size, *row))], 0, None, device, PART)
    sources = np.arange(count, dtype=np.int32 if count + places.size < 2**31 else np.int64)
    sources[places.ravel()] = np.arange(count, count + places.size)  # one after the other: the last of equal places wins
    return _core._gather(both, sources.reshape(rows), 0, 0, "take", out, device, how(name, progress))


def _places(rows: tuple[int, ...], here: _Array, axis: Any) -> _Array:
    """The number of each row that is written, among all rows in C order; without an axis, at tuples of indices."""
    steps = [math.prod(rows[k + 1 :]) for k in range(len(rows))]
    if axis is None:
        counted = from_the_start(here, np.array(rows, np.int64), here.size > 0)
        return counted @ np.array(steps, np.int64)
    own = operator.index(axis) % len(rows)
    sizes = [size if k == own or one == 1 else one for k, (one, size) in enumerate(zip(rows, here.shape, strict=True))]
    places = np.broadcast_to(from_the_start(here, rows[own], 0 not in sizes) * steps[own], sizes)
    for k in range(len(rows)):
        if k != own:
            line = [-1 if j == k else 1 for j in range(len(rows))]
            places = places + (np.arange(rows[k]) * steps[k]).reshape(line)
    return places


def _like(name: str, values: Any, shape: tuple[int, ...], input: Any) -> Any:
    """What is written, of that shape, of the dtype and kind of the input."""
    if isinstance(values, DeviceArray) and not isinstance(input, DeviceArray):
        raise TypeError(f"{name} must not be a dmlops.DeviceArray unless input is one")
    given = np.shape(values) if isinstance(values, (np.ndarray, DeviceArray)) else None
    if given is not None and not _fits(given, shape):
        raise ValueError(f"{name} must have shape {shape} or one that is broadcast to it; got {given}")
    if isinstance(values, DeviceArray):
        return values if given == shape else moved(np.broadcast_to, values, shape)
    if given is not None and values.dtype == input.dtype:
        values = np.broadcast_to(values, shape)
    else:
        assigned = np.empty(shape, input.dtype)
        assigned[...] = values
        values = assigned
    return _core._asarray(values, None, input.device, None) if isinstance(input, DeviceArray) else values


def _fits(given: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether an array is of that shape or broadcast to it."""
    try:
        return np.broadcast_shapes(given, shape) == shape
    except ValueError:
        return False


# --- integer arrays in brackets ----------------------------------------------------------------------------------------


def gather_at(array: DeviceArray, key: Any) -> DeviceArray:
    """What integer arrays in the brackets of a device array select, as NumPy has it. dmlops._core calls it."""
    given = key if isinstance(key, tuple) else (key,)
    entries = [_entry(entry) for entry in given]
    if not any(map(_is_index, entries)):  # objects that are ints to NumPy
        return array[tuple(entries)]
    entries = [np.asarray(entry) if isinstance(entry, int) else entry for entry in entries]
    chosen = [entry for entry in entries if _is_index(entry)]
    places = [place for place, entry in enumerate(entries) if _is_index(entry)]
    view = array[tuple(slice(None) if _is_index(entry) else entry for entry in entries)]
    axes = _axes_of(entries, view.ndim)
    if len(chosen) == 1:
        if view.size == 0 and isinstance(chosen[0], np.ndarray):  # where numpy.take looks at no index
            checked(chosen[0], axes[0], view.shape[axes[0]])
        return _core._gather(view, chosen[0], axes[0], 0, "take", None, None, how("take", None))  # type: ignore[return-value]
    first = tuple(range(len(axes)))
    view = _core._view(view, lambda like: np.moveaxis(like, axes, first))
    tuples = _tuples(view, chosen, axes)
    made: Any = _core._gather(view, tuples, None, 0, "tuples", None, None, how("gather_nd", None))
    if places != list(range(places[0], places[-1] + 1)):  # apart from each other: the indices' axes are the first
        return made  # type: ignore[no-any-return]
    own = range(tuples.ndim - 1)
    return _core._view(made, lambda like: np.moveaxis(like, list(own), [axes[0] + k for k in own]))


def _is_index(entry: Any) -> bool:
    return isinstance(entry, (np.ndarray, DeviceArray))


def _entry(entry: Any) -> Any:
    """An entry of a key; a list or another library's array as an array. What has ``__index__`` is an int."""
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return entry
    if hasattr(type(entry), "__index__") and not isinstance(entry, (bool, np.ndarray, np.generic, DeviceArray)):
        with contextlib.suppress(TypeError):  # an array of another library has it, too
            return operator.index(entry)
    array = entry if isinstance(entry, DeviceArray) else index_array(entry)
    if array.dtype.kind not in "iu":
        what = type(entry).__name__ if array.ndim == 0 else f"{type(entry).__name__} of {array.dtype}"
        raise IndexError(
            "only ints, slices, ..., None and arrays of integers index a dmlops.DeviceArray, "
            f"not {'a mask' if array.dtype == bool else what}: index what .numpy() gives"
        )
    return integers(array)


def _axes_of(entries: list[Any], rank: int) -> list[int]:
    """The axes of the view that the entries without arrays select which stand where the arrays were."""
    axes, axis = [], 0
    for place, entry in enumerate(entries):
        if entry is Ellipsis:
            axis = rank - (len(entries) - place - 1)
        else:
            if _is_index(entry):
                axes.append(axis)
            axis += 1
    return axes


def _tuples(view: DeviceArray, chosen: list[Any], axes: list[int]) -> Any:
    """Arrays of indices of the first axes, broadcast to each other, as one of tuples: on the device if one of them is there.

    Those of NumPy are checked, and none counts from the end any more.
    """
    try:
        shape = np.broadcast_shapes(*(one.shape for one in chosen))
    except ValueError:
        shapes = " ".join(str(one.shape) for one in chosen)
        raise IndexError(f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}") from None
    some = math.prod(shape) > 0  # of indices that are broadcast to none NumPy checks single ones only
    here: list[Any] = [
        one if isinstance(one, DeviceArray) else checked(one, axis, size) if some or one.ndim == 0 else one
        for one, axis, size in zip(chosen, axes, view.shape, strict=False)
    ]
    if not some:
        return np.zeros((*shape, len(chosen)), np.intp)
    if not any(isinstance(one, DeviceArray) for one in here):
        return np.stack(np.broadcast_arrays(*here), axis=-1)
    dtype = _common([one.dtype for one in here if isinstance(one, DeviceArray)], view.shape[: len(chosen)])
    arrays = [_as_dtype(one, dtype, size, view) for one, size in zip(here, view.shape, strict=False)]
    same = [one if one.shape == shape else moved(np.broadcast_to, one, shape) for one in arrays]
    return moved(np.stack, same, -1)


def _common(dtypes: list[np.dtype[Any]], sizes: tuple[int, ...]) -> np.dtype[Any]:
    """The dtype of tuples of indices on the device: theirs, if it is one that holds every index."""
    most = max(sizes)
    if len(set(dtypes)) == 1 and most - 1 <= np.iinfo(dtypes[0]).max:
        return dtypes[0]
    return np.dtype(np.int32 if most < 2**31 else np.int64)


def _as_dtype(index: Any, dtype: np.dtype[Any], size: int, beside: DeviceArray) -> Any:
    """Indices on the device, of a dtype: taken from numbers, as an array's dtype is not changed there."""
    if not isinstance(index, DeviceArray):
        return _core._asarray(index.astype(dtype), None, beside.device, None)
    if index.dtype == dtype:
        return index
    numbers = _core._asarray(np.arange(size, dtype=dtype), None, beside.device, None)
    return _core._gather(numbers, index, 0, 0, "take", None, None, PART)
