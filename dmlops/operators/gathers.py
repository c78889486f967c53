"""Operators that read elements at indices."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, SupportsIndex, Unpack, overload

from dmlops import _core
from dmlops.entries import integers
from dmlops.late_imports import late
from dmlops.operators.tracking import row_of, tracked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dmlops._annotations import AnyArray, Array, DeviceLike, Indices, Input, Options, Progress, T
    from dmlops._core import DeviceArray

__all__ = ["gather_nd", "take", "take_along_axis"]

_TAKE, _TAKE_ALONG_AXIS, _GATHER_ND = map(row_of, ("take", "take_along_axis", "gather_nd"))  # where calls are counted


@overload
def take(
    input: DeviceArray,
    indices: Indices | DeviceArray,
    axis: SupportsIndex | None = None,
    *,
    batch_dims: SupportsIndex = 0,
    **how: Unpack[Options[DeviceArray]],
) -> DeviceArray: ...
@overload
def take(
    input: NDArray[T],
    indices: Indices,
    axis: SupportsIndex | None = None,
    *,
    batch_dims: SupportsIndex = 0,
    **how: Unpack[Options[NDArray[T]]],
) -> NDArray[T]: ...
@overload
def take(
    input: Input,
    indices: Indices,
    axis: SupportsIndex | None = None,
    *,
    batch_dims: SupportsIndex = 0,
    **how: Unpack[Options[Array]],
) -> Array: ...
def take(
    input: Input | DeviceArray,
    indices: Indices | DeviceArray,
    axis: SupportsIndex | None = None,
    *,
    batch_dims: SupportsIndex = 0,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Take elements, or whole rows, at indices along an axis.

    As ``numpy.take`` has it. The axes of `indices` stand in the result where `axis` was::

        out[a, ..., i, ..., b] = input[a, ..., indices[i, ...], ..., b]

    Parameters
    ----------
    input
    indices : int, array_like of int, or DeviceArray
        Any integer dtype, any strides. An index below 0 counts from the axis' end. Indices in a device array require that
        `input` is one too. They are never read back to the host: one out of range is clamped to the axis.
    axis : int, optional
        The axis to take from. A negative value counts from the last axis. Default: all elements of `input` in C order.
    batch_dims
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`:
        ``input.shape[:axis] + indices.shape[batch_dims:] + input.shape[axis + 1:]`` is its shape. Never a view.

    Raises
    ------
    TypeError : indices, IndexError : read, AxisError
    ValueError
        `batch_dims` is more than `axis` or the rank of `indices`, or is given without `axis`; batch axes differ in size;
        the result would have more than 64 axes; `out` does not fit; `device` names no device.
    NoDeviceError, VulkanError

    See Also
    --------
    take_along_axis : takes single elements, with indices for each position.
    gather_nd : takes along several axes at once.

    Notes
    -----
    This is ONNX's ``Gather``, DirectML's ``DML_GATHER``, ``torch.index_select`` and an embedding's lookup. With `batch_dims` it
    is TensorFlow's ``tf.gather``.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> x = np.array([[1, 2], [3, 4], [5, 6]])
    >>> dmlops.take(x, [2, 0, -1], axis=0)
    array([[5, 6],
           [1, 2],
           [5, 6]])
    >>> dmlops.take(x, [[1], [0], [1]], axis=1, batch_dims=1)
    array([[2],
           [3],
           [6]])
    """
    if hasattr(type(indices), "__dmlops_function__"):  # in a fused function
        with late():
            from dmlops.fusion.lookups import rows_of

        return rows_of(input, indices, axis, batch_dims, (out, device, progress))  # type: ignore[no-any-return]
    if axis is None:
        if batch_dims != 0:
            raise ValueError("axis must be given where batch_dims is not 0")
        input, axis = _flat()(input), 0
    return _core._gather(
        input,
        integers(indices),
        axis,
        batch_dims,
        "take",
        out,
        device,
        _TAKE if progress is None else tracked("take", progress),
    )


@overload
def take_along_axis(
    input: DeviceArray, indices: Indices | DeviceArray, axis: SupportsIndex | None = -1, **how: Unpack[Options[DeviceArray]]
) -> DeviceArray: ...
@overload
def take_along_axis(
    input: NDArray[T], indices: Indices, axis: SupportsIndex | None = -1, **how: Unpack[Options[NDArray[T]]]
) -> NDArray[T]: ...
@overload
def take_along_axis(
    input: Input, indices: Indices, axis: SupportsIndex | None = -1, **how: Unpack[Options[Array]]
) -> Array: ...
def take_along_axis(
    input: Input | DeviceArray,
    indices: Indices | DeviceArray,
    axis: SupportsIndex | None = -1,
    *,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Take single elements along an axis, with an index for each position.

    As ``numpy.take_along_axis`` has it: sorts what ``argsort`` has found, or picks each pixel from one of several images::

        out[a, ..., i, ..., b] = input[a, ..., indices[a, ..., i, ..., b], ..., b]

    Parameters
    ----------
    input
    indices : array_like of int, or DeviceArray
        Of the rank of `input`. On the axes other than `axis` either has the other's size, or size 1, which is broadcast.
        Any integer dtype, any strides. An index below 0 counts from the axis' end. Indices in a device array require that
        `input` is one too. They are never read back to the host: one out of range is clamped to the axis.
    axis : int, optional, default -1
        The axis to take from. A negative value counts from the last axis. None: all elements of `input` in C order, and
        `indices` has one axis.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`. Never a view.

    Raises
    ------
    TypeError : indices, IndexError : read, AxisError
    ValueError
        The shape of `indices` or of `out` does not fit; `device` names no device.
    NoDeviceError, VulkanError

    See Also
    --------
    put_along_axis : writes where this reads.
    take : takes whole rows, with the same indices at each position.

    Notes
    -----
    This is ONNX's ``GatherElements``, DirectML's ``DML_GATHER_ELEMENTS`` and ``torch.gather``, with broadcasting.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> x = np.array([[30, 10, 20], [5, 7, 6]])
    >>> dmlops.take_along_axis(x, np.argsort(x, axis=1), axis=1)
    array([[10, 20, 30],
           [ 5,  6,  7]])
    >>> dmlops.take_along_axis(x, [[0], [-1]], axis=1)
    array([[30],
           [ 6]])
    """
    if axis is None:
        input, axis = _flat()(input), 0
    return _core._gather(
        input,
        integers(indices),
        axis,
        0,
        "along",
        out,
        device,
        _TAKE_ALONG_AXIS if progress is None else tracked("take_along_axis", progress),
    )


@overload
def gather_nd(
    input: DeviceArray, indices: Indices | DeviceArray, *, batch_dims: SupportsIndex = 0, **how: Unpack[Options[DeviceArray]]
) -> DeviceArray: ...
@overload
def gather_nd(
    input: NDArray[T], indices: Indices, *, batch_dims: SupportsIndex = 0, **how: Unpack[Options[NDArray[T]]]
) -> NDArray[T]: ...
@overload
def gather_nd(input: Input, indices: Indices, *, batch_dims: SupportsIndex = 0, **how: Unpack[Options[Array]]) -> Array: ...
def gather_nd(
    input: Input | DeviceArray,
    indices: Indices | DeviceArray,
    *,
    batch_dims: SupportsIndex = 0,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Take elements, or whole rows, at tuples of indices.

    The last axis of `indices` has the tuples: of K indices into the first K axes, behind the batch axes. The result has, for
    each tuple, what ``input[tuple]`` is::

        out[i, ..., b] = input[indices[i, ..., 0], ..., indices[i, ..., K-1], b]

    Parameters
    ----------
    input
    indices : array_like of int, or DeviceArray
        ``indices.shape[-1]`` is K: at most the axes of `input` behind the batch axes. With 0 of them each tuple is all of it.
        Any integer dtype, any strides. An index below 0 counts from the axis' end. Indices in a device array require that
        `input` is one too. They are never read back to the host: one out of range is clamped to the axis.
    batch_dims
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`:
        ``indices.shape[:-1] + input.shape[batch_dims + K:]`` is its shape. Never a view.

    Raises
    ------
    TypeError : indices
    IndexError
        An index in a NumPy array is out of range: the first one is named, and nothing is written.
        `input` has no elements along one of the K axes.
    ValueError
        `indices` has no axis, or tuples of too many indices; batch axes differ in size; the result would have more than 64
        axes; `out` does not fit; `device` names no device.
    NoDeviceError, VulkanError

    See Also
    --------
    scatter_nd : writes where this reads.
    take : takes along one axis.

    Notes
    -----
    This is ONNX's ``GatherND``, DirectML's ``DML_GATHER_ND1``, and TensorFlow's ``tf.gather_nd``. ``x[i, j]`` with arrays of
    integers is ``gather_nd(x, numpy.stack([i, j], axis=-1))``.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> x = np.array([[1, 2], [3, 4], [5, 6]])
    >>> dmlops.gather_nd(x, [[0, 1], [2, 0]])
    array([2, 5])
    >>> dmlops.gather_nd(x, [[2], [0]])
    array([[5, 6],
           [1, 2]])
    """
    return _core._gather(
        input,
        integers(indices),
        None,
        batch_dims,
        "tuples",
        out,
        device,
        _GATHER_ND if progress is None else tracked("gather_nd", progress),
    )


@functools.cache
def _flat() -> Callable[[Any], Any]:
    from dmlops.indices import flat  # which stands above, and is there since the package was imported

    return flat
