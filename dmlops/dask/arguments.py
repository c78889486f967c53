"""Arguments of the operators: Dask arrays of plain bytes, and the checks before anything is computed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from dmlops._core import DeviceArray
from dmlops.operators.orders import transpose
from dmlops.operators.windows import slice as slice_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dmlops._annotations import Array

__all__ = ["dask_array", "in_dask", "known", "meta", "passed_on", "refuse_device_array", "reusable", "weightless"]

REFUSED = (str, bytes, bytearray, Mapping, Set)  # iterables that are no sequence of ints


def dask_array(array: da.Array | ArrayLike) -> da.Array:
    """The argument as a Dask array of plain bytes and known chunks."""
    refuse_device_array(array)
    dtype = getattr(array, "dtype", None)
    if isinstance(dtype, np.dtype):
        slice_of(np.empty(0, dtype), [0], [0], device="host")  # refuses dtypes whose elements are not plain bytes
    else:  # a list, or an array of a library that has dtypes of its own
        array = transpose(array, device="host").T  # refuses what the operators refuse
    x = known("input", in_dask(array))
    return x if type(x._meta) is np.ndarray else x.map_blocks(passed_on, dtype=x.dtype, meta=meta(x))


def in_dask(array: Any) -> da.Array:
    """A Dask array of an argument. For an empty array with a long axis Dask finds no chunks: it has one."""
    empty = isinstance(array, np.ndarray) and array.size == 0
    return da.from_array(array, chunks=array.shape) if empty else da.asarray(array)


def known(argument: str, x: da.Array) -> da.Array:
    if any(map(math.isnan, x.shape)):
        raise ValueError(f"{argument} has chunks of unknown size: call its compute_chunk_sizes() first")
    return x


def refuse_device_array(array: Any) -> None:
    """Raise TypeError for a device array, and for a Dask array that says its blocks are some."""
    if isinstance(array, DeviceArray) or isinstance(getattr(array, "_meta", None), DeviceArray):
        raise TypeError(
            "device arrays cannot travel between processes: pass NumPy blocks to dmlops.dask, and name the device with device="
        )


def weightless(shape: Sequence[int]) -> Array:
    """Elements without bytes: an operator checks its arguments and finds the shape of its result, and moves nothing."""
    return np.empty(shape, dtype=[])


def passed_on(block: Array) -> Array:
    """A task for a block that needs no call. As with the operators, masks and subclasses are dropped."""
    refuse_device_array(block)
    return np.asarray(block)


def meta(x: da.Array) -> Array:
    """What Dask knows of the result's blocks: they are plain NumPy arrays."""
    return np.empty((0,) * x.ndim, x.dtype)


def reusable(argument: Any) -> Any:
    """What can be iterated over twice, since the operator's check comes first. What it refuses stays as it is."""
    one_dimensional = np.iterable(argument) and getattr(argument, "ndim", 1) == 1
    return list(argument) if one_dimensional and not isinstance(argument, REFUSED) else argument
