"""Ultralytics and mmdetection."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dmlops.processors.arguments import whole
from dmlops.processors.parts import frames
from dmlops.processors.plans import Array, Plan, Size, Window
from dmlops.recipes.pictures import bytes_of, divisors, numbers, pair, pictures, sizes_of
from dmlops.recipes.running import kept, on_value, prepared, resized_linear
from dmlops.resizing.arguments import flag_of, number_of

__all__ = ["mmdetection", "ultralytics"]

f = np.float32


def ultralytics(
    photos: Any,
    imgsz: int | Sequence[int] = 640,
    *,
    rect: bool = True,
    stride: int = 32,
    half: bool = False,
    scale_fill: bool = False,
    scaleup: bool = True,
    center: bool = True,
    padding_value: int = 114,
    out: Mapping[str, Any] | None = None,
    device: Any = None,
) -> dict[str, Any]:
    """Prepare pictures as the ``predict`` of Ultralytics does for YOLO and its other detectors: letterboxed, RGB, 0 to 1.

    Parameters
    ----------
    photos : array, image of Pillow, or list of these
        Pictures of any sizes: uint8, ``(height, width, channels)``, in OpenCV's order, BGR. An array of four dimensions has
        several. Three channels are reversed, others stay as they are.
    imgsz : int or sequence of int, optional
        Side of a square, or (height, width). Rounded up to multiples of `stride` with a warning, as there.
    rect : bool, optional
        Pad pictures of one size only up to a multiple of `stride`, as is done for models of PyTorch and with dynamic axes.
        False for exported models of a fixed size.
    stride : int, optional
        The model's.
    half : bool, optional
        Floats of 16 bits.
    scale_fill, scaleup, center, padding_value : optional
        As ``LetterBox`` has them: stretch instead of padding; enlarge smaller pictures; put the picture in the middle; the byte
        around it.
    out : dict of arrays, optional
        Where ``"img"`` is written.
    device : pictures

    Returns
    -------
    dict
        ``"img"``, float32 or float16 ``(N, channels, height, width)``; and lists, one element for each picture:
        ``"ratio_pad"``, ((ratio of heights, ratio of widths), (left, top)), which ``ops.scale_boxes`` takes; ``"ori_shape"``;
        and ``"resized_shape"``, which is `imgsz`, as there.

    Raises
    ------
    TypeError, ValueError
        A picture is not one of bytes, or an argument is none. The message says what is right.

    Examples
    --------
    >>> import numpy as np
    >>> from dmlops.recipes import ultralytics
    >>> found = ultralytics(np.zeros((480, 600, 3), np.uint8))
    >>> found["img"].shape, found["ratio_pad"]
    ((1, 3, 512, 640), [((1.0666666666666667, 1.0666666666666667), (0, 0))])
    """
    given = pictures(photos, None)
    grid = whole(stride, "stride")
    wanted = pair(imgsz, "imgsz", "an int, or (height, width)", alone=True)
    rounded = math.ceil(wanted[0] / grid) * grid, math.ceil(wanted[1] / grid) * grid
    if rounded != wanted:
        warnings.warn(f"imgsz={imgsz} is no multiple of stride={grid}: {rounded} is taken", stacklevel=2)
    value = whole(padding_value, "padding_value", 0)
    if value > 255:
        raise ValueError(f"padding_value must be a byte, not {padding_value}")
    flags = {"rect": rect, "half": half, "scale_fill": scale_fill, "scaleup": scaleup, "center": center}
    on = {name: flag_of(flag, name) for name, flag in flags.items()}
    options = rounded, on["rect"] and not on["scale_fill"], grid, on["half"], on["scale_fill"], on["scaleup"], on["center"]
    return prepared(_letterboxed(sizes_of(given), given[0].shape[2], *options, value), given, out, device)


@kept
def _letterboxed(
    sizes: tuple[Size, ...],
    channels: int,
    imgsz: Size,
    rect: bool,
    stride: int,
    half: bool,
    scale_fill: bool,
    scaleup: bool,
    center: bool,
    value: int,
) -> Plan:
    """BasePredictor.preprocess and LetterBox."""
    parts, ratio_pad = frames(sizes), []
    auto = rect and len(set(sizes)) == 1
    for number, part in enumerate(parts):
        height, width = part.size
        r = min(imgsz[0] / height, imgsz[1] / width)
        r = r if scaleup else min(r, 1.0)
        inner = max(round(height * r), 1), max(round(width * r), 1)
        ratios, rest = (r, r), (imgsz[0] - inner[0], imgsz[1] - inner[1])
        if auto:
            rest = rest[0] % stride, rest[1] % stride
        elif scale_fill:
            inner, rest, ratios = imgsz, (0, 0), (imgsz[0] / height, imgsz[1] / width)
        half_rest = [one / 2 if center else one for one in rest]
        top, left = (round(one - 0.1) if center else 0 for one in half_rest)
        bottom, right = (round(one + 0.1) for one in half_rest)
        outer = inner[0] + top + bottom, inner[1] + left + right
        parts[number] = resized_linear(part, inner).within(outer, (top, left))
        ratio_pad.append((ratios, (left, top)))
    table = np.tile((np.arange(256, dtype=f) / f(255)).astype(np.float16 if half else f), (channels, 1))
    order = (2, 1, 0) if channels == 3 else range(channels)
    return {
        "img": on_value(parts, table, order, table[0, value]),
        "ratio_pad": ratio_pad,
        "ori_shape": list(sizes),
        "resized_shape": [imgsz] * len(sizes),
    }


def mmdetection(
    photos: Any,
    scale: int | Sequence[int] = (1333, 800),
    *,
    keep_ratio: bool = True,
    pad_size: Sequence[int] | None = None,
    pad_to_square: bool = False,
    pad_val: int | Sequence[int] = 0,
    mean: float | Sequence[float] | None = (123.675, 116.28, 103.53),
    std: float | Sequence[float] | None = (58.395, 57.12, 57.375),
    bgr_to_rgb: bool = True,
    pad_size_divisor: int = 32,
    pad_value: float = 0,
    out: Mapping[str, Any] | None = None,
    device: Any = None,
) -> dict[str, Any]:
    """Prepare pictures as a test pipeline of mmdetection does: ``Resize``, ``Pad`` where asked, then ``DetDataPreprocessor``.

    Parameters
    ----------
    photos : array, image of Pillow, or list of these
        Pictures of any sizes: uint8, ``(height, width, 3)``, in OpenCV's order, BGR. An array of four dimensions has several.
    scale, keep_ratio : optional
        Of ``Resize``, whose sizes are (width, height). With `keep_ratio` the longer number bounds the longer side.
    pad_size, pad_to_square, pad_val : optional
        Of ``Pad``, whose sizes are (width, height), too: a size, or a square as large as the longer side, at the right and the
        bottom of which the bytes are `pad_val`. By default there is no ``Pad``.
    mean, std, bgr_to_rgb, pad_size_divisor, pad_value : optional
        Of ``DetDataPreprocessor``. The defaults are those of Faster R-CNN and most others. `mean` and `std` of None leave
        floats from 0 to 255. `pad_value` is a float of the result.
    out : dict of arrays, optional
        Where ``"inputs"`` is written.
    device : pictures

    Returns
    -------
    dict
        ``"inputs"``, float32 ``(N, 3, height, width)``; lists of the meta information of each picture: ``"ori_shape"``,
        ``"img_shape"``, ``"scale_factor"``, which is (of widths, of heights), and ``"pad_shape"``; and ``"batch_input_shape"``.

    Raises
    ------
    TypeError, ValueError
        A picture is not one of bytes, or an argument is none. The message says what is right.

    Examples
    --------
    >>> import numpy as np
    >>> from dmlops.recipes import mmdetection
    >>> found = mmdetection([np.zeros((480, 640, 3), np.uint8), np.zeros((640, 480, 3), np.uint8)])
    >>> found["inputs"].shape, found["img_shape"]
    ((2, 3, 1088, 1088), [(800, 1067), (1067, 800)])
    """
    given = pictures(photos)
    wanted = pair(scale, "scale", "an int, or (width, height)", alone=True)
    if (mean is None) != (std is None):
        raise ValueError("mean and std must both be given, or both be None")
    padded = pair(pad_size, "pad_size", "(width, height)") if pad_size is not None else None
    keeps, square = flag_of(keep_ratio, "keep_ratio"), flag_of(pad_to_square, "pad_to_square")
    if padded and square:
        raise ValueError("pad_size must be None where pad_to_square is true")
    fill = bytes_of(pad_val, "pad_val", 3)
    norm = None if mean is None else (numbers(mean, "mean", 3), divisors(std, "std", 3))
    options = wanted, keeps, padded, square, fill, norm, flag_of(bgr_to_rgb, "bgr_to_rgb")
    divisor, value = whole(pad_size_divisor, "pad_size_divisor"), number_of(pad_value, "pad_value")
    return prepared(_detected(sizes_of(given), *options, divisor, value), given, out, device)


@kept
def _detected(
    sizes: tuple[Size, ...],
    scale: tuple[int, int],
    keep_ratio: bool,
    pad_size: tuple[int, int] | None,
    square: bool,
    fill: tuple[int, ...],
    norm: tuple[tuple[float, ...], tuple[float, ...]] | None,
    reverses: bool,
    divisor: int,
    pad_value: float,
) -> Plan:
    """mmcv's imrescale and impad, mmengine's ImgDataPreprocessor."""
    parts, factors = frames(sizes), []
    for number, part in enumerate(parts):
        parts[number] = made = resized_linear(part, _rescaled(part.size, scale) if keep_ratio else (scale[1], scale[0]))
        factors.append((made.size[1] / part.size[1], made.size[0] / part.size[0]))
        canvas = (max(made.size),) * 2 if square else (pad_size[1], pad_size[0]) if pad_size else made.size
        parts[number] = made.then(Window(0, 0, max(canvas[0], made.size[0]), max(canvas[1], made.size[1]), fill))
    outer = [tuple(math.ceil(length / divisor) * divisor for length in part.size) for part in parts]
    batch = max(one[0] for one in outer), max(one[1] for one in outer)
    order = (2, 1, 0) if reverses else (0, 1, 2)
    return {
        "inputs": on_value([part.within(batch) for part in parts], _table(norm, order), order, pad_value),
        "ori_shape": list(sizes),
        "img_shape": [part.size for part in parts],
        "scale_factor": factors,
        "pad_shape": outer,
        "batch_input_shape": batch,
    }


def _table(norm: tuple[tuple[float, ...], tuple[float, ...]] | None, order: Sequence[int]) -> Array:
    """A row for each channel of the picture; mean and deviation are those of the result's channels."""
    found: Array = np.tile(np.arange(256, dtype=f), (3, 1))
    if norm is None:
        return found
    mean, std = (np.array(one, f)[list(order), None] for one in norm)
    return (found - mean) / std


def _rescaled(size: Size, scale: tuple[int, int]) -> Size:
    """mmcv.rescale_size."""
    factor = float(min(max(scale) / max(size), min(scale) / min(size)))
    return int(size[0] * factor + 0.5), int(size[1] * factor + 0.5)
