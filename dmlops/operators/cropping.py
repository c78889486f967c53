"""Crops and mirrors of a batch, others for each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from dmlops.operators.axes import axes_of, ints_of
from dmlops.operators.sampling import fused, operand, recorded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dmlops._annotations import AnyArray, Array, DeviceLike, Indices, Input, Ints, IntSequence, Options, Progress, T
    from dmlops._core import DeviceArray

__all__ = ["crops", "fitted", "starting"]


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
    array, given = operand("input", input), _arguments(starts, sizes, flip, axes)
    result: AnyArray = fused(_crops, "crops")(array, *given, out=out, device=device, progress=progress)
    return result


def _arguments(starts: Any, sizes: Any, flip: Any, axes: Any) -> tuple[Any, tuple[int, ...], Any, tuple[int, ...] | None]:
    places, mirrored = _starts(starts), None if flip is None else _flip(flip)
    along = None if axes is None else ints_of(axes, "axes")
    extents = ints_of(sizes, "sizes")
    if not np.iterable(sizes):
        extents *= 2 if along is None else len(along)
    return places, extents, mirrored, along


def _array(name: str, value: Any) -> Any:
    from dmlops.fusion.structure import is_array
    from dmlops.indices import index_array
    from dmlops.refused_arrays import no_array

    if is_array(value):
        return value
    try:
        return index_array(value)
    except (ValueError, TypeError) as cause:
        raise no_array(name, value, cause)


def _starts(value: Any) -> Any:
    array = _array("starts", value)
    if array.dtype.kind not in "iu":
        raise TypeError(f"starts must be of an integer dtype, not {array.dtype}")
    return array


def _flip(value: Any) -> Any:
    array = _array("flip", value)
    if array.dtype != bool and array.size:
        raise TypeError(f"flip must be of dtype bool, not {array.dtype}")
    return array


# --- what it does: functions of arrays, which fuse traces ----------------------------------------------------------------


def _crops(x: Any, starts: Any, sizes: tuple[int, ...], flip: Any, axes: tuple[int, ...] | None) -> Any:
    return recorded(cropped, x, *_fitting(x, starts, sizes, flip, axes))


def fitted(x: Any, starts: Any, sizes: Any, flip: Any, axes: Any) -> tuple[Any, ...]:
    """The arguments of `cropped` of those of `crops`."""
    return _fitting(x, *_arguments(starts, sizes, flip, axes))


def _fitting(x: Any, starts: Any, sizes: tuple[int, ...], flip: Any, axes: tuple[int, ...] | None) -> tuple[Any, ...]:
    """Starts, sizes, flips of each axis, or None, and the axes. Raises for shapes that do not fit."""
    along = _axes(x, sizes, axes)
    if tuple(starts.shape) != (x.shape[0], len(along)):
        raise ValueError(f"starts must have shape {(x.shape[0], len(along))}, a row for each sample; got {starts.shape}")
    if flip is not None:
        shapes = [(x.shape[0],)] * bool(along) + [(x.shape[0], len(along))]
        if tuple(flip.shape) not in shapes:
            raise ValueError(f"flip must have shape {' or '.join(map(str, shapes))}; got {flip.shape}")
        flip = flip[:, None] if flip.ndim == 1 else flip
    return starts, sizes, flip, along


_crops.__name__ = "crops"


def _axes(x: Any, sizes: tuple[int, ...], axes: tuple[int, ...] | None) -> tuple[int, ...]:
    """The axes to crop, counted from the first. Raises for those that do not fit."""
    if x.ndim == 0:
        raise ValueError("input must have an axis, the first one, of its samples")
    counted = axes_of(tuple(range(1, 1 + len(sizes))) if axes is None else axes, x.ndim)
    if 0 in counted:
        raise ValueError("axes must not name the first axis, which has the samples")
    if len(sizes) != len(counted):
        raise ValueError(f"sizes must have {len(counted)} entries, one for each of the axes; got {len(sizes)}")
    for axis, size in zip(counted, sizes, strict=True):
        if not 0 <= size <= x.shape[axis]:
            raise ValueError(f"sizes must be in [0, {x.shape[axis]}] on axis {axis}; got {size}")
    return counted


def cropped(x: Any, starts: Any, sizes: tuple[int, ...], flip: Any, axes: tuple[int, ...]) -> Any:
    """What NumPy makes of it, sample by sample."""
    shape = [sizes[axes.index(axis)] if axis in axes else size for axis, size in enumerate(x.shape)]
    made = np.empty(shape, x.dtype)
    first = [starting(starts[:, k], axis, sizes[k], x.shape[axis]).tolist() for k, axis in enumerate(axes)]
    for n, sample in enumerate(x):
        key: list[Any] = [slice(None)] * sample.ndim
        for axis, start, size in zip(axes, [column[n] for column in first], sizes, strict=True):
            key[axis - 1] = slice(start, start + size)
        crop = sample[tuple(key)]
        turned = () if flip is None else tuple(axis - 1 for axis, on in zip(axes[-flip.shape[1] :], flip[n], strict=True) if on)
        made[n] = np.flip(crop, turned)
    return made.view(type(x)) if isinstance(x, np.ndarray) else made


cropped.__name__ = "crops"


def starting(values: Any, axis: int, extent: int, size: int) -> Any:
    """Where crops of `extent` begin on an axis of `size`, for each sample. ValueError for one that reaches beyond it."""
    wrong = (values < 0) | (values > size - extent)
    if wrong.any():
        raise ValueError(
            f"a crop of {extent} on axis {axis}, which has size {size}, must start in [0, {size - extent}]; "
            f"starts has {int(values[wrong][0])} for sample {int(np.flatnonzero(wrong)[0])}"
        )
    return values.astype(np.int64)
