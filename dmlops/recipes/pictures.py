"""Pictures and arguments of recipes, checked."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from dmlops.processors.inputs import on_host
from dmlops.processors.plans import Array, Size
from dmlops.resizing.arguments import mode_of_picture

__all__ = ["numbers", "pair", "pictures", "sizes_of", "whole"]


def pictures(photos: Any, channels: int | None = 3, order: str = "BGR") -> list[Array]:
    """Arrays (H, W, C) of bytes: of one picture, a list, or an array of several. `channels`: None is any number."""
    found = [_picture(one, f"picture {place}", channels, order) for place, one in enumerate(_listed(photos, channels))]
    if not found:
        raise ValueError("there are no pictures")
    if len({one.shape[2] for one in found}) > 1:
        raise ValueError(f"the pictures must have one number of channels, not {sorted({one.shape[2] for one in found})}")
    return found


def _listed(photos: Any, channels: int | None) -> list[Any]:
    if isinstance(photos, (list, tuple)):
        return list(photos)
    return list(photos) if getattr(photos, "ndim", 0) == (3 if channels == 1 and _is_stack(photos) else 4) else [photos]


def _is_stack(photos: Any) -> bool:
    return bool(photos.shape[-1] != 1)


def _picture(photo: Any, where: str, channels: int | None, order: str) -> Array:
    if photo is None:
        raise ValueError(f"{where} is None: cv2.imread gives that for a file that it cannot read")
    if mode_of_picture(photo) is not None:
        photo = np.asarray(photo.convert("L" if channels == 1 else "RGB"))
        photo = photo[..., ::-1] if order == "BGR" and channels != 1 else photo
    array = np.asarray(on_host(photo))
    if array.dtype != np.uint8:
        raise TypeError(f"{where} is {array.dtype}: pictures must be bytes, uint8, as cv2.imread gives them")
    array = array[..., None] if array.ndim == 2 and channels in (1, None) else array
    if array.ndim != 3 or (channels is not None and array.shape[2] != channels):
        raise ValueError(f"{where} has the shape {np.shape(photo)}, {_wanted(array, channels)}")
    if not array.size:
        raise ValueError(f"{where} of the shape {np.shape(photo)} has no pixels")
    return array


def _wanted(array: Array, channels: int | None) -> str:
    if channels == 1:
        return "not that of a grey picture, (height, width)"
    text = f"not (height, width, {channels or 'channels'})"
    if array.ndim == 3 and array.shape[0] == channels:
        return f"{text}: np.moveaxis(picture, 0, -1) puts the channels last"
    if array.ndim == 3 and array.shape[2] == 4:
        return f"{text}: picture[..., :3] leaves alpha out"
    return f"{text}: np.repeat(picture[..., None], 3, -1) makes three channels of grey" if array.ndim == 2 else text


def sizes_of(photos: Sequence[Array]) -> tuple[Size, ...]:
    return tuple((one.shape[0], one.shape[1]) for one in photos)


def whole(value: Any, name: str, least: int = 1) -> int:
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(f"{name} must be an int, not {value!r}")
    if operator.index(value) < least:
        raise ValueError(f"{name} must be {least} or more, not {value}")
    return operator.index(value)


def pair(value: Any, name: str, what: str) -> tuple[int, int]:
    """Two ints; `what` says which."""
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != 2:
        raise ValueError(f"{name} must be {what}, not {value!r}")
    return whole(value[0], f"{name}[0]"), whole(value[1], f"{name}[1]")


def numbers(value: Any, name: str, count: int) -> tuple[float, ...]:
    """As many numbers as channels; one number is for all."""
    found = [value] * count if np.ndim(value) == 0 else list(value)
    if len(found) != count or not all(isinstance(one, (int, float, np.number)) for one in found):
        raise ValueError(f"{name} must be a number, or {count} numbers, one for each channel, not {value!r}")
    return tuple(map(float, found))
