"""Resizing to the bit as Pillow, OpenCV and torchvision do it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack, overload

from dmlops._core import DeviceArray
from dmlops.resizing.arguments import image_of, mode_of_picture
from dmlops.resizing.plans import opencv_plan, pillow_plan, torchvision_plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dmlops._annotations import (
        AnyArray,
        Array,
        Box,
        DeviceLike,
        Input,
        Ints,
        IntSequence,
        OpenCVInterpolation,
        Options,
        PillowFilter,
        Progress,
        T,
        TorchvisionInterpolation,
    )

__all__ = ["resize_opencv", "resize_pillow", "resize_torchvision"]


@overload
def resize_pillow(
    input: DeviceArray,
    size: IntSequence,
    resample: PillowFilter = "bicubic",
    *,
    box: Box | None = None,
    reducing_gap: float | None = None,
    alpha: bool | None = None,
    axes: IntSequence | None = None,
    version: str = "13.0",
    **how: Unpack[Options[DeviceArray]],
) -> DeviceArray: ...
@overload
def resize_pillow(
    input: NDArray[T],
    size: IntSequence,
    resample: PillowFilter = "bicubic",
    *,
    box: Box | None = None,
    reducing_gap: float | None = None,
    alpha: bool | None = None,
    axes: IntSequence | None = None,
    version: str = "13.0",
    **how: Unpack[Options[NDArray[T]]],
) -> NDArray[T]: ...
@overload
def resize_pillow(
    input: Input,
    size: IntSequence,
    resample: PillowFilter = "bicubic",
    *,
    box: Box | None = None,
    reducing_gap: float | None = None,
    alpha: bool | None = None,
    axes: IntSequence | None = None,
    version: str = "13.0",
    **how: Unpack[Options[Array]],
) -> Array: ...
def resize_pillow(
    input: Input | DeviceArray,
    size: IntSequence,
    resample: PillowFilter = "bicubic",
    *,
    box: Box | None = None,
    reducing_gap: float | None = None,
    alpha: bool | None = None,
    axes: IntSequence | None = None,
    version: str = "13.0",
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Resize images to (height, width) with the bits of Pillow's ``Image.resize``, which has (width, height).

    Parameters
    ----------
    input : images
    size : sequence of int
        (height, width) of the result, as an array's shape has them, 1 or more each.
    resample : str or Pillow's constant, optional
        ``"nearest"``, ``"box"``, ``"bilinear"``, ``"hamming"``, ``"bicubic"``, ``"lanczos"``, ``"mks2013"``, ``"mks2021"``, or
        one of ``PIL.Image.Resampling``. ``"nearest"`` takes any dtype whose elements are plain bytes.
    box : sequence of four numbers, optional
        What is resized, as (left, top, right, bottom), floats included, as in Pillow. Default: all.
    reducing_gap : number, optional
        As in Pillow: the image is first reduced by whole factors, to this many times the result's size or more; 1.0 or greater.
    alpha : bool, optional
        Whether the last axis' last channel is alpha, by which Pillow multiplies the others before it resizes modes RGBA and LA.
        Default: the mode of an image of Pillow's says it; four channels of an array are four channels.
    axes : channels last
    version : str, optional
        The version of Pillow, 10.0 or later, as ``PIL.__version__`` is. It decides for images that get many times lower, and
        for `reducing_gap` with alpha.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`.

    Raises
    ------
    TypeError : images
    ValueError
        `size` has not two ints of 1 or more; `resample` is unknown; `box` is empty, or reaches beyond the image; an image has
        no pixels; `reducing_gap` is below 1; `alpha` is True without a channel; an axis is out of range; `out` does not fit;
        `device` names no device.
    NoDeviceError, VulkanError

    See Also
    --------
    resize_opencv : has the bits of OpenCV.
    resize_torchvision : has the bits of torchvision.

    Notes
    -----
    Images of modes 1 and P are resized by ``"nearest"``, as Pillow does it. docs/resizing.md says what was compared.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> image = np.arange(16, dtype=np.uint8).reshape(4, 4) * 16
    >>> dmlops.resize_pillow(image, (2, 2))
    array([[ 47,  77],
           [163, 193]], dtype=uint8)
    >>> dmlops.resize_pillow(np.zeros((8, 480, 640, 3), np.uint8), (224, 224), "bilinear").shape
    (8, 224, 224, 3)
    """
    array = image_of(input)
    plan = pillow_plan(array, mode_of_picture(input), size, resample, box, reducing_gap, alpha, axes, version)
    result: AnyArray = _run()("resize_pillow", array, plan, out, device, progress)
    return result


@overload
def resize_opencv(
    input: DeviceArray,
    size: IntSequence | None = None,
    interpolation: OpenCVInterpolation = "linear",
    *,
    fx: float | None = None,
    fy: float | None = None,
    ipp: bool | None = None,
    axes: IntSequence | None = None,
    version: str = "5.0",
    **how: Unpack[Options[DeviceArray]],
) -> DeviceArray: ...
@overload
def resize_opencv(
    input: NDArray[T],
    size: IntSequence | None = None,
    interpolation: OpenCVInterpolation = "linear",
    *,
    fx: float | None = None,
    fy: float | None = None,
    ipp: bool | None = None,
    axes: IntSequence | None = None,
    version: str = "5.0",
    **how: Unpack[Options[NDArray[T]]],
) -> NDArray[T]: ...
@overload
def resize_opencv(
    input: Input,
    size: IntSequence | None = None,
    interpolation: OpenCVInterpolation = "linear",
    *,
    fx: float | None = None,
    fy: float | None = None,
    ipp: bool | None = None,
    axes: IntSequence | None = None,
    version: str = "5.0",
    **how: Unpack[Options[Array]],
) -> Array: ...
def resize_opencv(
    input: Input | DeviceArray,
    size: IntSequence | None = None,
    interpolation: OpenCVInterpolation = "linear",
    *,
    fx: float | None = None,
    fy: float | None = None,
    ipp: bool | None = None,
    axes: IntSequence | None = None,
    version: str = "5.0",
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Resize images to (height, width) with the bits of OpenCV's ``cv2.resize``, which has (width, height).

    Parameters
    ----------
    input : images
    size : sequence of int, optional
        (height, width) of the result, as an array's shape has them, 1 or more each. Default: by `fx` and `fy`.
    interpolation : str or OpenCV's constant, optional
        ``"nearest"``, ``"nearest-exact"``, ``"linear"``, ``"linear-exact"``, ``"area"``, ``"cubic"``, ``"lanczos4"``, or a
        constant as ``cv2.INTER_AREA``. The two nearest ones take any dtype whose elements are plain bytes.
    fx, fy : number, optional
        Where no `size` is given: how many columns, and rows, the result has for each of `input`.
    ipp : bool, optional
        OpenCV's wheels for x86 compute ``"cubic"`` by Intel's IPP, whose bits cannot be reproduced. False: the bits of OpenCV
        without IPP, which are those after ``cv2.ipp.setUseIPP(False)``.
    axes : channels last
    version : str, optional
        The version of OpenCV, 3.4 or later, as ``cv2.__version__`` is. It decides for ``"nearest-exact"``.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`.

    Raises
    ------
    TypeError : images
    ValueError
        `size` has not two ints of 1 or more; `interpolation` is unknown, or one that IPP computes; an image has no pixels; an
        axis is out of range; `out` does not fit; `device` names no device.
    NoDeviceError, VulkanError

    See Also
    --------
    resize_pillow : has the bits of Pillow.
    resize_torchvision : has the bits of torchvision.

    Notes
    -----
    ``"area"``, ``"linear"`` and ``"cubic"`` depend on the number of channels, which are the axes behind the width. With
    ``"cubic"`` one such axis at most has several elements. docs/resizing.md says what was compared.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> image = np.arange(16, dtype=np.uint8).reshape(4, 4) * 16
    >>> dmlops.resize_opencv(image, (2, 3), "area")
    array([[ 36,  56,  76],
           [164, 184, 204]], dtype=uint8)
    >>> dmlops.resize_opencv(np.zeros((480, 640, 3), np.uint8), fx=0.5, fy=0.5).shape
    (240, 320, 3)
    """
    array = image_of(input)
    plan = opencv_plan(array, size, interpolation, fx, fy, ipp, axes, version)
    result: AnyArray = _run()("resize_opencv", array, plan, out, device, progress)
    return result


@overload
def resize_torchvision(
    input: DeviceArray,
    size: Ints,
    interpolation: TorchvisionInterpolation = "bilinear",
    *,
    antialias: bool = True,
    axes: IntSequence | None = None,
    **how: Unpack[Options[DeviceArray]],
) -> DeviceArray: ...
@overload
def resize_torchvision(
    input: NDArray[T],
    size: Ints,
    interpolation: TorchvisionInterpolation = "bilinear",
    *,
    antialias: bool = True,
    axes: IntSequence | None = None,
    **how: Unpack[Options[NDArray[T]]],
) -> NDArray[T]: ...
@overload
def resize_torchvision(
    input: Input,
    size: Ints,
    interpolation: TorchvisionInterpolation = "bilinear",
    *,
    antialias: bool = True,
    axes: IntSequence | None = None,
    **how: Unpack[Options[Array]],
) -> Array: ...
def resize_torchvision(
    input: Input | DeviceArray,
    size: Ints,
    interpolation: TorchvisionInterpolation = "bilinear",
    *,
    antialias: bool = True,
    axes: IntSequence | None = None,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Resize images to (height, width) with the bits of torchvision's ``resize`` of tensors of bytes on a CPU.

    Parameters
    ----------
    input : images
    size : int or sequence of int
        (height, width) of the result, 1 or more each. An int is for the shorter of both, as in torchvision.
    interpolation : str or InterpolationMode, optional
        ``"nearest"``, ``"nearest-exact"``, ``"bilinear"``, ``"bicubic"``, ``"lanczos"``, or one of torchvision's
        ``InterpolationMode``. The two nearest ones take any dtype whose elements are plain bytes.
    antialias : bool, optional
        Whether a smaller result is made of all pixels. The two nearest ones ignore it; ``"lanczos"`` needs it.
    axes : sequence of int, optional
        The axes of height and width. Default: (-2, -1), channels first.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`.

    Raises
    ------
    TypeError : images
    ValueError
        `size` is not one or two ints of 1 or more; `interpolation` is unknown; an image has no pixels; an axis is out of range;
        `out` does not fit; `device` names no device.
    NoDeviceError, VulkanError

    See Also
    --------
    resize_pillow : has the bits of Pillow.
    resize_opencv : has the bits of OpenCV.

    Notes
    -----
    These are the bits of PyTorch 2.13 on x86 with AVX2, and on ARM. Without AVX2 it resizes ``"bilinear"`` in floats. It fills
    results of one column with copies of the first row, which is a bug and not copied. docs/resizing.md says what was compared.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> image = np.arange(16, dtype=np.uint8).reshape(4, 4) * 16
    >>> dmlops.resize_torchvision(image, (2, 2), antialias=False)
    array([[ 40,  72],
           [168, 200]], dtype=uint8)
    >>> dmlops.resize_torchvision(np.zeros((8, 3, 480, 640), np.uint8), 224).shape
    (8, 3, 224, 298)
    """
    if mode_of_picture(input) is not None:
        wanted = 'resize_pillow(image, (height, width), "bilinear") has its bits'
        raise TypeError(f"input is an image of Pillow's, which torchvision has Pillow resize: {wanted}")
    array = image_of(input)
    plan = torchvision_plan(array, size, interpolation, antialias, axes)
    result: AnyArray = _run()("resize_torchvision", array, plan, out, device, progress)
    return result


@functools.cache
def _run() -> Callable[..., Any]:
    from dmlops.resizing.running import run  # which stands above, and is there since the package was imported

    return run
