"""Pictures as a call gets them: arrays, Pillow's images, tensors, in lists; channels first or last, grey, with alpha.

What the original infers is inferred here in the same way, and what it makes of alpha is the same to the bit.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from dmlops._core import DeviceArray
from dmlops.errors import UnsupportedError
from dmlops.processors.configuration import Configuration
from dmlops.processors.plans import Array
from dmlops.refused_arrays import READ, is_lazy
from dmlops.resizing.arguments import mode_of_picture

__all__ = ["check_in_memory", "on_host", "pictures"]


def pictures(c: Configuration, photos: Any, form: str) -> tuple[list[Array], list[int]]:
    """Arrays (H, W, C) of bytes, and how many belong together."""
    groups = _videos(photos) if form == "videos" else _groups(photos, form)
    if not any(groups):
        raise ValueError("there are no pictures")
    if not all(groups):
        raise ValueError(f"there are no pictures in list {groups.index([])} of them")
    found = [_picture(c, one, place, form) for place, one in enumerate(one for group in groups for one in group)]
    return found, [len(group) for group in groups]


# --- lists ---


def _groups(photos: Any, form: str) -> list[list[Any]]:
    """The samples of each form, as `rows.Row` has it. Of lists of "pictures" empty ones are left out, as in the original."""
    if _is_list(photos) and photos and all(_is_list(one) for one in photos):
        groups = [_flat(one) for one in photos]
        return [[one] for group in groups for one in group] if form == "pictures" else groups
    flat = _flat(photos)
    if form != "nested":
        return [[one] for one in flat]
    if _is_list(photos) and photos and getattr(photos[0], "ndim", 0) == 4:
        return [_flat(one) for one in photos]
    return [flat]


def _flat(photos: Any) -> list[Any]:
    """One picture, an array of several, or a list of either."""
    if _is_list(photos):
        return [one for some in photos for one in (_flat(some) if getattr(some, "ndim", 0) == 4 else [some])]
    if getattr(photos, "ndim", 0) == 4:
        return list(photos)
    return [photos]


def _videos(photos: Any) -> list[list[Any]]:
    """A video is an array (T, H, W, C), or a list of frames."""
    if not _is_list(photos):
        dimensions = getattr(photos, "ndim", 3)
        return [list(one) for one in photos] if dimensions == 5 else [list(photos) if dimensions == 4 else [photos]]
    if photos and all(_is_list(one) or getattr(one, "ndim", 0) == 4 for one in photos):
        return [list(one) for one in photos]
    return [list(photos)]


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


# --- one picture ---


def _picture(c: Configuration, photo: Any, place: int, form: str) -> Array:
    where = f"picture {place}"
    if photo is None:
        raise ValueError(f"{where} is None: it could not be read")
    if _is_list(photo):
        raise ValueError(f"{where} is a list beside pictures: lists have pictures alone, or lists of pictures alone")
    if mode_of_picture(photo) is not None:
        return _from_pillow(c, photo, where)
    is_tensor = hasattr(photo, "detach")
    array = np.asarray(on_host(photo, where))
    _check_bytes(c, array, where, type(photo).__name__)
    if "transforms" in c.given:
        array = np.moveaxis(array, 0, -1) if is_tensor and array.ndim == 3 else array
        return array[..., None] if array.ndim == 2 else _three(array, where)
    convert = bool(c["do_convert_rgb"])
    if array.ndim == 2 and convert and c.is_pillow:
        raise ValueError(f"{where} has two dimensions: with do_convert_rgb, Pillow's backend takes three")
    if array.ndim == 2:
        array = array[None]
        first = True
    else:
        first = _is_channels_first(_three(array, where).shape, (1, 3) if form == "videos" else (1, 3, 4), where)
    array = np.moveaxis(array, 0, -1) if first else array
    return _as_rgb(c, array) if convert else array


def on_host(photo: Any, where: str) -> Any:
    """What NumPy makes an array of: what lies on a device is downloaded, what Dask would compute is refused."""
    check_in_memory(photo, where)
    if hasattr(photo, "detach"):  # a tensor of torch, which may be on a GPU, and may have a gradient
        return photo.detach().cpu().numpy()
    return photo.numpy() if isinstance(photo, DeviceArray) else photo


def check_in_memory(photo: Any, where: str) -> None:
    if is_lazy(photo):
        raise TypeError(
            f"{where} is a Dask array, which is not in memory: its compute() loads it, and dask.array.map_blocks calls the "
            "function for each chunk"
        )


def _three(array: Array, where: str) -> Array:
    if array.ndim != 3:
        raise ValueError(f"{where} has {array.ndim} dimensions, not two or three")
    return array


def _check_bytes(c: Configuration, array: Array, where: str, kind: str) -> None:
    if array.dtype.kind in "SUO":
        raise TypeError(f"{where} is of type {kind}: pictures are arrays, tensors or images of Pillow's; {READ}")
    if array.dtype != np.uint8:
        hint = "multiply by 255, round and cast" if array.dtype.kind == "f" else "cast"
        raise UnsupportedError(c.name, None, f"{where} is {array.dtype}: only uint8 is resized to the bit; {hint} before")


def _is_channels_first(shape: Sequence[int], known: Sequence[int], where: str) -> bool:
    """image_utils.infer_channel_dimension_format."""
    first, last = shape[0] in known, shape[-1] in known
    if first and last:
        warnings.warn(f"{where} of shape {tuple(shape)} may have its channels first or last: first is taken", stacklevel=5)
    if not (first or last):
        raise ValueError(f"{where} of shape {tuple(shape)} has no axis of {', '.join(map(str, known))} channels at an end")
    return first


def _as_rgb(c: Configuration, array: Array) -> Array:
    """convert_to_rgb of the backends: grey three times, alpha on white."""
    channels = array.shape[-1]
    if channels == 1:
        return np.repeat(array, 3, axis=-1)
    return array if channels != 4 else _on_white(array) if c.is_pillow else _on_white_by_torch(array)


def _on_white(array: Array) -> Array:
    alpha = array[..., 3:4] / 255
    found: Array = np.round(alpha * array[..., :3] + (1 - alpha) * 255).astype(np.uint8)
    return found


def _on_white_by_torch(array: Array) -> Array:
    """Floats of 32 bits, and cut off at the end."""
    f = np.float32
    values = array.astype(f) * f(1 / 255)
    alpha = values[..., 3:]
    mixed = values[..., :3] * alpha + (f(1) - alpha)
    found: Array = (mixed * f(255 + 1 - 1e-3)).astype(np.uint8)
    return found


def _from_pillow(c: Configuration, photo: Any, where: str) -> Array:
    if "transforms" in c.given and photo.mode != "RGB" and c.name.startswith("open_clip"):
        raise UnsupportedError(
            c.name, None, f"{where} has the mode {photo.mode}, and is converted behind the resize: convert it before"
        )
    if c["do_convert_rgb"]:
        photo = _pillow_as_rgb(photo)
    array = np.array(photo)
    _check_bytes(c, array, f"{where} (mode {photo.mode})", type(photo).__name__)
    if "transforms" in c.given and array.ndim == 3 and array.shape[2] in (2, 4) and photo.mode not in ("LA", "RGBA"):
        reason = f"{where} has the mode {photo.mode}, whose last channel is no alpha: convert it before"
        raise UnsupportedError(c.name, None, reason)
    return array[..., None] if array.ndim == 2 else array


def _pillow_as_rgb(photo: Any) -> Any:
    """image_transforms.convert_to_rgb."""
    if "A" not in photo.getbands() and photo.info.get("transparency") is None:
        return photo.convert("RGB")
    image: Any = sys.modules["PIL.Image"]
    photo = photo.convert("RGBA")
    ground = image.new("RGBA", photo.size, (255, 255, 255, 255))
    return image.alpha_composite(ground, photo).convert("RGB")
