"""The indices of gathers and scatters, and scatters as gathers."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from dmlops import _core
from dmlops._core import DeviceArray
from dmlops.lengths import wrong_index
from dmlops.operators.tracking import tracked
from dmlops.refused_arrays import lazy, no_array, not_plain
from dmlops.slice_keys import index_of

__all__ = ["flat", "gather_at", "integers", "places_along", "places_of_tuples", "scattered"]

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
        return array.reshape(shape)
    from dmlops.fusion import on_devices

    return on_devices.reshape(array, shape)


def integers(indices: Any) -> Any:
    """Indices as an array of the machine's integers, or as the device array that they are."""
    if isinstance(indices, DeviceArray):
        return indices
    try:
        array = np.asarray(indices)
    except (ValueError, TypeError) as cause:
        raise no_array("indices", indices, cause) from cause
    if array.size == 0 and not isinstance(indices, np.ndarray):  # which NumPy calls float64
        array = array.astype(np.intp)
    if array.dtype.kind not in "iu":
        raise TypeError(f"indices must be of an integer dtype, not {array.dtype}")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _there(function: Any, *args: Any) -> Any:
    """What a function of NumPy's gives, which checkers do not know to take device arrays."""
    return function(*args)


# --- places: flat indices of the axes that are written -----------------------------------------------------------------


def places_along(input: Any, indices: Any, axis: Any) -> tuple[_Array, tuple[int, ...]]:
    """The places of indices along an axis, of elements of an array; and its shape."""
    shape: tuple[int, ...] = _array(input).shape
    along = (math.prod(shape),) if axis is None else shape
    axis = 0 if axis is None else _axis(axis, len(along))
    here = _on_host(indices)
    if here.ndim != len(along):
        raise ValueError(f"indices must have input's rank, {len(along)}; got rank {here.ndim}")
    for k, (size, dim) in enumerate(zip(here.shape, along, strict=True)):
        if k != axis and size != dim and 1 not in (size, dim):
            raise ValueError(f"indices must have size {dim} or 1 on axis {k}, as input has; got {size}")
    places = _checked(here, along[axis]) * _step(along, axis)
    for k in (k for k in range(len(along)) if k != axis):
        line = np.arange(along[k], dtype=np.int64) * _step(along, k)
        places = places + line.reshape([-1 if other == k else 1 for other in range(len(along))])
    return places, shape


def places_of_tuples(input: Any, indices: Any) -> tuple[_Array, int]:
    """The places of tuples of indices, of rows of an array; and how many axes the tuples index."""
    shape = _array(input).shape
    here = _on_host(indices)
    if here.ndim < 1:
        raise ValueError("indices must have an axis, the last one, of a tuple's entries")
    count = here.shape[-1]
    if count > len(shape):
        raise ValueError(f"tuples of indices must have at most {len(shape)} entries, one for each axis of input; got {count}")
    checked = _checked(here, np.array(shape[:count], np.int64))
    steps = np.array([_step(shape[:count], k) for k in range(count)], np.int64)
    return (checked * steps).sum(-1, dtype=np.int64), count


def _step(shape: tuple[int, ...], axis: int) -> int:
    return math.prod(shape[axis + 1 :])


def _axis(axis: Any, rank: int) -> int:
    given = index_of(axis, "axis")
    if not -rank <= given < rank:
        raise np.exceptions.AxisError(given, rank, "axis")
    return given % rank


def _on_host(indices: Any) -> _Array:
    found: _Array = integers(indices.numpy() if isinstance(indices, DeviceArray) else indices)
    return found


def _checked(indices: _Array, sizes: Any) -> _Array:
    """Indices of 64 bits from 0 on. IndexError for the first one that is out of range; `sizes` are one, or one for each entry
    of a tuple."""
    if indices.dtype.kind == "u":
        indices = np.minimum(indices, np.array(2**63 - 1, np.uint64).astype(indices.dtype, casting="unsafe"))
    found: _Array = indices.astype(np.int64)
    wrong = (found < -sizes) | (found >= sizes)
    if wrong.any():
        flat_index = int(wrong.argmax())
        wrong_index(indices, flat_index, int(np.broadcast_to(sizes, indices.shape).flat[flat_index]))
    found += np.where(found < 0, sizes, 0)
    return found


# --- scatters ----------------------------------------------------------------------------------------------------------


def scattered(
    name: str, input: Any, places: _Array, values: Any, indexed: int, out: Any, device: Any, progress: Any
) -> _Array | DeviceArray:
    """An array of which rows have others at places of its first `indexed` axes: a gather from both, one behind the other."""
    input = _array(input)
    rows, row = input.shape[:indexed], input.shape[indexed:]
    count = math.prod(rows)
    updates = _like("updates" if name == "scatter_nd" else "values", values, places.shape + row, input)
    both = _core._join([_reshaped(input, (count, *row)), _reshaped(updates, (places.size, *row))], 0, None, device)
    sources = np.arange(count, dtype=np.int32 if count + places.size < 2**31 else np.int64)
    sources[places.ravel()] = np.arange(count, count + places.size)  # one after the other: the last of equal places wins
    tracks = device if progress is None else tracked(name, device, progress)
    return _core._gather(both, sources.reshape(rows), 0, 0, "take", out, tracks)


def _like(name: str, values: Any, shape: tuple[int, ...], input: Any) -> Any:
    """What is written, of that shape, of the dtype and kind of the input."""
    if isinstance(values, DeviceArray) and not isinstance(input, DeviceArray):
        raise TypeError(f"{name} must not be a dmlops.DeviceArray unless input is one")
    given = np.shape(values) if isinstance(values, (np.ndarray, DeviceArray)) else None
    if given is not None and not _fits(given, shape):
        raise ValueError(f"{name} must have shape {shape} or one that is broadcast to it; got {given}")
    if isinstance(values, DeviceArray):
        return values if given == shape else _there(np.broadcast_to, values, shape)
    if given != shape or values.dtype != input.dtype:
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
    entries = [_entry(entry) for entry in (key if isinstance(key, tuple) else (key,))]
    chosen = [entry for entry in entries if _is_index(entry)]
    places = [place for place, entry in enumerate(entries) if _is_index(entry)]
    view = array[tuple(slice(None) if _is_index(entry) else entry for entry in entries)]
    axes = _axes_of(entries, view.ndim)
    if len(chosen) == 1:
        return _core._gather(view, chosen[0], axes[0], 0, "take", None, None)  # type: ignore[return-value]
    first = tuple(range(len(axes)))
    view = _core._view(view, lambda like: np.moveaxis(like, axes, first))
    tuples = _tuples(array, chosen)
    made: Any = _core._gather(view, tuples, None, 0, "tuples", None, None)
    if places != list(range(places[0], places[-1] + 1)):  # apart from each other: the indices' axes are the first
        return made  # type: ignore[no-any-return]
    own = range(tuples.ndim - 1)
    return _core._view(made, lambda like: np.moveaxis(like, list(own), [axes[0] + k for k in own]))


def _is_index(entry: Any) -> bool:
    return isinstance(entry, (np.ndarray, DeviceArray))


def _entry(entry: Any) -> Any:
    """An entry of a key; an int or a list as an array."""
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return entry
    array = entry if isinstance(entry, DeviceArray) else np.asarray(entry)
    mask = array.dtype.kind == "b"
    kept = isinstance(entry, (np.ndarray, DeviceArray))  # an empty list is one of ints; other objects may be ints
    if mask or (array.dtype.kind not in "iu" and (kept or (array.size > 0 and not hasattr(entry, "__index__")))):
        what = "a mask" if mask else f"{type(entry).__name__} of {array.dtype}"
        raise IndexError(
            "only ints, slices, ..., None and arrays of integers index a dmlops.DeviceArray, "
            f"not {what}: index what .numpy() gives"
        )
    return integers(operator.index(entry) if array.dtype == object else entry)


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


def _tuples(array: DeviceArray, chosen: list[Any]) -> Any:
    """Arrays of indices, broadcast to each other, as one of tuples: on the device if one of them is there."""
    there = [entry for entry in chosen if isinstance(entry, DeviceArray)]
    if not there:
        return np.stack(np.broadcast_arrays(*chosen), axis=-1)
    dtype = there[0].dtype
    arrays = [one if isinstance(one, DeviceArray) else _uploaded(one, dtype, array) for one in chosen]
    shape = np.broadcast_shapes(*(one.shape for one in arrays))
    same = [one if one.shape == shape else _there(np.broadcast_to, one, shape) for one in arrays]
    return _there(np.stack, same, -1)


def _uploaded(indices: _Array, dtype: np.dtype[Any], beside: DeviceArray) -> Any:
    return _core._asarray(indices.astype(dtype), None, beside.device, None)
