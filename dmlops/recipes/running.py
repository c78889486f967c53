"""What recipes have in common: steps by OpenCV's rule, and how a plan runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dmlops import _core
from dmlops.processors import execution
from dmlops.processors.parts import Part, resized
from dmlops.processors.plans import Array, Pixels, Plan, Size

__all__ = ["LINEAR", "prepared", "resized_linear"]

LINEAR = "opencv linear"


def resized_linear(part: Part, size: Size) -> Part:
    """cv2.resize with INTER_LINEAR."""
    return resized(part, size, LINEAR)


def prepared(plan: Plan, pictures: Sequence[Array], out: Mapping[str, Any] | None, device: Any) -> dict[str, Any]:
    """The results of a plan. Pillow's version does not matter for what gets as much smaller in height as in width."""
    device = _core._automatic_default() if device is None else device
    found, given = execution.Bytes(pictures, "pil", "13.0", device), dict(out or {})
    pixels = [name for name, result in plan.items() if _is_pixels(result)]
    if unknown := sorted(set(given) - set(pixels)):
        raise ValueError(f"out has {', '.join(map(repr, unknown))}, not {', '.join(map(repr, pixels))}")
    return {
        name: _made(result, found, given.get(name), device) if name in pixels else _copied(result)
        for name, result in plan.items()
    }


def _is_pixels(result: Any) -> bool:
    return isinstance(result, Pixels) or (isinstance(result, list) and bool(result) and isinstance(result[0], Pixels))


def _made(result: Any, found: execution.Bytes, out: Any, device: Any) -> Any:
    if isinstance(result, Pixels):
        return execution.moved(result, found, out, device)
    if out is not None and len(out) != len(result):
        raise ValueError(f"out has {len(out)} arrays, the result {len(result)}")
    into = [None] * len(result) if out is None else out
    return [execution.moved(one, found, array, device) for one, array in zip(result, into, strict=True)]


def _copied(result: Any) -> Any:
    return result.copy() if isinstance(result, (list, np.ndarray)) else result
