"""Movements of a picture's bytes into a result: lists of axes (see plans)."""

from __future__ import annotations

from collections.abc import Sequence

from dmlops.processors.plans import Axis

__all__ = ["channels_first", "in_order"]


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
