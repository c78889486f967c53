"""Parts: what one picture, or one tile of it, becomes; and how parts are put together to results.

A part is the bytes of a picture behind some steps, in a frame whose rest is zero. Tables of values belong to the result.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlops.processors import value_tables
from dmlops.processors.configuration import Configuration
from dmlops.processors.plans import Array, Block, Mask, Pixels, Resize, Size, Step, Window, channels_first

__all__ = [
    "FILTERS",
    "Part",
    "centre_crop",
    "check_channels",
    "cut",
    "frames",
    "in_groups",
    "in_tiles",
    "mask",
    "nested",
    "one_by_one",
    "padded",
    "padded_to_size",
    "resampling",
    "rescaled",
    "resized",
    "stacked",
    "table",
    "table_of",
]

# Of Pillow's numbers, which transformers' files have. The second: torchvision's word for it.
FILTERS = {
    0: ("nearest", "nearest-exact"),
    1: ("lanczos", "lanczos"),
    2: ("bilinear", "bilinear"),
    3: ("bicubic", "bicubic"),
    4: ("box", None),
    5: ("hamming", None),
}


class Part(NamedTuple):
    picture: int
    size: Size  # of the bytes behind the steps
    steps: tuple[Step, ...]
    frame: Size | None = None
    at: tuple[int, int] = (0, 0)  # where in the frame

    @property
    def shape(self) -> Size:
        return self.frame or self.size

    def within(self, frame: Size, at: tuple[int, int] = (0, 0)) -> Part:
        if self.size[0] + at[0] > frame[0] or self.size[1] + at[1] > frame[1]:
            raise ValueError(f"padding dimensions are negative: {self.size} does not fit into {frame}")
        return self._replace(frame=frame, at=at)

    def then(self, step: Step) -> Part:
        if isinstance(step, Window) and (step.top, step.left, step.height, step.width) == (0, 0, *self.size):
            return self
        return self._replace(steps=(*self.steps, step), size=(step.height, step.width))


def frames(sizes: Sequence[Size]) -> list[Part]:
    """The pictures as they are."""
    return [Part(number, size, ()) for number, size in enumerate(sizes)]


def in_groups(parts: Sequence[Part], groups: Sequence[int]) -> list[list[Part]]:
    """So many parts together."""
    found, rest = [], list(parts)
    for count in groups:
        found.append(rest[:count])
        rest = rest[count:]
    return found


def cut(part: Part, rows: int, columns: int, tile: Size) -> list[Part]:
    """Tiles, row by row."""
    places = [(row * tile[0], column * tile[1]) for row in range(rows) for column in range(columns)]
    return [part.then(Window(*place, *tile)) for place in places]


def in_tiles(part: Part, rows: int, columns: int, tile: Size, name: str) -> list[Part]:
    """Resized to so many tiles, and cut into them."""
    return cut(resized(part, (rows * tile[0], columns * tile[1]), name), rows, columns, tile)


def resampling(c: Configuration, key: str = "resample") -> str:
    """The filter's name, in the backend's library."""
    number = 2 if c[key] is None else c[key]
    if number not in FILTERS:
        raise ValueError(f"{c.name}: {key} must be a number of Pillow's filters, 0 to 5, not {number!r}")
    name = FILTERS[number][0 if c.is_pillow else 1]
    if name is None:
        c.refuse(key, f"torchvision has no filter {FILTERS[number][0]!r}")
    if name == "nearest-exact":
        c.refuse(key, "torchvision's nearest filter of uint8 depends on memory layout and instruction set")
    return name


def rescaled(c: Configuration, channels: int) -> Array:
    """Rescaling alone."""
    return table_of(c, channels, _factor(c), None, None)


def _factor(c: Configuration) -> float | None:
    return c.needed("rescale_factor") if c["do_rescale"] else None


def table(c: Configuration, channels: int) -> Array:
    """Rescaling and normalising, as most classes do it."""
    factor = _factor(c)
    mean, std = (c.needed("image_mean"), c.needed("image_std")) if c["do_normalize"] else (None, None)
    check_channels(c, mean, std, channels)
    return table_of(c, channels, factor, mean, std)


def table_of(c: Configuration, channels: int, factor: float | None, mean: Any, std: Any) -> Array:
    """The same with these numbers; None: that step is not there."""
    mean, std = (tuple(one) if isinstance(one, list) else one for one in (mean, std))
    return _table(c.is_pillow, channels, factor, mean, std)


@functools.lru_cache(64)
def _table(is_pillow: bool, channels: int, factor: float | None, mean: Any, std: Any) -> Array:
    """Of all plans of a configuration: to make it takes longer than the rest of a plan."""
    make = value_tables.pillow_table if is_pillow else value_tables.torchvision_table
    found = make(channels, factor, mean, std)
    found.flags.writeable = False
    return found


def check_channels(c: Configuration, mean: object, std: object, channels: int) -> None:
    for key, value in (("image_mean", mean), ("image_std", std)):
        if isinstance(value, (list, tuple)) and len(value) != channels:
            raise ValueError(
                f"{c.name}: {key} must have {channels} elements, as many as the picture has channels, not {len(value)}"
                + "; convert the picture to RGB, or leave its fourth channel out" * (channels == 4)
            )


def centre_crop(size: Size, crop: dict[str, int], is_pillow: bool) -> Window:
    """image_transforms.center_crop, or that of TorchvisionBackend: a window, beyond a smaller picture with zeros around it."""
    if not {"height", "width"} <= set(crop):
        raise ValueError(f"crop_size must have the keys 'height' and 'width', not {', '.join(map(repr, crop))}")
    wanted = int(crop["height"]), int(crop["width"])
    if not is_pillow:
        places = []
        for length, side in zip(size, wanted, strict=True):
            places.append(int((max(side, length) - side) / 2.0) - max((side - length) // 2, 0))
        return Window(places[0], places[1], *wanted)
    first = [(length - side) // 2 for length, side in zip(size, wanted, strict=True)]
    if first[0] >= 0 and first[1] >= 0:
        return Window(first[0], first[1], *wanted)
    found = []
    for length, side, start in zip(size, wanted, first, strict=True):
        before = math.ceil((max(side, length) - length) / 2)
        begin = max(0, start + before)
        found.append((begin - before, min(max(side, length), start + before + side) - begin))
    return Window(found[0][0], found[1][0], found[0][1], found[1][1])


# --- results ---


def block(part: Part, first: int, channels: Sequence[int]) -> Block:
    axes = channels_first(*part.size, channels, part.shape)
    row, column = part.at
    return Block(part.picture, part.steps, first + row * part.shape[1] + column, axes, channels[0])


def stacked(
    parts: Sequence[Part], values: Array, lead: tuple[int, ...] | None = None, channels: Sequence[int] | None = None
) -> Pixels | list[Pixels]:
    """(N, C, H, W); or a list of (C, H, W) where shapes differ. `lead`: instead of N; `channels`: in another order."""
    channels = range(len(values)) if channels is None else channels
    shapes = {part.shape for part in parts}
    if len(shapes) > 1:
        return one_by_one(parts, values, channels)
    height, width = shapes.pop()
    items = len(channels) * height * width
    blocks = tuple(block(part, number * items, channels) for number, part in enumerate(parts))
    return Pixels((*(lead or (len(parts),)), len(channels), height, width), values, blocks)


def one_by_one(parts: Sequence[Part], values: Array, channels: Sequence[int] | None = None) -> list[Pixels]:
    """A list of (C, H, W)."""
    channels = range(len(values)) if channels is None else channels
    return [Pixels((len(channels), *part.shape), values, (block(part, 0, channels),)) for part in parts]


def nested(
    groups: Sequence[Sequence[Part]], values: Array, most: int | None = None, shape: Size | None = None
) -> Pixels:
    """(N, most, C, H, W): the parts of each group, and zeros behind them."""
    most = most or max(map(len, groups))
    height, width = shape or next(part.shape for group in groups for part in group)
    channels = range(len(values))
    items = len(channels) * height * width
    blocks = []
    for number, group in enumerate(groups):
        blocks += [block(part, (number * most + place) * items, channels) for place, part in enumerate(group)]
    return Pixels((len(groups), most, len(channels), height, width), values, tuple(blocks))


def padded(parts: Sequence[Part], frame: Size | None = None) -> list[Part]:
    """In the top left of frames of one size: a given one, or the largest height and width."""
    frame = frame or (max(part.size[0] for part in parts), max(part.size[1] for part in parts))
    return [part.within(frame) for part in parts]


def padded_to_size(c: Configuration, parts: Sequence[Part]) -> list[Part]:
    """The same in frames of `pad_size`, where the configuration has it."""
    wanted = c.size("pad_size") if c["pad_size"] is not None else None
    return padded(parts, (wanted["height"], wanted["width"]) if wanted else None)


def mask(parts: Sequence[Part], dtype: type = np.int64) -> Mask:
    """(N, H, W): 1 where there are pixels."""
    windows = tuple([Window(*part.at, *part.size) for part in parts])
    return Mask((len(parts), *parts[0].shape), np.dtype(dtype), windows)


def resized(part: Part, size: Size, name: str) -> Part:
    """No step where the size stays."""
    if min(size) < 1:
        raise ValueError(f"a picture of {part.size[0]} x {part.size[1]} would become one of {size[0]} x {size[1]}")
    return part if size == part.size else part.then(Resize(*size, name))
