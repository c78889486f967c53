"""Lists of transforms: timm's, open_clip's and torchvision's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dmlops.processors import sizes as rules
from dmlops.processors import value_tables
from dmlops.processors.configuration import Configuration
from dmlops.processors.parts import FILTERS, Part, check_channels, frames, stacked
from dmlops.processors.plans import Array, Plan, Resize, Size, Window

__all__ = ["transforms"]

_PILLOW = {names[0] for names in FILTERS.values()}


def transforms(c: Configuration, pictures: Sequence[Size], channels: int) -> Plan:
    """(N, C, H, W); a list where shapes differ."""
    parts, values = frames(pictures), value_tables.identity(channels)
    for step in c["transforms"]:
        if "scale" in step or "mean" in step:
            values = _values(c, values, step, channels)
        else:
            if values.dtype != np.uint8 and "center_crop" not in step:
                c.refuse("transforms", "it resizes floats")
            parts = [_moved(c, part, step, values) for part in parts]
    return {"pixel_values": stacked(parts, values)}


def _values(c: Configuration, values: Array, step: dict[str, Any], channels: int) -> Array:
    f = np.float32
    if "mean" in step:
        if values.dtype == np.uint8:
            raise TypeError(f"{c.name}: Normalize needs floats")
        check_channels(c, step["mean"], step["std"], channels)
        return value_tables.torchvision_normalized(values, step["mean"], step["std"])
    if values.dtype != np.uint8:
        return values  # floats are not scaled again
    floats = values.astype(f)
    scale = step["scale"]
    return floats if scale == "none" else floats / f(255) if scale == "divide" else floats * f(1 / 255)


def _moved(c: Configuration, part: Part, step: dict[str, Any], values: Array) -> Part:
    if "center_crop" in step:
        fill = step.get("fill", 0)
        if values.dtype != np.uint8 and any(outer > inner for outer, inner in zip(step["center_crop"], part.size, strict=True)):
            c.refuse("transforms", "a crop behind the values that is larger than the picture")
        return part.then(_crop(part.size, step["center_crop"], tuple(fill) if isinstance(fill, list) else fill))
    name = step["filter"]
    if "keep_ratio" in step:
        size = _kept(part.size, step["keep_ratio"], step["longest"])
    else:
        wanted = step["resize"]
        size = rules.shortest_edge(part.size, wanted) if isinstance(wanted, int) else (wanted[0], wanted[1])
    if min(size) < 1:
        raise ValueError(f"a picture of {part.size[0]} x {part.size[1]} would become one of {size[0]} x {size[1]}")
    if not c.is_pillow and (name in ("box", "hamming") or name.startswith("nearest")):
        c.refuse("transforms", f"the filter {name!r} of tensors")
    if c.is_pillow and name not in _PILLOW:
        c.refuse("transforms", f"Pillow has no filter {name!r}")
    return part if size == part.size else part.then(Resize(*size, name, step.get("antialias", True) or c.is_pillow))


def _kept(size: Size, wanted: Sequence[int], longest: float) -> Size:
    """ResizeKeepRatio of timm and open_clip."""
    ratios = size[0] / wanted[0], size[1] / wanted[1]
    ratio = max(ratios) * longest + min(ratios) * (1.0 - longest)
    return round(size[0] * 1.0 / ratio), round(size[1] * 1.0 / ratio)


def _crop(size: Size, wanted: Sequence[int], fill: Any) -> Window:
    """torchvision's center_crop: rounded half to even, a smaller picture in the middle."""
    before = [max((outer - inner) // 2, 0) for outer, inner in zip(wanted, size, strict=True)]
    whole = [max(outer, inner) for outer, inner in zip(wanted, size, strict=True)]
    first = [int(round((outer - inner) / 2.0)) for outer, inner in zip(whole, wanted, strict=True)]
    return Window(first[0] - before[0], first[1] - before[1], wanted[0], wanted[1], fill)
