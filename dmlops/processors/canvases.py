"""Which canvas of tiles a picture gets: how many rows and columns. Each rule is its class's, with its ties."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dmlops.processors.plans import Size

__all__ = [
    "Step3",
    "best_resolution",
    "by_aspect_ratio",
    "by_scale",
    "covering",
    "fitted_down",
    "fitted_up",
    "llama4",
    "mllama",
    "mllama_ratios",
    "perception",
    "step3",
]


def _grids(least: int, most: int, side: int | None = None) -> list[tuple[int, int]]:
    """(columns, rows), fewest tiles first."""
    sides = range(1, (side or most) + 1)
    return sorted(((w, h) for w in sides for h in sides if least <= w * h <= most), key=lambda grid: grid[0] * grid[1])


def by_aspect_ratio(size: Size, tile: Size, least: int, most: int, side: int | None = None) -> tuple[int, int]:
    """(columns, rows) of GotOcr2 and others: the nearest aspect ratio; of equals a larger one if half of it is filled."""
    height, width = size
    best, difference = (1, 1), float("inf")
    for grid in _grids(least, most, side):
        found = abs(width / height - grid[0] / grid[1])
        if found < difference:
            best, difference = grid, found
        elif found == difference and width * height > 0.5 * tile[0] * tile[1] * grid[0] * grid[1]:
            best = grid
    return best


def by_scale(size: Size, tile: int, most: int) -> tuple[int, int]:
    """(columns, rows) of Cohere2Vision: the least enlargement, else the least reduction."""
    grids = _grids(1, most)
    scales = np.min(np.array(grids) * tile / np.array([size[1], size[0]]), axis=-1, keepdims=True)
    if np.all(scales < 1):
        return grids[int(np.argmax(scales))]
    return grids[int(np.argmin(np.where(scales < 1.0, 10e9, scales)))]


def covering(size: Size, side: int, most: int) -> tuple[int, int]:
    """(columns, rows) of Ovis2, which divides the height by the columns here: the fewest tiles that keep 0.9 of the pixels."""
    height, width = size
    found = []
    for grid in _grids(1, most):
        regions = _regions(height, width, grid)
        found.append((grid, sum(_covered(*one, side) for one in regions) / (width * height)))
    enough = [one for one in found if one[1] > 0.9]
    if enough:
        return min(enough, key=lambda one: (one[0][0] * one[0][1], -one[1]))[0]
    return min(found, key=lambda one: (-one[1], one[0][0] * one[0][1]))[0]


def _regions(height: int, width: int, grid: tuple[int, int]) -> list[tuple[int, int, int, int]]:
    rows, columns = height // grid[0], width // grid[1]
    return [
        (
            column * columns,
            row * rows,
            width if column == grid[1] - 1 else (column + 1) * columns,
            height if row == grid[0] - 1 else (row + 1) * rows,
        )
        for row in range(grid[0])
        for column in range(grid[1])
    ]


def _covered(left: int, upper: int, right: int, lower: int, side: int) -> float:
    long, short = max(right - left, lower - upper), float(min(right - left, lower - upper))
    return side * (short / long * side) if long > side else long * short


def best_resolution(size: Size, resolutions: Sequence[Sequence[int]]) -> Size:
    """select_best_resolution: the most pixels that are kept, then the fewest that are wasted."""
    height, width = size
    best, kept, wasted = (0, 0), 0, float("inf")
    for rows, columns in resolutions:
        scale = min(columns / width, rows / height)
        pixels = min(int(width * scale) * int(height * scale), width * height)
        waste = rows * columns - pixels
        if pixels > kept or (pixels == kept and waste < wasted):
            best, kept, wasted = (rows, columns), pixels, waste
    return best


def fitted_up(size: Size, canvas: Size) -> Size:
    """get_patch_output_size: the other side is rounded up."""
    by_width, by_height = canvas[1] / size[1], canvas[0] / size[0]
    if by_width < by_height:
        return min(math.ceil(size[0] * by_width), canvas[0]), canvas[1]
    return canvas[0], min(math.ceil(size[1] * by_height), canvas[1])


def fitted_down(size: Size, canvas: Size) -> Size:
    """get_max_res_without_distortion of Llama 4."""
    by_width, by_height = canvas[1] / size[1], canvas[0] / size[0]
    if by_width < by_height:
        return max(min(math.floor(size[0] * by_width), canvas[0]), 1), max(canvas[1], 1)
    return max(canvas[0], 1), max(min(math.floor(size[1] * by_height), canvas[1]), 1)


def _by_ratio(most: int) -> dict[float, list[tuple[int, int]]]:
    """All grids of at most so many tiles, by the quotient of their two numbers; more tiles first."""
    found: dict[float, list[tuple[int, int]]] = {}
    for count in range(most, 0, -1):
        for first in (one for one in range(1, count + 1) if count % one == 0):
            found.setdefault(first / (count // first), []).append((first, count // first))
    return found


def llama4(size: Size, tile: int, most: int, largest: bool) -> Size:
    """The canvas of Llama 4: the least enlargement, or the greatest if `largest`; scales are compared in float32."""
    canvases = np.array([(rows * tile, columns * tile) for one in _by_ratio(most).values() for rows, columns in one])
    heights, widths = (canvases[:, k].astype(np.float32) / np.float32(size[k]) for k in (0, 1))
    scales = np.where(heights > widths, widths, heights)
    up = scales[scales >= 1]
    scale = (up.max() if largest else up.min()) if len(up) else scales[scales < 1].max()
    chosen = canvases[scales == scale]
    best = chosen[np.argmin(chosen.prod(1))]
    return int(best[0]), int(best[1])


def mllama_ratios(most: int) -> list[tuple[int, int]]:
    sides = range(1, most + 1)
    return [(w, h) for w in sides for h in sides if w * h <= most]


def mllama(size: Size, most: int, tile: int) -> tuple[Size, Size]:
    """The canvas of Mllama, and the size within it."""
    canvases = np.array(mllama_ratios(most)) * tile
    by_height, by_width = canvases[:, 0] / size[0], canvases[:, 1] / size[1]
    scales = np.where(by_width > by_height, by_height, by_width)
    up = scales[scales >= 1]
    chosen = canvases[scales == (up.min() if len(up) else scales[scales < 1].max())]
    best = chosen[np.argmin(chosen.prod(1))]
    canvas = int(best[0]), int(best[1])
    height, width = (min(max(length, tile), outer) for length, outer in zip(size, canvas, strict=True))
    if width / size[1] < height / size[0]:
        return canvas, (min(math.floor(size[0] * (width / size[1])) or 1, height), width)
    return canvas, (height, min(math.floor(size[1] * (height / size[0])) or 1, width))


def perception(size: Size, tile: int, most: int) -> tuple[int, int]:
    """(columns, rows) of PerceptionLM: the canvas that holds the picture as large as can be, else the nearest ratio below."""
    height, width = size
    scale = width / height
    best: tuple[int, int] | None = None
    kept: tuple[float, float] = (0, 0)
    ratios = _by_ratio(most)
    for columns, rows in (grid for grids in ratios.values() for grid in grids):
        if columns * tile < width or rows * tile < height:
            continue
        found = _inside(width, height, columns * tile, rows * tile)
        if best is None or (scale < 1.0 and found[0] >= kept[0]) or (scale >= 1.0 and found[1] >= kept[1]):
            best, kept = (columns, rows), found
    if best:
        return best
    if scale >= 1:
        ratio = min((one for one in ratios if one <= scale), key=lambda one: abs(one - scale))
        return max(ratios[ratio], key=lambda grid: grid[0])
    ratio = min((one for one in ratios if one > scale), key=lambda one: abs(1 / one - 1 / scale))
    return max(ratios[ratio], key=lambda grid: grid[1])


def _inside(width: int, height: int, most_width: int, most_height: int) -> tuple[float, float]:
    scale, factor = width / height, min(most_width / width, most_height / height)
    if scale > 1.0:
        return factor * width, math.floor(factor * width / scale)
    return math.floor(factor * height * scale), factor * height


class Step3(NamedTuple):
    """What Step-3 makes of a size: a square first, the whole picture's size, that which is cut, and into which windows."""

    square: bool
    size: Size
    crop: Size
    window: int
    rows: int
    columns: int


def step3(size: Size, whole: int, side: int, most: int) -> Step3:
    height, width = size
    square = min(size) < 32 and max(width / height, height / width) > 4
    if square:
        height = width = max(size)
    if max(height, width) > most:
        scale = most / max(height, width)
        height, width = int(height * scale), int(width * scale)
    short, long = min(height, width), max(height, width)
    if long <= whole:
        window = short if long / short > 1.5 else 0
    else:
        window = min(short, side) if long / short > 4 else side
    if window == 0:
        return Step3(square, (height, width), (height, width), 0, 0, 0)

    def whole_windows(length: int) -> int:
        return window * (length // window + (length % window > 0.2 * window)) if length >= window else length

    crop = whole_windows(height), whole_windows(width)
    return Step3(square, (height, width), crop, window, max(1, crop[0] // window), max(1, crop[1] // window))
