"""One-hot encoding: rows of an identity matrix, gathered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from dmlops import _core
from dmlops._core import DeviceArray
from dmlops.entries import integers
from dmlops.late_imports import late
from dmlops.operators.axes import new_axis
from dmlops.operators.gathers import take
from dmlops.structure import is_recorded

if TYPE_CHECKING:
    from typing import SupportsIndex

    from numpy.typing import DTypeLike

    from dmlops._annotations import AnyArray, Array, DeviceLike, Indices, Options, Progress, Scalar

__all__ = ["one_hot"]


@overload
def one_hot(  # type: ignore[overload-overlap]  # a device array of one element is an index, too
    indices: DeviceArray,
    depth: SupportsIndex,
    *,
    axis: SupportsIndex = -1,
    on: Scalar = 1,
    off: Scalar = 0,
    dtype: DTypeLike | None = None,
    **how: Unpack[Options[DeviceArray]],
) -> DeviceArray: ...
@overload
def one_hot(
    indices: Indices,
    depth: SupportsIndex,
    *,
    axis: SupportsIndex = -1,
    on: Scalar = 1,
    off: Scalar = 0,
    dtype: DTypeLike | None = None,
    **how: Unpack[Options[Array]],
) -> Array: ...
def one_hot(
    indices: Indices | DeviceArray,
    depth: SupportsIndex,
    *,
    axis: SupportsIndex = -1,
    on: Scalar = 1,
    off: Scalar = 0,
    dtype: DTypeLike | None = None,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Encode indices: along a new axis, one value stands at the index and another elsewhere.

    Parameters
    ----------
    indices : array_like of int, or DeviceArray
        Any integer dtype, any strides. An index below 0 counts from the end of the new axis. One out of range has `off` all
        along the axis. Indices in a device array are downloaded: the call waits for them.
    depth : int
        The size of the new axis, 0 or more.
    axis : int, optional
        Where the new axis stands in the result. A negative value counts from the last axis. Default: the last.
    on, off : scalar, optional
        The two values. Default: 1 and 0.
    dtype : dtype, optional
        That of the result. Default: what NumPy makes of `off` and `on`.
    out : numpy.ndarray or DeviceArray, optional
        The array for the result: of the same kind as `indices`, of the result's dtype and shape, writable, with any strides.
        Default: a new array.
    device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind as `indices`, with an axis of size `depth` more.

    Raises
    ------
    TypeError
        An argument has the wrong type: `indices` of floats or bools, a float as `depth`.
    OverflowError
        `on` or `off` does not fit into `dtype`.
    AxisError
    ValueError
        `depth` is negative; `out` does not fit; `device` names no device.
    NoDeviceError, VulkanError

    See Also
    --------
    take : rows of any matrix.
    put_along_axis : other values at indices.

    Notes
    -----
    This is ONNX's ``OneHot``, DirectML's ``DML_ONE_HOT`` and TensorFlow's ``tf.one_hot``. PyTorch's ``one_hot`` refuses what
    is out of range.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> dmlops.one_hot([1, -1, 7], 3)
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]])
    >>> dmlops.one_hot([1, 0], 3, axis=0, on=2.5, dtype=np.float32)
    array([[0. , 2.5],
           [2.5, 0. ],
           [0. , 0. ]], dtype=float32)
    """
    if is_recorded(indices):  # in a fused function
        with late():
            from dmlops.fusion.lookups import classes_of

        pair = np.array([off, on], dtype)
        return classes_of(indices, depth, axis, pair, (out, device, progress))  # type: ignore[no-any-return]
    here = integers(indices.numpy() if isinstance(indices, DeviceArray) else indices)
    size, at = new_axis(depth, axis, here.ndim + 1)
    rows: Any = _rows(np.array([off, on], dtype), size, indices.device if isinstance(indices, DeviceArray) else None)
    result: Any = _empty(rows, (*here.shape[:at], size, *here.shape[at:])) if out is None else out
    last: Any = result
    if isinstance(result, (np.ndarray, DeviceArray)):
        last = np.moveaxis(result, at, -1)  # type: ignore[type-var]
    take(rows, places(here, size), 0, out=last, device=device, progress=progress)
    return result  # type: ignore[no-any-return]


def _rows(pair: Array, depth: int, device: Any) -> Any:
    """A view of an identity matrix, and of a row without a one: all are windows of one line."""
    line = np.full(2 * depth, pair[0])
    line[depth : depth + 1] = pair[1]
    step = line.itemsize

    def windows(like: Any) -> Any:
        return np.lib.stride_tricks.as_strided(like[depth:], (depth + 1, depth), (-step, step))

    return windows(line) if device is None else _core._view(_core._asarray(line, None, device, None), windows)


def _empty(rows: Any, shape: tuple[int, ...]) -> Any:
    if isinstance(rows, DeviceArray):
        return _core._empty(shape, rows.dtype, rows.device)
    return np.empty(shape, rows.dtype)


def places(indices: Array, depth: int) -> Array:
    """The row of each index; that without a one where an index is out of range."""
    if indices.dtype.kind == "u":
        indices = np.minimum(indices, np.array(2**63 - 1, np.uint64).astype(indices.dtype, casting="unsafe"))
    wide = indices.astype(np.int64)
    return np.where((wide >= -depth) & (wide < depth), wide % max(depth, 1), depth)
