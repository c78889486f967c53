"""One dimension of a layout: which of its indices a piece has, and where each of them comes from.

A run is a mixed radix. Its indices are ``first + sum(i[k] * digits[k].weight)``, and the element at such an index has its
source at ``src + sum(i[k] * digits[k].src)`` bytes, and its row of a table at ``row + sum(i[k] * digits[k].row)``. Weights are
above 0, the largest first; each is larger than all that the smaller ones add up to. Each function below takes a run apart where
a step cuts through its radix, and yields the parts in any order, in time that grows with parts and digits, not with extents.

Here and in `layout`, numbers may be those of a recorder (`numbers`): loops compare, where `range` would ask for plain ints.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = [
    "MOST_PARTS",
    "Digit",
    "Run",
    "TooManyPartsError",
    "every",
    "flipped",
    "shifted",
    "spread",
    "split",
    "tidy",
    "within",
]

MOST_PARTS = 1024  # that a step looks at, of one run or of an array


class TooManyPartsError(Exception):
    """A step would make more parts, or look for some among more: an intermediate result is written before it."""


class Digit(NamedTuple):
    """An axis: its extent, what it adds to the index, to the source's byte, and to the table's row."""

    extent: int
    weight: int
    src: int
    row: int = 0

    def times(self, count: int, by: int) -> Digit:
        """Each of `count` values is `by` of this digit's."""
        return Digit(count, self.weight * by, self.src * by, self.row * by)


class Run(NamedTuple):
    """Indices of a dimension and their sources."""

    first: int
    digits: tuple[Digit, ...] = ()
    src: int = 0
    row: int = 0

    @property
    def reach(self) -> int:
        """The last index less the first."""
        return _reach(self.digits)

    def put(self, k: int, at: int, *digits: Digit) -> Run:
        """Let digit k be `at` and more: that of the digits which take its place."""
        old = self.digits[k]
        kept = [digit for digit in (*self.digits[:k], *digits, *self.digits[k + 1 :]) if digit.extent > 1]
        kept.sort(key=_weight, reverse=True)
        return Run(self.first + at * old.weight, tuple(kept), self.src + at * old.src, self.row + at * old.row)


def _weight(digit: Digit) -> int:
    return digit.weight


def _reach(digits: tuple[Digit, ...]) -> int:
    return sum((digit.extent - 1) * digit.weight for digit in digits)


def tidy(run: Run) -> Run:
    """Merge digits that continue each other."""
    merged: list[Digit] = []
    for digit in sorted((digit for digit in run.digits if digit.extent > 1), key=_weight, reverse=True):
        outer = merged[-1] if merged else None
        if outer and outer[1:] == (digit.extent * digit.weight, digit.extent * digit.src, digit.extent * digit.row):
            merged[-1] = Digit(outer.extent * digit.extent, *digit[1:])
        else:
            merged.append(digit)
    return Run(run.first, tuple(merged), run.src, run.row)


def spread(extent: int) -> Run:
    """Every index of a dimension along which one element is repeated."""
    return Run(0, (Digit(extent, 1, 0),) if extent > 1 else ())


def shifted(run: Run, by: int) -> Run:
    """Add to every index."""
    return Run(run.first + by, *run[1:]) if by else run


def flipped(run: Run, size: int) -> Run:
    """Count the indices of a dimension of `size` from its other end."""
    src, row = run.src, run.row
    for digit in run.digits:
        src += (digit.extent - 1) * digit.src
        row += (digit.extent - 1) * digit.row
    digits = tuple(Digit(digit.extent, digit.weight, -digit.src, -digit.row) for digit in run.digits)
    return Run(size - 1 - run.first - run.reach, digits, src, row)


def within(run: Run, begin: int, end: int) -> Iterator[Run]:
    """Keep the indices of [begin, end)."""
    low, reach = begin - run.first, run.reach
    high = end - 1 - run.first  # the last offset that is kept
    if low <= 0 and reach <= high:
        yield run
    elif reach >= low and high >= 0 and run.digits:
        top = run.digits[0]
        below = reach - (top.extent - 1) * top.weight
        first, last = max(0, -(-low // top.weight)), min(top.extent, (high - below) // top.weight + 1)
        at, stop = max(0, -(-(low - below) // top.weight)), min(top.extent, high // top.weight + 1)
        if first < last:
            yield run.put(0, first, Digit(last - first, *top[1:]))
        else:
            first = last = stop
        # Smaller digits add up to less than a weight of this one, so at most one of its indices is cut at each end.
        for at, stop in ((at, first), (last, stop)):
            while at < stop:
                yield from within(run.put(0, at), begin, end)
                at = at + 1


def every(run: Run, step: int) -> Iterator[Run]:
    """Keep the indices that `step` divides, and divide them by it."""
    if step == 1:
        yield run
        return
    uneven = [k for k, digit in enumerate(run.digits) if digit.weight % step]
    if not uneven:
        if run.first % step == 0:
            yield _divided(run, run.digits, step)
        return
    index, last = -(-run.first // step) * step, run.first + run.reach
    multiples = (last - index) // step + 1
    # The smallest digit is taken apart first: it has the fewest indices to choose from.
    residues = _solutions(run, uneven[-1], step)
    if min(multiples, len(residues)) > MOST_PARTS:  # most of which may be empty
        raise TooManyPartsError
    if multiples < len(residues):
        while index <= last:
            for part in within(run, index, index + 1):
                yield _divided(part, (), step)
            index = index + step
    else:
        for at in residues:
            yield from every(_periodic(run, uneven[-1], at, step), step)


def _solutions(run: Run, k: int, step: int) -> range:
    """For which indices of digit k, of one period, `step` may divide the run's index, whatever those of the others are."""
    digit = run.digits[k]
    modulus = math.gcd(step, *(other.weight for other in run.digits if other is not digit))
    common = math.gcd(digit.weight, modulus)
    if run.first % common:
        return range(0)
    modulus //= common
    first = -run.first // common * pow(digit.weight // common, -1, modulus) % modulus
    return range(first, min(digit.extent, _period(digit, step)), modulus)


def _period(digit: Digit, modulus: int) -> int:
    """After so many indices of a digit, the residues come again."""
    return modulus // math.gcd(modulus, digit.weight)


def _periodic(run: Run, k: int, at: int, modulus: int) -> Run:
    """The indices of digit k that have the residue of index `at`."""
    digit = run.digits[k]
    period = _period(digit, modulus)
    return run.put(k, at, digit.times(-(-(digit.extent - at) // period), period))


def _divided(run: Run, digits: Iterable[Digit], by: int) -> Run:
    """Of the run's digits, these; indices are divided, and the rest of the first one is left out."""
    fewer = tuple(Digit(extent, weight // by, src, row) for extent, weight, src, row in digits)
    return Run(run.first // by, fewer, run.src, run.row)


def split(run: Run, size: int) -> Iterator[tuple[Run, Run]]:
    """Make two dimensions of one: the quotients of the indices by `size`, whose run has the sources, and the remainders."""
    rest = run.first % size
    low = tuple(digit for digit in run.digits if digit.weight % size)
    if rest + _reach(low) < size:
        yield _divided(run, (digit for digit in run.digits if not digit.weight % size), size), Run(rest, low)
        return
    k = run.digits.index(low[0])
    parts: Iterable[Run] = _blocks(run, k, size, _reach(low[1:]))
    if size % low[0].weight:
        parts = (_periodic(run, k, at, size) for at in range(min(low[0].extent, _period(low[0], size))))
    for part in parts:
        yield from split(part, size)


def _blocks(run: Run, k: int, size: int, below: int) -> Iterator[Run]:
    """Cut digit k, whose weight divides `size`, where the index passes a multiple of that; smaller digits add up to `below`."""
    digit = run.digits[k]
    period, rest = size // digit.weight, run.first % size
    position, rest = divmod(rest, digit.weight)
    # At so many positions of a block the smaller digits stay in the block; the others are fixed one by one.
    safe = max(0, (size - 1 - rest - below) // digit.weight + 1)
    head = min(digit.extent, -position % period)
    count, tail = divmod(digit.extent - head, period)
    for at, first, last, blocks in (
        (0, position, position + head, 1),
        (head, 0, period, count),
        (digit.extent - tail, 0, tail, 1),
    ):
        end = min(last, safe)
        if blocks and first < end:
            yield run.put(k, at, digit.times(blocks, period), Digit(end - first, *digit[1:]))
        if blocks:
            fixed = max(first, end)
            while fixed < last:
                yield run.put(k, at + fixed - first, digit.times(blocks, period))
                fixed = fixed + 1
