"""Operators that write elements at indices, into a copy."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, SupportsIndex, Unpack, overload

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dmlops._annotations import AnyArray, Array, DeviceLike, Indices, Input, Options, Progress, T, Values
    from dmlops._core import DeviceArray

__all__ = ["put_along_axis", "scatter_nd"]


@overload
def put_along_axis(
    input: DeviceArray,
    indices: Indices | DeviceArray,
    values: Values | DeviceArray,
    axis: SupportsIndex | None,
    **how: Unpack[Options[DeviceArray]],
) -> DeviceArray: ...
@overload
def put_along_axis(
    input: NDArray[T], indices: Indices, values: Values, axis: SupportsIndex | None, **how: Unpack[Options[NDArray[T]]]
) -> NDArray[T]: ...
@overload
def put_along_axis(
    input: Input, indices: Indices, values: Values, axis: SupportsIndex | None, **how: Unpack[Options[Array]]
) -> Array: ...
def put_along_axis(
    input: Input | DeviceArray,
    indices: Indices | DeviceArray,
    values: Values | DeviceArray,
    axis: SupportsIndex | None,
    *,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Copy an array, with values at indices along an axis.

    What ``numpy.put_along_axis`` does in place, this does to a copy::

        out = input
        out[a, ..., indices[a, ..., i, ..., b], ..., b] = values[a, ..., i, ..., b]

    Parameters
    ----------
    input
    indices : array_like of int, or DeviceArray
        Of the rank of `input`. On the axes other than `axis` either has the other's size, or size 1, which is broadcast.
        Any integer dtype, any strides. An index below 0 counts from the axis' end. Where indices are equal, the last one in C
        order wins. Indices in a device array are downloaded: the call waits for them.
    values : array_like or DeviceArray
        What is written: an array of the dtype of `input` or what NumPy would assign to one, of the shape of `indices`, or
        broadcast to it. On a device only where `input` is, and then of its dtype.
    axis : int or None
        The axis that `indices` point along. A negative value counts from the last axis. None: all elements of `input` in C
        order, and `indices` has one axis.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind, dtype and shape as `input`. Never a view.

    Raises
    ------
    TypeError : indices, IndexError : written, AxisError
    ValueError
        The shape of `indices`, `values` or `out` does not fit; `device` names no device.
    NoDeviceError, VulkanError

    See Also
    --------
    take_along_axis : reads where this writes.
    scatter_nd : writes whole rows.

    Notes
    -----
    This is ONNX's ``ScatterElements``, DirectML's ``DML_SCATTER``, and ``torch.scatter``.
    DirectML and ONNX do not promise which of equal indices wins. Here it is the same one on each device and each time.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> x = np.zeros((2, 4), int)
    >>> dmlops.put_along_axis(x, [[1], [-1]], [[5], [6]], axis=1)
    array([[0, 5, 0, 0],
           [0, 0, 0, 6]])
    """
    result: AnyArray = _scattered()("put_along_axis", "along", input, indices, axis, values, out, device, progress)
    return result


@overload
def scatter_nd(
    input: DeviceArray, indices: Indices | DeviceArray, updates: Values | DeviceArray, **how: Unpack[Options[DeviceArray]]
) -> DeviceArray: ...
@overload
def scatter_nd(input: NDArray[T], indices: Indices, updates: Values, **how: Unpack[Options[NDArray[T]]]) -> NDArray[T]: ...
@overload
def scatter_nd(input: Input, indices: Indices, updates: Values, **how: Unpack[Options[Array]]) -> Array: ...
def scatter_nd(
    input: Input | DeviceArray,
    indices: Indices | DeviceArray,
    updates: Values | DeviceArray,
    *,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Copy an array, with elements or whole rows at tuples of indices.

    The last axis of `indices` has the tuples: of K indices into the first K axes::

        out = input
        out[indices[i, ..., 0], ..., indices[i, ..., K-1], b] = updates[i, ..., b]

    Parameters
    ----------
    input
    indices : array_like of int, or DeviceArray
        ``indices.shape[-1]`` is K: at most the rank of `input`.
        Any integer dtype, any strides. An index below 0 counts from the axis' end. Where indices are equal, the last one in C
        order wins. Indices in a device array are downloaded: the call waits for them.
    updates : array_like or DeviceArray
        What is written: an array of the dtype of `input` or what NumPy would assign to one, of the shape
        ``indices.shape[:-1] + input.shape[K:]``, or broadcast to it. On a device only where `input` is, and then of its dtype.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind, dtype and shape as `input`. Never a view.

    Raises
    ------
    TypeError : indices, IndexError : written
    ValueError
        `indices` has no axis, or tuples of too many indices; `updates` or `out` does not fit; `device` names no device.
    NoDeviceError, VulkanError

    See Also
    --------
    gather_nd : reads where this writes.
    put_along_axis : writes single elements along an axis.

    Notes
    -----
    This is ONNX's ``ScatterND``, DirectML's ``DML_SCATTER_ND``, and TensorFlow's ``tf.tensor_scatter_nd_update``.
    DirectML and ONNX do not promise which of equal indices wins. Here it is the same one on each device and each time.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> x = np.zeros((3, 2), int)
    >>> dmlops.scatter_nd(x, [[2], [0]], [[5, 6], [1, 2]])
    array([[1, 2],
           [0, 0],
           [5, 6]])
    >>> dmlops.scatter_nd(x, [[2, 1]], [9])
    array([[0, 0],
           [0, 0],
           [0, 9]])
    """
    result: AnyArray = _scattered()("scatter_nd", "tuples", input, indices, None, updates, out, device, progress)
    return result


@functools.cache
def _scattered() -> Callable[..., Any]:
    from dmlops.indices import scattered  # which stands above, and is there since the package was imported

    return scattered
