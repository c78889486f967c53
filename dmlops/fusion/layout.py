"""Where each element of an array comes from, as pieces; and what a movement makes of them.

A piece is a box of elements that one strided copy moves: it has a run for each dimension. A movement takes the pieces of its
operands, and yields those of its result: `view`, `take`, `windows`, `reshape` or `join`. All others are chains of these.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from dmlops.fusion.runs import MOST_PARTS, Digit, Run, TooManyPartsError, every, flipped, shifted, split, spread, tidy, within

__all__ = ["Along", "Piece", "Taken", "Windows", "gather", "join", "reshape", "take", "view", "whole", "windows"]


class Piece(NamedTuple):
    """Elements of an array, with their source.

    `source` counts the inputs of a pass; below 0 it is a constant. `table` counts the tables; below 0 there is none. `src` and
    `row` are the bytes and rows to which those of the runs are added.
    """

    source: int
    src: int
    dims: tuple[Run, ...]
    table: int = -1
    row: int = 0

    def put(self, dims: Iterable[Run]) -> Piece:
        """The same source with other dimensions, whose own offsets go to the piece."""
        runs, (source, src, _, table, row) = tuple(dims), self
        for run in runs:
            src += run.src
            row += run.row
        return Piece(source, src, tuple([Run(run.first, run.digits) for run in runs]), table, row)

    def shifted(self, axis: int, by: int) -> Piece:
        """The same elements further along an axis."""
        return self._replace(dims=(*self.dims[:axis], shifted(self.dims[axis], by), *self.dims[axis + 1 :]))


class Windows(NamedTuple):
    """Two dimensions along one axis: `extent` windows, `stride` apart, of `size` indices each, `dilation` apart."""

    axis: int
    size: int
    stride: int
    dilation: int
    extent: int


class Taken(NamedTuple):
    """Indices, so many times, each time `apart` further on: progressions of a first one, a step, and how many there are."""

    progressions: tuple[tuple[int, int, int], ...]
    times: int = 1
    apart: int = 0

    @property
    def period(self) -> int:
        return sum(count for _, _, count in self.progressions)


class Along(NamedTuple):
    """A dimension of a view: `extent` indices of an axis, `step` apart from `start` on; with no axis, one element repeated."""

    axis: int | None
    start: int
    step: int
    extent: int


def whole(source: int, shape: Sequence[int], strides: Sequence[int]) -> list[Piece]:
    """The pieces of an input itself, which has these strides in bytes."""
    if 0 in shape:
        return []
    runs = (Run(0, (Digit(size, 1, stride),) if size > 1 else ()) for size, stride in zip(shape, strides, strict=True))
    return [Piece(source, 0, tuple(runs))]


# --- movements ------------------------------------------------------------------------------------------------------


def view(pieces: Iterable[Piece], shape: Sequence[int], dims: Sequence[Along], fixed: dict[int, int]) -> Iterator[Piece]:
    """What basic indexing selects of an array of `shape`, with its axes in any order; `fixed` has the index on other axes."""
    known: list[dict[Run, list[Run]]] = [{} for _ in dims]  # pieces have many runs in common
    for piece in pieces:
        put = piece.put(())
        for axis, at in fixed.items():
            found = next(within(piece.dims[axis], at, at + 1), None)
            if found is None:
                break
            put = put.put([found])
        else:
            for runs in itertools.product(*map(partial(_choices, piece, shape), dims, known)):
                yield put.put(runs)


def _choices(piece: Piece, shape: Sequence[int], along: Along, known: dict[Run, list[Run]]) -> list[Run]:
    if along.axis is None:
        return [spread(along.extent)]
    run = piece.dims[along.axis]
    found = known.get(run)
    if found is None:
        found = known[run] = list(itertools.islice(_along(run, shape[along.axis], along), MOST_PARTS + 1))
        if len(found) > MOST_PARTS:
            raise TooManyPartsError
    return found


def _along(run: Run, size: int, along: Along) -> Iterator[Run]:
    _, start, step, extent = along
    if step < 0:
        run, start, step = flipped(run, size), size - 1 - start, -step
    for part in within(run, start, start + (extent - 1) * step + 1):
        yield from every(shifted(part, -start), step)


def take(pieces: Sequence[Piece], size: int, axis: int, taken: Taken) -> Iterator[Piece]:
    """Indices of an axis, which has that size."""
    if len(pieces) > 1 and len(pieces) * len(taken.progressions) > 64 * MOST_PARTS:  # most of which have nothing in common
        raise TooManyPartsError
    period = taken.period
    for piece in pieces:
        at = 0
        for progression in taken.progressions:
            for outer, inner in _periods(piece.dims[axis], size, progression, taken):
                digits = tuple(digit._replace(weight=digit.weight * period) for digit in outer.digits)
                first, src, row = at + outer.first * period + inner.first, outer.src + inner.src, outer.row + inner.row
                run = Run(first, digits + inner.digits, src, row)
                yield piece.put((*piece.dims[:axis], run, *piece.dims[axis + 1 :]))
            at += progression[2]


def _periods(run: Run, size: int, progression: tuple[int, int, int], taken: Taken) -> Iterator[tuple[Run, Run]]:
    """A progression in each period: the periods, and what is in one of them."""
    index, step, count = progression
    if taken.times == 1 and step:
        for part in _along(run, size, Along(None, index, step, count)):
            yield Run(0), part
    elif step == 0:
        for part in _along(run, size, Along(None, index, taken.apart or 1, taken.times)):
            yield part, spread(count)
    else:
        yield from _windows(shifted(run, -index), Windows(0, count, taken.apart, step, taken.times))


def windows(pieces: Iterable[Piece], along: Windows) -> Iterator[Piece]:
    """Windows of an axis; their elements become the last dimension."""
    known: dict[Run, list[tuple[Run, Run]]] = {}
    for piece in pieces:
        dims, axis = piece.dims, along.axis
        found = known.get(dims[axis])
        if found is None:
            found = known[dims[axis]] = list(itertools.islice(_windows(dims[axis], along), MOST_PARTS + 1))
            if len(found) > MOST_PARTS:
                raise TooManyPartsError
        for outer, inner in found:
            yield piece.put((*dims[:axis], outer, *dims[axis + 1 :], inner))


def _windows(run: Run, along: Windows) -> Iterator[tuple[Run, Run]]:
    """Whole windows at once, if the run's indices have no gaps; of those that it has a part of each window, or each element of
    them all: what is less."""
    _, size, stride, dilation, count = along
    gaps = len(run.digits) > 1 or any(digit.weight > 1 for digit in run.digits)
    begin, end, inner = run.first, run.first + run.reach, (size - 1) * dilation
    low, high = max(0, -(-(begin - inner) // stride)), min(count, end // stride + 1)  # windows that have an index of the run
    first = last = low  # those that have indices of the run alone
    if not gaps and begin <= end - inner:
        first, last = max(0, -(-begin // stride)), min(count, (end - inner) // stride + 1)
    if first < last:
        digit = run.digits[0] if run.digits else Digit(1, 1, 0)
        at = first * stride - begin
        windows = Run(first, (Digit(last - first, 1, stride * digit.src, stride * digit.row),) * (last - first > 1))
        elements = Run(0, (Digit(size, 1, dilation * digit.src, dilation * digit.row),) * (size > 1))
        yield windows._replace(src=run.src + at * digit.src, row=run.row + at * digit.row), elements
    else:
        first = last = low
    cut = [(start, stop) for start, stop in ((low, first), (last, high)) if start < stop]
    total = sum([stop - start for start, stop in cut])
    if min(total, size) > MOST_PARTS:
        raise TooManyPartsError
    if total <= size:
        for window, stop in cut:
            while window < stop:
                for part in _along(run, 0, Along(None, window * stride, dilation, size)):
                    yield Run(window), part
                window = window + 1
    else:
        for element, (start, stop) in itertools.product(range(size), cut):
            for part in _along(run, 0, Along(None, element * dilation + start * stride, stride, stop - start)):
                yield shifted(part, start), Run(element)


def reshape(pieces: Iterable[Piece], shape: Sequence[int], new_shape: Sequence[int]) -> Iterator[Piece]:
    """The same elements in the same order, as an array of another shape."""
    for piece in pieces:
        first, digits, stride = 0, [], math.prod(shape)
        for size, run in zip(shape, piece.dims, strict=True):
            stride //= size
            first += run.first * stride
            digits += [Digit(extent, weight * stride, src, row) for extent, weight, src, row in run.digits]
        for dims in _unravelled(tidy(Run(first, tuple(digits))), new_shape):
            yield piece.put(map(tidy, dims))


def _unravelled(run: Run, shape: Sequence[int]) -> Iterator[tuple[Run, ...]]:
    if len(shape) <= 1:
        yield (run,) if shape else ()
        return
    for high, low in split(run, shape[-1]):
        for dims in _unravelled(high, shape[:-1]):
            yield (*dims, low)


def join(parts: Iterable[tuple[Iterable[Piece], int]], axis: int) -> Iterator[Piece]:
    """Arrays one behind another; each part is its pieces and its size on the axis."""
    at = 0
    for pieces, size in parts:
        for piece in pieces:
            yield piece.shifted(axis, at)
        at += size


# --- fewer pieces ---------------------------------------------------------------------------------------------------


def gather(pieces: list[Piece]) -> list[Piece]:
    """Make one piece of those that continue each other at even distances along one dimension."""
    rank = len(pieces[0].dims) if len(pieces) > 1 else 0
    for axis in range(rank):
        alike: dict[object, list[Piece]] = {}
        for piece in pieces:
            run = piece.dims[axis]
            others = (*piece.dims[:axis], run.digits, *piece.dims[axis + 1 :])
            alike.setdefault((piece.source, piece.table, others), []).append(piece)
        if len(alike) < len(pieces):
            pieces = [piece for group in alike.values() for piece in _progressions(group, axis)]
    return pieces


def _progressions(group: list[Piece], axis: int) -> Iterator[Piece]:
    group.sort(key=lambda piece: piece.dims[axis].first)
    begin = 0
    while begin < len(group):
        end = begin + 1
        while end < len(group) and _apart(group, axis, end - 1) == _apart(group, axis, begin):
            end += 1
        found = _as_one(group[begin], axis, _apart(group, axis, begin), end - begin) if end - begin > 1 else None
        if found:
            yield found
            begin = end
        else:
            yield group[begin]
            begin += 1


def _apart(group: list[Piece], axis: int, k: int) -> tuple[int, int, int]:
    """How far piece k + 1 is from piece k: in index, byte and row."""
    if k + 1 >= len(group):
        return 0, 0, 0
    one, other = group[k], group[k + 1]
    return other.dims[axis].first - one.dims[axis].first, other.src - one.src, other.row - one.row


def _as_one(piece: Piece, axis: int, apart: tuple[int, int, int], count: int) -> Piece | None:
    """The piece and those behind it; None where their indices would not be nested."""
    run = piece.dims[axis]
    digits = tidy(run._replace(digits=(*run.digits, Digit(count, *apart)))).digits
    reach = 0
    for digit in reversed(digits):
        if digit.weight <= reach:
            return None
        reach += (digit.extent - 1) * digit.weight
    return piece._replace(dims=(*piece.dims[:axis], run._replace(digits=digits), *piece.dims[axis + 1 :]))
