"""Pictures in the middle of a square."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dmlops.processors.configuration import Configuration
from dmlops.processors.families.standard import height_and_width, prepared
from dmlops.processors.parts import Part, frames, resampling, resized, stacked, table, table_of
from dmlops.processors.plans import Plan, Size, Window


def on_square(part: Part, color: tuple[int, ...]) -> Part:
    """In the middle of a square as large as the longer side."""
    side = max(part.size)
    if part.size[0] == part.size[1]:
        return part
    return part.then(Window(-((side - part.size[0]) // 2), -((side - part.size[1]) // 2), side, side, color))


def color_of(mean: Any, channels: int) -> tuple[int, ...]:
    """int(x * 255) of each channel's mean."""
    color = tuple(int(x * 255) for x in mean)
    if len(color) != channels:
        raise ValueError(f"the background has {len(color)} channels, the picture {channels}")
    return color


def background(value: Any, channels: int) -> tuple[int, ...]:
    """A number is the first channel's, others are 0."""
    color = (value, *[0] * (channels - 1)) if isinstance(value, int) else tuple(value)
    if len(color) != channels:
        raise ValueError(f"background_color has {len(color)} elements, the picture {channels} channels")
    return color


def llava(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """`do_pad`: a square of the mean's colour first."""
    parts = frames(pictures)
    if c["do_pad"]:
        mean = c["image_mean"]
        color = color_of(mean, channels) if mean else background(0, channels)
        parts = [on_square(part, color) for part in parts]
    return {"pixel_values": stacked(prepared(c, parts), table(c, channels))}


def janus(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    parts = [_janus_part(c, part, "size", "resample", "image_mean", channels) for part in frames(pictures)]
    return {"pixel_values": stacked(parts, table(c, channels))}


def _janus_part(c: Configuration, part: Part, size: str, resample: str, mean: str, channels: int) -> Part:
    """The longer side fitted, the other one at least `min_size`, then in the middle of a square of the mean's colour."""
    if c["do_resize"]:
        side = height_and_width(c, size)
        if side[0] != side[1]:
            raise ValueError(f"{c.name}: {size} must have the same height and width")
        scale = side[0] / max(part.size)
        wanted = [max(round(length * scale), c["min_size"]) for length in part.size]
        resample = resample if c[resample] or not c.is_pillow else "resample"  # 0 is false
        part = resized(part, (wanted[0], wanted[1]), resampling(c, resample))
    if not c["do_pad"]:
        return part
    return on_square(part, (127,) * 3 if c[mean] is None else color_of(c[mean], channels))


def hybrid(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """DeepSeek-VL: a large picture, and a small one that is made of it."""
    for key in ("do_resize", "do_pad"):
        if not c[key]:
            c.refuse(key, "the original fails without it")
    if c["do_normalize"]:
        for key in ("high_res_image_mean", "high_res_image_std"):
            if c[key] is None:
                c.refuse(key, "without it the original's values are no numbers")
    large = [
        _janus_part(c, part, "high_res_size", "high_res_resample", "high_res_image_mean", channels) for part in frames(pictures)
    ]
    small = [_janus_part(c, part, "size", "resample", "image_mean", channels) for part in large]
    values = table(c, channels)
    mean, std = c["high_res_image_mean"], c["high_res_image_std"]
    factor = c["rescale_factor"] if c["do_rescale"] else None
    high = table_of(c, channels, factor, mean if c["do_normalize"] else None, std)
    return {
        "pixel_values": stacked(small, values),
        "high_res_pixel_values": stacked(large, high),
    }
