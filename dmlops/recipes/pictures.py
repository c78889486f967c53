"""Pictures and arguments of recipes, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dmlops.errors import shown
from dmlops.processors.arguments import whole
from dmlops.processors.inputs import check_in_memory, on_host
from dmlops.processors.plans import Array, Size
from dmlops.resizing.arguments import mode_of_picture, number_of

__all__ = ["bytes_of", "divisors", "numbers", "pair", "pictures", "several", "sizes_of"]


def pictures(photos: Any, channels: int | None = 3, order: str = "BGR") -> list[Array]:
    """Arrays (H, W, C) of bytes: of one picture, a list, or an array of several. `channels`: None is any number."""
    found = [_picture(one, f"picture {place}", channels, order) for place, one in enumerate(_listed(photos, channels))]
    if not found:
        raise ValueError("there are no pictures")
    if len({one.shape[2] for one in found}) > 1:
        raise ValueError(f"the pictures must have one number of channels, not {sorted({one.shape[2] for one in found})}")
    return found


def _listed(photos: Any, channels: int | None) -> list[Any]:
    check_in_memory(photos, "photos")
    if isinstance(photos, (list, tuple)):
        return list(photos)
    rank = getattr(photos, "ndim", 0)
    if channels == 1 and rank == 3 and photos.shape[2] in (1, 3, 4):
        raise ValueError(
            f"photos has the shape {tuple(photos.shape)}, which may be one picture with channels, or several grey ones: a grey "
            "picture is (height, width), and a list of these has several"
        )
    return list(photos) if rank == 4 or (rank == 3 and channels == 1) else [photos]


def _picture(photo: Any, where: str, channels: int | None, order: str) -> Array:
    if photo is None:
        raise ValueError(f"{where} is None: cv2.imread gives that for a file that it cannot read")
    if mode_of_picture(photo) is not None:
        photo = np.asarray(photo.convert("L" if channels == 1 else "RGB"))
        photo = photo[..., ::-1] if order == "BGR" and channels != 1 else photo
    array = _array(photo, where)
    if array.dtype != np.uint8:
        hint = "; of floats from 0 to 1: (picture * 255).round().astype(numpy.uint8)" if array.dtype.kind == "f" else ""
        raise TypeError(f"{where} is {array.dtype}: pictures must be bytes, uint8, as cv2.imread gives them{hint}")
    array = array[..., None] if array.ndim == 2 and channels in (1, None) else array
    is_first = channels is None and array.ndim == 3 and array.shape[0] in (1, 3, 4) and array.shape[2] > 4
    if array.ndim != 3 or is_first or (channels is not None and array.shape[2] != channels):
        raise ValueError(f"{where} has the shape {np.shape(photo)}, {_wanted(array, channels)}")
    if not array.size:
        raise ValueError(f"{where} of the shape {np.shape(photo)} has no pixels")
    return array


def _array(photo: Any, where: str) -> Array:
    found = None if isinstance(photo, (list, tuple)) else np.asarray(on_host(photo, where))
    if found is None or found.dtype.kind not in "biufc":
        raise TypeError(f"{where} is of type {type(photo).__name__}: pictures must be arrays, as cv2.imread gives them")
    return found


def _wanted(array: Array, channels: int | None) -> str:
    if channels == 1:
        return "not that of a grey picture, (height, width)"
    text = f"not (height, width, {channels or 'channels'})"
    if array.ndim == 3 and (array.shape[0] == channels or channels is None):
        return f"{text}: np.moveaxis(picture, 0, -1) puts the channels last"
    if array.ndim == 3 and array.shape[2] == 4:
        return f"{text}: picture[..., :3] leaves alpha out"
    return f"{text}: np.repeat(picture[..., None], 3, -1) makes three channels of grey" if array.ndim == 2 else text


def sizes_of(photos: Sequence[Array]) -> tuple[Size, ...]:
    return tuple((one.shape[0], one.shape[1]) for one in photos)


# --- arguments ---


def _entries(value: Any) -> list[Any] | None:
    """Those of a sequence."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray) or np.ndim(value) == 0:
        return None
    return list(value)


def several(value: Any, name: str, count: int, what: str) -> tuple[int, ...]:
    """So many ints, of which `what` says which they are."""
    entries = _entries(value)
    if entries is None or len(entries) != count:
        raise ValueError(f"{name} must be {what}, not {shown(value)}")
    return tuple(whole(one, f"{name}[{k}]") for k, one in enumerate(entries))


def pair(value: Any, name: str, what: str, alone: bool = False) -> tuple[int, int]:
    """Two ints; `what` says which. `alone`: one int is for both."""
    if alone and _entries(value) is None and hasattr(type(value), "__index__"):
        return (whole(value, name),) * 2
    first, second = several(value, name, 2, what)
    return first, second


def numbers(value: Any, name: str, count: int) -> tuple[float, ...]:
    """As many numbers as channels; one number is for all."""
    entries = _entries(value)
    if entries is None:
        entries = [value] * count
    try:
        found = tuple(number_of(one, name) for one in entries)
    except TypeError:
        found = ()
    if len(found) != count:
        kind = ValueError if len(entries) != count else TypeError
        raise kind(f"{name} must be a number, or {count} numbers, one for each channel, not {shown(value)}")
    return found


def divisors(value: Any, name: str, count: int) -> tuple[float, ...]:
    """Numbers that floats of 32 bits are divided by."""
    found = numbers(value, name, count)
    if not all(map(np.float32, found)):
        raise ValueError(f"{name} must not be 0, as a float of 32 bits, but is {shown(value)}")
    return found


def bytes_of(value: Any, name: str, count: int) -> tuple[int, ...]:
    """A byte for each channel."""
    found = numbers(value, name, count)
    if not all(0 <= one <= 255 and one == int(one) for one in found):
        raise ValueError(f"{name} must be bytes, 0 to 255, not {shown(value)}")
    return tuple(map(int, found))
