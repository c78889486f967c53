"""Pictures that are cut into tiles, with a smaller picture of the whole beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dmlops.processors import canvases, value_tables
from dmlops.processors.configuration import Configuration
from dmlops.processors.families.squares import background, color_of, on_square
from dmlops.processors.families.standard import by_keys, cropped, height_and_width, size_by
from dmlops.processors.parts import (
    Part,
    check_channels,
    cut,
    frames,
    in_tiles,
    mask,
    nested,
    resampling,
    resized,
    stacked,
    table,
)
from dmlops.processors.plans import Array, Pixels, Plan, Size, Sizes, Window

# --- LLaVA ---


def _tile_sizes(c: Configuration) -> tuple[Size, int]:
    """The size of the whole picture, and the tile's side."""
    size = c.size()
    crop = c.size("crop_size") if c["crop_size"] is not None else {}
    whole = (size["height"], size["width"]) if size.get("height") and size.get("width") else (size["shortest_edge"],) * 2
    return whole, crop.get("height") or size.get("height") or size["shortest_edge"]


def llava_next(c: Configuration, pictures: Sizes, channels: int, *, one_alone: bool = False) -> Plan:
    """The whole picture, then the tiles of the best of the given resolutions, in whose middle the picture lies on zeros.

    `one_alone` (LLaVA-OneVision): several pictures of one sample are not cut, but put on a square.
    """
    whole, side = _tile_sizes(c)
    name, values = resampling(c), table(c, channels)
    groups = []
    cuts = [count == 1 or not one_alone for count in pictures.groups for _ in range(count)]
    for part, cuts_it in zip(frames(pictures), cuts, strict=True):
        if not cuts_it:
            tiles = [on_square(part, color_of(c["image_mean"], channels))]
        else:
            tiles = [resized(part, whole, name), *_on_best_canvas(part, c["image_grid_pinpoints"], side, name)]
        if c["do_resize"]:
            tiles = [resized(one, by_keys(c, one.size), name) for one in tiles]
        groups.append(cropped(c, tiles))
    found: Plan = {"pixel_values": _by_picture(groups, values, bool(c["do_pad"])), "image_sizes": np.array(pictures)}
    return found | ({"batch_num_images": np.array(pictures.groups)} if one_alone else {})


def _by_picture(groups: Sequence[Sequence[Part]], values: Array, pads: bool) -> Pixels | list[Pixels]:
    """(N, tiles, C, H, W); a list of (tiles, C, H, W) where numbers differ and nothing is padded."""
    if {part.shape for group in groups for part in group} != {groups[0][0].shape}:
        raise ValueError("the tiles of a picture must have one size")
    if pads or len(set(map(len, groups))) == 1:
        return nested(groups, values)
    return [stacked(group, values) for group in groups]  # type: ignore[misc]


def _on_best_canvas(part: Part, resolutions: Sequence[Sequence[int]], side: int, name: str) -> list[Part]:
    canvas = canvases.best_resolution(part.size, resolutions)
    part = resized(part, canvases.fitted_up(part.size, canvas), name)
    before = [(outer - inner) // 2 for outer, inner in zip(canvas, part.size, strict=True)]
    return _windows(part.then(Window(-before[0], -before[1], *canvas)), side)


def _windows(part: Part, side: int) -> list[Part]:
    """Row by row, those at the ends smaller."""
    height, width = part.size
    return [
        part.then(Window(row, column, min(side, height - row), min(side, width - column)))
        for row in range(0, height, side)
        for column in range(0, width, side)
    ]


# --- tiles of one size, and the whole picture as one more ---

GridRule = Callable[[Configuration, Size, Size], tuple[int, int]]  # size, tile -> columns, rows


def nearest_ratio(c: Configuration, size: Size, tile: Size) -> tuple[int, int]:
    return canvases.by_aspect_ratio(size, tile, c["min_patches"], c["max_patches"])


def least_scale(c: Configuration, size: Size, tile: Size) -> tuple[int, int]:
    return canvases.by_scale(size, tile[0], c["max_patches"])


def tiles(c: Configuration, pictures: Sequence[Size], channels: int, *, grid: GridRule = nearest_ratio) -> Plan:
    """GotOcr2, Cohere2Vision: the tiles, then the whole picture unless there is one tile."""
    groups = []
    for part in frames(pictures):
        tiled = with_whole(part, height_and_width(c), grid, c, resampling(c)) if c["crop_to_patches"] else [part]
        groups.append([resized(one, by_keys(c, one.size), resampling(c)) for one in tiled] if c["do_resize"] else tiled)
    values, parts = table(c, channels), [part for group in groups for part in group]
    return {"pixel_values": stacked(parts, values), "num_patches": np.array(list(map(len, groups)))}


def with_whole(part: Part, tile: Size, grid: GridRule, c: Configuration, name: str) -> list[Part]:
    columns, rows = grid(c, part.size, tile)
    found = in_tiles(part, rows, columns, tile, name)
    return found if len(found) == 1 else [*found, resized(part, tile, name)]


def ovis2(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """The whole picture comes first."""
    parts, grids = [], []
    for part in frames(pictures):
        tiled, grid = [part], (1, 1)
        if c["crop_to_patches"] and c["max_patches"] > 1:
            tile, name = height_and_width(c), resampling(c)
            if c["use_covering_area_grid"]:
                columns, rows = canvases.covering(part.size, tile[0], c["max_patches"])
            else:
                columns, rows = nearest_ratio(c, part.size, tile)
            tiled, grid = in_tiles(part, rows, columns, tile, name), (rows, columns)
            tiled = tiled if len(tiled) == 1 else [resized(part, tile, name), *tiled]
        parts += [resized(one, by_keys(c, one.size), resampling(c)) for one in tiled] if c["do_resize"] else tiled
        grids.append(grid)
    parts = cropped(c, parts)
    return {"pixel_values": stacked(parts, table(c, channels)), "grids": np.array(grids)}


def _local_tiles(c: Configuration, part: Part, name: str) -> tuple[tuple[int, int], list[Part]]:
    """Columns and rows, and the tiles, of a picture that is larger than one; others have none."""
    if not c["crop_to_patches"] or max(part.size) <= c["tile_size"]:
        return (1, 1), []
    tile = c["tile_size"], c["tile_size"]
    columns, rows = nearest_ratio(c, part.size, tile)
    return (columns, rows), in_tiles(part, rows, columns, tile, name)


def _fitted_on_square(part: Part, side: int, name: str, color: tuple[int, ...]) -> Part:
    scale = side / max(part.size)
    return on_square(resized(part, (round(part.size[0] * scale), round(part.size[1] * scale)), name), color)


def deepseek_ocr(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """The whole picture on a square, and tiles of pictures larger than one, as another result."""
    name, values = resampling(c), table(c, channels)
    local: list[Part] = []
    numbers, parts = [], []
    color = background(c["background_color"], channels)
    for part in frames(pictures):
        _, made = _local_tiles(c, part, name)
        local += made
        numbers.append(len(made))
        side = height_and_width(c)[0] if c["crop_to_patches"] else c["tile_size"]
        parts.append(_fitted_on_square(part, side, name, color))
    found: Plan = {"pixel_values": stacked(parts, values), "num_local_patches": np.array(numbers)}
    return found | ({"pixel_values_local": stacked(local, values)} if local else {})


def aria(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """Each picture, or each tile of it, in the top left of a square; num_crops is the greatest number of tiles."""
    side, name = c["max_image_size"], resampling(c)
    if side not in (490, 980):
        raise ValueError(f"{c.name}: max_image_size must be 490 or 980")
    parts: list[Part] = []
    most, inner = 0, []
    for part in frames(pictures):
        tiled = _on_best_canvas(part, c["split_resolutions"], side, name) if c["split_image"] else [part]
        most = max(most, len(tiled))
        for one in tiled:
            scale = side / max(one.size)
            size = [max(int(length * scale), c["min_image_size"]) for length in one.size]
            size[1 if one.size[1] >= one.size[0] else 0] = side
            made = resized(one, (size[0], size[1]), name)
            inner.append(made.within((side, side)))
            parts.append(made.then(Window(0, 0, side, side)))
    masks = mask(inner, np.bool_)
    return {
        "pixel_values": stacked(parts, table(c, channels)),
        "pixel_mask": masks,
        "num_crops": np.array(most),
    }


def llama4(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """Tiles of a canvas with zeros at the bottom and on the right, then the whole picture; values are rounded to bfloat16."""
    if not c["do_resize"]:
        raise ValueError(f"{c.name}: do_resize must be true")
    tile, name = height_and_width(c), resampling(c)
    if tile[0] != tile[1]:
        raise ValueError(f"{c.name}: size must be square")
    groups, ratios = [], []
    for part in frames(pictures):
        canvas = canvases.llama4(part.size, tile[0], c["max_patches"], bool(c["resize_to_max_canvas"]))
        most = canvas
        if not c["resize_to_max_canvas"]:
            most = min(max(part.size[0], tile[0]), canvas[0]), min(max(part.size[1], tile[0]), canvas[1])
        fitted = resized(part, canvases.fitted_down(part.size, most), name).then(Window(0, 0, *canvas))
        rows, columns = canvas[0] // tile[0], canvas[1] // tile[1]
        tiled = cut(fitted, rows, columns, tile)
        groups.append(tiled if rows * columns == 1 else [*tiled, resized(part, tile, name)])
        ratios.append((rows, columns))
    values = _bfloat16_table(c, channels)
    parts = [part for group in groups for part in group]
    return {"pixel_values": stacked(parts, values), "aspect_ratios": np.array(ratios)}


def _bfloat16_table(c: Configuration, channels: int) -> Array:
    if not (c["do_rescale"] and c["do_normalize"]):
        c.refuse("do_rescale" if not c["do_rescale"] else "do_normalize", "its values are bfloat16 only where both are true")
    check_channels(c, c["image_mean"], c["image_std"], channels)
    mean, std = (value_tables.as_sequence(c[key], channels) for key in ("image_mean", "image_std"))
    if not all(std):
        raise ValueError(f"{c.name}: image_std must not be 0: torchvision does not divide by it")
    found = value_tables.bfloat16(np.arange(256, dtype=np.float32) * np.float32(c["rescale_factor"]))
    rows = []
    for one, other in zip(mean, std, strict=True):
        less = value_tables.bfloat16(found - value_tables.bfloat16(np.float32(one)))
        rows.append(value_tables.bfloat16(less / value_tables.bfloat16(np.float32(other))))
    if np.isnan(rows).any():
        c.refuse(None, "a value that is no number becomes another NaN on another instruction set")
    return np.stack(rows)


# --- tiles of other sizes ---


def gemma3(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """`do_pan_and_scan`: the whole picture, then strips of a long one."""
    parts, numbers = [], []
    for part in frames(pictures):
        strips = _strips(c, part) if c["do_pan_and_scan"] else []
        numbers.append(len(strips))
        made = [part, *strips]
        if c["do_resize"] or c["do_pan_and_scan"]:
            made = [resized(one, size_by(c, c.size(), one.size), resampling(c)) for one in made]
        parts += made
    return {"pixel_values": stacked(parts, table(c, channels)), "num_crops": np.array(numbers)}


def _strips(c: Configuration, part: Part) -> list[Part]:
    least, most = c["pan_and_scan_min_crop_size"], c["pan_and_scan_max_num_crops"]
    long, short = max(part.size), min(part.size)
    if long / short < c["pan_and_scan_min_ratio_to_activate"]:
        return []
    count = min(int(math.floor(long / least)), int(math.floor(long / short + 0.5)))
    count = min(most, max(2, count))
    length = int(math.ceil(long / count))
    if min(length, short) < least:
        return []
    found = []
    for number in range(count):
        start = length * number
        size = min(length, long - start)
        wide = part.size[1] >= part.size[0]
        found.append(part.then(Window(0, start, short, size) if wide else Window(start, 0, size, short)))
    return found


def perception(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """PerceptionLM: (1 + tiles, C, H, W) of each picture, the whole one first."""
    side, name, groups = c["tile_size"], resampling(c), []
    for part in frames(pictures):
        if not c["do_resize"]:
            groups.append([part])
            continue
        made = [resized(part, (side, side), name)]
        if c["vision_input_type"] == "thumb+tile":
            columns, rows = canvases.perception(part.size, side, c["max_num_tiles"]) if c["max_num_tiles"] > 1 else (1, 1)
            made += in_tiles(part, rows, columns, (side, side), name)
        groups.append(made)
    return {"pixel_values": _by_picture_or_list(groups, table(c, channels))}


def _by_picture_or_list(groups: Sequence[Sequence[Part]], values: Array) -> Any:
    if len(set(map(len, groups))) == 1 and len({part.shape for group in groups for part in group}) == 1:
        return nested(groups, values)
    return [stacked(group, values) for group in groups]


def step3(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """Step-3: the whole picture, resized twice, and windows of another size, if it is large or long."""
    whole, side, name, values = height_and_width(c)[0], c["patch_size"], resampling(c), table(c, channels)
    parts, local, counts, newlines = [], [], [], []
    for part in frames(pictures):
        height, width = part.size
        plan = canvases.step3(part.size, whole, side, c.get("max_image_size", 3024))
        if plan.square:
            part = part.then(Window(0, 0, max(height, width), max(height, width)))
        parts.append(resized(resized(part, plan.size, name), (whole, whole), name))
        made = []
        if plan.window:
            made = _windows(resized(part, plan.crop, name), plan.window)
        local += [resized(one, (side, side), name) for one in made]
        counts.append(len(made))
        newlines.append([k == plan.columns - 1 and j < plan.rows - 1 for j in range(plan.rows) for k in range(plan.columns)])
    found: Plan = {"pixel_values": stacked(parts, values), "num_local_patches": np.array(counts)}
    if max(counts):
        found["pixel_values_local"] = stacked(local, values)
        found["patch_newline_masks"] = np.array([one + [False] * (max(counts) - len(one)) for one in newlines])
    return found


def unlimited_ocr(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """As DeepSeek-OCR, with the grid of tiles, and a picture that is distorted where it is not cut and small."""
    name, values = resampling(c), table(c, channels)
    color, target = background(c["background_color"], channels), max(height_and_width(c))
    local: list[Part] = []
    parts, numbers, grids = [], [], []
    for part in frames(pictures):
        grid, made = _local_tiles(c, part, name)
        local += made
        numbers.append(len(made))
        grids.append(list(grid))
        if not c["crop_to_patches"] and target <= c["maximum_pad_value"]:
            parts.append(resized(part, (target, target), name))
        else:
            parts.append(_fitted_on_square(part, target, name, color))
    found: Plan = {"pixel_values": stacked(parts, values)}
    found |= {"pixel_values_local": stacked(local, values)} if local else {}
    return found | {"num_local_patches": numbers, "patches_grid": grids}
