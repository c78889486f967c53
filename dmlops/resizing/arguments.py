"""Arguments of the functions that resize as other libraries do: their names and constants, sizes, boxes, versions."""

from __future__ import annotations

import difflib
import enum
import math
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from dmlops._core import DeviceArray
from dmlops.errors import shown
from dmlops.operators.axes import axes_of, ints_of
from dmlops.refused_arrays import READ, is_lazy, lazy, no_array, not_plain
from dmlops.structure import is_recorded, operand

__all__ = [
    "OPENCV",
    "PILLOW",
    "TORCHVISION",
    "box_of",
    "check_bytes",
    "check_cubic",
    "flag_of",
    "gap_of",
    "has_words",
    "image_axes",
    "image_of",
    "mode_of_picture",
    "name_of",
    "number_of",
    "opencv_size",
    "shortest_edge",
    "size_of",
    "version_of",
]

# The names of each library, in the order of its constants where it has some.
PILLOW = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming", "mks2013", "mks2021")
OPENCV = ("nearest", "linear", "cubic", "area", "lanczos4", "linear-exact", "nearest-exact")
TORCHVISION = ("nearest", "nearest-exact", "bilinear", "bicubic", "lanczos")
# What another library calls it, or the nearest that there is.
_HINTS: Mapping[tuple[str, ...], Mapping[str, str]] = {
    PILLOW: {"linear": "bilinear", "cubic": "bicubic", "lanczos4": "lanczos", "area": "box", "antialias": "lanczos"},
    OPENCV: {"bilinear": "linear", "bicubic": "cubic", "lanczos": "lanczos4", "box": "area", "hamming": "area"},
    TORCHVISION: {"linear": "bilinear", "cubic": "bicubic", "lanczos4": "lanczos"},
}
_ENUMS = {"Resampling": PILLOW, "InterpolationMode": TORCHVISION}
_LIBRARIES = {PILLOW: "Pillow", OPENCV: "OpenCV", TORCHVISION: "torchvision"}


def name_of(given: Any, names: tuple[str, ...], argument: str) -> str:
    """A library's name for what it resizes by, from the name or the library's constant."""
    known = ", ".join(map(repr, names))
    if isinstance(given, enum.Enum):
        return _name_of_enum(given, names, argument)
    if isinstance(given, str):
        name = given.replace("_", "-")
        if name in names:
            return name
        lower = name.lower().removeprefix("inter-")
        hint = _HINTS[names].get(lower) or next(iter(difflib.get_close_matches(lower, names, 1, 0.75)), "")
        hint = f"; {_LIBRARIES[names]} has {hint!r}" if hint in names else ""
        raise ValueError(f"{argument} must be one of {known}, not {shown(given)}{hint}")
    if isinstance(given, bool | np.bool_) or not hasattr(given, "__index__") or names is TORCHVISION:
        raise TypeError(f"{argument} must be one of {known}, or {_LIBRARIES[names]}'s constant, not {shown(given)}")
    number = operator.index(given)
    if not 0 <= number < len(names):
        raise ValueError(f"{argument} must be a constant of {_LIBRARIES[names]} that resizes, not {number}")
    return names[number]


def _name_of_enum(given: enum.Enum, names: tuple[str, ...], argument: str) -> str:
    of = _ENUMS.get(type(given).__name__)
    name = str(given.value) if of is TORCHVISION else given.name.lower()
    if of is not names or name not in names:
        known = ", ".join(map(repr, names))
        raise ValueError(f"{argument} must be one of {known}, or {_LIBRARIES[names]}'s constant, not {given!s}")
    return name


def version_of(version: Any, oldest: tuple[int, int], library: str) -> tuple[int, int]:
    """A version as two ints."""
    if not isinstance(version, str):
        raise TypeError(f"version must be a str, as '{oldest[0]}.{oldest[1]}', not {shown(version)}")
    found = re.match(r"(\d{1,4})(?:\.(\d{1,4}))?(?![\d])", version)
    if not found:
        raise ValueError(f"version must be numbers with a dot between, as '{oldest[0]}.{oldest[1]}', not {shown(version)}")
    pair = int(found[1]), int(found[2] or 0)
    if pair < oldest:
        raise ValueError(f"version must be {oldest[0]}.{oldest[1]} or later: older ones of {library} were not compared")
    return pair


def image_axes(axes: Any, shape: Sequence[int], behind: int) -> tuple[int, int]:
    """The axes of height and width, which have an element each; the default has `behind` axes behind them."""
    rank = len(shape)
    if rank < 2:
        raise ValueError(f"input must have height and width, that is two axes or more, not {rank}")
    if axes is None:
        behind = behind if rank > 2 else 0
        pair = rank - 2 - behind, rank - 1 - behind
    else:
        found = axes_of(axes, rank)
        if len(found) != 2:
            raise ValueError(f"axes must be two, of height and width, not {shown(axes)}")
        pair = found[0], found[1]
    if not shape[pair[0]] or not shape[pair[1]]:
        raise ValueError(f"an image of {shape[pair[0]]} rows of {shape[pair[1]]} elements has nothing to resize")
    return pair


def size_of(size: Any) -> tuple[int, int]:
    """(height, width), 1 or more each."""
    if isinstance(size, str | bytes) or not (np.iterable(size) or hasattr(type(size), "__index__")):
        raise TypeError(f"size must be two ints, (height, width), not {shown(size)}")
    sizes = ints_of(size, "size")
    if not np.iterable(size) or len(sizes) != 2:
        raise ValueError(f"size must be two ints, (height, width), not {shown(size)}")
    if min(sizes) < 1:
        raise ValueError(f"size must be 1 or more each way, not {shown(sizes)}")
    if max(sizes) >= 2**31 - 1:
        raise ValueError(f"size must be below {2**31 - 1} each way, not {shown(sizes)}")
    return sizes[0], sizes[1]


def number_of(value: Any, name: str) -> float:
    if isinstance(value, bool | np.bool_ | str | bytes) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be an int or a float, not {shown(value)}")
    try:
        number = float(value)
    except OverflowError:  # an int beyond all floats
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, not {number}")
    return number


def box_of(box: Any, height: int, width: int) -> tuple[float, float, float, float] | None:
    """(left, top, right, bottom), as Pillow has it; ints stay ints."""
    if box is None:
        return None
    if isinstance(box, str | bytes) or not np.iterable(box) or len(entries := list(box)) != 4:
        raise TypeError(f"box must be four numbers, (left, top, right, bottom), not {shown(box)}")
    for k, entry in enumerate(entries):
        number_of(entry, f"box[{k}]")
    left, top, right, bottom = (np.float32(entry) for entry in entries)
    if left < 0 or top < 0 or right > width or bottom > height:
        raise ValueError(f"box must lie within the image, (0, 0, {width}, {height}), not {shown(tuple(entries))}")
    if right <= left or bottom <= top:
        raise ValueError(f"box must be (left, top, right, bottom) with some area, not {shown(tuple(entries))}")
    return tuple(entry.item() if isinstance(entry, np.generic) else entry for entry in entries)


def gap_of(gap: Any) -> float | None:
    if gap is None:
        return None
    number = number_of(gap, "reducing_gap")
    if number < 1.0:
        raise ValueError(f"reducing_gap must be 1.0 or greater, not {number}")
    return number


def factors_of(fx: Any, fy: Any) -> tuple[float, float]:
    """(fy, fx): outputs for each input, of rows and of columns."""
    if fx is None or fy is None:
        raise ValueError("size must be given, or both fx and fy")
    factors = number_of(fy, "fy"), number_of(fx, "fx")
    if min(factors) <= 0:
        raise ValueError(f"fx and fy must be above 0, not {factors[1]} and {factors[0]}")
    return factors


def mode_of_picture(picture: Any) -> str | None:
    """The mode of an image of Pillow's; None of anything else."""
    kind = type(picture)
    return str(picture.mode) if kind.__module__.partition(".")[0] == "PIL" and hasattr(picture, "mode") else None


def has_words(array: Any) -> bool:
    """Whether Pillow has the array's dtype as one of its modes I;16."""
    return bool(array.dtype.kind == "u" and array.dtype.itemsize == 2)


def check_bytes(array: Any, name: str, nearest: str, library: str) -> None:
    """Only bytes are resized by sums."""
    if array.dtype == np.uint8:
        return
    advice = "convert it to uint8 first, or resize before it is converted"
    if library == "Pillow":
        advice = f"Pillow's modes I, F and I;16 are resized by 'nearest' only; {advice}"
    elif array.dtype.kind == "f":
        advice = f"{library}'s results of floats depend on the processor; {advice}"
    raise TypeError(f"input must be of dtype uint8 for {name!r}, not {array.dtype}: {advice}; {nearest} takes any dtype")


def shortest_edge(size: Any, height: int, width: int) -> tuple[int, int]:
    """(height, width) of torchvision's `size`: an int is for the shorter side."""
    sizes = ints_of(size, "size")
    if len(sizes) != 1:
        return size_of(size)
    short = sizes[0]
    if short < 1:
        raise ValueError(f"size must be 1 or more, not {short}")
    long = int(short * max(height, width) / min(height, width))
    return size_of((short, long) if height <= width else (long, short))


def image_of(input: Any) -> Any:
    array = operand("input", input)
    if isinstance(array, list) and any(map(is_recorded, array)):
        array = np.stack(array)
    if is_lazy(array):
        raise lazy("input", array)
    if isinstance(array, np.ndarray | DeviceArray) or is_recorded(array):
        return _no_image(input, array) if array.ndim == 0 and array.dtype.kind in "OSU" else array
    try:
        return np.asarray(array)
    except (ValueError, TypeError) as cause:
        shapes = {tuple(np.shape(one)) for one in array} if isinstance(array, list) and isinstance(cause, ValueError) else ()
        if len(shapes) > 1:
            said = ", ".join(map(str, sorted(shapes)))
            raise ValueError(f"input has images of several shapes, {said}: resize each by a call of its own") from None
        raise no_array("input", input, cause)


def _no_image(input: Any, array: Any) -> NoReturn:
    if input is None:
        raise TypeError("input must be an array, not None: cv2.imread gives that for a file that it cannot read")
    if isinstance(input, bytes):
        raise TypeError(f"input must be an array, not bytes; {READ}")
    raise not_plain("input", array)


def flag_of(value: Any, name: str) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, not {shown(value)}")
    return bool(value)


def opencv_size(size: Any, fx: Any, fy: Any, old: tuple[int, int]) -> tuple[tuple[int, int], tuple[float, float] | None]:
    """The result's (height, width), and (fy, fx) if they say it; where a size is given OpenCV ignores them."""
    if size is not None:
        return size_of(size), None
    factors = factors_of(fx, fy)
    new = round(old[0] * factors[0]), round(old[1] * factors[1])
    if min(new) < 1:
        raise ValueError(f"fx and fy make {new[0]} rows of {new[1]} elements; there must be 1 or more each way")
    return size_of(new), factors


def check_cubic(behind: list[int], old: tuple[int, int], items: int, ipp: Any) -> None:
    """Cubic is refused where OpenCV has IPP compute it: where images have 1, 3 or 4 channels, and 4 pixels each way."""
    if sum(size > 1 for size in behind) > 1:
        raise ValueError("'cubic' takes one axis of channels: reshape those behind the width to one")
    if (ipp is None or flag_of(ipp, "ipp")) and items in (1, 3, 4) and min(old) >= 4:
        raise ValueError(
            "OpenCV's wheels for x86 have Intel's IPP compute 'cubic', whose bits cannot be reproduced: ipp=False gives those "
            "of OpenCV without it, as after cv2.ipp.setUseIPP(False) or with OPENCV_IPP=disabled in the environment"
        )
