"""How many bytes a call reads and writes, counted on its steps, and said in words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

__all__ = ["Traffic"]

_UNITS = ((10**9, "GB"), (10**6, "MB"), (10**3, "KB"))


class Traffic:
    """Bytes that are read and written. An element that is read for many places counts once."""

    def __init__(self) -> None:
        self.read, self.written = 0, 0

    def add(self, read_item: int, written_item: int, axes: Iterable[Any]) -> None:
        """A strided copy; `read_item` is 0 where it repeats a constant.

        An axis begins with extent and strides of source and destination. A fourth number is the stride of entries, which are
        indices or lengths: other entries read other elements.
        """
        listed = [tuple(axis) for axis in axes]
        self.read += read_item * math.prod(axis[0] for axis in listed if axis[1] or (len(axis) > 3 and axis[3]))
        self.written += written_item * math.prod(axis[0] for axis in listed)

    def __str__(self) -> str:
        return f"reads {_size(self.read)} and writes {_size(self.written)}"


def _size(count: int) -> str:
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} byte{'s' * (count != 1)}"
