"""Steps of bytes, for pictures of known sizes: what several results have in common is made once.

A call has a list of arrays: its pictures, and behind them what each step makes of an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from dmlops.processors import resizing
from dmlops.processors.plans import Array, Resize, Size, Step, Turn, Window, size_after

__all__ = ["Made", "Way", "steps_of", "window"]

Way: TypeAlias = tuple[int, tuple[Step, ...]]  # a picture, and the steps behind it
Maker: TypeAlias = Callable[[Array, Any], Array]  # of an array, on a device


class Made(NamedTuple):
    """An array that is made of an earlier one of the list."""

    of: int
    maker: Maker


def steps_of(ways: Iterable[Way], sizes: Sequence[Size], backend: str, version: str) -> tuple[list[Made], dict[Way, int]]:
    """What to make in turn, and where in the list each way ends.

    Of a resize that only one window is cut from, only that window is made.
    """
    builder = _Builder(dict.fromkeys(ways), sizes, backend, version)
    return builder.made, {way: builder.place(way) for way in builder.ways}


class _Builder:
    def __init__(self, ways: dict[Way, None], sizes: Sequence[Size], backend: str, version: str) -> None:
        self.ways = ways
        self.sizes = sizes
        self.library = backend, version
        self.made: list[Made] = []
        self.places: dict[Way, int] = {(number, ()): number for number in range(len(sizes))}
        self.behind: dict[Way, set[Step | None]] = {}  # what follows each way; None: it ends there
        for picture, steps in ways:
            for count, step in enumerate((*steps, None)):
                self.behind.setdefault((picture, steps[:count]), set()).add(step)

    def place(self, way: Way) -> int:
        found = self.places.get(way)
        if found is None:
            picture, steps = way
            cut = self._cut(way)
            before, step = (steps[:-2], steps[-2]) if cut else (steps[:-1], steps[-1])
            maker = self._maker(size_after(self.sizes[picture], before), step, cut)
            self.made.append(Made(self.place((picture, before)), maker))
            found = self.places[way] = len(self.sizes) + len(self.made) - 1
        return found

    def _cut(self, way: Way) -> Window | None:
        """The window that alone is needed of the resize before it."""
        picture, steps = way
        if len(steps) < 2 or not isinstance(steps[-1], Window) or not isinstance(steps[-2], Resize):
            return None
        window, resize = steps[-1], steps[-2]
        inside = min(window.top, window.left) >= 0 and (
            window.top + window.height <= resize.height and window.left + window.width <= resize.width
        )
        return window if inside and self.behind[picture, steps[:-1]] == {window} else None

    def _maker(self, size: Size, step: Step, cut: Window | None) -> Maker:
        if isinstance(step, Resize):
            return resizing.resizer(size, step, cut, *self.library)
        if isinstance(step, Turn):
            return lambda picture, device: np.rot90(picture, 3)
        return lambda picture, device: window(picture, step)


def window(picture: Array, step: Window) -> Array:
    """A view where the window lies in the picture."""
    height, width, channels = picture.shape
    top, left, bottom, right = step.inside((height, width))
    inner = picture[top:bottom, left:right]
    if inner.shape[:2] == (step.height, step.width):
        return inner
    if step.fill == "symmetric":
        return np.pad(picture, ((0, step.height - height), (0, step.width - width), (0, 0)), mode="symmetric")
    outer = np.empty((step.height, step.width, channels), picture.dtype)
    outer[:] = step.fill
    outer[top - step.top : bottom - step.top, left - step.left : right - step.left] = inner
    return outer
