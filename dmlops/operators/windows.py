"""Operators that select a window of an array, and the inverse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, overload

from dmlops import _core, other_forms
from dmlops.operators.tracking import tracked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dmlops._annotations import AnyArray, Array, DeviceLike, Input, IntSequence, Key, Options, Progress, T
    from dmlops._core import DeviceArray

__all__ = ["slice", "slice_grad"]


@overload
def slice(
    input: DeviceArray,
    offsets: IntSequence | Key,
    sizes: IntSequence | None = None,
    strides: IntSequence | None = None,
    *,
    output_sizes: IntSequence | None = None,
    **how: Unpack[Options[DeviceArray]],
) -> DeviceArray: ...
@overload
def slice(
    input: NDArray[T],
    offsets: IntSequence | Key,
    sizes: IntSequence | None = None,
    strides: IntSequence | None = None,
    *,
    output_sizes: IntSequence | None = None,
    **how: Unpack[Options[NDArray[T]]],
) -> NDArray[T]: ...
@overload
def slice(
    input: Input,
    offsets: IntSequence | Key,
    sizes: IntSequence | None = None,
    strides: IntSequence | None = None,
    *,
    output_sizes: IntSequence | None = None,
    **how: Unpack[Options[Array]],
) -> Array: ...
def slice(
    input: Input | DeviceArray,
    offsets: IntSequence | Key,
    sizes: IntSequence | None = None,
    strides: IntSequence | None = None,
    *,
    output_sizes: IntSequence | None = None,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Copy a window of an array, with a stride on each axis that may be negative.

    The window on axis i is ``[offsets[i], offsets[i] + sizes[i])``. A positive stride starts at the window's first element,
    a negative one at its last: ``out[k] = input[start + stride*k]``.

    Parameters
    ----------
    input
    offsets : sequence of int, or a key
        The window's first position on each axis. Or a NumPy index of slices and ``...``, as ``numpy.s_`` makes it, in place of
        `offsets`, `sizes` and `strides`: ``dmlops.slice(x, np.s_[1:-1, ::-2])`` is ``x[1:-1, ::-2]``.
    sizes : sequence of int, optional
        The window's size on each axis. The window must lie inside `input`. Left out with a key only.
    strides : sequence of int, optional
        The step on each axis in elements, not 0. Default: 1 on every axis.
    output_sizes : sequence of int, optional
        The number of elements to take on each axis, from 1 to the number that can be reached, ``1 + (size-1) //
        abs(stride)``. It is 0 where the window's size is 0. Default: all that can be reached.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`, of shape `output_sizes`. Never a view.

    Raises
    ------
    TypeError
        An argument has the wrong type: floats as `offsets`, an int in place of a sequence, an input of Python objects.
    ValueError
        A sequence has the wrong length; the window reaches beyond `input`; a stride is 0; `output_sizes` exceeds what can
        be reached; `out` does not fit; `device` names no device.
    OverflowError, NoDeviceError, VulkanError

    See Also
    --------
    slice_from_key : the same arguments from a NumPy index.

    Notes
    -----
    This is DirectML's ``DML_SLICE1`` (``DML_SLICE`` has positive strides only) for any rank and dtype, and for empty
    windows too. ONNX's ``Slice`` counts positions as NumPy does; `slice_from_key` converts them.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> x = np.arange(12).reshape(3, 4)
    >>> dmlops.slice(x, offsets=[1, 0], sizes=[2, 4], strides=[1, 2])
    array([[ 4,  6],
           [ 8, 10]])
    >>> dmlops.slice(x, offsets=[0, 0], sizes=[3, 4], strides=[-2, -1], output_sizes=[2, 3])
    array([[11, 10,  9],
           [ 3,  2,  1]])
    >>> dmlops.slice(x, np.s_[1:, ::-2])
    array([[ 7,  5],
           [11,  9]])
    """
    if sizes is None:
        offsets, sizes, strides = other_forms.window_of(input, offsets, strides)
    return _core._slice(
        input, offsets, sizes, strides, output_sizes, out, device, None if progress is None else tracked("slice", progress)
    )


@overload
def slice_grad(
    gradient: DeviceArray,
    output_shape: IntSequence,
    offsets: IntSequence,
    sizes: IntSequence,
    strides: IntSequence | None = None,
    **how: Unpack[Options[DeviceArray]],
) -> DeviceArray: ...
@overload
def slice_grad(
    gradient: NDArray[T],
    output_shape: IntSequence,
    offsets: IntSequence,
    sizes: IntSequence,
    strides: IntSequence | None = None,
    **how: Unpack[Options[NDArray[T]]],
) -> NDArray[T]: ...
@overload
def slice_grad(
    gradient: Input,
    output_shape: IntSequence,
    offsets: IntSequence,
    sizes: IntSequence,
    strides: IntSequence | None = None,
    **how: Unpack[Options[Array]],
) -> Array: ...
def slice_grad(
    gradient: Input | DeviceArray,
    output_shape: IntSequence,
    offsets: IntSequence,
    sizes: IntSequence,
    strides: IntSequence | None = None,
    *,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Write an array where `slice` would have read it, into zeros: the gradient of `slice`.

    Parameters
    ----------
    gradient : array_like or DeviceArray
        Of the shape that `slice` with this window gives, or smaller, as with its `output_sizes`. Any rank, any strides, and
        any dtype whose elements are plain bytes.
    output_shape : sequence of int
        The shape of the array that the window lies in, and of the result.
    offsets, sizes : sequence of int
        The window's first position and its size on each axis. The window must lie inside `output_shape`.
    strides : sequence of int, optional
        The step on each axis in elements, not 0. With a negative one the window's last element is the first of `gradient`.
        Default: 1 on every axis.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `gradient`, of shape `output_shape`. Every byte of
        the elements that the window does not reach is 0.

    Raises
    ------
    TypeError
        An argument has the wrong type: floats as `offsets`, an int in place of a sequence, a gradient of Python objects.
    ValueError
        A sequence has the wrong length; a size is negative; the window reaches beyond `output_shape`; a stride is 0; the
        shape of `gradient` does not fit the window; `out` does not fit; `device` names no device.
    OverflowError, NoDeviceError, VulkanError

    See Also
    --------
    slice : what this is the gradient of.

    Notes
    -----
    This is DirectML's ``DML_SLICE_GRAD`` for any rank and dtype, and for empty windows too.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> dmlops.slice_grad(np.array([[1, 2], [3, 4]]), [3, 4], offsets=[1, 0], sizes=[2, 4], strides=[1, -2])
    array([[0, 0, 0, 0],
           [0, 2, 0, 1],
           [0, 4, 0, 3]])
    """
    return _core._slice_grad(
        gradient,
        output_shape,
        offsets,
        sizes,
        strides,
        out,
        device,
        None if progress is None else tracked("slice_grad", progress),
    )
