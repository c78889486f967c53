"""Resizing by the nearest element: positions in rational numbers, and what they select of each axis."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from dmlops.errors import shown
from dmlops.operators.axes import axes_of, ints_of

if TYPE_CHECKING:
    from dmlops._annotations import Array

__all__ = [
    "COORDINATES",
    "ROUNDINGS",
    "Indices",
    "Nearest",
    "Pattern",
    "Progression",
    "line",
    "nearest_of",
    "pattern_of",
    "positions",
    "progressions_of",
    "simple_fraction",
    "steps_along",
    "steps_of",
]

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


@dataclass(frozen=True)
class Indices:
    """Indices of an axis of `size` elements, as the bytes of 64-bit integers."""

    values: bytes
    size: int

    @property
    def count(self) -> int:
        return len(self.values) // 8

    def indices(self) -> Array:
        found: Array = np.frombuffer(self.values, np.int64)
        return found


@dataclass(frozen=True)
class Nearest:
    """For each k below `count`, index ``(first + k * step) // unit`` of an axis of `size` elements; beyond its ends, these."""

    first: int
    step: int
    unit: int
    size: int
    count: int

    def at(self, k: Any) -> Any:
        """Of an int, or of an array of them."""
        if not isinstance(k, int):
            most = abs(self.first) + self.count * self.step
            return self.at_objects(k) if most >= 1 << 62 else ((self.first + k * self.step) // self.unit).clip(0, self.size - 1)
        return min(max((self.first + k * self.step) // self.unit, 0), self.size - 1)

    def at_objects(self, k: Array) -> Array:
        index: Array = (self.first + k.astype(object) * self.step) // self.unit
        return index.clip(0, self.size - 1).astype(np.int64)

    def indices(self) -> Array:
        found: Array = self.at(np.arange(self.count))
        return found

    def begin(self, index: int) -> int:
        """The first k whose index is not below that one."""
        return min(max(-(-(index * self.unit - self.first) // self.step), 0), self.count) if self.step else 0


# An index, how far the following ones are apart, and how many there are.
Progression: TypeAlias = tuple[int, int, int]


class Pattern(NamedTuple):
    """Indices as progressions: `head`, then `period` so many times, each `apart` indices behind the one before, then `tail`."""

    head: tuple[Progression, ...]
    period: tuple[Progression, ...]
    times: int
    apart: int
    tail: tuple[Progression, ...]

    @property
    def all(self) -> tuple[Progression, ...]:
        return self.head + self.period + self.tail


@functools.lru_cache(256)
def pattern_of(line: Nearest | Indices) -> Pattern:
    """Takes time in the progressions: there are at most as many in a period as it has indices, or elements of the axis."""
    if isinstance(line, Indices):
        return _pattern_of_indices(line.indices())
    common = math.gcd(line.step, line.unit)
    outputs, apart = line.unit // common, line.step // common
    if apart == 0:
        return Pattern((), (), 0, 0, ((line.at(0), 0, line.count),))
    inside = line.begin(0) if line.first < 0 else 0
    last = line.begin(line.size)
    if apart < outputs and inside < last and (line.first + (inside - 1) * line.step) // line.unit == line.at(inside):
        inside = min(line.begin(line.at(inside) + 1), last)  # the period begins with the first copy of an element
    times = max(0, last - inside) // outputs
    end = inside + times * outputs
    period = _progressions(line, inside, inside + outputs) if times else ()
    head, tail = _progressions(line, 0, inside), (*_progressions(line, end, last), *_progressions(line, last, line.count))
    return Pattern(head, period, times, apart, tail)


def _pattern_of_indices(index: Array) -> Pattern:
    """Copies of one progression, if there are only these; else progressions one after the other."""
    progressions = tuple(progressions_of(index))
    first, step, size = progressions[0] if progressions else (0, 0, 1)
    apart, times = int(index[size]) - first if size < len(index) else 0, len(index) // size
    k = np.arange(times * size)
    if times < 2 or step <= 0 or apart <= 0 or (index[: len(k)] != first + k // size * apart + k % size * step).any():
        return Pattern((), (), 0, 0, progressions)
    return Pattern((), progressions[:1], times, apart, tuple(progressions_of(index[len(k) :])))


def _progressions(line: Nearest, begin: int, end: int) -> tuple[Progression, ...]:
    """The indices of [begin, end)."""
    if begin >= end:
        return ()
    if line.step < line.unit:  # by elements of the axis, each of which is there
        index = np.arange(line.at(begin), line.at(end - 1) + 1)
        begins = [begin, *(line.begin(one) for one in index[1:].tolist()), end]
        copies = np.diff(np.array(begins))
        if (copies > 1).any():
            return tuple((one, 0, count) for one, count in zip(index.tolist(), copies.tolist(), strict=True) if count)
    else:
        index = line.at(np.arange(begin, end))
    return tuple(progressions_of(index))


def progressions_of(index: Array) -> Iterator[Progression]:
    """Indices one after the other, as few progressions; in time that grows with these, but for NumPy's."""
    apart = np.diff(index)
    turns = (*np.flatnonzero(np.diff(apart)).tolist(), len(apart) - 1) if len(apart) else ()
    at = 0
    for turn in turns:  # the last place of a difference
        if turn >= at:
            yield int(index[at]), int(apart[at]), turn + 2 - at
            at = turn + 2
    if at < len(index):
        yield int(index[at]), 0, 1


def nearest_of(first: Fraction, step: Fraction, rounding: str, size: int, count: int) -> Nearest:
    """The nearest of `size` elements at ``first + k * step``, for each k below `count`."""
    if rounding == "round_prefer_floor":
        first -= _HALF
    elif rounding == "round_prefer_ceil":
        first += _HALF
    unit = math.lcm(first.denominator, step.denominator)
    start, apart = int(first * unit), int(step * unit)
    if rounding in ("ceil", "round_prefer_floor"):
        start += unit - 1
    return Nearest(start, apart, unit, size, count)


def positions(first: Fraction, step: Fraction, rounding: str, size: int, count: int) -> Array:
    """The same as an array."""
    return nearest_of(first, step, rounding, size, count).indices()


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
        which = _selection(nearest_of(first, step, rounding, size, count))
        if which is not None:
            steps.append((axis, which))
    return _ordered(steps)


def steps_along(shape: Sequence[int], indices: Mapping[int, Array]) -> tuple[tuple[int, Any], ...]:
    """The same that takes these indices of some axes."""
    steps = [(axis, _selection(Indices(index.astype(np.int64).tobytes(), shape[axis]))) for axis, index in indices.items()]
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


def _selection(line: Nearest | Indices) -> Any:
    """An index of an axis for ``sampling.selected``: a slice, how often each element stands there, or a line; None for all."""
    head, period, times, apart, tail = pattern_of(line)
    several = head + period * min(times, 2) + tail
    if line.size == 1:
        return line.count if line.count > 1 else None
    if times > 1 and several == period * 2 and len(period) == 1:
        index, _, copies = period[0]
        if copies == 1:
            several = ((index, apart, times),)
        elif (index, apart, times) == (0, 1, line.size):
            return copies
    if len(several) == 2 and several[0][2] == several[1][2] == 1 and times < 2:
        several = ((several[0][0], several[1][0] - several[0][0], 2),)
    if len(several) == line.size and all(one == (k, 0, several[0][2]) for k, one in enumerate(several)) and times < 2:
        return several[0][2]
    if len(several) == 1 and (several[0][1] > 0 or several[0][2] == 1):
        index, step, count = several[0]
        whole = slice(index, index + (count - 1) * step + 1, step or 1)
        return None if whole == slice(0, line.size, 1) else whole
    return line
