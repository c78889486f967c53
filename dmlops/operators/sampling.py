"""Functions that are made of movements of NumPy's, in one pass by ``dmlops.fuse``: sliding windows, resizing, rolling."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, overload

import numpy as np

from dmlops import _core
from dmlops._core import DeviceArray
from dmlops.entries import integers
from dmlops.late_imports import late
from dmlops.operators.axes import ints_of, windows
from dmlops.operators.nearest import Indices, Nearest, pattern_of, steps_of
from dmlops.operators.tracking import PART, how
from dmlops.structure import is_recorded, operand

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dmlops._annotations import (
        AnyArray,
        Array,
        Coordinates,
        DeviceLike,
        Input,
        Ints,
        IntSequence,
        Options,
        Progress,
        Rounding,
        Scales,
        T,
    )

__all__ = ["resize_nearest", "roll", "sliding_windows"]

Steps: TypeAlias = "Sequence[tuple[int, slice | int | Nearest | Indices]]"


@overload
def sliding_windows(
    input: DeviceArray,
    sizes: Ints,
    axes: Ints | None = None,
    *,
    strides: Ints | None = None,
    dilations: Ints | None = None,
    **how: Unpack[Options[DeviceArray]],
) -> DeviceArray: ...
@overload
def sliding_windows(
    input: NDArray[T],
    sizes: Ints,
    axes: Ints | None = None,
    *,
    strides: Ints | None = None,
    dilations: Ints | None = None,
    **how: Unpack[Options[NDArray[T]]],
) -> NDArray[T]: ...
@overload
def sliding_windows(
    input: Input,
    sizes: Ints,
    axes: Ints | None = None,
    *,
    strides: Ints | None = None,
    dilations: Ints | None = None,
    **how: Unpack[Options[Array]],
) -> Array: ...
def sliding_windows(
    input: Input | DeviceArray,
    sizes: Ints,
    axes: Ints | None = None,
    *,
    strides: Ints | None = None,
    dilations: Ints | None = None,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Copy every window of an array that slides along its axes: ``numpy.lib.stride_tricks.sliding_window_view``, and strides.

    Parameters
    ----------
    input
    sizes : int or sequence of int
        The window's size on each of `axes`, 1 or more. An int is for all of them.
    axes : int or sequence of int, optional
        The axes that the window slides along, each once. Default: all.
    strides : int or sequence of int, optional
        How far each window is from the one before, on each of `axes`, 1 or more. Default: 1.
    dilations : int or sequence of int, optional
        How far the elements of a window are apart, on each of `axes`, 1 or more. Default: 1.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`. Its axes are those of `input`, where each of
        `axes` counts windows, ``1 + (input.shape[axis] - dilation * (size - 1) - 1) // stride``, then an axis for each entry of
        `sizes`.

    Raises
    ------
    TypeError
        An argument has the wrong type: a float as `sizes`, an input of Python objects.
    ValueError
        A sequence has the wrong length; a size, stride or dilation is below 1; a window is larger than its axis; an axis is
        named twice or is out of range; `out` does not fit; `device` names no device.
    NoDeviceError, VulkanError

    See Also
    --------
    space_to_depth : blocks that do not overlap become channels.

    Notes
    -----
    This is DirectML's ``DML_UNFOLD``, PyTorch's ``unfold`` and ``im2col`` but for padding and the order of the axes.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> dmlops.sliding_windows(np.arange(7), 3, strides=2)
    array([[0, 1, 2],
           [2, 3, 4],
           [4, 5, 6]])
    >>> dmlops.sliding_windows(np.zeros((2, 8, 8)), (3, 3), axes=(1, 2), dilations=2).shape
    (2, 4, 4, 3, 3)
    """
    array = operand("input", input)
    plan = windows(array.shape, sizes, axes, strides, dilations)
    result: AnyArray = fused(stacked, "sliding_windows")(array, plan, out=out, device=device, progress=progress)
    return result


@overload
def resize_nearest(
    input: DeviceArray,
    sizes: IntSequence | None = None,
    *,
    scales: Scales | None = None,
    axes: Ints | None = None,
    coordinates: Coordinates = "half_pixel",
    rounding: Rounding = "round_prefer_floor",
    **how: Unpack[Options[DeviceArray]],
) -> DeviceArray: ...
@overload
def resize_nearest(
    input: NDArray[T],
    sizes: IntSequence | None = None,
    *,
    scales: Scales | None = None,
    axes: Ints | None = None,
    coordinates: Coordinates = "half_pixel",
    rounding: Rounding = "round_prefer_floor",
    **how: Unpack[Options[NDArray[T]]],
) -> NDArray[T]: ...
@overload
def resize_nearest(
    input: Input,
    sizes: IntSequence | None = None,
    *,
    scales: Scales | None = None,
    axes: Ints | None = None,
    coordinates: Coordinates = "half_pixel",
    rounding: Rounding = "round_prefer_floor",
    **how: Unpack[Options[Array]],
) -> Array: ...
def resize_nearest(
    input: Input | DeviceArray,
    sizes: IntSequence | None = None,
    *,
    scales: Scales | None = None,
    axes: Ints | None = None,
    coordinates: Coordinates = "half_pixel",
    rounding: Rounding = "round_prefer_floor",
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Resize an array by the nearest elements: to any sizes, by any scales, with every rule that ONNX and DirectML have.

    Parameters
    ----------
    input
    sizes : sequence of int, optional
        The result's size on each of `axes`. Default: ``floor(size * scale)``.
    scales : number or sequence of numbers, optional
        The factor on each of `axes`, above 0: an int, a ``fractions.Fraction``, or a float, which stands for the quotient of
        integers below 1,000 that rounds to it, if there is one. A number is for all axes. Default: the quotient of the sizes.
    axes : int or sequence of int, optional
        The axes to resize, each once. Default: all.
    coordinates : str, or a pair, optional
        How positions of the result become positions of `input`, by one of ONNX's names: ``"half_pixel"``,
        ``"half_pixel_symmetric"``, ``"pytorch_half_pixel"``, ``"align_corners"``, ``"asymmetric"``,
        ``"tf_half_pixel_for_nn"``. Or a pair of DirectML's pixel offsets: ``result = (input + pair[0]) * scale + pair[1]``,
        each a number for all of `axes`, or a sequence.
    rounding : str, optional
        How a position becomes an element: ``"round_prefer_floor"`` and ``"round_prefer_ceil"`` take the nearest, halves down or
        up; ``"floor"`` and ``"ceil"`` take the one before or behind. Beyond the first or last element it is that element.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind and dtype as `input`.

    Raises
    ------
    TypeError
        An argument has the wrong type: floats as `sizes`, an input of Python objects.
    ValueError
        Neither `sizes` nor `scales` is given; a sequence has the wrong length; a size is negative; a scale is not above 0; an
        axis of size 0 would grow; an axis is named twice or is out of range; `coordinates` or `rounding` is unknown; `out` does
        not fit; `device` names no device.
    NoDeviceError, VulkanError

    See Also
    --------
    upsample : repeats each element by whole factors.

    Notes
    -----
    Positions are computed in rational numbers. Libraries that compute them in single precision differ where a position lies
    next to a border between elements. This is ONNX's ``Resize`` of mode ``nearest``, and DirectML's ``DML_RESAMPLE`` to
    ``DML_RESAMPLE3`` with nearest-neighbour interpolation. OpenCV's ``INTER_NEAREST`` and PyTorch's ``nearest`` are
    ``"asymmetric"`` with ``"floor"``; OpenCV's ``INTER_NEAREST_EXACT``, PyTorch's ``nearest-exact`` and Pillow are
    ``"half_pixel"`` with ``"round_prefer_ceil"``.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> dmlops.resize_nearest(np.arange(6), [9])
    array([0, 0, 1, 2, 2, 3, 4, 4, 5])
    >>> dmlops.resize_nearest(np.arange(6), scales=0.5, coordinates="asymmetric", rounding="floor")
    array([0, 2, 4])
    >>> dmlops.resize_nearest(np.zeros((480, 640, 3), np.uint8), (224, 224), axes=(0, 1)).shape
    (224, 224, 3)
    """
    array = operand("input", input)
    steps: Any = steps_of(array.shape, sizes, scales, axes, coordinates, rounding)
    if isinstance(array, (np.ndarray, DeviceArray)) and not is_recorded(array):
        array, steps = taken("resize_nearest", array, steps, out, device, progress)
    if steps is None:
        return array  # type: ignore[no-any-return]
    result: AnyArray = fused(selected, "resize_nearest")(array, steps, out=out, device=device, progress=progress)
    return result


@overload
def roll(input: DeviceArray, shift: Ints, axis: Ints | None = None, **how: Unpack[Options[DeviceArray]]) -> DeviceArray: ...
@overload
def roll(input: NDArray[T], shift: Ints, axis: Ints | None = None, **how: Unpack[Options[NDArray[T]]]) -> NDArray[T]: ...
@overload
def roll(input: Input, shift: Ints, axis: Ints | None = None, **how: Unpack[Options[Array]]) -> Array: ...
def roll(
    input: Input | DeviceArray,
    shift: Ints,
    axis: Ints | None = None,
    *,
    out: AnyArray | None = None,
    device: DeviceLike | None = None,
    progress: Progress | None = None,
) -> AnyArray:
    """Shift the elements of an array along axes; those that leave at one end come back at the other: ``numpy.roll``.

    Parameters
    ----------
    input
    shift : int or sequence of int
        How far, on each of the axes; below 0 towards their beginning. An int is for all of them.
    axis : int or sequence of int, optional
        The axes. One that is named several times is shifted by the sum. Default: `input` is shifted as one row of elements.
    out, device, progress

    Returns
    -------
    numpy.ndarray or DeviceArray
        `out`, or a new C-contiguous array of the same kind, dtype and shape as `input`.

    Raises
    ------
    TypeError
        An argument has the wrong type: a float as `shift`, an input of Python objects.
    ValueError
        `shift` and `axis` have different lengths; an axis is out of range; `out` does not fit; `device` names no device.
    NoDeviceError, VulkanError

    Notes
    -----
    ``numpy.roll`` of a device array, and in a fused function, is the same.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> dmlops.roll(np.arange(6).reshape(2, 3), 1, axis=1)
    array([[2, 0, 1],
           [5, 3, 4]])
    >>> dmlops.roll(np.arange(6).reshape(2, 3), -1)
    array([[1, 2, 3],
           [4, 5, 0]])
    """
    array, shifts = operand("input", input), ints_of(shift, "shift")
    along = None if axis is None else ints_of(axis, "axis")
    result: AnyArray = fused(rolled, "roll")(array, shifts, along, out=out, device=device, progress=progress)
    return result


# --- what they do: functions of arrays, which fuse traces ---------------------------------------------------------------


@functools.cache
def fused(function: Callable[..., Any], counted_as: str | None = None) -> Any:
    with late():
        from dmlops.fusion.fused import Fused

    return Fused(function, automatic=False, counted_as=counted_as)


def rolled(x: Any, shift: Any, axis: Any) -> Any:
    return np.roll(x, shift, axis)


rolled.__name__ = "roll"


def stacked(x: Any, plan: Sequence[tuple[int, int, int, int, int]]) -> Any:
    """Windows as `windows` plans them."""
    with late():
        from dmlops.operators.single_steps import recorded, windowed

    for along in plan:
        x = recorded(windowed, x, *along)
    return x


stacked.__name__ = "sliding_windows"


def selected(x: Any, steps: Steps) -> Any:
    """Along each axis: a slice of it, each element several times, or the nearest elements."""
    with late():
        from dmlops.operators.single_steps import recorded, resized

    for axis, which in steps:
        if isinstance(which, slice):
            x = x[(*(slice(None),) * axis, which)]
        else:
            x = np.repeat(x, which, axis) if isinstance(which, int) else recorded(resized, x, axis, which)
    return x


selected.__name__ = "resize_nearest"


_MOST_INDICES = 1 << 20  # of an axis; an array of more is larger than a cache, and takes as long to make as to move elements


def has_strides(which: Any) -> bool:
    """Whether an axis is resized by strides; else elements are gathered by their indices, which is faster than many copies."""
    if not isinstance(which, Nearest | Indices):
        return True
    pattern = pattern_of(which)
    few = len(pattern.period) == 1 and pattern.period[0][1] > 0
    return few or (which.count > _MOST_INDICES and len(pattern.all) <= 256)


def taken(name: str, x: Any, steps: Steps, out: Any, device: Any, progress: Any) -> tuple[Any, Steps | None]:
    """Gather the elements that `selected` would take from many places, the fewest first, and return the steps that are left.

    The last one makes the result where no steps are left, which then are None. All are left where strides have all indices.
    `name`: the operator that the call counts as; empty for a part of a call.
    """
    by_index = [(axis, which) for axis, which in steps if isinstance(which, Nearest | Indices)]
    by_index.sort(key=lambda step: step[1].count / step[1].size)
    if all(has_strides(which) for _, which in steps):
        return x, steps
    x = selected(x, [step for step in steps if isinstance(step[1], slice)])  # a view
    left = tuple(step for step in steps if isinstance(step[1], int))
    for count, (axis, line) in enumerate(by_index, 1):
        last = count == len(by_index) and not left
        run = how(name, progress) if last and name else PART
        x = _core._gather(x, integers(line.indices()), axis, 0, "take", out if last else None, device, run)
    return x, left or None
