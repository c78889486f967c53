"""What a call becomes, before there are pixels: bytes are resized and cut, then moved through a table to their places.

A *block* is one picture's way into one result: steps of bytes, each a resize, a window or a turn, then a movement. A movement
is a list of axes, each of which advances in the bytes and in the result. Pixels have a shape, blocks and a table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

__all__ = [
    "Axis",
    "Block",
    "Mask",
    "Pixels",
    "Plan",
    "Resize",
    "Size",
    "Sizes",
    "Step",
    "Turn",
    "Window",
    "channels_first",
    "in_order",
    "size_after",
]

Size: TypeAlias = tuple[int, int]  # height, width
Array: TypeAlias = np.ndarray[Any, Any]


class Resize(NamedTuple):
    """Resize to height x width with a filter of the backend's library, or of the class's own."""

    height: int
    width: int
    filter: str
    antialias: bool = True
    gap: float | None = None  # Pillow's reducing_gap


class Window(NamedTuple):
    """Height x width items from (top, left), which may lie outside the picture.

    There the bytes are `fill`, one for all channels or one for each; "symmetric" mirrors the picture, its edge included.
    """

    top: int
    left: int
    height: int
    width: int
    fill: int | tuple[int, ...] | str = 0

    def inside(self, size: Size) -> tuple[int, int, int, int]:
        """Top, left, bottom and right of what lies in a picture of that size."""
        top, left = max(self.top, 0), max(self.left, 0)
        bottom, right = min(self.top + self.height, size[0]), min(self.left + self.width, size[1])
        return top, left, max(bottom, top), max(right, left)


class Turn(NamedTuple):
    """Turn by 90 degrees clockwise; height and width are those behind it."""

    height: int
    width: int


Step: TypeAlias = Resize | Window | Turn


class Axis(NamedTuple):
    """An axis of a movement: each of its steps goes so many rows, columns and channels on, and so many items in the result."""

    extent: int
    rows: int
    columns: int
    channels: int
    items: int


class Block(NamedTuple):
    picture: int  # its number among the call's pictures, of all videos one after another
    steps: tuple[Step, ...]
    first: int  # item of the result
    axes: tuple[Axis, ...]
    channel: int = 0  # of the first item

    @property
    def size(self) -> int:
        return math.prod(axis.extent for axis in self.axes)


class Pixels(NamedTuple):
    """A result that is made of pixels. What no block writes is zero, or `beyond`, along the last axis."""

    shape: tuple[int, ...]
    table: Array  # of the channels: 256 values each
    blocks: tuple[Block, ...]
    beyond: Array | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        found: np.dtype[Any] = self.table.dtype
        return found

    @property
    def is_full(self) -> bool:
        """Whether the blocks write every item."""
        return sum(block.size for block in self.blocks) == math.prod(self.shape)


class Mask(NamedTuple):
    """Ones where pictures are, a window of each (H, W), and zeros beyond. Each call makes it: kept with plans it is large."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    windows: tuple[Window, ...]

    def made(self, out: Array | None = None) -> Array:
        found = np.empty(self.shape, self.dtype) if out is None else out
        for index, (top, left, height, width, _) in zip(np.ndindex(self.shape[:-2]), self.windows, strict=True):
            each = found[index]
            each[:top] = each[top + height :] = 0
            rows = each[top : top + height]
            rows[:, :left] = rows[:, left + width :] = 0
            rows[:, left : left + width] = 1
        return found


class Sizes(list[Size]):
    """The pictures' sizes; `groups`: how many belong together, such as the frames of a video."""

    def __init__(self, sizes: Iterable[Size], groups: Sequence[int]) -> None:
        super().__init__(sizes)
        self.groups = tuple(groups)


# The results by name: Pixels; a list of these where shapes differ; or masks, arrays and numbers that follow from sizes alone.
Plan: TypeAlias = dict[str, Any]


def size_after(size: Size, steps: Sequence[Step]) -> Size:
    return (steps[-1].height, steps[-1].width) if steps else size


# --- movements ---


def in_order(axes: Sequence[tuple[int, int, int, int]]) -> tuple[Axis, ...]:
    """Axes that advance in the result as those of a C-contiguous array do."""
    found: list[Axis] = []
    items = 1
    for extent, rows, columns, channels in reversed(axes):
        found.append(Axis(extent, rows, columns, channels, items))
        items *= extent
    return tuple(reversed(found))


def channels_first(height: int, width: int, channels: Sequence[int], canvas: tuple[int, int] | None = None) -> tuple[Axis, ...]:
    """(C, H, W), in the top left of a canvas; `channels` in their order: all upwards or all downwards."""
    rows, columns = canvas or (height, width)
    step = channels[1] - channels[0] if len(channels) > 1 else 0
    return (
        Axis(len(channels), 0, 0, step, rows * columns),
        Axis(height, 1, 0, 0, columns),
        Axis(width, 0, 1, 0, 1),
    )
