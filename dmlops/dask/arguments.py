"""Arguments of the operators: Dask arrays of plain bytes, and the checks before anything is computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from dmlops import operators
from dmlops._core import DeviceArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dmlops._annotations import Array

__all__ = ["dask_array", "known", "refuse_device_array", "reusable", "weightless"]


def dask_array(array: da.Array | ArrayLike) -> da.Array:
    """The argument as a Dask array of plain bytes and known chunks."""
    refuse_device_array(array)
    if not hasattr(array, "dtype"):
        array = operators.transpose(array, device="host").T  # refuses what the operators refuse
    # The operators refuse dtypes whose elements are not plain bytes.
    operators.slice(np.empty(0, array.dtype), [0], [0], device="host")
    return known("input", da.asarray(array))


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


def reusable(argument: Any) -> Any:
    """What can be iterated over twice: the operator's check comes first."""
    return list(argument) if np.iterable(argument) else argument
