"""Resizing by the nearest element: positions in rational numbers, and what they select of each axis."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dmlops.errors import shown
from dmlops.operators.axes import axes_of, ints_of

if TYPE_CHECKING:
    from dmlops._annotations import Array

__all__ = ["COORDINATES", "ROUNDINGS", "line", "positions", "simple_fraction", "steps_along", "steps_of"]

COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
)
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
_HALF = Fraction(1, 2)


def simple_fraction(value: float, single: bool = False) -> Fraction:
    """The quotient of small integers that rounds to a float, in `single` precision or double; else the float itself."""
    exact = Fraction(value)
    simple = exact.limit_denominator(1000)
    rounded = float(np.float32(float(simple))) if single else float(simple)
    return simple if rounded == value else exact


def line(coordinates: str, size: int, count: int, scale: Fraction) -> tuple[Fraction, Fraction]:
    """Where the result's first element lies in an axis of `size` elements, and how far its `count` elements are apart."""
    step = 1 / scale
    first = step / 2 - _HALF
    if coordinates == "asymmetric" or scale == 1:
        first = Fraction(0)
    elif coordinates == "align_corners":
        first, step = Fraction(0), Fraction(size - 1, max(count - 1, 1))
    elif coordinates == "tf_half_pixel_for_nn":
        first = step / 2
    elif coordinates == "pytorch_half_pixel" and count <= 1:
        first = Fraction(0)
    elif coordinates == "half_pixel_symmetric":
        first += (size - count * step) / 2
    return first, step


def _line_with_offsets(before: Fraction, after: Fraction, scale: Fraction) -> tuple[Fraction, Fraction]:
    """The same where ``result = (input + before) * scale + after``, as DirectML has it."""
    return -after / scale - before, 1 / scale


def positions(first: Fraction, step: Fraction, rounding: str, size: int, count: int) -> Array:
    """The nearest of `size` elements at ``first + k * step``, for each k below `count`."""
    if rounding == "round_prefer_floor":
        first -= _HALF
    elif rounding == "round_prefer_ceil":
        first += _HALF
    over, under = first.denominator * step.numerator, first.denominator * step.denominator
    k = np.arange(count, dtype=object) * over + first.numerator * step.denominator
    index = -(-k // under) if rounding in ("ceil", "round_prefer_floor") else k // under
    nearest: Array = index.clip(0, size - 1).astype(np.int64)
    return nearest


# --- arguments ----------------------------------------------------------------------------------------------------------


def _exact(value: Any, name: str) -> Fraction:
    """A number as a rational one."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool | np.bool_ | str | bytes) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be an int, a float or a Fraction, not {type(value).__name__}")
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, not {value}")
    if isinstance(value, int | np.integer):
        return Fraction(operator.index(value))
    return simple_fraction(float(value), single=isinstance(value, np.float32))


def _numbers_of(given: Any, count: int, name: str) -> list[Fraction]:
    """A number for each of `count` axes."""
    entries = list(given) if np.iterable(given) and not isinstance(given, str) else [given] * count
    if len(entries) != count:
        raise ValueError(f"{name} must have a number for each of {count} axes, not {len(entries)}")
    return [_exact(entry, name) for entry in entries]


def steps_of(
    shape: Sequence[int], sizes: Any, scales: Any, axes: Any, coordinates: Any, rounding: Any
) -> tuple[tuple[int, Any], ...]:
    """What ``sampling.selected`` does to resize an array of this shape."""
    along = axes_of(axes, len(shape))
    if sizes is None and scales is None:
        raise ValueError("sizes or scales must be given")
    if rounding not in ROUNDINGS:
        raise ValueError(f"rounding must be one of {', '.join(ROUNDINGS)}, not {shown(rounding)}")
    factors = None if scales is None else _numbers_of(scales, len(along), "scales")
    if factors is not None and min(factors, default=1) <= 0:
        raise ValueError(f"scales must be above 0, not {shown(scales)}")
    old = [shape[axis] for axis in along]
    counts = _counts_of(old, sizes, factors)
    if factors is None:
        factors = [Fraction(count, size) if count else Fraction(1) for count, size in zip(counts, old, strict=True)]
    offsets = _offsets_of(coordinates, len(along))
    steps: list[tuple[int, Any]] = []
    for k, (axis, size, count, scale) in enumerate(zip(along, old, counts, factors, strict=True)):
        if not count:
            steps.append((axis, slice(0, 0, 1)))
            continue
        first, step = _line_with_offsets(*offsets[k], scale) if offsets else line(coordinates, size, count, scale)
        which = _selection(positions(first, step, rounding, size, count), size)
        if which is not None:
            steps.append((axis, which))
    return _ordered(steps)


def steps_along(shape: Sequence[int], indices: Mapping[int, Array]) -> tuple[tuple[int, Any], ...]:
    """The same that takes these indices of some axes."""
    steps = [(axis, _selection(index, shape[axis])) for axis, index in indices.items()]
    return _ordered([step for step in steps if step[1] is not None])


def _ordered(steps: list[tuple[int, Any]]) -> tuple[tuple[int, Any], ...]:
    """What repeats comes last."""
    return tuple(sorted(steps, key=lambda step: isinstance(step[1], int)))


def _offsets_of(coordinates: Any, count: int) -> list[tuple[Fraction, Fraction]] | None:
    """The two offsets for each axis; None where the coordinates have a name."""
    if isinstance(coordinates, str):
        if coordinates not in COORDINATES:
            raise ValueError(f"coordinates must be one of {', '.join(COORDINATES)}, or two offsets, not {coordinates!r}")
        return None
    pair = tuple(coordinates)
    if len(pair) != 2:
        raise ValueError(f"coordinates must be a name or two offsets, not {shown(coordinates)}")
    before, after = (_numbers_of(one, count, "coordinates") for one in pair)
    return list(zip(before, after, strict=True))


def _counts_of(old: Sequence[int], sizes: Any, factors: Sequence[Fraction] | None) -> list[int]:
    """The result's size on each axis."""
    if sizes is None:
        return [math.floor(size * factor) for size, factor in zip(old, factors or (), strict=True)]
    counts = list(ints_of(sizes, "sizes"))
    if not np.iterable(sizes) or len(counts) != len(old) or min(counts, default=0) < 0:
        raise ValueError(f"sizes must have an int of 0 or more for each of {len(old)} axes, not {shown(sizes)}")
    if any(count and not size for count, size in zip(counts, old, strict=True)):
        raise ValueError(f"sizes {shown(list(old))} cannot become {shown(counts)}: an axis of size 0 has no element")
    return counts


def _selection(index: Array, size: int) -> Any:
    """An index of an axis for ``sampling.selected``: a slice, how often each element stands there, or ints; None for all."""
    times = len(index) // size
    if times and np.array_equal(index, np.arange(size * times) // times):
        return times if times > 1 else None
    apart = np.diff(index)
    if len(apart) and apart[0] > 0 and (apart == apart[0]).all():
        return slice(int(index[0]), int(index[-1]) + 1, int(apart[0]))
    if len(index) == 1:
        return slice(int(index[0]), int(index[0]) + 1, 1)
    return tuple(map(int, index))
