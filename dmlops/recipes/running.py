"""What recipes have in common: steps by OpenCV's rule, and plans that are kept and run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from dmlops import _core
from dmlops.processors.arguments import outputs
from dmlops.processors.execution import Work
from dmlops.processors.kept import Kept
from dmlops.processors.parts import Part, resized, stacked
from dmlops.processors.plans import Array, Pixels, Plan, Size

__all__ = ["kept", "on_value", "prepared", "resized_linear"]

_MOST_PLANS, _MOST_BYTES = 256, 32 << 20  # of one recipe, each for one list of sizes and its arguments

Planned: TypeAlias = Callable[..., Work]


def kept(rule: Callable[..., Plan]) -> Planned:
    """A function of sizes and arguments that gives the work of their plan, made once.

    Pillow's version does not matter: what recipes resize by Pillow gets as much smaller in height as in width. Arguments that
    make infinite values, or none, are refused.
    """
    works = Kept(_MOST_PLANS, _MOST_BYTES)

    def planned(sizes: tuple[Size, ...], *options: Any) -> Work:
        work: Work | None = works.get((sizes, options))
        if work is None:
            with np.errstate(all="ignore"):
                plan = rule(sizes, *options)
            if not all(map(_is_finite, plan.values())):
                raise ValueError(f"the means, deviations and other numbers make values beyond all floats: {options}")
            work = Work(plan, sizes, "pil", "13.0")
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
    names = [name for name, result in work.plan.items() if _pixels(result)]
    return work.run(pictures, outputs(out, work.plan, names, ", not "), device)


def _pixels(result: Any) -> list[Pixels]:
    """A result that is pixels, or a list of these; else none."""
    return [one for one in (result if isinstance(result, list) else [result]) if isinstance(one, Pixels)]


def _is_finite(result: Any) -> bool:
    found = [table for one in _pixels(result)[:1] for table in (one.table, one.beyond) if table is not None]
    return all(np.isfinite(table).all() for table in found)
