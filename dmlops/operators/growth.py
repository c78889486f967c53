"""Operators whose result is the input and more: values around it, or copies of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, overload

from dmlops import _core, other_forms
from dmlops.operators.tracking import tracked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dmlops._annotations import (
        AnyArray,
        Array,
        DeviceLike,
        Input,
        Ints,
        IntSequence,
        Layout,
        Options,
        PaddingMode,
        PadWidths,
        Progress,
        Scalar,
        T,
    )
    from dmlops._core import DeviceArray

__all__ = ["padding", "tile", "upsample"]


@overload
def padding(
    input: DeviceArray,
    start_padding: IntSequence | PadWidths,
    end_padding: IntSequence | None = None,
    *,
    mode: PaddingMode = "constant",
    value: Scalar = 0,
    **how: Unpack[Options[DeviceArray]],
) -> DeviceArray: ...
@overload
def padding(
    input: NDArray[T],
    start_padding: IntSequence | PadWidths,
    end_padding: IntSequence | None = None,
    *,
    mode: PaddingMode = "constant",
    value: Scalar = 0,
    **how: Unpack[Options[NDArray[T]]],
) -> NDArray[T]: ...
@overload
def padding(
    input: Input,
    start_padding: IntSequence | PadWidths,
    end_padding: IntSequence | None = None,
    *,
    mode: PaddingMode = "constant",
    value: Scalar = 0,
    **how: Unpack[Options[Array]],
) -> Array: ...
def padding(
    input: Input | DeviceArray,
    start_padding: IntSequence | PadWidths,
    end_padding: IntSequence | None = None,
    *,
    mode: PaddingMode = "constant",
    value: Scalar = 0,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Add elements before and after an array along each axis: a constant, or elements of the array itself.

    Parameters
    ----------
    input
    start_padding, end_padding : sequence of int
        The number of elements to add before and after each axis, 0 or more. Without `end_padding`, `start_padding` is what
        ``numpy.pad`` takes: a pair for each axis, one pair for all, or an int.
    mode : {"constant", "edge", "reflection", "symmetric", "wrap"}, optional
        What is added along each axis. Beside an axis of the elements ``a b c d``:

        ============== ================= =================================================
        mode           three on a side
        ============== ================= =================================================
        ``constant``   ``vvv|abcd|vvv``  `value`
        ``edge``       ``aaa|abcd|ddd``  the nearest element
        ``reflection`` ``dcb|abcd|cba``  a reflection that does not repeat the edge
        ``symmetric``  ``cba|abcd|dcb``  a reflection that repeats the edge
        ``wrap``       ``bcd|abcd|abc``  the array again
        ============== ================= =================================================

        ``reflect``, ``replicate`` and ``circular`` are other names of ``reflection``, ``edge`` and ``wrap``.
        More elements than the axis has continue the pattern. An axis of size 0 can be padded with ``constant`` only.
    value : scalar, optional
        The constant, which is stored as ``numpy.full`` stores it: floats and times are rounded. It must be of a type that the
        dtype can hold; datetimes and timedeltas also take those of Python and pandas, and None. The other modes do not use it.
        Default: 0.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`. Its size on axis i is ``start_padding[i] +
        input.shape[i] + end_padding[i]``.

    Raises
    ------
    TypeError
        An argument has the wrong type: floats as `start_padding`, a `mode` that is no string, an array or a float as the
        `value` for ints, an input of Python objects.
    ValueError
        A sequence has the wrong length; a padding is negative; an axis of size 0 has no element to repeat; `mode` is
        unknown; `out` does not fit; `device` names no device.
    OverflowError
        An int does not fit into 64 bits, or `value` not into the dtype: it is too large, or its text too long.
    NoDeviceError, VulkanError

    See Also
    --------
    slice : the inverse, cropping.

    Notes
    -----
    This is DirectML's ``DML_PADDING1`` for any rank and dtype, whose mode ``DML_PADDING_MODE_REFLECTION`` is ONNX's
    ``reflect``. ``numpy.pad`` has the same modes; there ``reflection`` is ``reflect``. ONNX's ``Pad`` and PyTorch's ``pad``
    refuse a reflection longer than the axis, and remove elements where a padding is negative: `slice` does that.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> x = np.array([[1, 2, 3], [4, 5, 6]])
    >>> dmlops.padding(x, [0, 1], [1, 2], value=9)
    array([[9, 1, 2, 3, 9, 9],
           [9, 4, 5, 6, 9, 9],
           [9, 9, 9, 9, 9, 9]])
    >>> dmlops.padding(x, [0, 2], [0, 2], mode="reflection")
    array([[3, 2, 1, 2, 3, 2, 1],
           [6, 5, 4, 5, 6, 5, 4]])
    >>> dmlops.padding(x, ((0, 0), (2, 2)), mode="reflect").shape
    (2, 7)
    """
    if end_padding is None:
        start_padding, end_padding = other_forms.widths_of(input, start_padding)
    return _core._padding(
        input,
        start_padding,
        end_padding,
        other_forms.mode_of(mode),
        value,
        out,
        device,
        None if progress is None else tracked("padding", progress),
    )


@overload
def tile(input: DeviceArray, repeats: IntSequence, **how: Unpack[Options[DeviceArray]]) -> DeviceArray: ...
@overload
def tile(input: NDArray[T], repeats: IntSequence, **how: Unpack[Options[NDArray[T]]]) -> NDArray[T]: ...
@overload
def tile(input: Input, repeats: IntSequence, **how: Unpack[Options[Array]]) -> Array: ...
def tile(
    input: Input | DeviceArray,
    repeats: IntSequence,
    *,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Repeat a whole array along each axis.

    Parameters
    ----------
    input
    repeats : sequence of int
        How often `input` appears along each axis, 0 or more.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`. Its size on axis i is ``input.shape[i] *
        repeats[i]``.

    Raises
    ------
    TypeError
        An argument has the wrong type: floats as `repeats`, an int in place of a sequence, an input of Python objects.
    ValueError
        `repeats` has not one entry for each axis; an entry is negative; `out` does not fit; `device` names no device.
    OverflowError, NoDeviceError, VulkanError

    See Also
    --------
    upsample : repeats each element instead.

    Notes
    -----
    This is DirectML's ``DML_TILE`` and ONNX's ``Tile``, for any rank and dtype; DirectML has no repeats of 0. ``numpy.tile``
    also takes fewer or more repeats than there are axes.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> dmlops.tile(np.array([[1, 2], [3, 4]]), [2, 3])
    array([[1, 2, 1, 2, 1, 2],
           [3, 4, 3, 4, 3, 4],
           [1, 2, 1, 2, 1, 2],
           [3, 4, 3, 4, 3, 4]])
    """
    return _core._tile(input, repeats, out, device, None if progress is None else tracked("tile", progress))


@overload
def upsample(
    input: DeviceArray, scale_size: Ints, *, layout: Layout = "NCHW", **how: Unpack[Options[DeviceArray]]
) -> DeviceArray: ...
@overload
def upsample(
    input: NDArray[T], scale_size: Ints, *, layout: Layout = "NCHW", **how: Unpack[Options[NDArray[T]]]
) -> NDArray[T]: ...
@overload
def upsample(input: Input, scale_size: Ints, *, layout: Layout = "NCHW", **how: Unpack[Options[Array]]) -> Array: ...
def upsample(
    input: Input | DeviceArray,
    scale_size: Ints,
    *,
    layout: Layout = "NCHW",
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Repeat each element along the spatial axes: nearest-neighbour scaling by whole factors.

    Parameters
    ----------
    input : channels
    scale_size : int or sequence of int
        An int is the factor of every spatial axis; axis 0 is then the only batch axis, and the rank is 4 or more. A sequence
        has one factor for each spatial axis; there may then be any number of batch axes, also none.
    layout
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`. Every spatial axis is multiplied by its
        factor.

    Raises
    ------
    TypeError
        An argument has the wrong type: a float as `scale_size`, a `layout` that is no string, an input of Python objects.
    ValueError
        A factor is below 1; the rank does not fit `scale_size`; `layout` is unknown; `out` does not fit; `device` names no
        device.
    OverflowError, NoDeviceError, VulkanError

    See Also
    --------
    tile : repeats the whole array instead.

    Notes
    -----
    This is DirectML's ``DML_UPSAMPLE_2D`` with nearest-neighbour interpolation, for any rank and dtype. ONNX's ``Resize``
    with mode ``nearest`` and coordinate transformation ``asymmetric`` and PyTorch's ``interpolate`` with mode ``nearest`` are
    equal for whole factors, and so is ``numpy.repeat`` along each axis.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> dmlops.upsample(np.array([[[[1, 2], [3, 4]]]]), 2)
    array([[[[1, 1, 2, 2],
             [1, 1, 2, 2],
             [3, 3, 4, 4],
             [3, 3, 4, 4]]]])
    >>> dmlops.upsample(np.zeros((1, 4, 6, 3)), (2, 3), layout="NHWC").shape
    (1, 8, 18, 3)
    """
    return _core._upsample(input, scale_size, layout, out, device, None if progress is None else tracked("upsample", progress))
