"""Warnings that are nobody's: of values that NumPy is tried on, which need not occur.

``warnings.catch_warnings`` is for programs of one thread: of two that are inside together, the first to leave takes the
filters of the second away, and the second then sets what it found, for good. So a filter stands in front meanwhile that
matches in the threads that are quiet, and nowhere else.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["quiet"]


class _Here(threading.local):
    """Where a filter has a regular expression, whose `match` Python calls with the text of a warning."""

    depth = 0

    def match(self, text: str) -> bool:
        return self.depth > 0


_here = _Here()
_FILTER: Any = ("ignore", _here, Warning, None, 0)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """NumPy says nothing in this thread of values, such as those that need not occur."""
    filters: Any = warnings.filters
    _here.depth += 1
    filters.insert(0, _FILTER)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        _here.depth -= 1
        with contextlib.suppress(ValueError):  # another thread has set filters of its own
            filters.remove(_FILTER)
