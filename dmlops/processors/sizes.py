"""Sizes: (height, width) of what comes from (height, width) of what was given, by each library's rule, to the last rounding.

The names of files are those of transformers 5.24.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from dmlops.processors.plans import Size

__all__ = [
    "best_resize",
    "bounded_pixels",
    "bounded_volume",
    "by_area",
    "by_bisection",
    "fitting",
    "halved",
    "is_large",
    "lfm2",
    "longest_and_even",
    "longest_edge",
    "navit",
    "nearest_grid",
    "pixel_budget",
    "refined",
    "shortest_and_longest",
    "shortest_edge",
    "sliced_grid",
    "upwards",
    "with_least_sides",
    "within_budget",
    "yolos",
]


def shortest_edge(size: Size, edge: int) -> Size:
    """image_transforms.get_resize_output_image_size; torchvision's Resize(int), Levit, timm and open_clip do the same."""
    height, width = size
    short, long = (width, height) if width <= height else (height, width)
    other = int(edge * long / short)
    return (other, edge) if width <= height else (edge, other)


def shortest_and_longest(size: Size, edge: int, most: int) -> Size:
    """image_transforms.get_size_with_aspect_ratio: the bound is rounded, the other side is not."""
    height, width = size
    edge, factor = _capped(size, edge, most)
    if (height <= width and height == edge) or (width <= height and width == edge):
        return size
    if width < height:
        return int(factor * height / width), edge
    return edge, int(factor * width / height)


def _capped(size: Size, edge: int, most: int) -> tuple[int, float]:
    """The edge, or a smaller one for which the longer side is `most`: rounded, and as it is."""
    low, high = float(min(size)), float(max(size))
    if high / low * edge <= most:
        return edge, edge
    raw = most * low / high
    return int(round(raw)), raw


def fitting(size: Size, height: int, width: int) -> Size:
    """image_utils.get_image_size_for_max_height_width."""
    scale = min(height / size[0], width / size[1])
    return int(size[0] * scale), int(size[1] * scale)


def longest_edge(size: Size, edge: int) -> Size:
    """SamImageProcessor: rounded half up."""
    scale = edge * 1.0 / max(size)
    return int(size[0] * scale + 0.5), int(size[1] * scale + 0.5)


def longest_and_even(size: Size, longest: int) -> Size:
    """The longer side is `longest`, the other one even: Idefics3 and SmolVLM."""
    height, width = size
    ratio = width / height
    if width >= height:
        width, height = longest, int(longest / ratio)
        height += height % 2
    else:
        height, width = longest, int(longest * ratio)
        width += width % 2
    return max(height, 1), max(width, 1)


def upwards(size: Sequence[int], divisor: int) -> Size:
    """The next multiples of a divisor."""
    return -(-size[0] // divisor) * divisor, -(-size[1] // divisor) * divisor


def bounded_pixels(size: Size, factor: int, least: int, most: int, frames: int = 1, times: int = 1) -> Size:
    """smart_resize of Qwen2-VL: sides are multiples of a factor, their product lies within bounds; also `times` of it."""
    if max(size) / min(size) > 200:
        raise ValueError(f"absolute aspect ratio must be smaller than 200, got {max(size) / min(size)}")
    return _bounded(size, 0, factor, least, most, frames, times)


def _bounded(size: Size, side: int, factor: int, least: int, most: int, frames: int = 1, times: int = 1) -> Size:
    """The nearest multiples of a factor, at least `side`; others where these are beyond the bounds."""
    height, width = size
    rows, columns = (max(side, round(length / factor) * factor) for length in size)
    if times * rows * columns > most:
        beta = math.sqrt((frames * height * width) / most)
        return max(factor, math.floor(height / beta / factor) * factor), max(factor, math.floor(width / beta / factor) * factor)
    if times * rows * columns < least:
        beta = math.sqrt(least / (frames * height * width))
        return math.ceil(height * beta / factor) * factor, math.ceil(width * beta / factor) * factor
    return rows, columns


def yolos(size: Size, edge: int, most: int) -> Size:
    """YolosImageProcessor: as shortest_and_longest, then down to multiples of 16."""
    height, width = size
    if width < height and width == edge:  # no early return there
        edge, factor = _capped(size, edge, most)
        found = int(factor * height / width), edge
    else:
        found = shortest_and_longest(size, edge, most)
    return found[0] - found[0] % 16, found[1] - found[1] % 16


def bounded_volume(size: Size, frames: int, time: int, factor: int, least: int, most: int) -> Size:
    """smart_resize of Glm4v: the bounds are of frames x height x width; what is below a factor is enlarged first."""
    if frames < time:
        raise ValueError(f"t:{frames} must be larger than temporal_factor:{time}")
    height, width = size
    if height < factor or width < factor:
        scale = max(factor / height, factor / width)
        height, width = int(height * scale), int(width * scale)
    return bounded_pixels((height, width), factor, least, most, frames, round(frames / time) * time)


def with_least_sides(size: Size, factor: int, least: int, most: int) -> Size:
    """smart_resize of PaddleOCR-VL: sides below the factor are enlarged first, with the aspect ratio."""
    height, width = size
    if height < factor:
        height, width = factor, round((width * factor) / height)
    if width < factor:
        height, width = round((height * factor) / width), factor
    return bounded_pixels((height, width), factor, least, most)


def halved(size: Size, factor: int, least: int, most: int) -> Size:
    """smart_resize of GLM-Image: bounds of the sides, then half of each."""
    height, width = size
    if height < factor or width < factor:
        raise ValueError(f"height:{height} or width:{width} must be larger than factor:{factor}")
    if max(size) / min(size) > 4:
        raise ValueError(f"absolute aspect ratio must be smaller than 4, got {max(size) / min(size)}")
    shortest, longest = int(round(math.sqrt(least))), int(round(math.sqrt(most)))
    scale = 1.0
    if min(size) < shortest:
        scale = shortest / min(size)
    if max(size) * scale > longest:
        scale = longest / max(size)
    rows = max(factor, int(round(height // 2 * scale / factor)) * factor)
    columns = max(factor, int(round(width // 2 * scale / factor)) * factor)
    if max(rows, columns) > longest:
        beta = max(rows, columns) / longest
        rows = max(factor, int(math.floor(rows / beta / factor)) * factor)
        columns = max(factor, int(math.floor(columns / beta / factor)) * factor)
    return rows, columns


def within_budget(size: Size, frames: int, time: int, factor: int, least: int, most: int) -> Size:
    """smart_resize of GLM-5: aligned upwards; the greatest content whose aligned volume fits, by bisection."""
    least, most = least * time * factor**2, most * time * factor**2
    height, width = size

    def align(value: int) -> int:
        return math.ceil(value / factor) * factor

    times = max(time, round(frames / time) * time)
    rows, columns = align(height), align(width)
    if times * rows * columns < least:
        scale = math.sqrt(least / (frames * height * width))
        rows, columns = align(max(1, math.ceil(height * scale))), align(max(1, math.ceil(width * scale)))
    if times * rows * columns <= most:
        return rows, columns
    if most < times * factor**2:
        raise ValueError(f"max_pixels={most} is too small: one patch has {times * factor**2}")
    low, high, best = 1, height, (factor, factor)
    while low <= high:
        middle = (low + high) // 2
        candidate = align(middle), align(max(1, math.floor(width * middle / height)))
        if times * candidate[0] * candidate[1] <= most:
            best, low = candidate, middle + 1
        else:
            high = middle - 1
    return best


def nearest_grid(size: Size, patch: int, most: int) -> Size:
    """smart_resize of MuseGlimmer: of the grids around the ideal one, that with the nearest aspect ratio."""
    rows, columns = size[0] / patch, size[1] / patch
    ratio = columns / rows if rows > 0 else 1.0
    if rows * columns > most:
        rows = (most / ratio) ** 0.5
        columns = rows * ratio
    # In the order of a set of pairs, as the original has it: of equals the first counts.
    pairs = set(itertools.product([math.floor(rows), math.ceil(rows)], [math.floor(columns), math.ceil(columns)]))
    found = [one for one in pairs if one[0] >= 1 and one[1] >= 1 and one[0] * one[1] <= most]
    found = found or [(max(1, round(rows)), max(1, round(columns)))]
    best = min(found, key=lambda grid: abs(grid[0] / grid[1] - size[0] / size[1]))
    return best[0] * patch, best[1] * patch


def by_bisection(size: Size, patch: int, most: int, eps: float = 1e-5) -> Size:
    """get_image_size_for_max_num_patches of SigLIP 2."""

    def scaled(scale: float, length: int) -> int:
        return int(max(patch, math.ceil(length * scale / patch) * patch))

    low, high = eps / 10, 100.0
    while high - low >= eps:
        scale = (low + high) / 2
        if scaled(scale, size[0]) / patch * (scaled(scale, size[1]) / patch) <= most:
            low = scale
        else:
            high = scale
    return scaled(low, size[0]), scaled(low, size[1])


def by_area(size: Size, patch: int, most: int, pooling: int) -> Size:
    """get_aspect_ratio_preserving_size of Gemma 4: as many patches as there may be, down to multiples of pooling x patch."""
    height, width = size
    target = most * patch**2
    factor = math.sqrt(target / (height * width))
    side = pooling * patch
    rows, columns = int(math.floor(factor * height / side)) * side, int(math.floor(factor * width / side)) * side
    if rows == 0 and columns == 0:
        raise ValueError(f"a picture of {height} x {width} would become one of 0 x 0")
    longest = most // pooling**2 * side
    if rows == 0:
        rows, columns = side, min(int(math.floor(width / height)) * side, longest)
    elif columns == 0:
        rows, columns = min(int(math.floor(height / width)) * side, longest), side
    if rows * columns > target:
        raise ValueError(f"a picture of {height} x {width} would become one of {rows} x {columns}, more than {most} patches")
    return rows, columns


def navit(size: Size, patch: int, merge: int, most: int, longest: int) -> tuple[Size, Size]:
    """navit_resize of Kimi: never enlarged; the size, and that with its padding."""
    height, width = size
    count = max(1.0, height // patch) * max(1.0, width // patch)
    scale = min(1.0, math.sqrt(most / count), longest * patch / height, longest * patch / width)
    found = [min(max(1, int(length * scale)), longest * patch) for length in size]
    factor = merge * patch
    frame = [(factor - length % factor) % factor + length for length in found]
    return (found[0], found[1]), (frame[0], frame[1])


def pixel_budget(size: Size, most_side: int | None, least: int | None, most: int | None) -> Size:
    """get_resize_output_size of NeoMME."""
    height, width = size
    scale = (least / (height * width)) ** 0.5 if least is not None and height * width < least else 1.0
    if most_side is not None:
        scale = min(scale, most_side / max(size))
    if most is not None:
        scale = min(scale, (most / (height * width)) ** 0.5)
    if scale == 1.0:
        return size

    def exceeds(rows: int, columns: int) -> bool:
        return (most_side is not None and max(rows, columns) > most_side) or (most is not None and rows * columns > most)

    rows, columns = max(1, round(height * scale)), max(1, round(width * scale))
    if exceeds(rows, columns):
        rows, columns = max(1, math.floor(height * scale)), max(1, math.floor(width * scale))
        if most is not None and rows * columns > most:
            if rows >= columns:
                rows = max(1, most // columns)
            else:
                columns = max(1, most // rows)
        return rows, columns
    if least is not None and height * width < least and rows * columns < least:
        up = max(1, math.ceil(height * scale)), max(1, math.ceil(width * scale))
        return (rows, columns) if exceeds(*up) else up
    return rows, columns


def lfm2(size: Size, factor: int, least: int, most: int) -> Size:
    """smart_resize of LFM2-VL: bounds are of tokens; at least one factor a side."""
    return _bounded(size, factor, factor, least * factor**2, most * factor**2)


def is_large(size: Size, patch: int, down: int, most: int, tolerance: float) -> bool:
    """Whether LFM2-VL cuts a picture."""
    factor = patch * down
    rows, columns = (max(patch, round(length / factor) * factor) for length in size)
    return rows * columns > most * patch**2 * down**2 * tolerance


# --- MiniCPM-V ---


def _whole(length: float, divisor: int) -> int:
    return max(round(length / divisor) * divisor, divisor)


def best_resize(size: tuple[float, float], resolution: int, factor: int, grows: bool) -> Size:
    height, width = size
    if height * width > resolution * resolution or grows:
        ratio = width / height
        height = int(resolution / math.sqrt(ratio))
        width = int(height * ratio)
    return _whole(height, factor), _whole(width, factor)


def refined(size: Size, grid: tuple[int, int], resolution: int, factor: int) -> Size:
    tile = _whole(size[0], grid[0]) / grid[0], _whole(size[1], grid[1]) / grid[1]
    best = best_resize(tile, resolution, factor, True)
    return best[0] * grid[0], best[1] * grid[1]


def sliced_grid(size: Size, most: int, resolution: int) -> tuple[int, int] | None:
    """(rows, columns); None: the picture stays whole."""
    height, width = size
    ratio = math.log(width / height)
    count = min(math.ceil(width * height / (resolution * resolution)), most)
    if count <= 1:
        return None
    best, error = (1, 1), float("inf")
    for slices in (count - 1, count, count + 1):
        if slices == 1 or slices > most:
            continue
        for rows in (one for one in range(1, slices + 1) if slices % one == 0):
            found = abs(ratio - math.log(slices // rows / rows))
            if found < error or (found == error and rows > best[0]):
                best, error = (rows, slices // rows), found
    return best
