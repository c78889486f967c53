"""Classes of one picture each that no other family has: their own sizes, orders of channels, and grounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dmlops.processors import sizes as rules
from dmlops.processors import value_tables
from dmlops.processors.configuration import Configuration, census, size_from
from dmlops.processors.families.standard import by_keys, centred, cropped, donut, dpt, prepared
from dmlops.processors.margins import trimmed
from dmlops.processors.parts import (
    Part,
    centre_crop,
    check_channels,
    frames,
    in_groups,
    padded,
    padded_to_size,
    resampling,
    rescaled,
    resized,
    stacked,
    table,
    table_of,
)
from dmlops.processors.plans import Array, Plan, Resize, Size, Sizes, Window


def layout(c: Configuration, pictures: Sequence[Size], channels: int, *, bgr: bool = False, scales: bool = True) -> Plan:
    """LayoutLM. Words come from OCR, which is no part of the pixels."""
    c.refuse_if("apply_ocr", "words and boxes come from Tesseract: say apply_ocr=false, and run it apart")
    parts = prepared(c, frames(pictures), crops=False)
    if scales and c.is_pillow:
        c.refuse_if("do_center_crop", "the original fails with it")
    parts = cropped(c, parts) if scales else parts
    values = table(c, channels) if scales else value_tables.identity(channels)
    return {"pixel_values": stacked(parts, values, None, tuple(range(channels))[:: -1 if bgr else 1])}


def mobile_vit(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """Never normalised; the first three channels in reverse order."""
    values = rescaled(c, channels)
    if c["do_flip_channel_order"] and channels != 3:
        c.refuse("do_flip_channel_order", f"of pictures with {channels} channels")
    order = (2, 1, 0) if c["do_flip_channel_order"] else tuple(range(channels))
    parts = prepared(c, frames(pictures))
    return {"pixel_values": stacked(parts, values, None, order)}


def flava(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    c.refuse_if("return_image_mask", "the masks are random")
    found: Plan = {"pixel_values": stacked(prepared(c, frames(pictures)), table(c, channels))}
    if c["return_codebook_pixels"]:
        found["codebook_pixel_values"] = stacked(_codebook_parts(c, pictures), _codebook_table(c, channels))
    return found


def _codebook_parts(c: Configuration, pictures: Sequence[Size]) -> list[Part]:
    parts = frames(pictures)
    if c["codebook_do_resize"]:
        wanted, name = c.size("codebook_size"), resampling(c, "codebook_resample")
        parts = [resized(part, (wanted["height"], wanted["width"]), name) for part in parts]
    if c["codebook_do_center_crop"]:
        crop = c.size("codebook_crop_size")
        parts = [part.then(centre_crop(part.size, crop, c.is_pillow)) for part in parts]
    return parts


_EPS = 0.1  # LOGIT_LAPLACE_EPS


def _codebook_table(c: Configuration, channels: int) -> Array:
    """map_pixels: (1 - 2 eps) x + eps, in float32."""
    factor = c["codebook_rescale_factor"] if c["codebook_do_rescale"] else None
    mean, std = (c["codebook_image_mean"], c["codebook_image_std"]) if c["codebook_do_normalize"] else (None, None)
    check_channels(c, mean, std, channels)
    found = table_of(c, channels, factor, mean, std)
    if not c["codebook_do_map_pixels"]:
        return found
    if found.dtype != np.float32:
        c.refuse("codebook_do_map_pixels", "of bytes that are neither rescaled nor normalised")
    return np.float32(1 - 2 * _EPS) * found + np.float32(_EPS)


def sam2(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    parts = prepared(c, frames(pictures))
    if c["do_pad"]:
        parts = padded_to_size(c, parts)
    pixels = stacked(parts, table(c, channels))
    return {"pixel_values": pixels, "original_sizes": np.array(pictures)}


def sapiens(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """`do_pad`: fitted, then in the middle of bytes of zero."""
    parts = frames(pictures)
    if c["do_resize"] and c["do_pad"]:
        size, name = c.size(), resampling(c)
        parts = [resized(part, rules.fitting(part.size, size["height"], size["width"]), name) for part in parts]
        parts = [part.then(centre_crop(part.size, size, False)) for part in parts]
    else:
        parts = prepared(c, parts, crops=False)
    return {"pixel_values": stacked(cropped(c, parts), table(c, channels))}


def super_point(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """Never normalised."""
    c.refuse_if("do_grayscale", "grey is a weighted sum of three channels of floats")
    values = rescaled(c, channels)
    parts = prepared(c, frames(pictures), crops=False)
    return {"pixel_values": stacked(parts, values)}


def depth_anything(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """Zeros around, up to a multiple of `size_divisor`."""
    parts = prepared(c, frames(pictures), dpt, crops=False)
    if c["do_pad"] and c["size_divisor"] is not None:
        parts = centred(parts, c["size_divisor"])
    return {"pixel_values": stacked(parts, table(c, channels))}


def tvp(c: Configuration, pictures: Sizes, channels: int) -> Plan:
    """Frames of videos; the longer side fitted, the other one cut off to a whole number; channels in reverse order."""
    parts = prepared(c, frames(pictures), _tvp_size)
    if c["do_pad"]:
        if c["constant_values"] or c.get("pad_mode", "constant") != "constant":
            c.refuse("constant_values", "padding other than with zeros")
        wanted = c.size("pad_size")
        parts = padded(parts, (wanted["height"], wanted["width"]))
    order = tuple(range(channels))[:: -1 if c["do_flip_channel_order"] else 1]
    lead = len(pictures.groups), pictures.groups[0]
    if len(set(pictures.groups)) > 1:
        raise ValueError(f"{c.name}: the videos must have the same number of frames")
    return {"pixel_values": stacked(parts, table(c, channels), lead, order)}


def _tvp_size(c: Configuration, size: Size) -> Size:
    longest = c.size().get("longest_edge")
    if not longest:
        return by_keys(c, size)
    if size[0] >= size[1]:
        return longest, int(longest * (size[1] * 1.0 / size[0]))
    return int(longest * (size[0] * 1.0 / size[1])), longest


def fuyu(c: Configuration, pictures: Sizes, channels: int) -> Plan:
    """Only what is too large is resized; bytes of `padding_value` at the bottom and on the right."""
    wanted = c.size()
    frame = wanted["height"], wanted["width"]
    parts = frames(pictures)
    if c["do_resize"]:
        parts = [resized(part, _fuyu_size(part.size, frame), resampling(c)) for part in parts]
    groups = in_groups(parts, pictures.groups)
    first = [group[0] for group in groups]
    sizes = np.array([pictures[part.picture] for part in first])
    inner = np.array([part.size for part in first])
    if c["do_pad"]:
        byte = c["padding_value"] if c.is_pillow else c["padding_value"] or 0
        if c.get("padding_mode", "constant") != "constant" or byte != int(byte):
            c.refuse("padding_mode", "padding other than with one byte")
        if any(part.size[0] > frame[0] or part.size[1] > frame[1] for part in parts):
            raise ValueError(f"{c.name}: a picture is larger than {frame[0]} x {frame[1]}")
        parts = [part.then(Window(0, 0, *frame, int(byte))) for part in parts]
    same = len(set(pictures.groups)) == 1 and len({part.size for part in parts}) == 1
    if not same and not c.is_pillow:
        raise ValueError(f"{c.name}: samples must have the same number of pictures, of one size")
    values = table(c, channels)
    images: Any = stacked(parts, values, (len(groups), len(groups[0]))) if same else None
    return {
        "images": images or [stacked(group, values) for group in in_groups(parts, pictures.groups)],
        "image_unpadded_heights": inner[:, :1],
        "image_unpadded_widths": inner[:, 1:],
        "image_scale_factors": (inner[:, :1] / sizes[:, :1]).astype(np.float64 if c.is_pillow else np.float32),
        "image_sizes": sizes,
    }


def _fuyu_size(size: Size, most: Size) -> Size:
    if size[1] <= most[1] and size[0] <= most[0]:
        return size
    scale = min(most[0] / size[0], most[1] / size[1])
    return int(size[0] * scale), int(size[1] * scale)


def lc_net(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """PP-LCNet: the shorter side rounded, up to a divisor; channels in reverse order behind the table."""

    def size(c: Configuration, size: Size) -> Size:
        if c["resize_short"] is None:
            return by_keys(c, size)
        scale = c["resize_short"] / min(size)
        found = [round(length * scale) for length in size]
        divisor = c["size_divisor"]
        return (found[0], found[1]) if divisor is None else rules.upwards(found, divisor)

    return {"pixel_values": stacked(prepared(c, frames(pictures), size), table(c, channels), None, (2, 1, 0))}


def without_antialias(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """PP-DocLayout: uint8 without antialiasing."""
    parts = frames(pictures)
    if c["do_resize"]:
        name = resampling(c)
        parts = [_not_antialiased(c, part, by_keys(c, part.size), name) for part in parts]
    return _cropped_and_padded(c, parts, channels)


def _cropped_and_padded(c: Configuration, parts: Sequence[Part], channels: int) -> Plan:
    parts = cropped(c, parts)
    if c["do_pad"]:
        parts = padded_to_size(c, parts)
    return {"pixel_values": stacked(parts, table(c, channels))}


def _not_antialiased(c: Configuration, part: Part, size: Size, name: str) -> Part:
    if name == "lanczos":
        c.refuse("resample", "lanczos without antialiasing")
    return part if size == part.size else part.then(Resize(*size, name, False))


def recognition(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """PP-OCRv6: all pictures get the size that the widest one needs; BGR."""
    parts, target = frames(pictures), _recognised(c, pictures)
    if c["do_resize"]:
        name = resampling(c)
        parts = [_not_antialiased(c, part, target, name) for part in parts]
    values = table(c, channels)[::-1]  # the table belongs to the channels in their new order
    parts = cropped(c, parts)
    if c["do_pad"]:
        wanted = c.size("pad_size")
        if target[1] < wanted["width"]:
            parts = padded(parts, (wanted["height"], wanted["width"]))
    return {"pixel_values": stacked(parts, values, None, (2, 1, 0))}


def _recognised(c: Configuration, pictures: Sequence[Size]) -> Size:
    widest = max(pictures, key=lambda size: size[1])
    size = c.size()
    height, width = size["height"], int(size["height"] * max(widest[1] / widest[0], size["width"] / size["height"]))
    if width > c["max_image_width"]:
        return height, c["max_image_width"]
    wanted = math.ceil(height * (widest[1] / float(widest[0])))
    return height, min(width, wanted)


def slanext(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """The longer side fitted, by a bilinear filter of its own."""
    parts = frames(pictures)
    if c["do_resize"]:
        size, found = c.size(), []
        for part in parts:
            scale = max(size["height"], size["width"]) / max(part.size)
            if min(part.size) < 2:
                c.refuse(None, "the filter of pictures of one row or column")
            found.append(part.then(Resize(round(part.size[0] * scale), round(part.size[1] * scale), "11-bit bilinear")))
        parts = found
    return _cropped_and_padded(c, parts, channels)


def apertus(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """Sides are multiples of `spatial_factor`, the area within bounds; batches are padded with zeros."""
    parts = frames(pictures)
    if c["do_resize"]:
        bounds = c.size()
        if "min_pixels" not in bounds:
            raise ValueError(f"{c.name}: size must have the keys 'min_pixels' and 'max_pixels'")
        least, most = bounds["min_pixels"], bounds["max_pixels"]
        parts = [
            resized(part, rules.bounded_pixels(part.size, c["spatial_factor"], least, most), resampling(c)) for part in parts
        ]
    return _padded_with_sizes(c, parts, channels)


def adapt_idefics(c: Configuration) -> None:
    """`image_size` is a square."""
    if c.given.get("image_size") is not None:
        c.put("size", {"height": c["image_size"], "width": c["image_size"]})


def adapt_older(c: Configuration) -> None:
    """Classes whose constructors put defaults in place of null; a number is the shortest edge; a longest one has no effect."""
    defaults = census()["classes"][c.name]["values"]
    for key in ("size", "crop_size", "image_mean", "image_std"):
        if c.values.get(key) is None and key in defaults:
            c.values[key] = defaults[key]
    size = c.values.get("size")
    if "min_pixels" in c.values or size is None:
        return
    size = size_from(size, False)
    c.values["size"] = {"shortest_edge": size["shortest_edge"]} if "shortest_edge" in size else size
    if not set(c.values["size"]) <= {"shortest_edge", "height", "width"}:
        raise ValueError(f"{c.name}: size must have 'shortest_edge', or 'height' and 'width'")


def emu3(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """As Apertus, with keys of its own; batches are always padded."""
    c.put("do_pad", True)
    c.put("size", {"min_pixels": c["min_pixels"], "max_pixels": c["max_pixels"]})
    return apertus(c, pictures, channels)


def _padded_with_sizes(c: Configuration, parts: list[Part], channels: int) -> Plan:
    sizes = np.array([part.size for part in parts])
    parts = padded(parts) if c["do_pad"] else parts
    return {"pixel_values": stacked(parts, table(c, channels)), "image_sizes": sizes}


def nougat(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    if not c.is_pillow:
        c.refuse_if("do_align_long_axis", "the original turns other axes in a batch")
    return donut(c, pictures, channels, nougat=True)


def without_margin(c: Configuration, picture: Array) -> Array:
    if not c["do_crop_margin"]:
        return picture
    if picture.shape[2] != 3:
        c.refuse("do_crop_margin", f"of pictures with {picture.shape[2]} channels")
    return trimmed(picture, c.backend)


def vivit(c: Configuration, channels: int) -> Array:
    """`offset` subtracts one after rescaling."""
    if c["offset"] and not c["do_rescale"]:
        raise ValueError(f"{c.name}: offset needs do_rescale")
    found = value_tables.pillow_table(channels, c["rescale_factor"] if c["do_rescale"] else None, None, None)
    if c["do_rescale"] and c["offset"]:
        found = found - np.float32(1)
    return value_tables.normalized(found, c["image_mean"], c["image_std"]) if c["do_normalize"] else found
