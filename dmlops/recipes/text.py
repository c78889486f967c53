"""PaddleOCR and EasyOCR."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dmlops.errors import shown
from dmlops.processors.arguments import whole
from dmlops.processors.parts import Part, frames, resized, stacked
from dmlops.processors.plans import Block, Pixels, Plan, Size, Window, in_order
from dmlops.processors.sizes import upwards
from dmlops.recipes.pictures import divisors, numbers, pictures, several, sizes_of
from dmlops.recipes.running import kept, prepared, resized_linear
from dmlops.resizing.arguments import number_of

__all__ = ["easyocr_detection", "easyocr_recognition", "paddleocr_detection", "paddleocr_recognition"]

f = np.float32
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_CENTRED = (np.arange(256, dtype=f) / f(255) - f(0.5)) / f(0.5)  # of each byte: -1 to 1
_WIDEST = 3200  # OCRReisizeNormImg.max_imgW


def paddleocr_detection(
    photos: Any,
    limit_side_len: int = 64,
    limit_type: str = "min",
    *,
    max_side_limit: int = 4000,
    scale: float = 1 / 255,
    mean: Sequence[float] = MEAN,
    std: Sequence[float] = STD,
    out: Mapping[str, Any] | None = None,
    device: Any = None,
) -> dict[str, Any]:
    """Prepare pictures as PaddleOCR's text detectors do: resized to multiples of 32, normalised, in the order of the channels.

    Parameters
    ----------
    photos : array, image of Pillow, or list of these
        Pictures of any sizes: uint8, ``(height, width, 3)``, in OpenCV's order, BGR, which stays. An array of four dimensions
        has several.
    limit_side_len, limit_type, max_side_limit : optional
        Of ``DetResizeForTest``. The defaults are those of the pipeline ``PaddleOCR``; ``TextDetection`` alone has 960 and
        ``"max"``. The type is ``"min"``, ``"max"`` or ``"resize_long"``.
    scale, mean, std : optional
        Of ``NormalizeImage``.
    out : dict of arrays, optional
        Where ``"x"`` is written.
    device : pictures

    Returns
    -------
    dict
        ``"x"``, float32 ``(N, 3, height, width)``, or a list of ``(3, height, width)`` where sizes differ, of which PaddleOCR
        makes no batch; and ``"shapes"``, float64 ``(N, 4)``: height, width, ratio of heights and of widths.

    Raises
    ------
    TypeError, ValueError
        A picture is not one of bytes, or an argument is none. The message says what is right.

    Examples
    --------
    >>> import numpy as np
    >>> from dmlops.recipes import paddleocr_detection
    >>> found = paddleocr_detection(np.zeros((480, 650, 3), np.uint8))
    >>> found["x"].shape, found["shapes"].tolist()
    ((1, 3, 480, 640), [[480.0, 650.0, 1.0, 0.9846153846153847]])
    """
    given = pictures(photos)
    if not isinstance(limit_type, str) or limit_type not in ("min", "max", "resize_long"):
        raise ValueError(f"limit_type must be 'min', 'max' or 'resize_long', not {shown(limit_type)}")
    limits = whole(limit_side_len, "limit_side_len"), limit_type, whole(max_side_limit, "max_side_limit")
    norm = number_of(scale, "scale"), numbers(mean, "mean", 3), divisors(std, "std", 3)
    return prepared(_limited(sizes_of(given), *limits, *norm), given, out, device)


@kept
def _limited(
    sizes: tuple[Size, ...],
    side: int,
    limit_type: str,
    most: int,
    scale: float,
    mean: tuple[float, ...],
    std: tuple[float, ...],
) -> Plan:
    """DetResizeForTest and NormalizeImage of PaddleX."""
    parts, shapes = frames(sizes), []
    for number, part in enumerate(parts):
        if sum(part.size) < 64:
            part = part.then(Window(0, 0, max(32, part.size[0]), max(32, part.size[1])))
        size = _of_32(part.size, side, limit_type, most)
        parts[number] = resized_linear(part, size)
        shapes.append([*sizes[number], size[0] / float(part.size[0]), size[1] / float(part.size[1])])
    rows = [np.arange(256, dtype=f) * f(scale / s) + f(-m / s) for m, s in zip(mean, std, strict=True)]
    return {"x": stacked(parts, np.stack(rows)), "shapes": np.array(shapes)}


def _of_32(size: Size, side: int, limit_type: str, most: int) -> Size:
    ratio = 1.0
    if limit_type == "resize_long" or (limit_type == "max" and max(size) > side):
        ratio = float(side) / max(size)
    elif limit_type == "min" and min(size) < side:
        ratio = float(side) / min(size)
    height, width = int(size[0] * ratio), int(size[1] * ratio)
    if max(height, width) > most:
        ratio = float(most) / max(height, width)
        height, width = int(height * ratio), int(width * ratio)
    return max(round(height / 32) * 32, 32), max(round(width / 32) * 32, 32)


def paddleocr_recognition(
    photos: Any,
    rec_image_shape: Sequence[int] = (3, 48, 320),
    *,
    out: Mapping[str, Any] | None = None,
    device: Any = None,
) -> dict[str, Any]:
    """Prepare lines of text as PaddleOCR's recognisers do: of one height, -1 to 1, zeros at the right up to the widest.

    Parameters
    ----------
    photos : array, image of Pillow, or list of these
        Lines of any sizes: uint8, ``(height, width, 3)``, in OpenCV's order, BGR, which stays. An array of four dimensions has
        several.
    rec_image_shape : sequence of int, optional
        (3, height, least width) of ``RecResizeImg``.
    out : dict of arrays, optional
        Where ``"x"`` is written.
    device : pictures

    Returns
    -------
    dict
        ``"x"``, float32 ``(N, 3, height, width)``; ``"wh_ratio_list"``, in rising order, and ``"max_wh_ratio"``, as
        ``CTCLabelDecode`` takes them; and ``"resized_w"``, a list of the lines' widths without the zeros.

    Raises
    ------
    TypeError, ValueError
        A picture is not one of bytes, or an argument is none. The message says what is right.

    Examples
    --------
    >>> import numpy as np
    >>> from dmlops.recipes import paddleocr_recognition
    >>> found = paddleocr_recognition([np.zeros((60, 420, 3), np.uint8), np.zeros((30, 90, 3), np.uint8)])
    >>> found["x"].shape, found["resized_w"]
    ((2, 3, 48, 336), [336, 144])
    """
    given = pictures(photos)
    channels, *shape = several(rec_image_shape, "rec_image_shape", 3, "(3, height, width)")
    if channels != 3:
        raise ValueError(f"rec_image_shape must be (3, height, width), not {shown(rec_image_shape)}")
    return prepared(_lines(sizes_of(given), *shape), given, out, device)


@kept
def _lines(sizes: tuple[Size, ...], height: int, least: int) -> Plan:
    """OCRReisizeNormImg and ToBatch of PaddleX."""
    parts, widths, ratios = frames(sizes), [], []
    for number, part in enumerate(parts):
        ratio = part.size[1] / part.size[0]
        width = int(height * max(least / height, ratio))
        inner = _WIDEST if width > _WIDEST else min(math.ceil(height * ratio), width)
        parts[number] = resized_linear(part, (height, inner))
        widths.append(min(width, _WIDEST))
        ratios.append(ratio)
    frame = height, max(widths)
    return {
        "x": stacked([part.within(frame) for part in parts], np.tile(_CENTRED, (3, 1))),
        "wh_ratio_list": sorted(ratios),
        "max_wh_ratio": max(least / height, *ratios),
        "resized_w": [part.size[1] for part in parts],
    }


def easyocr_detection(
    photos: Any,
    canvas_size: int = 2560,
    mag_ratio: float = 1.0,
    *,
    mean: Sequence[float] = MEAN,
    variance: Sequence[float] = STD,
    out: Mapping[str, Any] | None = None,
    device: Any = None,
) -> dict[str, Any]:
    """Prepare pictures as EasyOCR's detector CRAFT does: resized by one ratio, black up to multiples of 32, normalised.

    Parameters
    ----------
    photos : array, image of Pillow, or list of these
        Pictures of any sizes: uint8, ``(height, width, 3)``. The channels stay in their order, as there: a file is read as RGB,
        arrays are taken as they are. An array of four dimensions has several.
    canvas_size, mag_ratio : optional
        Of ``Reader.detect``: the longer side becomes `mag_ratio` times as long, at most `canvas_size`.
    mean, variance : optional
        Of ``normalizeMeanVariance``.
    out : dict of arrays, optional
        Where ``"x"`` is written.
    device : pictures

    Returns
    -------
    dict
        ``"x"``, float32 ``(N, 3, height, width)``, or a list of ``(3, height, width)`` where sizes differ, of which EasyOCR
        makes no batch; and lists, one element for each picture: ``"target_ratio"`` and ``"size_heatmap"``, (width, height).

    Raises
    ------
    TypeError, ValueError
        A picture is not one of bytes, or an argument is none. The message says what is right.

    Examples
    --------
    >>> import numpy as np
    >>> from dmlops.recipes import easyocr_detection
    >>> found = easyocr_detection(np.zeros((480, 650, 3), np.uint8))
    >>> found["x"].shape, found["target_ratio"], found["size_heatmap"]
    ((1, 3, 480, 672), [1.0], [(336, 240)])
    """
    given = pictures(photos, order="RGB")
    canvas, magnified = whole(canvas_size, "canvas_size"), number_of(mag_ratio, "mag_ratio")
    if magnified <= 0:
        raise ValueError(f"mag_ratio must be above 0, not {mag_ratio}")
    norm = numbers(mean, "mean", 3), divisors(variance, "variance", 3)
    return prepared(_on_canvas(sizes_of(given), canvas, magnified, *norm), given, out, device)


@kept
def _on_canvas(
    sizes: tuple[Size, ...], canvas: int, magnified: float, mean: tuple[float, ...], variance: tuple[float, ...]
) -> Plan:
    """imgproc.resize_aspect_ratio and normalizeMeanVariance."""
    parts, ratios, heatmaps = frames(sizes), [], []
    for number, part in enumerate(parts):
        ratio = min(magnified * max(part.size), canvas) / max(part.size)
        made = resized_linear(part, (int(part.size[0] * ratio), int(part.size[1] * ratio)))
        outer = upwards(made.size, 32)
        parts[number] = made.then(Window(0, 0, *outer))
        ratios.append(ratio)
        heatmaps.append((int(outer[1] / 2), int(outer[0] / 2)))
    rows = [(np.arange(256, dtype=f) - f(m * 255.0)) / f(v * 255.0) for m, v in zip(mean, variance, strict=True)]
    return {"x": stacked(parts, np.stack(rows)), "target_ratio": ratios, "size_heatmap": heatmaps}


def easyocr_recognition(
    photos: Any,
    img_h: int = 64,
    *,
    out: Mapping[str, Any] | None = None,
    device: Any = None,
) -> dict[str, Any]:
    """Prepare grey boxes of text as EasyOCR's recogniser does: resized by OpenCV, then by Pillow, the last column repeated.

    The second round, with more contrast for boxes that were read with low confidence, is not part of this.

    Parameters
    ----------
    photos : array, image of Pillow, or list of these
        Boxes of any sizes, cut from the grey picture: uint8, ``(height, width)``. An array of three dimensions has several; one
        whose last has 1, 3 or 4, which may be channels of one picture, is refused: a list of boxes is clear.
    img_h : int, optional
        The recogniser's height, ``imgH`` there.
    out : dict of arrays, optional
        Where ``"image_tensors"`` is written.
    device : pictures

    Returns
    -------
    dict
        ``"image_tensors"``, float32 ``(N, 1, img_h, max_width)``, and ``"max_width"``, that of the box which is longest for its
        height. On a CPU EasyOCR prepares each box alone: give them one by one.

    Raises
    ------
    TypeError, ValueError
        A picture is not one of bytes, or an argument is none. The message says what is right.

    Examples
    --------
    >>> import numpy as np
    >>> from dmlops.recipes import easyocr_recognition
    >>> found = easyocr_recognition([np.zeros((30, 200), np.uint8), np.zeros((40, 90), np.uint8)])
    >>> found["image_tensors"].shape, found["max_width"]
    ((2, 1, 64, 448), 448)
    """
    given = pictures(photos, 1)
    return prepared(_boxes(sizes_of(given), whole(img_h, "img_h")), given, out, device)


@kept
def _boxes(sizes: tuple[Size, ...], height: int) -> Plan:
    """utils.get_image_list, then AlignCollate and NormalizePAD."""
    parts, most = frames(sizes), 1
    for number, part in enumerate(parts):
        ratio = part.size[1] / part.size[0]
        size = (height, int(height * ratio)) if ratio >= 1 else (int(height * (1.0 / ratio)), height)
        parts[number] = resized_linear(part, size)
        most = max(most, math.ceil(ratio if ratio >= 1 else 1.0 / ratio))
    widest, blocks = most * height, []
    for number, part in enumerate(parts):
        ratio = part.size[1] / float(part.size[0])
        made = resized(part, (height, min(math.ceil(height * ratio), widest)), "bicubic")
        blocks += _with_last_column(made, number * height * widest, widest)
    return {"image_tensors": Pixels((len(sizes), 1, height, widest), _CENTRED[None], tuple(blocks)), "max_width": widest}


def _with_last_column(part: Part, first: int, widest: int) -> list[Block]:
    """At the left; the rest of a row is its last pixel."""
    height, width = part.size
    rows = in_order([(height, 1, 0, 0), (widest, 0, 1, 0)])
    found = [Block(part.picture, part.steps, first, (rows[0], rows[1]._replace(extent=width)))]
    if width < widest:
        last = part.then(Window(0, width - 1, height, 1))
        again = rows[1]._replace(extent=widest - width, columns=0)
        found.append(Block(part.picture, last.steps, first + width, (rows[0], again)))
    return found
