"""Operators that change the order along axes, or of axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex, Unpack, overload

from dmlops import _core
from dmlops.operators.tracking import tracked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dmlops._annotations import AnyArray, Array, DeviceLike, Input, IntSequence, Lengths, Options, Progress, T
    from dmlops._core import DeviceArray

__all__ = ["reverse_subsequences", "transpose"]


@overload
def reverse_subsequences(
    input: DeviceArray,
    sequence_lengths: Lengths | DeviceArray,
    axis: SupportsIndex,
    *,
    batch_axis: SupportsIndex | None = None,
    **how: Unpack[Options[DeviceArray]],
) -> DeviceArray: ...
@overload
def reverse_subsequences(
    input: NDArray[T],
    sequence_lengths: Lengths,
    axis: SupportsIndex,
    *,
    batch_axis: SupportsIndex | None = None,
    **how: Unpack[Options[NDArray[T]]],
) -> NDArray[T]: ...
@overload
def reverse_subsequences(
    input: Input,
    sequence_lengths: Lengths,
    axis: SupportsIndex,
    *,
    batch_axis: SupportsIndex | None = None,
    **how: Unpack[Options[Array]],
) -> Array: ...
def reverse_subsequences(
    input: Input | DeviceArray,
    sequence_lengths: Lengths | DeviceArray,
    axis: SupportsIndex,
    *,
    batch_axis: SupportsIndex | None = None,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Reverse the beginning of each sequence along an axis, up to the sequence's own length.

    For every position on the other axes, let L be that position's entry of `sequence_lengths`. The first L elements along
    `axis` are reversed, and the others are copied::

        out[..., i, ...] = input[..., L-1-i if i < L else i, ...]

    Parameters
    ----------
    input : array_like or DeviceArray
        Any rank from 1, any strides, and any dtype whose elements are plain bytes.
    sequence_lengths : array_like of int, or DeviceArray
        With `batch_axis`: one-dimensional, one length for each entry of that axis. Without: of the same rank as `input`, of
        size 1 along `axis`, and along every other axis of the same size as `input`, or of size 1, which is broadcast.

        Any integer dtype, or nested lists of ints of any magnitude. A length above ``input.shape[axis]`` means the whole
        axis. Lengths in a device array require that `input` is one too. They are never read back to the host: a negative
        one acts as 0.
    axis : int
        The axis to reverse along. A negative value counts from the last axis.
    batch_axis : int, optional
        The axis that `sequence_lengths` runs along; it must differ from `axis`.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind, shape and dtype as `input`.

    Raises
    ------
    TypeError
        An argument has the wrong type: `sequence_lengths` of floats or bools, a float as `axis`, an input of Python
        objects.
    numpy.exceptions.AxisError
        `axis` or `batch_axis` is out of range.
    ValueError
        A length is negative; the shape of `sequence_lengths` or of `out` does not fit; `batch_axis` equals `axis`; `device`
        names no device.
    OverflowError, NoDeviceError, VulkanError

    Notes
    -----
    This is DirectML's ``DML_REVERSE_SUBSEQUENCES`` for any rank and dtype. With `batch_axis` it is ``ReverseSequence`` of
    ONNX and OpenVINO, and TensorFlow's ``tf.reverse_sequence``.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> x = np.array([[1, 2, 3, 0], [4, 5, 0, 0]])
    >>> dmlops.reverse_subsequences(x, [[3], [2]], axis=1)
    array([[3, 2, 1, 0],
           [5, 4, 0, 0]])
    >>> dmlops.reverse_subsequences(x, [3, 2], axis=1, batch_axis=0)
    array([[3, 2, 1, 0],
           [5, 4, 0, 0]])
    """
    return _core._reverse_subsequences(
        input,
        sequence_lengths,
        axis,
        batch_axis,
        out,
        device,
        None if progress is None else tracked("reverse_subsequences", progress),
    )


@overload
def transpose(input: DeviceArray, axes: IntSequence | None = None, **how: Unpack[Options[DeviceArray]]) -> DeviceArray: ...
@overload
def transpose(input: NDArray[T], axes: IntSequence | None = None, **how: Unpack[Options[NDArray[T]]]) -> NDArray[T]: ...
@overload
def transpose(input: Input, axes: IntSequence | None = None, **how: Unpack[Options[Array]]) -> Array: ...
def transpose(
    input: Input | DeviceArray,
    axes: IntSequence | None = None,
    *,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Copy an array with its axes in another order.

    Parameters
    ----------
    input
    axes : sequence of int, optional
        Axis i of the result is axis ``axes[i]`` of `input`: each axis once. A negative value counts from the last axis.
        Default: the axes in reverse.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`. Never a view.

    Raises
    ------
    TypeError
        An argument has the wrong type: floats as `axes`, an int in place of a sequence, an input of Python objects.
    numpy.exceptions.AxisError
        An entry of `axes` is out of range.
    ValueError
        `axes` has not one entry for each axis, or names one twice; `out` does not fit; `device` names no device.
    OverflowError, NoDeviceError, VulkanError

    See Also
    --------
    DeviceArray.transpose : makes a view, without a copy.

    Notes
    -----
    This is ONNX's ``Transpose`` and ``numpy.transpose`` with a copy. DirectML has no operator of its own for it:
    ``DML_ELEMENT_WISE_IDENTITY`` copies a tensor whose strides are permuted.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> dmlops.transpose(np.array([[1, 2, 3], [4, 5, 6]]))
    array([[1, 4],
           [2, 5],
           [3, 6]])
    >>> photograph = np.zeros((480, 640, 3), np.uint8)  # height, width, channels
    >>> dmlops.transpose(photograph, (2, 0, 1)).shape
    (3, 480, 640)
    """
    return _core._transpose(input, axes, out, device, None if progress is None else tracked("transpose", progress))
