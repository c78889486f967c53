"""The public functions: signatures and documentation. The work is done in C, by dmlops._core."""

from __future__ import annotations

import builtins
import operator

from dmlops import _core

__all__ = ["depth_to_space", "devices", "reverse_subsequences", "slice", "space_to_depth", "window"]


def reverse_subsequences(input, sequence_lengths, axis, *, batch_axis=None, out=None, device=None):
    """Reverse the first elements along an axis, as many as each position's own length says.

    For every position outside `axis`, the first L elements along `axis` are reversed and the rest are copied, L being
    that position's entry of `sequence_lengths`::

        out[..., i, ...] = input[..., L-1-i if i < L else i, ...]

    Parameters
    ----------
    input : array_like or DeviceArray
        Of any rank from 1, any strides, and any dtype whose elements are plain bytes.
    sequence_lengths : array_like of int, or DeviceArray
        Without `batch_axis`: of the rank of `input`, of size 1 on `axis`, and on every other axis of input's size, or
        of size 1, which then holds for the whole axis. With `batch_axis`: one-dimensional, with
        ``input.shape[batch_axis]`` entries. Of any integer dtype, or nested lists of ints of any magnitude. A length
        above ``input.shape[axis]`` means all of it; 0 and 1 change nothing. Lengths on the device, which only `input` there may have, are
        never read back: a negative one acts as 0.
    axis : int
        The axis to reverse along; a negative one counts from the end.
    batch_axis : int, optional
        The axis that `sequence_lengths` runs along, any but `axis`.
    out : numpy.ndarray or DeviceArray, optional
        Where to put the result: of its shape and of input's dtype and kind, writable, of any strides. May share memory with the
        arguments.
    device : int, str or Device, optional
        Where to run: a place in ``dmlops.devices()``, part of a device's name, or one of its entries. By default the device
        that `input` is on, else the environment variable ``DMLOPS_DEVICE``, else the best device.

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the kind that `input` is, of input's shape and dtype.

    Raises
    ------
    TypeError
        An argument of the wrong type: `sequence_lengths` of floats or bools, a float as `axis`, an input that holds
        Python objects.
    numpy.exceptions.AxisError
        `axis` or `batch_axis` is out of range.
    ValueError
        A negative length, a shape of `sequence_lengths` that does not fit, ``batch_axis == axis``, an `out` that does
        not fit, an unknown `device`.
    OverflowError
        An int that does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and ``device="host"`` was not asked for.
    VulkanError
        The device failed.

    Notes
    -----
    DirectML's ``DML_REVERSE_SUBSEQUENCES``, of any rank and dtype; with `batch_axis` ONNX's and OpenVINO's
    ``ReverseSequence`` and TensorFlow's ``tf.reverse_sequence``.

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
    return _core.reverse_subsequences(input, sequence_lengths, axis, batch_axis, out, device)


def depth_to_space(input, block_size, *, order="DCR", layout="NCHW", out=None, device=None):
    """Move blocks of channels into the spatial axes: each spatial axis grows by its block size.

    Parameters
    ----------
    input : array_like or DeviceArray
        Batch axes, channels, spatial axes, in the order that `layout` says; any strides, and any dtype whose elements
        are plain bytes.
    block_size : int or sequence of int
        An int: the block of every spatial axis, where axis 0 is batch and the rank is 4 or more. A sequence of K ints:
        one block for each of K spatial axes; all axes in front of channels and the spatial ones are batch axes.
    order : {"DCR", "CRD"}, optional
        How an input channel is numbered. With B the product of the blocks and C' = C / B, two spatial axes for example:
        ``"DCR"`` ("depth, column, row") ``(b1*B2 + b2)*C' + c``, ``"CRD"`` ``c*B + b1*B2 + b2``.
    layout : {"NCHW", "NHWC"}, optional
        Where channels are: in front of the spatial axes, or behind them. Only that counts; the number of axes may be
        another one.
    out : numpy.ndarray or DeviceArray, optional
        Where to put the result: of its shape and of input's dtype and kind, writable, of any strides. May share memory with
        `input`.
    device : int, str or Device, optional
        Where to run: a place in ``dmlops.devices()``, part of a device's name, or one of its entries. By default the device
        that `input` is on, else the environment variable ``DMLOPS_DEVICE``, else the best device.

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the kind that `input` is, of input's dtype, with C' channels and every spatial axis times its block.

    Raises
    ------
    TypeError
        An argument of the wrong type: a float as `block_size`, an `order` that is no string, an input that holds Python
        objects.
    ValueError
        A block below 1, channels that B does not divide, a rank that does not fit `block_size`, an unknown `order` or
        `layout`, an `out` that does not fit, an unknown `device`.
    OverflowError
        An int that does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and ``device="host"`` was not asked for.
    VulkanError
        The device failed.

    See Also
    --------
    space_to_depth : the inverse.

    Notes
    -----
    DirectML's ``DML_DEPTH_TO_SPACE1`` (``DML_DEPTH_TO_SPACE`` is order DCR) and ONNX's ``DepthToSpace``, of any rank
    and dtype. PyTorch's ``pixel_shuffle`` is order CRD; TensorFlow's ``depth_to_space`` is order DCR, by default with
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
    return _core.depth_to_space(input, block_size, order, layout, out, device)


def space_to_depth(input, block_size, *, order="DCR", layout="NCHW", out=None, device=None):
    """Move blocks of the spatial axes into channels: each spatial axis shrinks by its block size.

    Parameters
    ----------
    input : array_like or DeviceArray
        Batch axes, channels, spatial axes, in the order that `layout` says; any strides, and any dtype whose elements
        are plain bytes.
    block_size : int or sequence of int
        An int: the block of every spatial axis, where axis 0 is batch and the rank is 4 or more. A sequence of K ints:
        one block for each of K spatial axes; all axes in front of channels and the spatial ones are batch axes.
    order : {"DCR", "CRD"}, optional
        How a result's channel is numbered. With B the product of the blocks and C input's channels, two spatial axes
        for example: ``"DCR"`` ("depth, column, row") ``(b1*B2 + b2)*C + c``, ``"CRD"`` ``c*B + b1*B2 + b2``.
    layout : {"NCHW", "NHWC"}, optional
        Where channels are: in front of the spatial axes, or behind them. Only that counts; the number of axes may be
        another one.
    out : numpy.ndarray or DeviceArray, optional
        Where to put the result: of its shape and of input's dtype and kind, writable, of any strides. May share memory with
        `input`.
    device : int, str or Device, optional
        Where to run: a place in ``dmlops.devices()``, part of a device's name, or one of its entries. By default the device
        that `input` is on, else the environment variable ``DMLOPS_DEVICE``, else the best device.

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the kind that `input` is, of input's dtype, with C*B channels and every spatial axis divided by its
        block.

    Raises
    ------
    TypeError
        An argument of the wrong type: a float as `block_size`, an `order` that is no string, an input that holds Python
        objects.
    ValueError
        A block below 1, a spatial axis that its block does not divide, a rank that does not fit `block_size`, an
        unknown `order` or `layout`, an `out` that does not fit, an unknown `device`.
    OverflowError
        An int that does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and ``device="host"`` was not asked for.
    VulkanError
        The device failed.

    See Also
    --------
    depth_to_space : the inverse.

    Notes
    -----
    DirectML's ``DML_SPACE_TO_DEPTH1`` and ONNX's ``SpaceToDepth``, which is order DCR, of any rank and dtype. PyTorch's
    ``pixel_unshuffle`` is order CRD; TensorFlow's ``space_to_depth`` is order DCR, by default with layout NHWC.

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
    return _core.space_to_depth(input, block_size, order, layout, out, device)


def slice(input, offsets, sizes, strides=None, *, output_sizes=None, out=None, device=None):
    """Cut a window out of an array, and step through it, forwards or backwards.

    The window on axis i is ``[offsets[i], offsets[i] + sizes[i])``. A positive stride starts at its first element, a
    negative one at its last: ``out[k] = input[start + stride*k]``.

    Parameters
    ----------
    input : array_like or DeviceArray
        Of any rank, any strides, and any dtype whose elements are plain bytes.
    offsets, sizes : sequence of int
        Where the window starts and how large it is, one entry for each axis; it must lie inside `input`.
    strides : sequence of int, optional
        The step on each axis, in elements, not 0; 1 by default.
    output_sizes : sequence of int, optional
        How many elements to take on each axis, from 1 to the ``1 + (size-1) // abs(stride)`` that can be reached; by
        default all of these. On an axis with a window of size 0 it is 0.
    out : numpy.ndarray or DeviceArray, optional
        Where to put the result: of its shape and of input's dtype and kind, writable, of any strides. May share memory with
        `input`.
    device : int, str or Device, optional
        Where to run: a place in ``dmlops.devices()``, part of a device's name, or one of its entries. By default the device
        that `input` is on, else the environment variable ``DMLOPS_DEVICE``, else the best device.

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the kind that `input` is, of input's dtype and of shape `output_sizes`; never a view.

    Raises
    ------
    TypeError
        An argument of the wrong type: floats as `offsets`, an int where a sequence belongs, an input that holds Python
        objects.
    ValueError
        A sequence of the wrong length, a window that reaches out of `input`, a stride of 0, `output_sizes` beyond what
        can be reached, an `out` that does not fit, an unknown `device`.
    OverflowError
        An int that does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and ``device="host"`` was not asked for.
    VulkanError
        The device failed.

    See Also
    --------
    window : the same arguments from a NumPy key.

    Notes
    -----
    DirectML's ``DML_SLICE1`` (``DML_SLICE`` has positive strides only), of any rank and dtype, empty windows too.
    ONNX's ``Slice`` counts as NumPy does; `window` translates.

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
    return _core.slice(input, offsets, sizes, strides, output_sizes, out, device)


def devices():
    """List the devices, best first.

    Usable Vulkan devices come first (discrete, integrated, virtual, CPU), then ``"host"``, which is plain C and needs
    no Vulkan, then Vulkan devices that cannot be used, with the reason.

    Returns
    -------
    list of Device
        Tuples with the named fields `index`, `name`, `type`, `driver`, `api_version`, `memory` (bytes), `usable` and `reason`. Each
        of them, its index, or part of its name is what the operators take as `device`.

    Examples
    --------
    >>> import dmlops
    >>> [device.name for device in dmlops.devices() if device.type == "host"]
    ['host']
    """
    return _core.devices()


def window(shape, key):
    """Turn a NumPy key of slices and ``...`` into what `slice` wants.

    ``dmlops.slice(x, *dmlops.window(x.shape, key))`` equals ``x[key]``.

    Parameters
    ----------
    shape : sequence of int
        The shape of the array to be indexed.
    key : builtin slice, Ellipsis, or a tuple of them
        What would stand in the brackets, as made by ``numpy.s_``; clamped to `shape` as NumPy does it.

    Returns
    -------
    offsets, sizes, strides : tuple of int
        One entry for each axis.

    Raises
    ------
    TypeError
        The key holds anything else: an int or None would change the number of axes, which `slice` keeps. A size, or a part of a slice, that
        is no int.
    IndexError
        More entries than axes, or more than one ``...``.
    ValueError
        A step of 0, or a size in `shape` that no axis has.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> dmlops.window((5, 8), np.s_[..., 1:-1])
    ((0, 1), (5, 6), (1, 1))
    >>> x = np.arange(8)
    >>> dmlops.slice(x, *dmlops.window(x.shape, np.s_[6:1:-2]))
    array([6, 4, 2])
    """
    try:
        shape = tuple(shape)
    except TypeError:
        raise TypeError(f"shape must be a sequence of ints, not {type(shape).__name__}") from None
    shape = tuple(_index(extent, f"shape[{k}]") for k, extent in enumerate(shape))
    if any(not 0 <= extent < 2**63 for extent in shape):
        raise ValueError(f"shape must have sizes from 0 to 2**63 - 1, got {shape}")
    keys = _one_slice_an_axis(key if isinstance(key, tuple) else (key,), len(shape))
    axes = [_axis_window(extent, axis_key) for extent, axis_key in zip(shape, keys, strict=True)]
    offsets, sizes, strides = zip(*axes, strict=True) if axes else ((), (), ())
    return offsets, sizes, strides


def _one_slice_an_axis(key, rank):
    for entry in key:
        if entry is not Ellipsis and not isinstance(entry, builtins.slice):
            raise TypeError(f"key must hold slices and ... only, not {type(entry).__name__}: slice keeps every axis")
    ellipses = [place for place, entry in enumerate(key) if entry is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("key must not hold more than one ...")
    missing = rank - (len(key) - len(ellipses))
    if missing < 0:
        raise IndexError(f"key must have at most {rank} slices, one for each axis, not {rank - missing}")
    place = ellipses[0] if ellipses else len(key)
    return key[:place] + (builtins.slice(None),) * missing + key[place + len(ellipses) :]


def _index(entry, name):
    if isinstance(entry, bool) or not hasattr(entry, "__index__"):
        raise TypeError(f"{name} must be an int, not {type(entry).__name__}")
    return operator.index(entry)


def _axis_window(extent, key):
    parts = {name: getattr(key, name) for name in ("start", "stop", "step")}
    start, stop, step = (None if part is None else _index(part, f"the {name} of a slice in key") for name, part in parts.items())
    if step == 0:
        raise ValueError("the step of a slice in key must not be 0")
    start, stop, step = builtins.slice(start, stop, step).indices(extent)
    count = len(range(start, stop, step))
    if count == 0:
        return 0, 0, 1
    last = start + (count - 1) * step
    # A step that leaves the axis at once may be any int; slice takes those of 64 bits.
    step = max(-(2**63), min(step, 2**63 - 1))
    return min(start, last), abs(last - start) + 1, step
