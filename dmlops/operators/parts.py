"""Operators that make one array of several, and several of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex, Unpack, overload

from dmlops import _core
from dmlops.operators.tracking import tracked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from dmlops._annotations import AnyArray, Array, DeviceLike, Input, IntSequence, Options, Progress, T
    from dmlops._core import DeviceArray

__all__ = ["join", "split"]


@overload
def join(inputs: Iterable[DeviceArray], axis: SupportsIndex, **how: Unpack[Options[DeviceArray]]) -> DeviceArray: ...
@overload
def join(inputs: Iterable[NDArray[T]], axis: SupportsIndex, **how: Unpack[Options[NDArray[T]]]) -> NDArray[T]: ...
@overload
def join(inputs: Iterable[Input], axis: SupportsIndex, **how: Unpack[Options[Array]]) -> Array: ...
def join(
    inputs: Iterable[Input] | Iterable[DeviceArray],
    axis: SupportsIndex,
    *,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Put arrays one after the other along an axis.

    Parameters
    ----------
    inputs : sequence of array_like, or sequence of DeviceArray
        At least one array; or one array, whose entries along its first axis are joined. All have the same dtype, the same
        rank of 1 or more, and the same size on every axis but `axis`. Any strides, and any dtype whose elements are plain
        bytes. Device arrays are all on one device.
    axis : int
        The axis to join along. A negative value counts from the last axis.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `inputs`. Its size on `axis` is the sum of theirs.

    Raises
    ------
    TypeError
        The dtypes differ: nothing is converted. Only some of `inputs` are device arrays. An argument has another wrong type:
        a float as `axis`, an input of Python objects.
    AxisError
    ValueError
        `inputs` is empty; ranks or sizes differ; device arrays are on different devices; `out` does not fit; `device` names
        no device.
    OverflowError, NoDeviceError, VulkanError

    See Also
    --------
    split : the inverse.

    Notes
    -----
    This is DirectML's ``DML_JOIN`` and ONNX's ``Concat``, for any rank and dtype. ``numpy.concatenate`` also converts to a
    common dtype.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> dmlops.join([np.array([[1, 2], [3, 4]]), np.array([[5], [6]])], axis=1)
    array([[1, 2, 5],
           [3, 4, 6]])
    """
    return _core._join(
        list(inputs) if hasattr(inputs, "shape") else inputs,
        axis,
        out,
        device,
        None if progress is None else tracked("join", progress),
    )


@overload
def split(
    input: DeviceArray, axis: SupportsIndex, output_axis_sizes: IntSequence, **how: Unpack[Options[Sequence[DeviceArray]]]
) -> list[DeviceArray]: ...
@overload
def split(
    input: NDArray[T], axis: SupportsIndex, output_axis_sizes: IntSequence, **how: Unpack[Options[Sequence[NDArray[T]]]]
) -> list[NDArray[T]]: ...
@overload
def split(
    input: Input, axis: SupportsIndex, output_axis_sizes: IntSequence, **how: Unpack[Options[Sequence[Array]]]
) -> list[Array]: ...
def split(
    input: Input | DeviceArray,
    axis: SupportsIndex,
    output_axis_sizes: IntSequence,
    *,
    out: Sequence[Array] | Sequence[DeviceArray] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> list[Array] | list[DeviceArray]:
    """Cut an array into parts along an axis.

    Parameters
    ----------
    input : array_like or DeviceArray
        Any rank from 1, any strides, and any dtype whose elements are plain bytes.
    axis : int
        The axis to cut. A negative value counts from the last axis.
    output_axis_sizes : sequence of int
        The size of each part along `axis`, 0 or more. They add up to ``input.shape[axis]``.
    out : list of numpy.ndarray or of DeviceArray, optional
        One array for each part: of the same kind and dtype as `input`, of the part's shape, writable, with any strides. They
        may share memory with `input`, but not with each other. Default: new arrays.
    device, progress

    Returns
    -------
    list of numpy.ndarray or of DeviceArray
        The arrays of `out`, or new C-contiguous arrays of the same kind and dtype as `input`. Never views.

    Raises
    ------
    TypeError
        An argument has the wrong type: floats as `output_axis_sizes`, an `out` that is no list, an input of Python objects.
    AxisError
    ValueError
        A size is negative; the sizes do not add up to the axis; `out` does not fit; `device` names no device.
    OverflowError, NoDeviceError, VulkanError

    See Also
    --------
    join : the inverse.

    Notes
    -----
    This is DirectML's ``DML_SPLIT``, ONNX's ``Split`` and PyTorch's ``split`` with a list of sizes, for any rank and dtype.
    ``numpy.split`` takes the places of the cuts instead and makes views.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> dmlops.split(np.array([[1, 2, 3], [4, 5, 6]]), axis=1, output_axis_sizes=[1, 2])
    [array([[1],
           [4]]), array([[2, 3],
           [5, 6]])]
    """
    return _core._split(input, axis, output_axis_sizes, out, device, None if progress is None else tracked("split", progress))
