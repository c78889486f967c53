"""The operators: signatures and documentation. The C extension dmlops._core does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from dmlops import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from dmlops._annotations import (
        AnyArray,
        Array,
        DeviceLike,
        Input,
        Ints,
        IntSequence,
        Layout,
        Lengths,
        Order,
        PaddingMode,
        Progress,
        Scalar,
        T,
    )
    from dmlops._core import DeviceArray

__all__ = [
    "depth_to_space",
    "join",
    "padding",
    "reverse_subsequences",
    "slice",
    "slice_grad",
    "space_to_depth",
    "split",
    "tile",
    "transpose",
    "upsample",
]

# Each operator's overloads: device arrays, NumPy arrays, and what numpy.asarray makes an array of.


@overload
def reverse_subsequences(
    input: DeviceArray,
    sequence_lengths: Lengths | DeviceArray,
    axis: SupportsIndex,
    *,
    batch_axis: SupportsIndex | None = None,
    out: DeviceArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> DeviceArray: ...
@overload
def reverse_subsequences(
    input: NDArray[T],
    sequence_lengths: Lengths,
    axis: SupportsIndex,
    *,
    batch_axis: SupportsIndex | None = None,
    out: NDArray[T] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> NDArray[T]: ...
@overload
def reverse_subsequences(
    input: Input,
    sequence_lengths: Lengths,
    axis: SupportsIndex,
    *,
    batch_axis: SupportsIndex | None = None,
    out: Array | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
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
    out : numpy.ndarray or DeviceArray, optional
        The array for the result: of the same kind and dtype as `input`, of the result's shape, writable, with any strides.
        It may share memory with the other arguments. Default: a new array.
    device : int, str or Device, optional
        The device to run on; ``dmlops.devices`` lists what is accepted. Default: the device of `input` if it is a device
        array, else ``dmlops.default_device()``.
    progress : bool or function, optional
        For calls of many seconds: True draws a bar, by tqdm where it is installed. A function is called after each 128 MiB or
        so with two ints, the bytes done and all bytes. Either way the call waits for its work, also with device arrays.

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
    OverflowError
        An int does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and `device` is not ``"host"``.
    VulkanError
        The device failed.

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
        device if progress is None else _tracked("reverse_subsequences", device, progress),
    )


@overload
def depth_to_space(
    input: DeviceArray,
    block_size: Ints,
    *,
    order: Order = "DCR",
    layout: Layout = "NCHW",
    out: DeviceArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> DeviceArray: ...
@overload
def depth_to_space(
    input: NDArray[T],
    block_size: Ints,
    *,
    order: Order = "DCR",
    layout: Layout = "NCHW",
    out: NDArray[T] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> NDArray[T]: ...
@overload
def depth_to_space(
    input: Input,
    block_size: Ints,
    *,
    order: Order = "DCR",
    layout: Layout = "NCHW",
    out: Array | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> Array: ...
def depth_to_space(
    input: Input | DeviceArray,
    block_size: Ints,
    *,
    order: Order = "DCR",
    layout: Layout = "NCHW",
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Move blocks of channels into the spatial axes, each of which grows by its block size.

    Parameters
    ----------
    input : array_like or DeviceArray
        Batch axes, channels and spatial axes, in the order of `layout`. Any strides, and any dtype whose elements are plain
        bytes.
    block_size : int or sequence of int
        An int is the block size of every spatial axis; axis 0 is then the only batch axis, and the rank is 4 or more. A
        sequence has one block size for each spatial axis; there may then be any number of batch axes, also none.
    order : {"DCR", "CRD"}, optional
        How the input's channels are numbered. Let B be the product of the block sizes and C' = C / B the number of the
        result's channels. With two spatial axes, position (b1, b2) of the block of channel c is input channel ``(b1*B2 +
        b2)*C' + c`` for ``"DCR"`` (depth, column, row), and ``c*B + b1*B2 + b2`` for ``"CRD"``.
    layout : {"NCHW", "NHWC"}, optional
        Whether channels precede the spatial axes (``"NCHW"``) or follow them (``"NHWC"``). There may be more or fewer
        spatial axes than the two letters H and W.
    out : numpy.ndarray or DeviceArray, optional
        The array for the result: of the same kind and dtype as `input`, of the result's shape, writable, with any strides.
        It may share memory with `input`. Default: a new array.
    device : int, str or Device, optional
        The device to run on; ``dmlops.devices`` lists what is accepted. Default: the device of `input` if it is a device
        array, else ``dmlops.default_device()``.
    progress : bool or function, optional
        For calls of many seconds: True draws a bar, by tqdm where it is installed. A function is called after each 128 MiB or
        so with two ints, the bytes done and all bytes. Either way the call waits for its work, also with device arrays.

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`. It has C' channels, and every spatial axis
        is multiplied by its block size.

    Raises
    ------
    TypeError
        An argument has the wrong type: a float as `block_size`, an `order` that is no string, an input of Python objects.
    ValueError
        A block size is below 1; the number of channels is no multiple of B; the rank does not fit `block_size`; `order` or
        `layout` is unknown; `out` does not fit; `device` names no device.
    OverflowError
        An int does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and `device` is not ``"host"``.
    VulkanError
        The device failed.

    See Also
    --------
    space_to_depth : the inverse.

    Notes
    -----
    This is DirectML's ``DML_DEPTH_TO_SPACE1`` (``DML_DEPTH_TO_SPACE`` is order DCR) and ONNX's ``DepthToSpace``, for any
    rank and dtype. PyTorch's ``pixel_shuffle`` is order CRD. TensorFlow's ``depth_to_space`` is order DCR, by default with
    layout NHWC.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> x = np.arange(8).reshape(1, 8, 1, 1)
    >>> dmlops.depth_to_space(x, 2)
    array([[[[0, 2],
             [4, 6]],
    <BLANKLINE>
            [[1, 3],
             [5, 7]]]])
    >>> dmlops.depth_to_space(x, 2, order="CRD")
    array([[[[0, 1],
             [2, 3]],
    <BLANKLINE>
            [[4, 5],
             [6, 7]]]])
    """
    return _core._depth_to_space(
        input, block_size, order, layout, out, device if progress is None else _tracked("depth_to_space", device, progress)
    )


@overload
def space_to_depth(
    input: DeviceArray,
    block_size: Ints,
    *,
    order: Order = "DCR",
    layout: Layout = "NCHW",
    out: DeviceArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> DeviceArray: ...
@overload
def space_to_depth(
    input: NDArray[T],
    block_size: Ints,
    *,
    order: Order = "DCR",
    layout: Layout = "NCHW",
    out: NDArray[T] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> NDArray[T]: ...
@overload
def space_to_depth(
    input: Input,
    block_size: Ints,
    *,
    order: Order = "DCR",
    layout: Layout = "NCHW",
    out: Array | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> Array: ...
def space_to_depth(
    input: Input | DeviceArray,
    block_size: Ints,
    *,
    order: Order = "DCR",
    layout: Layout = "NCHW",
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Move blocks of the spatial axes into channels; each spatial axis shrinks by its block size.

    Parameters
    ----------
    input : array_like or DeviceArray
        Batch axes, channels and spatial axes, in the order of `layout`. Any strides, and any dtype whose elements are plain
        bytes.
    block_size : int or sequence of int
        An int is the block size of every spatial axis; axis 0 is then the only batch axis, and the rank is 4 or more. A
        sequence has one block size for each spatial axis; there may then be any number of batch axes, also none.
    order : {"DCR", "CRD"}, optional
        How the result's channels are numbered. Let B be the product of the block sizes and C the number of the input's
        channels. With two spatial axes, position (b1, b2) of the block of channel c becomes channel ``(b1*B2 + b2)*C + c``
        for ``"DCR"`` (depth, column, row), and ``c*B + b1*B2 + b2`` for ``"CRD"``.
    layout : {"NCHW", "NHWC"}, optional
        Whether channels precede the spatial axes (``"NCHW"``) or follow them (``"NHWC"``). There may be more or fewer
        spatial axes than the two letters H and W.
    out : numpy.ndarray or DeviceArray, optional
        The array for the result: of the same kind and dtype as `input`, of the result's shape, writable, with any strides.
        It may share memory with `input`. Default: a new array.
    device : int, str or Device, optional
        The device to run on; ``dmlops.devices`` lists what is accepted. Default: the device of `input` if it is a device
        array, else ``dmlops.default_device()``.
    progress : bool or function, optional
        For calls of many seconds: True draws a bar, by tqdm where it is installed. A function is called after each 128 MiB or
        so with two ints, the bytes done and all bytes. Either way the call waits for its work, also with device arrays.

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`. It has C*B channels, and every spatial
        axis is divided by its block size.

    Raises
    ------
    TypeError
        An argument has the wrong type: a float as `block_size`, an `order` that is no string, an input of Python objects.
    ValueError
        A block size is below 1; a spatial axis is no multiple of its block size; the rank does not fit `block_size`;
        `order` or `layout` is unknown; `out` does not fit; `device` names no device.
    OverflowError
        An int does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and `device` is not ``"host"``.
    VulkanError
        The device failed.

    See Also
    --------
    depth_to_space : the inverse.

    Notes
    -----
    This is DirectML's ``DML_SPACE_TO_DEPTH1`` and ONNX's ``SpaceToDepth``, which is order DCR, for any rank and dtype.
    PyTorch's ``pixel_unshuffle`` is order CRD. TensorFlow's ``space_to_depth`` is order DCR, by default with layout NHWC.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> x = np.arange(8).reshape(1, 1, 2, 4)
    >>> dmlops.space_to_depth(x, 2)
    array([[[[0, 2]],
    <BLANKLINE>
            [[1, 3]],
    <BLANKLINE>
            [[4, 6]],
    <BLANKLINE>
            [[5, 7]]]])
    """
    return _core._space_to_depth(
        input, block_size, order, layout, out, device if progress is None else _tracked("space_to_depth", device, progress)
    )


@overload
def slice(
    input: DeviceArray,
    offsets: IntSequence,
    sizes: IntSequence,
    strides: IntSequence | None = None,
    *,
    output_sizes: IntSequence | None = None,
    out: DeviceArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> DeviceArray: ...
@overload
def slice(
    input: NDArray[T],
    offsets: IntSequence,
    sizes: IntSequence,
    strides: IntSequence | None = None,
    *,
    output_sizes: IntSequence | None = None,
    out: NDArray[T] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> NDArray[T]: ...
@overload
def slice(
    input: Input,
    offsets: IntSequence,
    sizes: IntSequence,
    strides: IntSequence | None = None,
    *,
    output_sizes: IntSequence | None = None,
    out: Array | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> Array: ...
def slice(
    input: Input | DeviceArray,
    offsets: IntSequence,
    sizes: IntSequence,
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
    input : array_like or DeviceArray
        Any rank, any strides, and any dtype whose elements are plain bytes.
    offsets, sizes : sequence of int
        The window's first position and its size on each axis. The window must lie inside `input`.
    strides : sequence of int, optional
        The step on each axis in elements, not 0. Default: 1 on every axis.
    output_sizes : sequence of int, optional
        The number of elements to take on each axis, from 1 to the number that can be reached, ``1 + (size-1) //
        abs(stride)``. It is 0 where the window's size is 0. Default: all that can be reached.
    out : numpy.ndarray or DeviceArray, optional
        The array for the result: of the same kind and dtype as `input`, of the result's shape, writable, with any strides.
        It may share memory with `input`. Default: a new array.
    device : int, str or Device, optional
        The device to run on; ``dmlops.devices`` lists what is accepted. Default: the device of `input` if it is a device
        array, else ``dmlops.default_device()``.
    progress : bool or function, optional
        For calls of many seconds: True draws a bar, by tqdm where it is installed. A function is called after each 128 MiB or
        so with two ints, the bytes done and all bytes. Either way the call waits for its work, also with device arrays.

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
    OverflowError
        An int does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and `device` is not ``"host"``.
    VulkanError
        The device failed.

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
    """
    return _core._slice(
        input, offsets, sizes, strides, output_sizes, out, device if progress is None else _tracked("slice", device, progress)
    )


@overload
def padding(
    input: DeviceArray,
    start_padding: IntSequence,
    end_padding: IntSequence,
    *,
    mode: PaddingMode = "constant",
    value: Scalar = 0,
    out: DeviceArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> DeviceArray: ...
@overload
def padding(
    input: NDArray[T],
    start_padding: IntSequence,
    end_padding: IntSequence,
    *,
    mode: PaddingMode = "constant",
    value: Scalar = 0,
    out: NDArray[T] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> NDArray[T]: ...
@overload
def padding(
    input: Input,
    start_padding: IntSequence,
    end_padding: IntSequence,
    *,
    mode: PaddingMode = "constant",
    value: Scalar = 0,
    out: Array | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> Array: ...
def padding(
    input: Input | DeviceArray,
    start_padding: IntSequence,
    end_padding: IntSequence,
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
    input : array_like or DeviceArray
        Any rank, any strides, and any dtype whose elements are plain bytes.
    start_padding, end_padding : sequence of int
        The number of elements to add before and after each axis, 0 or more.
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

        More elements than the axis has continue the pattern. An axis of size 0 can be padded with ``constant`` only.
    value : scalar, optional
        The constant, which is stored as ``numpy.full`` stores it: floats and times are rounded. It must be of a type that the
        dtype can hold; datetimes and timedeltas also take those of Python and pandas, and None. The other modes do not use it.
        Default: 0.
    out : numpy.ndarray or DeviceArray, optional
        The array for the result: of the same kind and dtype as `input`, of the result's shape, writable, with any strides.
        It may share memory with `input`. Default: a new array.
    device : int, str or Device, optional
        The device to run on; ``dmlops.devices`` lists what is accepted. Default: the device of `input` if it is a device
        array, else ``dmlops.default_device()``.
    progress : bool or function, optional
        For calls of many seconds: True draws a bar, by tqdm where it is installed. A function is called after each 128 MiB or
        so with two ints, the bytes done and all bytes. Either way the call waits for its work, also with device arrays.

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
    NoDeviceError
        There is no usable Vulkan device, and `device` is not ``"host"``.
    VulkanError
        The device failed.

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
    """
    return _core._padding(
        input,
        start_padding,
        end_padding,
        mode,
        value,
        out,
        device if progress is None else _tracked("padding", device, progress),
    )


@overload
def tile(
    input: DeviceArray,
    repeats: IntSequence,
    *,
    out: DeviceArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> DeviceArray: ...
@overload
def tile(
    input: NDArray[T],
    repeats: IntSequence,
    *,
    out: NDArray[T] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> NDArray[T]: ...
@overload
def tile(
    input: Input,
    repeats: IntSequence,
    *,
    out: Array | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> Array: ...
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
    input : array_like or DeviceArray
        Any rank, any strides, and any dtype whose elements are plain bytes.
    repeats : sequence of int
        How often `input` appears along each axis, 0 or more.
    out : numpy.ndarray or DeviceArray, optional
        The array for the result: of the same kind and dtype as `input`, of the result's shape, writable, with any strides.
        It may share memory with `input`. Default: a new array.
    device : int, str or Device, optional
        The device to run on; ``dmlops.devices`` lists what is accepted. Default: the device of `input` if it is a device
        array, else ``dmlops.default_device()``.
    progress : bool or function, optional
        For calls of many seconds: True draws a bar, by tqdm where it is installed. A function is called after each 128 MiB or
        so with two ints, the bytes done and all bytes. Either way the call waits for its work, also with device arrays.

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
    OverflowError
        An int does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and `device` is not ``"host"``.
    VulkanError
        The device failed.

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
    return _core._tile(input, repeats, out, device if progress is None else _tracked("tile", device, progress))


@overload
def join(
    inputs: Iterable[DeviceArray],
    axis: SupportsIndex,
    *,
    out: DeviceArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> DeviceArray: ...
@overload
def join(
    inputs: Iterable[NDArray[T]],
    axis: SupportsIndex,
    *,
    out: NDArray[T] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> NDArray[T]: ...
@overload
def join(
    inputs: Iterable[Input],
    axis: SupportsIndex,
    *,
    out: Array | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> Array: ...
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
        At least one array. All have the same dtype, the same rank of 1 or more, and the same size on every axis but `axis`.
        Any strides, and any dtype whose elements are plain bytes. Device arrays are all on one device.
    axis : int
        The axis to join along. A negative value counts from the last axis.
    out : numpy.ndarray or DeviceArray, optional
        The array for the result: of the same kind and dtype as `inputs`, of the result's shape, writable, with any strides.
        It may share memory with `inputs`. Default: a new array.
    device : int, str or Device, optional
        The device to run on; ``dmlops.devices`` lists what is accepted. Default: the device of `inputs` if they are device
        arrays, else ``dmlops.default_device()``.
    progress : bool or function, optional
        For calls of many seconds: True draws a bar, by tqdm where it is installed. A function is called after each 128 MiB or
        so with two ints, the bytes done and all bytes. Either way the call waits for its work, also with device arrays.

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `inputs`. Its size on `axis` is the sum of theirs.

    Raises
    ------
    TypeError
        The dtypes differ: nothing is converted. Only some of `inputs` are device arrays. An argument has another wrong type:
        a float as `axis`, an input of Python objects.
    numpy.exceptions.AxisError
        `axis` is out of range.
    ValueError
        `inputs` is empty; ranks or sizes differ; device arrays are on different devices; `out` does not fit; `device` names
        no device.
    OverflowError
        An int does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and `device` is not ``"host"``.
    VulkanError
        The device failed.

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
    return _core._join(inputs, axis, out, device if progress is None else _tracked("join", device, progress))


@overload
def split(
    input: DeviceArray,
    axis: SupportsIndex,
    output_axis_sizes: IntSequence,
    *,
    out: Sequence[DeviceArray] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> list[DeviceArray]: ...
@overload
def split(
    input: NDArray[T],
    axis: SupportsIndex,
    output_axis_sizes: IntSequence,
    *,
    out: Sequence[NDArray[T]] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> list[NDArray[T]]: ...
@overload
def split(
    input: Input,
    axis: SupportsIndex,
    output_axis_sizes: IntSequence,
    *,
    out: Sequence[Array] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
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
    device : int, str or Device, optional
        The device to run on; ``dmlops.devices`` lists what is accepted. Default: the device of `input` if it is a device
        array, else ``dmlops.default_device()``.
    progress : bool or function, optional
        For calls of many seconds: True draws a bar, by tqdm where it is installed. A function is called after each 128 MiB or
        so with two ints, the bytes done and all bytes. Either way the call waits for its work, also with device arrays.

    Returns
    -------
    list of numpy.ndarray or of DeviceArray
        The arrays of `out`, or new C-contiguous arrays of the same kind and dtype as `input`. Never views.

    Raises
    ------
    TypeError
        An argument has the wrong type: floats as `output_axis_sizes`, an `out` that is no list, an input of Python objects.
    numpy.exceptions.AxisError
        `axis` is out of range.
    ValueError
        A size is negative; the sizes do not add up to the axis; `out` does not fit; `device` names no device.
    OverflowError
        An int does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and `device` is not ``"host"``.
    VulkanError
        The device failed.

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
    return _core._split(
        input, axis, output_axis_sizes, out, device if progress is None else _tracked("split", device, progress)
    )


@overload
def transpose(
    input: DeviceArray,
    axes: IntSequence | None = None,
    *,
    out: DeviceArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> DeviceArray: ...
@overload
def transpose(
    input: NDArray[T],
    axes: IntSequence | None = None,
    *,
    out: NDArray[T] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> NDArray[T]: ...
@overload
def transpose(
    input: Input,
    axes: IntSequence | None = None,
    *,
    out: Array | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> Array: ...
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
    input : array_like or DeviceArray
        Any rank, any strides, and any dtype whose elements are plain bytes.
    axes : sequence of int, optional
        Axis i of the result is axis ``axes[i]`` of `input`: each axis once. A negative value counts from the last axis.
        Default: the axes in reverse.
    out : numpy.ndarray or DeviceArray, optional
        The array for the result: of the same kind and dtype as `input`, of the result's shape, writable, with any strides.
        It may share memory with `input`. Default: a new array.
    device : int, str or Device, optional
        The device to run on; ``dmlops.devices`` lists what is accepted. Default: the device of `input` if it is a device
        array, else ``dmlops.default_device()``.
    progress : bool or function, optional
        For calls of many seconds: True draws a bar, by tqdm where it is installed. A function is called after each 128 MiB or
        so with two ints, the bytes done and all bytes. Either way the call waits for its work, also with device arrays.

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
    OverflowError
        An int does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and `device` is not ``"host"``.
    VulkanError
        The device failed.

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
    return _core._transpose(input, axes, out, device if progress is None else _tracked("transpose", device, progress))


@overload
def upsample(
    input: DeviceArray,
    scale_size: Ints,
    *,
    layout: Layout = "NCHW",
    out: DeviceArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> DeviceArray: ...
@overload
def upsample(
    input: NDArray[T],
    scale_size: Ints,
    *,
    layout: Layout = "NCHW",
    out: NDArray[T] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> NDArray[T]: ...
@overload
def upsample(
    input: Input,
    scale_size: Ints,
    *,
    layout: Layout = "NCHW",
    out: Array | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> Array: ...
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
    input : array_like or DeviceArray
        Batch axes, channels and spatial axes, in the order of `layout`. Any strides, and any dtype whose elements are plain
        bytes.
    scale_size : int or sequence of int
        An int is the factor of every spatial axis; axis 0 is then the only batch axis, and the rank is 4 or more. A sequence
        has one factor for each spatial axis; there may then be any number of batch axes, also none.
    layout : {"NCHW", "NHWC"}, optional
        Whether channels precede the spatial axes (``"NCHW"``) or follow them (``"NHWC"``). There may be more or fewer
        spatial axes than the two letters H and W.
    out : numpy.ndarray or DeviceArray, optional
        The array for the result: of the same kind and dtype as `input`, of the result's shape, writable, with any strides.
        It may share memory with `input`. Default: a new array.
    device : int, str or Device, optional
        The device to run on; ``dmlops.devices`` lists what is accepted. Default: the device of `input` if it is a device
        array, else ``dmlops.default_device()``.
    progress : bool or function, optional
        For calls of many seconds: True draws a bar, by tqdm where it is installed. A function is called after each 128 MiB or
        so with two ints, the bytes done and all bytes. Either way the call waits for its work, also with device arrays.

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
    OverflowError
        An int does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and `device` is not ``"host"``.
    VulkanError
        The device failed.

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
    return _core._upsample(
        input, scale_size, layout, out, device if progress is None else _tracked("upsample", device, progress)
    )


@overload
def slice_grad(
    gradient: DeviceArray,
    output_shape: IntSequence,
    offsets: IntSequence,
    sizes: IntSequence,
    strides: IntSequence | None = None,
    *,
    out: DeviceArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> DeviceArray: ...
@overload
def slice_grad(
    gradient: NDArray[T],
    output_shape: IntSequence,
    offsets: IntSequence,
    sizes: IntSequence,
    strides: IntSequence | None = None,
    *,
    out: NDArray[T] | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> NDArray[T]: ...
@overload
def slice_grad(
    gradient: Input,
    output_shape: IntSequence,
    offsets: IntSequence,
    sizes: IntSequence,
    strides: IntSequence | None = None,
    *,
    out: Array | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
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
    out : numpy.ndarray or DeviceArray, optional
        The array for the result: of the same kind and dtype as `gradient`, of the result's shape, writable, with any
        strides. It may share memory with `gradient`. Default: a new array.
    device : int, str or Device, optional
        The device to run on; ``dmlops.devices`` lists what is accepted. Default: the device of `gradient` if it is a device
        array, else ``dmlops.default_device()``.
    progress : bool or function, optional
        For calls of many seconds: True draws a bar, by tqdm where it is installed. A function is called after each 128 MiB or
        so with two ints, the bytes done and all bytes. Either way the call waits for its work, also with device arrays.

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
    OverflowError
        An int does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and `device` is not ``"host"``.
    VulkanError
        The device failed.

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
        device if progress is None else _tracked("slice_grad", device, progress),
    )


def _tracked(name: str, device: DeviceLike | None, progress: Progress) -> Any:
    """What the extension takes as `device` of a call that reports its progress."""
    from dmlops.progress import tracked

    return tracked(name, device, progress)
