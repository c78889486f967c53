"""Pictures that are cut into tiles, with a smaller picture of the whole beside them; and pictures on a square ground."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dmlops.processors import canvases, value_tables
from dmlops.processors.configuration import Configuration
from dmlops.processors.families.standard import by_keys, cropped, prepared, size_by
from dmlops.processors.parts import (
    Part,
    cut,
    frames,
    in_groups,
    mask,
    nested,
    one_by_one,
    padded,
    resampling,
    resized,
    stacked,
    table,
)
from dmlops.processors.plans import Array, Mask, Pixels, Plan, Size, Sizes, Window

# --- what tiles have in common ---


def on_square(part: Part, color: tuple[int, ...]) -> Part:
    """In the middle of a square as large as the longer side."""
    side = max(part.size)
    if part.size[0] == part.size[1]:
        return part
    return part.then(Window(-((side - part.size[0]) // 2), -((side - part.size[1]) // 2), side, side, color))


def color_of(mean: Any, channels: int) -> tuple[int, ...]:
    """int(x * 255) of a mean; a number is the first channel's, others are 0."""
    color = tuple(int(x * 255) for x in mean)
    if len(color) != channels:
        raise ValueError(f"the background has {len(color)} channels, the picture {channels}")
    return color


def background(value: Any, channels: int) -> tuple[int, ...]:
    color = (value, *[0] * (channels - 1)) if isinstance(value, int) else tuple(value)
    if len(color) != channels:
        raise ValueError(f"background_color has {len(color)} elements, the picture {channels} channels")
    return color


def height_and_width(c: Configuration, key: str = "size") -> Size:
    wanted = c.size(key)
    if not (wanted.get("height") and wanted.get("width")):
        raise ValueError(f"{c.name}: {key} must have the keys 'height' and 'width'")
    return wanted["height"], wanted["width"]


def as_float(values: Array) -> Array:
    return values.astype(np.float32)


# --- LLaVA ---


def llava(c: Configuration, pictures: Sequence[Size], channels: int = 3) -> Plan:
    """`do_pad`: a square of the mean's colour first."""
    parts = frames(pictures)
    if c["do_pad"]:
        mean = c["image_mean"]
        color = color_of(mean, channels) if mean else background(0, channels)
        parts = [on_square(part, color) for part in parts]
    return {"pixel_values": stacked(prepared(c, parts), table(c, channels), None, range(channels))}


def _tile_sizes(c: Configuration) -> tuple[Size, int]:
    """The size of the whole picture, and the tile's side."""
    size = c.size()
    crop = c.size("crop_size") if c["crop_size"] is not None else {}
    whole = (size["height"], size["width"]) if size.get("height") and size.get("width") else (size["shortest_edge"],) * 2
    return whole, crop.get("height") or size.get("height") or size["shortest_edge"]


def llava_next(c: Configuration, pictures: Sizes, channels: int = 3, *, one_alone: bool = False) -> Plan:
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
    found: Plan = {"pixel_values": _by_picture(groups, values, bool(c["do_pad"]), channels), "image_sizes": np.array(pictures)}
    return found | ({"batch_num_images": np.array(pictures.groups)} if one_alone else {})


def _by_picture(groups: Sequence[Sequence[Part]], values: Array, pads: bool, channels: int) -> Pixels | list[Pixels]:
    """(N, tiles, C, H, W); a list of (tiles, C, H, W) where numbers differ and nothing is padded."""
    if {part.shape for group in groups for part in group} != {groups[0][0].shape}:
        raise ValueError("the tiles of a picture must have one size")
    if pads or len(set(map(len, groups))) == 1:
        return nested(groups, values, None, range(channels))
    return [stacked(group, values, None, range(channels)) for group in groups]  # type: ignore[misc]


def _on_best_canvas(part: Part, resolutions: Sequence[Sequence[int]], side: int, name: str) -> list[Part]:
    canvas = canvases.best_resolution(part.size, resolutions)
    part = resized(part, canvases.fitted_up(part.size, canvas), name)
    before = [(outer - inner) // 2 for outer, inner in zip(canvas, part.size, strict=True)]
    part = part.then(Window(-before[0], -before[1], *canvas))
    found = []
    for row in range(0, canvas[0], side):
        for column in range(0, canvas[1], side):
            found.append(part.then(Window(row, column, min(side, canvas[0] - row), min(side, canvas[1] - column))))
    return found


# --- tiles of one size, and the whole picture as one more ---

GridRule = Callable[[Configuration, Size, Size], tuple[int, int]]  # size, tile -> columns, rows


def nearest_ratio(c: Configuration, size: Size, tile: Size) -> tuple[int, int]:
    return canvases.by_aspect_ratio(size, tile, c["min_patches"], c["max_patches"])


def least_scale(c: Configuration, size: Size, tile: Size) -> tuple[int, int]:
    return canvases.by_scale(size, tile[0], c["max_patches"])


def tiles(c: Configuration, pictures: Sequence[Size], channels: int = 3, *, grid: GridRule = nearest_ratio) -> Plan:
    """GotOcr2, Cohere2Vision: the tiles, then the whole picture unless there is one tile."""
    groups = []
    for part in frames(pictures):
        tiled = _with_whole(part, height_and_width(c), grid, c, resampling(c)) if c["crop_to_patches"] else [part]
        groups.append([resized(one, by_keys(c, one.size), resampling(c)) for one in tiled] if c["do_resize"] else tiled)
    values, parts = table(c, channels), [part for group in groups for part in group]
    return {"pixel_values": stacked(parts, values, None, range(channels)), "num_patches": np.array(list(map(len, groups)))}


def _with_whole(part: Part, tile: Size, grid: GridRule, c: Configuration, name: str) -> list[Part]:
    columns, rows = grid(c, part.size, tile)
    found = cut(resized(part, (tile[0] * rows, tile[1] * columns), name), rows, columns, tile)
    return found if len(found) == 1 else [*found, resized(part, tile, name)]


def ovis2(c: Configuration, pictures: Sequence[Size], channels: int = 3) -> Plan:
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
            tiled, grid = cut(resized(part, (tile[0] * rows, tile[1] * columns), name), rows, columns, tile), (rows, columns)
            tiled = tiled if len(tiled) == 1 else [resized(part, tile, name), *tiled]
        parts += [resized(one, by_keys(c, one.size), resampling(c)) for one in tiled] if c["do_resize"] else tiled
        grids.append(grid)
    parts = cropped(c, parts)
    return {"pixel_values": stacked(parts, table(c, channels), None, range(channels)), "grids": np.array(grids)}


def deepseek_ocr(c: Configuration, pictures: Sequence[Size], channels: int = 3, *, counts: bool = True) -> Plan:
    """The whole picture on a square, and tiles of pictures larger than one, as another result."""
    name, values = resampling(c), table(c, channels)
    local: list[Part] = []
    numbers, parts = [], []
    color = background(c["background_color"], channels)
    for part in frames(pictures):
        count = 0
        if c["crop_to_patches"] and max(part.size) > c["tile_size"]:
            tile = c["tile_size"], c["tile_size"]
            columns, rows = nearest_ratio(c, part.size, tile)
            local += cut(resized(part, (tile[0] * rows, tile[1] * columns), name), rows, columns, tile)
            count = rows * columns
        numbers.append(count)
        side = height_and_width(c)[0] if c["crop_to_patches"] else c["tile_size"]
        scale = side / max(part.size)
        parts.append(on_square(resized(part, (round(part.size[0] * scale), round(part.size[1] * scale)), name), color))
    found: Plan = {"pixel_values": stacked(parts, values, None, range(channels)), "num_local_patches": np.array(numbers)}
    return found | ({"pixel_values_local": stacked(local, values, None, range(channels))} if local else {})


def aria(c: Configuration, pictures: Sequence[Size], channels: int = 3) -> Plan:
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
    masks = mask(inner, np.bool_).made()
    return {
        "pixel_values": stacked(parts, table(c, channels), None, range(channels)),
        "pixel_mask": masks,
        "num_crops": np.array(most),
    }


def llama4(c: Configuration, pictures: Sequence[Size], channels: int = 3) -> Plan:
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
    return {"pixel_values": stacked(parts, values, None, range(channels)), "aspect_ratios": np.array(ratios)}


def _bfloat16_table(c: Configuration, channels: int) -> Array:
    if not (c["do_rescale"] and c["do_normalize"]):
        c.refuse("do_rescale" if not c["do_rescale"] else "do_normalize", "its values are bfloat16 only where both are true")
    mean, std = (value_tables.as_sequence(c[key], channels) for key in ("image_mean", "image_std"))
    found = value_tables.bfloat16(np.arange(256, dtype=np.float32) * np.float32(c["rescale_factor"]))
    rows = []
    for one, other in zip(mean, std, strict=True):
        less = value_tables.bfloat16(found - value_tables.bfloat16(np.float32(one)))
        rows.append(value_tables.bfloat16(less / value_tables.bfloat16(np.float32(other))))
    return np.stack(rows)


def mllama(c: Configuration, pictures: Sizes, channels: int = 3) -> Plan:
    for key in ("do_pad", "do_resize"):
        if not c[key]:
            raise ValueError(f"{c.name}: {key} must be true")
    tile, most, name = height_and_width(c), c["max_image_tiles"], resampling(c)
    if tile[0] != tile[1]:
        raise ValueError(f"{c.name}: size must be square")
    values = as_float(table(c, channels))
    ratios: list[tuple[int, int]] = []
    tiled = []
    for part in frames(pictures):
        canvas, size = canvases.mllama(part.size, most, tile[0])
        rows, columns = canvas[0] // tile[0], canvas[1] // tile[0]
        tiled.append(cut(resized(part, size, name).then(Window(0, 0, *canvas)), rows, columns, tile))
        ratios.append((rows, columns))
    widest, ids = max(pictures.groups), np.zeros((len(pictures.groups), max(pictures.groups)), np.int64)
    masks = np.zeros((*ids.shape, most), np.int64)
    masks[:, :, 0] = 1
    groups: list[list[Part]] = [[]] * ids.size
    number, counts = 0, []
    for sample, count in enumerate(pictures.groups):
        for place in range(count):
            groups[sample * widest + place] = tiled[number]
            ids[sample, place] = canvases.mllama_ratios(most).index(ratios[number]) + 1
            masks[sample, place, : ratios[number][0] * ratios[number][1]] = 1
            number += 1
        counts.append([len(one) for one in tiled[number - count : number]])
    pixels = nested([group or [] for group in groups], values, most, range(channels), tile)
    pixels = pixels._replace(shape=(*ids.shape, most, channels, *tile))
    return {"pixel_values": pixels, "aspect_ratio_ids": ids, "aspect_ratio_mask": masks, "num_tiles": counts}


# --- Idefics2, Idefics3, SmolVLM ---


def idefics2(c: Configuration, pictures: Sizes, channels: int = 3) -> Plan:
    """`do_image_splitting`: four quarters, then the whole."""
    groups = []
    for group in in_groups(frames(pictures), pictures.groups):
        found = []
        for part in group:
            height, width = part.size
            row, column = height // 2, width // 2
            quarters = [(0, 0, row, column), (0, column, row, width - column), (row, 0, height - row, column)]
            quarters.append((row, column, height - row, width - column))
            found += [*(part.then(Window(*one)) for one in quarters), part] if c["do_image_splitting"] else [part]
        groups.append(found)
    if c["do_resize"]:
        groups = [[resized(one, _idefics2_size(c, one.size), resampling(c)) for one in group] for group in groups]
    return _in_samples(c, groups, channels)


def _idefics2_size(c: Configuration, size: Size) -> Size:
    wanted = c.size()
    if wanted.get("shortest_edge") and wanted.get("longest_edge"):
        least, most = wanted["shortest_edge"], wanted["longest_edge"]
        height, width = _bounded(size, most)
        return max(height, least), max(width, least)
    return height_and_width(c)


def _bounded(size: Size, most: int) -> Size:
    height, width = size
    ratio = width / height
    if width >= height and width > most:
        return int(most / ratio), most
    if height > width and height > most:
        return most, int(most * ratio)
    return size


def _in_samples(c: Configuration, groups: Sequence[Sequence[Part]], channels: int) -> Plan:
    """(samples, pictures, C, H, W) with zeros, and a mask; or as they are."""
    values = table(c, channels)
    if not c["do_pad"]:
        same = len({part.size for group in groups for part in group}) == 1 and len(set(map(len, groups))) == 1
        if same:
            return {"pixel_values": nested(groups, values, None, range(channels))}
        return {"pixel_values": [one_by_one(group, values, (), range(channels)) for group in groups]}
    flat = padded([part for group in groups for part in group])
    most, frame = max(map(len, groups)), flat[0].shape
    windows, made, rest = [], [], list(flat)
    for group in groups:
        made.append(rest[: len(group)])
        rest = rest[len(group) :]
        windows += [*(mask(made[-1]).windows if group else ()), *[Window(0, 0, 0, 0)] * (most - len(group))]
    masks = Mask((len(groups), most, *frame), np.dtype(np.int64), tuple(windows))
    return {"pixel_values": nested(made, as_float(values), most, range(channels)), "pixel_attention_mask": masks}


_MOST = 4096  # pixels a side: MAX_IMAGE_SIZE


def idefics3_size(size: Size, longest: int) -> Size:
    """The longer side is `longest`, the other one even, both at most 4096."""
    height, width = size
    ratio = width / height
    if width >= height:
        width, height = longest, int(longest / ratio)
        height += height % 2
    else:
        height, width = longest, int(longest * ratio)
        width += width % 2
    height, width = _bounded((max(height, 1), max(width, 1)), _MOST)
    return max(height, 1), max(width, 1)


def _whole_tiles(size: Size, side: int) -> Size:
    height, width = size
    ratio = width / height
    if width >= height:
        width = math.ceil(width / side) * side
        height = math.ceil(int(width / ratio) / side) * side
    else:
        height = math.ceil(height / side) * side
        width = math.ceil(int(height * ratio) / side) * side
    return height, width


def idefics3(c: Configuration, pictures: Sizes, channels: int = 3, *, capped: bool = False) -> Plan:
    """Resized, resized to whole tiles, and the whole picture behind the tiles. `capped` (UltraVBert): so many tiles at most."""
    side, name = c["max_image_size"]["longest_edge"], resampling(c)
    groups: list[list[Part]] = []
    rows: list[list[int]] = []
    columns: list[list[int]] = []
    for group in in_groups(frames(pictures), pictures.groups):
        made: list[Part] = []
        rows.append([])
        columns.append([])
        for part in group:
            if c["do_resize"]:
                part = resized(part, _idefics3_by_keys(c, part.size, side, capped), name)
            tiled, grid = [resized(part, (side, side), name)], (0, 0)
            if c["do_image_splitting"]:
                tiled, grid = _split(resized(part, _whole_tiles(part.size, side), name), side, name)
            made += tiled
            rows[-1].append(grid[0])
            columns[-1].append(grid[1])
        groups.append(made)
    found = _in_samples(c, groups, channels)
    return found | ({"rows": rows, "cols": columns} if c["return_row_col_info"] else {})


def _split(part: Part, side: int, name: str) -> tuple[list[Part], tuple[int, int]]:
    if max(part.size) <= side:
        return [part], (0, 0)
    rows, columns = math.ceil(part.size[0] / side), math.ceil(part.size[1] / side)
    return [*cut(part, rows, columns, (side, side)), resized(part, (side, side), name)], (rows, columns)


def _idefics3_by_keys(c: Configuration, size: Size, side: int, capped: bool) -> Size:
    wanted = c.size()
    longest = wanted.get("longest_edge")
    if capped and c["do_image_splitting"]:
        if not longest:
            raise ValueError(f"{c.name}: size must have the key 'longest_edge'")
        while longest > side:
            grid = _whole_tiles(idefics3_size(size, longest), side)
            if grid[0] // side * (grid[1] // side) <= c["max_image_tiles"]:
                break
            longest -= side
    return idefics3_size(size, longest) if longest else height_and_width(c)


def granite_docling(c: Configuration, pictures: Sizes, channels: int = 3) -> Plan:
    """Tiles of all pages of a sample, and a mask of them."""
    tile, name, values = height_and_width(c), resampling(c), table(c, channels)
    groups: list[list[Part]] = []
    rows: list[list[int]] = []
    columns: list[list[int]] = []
    for group in in_groups(frames(pictures), pictures.groups):
        made: list[Part] = []
        grids = []
        for part in group:
            most = _page_tiles(c, part.size, tile)
            grid = canvases.by_aspect_ratio(part.size, tile, min(c["min_patches"], most), most, min(most, 16))
            made += _with_whole(part, tile, lambda *_, grid=grid: grid, c, name)
            least = c["min_patches"]
            grids.append((1, 1) if most <= 1 else canvases.by_aspect_ratio(part.size, tile, least, most, min(most, 16)))
        groups.append(made)
        rows.append([grid[1] for grid in grids])
        columns.append([grid[0] for grid in grids])
    counts = np.array([len(group) for group in groups])
    found: Plan = {
        "pixel_values": nested(groups, values, None, range(channels)),
        "pixel_attention_mask": np.arange(counts.max()) < counts[:, None],
    }
    if c["fine_route"]:
        found["tile_fine_mask"] = np.ones(len(groups), np.bool_)
    return found | {"rows": rows, "cols": columns}


def _page_tiles(c: Configuration, size: Size, tile: Size) -> int:
    """How many tiles a page may have: more for those that `dense_...` describes."""
    most: int = c["max_patches"]
    if not c["crop_to_patches"] or most <= 1:
        return 1
    dense, scale = c.get("dense_max_patches", 0), c.get("dense_max_scale", 0.0)
    least, widest = c.get("dense_min_aspect", 0.0), c.get("dense_max_aspect", 0.0)
    ratio = size[1] / size[0]
    if not dense or (scale <= 0 and least <= 0):
        return most
    if (least > 0 and not ratio > least) or (widest > 0 and ratio > widest):
        return most
    if scale > 0:
        columns, _ = canvases.by_aspect_ratio(size, tile, c["min_patches"], most, min(most, 16))
        if not columns * tile[1] / size[1] < scale:
            return most
    return int(dense)


# --- on a square ---


def janus(c: Configuration, pictures: Sequence[Size], channels: int = 3) -> Plan:
    parts = [_janus_part(c, part, "size", "resample", "image_mean", channels) for part in frames(pictures)]
    return {"pixel_values": stacked(parts, table(c, channels), None, range(channels))}


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


def hybrid(c: Configuration, pictures: Sequence[Size], channels: int = 3) -> Plan:
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
    make = value_tables.pillow_table if c.is_pillow else value_tables.torchvision_table
    factor = c["rescale_factor"] if c["do_rescale"] else None
    high = make(channels, factor, mean if c["do_normalize"] else None, std)
    return {
        "pixel_values": stacked(small, values, None, range(channels)),
        "high_res_pixel_values": stacked(large, high, None, range(channels)),
    }


def gemma3(c: Configuration, pictures: Sequence[Size], channels: int = 3) -> Plan:
    """`do_pan_and_scan`: the whole picture, then strips of a long one."""
    parts, numbers = [], []
    for part in frames(pictures):
        strips = _strips(c, part) if c["do_pan_and_scan"] else []
        numbers.append(len(strips))
        made = [part, *strips]
        if c["do_resize"] or c["do_pan_and_scan"]:
            made = [resized(one, size_by(c, c.size(), one.size), resampling(c)) for one in made]
        parts += made
    return {"pixel_values": stacked(parts, table(c, channels), None, range(channels)), "num_crops": np.array(numbers)}


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


def perception(c: Configuration, pictures: Sequence[Size], channels: int = 3) -> Plan:
    """PerceptionLM: (1 + tiles, C, H, W) of each picture, the whole one first."""
    side, name, groups = c["tile_size"], resampling(c), []
    for part in frames(pictures):
        if not c["do_resize"]:
            groups.append([part])
            continue
        made = [resized(part, (side, side), name)]
        if c["vision_input_type"] == "thumb+tile":
            columns, rows = canvases.perception(part.size, side, c["max_num_tiles"]) if c["max_num_tiles"] > 1 else (1, 1)
            made += cut(resized(part, (rows * side, columns * side), name), rows, columns, (side, side))
        groups.append(made)
    return {"pixel_values": _by_picture_or_list(groups, table(c, channels), channels)}


def _by_picture_or_list(groups: Sequence[Sequence[Part]], values: Array, channels: int) -> Any:
    if len(set(map(len, groups))) == 1 and len({part.shape for group in groups for part in group}) == 1:
        return nested(groups, values, None, range(channels))
    return [stacked(group, values, None, range(channels)) for group in groups]


def step3(c: Configuration, pictures: Sequence[Size], channels: int = 3) -> Plan:
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
    found: Plan = {"pixel_values": stacked(parts, values, None, range(channels)), "num_local_patches": np.array(counts)}
    if max(counts):
        found["pixel_values_local"] = stacked(local, values, None, range(channels))
        found["patch_newline_masks"] = np.array([one + [False] * (max(counts) - len(one)) for one in newlines])
    return found


def _windows(part: Part, side: int) -> list[Part]:
    """Row by row, those at the ends smaller."""
    height, width = part.size
    return [
        part.then(Window(row, column, min(side, height - row), min(side, width - column)))
        for row in range(0, height, side)
        for column in range(0, width, side)
    ]


def unlimited_ocr(c: Configuration, pictures: Sequence[Size], channels: int = 3) -> Plan:
    """As DeepSeek-OCR, with the grid of tiles, and a picture that is distorted where it is not cut and small."""
    name, values = resampling(c), table(c, channels)
    color, target = background(c["background_color"], channels), max(height_and_width(c))
    local: list[Part] = []
    parts, numbers, grids = [], [], []
    for part in frames(pictures):
        grid, made = (1, 1), []
        if c["crop_to_patches"] and max(part.size) > c["tile_size"]:
            tile = c["tile_size"], c["tile_size"]
            grid = nearest_ratio(c, part.size, tile)
            made = cut(resized(part, (tile[0] * grid[1], tile[1] * grid[0]), name), grid[1], grid[0], tile)
        local += made
        numbers.append(len(made))
        grids.append(list(grid))
        if not c["crop_to_patches"] and target <= c["maximum_pad_value"]:
            parts.append(resized(part, (target, target), name))
            continue
        scale = target / max(part.size)
        parts.append(on_square(resized(part, (round(part.size[0] * scale), round(part.size[1] * scale)), name), color))
    found: Plan = {"pixel_values": stacked(parts, values, None, range(channels))}
    found |= {"pixel_values_local": stacked(local, values, None, range(channels))} if local else {}
    return found | {"num_local_patches": numbers, "patches_grid": grids}
