"""Operators that move blocks of channels into the spatial axes, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, overload

from dmlops import _core
from dmlops.operators.tracking import tracked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dmlops._annotations import AnyArray, Array, DeviceLike, Input, Ints, Layout, Options, Order, Progress, T
    from dmlops._core import DeviceArray

__all__ = ["depth_to_space", "space_to_depth"]


@overload
def depth_to_space(
    input: DeviceArray, block_size: Ints, *, order: Order = "DCR", layout: Layout = "NCHW", **how: Unpack[Options[DeviceArray]]
) -> DeviceArray: ...
@overload
def depth_to_space(
    input: NDArray[T], block_size: Ints, *, order: Order = "DCR", layout: Layout = "NCHW", **how: Unpack[Options[NDArray[T]]]
) -> NDArray[T]: ...
@overload
def depth_to_space(
    input: Input, block_size: Ints, *, order: Order = "DCR", layout: Layout = "NCHW", **how: Unpack[Options[Array]]
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
    input : channels
    block_size
    order : {"DCR", "CRD"}, optional
        How the input's channels are numbered. Let B be the product of the block sizes and C' = C / B the number of the
        result's channels. With two spatial axes, position (b1, b2) of the block of channel c is input channel ``(b1*B2 +
        b2)*C' + c`` for ``"DCR"`` (depth, column, row), and ``c*B + b1*B2 + b2`` for ``"CRD"``.
    layout
    out, device, progress

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
    OverflowError, NoDeviceError, VulkanError

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
        input, block_size, order, layout, out, device, None if progress is None else tracked("depth_to_space", progress)
    )


@overload
def space_to_depth(
    input: DeviceArray, block_size: Ints, *, order: Order = "DCR", layout: Layout = "NCHW", **how: Unpack[Options[DeviceArray]]
) -> DeviceArray: ...
@overload
def space_to_depth(
    input: NDArray[T], block_size: Ints, *, order: Order = "DCR", layout: Layout = "NCHW", **how: Unpack[Options[NDArray[T]]]
) -> NDArray[T]: ...
@overload
def space_to_depth(
    input: Input, block_size: Ints, *, order: Order = "DCR", layout: Layout = "NCHW", **how: Unpack[Options[Array]]
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
    input : channels
    block_size
    order : {"DCR", "CRD"}, optional
        How the result's channels are numbered. Let B be the product of the block sizes and C the number of the input's
        channels. With two spatial axes, position (b1, b2) of the block of channel c becomes channel ``(b1*B2 + b2)*C + c``
        for ``"DCR"`` (depth, column, row), and ``c*B + b1*B2 + b2`` for ``"CRD"``.
    layout
    out, device, progress

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
    OverflowError, NoDeviceError, VulkanError

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
        input, block_size, order, layout, out, device, None if progress is None else tracked("space_to_depth", progress)
    )
