"""Resize, crop, rescale, normalise, pad: classes that make one picture of each picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from dmlops.processors import sizes as rules
from dmlops.processors import value_tables
from dmlops.processors.configuration import Configuration
from dmlops.processors.parts import (
    Part,
    centre_crop,
    check_channels,
    frames,
    in_groups,
    mask,
    padded,
    padded_to_size,
    resampling,
    rescaled,
    resized,
    stacked,
    table,
)
from dmlops.processors.plans import Array, Pixels, Plan, Resize, Size, Sizes, Turn, Window

SizeRule: TypeAlias = Callable[[Configuration, Size], Size]

# --- size rules of a configuration ---


def by_keys(c: Configuration, size: Size) -> Size:
    """TorchvisionBackend.resize and PilBackend.resize."""
    return size_by(c, c.size(), size)


def size_by(c: Configuration, wanted: dict[str, int], size: Size) -> Size:
    if wanted.get("shortest_edge") and wanted.get("longest_edge"):
        return rules.shortest_and_longest(size, wanted["shortest_edge"], wanted["longest_edge"])
    if wanted.get("shortest_edge"):
        return rules.shortest_edge(size, wanted["shortest_edge"])
    if wanted.get("max_height") and wanted.get("max_width"):
        return rules.fitting(size, wanted["max_height"], wanted["max_width"])
    if wanted.get("height") and wanted.get("width"):
        return wanted["height"], wanted["width"]
    raise ValueError(f"{c.name}: size must have 'height' and 'width', 'max_height' and 'max_width', or 'shortest_edge'")


def height_and_width(c: Configuration, key: str = "size") -> Size:
    wanted = c.size(key)
    if not (wanted.get("height") and wanted.get("width")):
        raise ValueError(f"{c.name}: {key} must have the keys 'height' and 'width'")
    return wanted["height"], wanted["width"]


def edge_of(c: Configuration, key: str = "shortest_edge") -> int:
    wanted = c.size()
    if not wanted.get(key):
        raise ValueError(f"{c.name}: size must have the key {key!r}")
    return wanted[key]


def levit(c: Configuration, size: Size) -> Size:
    wanted = c.size()
    if wanted.get("shortest_edge"):
        return rules.shortest_edge(size, int(256 / 224 * wanted["shortest_edge"]))
    return by_keys(c, size)


def pool_former(c: Configuration, size: Size) -> Size:
    wanted, share = c.size(), c["crop_pct"]
    if share is None:
        return by_keys(c, size)
    if wanted.get("shortest_edge"):
        return rules.shortest_edge(size, int(wanted["shortest_edge"] / share))
    if wanted.get("height") == wanted.get("width"):
        return rules.shortest_edge(size, int(wanted["height"] / share))
    return int(wanted["height"] / share), int(wanted["width"] / share)


def text_net(c: Configuration, size: Size) -> Size:
    divisor = c.get("size_divisor", 32)
    return rules.upwards(rules.shortest_edge(size, edge_of(c)), divisor)


def glpn(c: Configuration, size: Size) -> Size:
    divisor = c.get("size_divisor", 32)
    return size[0] // divisor * divisor, size[1] // divisor * divisor


def bridge_tower(c: Configuration, size: Size) -> Size:
    """Also Vilt. The least side is an edge, the greatest 1333 / 800 of it; rounded half up, then down to a divisor."""
    edge = edge_of(c)
    most, (height, width) = int(1333 / 800 * edge), size
    vilt = c.name.startswith("Vilt")
    scale = edge / min(height, width)
    rows: float = edge
    columns: float = edge
    if height < width:
        columns = width * scale if vilt else scale * width
    else:
        rows = height * scale if vilt else scale * height
    if max(rows, columns) > most:
        scale = most / max(rows, columns)
        rows, columns = rows * scale, columns * scale
    found = int(rows + 0.5), int(columns + 0.5)
    divisor = c["size_divisor"] if vilt else c.get("size_divisor", 32)
    return found if divisor is None else (found[0] // divisor * divisor, found[1] // divisor * divisor)


def dpt(c: Configuration, size: Size) -> Size:
    height, width = height_and_width(c)
    scales = [height / size[0], width / size[1]]
    if c["keep_aspect_ratio"]:
        scales = [scales[1]] * 2 if abs(1 - scales[1]) < abs(1 - scales[0]) else [scales[0]] * 2
    multiple = c.get("ensure_multiple_of", 1)
    found = [round(scale * length / multiple) * multiple for scale, length in zip(scales, size, strict=True)]
    return found[0], found[1]


def sam(c: Configuration, size: Size) -> Size:
    return rules.longest_edge(size, edge_of(c, "longest_edge"))


def pixtral(c: Configuration, size: Size) -> Size:
    wanted = c.size()
    most = [wanted["longest_edge"]] * 2 if wanted.get("longest_edge") else [wanted["height"], wanted["width"]]
    patch = c.size("patch_size", square=True)
    height, width = size
    ratio = max(height / most[0], width / most[1])
    if ratio > 1:
        height, width = int(math.floor(height / ratio)), int(math.floor(width / ratio))
    rows, columns = (height - 1) // patch["height"] + 1, (width - 1) // patch["width"] + 1
    return rows * patch["height"], columns * patch["width"]


# --- one picture ---


def prepared(c: Configuration, parts: Sequence[Part], size: SizeRule = by_keys, crops: bool = True) -> list[Part]:
    """Resized and cropped, where the configuration says so."""
    found = list(parts)
    if c["do_resize"]:
        name = resampling(c)
        found = [resized(part, size(c, part.size), name) for part in found]
    return cropped(c, found) if crops else found


def cropped(c: Configuration, parts: Sequence[Part]) -> list[Part]:
    if not c["do_center_crop"]:
        return list(parts)
    c.needed("crop_size")
    crop = c.size("crop_size")
    return [part.then(centre_crop(part.size, crop, c.is_pillow)) for part in parts]


def standard(
    c: Configuration,
    pictures: Sequence[Size],
    channels: int,
    *,
    size: SizeRule = by_keys,
    crops: bool = True,
    pads: bool = False,
    values: Callable[[Configuration, int], Array] = table,
    name: str = "pixel_values",
) -> Plan:
    """The _preprocess of the backends, and of classes that have another size, table or name.

    `crops`: do_center_crop has an effect; `pads`: do_pad and pad_size have an effect.
    """
    parts = prepared(c, frames(pictures), size, crops)
    if pads and c["do_pad"]:
        parts = padded_to_size(c, parts)
    return {name: stacked(parts, values(c, channels))}


def frames_of_videos(
    c: Configuration,
    pictures: Sizes,
    channels: int,
    *,
    values: Callable[[Configuration, int], Array] = table,
) -> Plan:
    """(N, T, C, H, W), or a list of videos where shapes differ."""
    parts = prepared(c, frames(pictures))
    if any(len({part.size for part in group}) > 1 for group in in_groups(parts, pictures.groups)):
        c.refuse(None, "the frames of a video have different sizes")
    return {"pixel_values": videos_of(c, parts, pictures, values(c, channels))}


def videos_of(c: Configuration, parts: Sequence[Part], pictures: Sizes, values: Array) -> Pixels | list[Pixels]:
    groups = in_groups(parts, pictures.groups)
    made = [stacked(group, values) for group in groups]
    if any(isinstance(one, list) for one in made):
        raise ValueError(f"{c.name}: the frames of a video must have one size")
    same = len(set(pictures.groups)) == 1 and len({part.size for part in parts}) == 1
    lead = len(groups), pictures.groups[0]
    return stacked(parts, values, lead) if same else made  # type: ignore[return-value]


def crop_as_size(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """ConvNeXT: below 384 it resizes to more and crops, else it resizes to a square."""

    def made(part: Part) -> Part:
        if not c["do_resize"]:
            return part
        edge, name = edge_of(c), resampling(c)
        if edge >= 384:
            return resized(part, (edge, edge), name)
        part = resized(part, rules.shortest_edge(part.size, int(edge / c.get("crop_pct", 224 / 256))), name)
        return part.then(centre_crop(part.size, {"height": edge, "width": edge}, c.is_pillow))

    parts = cropped(c, [made(part) for part in frames(pictures)])
    return {"pixel_values": stacked(parts, table(c, channels))}


def perceiver(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """A square of size / crop_size of the shorter side, then resized."""
    parts = frames(pictures)
    if c["do_center_crop"]:
        size, crop = c.size(), c.size("crop_size")
        found = []
        for part in parts:
            least = min(part.size)
            square = {key: int(size[key] / crop[key] * least) for key in ("height", "width")}
            found.append(part.then(centre_crop(part.size, square, c.is_pillow)))
        parts = found
    if c["do_resize"]:
        name = resampling(c)
        for number, part in enumerate(parts):
            wanted = by_keys(c, part.size)
            nothing = min(part.size) < 1 and c.is_pillow  # Pillow makes zeros of it
            parts[number] = part.then(Window(0, 0, *wanted)) if nothing else resized(part, wanted, name)
    return {"pixel_values": stacked(parts, table(c, channels))}


def efficient_net(c: Configuration, channels: int) -> Array:
    """`include_top` divides by the deviation again; `rescale_offset` subtracts one after rescaling, and nothing is folded."""
    normalize = value_tables.normalized if c.is_pillow else value_tables.torchvision_normalized
    if c["do_rescale"] and c["rescale_offset"]:
        found = rescaled(c, channels) - np.float32(1)
        found = normalize(found, c["image_mean"], c["image_std"]) if c["do_normalize"] else found
    else:
        found = table(c, channels)
    if not c["include_top"]:
        return found
    if found.dtype == np.uint8 and not c.is_pillow:
        raise TypeError(f"{c.name}: include_top needs do_rescale or do_normalize")
    check_channels(c, None, c["image_std"], channels)
    return normalize(found, 0, c["image_std"])


def masked(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """BridgeTower, Vilt: batches are padded with zeros, with a mask; BridgeTower crops to a shortest edge."""
    parts = prepared(c, frames(pictures), bridge_tower, crops=False)
    if c.name.startswith("BridgeTower") and c["do_center_crop"]:
        edge = c.size("crop_size")["shortest_edge"]
        parts = [part.then(centre_crop(part.size, {"height": edge, "width": edge}, c.is_pillow)) for part in parts]
    values = table(c, channels)
    if not c["do_pad"]:
        return {"pixel_values": stacked(parts, values)}
    parts = padded(parts)
    return {"pixel_values": stacked(parts, values), "pixel_mask": mask(parts)}


def centred(parts: Sequence[Part], divisor: int) -> list[Part]:
    """In the middle of frames whose sides are multiples of a divisor."""
    found = []
    for part in parts:
        frame = rules.upwards(part.size, divisor)
        found.append(part.within(frame, ((frame[0] - part.size[0]) // 2, (frame[1] - part.size[1]) // 2)))
    return found


def centre_padded(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """DPT and CHMv2: zeros around, up to a multiple of `size_divisor`."""
    parts = prepared(c, frames(pictures), dpt, crops=not c.is_pillow)
    if c["do_pad"] and (c["size_divisor"] is not None or not c.is_pillow):
        parts = centred(parts, c.needed("size_divisor"))
    return {"pixel_values": stacked(parts, table(c, channels))}


def sam_masks(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    parts = prepared(c, frames(pictures), sam, crops=False)
    sizes = np.array([part.size for part in parts])
    parts = cropped(c, parts)
    if c["do_pad"]:
        parts = padded_to_size(c, parts)
    found: Plan = {"pixel_values": stacked(parts, table(c, channels))}
    return found | {"original_sizes": np.array(pictures), "reshaped_input_sizes": sizes}


def swin2sr(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """No resize; mirrored at the bottom and on the right up to a multiple, by a whole one where it is one."""
    c.put("size_divisor", c["pad_size"] if c["pad_size"] is not None and "size_divisor" not in c.given else c["size_divisor"])
    values, parts = rescaled(c, channels), frames(pictures)
    if c["do_pad"]:
        divisor = c.get("size_divisor", 8)
        found = []
        for part in parts:
            height, width = ((length // divisor + 1) * divisor for length in part.size)
            found.append(part.then(Window(0, 0, height, width, "symmetric")))
        parts = found
    return {"pixel_values": stacked(parts, values)}


def adapt_donut(c: Configuration) -> None:
    """A list is [width, height]."""
    if isinstance(c.given.get("size"), (list, tuple)):
        c.put("size", list(c.given["size"])[::-1])


def donut(c: Configuration, pictures: Sequence[Size], channels: int, *, nougat: bool = False) -> Plan:
    """Turned so that the long axes agree, the shorter side fitted, what is too large made smaller, then bytes of zero around.

    `nougat`: bicubic makes it smaller, whatever `resample` says, by Pillow after a reduction; do_center_crop has no effect.
    """
    size = c.size()
    wanted = size["height"], size["width"]
    parts = []
    for part in frames(pictures):
        if c["do_align_long_axis"] and (
            (wanted[1] < wanted[0] and part.size[1] > part.size[0]) or (wanted[1] > wanted[0] and part.size[1] < part.size[0])
        ):
            part = part._replace(steps=(*part.steps, Turn(part.size[1], part.size[0])), size=(part.size[1], part.size[0]))
        if c["do_resize"]:
            part = resized(part, rules.shortest_edge(part.size, min(wanted)), resampling(c))
        if c["do_thumbnail"]:
            name = "bicubic" if nougat or (c.is_pillow and not c["resample"]) else resampling(c)
            part = _thumbnail(part, wanted, name, 2.0 if nougat and c.is_pillow else None)
        if c["do_pad"]:
            if c.is_pillow and (part.size[0] > wanted[0] or part.size[1] > wanted[1]):
                raise ValueError(f"{c.name}: a picture of {part.size[0]} x {part.size[1]} is larger than size")
            before = [(outer - inner) // 2 for outer, inner in zip(wanted, part.size, strict=True)]
            part = part.then(Window(-before[0], -before[1], *wanted))
        parts.append(part)
    parts = parts if nougat else cropped(c, parts)
    return {"pixel_values": stacked(parts, table(c, channels))}


def _thumbnail(part: Part, wanted: Size, name: str, gap: float | None) -> Part:
    height, width = min(part.size[0], wanted[0]), min(part.size[1], wanted[1])
    if (height, width) == part.size:
        return part
    if part.size[0] > part.size[1]:
        width = int(part.size[1] * height / part.size[0])
    elif part.size[1] > part.size[0]:
        height = int(part.size[0] * width / part.size[1])
    return part if (height, width) == part.size else part.then(Resize(height, width, name, True, gap))


def pixtral_padded(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """The sizes are those behind the resize (torchvision), or behind the crop (Pillow)."""
    parts = prepared(c, frames(pictures), pixtral, crops=False)
    before, parts = parts, cropped(c, parts)
    sizes = np.array([part.size for part in (parts if c.is_pillow else before)])
    if c["do_pad"]:
        parts = padded(parts, (int(sizes[:, 0].max()), int(sizes[:, 1].max())))
    return {"pixel_values": stacked(parts, table(c, channels)), "image_sizes": sizes}
