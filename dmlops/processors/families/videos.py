"""Videos: frames of one size, given as they are to be used. None are sampled, as with do_sample_frames=False."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from dmlops.processors import sizes as rules
from dmlops.processors import value_tables
from dmlops.processors.configuration import Configuration
from dmlops.processors.families import patches as p
from dmlops.processors.families.standard import by_keys, prepared, videos_of
from dmlops.processors.parts import Part, frames, in_groups, mask, nested, padded, resampling, resized, table
from dmlops.processors.plans import Array, Block, Mask, Pixels, Plan, Size, Sizes

__all__ = [
    "adapt_vjepa",
    "area",
    "gemma4",
    "glm5",
    "kimi",
    "mini_cpm",
    "mini_max",
    "muse",
    "patched",
    "plain",
    "rows_in_budget",
    "sam2",
    "shared_area",
    "smol",
    "vivit_table",
    "volume",
]


def videos(c: Configuration, pictures: Sizes) -> list[list[Part]]:
    """The frames of each video."""
    groups = in_groups(frames(pictures), pictures.groups)
    for group in groups:
        if len({part.size for part in group}) != 1:
            raise ValueError(f"{c.name}: the frames of a video must have one size")
    return groups


def plain(
    c: Configuration,
    pictures: Sizes,
    channels: int,
    *,
    name: str = "pixel_values_videos",
    values: Callable[[Configuration, int], Array] = table,
    pads: bool = False,
) -> Plan:
    """(N, T, C, H, W). `pads` (PE Video): shorter videos have zeros behind them, and a mask says so."""
    parts, made = prepared(c, frames(pictures)), values(c, channels)
    counts = np.array(pictures.groups)
    if not pads or len(set(pictures.groups)) == 1:
        return {name: videos_of(c, parts, pictures, made)}
    pixels = nested(in_groups(parts, pictures.groups), made)
    return {name: pixels, "padding_mask_videos": np.arange(counts.max()) < counts[:, None]}


def vivit_table(c: Configuration, channels: int) -> Array:
    """Bytes times the factor, less one; then normalised."""
    found = value_tables.identity(channels)
    if c["do_rescale"]:
        found = found.astype(np.float32) * np.float32(c["rescale_factor"]) - np.float32(1)
    return value_tables.torchvision_normalized(found, c["image_mean"], c["image_std"]) if c["do_normalize"] else found


def sam2(c: Configuration, pictures: Sizes, channels: int) -> Plan:
    size, groups = c.size(), videos(c, pictures)
    if "height" not in size:
        c.refuse("size", "reshaped_input_sizes are those of 'height' and 'width'")
    original = np.array([group[0].size for group in groups])
    wanted = np.array([[size["height"], size["width"]]] * len(groups))
    return {"original_sizes": original, "reshaped_input_sizes": wanted} | plain(c, pictures, channels)


def adapt_vjepa(c: Configuration) -> None:
    """The size follows from `crop_size`."""
    crop = c.given.get("crop_size", 256)
    if not isinstance(crop, int):
        if not isinstance(crop, dict) or "height" not in crop:
            raise ValueError(f"{c.name}: crop_size must be a number, or have the key 'height'")
        crop = crop["height"]
    c.values["size"] = {"shortest_edge": int(crop * 256 / 224)}
    c.given.pop("size", None)
    c.values["default_to_square"] = True


# --- patches ---

# (height, width), number of frames, factor -> size
Budget: TypeAlias = Callable[[Configuration, Size, int, int], Size]


def area(c: Configuration, size: Size, count: int, factor: int) -> Size:
    """Qwen2-VL: `cap_pixels_per_frame` bounds the tokens of a video."""
    least, most = p.areas(c)
    if c["cap_pixels_per_frame"]:
        total = int(c["max_video_tokens"] * factor * factor * 0.9)
        most = max(min(most, total * c["temporal_patch_size"] // count), int(least * 1.05))
    return rules.bounded_pixels(size, factor, least, most)


def volume(c: Configuration, size: Size, count: int, factor: int) -> Size:
    """Qwen3-VL, GLM-4V: bounds of frames x height x width."""
    least, most = p.areas(c)
    if c["cap_pixels_per_frame"]:
        frame = max(min(c["max_video_tokens"] * factor * factor, most // count), int(least * 1.05))
        most = frame * count
    return rules.bounded_volume(size, count, c["temporal_patch_size"], factor * p.expand(c), least, most)


def shared_area(c: Configuration, size: Size, count: int, factor: int) -> Size:
    """VideoLLaMA 3: the greatest area is shared by the frames."""
    least, most = p.areas(c)
    return rules.bounded_pixels(size, factor, least, most // count)


def muse(c: Configuration, size: Size, count: int, factor: int) -> Size:
    return rules.nearest_grid(size, factor, c["max_video_frame_tokens"])


def rows_in_budget(c: Configuration, size: Size, count: int, factor: int) -> Size:
    """HY-V4: the most rows whose columns fit."""
    most, largest = c.size()["longest_edge"], c["max_image_size"]["longest_edge"]
    height, width = size
    if max(size) / min(size) > 200:
        raise ValueError(f"absolute aspect ratio must be smaller than 200, got {max(size) / min(size)}")
    budget = most // (factor * factor)
    for rows in range(max(1, height // factor), 0, -1):
        low = 1 if rows == 1 else max(1, width * rows // height)
        high = min(max(1, width // factor), max(1, -(-width * (rows + 1) // height) - 1))
        of_budget = budget // (count * rows) - 1 if budget > 0 else 0
        columns = min(high, of_budget, largest // (factor * factor * rows))
        if columns >= low:
            return rows * factor, columns * factor
    return factor, factor


def patched(
    c: Configuration,
    pictures: Sizes,
    channels: int,
    *,
    size: Budget,
    layout: p.Layout = p.merged,
    compresses: bool = False,
) -> Plan:
    """The rows of all videos; as many frames as `temporal_patch_size` share a row, the last one repeated.

    `compresses` (VideoLLaMA 3): a mask of tokens is a result.
    """
    if compresses and c["use_token_compression"]:
        c.refuse("use_token_compression", "its mask compares means of floats: say use_token_compression=false")
    patch, merge, time = c["patch_size"], c["merge_size"], c["temporal_patch_size"]
    groups = videos(c, pictures)
    if c["do_resize"]:
        name = resampling(c)
        sizes = [size(c, group[0].size, len(group), patch * merge) for group in groups]
        groups = [[resized(part, one, name) for part in group] for group, one in zip(groups, sizes, strict=True)]
    found = _in_rows(groups, table(c, channels), layout, patch, merge, time)
    if compresses:
        grid = np.asarray(found["video_grid_thw"])
        found["video_merge_sizes"] = np.full(len(groups), merge, np.int64)
        found["video_compression_mask"] = np.ones(int(grid.prod(1).sum()) // merge**2, np.bool_)
    return found


def _in_rows(groups: list[list[Part]], values: Array, layout: p.Layout, patch: int, merge: int, time: int) -> Plan:
    blocks: list[Block] = []
    grid, done = [], 0
    shape: tuple[int, ...] = (0,)
    for group in groups:
        axes, shape = layout(*group[0].size, len(values), patch, merge, time)
        rows, items = group[0].size[0] // patch * (group[0].size[1] // patch), math.prod(shape)
        copies = next(axis for axis in axes if (axis.rows, axis.columns, axis.channels) == (0, 0, 0) and axis.extent == time)
        moved = tuple(axis for axis in axes if axis is not copies)
        times = -(-len(group) // time)
        for number in range(times * time):
            part = group[min(number, len(group) - 1)]
            first = (done + number // time * rows) * items + number % time * copies.items
            blocks.append(Block(part.picture, part.steps, first, moved))
        grid.append((times, group[0].size[0] // patch, group[0].size[1] // patch))
        done += times * rows
    pixels = Pixels((done, *shape), values, tuple(blocks))
    return {"pixel_values_videos": pixels, "video_grid_thw": np.array(grid, np.int64)}


def glm5(c: Configuration, pictures: Sizes, channels: int) -> Plan:
    patch, merge, time = c["patch_size"], c["merge_size"], c["temporal_patch_size"]
    factor = patch * merge * p.expand(c)
    groups = videos(c, pictures)
    if c["do_resize"]:
        groups = [[p.glm5_fitted(c, part, len(group), factor) for part in group] for group in groups]
    return _in_rows(groups, table(c, channels), p.merged, patch, merge, time)


def mini_max(c: Configuration, pictures: Sizes, channels: int) -> Plan:
    """Grids of segments of at most `vision_segment_max_frames`."""

    def size(c: Configuration, size: Size, count: int, factor: int) -> Size:
        return rules.bounded_pixels(size, factor, c["min_pixels"], c["max_pixels"])

    found = patched(c, pictures, channels, size=size)
    grids: list[list[int]] = []
    counts = []
    for time, height, width in np.asarray(found["video_grid_thw"]).tolist():
        most = c["vision_segment_max_frames"] or time
        made = [[min(most, time - start), height, width] for start in range(0, time, most)]
        grids += made
        counts.append(len(made))
    return found | {"video_grid_thw": np.array(grids, np.int64), "num_chunks_per_video": np.array(counts)}


def kimi(c: Configuration, pictures: Sizes, channels: int) -> Plan:
    """Plain patches of each frame; grids of chunks of `temporal_patch_size` frames."""
    patch, time = c["patch_size"], c["temporal_patch_size"]
    groups = [p.kimi_fitted(c, group) for group in videos(c, pictures)]
    pixels = p.rows_of([part for group in groups for part in group], table(c, channels), p.plain, patch)
    grid, counts = [], []
    for group in groups:
        height, width = group[0].size
        chunks = [min(time, len(group) - start) for start in range(0, len(group), time)]
        grid += [(count, height // patch, width // patch) for count in chunks]
        counts.append(len(chunks))
    return {
        "pixel_values_videos": pixels,
        "video_grid_thw": np.array(grid, np.int64),
        "num_chunks_per_video": np.array(counts),
    }


def gemma4(c: Configuration, pictures: Sizes, channels: int, *, unified: bool = False) -> Plan:
    """(frames, rows, P x P x C) with zeros behind the rows."""
    found = (p.gemma4_unified if unified else p.gemma4)(
        c, [part.size for group in videos(c, pictures) for part in group], channels
    )
    first = np.cumsum([0, *pictures.groups[:-1]])
    tokens = np.asarray(found["num_soft_tokens_per_image"])
    return {
        "pixel_values_videos": found["pixel_values"],
        "video_position_ids": found["image_position_ids"],
        "num_frames_per_video": np.array(pictures.groups),
        "num_soft_tokens_per_video": tokens[first],
    }


def smol(c: Configuration, pictures: Sizes, channels: int) -> Plan:
    """Resized twice; shorter videos have zeros behind them, and masks of ones all the same."""
    c.refuse_if("video_sampling", "it changes the class's other keys")
    parts = frames(pictures)
    if c["do_resize"]:
        size, side, name = c.size(), c["max_image_size"]["longest_edge"], resampling(c)
        for number, part in enumerate(parts):
            if not (size.get("longest_edge") or size.get("height")):
                raise ValueError(f"{c.name}: size must have 'longest_edge', or 'height' and 'width'")
            longest = size.get("longest_edge")
            wanted = rules.longest_and_even(part.size, min(4096, longest)) if longest else by_keys(c, part.size)
            parts[number] = resized(resized(part, wanted, name), (side, side), name)
    values = table(c, channels)
    if not c["do_pad"]:
        return {"pixel_values": videos_of(c, parts, pictures, values)}
    parts = padded(parts)
    groups = in_groups(parts, pictures.groups)
    most = max(pictures.groups)
    windows = [window for group in groups for window in mask(group[:1]).windows * most]
    masks = Mask((len(groups), most, *parts[0].shape), np.dtype(np.int64), tuple(windows))
    return {"pixel_values": nested(groups, values, most), "pixel_attention_mask": masks}


def mini_cpm(c: Configuration, pictures: Sizes, channels: int) -> Plan:
    """Each frame whole, then in slices."""
    if c["stack_frames"] > 1:
        c.refuse("stack_frames", "frames are put together by their time stamps")
    patch, grids, counts = c["patch_size"], [], []
    made: list[Part] = []
    for part in (one for group in videos(c, pictures) for one in group):
        grid, parts = (0, 0), [part]
        if c["do_resize"]:
            grid, parts = p.sliced(c, part)
        made += parts
        grids.append(grid)
        counts.append(len(parts))
    sizes = [(part.size[0] // patch, part.size[1] // patch) for part in made]
    return {
        "pixel_values_videos": p.side_by_side(made, table(c, channels), patch),
        "target_sizes_videos": np.array(sizes, np.int32),
        "grids_videos": np.array(grids, np.int32),
        "num_patches_per_frame": np.array(counts, np.int32),
        "num_frames_per_video": list(pictures.groups),
    }
