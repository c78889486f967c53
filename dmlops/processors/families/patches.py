"""Pictures as rows of patches: Qwen2-VL and its kin, SigLIP 2, Gemma 4 and others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from dmlops.processors import canvases, value_tables
from dmlops.processors import sizes as rules
from dmlops.processors.configuration import Configuration
from dmlops.processors.parts import Part, frames, in_tiles, resampling, resized, table
from dmlops.processors.plans import Array, Axis, Block, Pixels, Plan, Size, Window, in_order

# (height, width, channels, patch, merge, copies) -> the axes of one picture's rows; and the shape of a row.
Layout: TypeAlias = Callable[[int, int, int, int, int, int], tuple[tuple[Axis, ...], tuple[int, ...]]]


# --- layouts: how patches follow one another, and what is in a row ---


def merged(
    height: int, width: int, channels: int, patch: int, merge: int, copies: int
) -> tuple[tuple[Axis, ...], tuple[int, ...]]:
    """merge x merge neighbours one after another; (C, copies, P, P) in a row."""
    pixels = [(channels, 0, 0, 1), (copies, 0, 0, 0), (patch, 1, 0, 0), (patch, 0, 1, 0)]
    return in_order([*_blocks(height, width, patch, merge), *pixels]), (channels * copies * patch * patch,)


def merged_last(
    height: int, width: int, channels: int, patch: int, merge: int, copies: int
) -> tuple[tuple[Axis, ...], tuple[int, ...]]:
    """The same with (P, P, C, copies) in a row."""
    pixels = [(patch, 1, 0, 0), (patch, 0, 1, 0), (channels, 0, 0, 1), (copies, 0, 0, 0)]
    return in_order([*_blocks(height, width, patch, merge), *pixels]), (channels * copies * patch * patch,)


def by_rows_of_blocks(
    height: int, width: int, channels: int, patch: int, merge: int, copies: int
) -> tuple[tuple[Axis, ...], tuple[int, ...]]:
    """HunYuan: the order (block row, row in the block, block column, column in the block), which is plain rows of patches."""
    pixels = [(channels, 0, 0, 1), (copies, 0, 0, 0), (patch, 1, 0, 0), (patch, 0, 1, 0)]
    places = _blocks(height, width, patch, merge)
    return in_order([places[0], places[2], places[1], places[3], *pixels]), (channels * copies * patch * patch,)


def plain(
    height: int, width: int, channels: int, patch: int, merge: int, copies: int
) -> tuple[tuple[Axis, ...], tuple[int, ...]]:
    """Row by row; (C, P, P) for each."""
    pixels = [(channels, 0, 0, 1), (copies, 0, 0, 0), (patch, 1, 0, 0), (patch, 0, 1, 0)]
    return in_order([*_grid(height, width, patch), *pixels]), (channels * copies, patch, patch)


def plain_copies_first(
    height: int, width: int, channels: int, patch: int, merge: int, copies: int
) -> tuple[tuple[Axis, ...], tuple[int, ...]]:
    """Row by row; (copies, C, P, P) in a row."""
    pixels = [(copies, 0, 0, 0), (channels, 0, 0, 1), (patch, 1, 0, 0), (patch, 0, 1, 0)]
    return in_order([*_grid(height, width, patch), *pixels]), (channels * copies * patch * patch,)


def plain_last(
    height: int, width: int, channels: int, patch: int, merge: int = 1, copies: int = 1
) -> tuple[tuple[Axis, ...], tuple[int, ...]]:
    """Row by row; (P, P, C) in a row."""
    pixels = [(patch, 1, 0, 0), (patch, 0, 1, 0), (channels, 0, 0, 1)]
    return in_order([*_grid(height, width, patch), *pixels]), (channels * patch * patch,)


def _blocks(height: int, width: int, patch: int, merge: int) -> list[tuple[int, int, int, int]]:
    side = patch * merge
    if height % side or width % side:
        raise ValueError(
            f"a picture of {height} x {width} cannot be cut into patches of {patch} x {patch}, {merge} x {merge} together"
        )
    return [(height // side, side, 0, 0), (width // side, 0, side, 0), (merge, patch, 0, 0), (merge, 0, patch, 0)]


def _grid(height: int, width: int, patch: int) -> list[tuple[int, int, int, int]]:
    if height % patch or width % patch:
        raise ValueError(f"a picture of {height} x {width} cannot be cut into patches of {patch} x {patch}")
    return [(height // patch, patch, 0, 0), (width // patch, 0, patch, 0)]


# --- results ---


def rows_of(
    parts: Sequence[Part], values: Array, layout: Layout, patch: int, merge: int = 1, copies: int = 1, most: int | None = None
) -> Pixels:
    """The rows of all pictures one after another; with `most`, (N, most, ...) with zeros behind each picture's."""
    blocks: list[Block] = []
    count = 0
    shape: tuple[int, ...] = ()
    for number, part in enumerate(parts):
        axes, shape = layout(*part.size, len(values), patch, merge, copies)
        rows = part.size[0] // patch * (part.size[1] // patch)
        if most is not None and rows > most:
            raise ValueError(f"a picture of {part.size[0]} x {part.size[1]} has {rows} patches, more than {most}")
        first = (count if most is None else number * most) * math.prod(shape)
        blocks.append(Block(part.picture, part.steps, first, axes))
        count += rows
    return Pixels((count, *shape) if most is None else (len(parts), most, *shape), values, tuple(blocks))


def grids(parts: Sequence[Part], patch: int) -> Array:
    return np.array([(1, part.size[0] // patch, part.size[1] // patch) for part in parts], np.int64)


# --- Qwen2-VL and its kin ---

Budget: TypeAlias = Callable[[Configuration, Size, int], Size]


def adapt_pixels(c: Configuration) -> None:
    """Old names of areas: `min_pixels` and `max_pixels`."""
    size = c.values.get("size") if c.given.get("size") is None else c.given["size"]
    found = dict(size) if isinstance(size, dict) else {}
    for old, new in (("min_pixels", "shortest_edge"), ("max_pixels", "longest_edge")):
        if c.given.get(old) is not None:
            found[new] = c[old]
            found.pop(old, None)
        c.read.add(old)
    if isinstance(size, dict):
        c.values["size"] = found


def adapt_mini_max(c: Configuration) -> None:
    if c.given.get("size") == [672, 672]:
        c.given.pop("size")
        c.values["size"] = {"shortest_edge": 3136, "longest_edge": 451584}
    adapt_pixels(c)


def areas(c: Configuration) -> tuple[int, int]:
    wanted = c.size(square=False)
    if not (wanted.get("shortest_edge") and wanted.get("longest_edge")):
        raise ValueError(f"{c.name}: size must have the keys 'shortest_edge' and 'longest_edge'")
    return wanted["shortest_edge"], wanted["longest_edge"]


def area(c: Configuration, size: Size, factor: int) -> Size:
    return rules.bounded_pixels(size, factor, *areas(c))


def area_of_least_sides(c: Configuration, size: Size, factor: int) -> Size:
    return rules.with_least_sides(size, factor, *areas(c))


def half(c: Configuration, size: Size, factor: int) -> Size:
    return rules.halved(size, factor, *areas(c))


def expand(c: Configuration) -> int:
    """`patch_expand_factor`, which Pillow's classes do not read."""
    return 1 if c.is_pillow else c.get("patch_expand_factor", 1)


def volume(c: Configuration, size: Size, factor: int) -> Size:
    time = c["temporal_patch_size"]
    return rules.bounded_volume(size, time, time, factor * expand(c), *areas(c))


def muse(c: Configuration, size: Size, factor: int) -> Size:
    return rules.nearest_grid(size, factor, c["max_image_tokens"])


def qwen(
    c: Configuration,
    pictures: Sequence[Size],
    channels: int,
    *,
    size: Budget = area,
    layout: Layout = merged,
    filter: str | None = None,
    merges: bool = False,
) -> Plan:
    """`filter`: whatever `resample` says; `merges`: image_merge_sizes is a result."""
    patch, merge, copies = c["patch_size"], c["merge_size"], c["temporal_patch_size"]
    parts = frames(pictures)
    if c["do_resize"]:
        name = filter or resampling(c)
        parts = [resized(part, size(c, part.size, patch * merge), name) for part in parts]
    grid = grids(parts, patch)
    found: Plan = {"pixel_values": rows_of(parts, table(c, channels), layout, patch, merge, copies), "image_grid_thw": grid}
    return found | ({"image_merge_sizes": np.full(len(parts), merge, np.int64)} if merges else {})


def glm5(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """GLM-5: the content is fitted into an aligned frame, with bytes of zero at the bottom and on the right."""
    patch, merge, copies = c["patch_size"], c["merge_size"], c["temporal_patch_size"]
    factor = patch * merge * expand(c)
    parts = frames(pictures)
    if c["do_resize"]:
        parts = [glm5_fitted(c, part, copies, factor) for part in parts]
    return {
        "pixel_values": rows_of(parts, table(c, channels), merged, patch, merge, copies),
        "image_grid_thw": grids(parts, patch),
    }


def glm5_fitted(c: Configuration, part: Part, count: int, factor: int) -> Part:
    """One of `count` frames."""
    time, least, most = c["temporal_patch_size"], c["min_image_tokens"], c["max_image_tokens"]
    height, width = part.size
    frame = rules.within_budget(part.size, count, time, factor, least, most)
    scale = min(frame[0] / height, frame[1] / width)
    if count * height * width >= time * factor**2 * least:
        scale = min(1.0, scale)
    content = max(1, min(frame[0], math.floor(height * scale))), max(1, min(frame[1], math.floor(width * scale)))
    return resized(part, content, resampling(c)).then(Window(0, 0, *frame))


def kimi(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    patch, parts = c["patch_size"], kimi_fitted(c, frames(pictures))
    return {"pixel_values": rows_of(parts, table(c, channels), plain, patch), "image_grid_thw": grids(parts, patch)}


def kimi_fitted(c: Configuration, parts: list[Part]) -> list[Part]:
    """Kimi: never enlarged, bytes of zero up to a multiple of merge x patch."""
    wanted = c.size()
    if c["size"] is not None and (not wanted.get("max_height") or wanted["max_height"] != wanted.get("max_width")):
        raise ValueError(f"{c.name}: size must have the keys 'max_height' and 'max_width' with the same value")
    if not c["do_resize"]:
        return parts
    found = []
    for part in parts:
        inner, outer = rules.navit(part.size, c["patch_size"], c["merge_size"], c["max_patches"], wanted["max_height"])
        found.append(resized(part, inner, resampling(c)).then(Window(0, 0, *outer)))
    return found


def neo(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """NeoMME: bytes of zero up to whole patches."""
    patch, parts = c["patch_size"], frames(pictures)
    if c["do_resize"]:
        wanted = c.size()
        if wanted and set(wanted) != {"min_pixels", "max_pixels"}:
            raise ValueError(f"{c.name}: size must have the keys 'min_pixels' and 'max_pixels'")
        bounds = c["max_side"], wanted.get("min_pixels"), wanted.get("max_pixels")
        parts = [resized(part, rules.pixel_budget(part.size, *bounds), resampling(c)) for part in parts]
    parts = [part.then(Window(0, 0, *rules.upwards(part.size, patch))) for part in parts]
    grid = grids(parts, patch)[:, 1:]
    return {"pixel_values": rows_of(parts, table(c, channels), plain_last, patch), "image_grid_hw": grid}


# --- a fixed number of rows ---


def siglip2(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    patch, most = c["patch_size"], c["max_num_patches"]
    parts = frames(pictures)
    if c["do_resize"]:
        parts = [resized(part, rules.by_bisection(part.size, patch, most), resampling(c)) for part in parts]
    return _masked_rows(parts, table(c, channels), patch, most)


def _masked_rows(parts: Sequence[Part], values: Array, patch: int, most: int) -> Plan:
    """(N, most, P x P x C) with zeros behind the rows, a mask of these, and rows and columns of patches."""
    grid = grids(parts, patch)[:, 1:]
    return {
        "pixel_values": rows_of(parts, values, plain_last, patch, most=most),
        "pixel_attention_mask": (np.arange(most) < grid.prod(1)[:, None]).astype(np.int32),
        "spatial_shapes": grid,
    }


SOFT_TOKENS = (70, 140, 280, 560, 1120)


def _pooled(c: Configuration, pictures: Sequence[Size]) -> tuple[list[Part], int, int, int]:
    """The pictures as Gemma 4 resizes them, the sides of a patch and of a pool of patches, and the most tokens."""
    patch, pooling, tokens = c["patch_size"], c["pooling_kernel_size"], c["max_soft_tokens"]
    if tokens not in SOFT_TOKENS:
        raise ValueError(f"{c.name}: max_soft_tokens must be one of {SOFT_TOKENS}, not {tokens}")
    most, parts = tokens * pooling**2, frames(pictures)
    if c["do_resize"]:
        parts = [resized(part, rules.by_area(part.size, patch, most, pooling), resampling(c)) for part in parts]
    return parts, patch, pooling, tokens


def gemma4(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    parts, patch, pooling, tokens = _pooled(c, pictures)
    most, grid = tokens * pooling**2, grids(parts, patch)[:, 1:]
    return {
        "pixel_values": rows_of(parts, table(c, channels), plain_last, patch, most=most),
        "image_position_ids": positions(grid, most),
        "num_soft_tokens_per_image": grid.prod(1) // pooling**2,
    }


def positions(grid: Array, most: int) -> Array:
    """(N, most, 2): column and row of each patch, -1 behind them."""
    found = np.full((len(grid), most, 2), -1, np.int64)
    for row, (height, width) in zip(found, grid, strict=True):
        row[: height * width] = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).reshape(-1, 2)
    return found


def gemma4_unified(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """A patch is pooling x pooling of Gemma 4's together."""
    parts, patch, pooling, tokens = _pooled(c, pictures)
    grid = grids(parts, patch * pooling)[:, 1:]
    return {
        "pixel_values": rows_of(parts, table(c, channels), plain_last, patch * pooling, most=tokens),
        "image_position_ids": positions(grid, tokens),
        "num_soft_tokens_per_image": grid.prod(1),
    }


def lfm2(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """LFM2-VL: a large picture in tiles, with a smaller one of the whole; then rows of patches, and zeros behind them."""
    patch, least, most = c["encoder_patch_size"], c["min_tiles"], c["max_tiles"]
    if not c["do_image_splitting"]:
        least = most = 1
    elif least > most:
        raise ValueError(f"{c.name}: min_tiles must be at most max_tiles")
    rows, counts = _lfm2_rows(c), []
    parts: list[Part] = []
    sizes = []
    for part in frames(pictures):
        size = rules.lfm2(part.size, patch * c["downsample_factor"], c["min_image_tokens"], c["max_image_tokens"])
        grid, made = (1, 1), []
        if not least == most == 1 and rules.is_large(
            part.size, patch, c["downsample_factor"], c["max_image_tokens"], c["max_pixels_tolerance"]
        ):
            side = c["tile_size"]
            columns, count = canvases.by_aspect_ratio(part.size, (side, side), least, most)
            made = in_tiles(part, count, columns, (side, side), resampling(c))
            if c["use_thumbnail"] and len(made) != 1:
                made.append(resized(part, size, resampling(c)))
            grid = count, columns
        parts += made or [resized(part, size, resampling(c))]
        counts.append(grid)
        sizes.append(size)
    found = _lfm2_pixels(c, parts, table(c, channels), patch, rows)
    if c["return_row_col_info"]:
        found |= {
            "image_rows": [one[0] for one in counts],
            "image_cols": [one[1] for one in counts],
            "image_sizes": np.array(sizes),
        }
    return found


def _lfm2_rows(c: Configuration) -> int:
    whole: int = c["max_image_tokens"] * c["downsample_factor"] ** 2
    return max(whole, (c["tile_size"] // c["encoder_patch_size"]) ** 2 if c["do_image_splitting"] else 0)


def _lfm2_pixels(c: Configuration, parts: Sequence[Part], values: Array, patch: int, rows: int) -> Plan:
    if c["do_pad"]:
        return _masked_rows(parts, values, patch, rows)
    grid = grids(parts, patch)[:, 1:]
    if len({tuple(one) for one in grid}) > 1:
        raise ValueError(f"{c.name}: pictures of different sizes need do_pad")
    return {"pixel_values": rows_of(parts, values, plain_last, patch, most=int(grid[0].prod()))}


def inkling(c: Configuration, pictures: Sequence[Size], channels: int, *, first: bool = True) -> Plan:
    """Inkling: (patches, 2, P, P, C), with a column more where the width is a multiple; Inkling 2: (patches, P, P, C).

    What lies beyond the picture is what the table would make of -1.
    """
    size, parts = (c.size()["height"], c.size()["width"]), frames(pictures)
    if first and (size[0] != size[1] or c["do_resize"] is False):
        raise ValueError(f"{c.name}: size must be square, and do_resize not false")
    if first and c["rescale_image_frac"] is not None:
        parts = [resized(part, _inkling_size(c, part.size), resampling(c)) for part in parts]
    copies, values = 2 if first else 1, table(c, channels).astype(np.float32)
    counts = [
        (-(-one[0] // size[0]), one[1] // size[1] + 1 if first else -(-one[1] // size[1])) for one in (p.size for p in parts)
    ]
    blocks, done = [], 0
    for part, (rows, columns) in zip(parts, counts, strict=True):
        blocks += _inkling_blocks(part, columns, size, copies, channels, done)
        done += rows * columns
    shape = (done, *([copies] if first else []), *size, channels)
    pixels = Pixels(shape, values, tuple(blocks), _beyond(c, channels))
    grid = np.array(counts)
    return {"pixel_values": pixels} | (
        {"num_patches": grid.prod(1)} if first else {"image_grid_thw": np.insert(grid, 0, 1, axis=1)}
    )


def _inkling_size(c: Configuration, size: Size) -> Size:
    most = max(size) * c["rescale_image_frac"]
    if c["rescale_image_max_upscaled_long_edge"] is not None:
        most = min(most, max(c["rescale_image_max_upscaled_long_edge"], max(size)))
    ratio = most / max(size)
    return size if ratio == 1.0 else (math.floor(size[0] * ratio + 0.5), math.floor(size[1] * ratio + 0.5))


def _inkling_blocks(part: Part, columns: int, size: Size, copies: int, channels: int, done: int) -> list[Block]:
    """The whole patches, and those at the right and at the bottom, which the picture fills in part."""
    found = []
    items = copies * size[0] * size[1] * channels
    for top, height in _whole_and_rest(part.size[0], size[0]):
        for left, width in _whole_and_rest(part.size[1], size[1]):
            high, wide = min(height, size[0]), min(width, size[1])
            steps = (*part.steps, Window(top, left, height, width)) if (height, width) != part.size else part.steps
            axes = (
                Axis(height // high, size[0], 0, 0, columns * items),
                Axis(width // wide, 0, size[1], 0, items),
                Axis(copies, 0, 0, 0, size[0] * size[1] * channels),
                Axis(high, 1, 0, 0, size[1] * channels),
                Axis(wide, 0, 1, 0, channels),
                Axis(channels, 0, 0, 1, 1),
            )
            first = (done + top // size[0] * columns + left // size[1]) * items
            found.append(Block(part.picture, steps, first, axes))
    return found


def _whole_and_rest(length: int, side: int) -> list[tuple[int, int]]:
    whole = length // side * side
    return [one for one in ((0, whole), (whole, length - whole)) if one[1]]


def _beyond(c: Configuration, channels: int) -> Array:
    """What the steps of the table make of -1."""
    value = np.float32(-1)
    mean, std = (value_tables.as_sequence(c[key], channels) for key in ("image_mean", "image_std"))
    if c["do_normalize"]:
        scale = np.float32(1.0 / c["rescale_factor"]) if c["do_rescale"] else np.float32(1)
        means, stds = np.array(mean, np.float32) * scale, np.array(std, np.float32) * scale
        return (value - means) / stds
    return np.full(channels, value * np.float32(c["rescale_factor"]) if c["do_rescale"] else value, np.float32)


def mini_cpm(c: Configuration, pictures: Sequence[Size], channels: int, *, always: bool = False) -> Plan:
    """MiniCPM-V: (1, C, P, L), patches side by side: the whole picture, then slices of it.

    `always`: MiniCPM-OCR, which may look at glyphs.
    """
    if always and c["small_image_upsize"] == "adaptive":
        c.refuse("small_image_upsize", "it looks for glyphs in the pixels")
    if not c["do_resize"]:
        c.refuse("do_resize", "the original fails without it")
    grows = not always or c["small_image_upsize"] == "always"
    patch, made = c["patch_size"], []
    grids_, counts = [], []
    for part in frames(pictures):
        grid, parts = sliced(c, part, grows)
        made += parts
        grids_.append(list(grid))
        counts.append(len(parts))
    sizes = [(one.size[0] // patch, one.size[1] // patch) for one in made]
    return {
        "pixel_values": side_by_side(made, table(c, channels).astype(np.float32), patch),
        "target_sizes": np.array(sizes, np.int32),
        "grids": grids_,
        "num_patches_per_image": counts,
    }


def sliced(c: Configuration, part: Part, grows: bool = True) -> tuple[tuple[int, int], list[Part]]:
    """Rows and columns of slices, or (0, 0); and the whole picture, then the slices.

    `grows`: a picture that is not sliced may be enlarged.
    """
    factor = c["patch_size"] * (2 if c["downsample_mode"] == "4x" else 4)
    resolution, name = c["scale_resolution"], resampling(c)
    grid = rules.sliced_grid(part.size, c["max_slice_nums"], resolution) if c["slice_mode"] else None
    whole = resized(part, rules.best_resize(part.size, resolution, factor, grows and grid is None), name)
    if grid is None:
        return (0, 0), [whole]
    size = rules.refined(part.size, grid, resolution, factor)
    return grid, [whole, *in_tiles(part, *grid, (size[0] // grid[0], size[1] // grid[1]), name)]


def side_by_side(parts: Sequence[Part], values: Array, patch: int) -> Pixels:
    """(1, C, P, patches x P): the columns of patches one after another."""
    channels = len(values)
    total = sum(part.size[0] // patch * (part.size[1] // patch) for part in parts) * patch
    blocks, done = [], 0
    for part in parts:
        rows, columns = part.size[0] // patch, part.size[1] // patch
        axes = (
            Axis(channels, 0, 0, 1, patch * total),
            Axis(patch, 1, 0, 0, total),
            Axis(rows, patch, 0, 0, columns * patch),
            Axis(columns, 0, patch, 0, patch),
            Axis(patch, 0, 1, 0, 1),
        )
        blocks.append(Block(part.picture, part.steps, done, axes))
        done += rows * columns * patch
    return Pixels((1, channels, patch, total), values, tuple(blocks))
