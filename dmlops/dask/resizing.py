"""Resizing as Pillow, OpenCV and torchvision do it, image by image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.array as da

from dmlops.dask.arguments import dask_array, reusable
from dmlops.dask.chunks import Chunks, rechunk
from dmlops.dask.graphs import blockwise
from dmlops.resizing.plans import ResizePlan, opencv_plan, pillow_plan, torchvision_plan

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dmlops._annotations import (
        Box,
        DeviceLike,
        Ints,
        IntSequence,
        OpenCVInterpolation,
        PillowFilter,
        TorchvisionInterpolation,
    )

__all__ = ["resize_opencv", "resize_pillow", "resize_torchvision"]


def resize_pillow(
    input: da.Array | ArrayLike,
    size: IntSequence,
    resample: PillowFilter = "bicubic",
    *,
    box: Box | None = None,
    reducing_gap: float | None = None,
    alpha: bool | None = None,
    axes: IntSequence | None = None,
    version: str = "13.0",
    device: DeviceLike | None = None,
) -> da.Array:
    """Resize images to (height, width) with Pillow's bits, as `dmlops.resize_pillow` does.

    Parameters
    ----------
    input : dask.array.Array or array_like
        Height and width should lie in one chunk each, and with `alpha` the channels; they are rechunked otherwise. The other
        axes may have any chunks.
    size, resample, box, reducing_gap, alpha, axes, version, device
        As for `dmlops.resize_pillow`.

    Returns
    -------
    dask.array.Array
        Of the dtype of `input`.

    Warns
    -----
    dask.array.PerformanceWarning
        Rechunking makes a chunk larger than ``array.chunk-size`` of Dask's configuration.

    Examples
    --------
    >>> import dask.array as da, dmlops.dask
    >>> photos = da.zeros((64, 480, 640, 3), dtype="uint8", chunks=(8, 480, 640, 3))
    >>> dmlops.dask.resize_pillow(photos, (224, 224)).chunksize
    (8, 224, 224, 3)
    """
    x, box = dask_array(input), None if box is None else tuple(reusable(box))
    plan = pillow_plan(x, None, size, resample, box, reducing_gap, alpha, axes, version)
    more = {"resample": plan.name, "box": box, "reducing_gap": reducing_gap, "alpha": alpha, "version": version}
    x = rechunk("resize_pillow", x, _whole(x, plan))
    return _resized("resize_pillow", x, plan, {"size": plan.size, **more, "device": device})


def resize_opencv(
    input: da.Array | ArrayLike,
    size: IntSequence | None = None,
    interpolation: OpenCVInterpolation = "linear",
    *,
    fx: float | None = None,
    fy: float | None = None,
    ipp: bool | None = None,
    axes: IntSequence | None = None,
    version: str = "5.0",
    device: DeviceLike | None = None,
) -> da.Array:
    """Resize images to (height, width) with OpenCV's bits, as `dmlops.resize_opencv` does.

    Parameters
    ----------
    input : dask.array.Array or array_like
        Height, width and the axes behind them should lie in one chunk each; they are rechunked otherwise. The axes before may
        have any chunks.
    size, interpolation, fx, fy, ipp, axes, version, device
        As for `dmlops.resize_opencv`.

    Returns
    -------
    dask.array.Array
        Of the dtype of `input`.

    Warns
    -----
    dask.array.PerformanceWarning
        Rechunking makes a chunk larger than ``array.chunk-size`` of Dask's configuration.

    Examples
    --------
    >>> import dask.array as da, dmlops.dask
    >>> photos = da.zeros((64, 480, 640, 3), dtype="uint8", chunks=(8, 240, 320, 3))
    >>> dmlops.dask.resize_opencv(photos, fx=0.5, fy=0.5, interpolation="area").chunksize
    (8, 240, 320, 3)
    """
    x = dask_array(input)
    plan = opencv_plan(x, reusable(size), interpolation, fx, fy, ipp, axes, version)
    given: dict[str, Any] = {"fx": fx, "fy": fy} if size is None else {"size": plan.size}
    x = rechunk("resize_opencv", x, _whole(x, plan))
    more = {"interpolation": plan.name, "ipp": ipp, "version": version, "device": device}
    return _resized("resize_opencv", x, plan, given | more)


def resize_torchvision(
    input: da.Array | ArrayLike,
    size: Ints,
    interpolation: TorchvisionInterpolation = "bilinear",
    *,
    antialias: bool = True,
    axes: IntSequence | None = None,
    device: DeviceLike | None = None,
) -> da.Array:
    """Resize images to (height, width) with torchvision's bits, as `dmlops.resize_torchvision` does.

    Parameters
    ----------
    input : dask.array.Array or array_like
        Height and width should lie in one chunk each; they are rechunked otherwise. The other axes may have any chunks.
    size, interpolation, antialias, axes, device
        As for `dmlops.resize_torchvision`.

    Returns
    -------
    dask.array.Array
        Of the dtype of `input`.

    Warns
    -----
    dask.array.PerformanceWarning
        Rechunking makes a chunk larger than ``array.chunk-size`` of Dask's configuration.

    Examples
    --------
    >>> import dask.array as da, dmlops.dask
    >>> photos = da.zeros((64, 3, 480, 640), dtype="uint8", chunks=(8, 1, 480, 640))
    >>> dmlops.dask.resize_torchvision(photos, 224).chunksize
    (8, 1, 224, 298)
    """
    x = dask_array(input)
    plan = torchvision_plan(x, size, interpolation, antialias, axes)
    x = rechunk("resize_torchvision", x, _whole(x, plan))
    more = {"interpolation": plan.name, "antialias": antialias, "device": device}
    return _resized("resize_torchvision", x, plan, {"size": plan.size, **more})


def _whole(x: da.Array, plan: ResizePlan) -> list[Chunks]:
    """Chunks that have whole images."""
    whole = {*plan.axes, *plan.channels}
    return [(x.shape[axis],) if axis in whole else sizes for axis, sizes in enumerate(x.chunks)]


def _resized(name: str, x: da.Array, plan: ResizePlan, arguments: dict[str, Any]) -> da.Array:
    new = dict(zip(plan.axes, plan.size, strict=True))
    chunks = [(new[axis],) if axis in new else sizes for axis, sizes in enumerate(x.chunks)]
    return blockwise(name, x, chunks, arguments | {"axes": plan.axes})
