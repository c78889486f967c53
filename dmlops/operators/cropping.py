"""Crops and mirrors of a batch, others for each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from dmlops.late_imports import late
from dmlops.operators.sampling import fused
from dmlops.structure import is_array, operand

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dmlops._annotations import AnyArray, Array, DeviceLike, Indices, Input, Ints, IntSequence, Options, Progress, T
    from dmlops._core import DeviceArray

__all__ = ["crops"]


@overload
def crops(
    input: DeviceArray,
    starts: Indices | DeviceArray,
    sizes: Ints,
    flip: Indices | DeviceArray | None = None,
    *,
    axes: IntSequence | None = None,
    **how: Unpack[Options[DeviceArray]],
) -> DeviceArray: ...
@overload
def crops(
    input: NDArray[T],
    starts: Indices,
    sizes: Ints,
    flip: Indices | None = None,
    *,
    axes: IntSequence | None = None,
    **how: Unpack[Options[NDArray[T]]],
) -> NDArray[T]: ...
@overload
def crops(
    input: Input,
    starts: Indices,
    sizes: Ints,
    flip: Indices | None = None,
    *,
    axes: IntSequence | None = None,
    **how: Unpack[Options[Array]],
) -> Array: ...
def crops(
    input: Input | DeviceArray,
    starts: Indices | DeviceArray,
    sizes: Ints,
    flip: Indices | DeviceArray | None = None,
    *,
    axes: IntSequence | None = None,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Crop each sample of a batch at a place of its own, and mirror some: random crops and flips in one pass.

    Of images with channels last::

        out[n, i, j, c] = input[n, starts[n, 0] + i, starts[n, 1] + (sizes[1] - 1 - j if flip[n] else j), c]

    Parameters
    ----------
    input : array_like or DeviceArray
        A batch: its first axis has the samples. Any strides, and any dtype whose elements are plain bytes.
    starts : array_like of int, or DeviceArray
        Of shape ``(input.shape[0], len(axes))``: for each sample the first index on each of the axes, (top, left) of images.
        Those of a device array are waited for, and read.
    sizes : int or sequence of int
        The sizes of the result on the axes, (height, width) of images. An int is for all of `axes`, by default for two.
    flip : array_like of bool, or DeviceArray, optional
        Which samples are mirrored, after they are cropped: of shape ``(input.shape[0],)`` along the last of the axes, the
        horizontal one of images; of ``(input.shape[0], len(axes))`` along each. Default: none.
    axes : sequence of int, optional
        The axes to crop. Default: those behind the first, as many as there are sizes: (1, 2) of images with channels last.
        Images with channels first have (2, 3).
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`, with `sizes` on the axes.

    Raises
    ------
    TypeError
        An argument has the wrong type: `starts` of floats, `flip` of ints, an input of Python objects.
    numpy.exceptions.AxisError
        An entry of `axes` is out of range.
    ValueError
        A crop reaches beyond `input`: the first such start is named, and nothing is written. `starts` or `flip` has another
        shape; a size is below 0 or beyond the axis; an axis is named twice, or is the first; `out` does not fit; `device`
        names no device.
    NoDeviceError, VulkanError

    See Also
    --------
    slice : crops all samples at the same place.
    sliding_windows : makes all crops.
    fuse : has `starts` and `flip` as arguments, and one pass for the crops and what follows them.

    Notes
    -----
    The order of the arguments is that of ``jax.lax.dynamic_slice`` and ``tf.slice``: the array, where, and how much. `starts`
    has (top, left) and `sizes` (height, width), in the order of the axes, as ``torchvision.transforms.v2.RandomCrop`` draws
    them; NVIDIA DALI has `flip` as ``mirror``, Albumentations and kornia as a transform of its own. There is no random number
    here: draw starts by ``rng.integers``, and use them for images and masks alike.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> x = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    >>> dmlops.crops(x, [[0, 1], [1, 2]], (2, 2), [False, True])
    array([[[ 1,  2],
            [ 5,  6]],
    <BLANKLINE>
           [[19, 18],
            [23, 22]]])
    >>> rng = np.random.default_rng(0)
    >>> images = np.zeros((32, 256, 256, 3), np.uint8)
    >>> starts = rng.integers(0, 256 - 224 + 1, (32, 2))
    >>> dmlops.crops(images, starts, 224, rng.random(32) < 0.5).shape
    (32, 224, 224, 3)
    """
    with late():
        from dmlops.operators.crop_places import arguments

    array, given = operand("input", _batch(input)), arguments(starts, sizes, flip, axes)
    result: AnyArray = fused(_crops, "crops")(array, *given, out=out, device=device, progress=progress)
    return result


def _batch(input: Any) -> Any:
    """A list of images as one array."""
    return np.stack(input) if isinstance(input, (list, tuple)) and any(map(is_array, input)) else input


# --- what it does: functions of arrays, which fuse traces ----------------------------------------------------------------


def _crops(x: Any, starts: Any, sizes: tuple[int, ...], flip: Any, axes: tuple[int, ...] | None) -> Any:
    with late():
        from dmlops.operators.crop_places import cropped, fitting
        from dmlops.operators.single_steps import recorded

    return recorded(cropped, x, *fitting(x, starts, sizes, flip, axes))


_crops.__name__ = "crops"
