"""Functions of arrays that are several of NumPy's, and one step of a trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dmlops.operators.nearest import Indices, Nearest
from dmlops.structure import is_recorded

__all__ = ["recorded", "resized", "windowed"]


def recorded(function: Callable[..., Any], x: Any, *args: Any) -> Any:
    """Call a function that a trace has as one step. Arrays that are NumPy's know no trace."""
    traced = is_recorded(x) and not isinstance(x, np.ndarray)
    return x.__array_function__(function, (), (x, *args), {}) if traced else function(x, *args)


def windowed(x: Any, axis: int, size: int, stride: int, dilation: int, count: int) -> Any:
    """`count` windows of an axis, whose elements become the last axis."""
    found: Any = np.lib.stride_tricks.sliding_window_view(x, (size - 1) * dilation + 1, axis, subok=True)
    return found[(*(slice(None),) * axis, slice(0, (count - 1) * stride + 1, stride), ..., slice(None, None, dilation))]


def resized(x: Any, axis: int, line: Nearest | Indices) -> Any:
    """The elements of an axis that a line names."""
    return np.take(x, line.indices(), axis)
