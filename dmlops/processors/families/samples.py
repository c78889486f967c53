"""Samples of several pictures, each of them cut into tiles: Mllama, Idefics and its kin, Granite."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dmlops.processors import canvases
from dmlops.processors import sizes as rules
from dmlops.processors.configuration import Configuration
from dmlops.processors.families.standard import height_and_width
from dmlops.processors.families.tiles import with_whole
from dmlops.processors.parts import Part, cut, frames, in_groups, mask, nested, one_by_one, padded, resampling, resized, table
from dmlops.processors.plans import Mask, Plan, Size, Sizes, Window


def mllama(c: Configuration, pictures: Sizes, channels: int) -> Plan:
    for key in ("do_pad", "do_resize"):
        if not c[key]:
            raise ValueError(f"{c.name}: {key} must be true")
    tile, most, name = height_and_width(c), c["max_image_tiles"], resampling(c)
    if tile[0] != tile[1]:
        raise ValueError(f"{c.name}: size must be square")
    values = table(c, channels).astype(np.float32)
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
    pixels = nested(groups, values, most, tile)
    pixels = pixels._replace(shape=(*ids.shape, most, channels, *tile))
    return {"pixel_values": pixels, "aspect_ratio_ids": ids, "aspect_ratio_mask": masks, "num_tiles": counts}


def idefics2(c: Configuration, pictures: Sizes, channels: int) -> Plan:
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
            return {"pixel_values": nested(groups, values)}
        return {"pixel_values": [one_by_one(group, values) for group in groups]}
    flat = padded([part for group in groups for part in group])
    most, frame = max(map(len, groups)), flat[0].shape
    made = in_groups(flat, [len(group) for group in groups])
    windows: list[Window] = []
    for group in made:
        windows += [*(mask(group).windows if group else ()), *[Window(0, 0, 0, 0)] * (most - len(group))]
    masks = Mask((len(groups), most, *frame), np.dtype(np.int64), tuple(windows))
    return {"pixel_values": nested(made, values.astype(np.float32), most), "pixel_attention_mask": masks}


_MOST = 4096  # pixels a side: MAX_IMAGE_SIZE


def idefics3_size(size: Size, longest: int) -> Size:
    """The longer side is `longest`, the other one even, both at most 4096."""
    height, width = _bounded(rules.longest_and_even(size, longest), _MOST)
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


def idefics3(c: Configuration, pictures: Sizes, channels: int, *, capped: bool = False) -> Plan:
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


def granite_docling(c: Configuration, pictures: Sizes, channels: int) -> Plan:
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
            made += with_whole(part, tile, lambda *_, grid=grid: grid, c, name)
            least = c["min_patches"]
            grids.append((1, 1) if most <= 1 else canvases.by_aspect_ratio(part.size, tile, least, most, min(most, 16)))
        groups.append(made)
        rows.append([grid[1] for grid in grids])
        columns.append([grid[0] for grid in grids])
    counts = np.array([len(group) for group in groups])
    found: Plan = {
        "pixel_values": nested(groups, values),
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
