"""What recipes have in common: steps by OpenCV's rule, and plans that are kept and run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from dmlops import _core
from dmlops.processors.execution import Work
from dmlops.processors.kept import Kept
from dmlops.processors.parts import Part, resized, stacked
from dmlops.processors.plans import Array, Pixels, Plan, Size

__all__ = ["kept", "on_value", "prepared", "resized_linear"]

_MOST_PLANS, _MOST_BYTES = 256, 32 << 20  # of one recipe, each for one list of sizes and its arguments

Planned: TypeAlias = Callable[..., Work]


def kept(rule: Callable[..., Plan]) -> Planned:
    """A function of sizes and arguments that gives the work of their plan, made once.

    Pillow's version does not matter: what recipes resize by Pillow gets as much smaller in height as in width.
    """
    works = Kept(_MOST_PLANS, _MOST_BYTES)

    def planned(sizes: tuple[Size, ...], *options: Any) -> Work:
        work: Work | None = works.get((sizes, options))
        if work is None:
            work = Work(rule(sizes, *options), sizes, "pil", "13.0")
            works.put((sizes, options), work, work.nbytes)
        return work

    return planned


def resized_linear(part: Part, size: Size) -> Part:
    """cv2.resize with INTER_LINEAR."""
    return resized(part, size, "opencv linear")


def on_value(parts: Sequence[Part], table: Array, order: Sequence[int], value: Any) -> Pixels:
    """(N, C, H, W) of parts in frames of one size, whose rest is `value`."""
    pixels = stacked(parts, table, None, order)
    assert isinstance(pixels, Pixels)
    return pixels._replace(beyond=np.array([value], table.dtype))


def prepared(work: Work, pictures: Sequence[Array], out: Mapping[str, Any] | None, device: Any) -> dict[str, Any]:
    """The results by their names."""
    device = _core._automatic_default() if device is None else device
    given = dict(out or {})
    pixels = [name for name, result in work.plan.items() if _is_pixels(result)]
    if unknown := sorted(set(given) - set(pixels)):
        raise ValueError(f"out has {', '.join(map(repr, unknown))}, not {', '.join(map(repr, pixels))}")
    return work.run(pictures, given, device)


def _is_pixels(result: Any) -> bool:
    return isinstance(result, Pixels) or (isinstance(result, list) and bool(result) and isinstance(result[0], Pixels))
