"""DETR and its kin, Mask2Former and its kin: pictures of several sizes are padded with zeros at the bottom and on the right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dmlops.processors import sizes as rules
from dmlops.processors.configuration import Configuration
from dmlops.processors.families.standard import SizeRule, prepared
from dmlops.processors.parts import Part, frames, mask, padded, padded_to_size, stacked, table
from dmlops.processors.plans import Plan, Size, Window

__all__ = ["adapt_detr", "adapt_mask_former", "detr", "detr_size", "eomt", "mask_former", "mask_former_size", "yolos_size"]


def adapt_detr(c: Configuration) -> None:
    """Old names: `pad_and_return_pixel_mask`, and `max_size` beside a size that is a number."""
    if "do_pad" not in c.given and "pad_and_return_pixel_mask" in c.given:
        c.put("do_pad", c["pad_and_return_pixel_mask"])
    size = c.given.get("size")
    if size is None:
        c.put("size", {"shortest_edge": 800, "longest_edge": 1333})
    elif isinstance(size, int):
        most = c.given.get("max_size", 1333)
        c.read.add("max_size")
        c.put("size", {"shortest_edge": size} if most is None else {"shortest_edge": size, "longest_edge": most})
    elif "max_size" in c.given:
        c.refuse("max_size", "it has no effect beside a size that is no number")


def adapt_mask_former(c: Configuration) -> None:
    """An old name: `max_size`."""
    size, most = c.given.get("size"), c.given.get("max_size")
    if most is None:
        if size is None:
            c.values["size"] = {"shortest_edge": 800, "longest_edge": 1333}
        return
    c.read.add("max_size")
    if size is None:
        c.put("size", {"shortest_edge": 800, "longest_edge": most})
    elif isinstance(size, int):
        c.put("size", {"shortest_edge": size, "longest_edge": most})
    else:
        c.refuse("max_size", "it has no effect beside a size that is no number")


def detr_size(c: Configuration, size: Size) -> Size:
    return _bounded(c, size, rules.shortest_and_longest)


def yolos_size(c: Configuration, size: Size) -> Size:
    return _bounded(c, size, rules.yolos)


def _bounded(c: Configuration, size: Size, rule: Callable[[Size, int, int], Size]) -> Size:
    wanted = c.size(square=False)
    if wanted.get("shortest_edge") and wanted.get("longest_edge"):
        return rule(size, wanted["shortest_edge"], wanted["longest_edge"])
    if wanted.get("max_height") and wanted.get("max_width"):
        return rules.fitting(size, wanted["max_height"], wanted["max_width"])
    if wanted.get("height") and wanted.get("width"):
        return wanted["height"], wanted["width"]
    raise ValueError(f"{c.name}: size must have 'height' and 'width', or 'shortest_edge' and 'longest_edge'")


def mask_former_size(c: Configuration, size: Size) -> Size:
    height, width = detr_size(c, size)
    divisor = c.get("size_divisor", 0)
    return rules.upwards((height, width), divisor) if divisor > 0 else (height, width)


def detr(c: Configuration, pictures: Sequence[Size], channels: int, *, size: SizeRule = detr_size) -> Plan:
    parts = prepared(c, frames(pictures), size, crops=False)
    values = table(c, channels)
    if not c["do_pad"]:
        if len({part.size for part in parts}) > 1 and not c.is_pillow:
            raise ValueError(f"{c.name}: pictures of different sizes need do_pad")
        return {"pixel_values": stacked(parts, values)}
    parts = padded_to_size(c, parts)
    return {"pixel_mask": mask(parts), "pixel_values": stacked(parts, values)}


def mask_former(
    c: Configuration,
    pictures: Sequence[Size],
    channels: int,
    *,
    size: SizeRule = mask_former_size,
    pads_to_size: bool = True,
) -> Plan:
    """`pads_to_size`: pad_size has an effect."""
    parts = prepared(c, frames(pictures), size, crops=False)
    parts = padded_to_size(c, parts) if pads_to_size else padded(parts)
    return {"pixel_values": stacked(parts, table(c, channels)), "pixel_mask": mask(parts)}


def eomt(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """`do_split_image` cuts along the longer side; `do_pad` adds bytes of zero."""
    parts = prepared(c, frames(pictures), crops=False)
    wanted = c.size(square=False)
    offsets: list[list[int]] = []
    if c["do_split_image"]:
        parts, offsets = _split(parts, wanted["shortest_edge"])
    if c["do_pad"]:
        frame = wanted["shortest_edge"], wanted.get("longest_edge") or wanted["shortest_edge"]
        parts = [part.then(Window(0, 0, max(part.size[0], frame[0]), max(part.size[1], frame[1]))) for part in parts]
    found: Plan = {"pixel_values": stacked(parts, table(c, channels))}
    return found | {"patch_offsets": [np.array(one, np.int64) for one in offsets]}


def _split(parts: Sequence[Part], side: int) -> tuple[list[Part], list[list[int]]]:
    found, offsets = [], []
    for part in parts:
        height, width = part.size
        count = math.ceil(max(part.size) / side)
        overlap = (count * side - max(part.size)) / (count - 1) if count > 1 else 0
        for number in range(count):
            start = int(number * (side - overlap))
            length = min(start + side, max(part.size)) - start
            window = Window(start, 0, length, width) if height > width else Window(0, start, height, length)
            found.append(part.then(window))
            offsets.append([part.picture, start, start + side])
    return found, offsets
