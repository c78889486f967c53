"""Runs: what each function of dmlops.fusion.runs keeps, counted index by index; and how much work it takes."""

import itertools
import random

import pytest
from dmlops.fusion.runs import Digit, Run, TooManyPartsError, every, flipped, split, tidy, within
from hypothesis import given
from hypothesis import strategies as st

pytestmark = [pytest.mark.driverless]

HUGE = 1 << 40


def elements(run):
    """Each index of a run, with its source and row."""
    found = []
    for at in itertools.product(*(range(digit.extent) for digit in run.digits)):
        sums = [sum(i * digit[k] for i, digit in zip(at, run.digits, strict=True)) for k in (1, 2, 3)]
        found.append((run.first + sums[0], run.src + sums[1], run.row + sums[2]))
    return sorted(found)


def all_of(parts):
    return sorted(itertools.chain.from_iterable(map(elements, parts)))


def drawn(draw):
    """A run of nested digits, with its size."""
    digits, reach = [], 0
    for _ in range(draw.randrange(4)):
        extent, weight = draw.randrange(2, 7), reach + draw.choice([1, 1, 1, 2, 3, 7])
        digits.insert(0, Digit(extent, weight, draw.randrange(-9, 9), draw.randrange(3)))
        reach += (extent - 1) * weight
    first = draw.randrange(9)
    return Run(first, tuple(digits), draw.randrange(9), draw.randrange(9)), first + reach + 1 + draw.randrange(5)


@given(seed=st.integers(0, 1 << 32))
def test_each_index_is_kept_once(seed):
    draw = random.Random(seed)
    run, size = drawn(draw)
    begin, end = sorted(draw.randrange(-2, size + 3) for _ in range(2))
    assert all_of(within(run, begin, end)) == [one for one in elements(run) if begin <= one[0] < end]
    step = draw.choice([1, 2, 3, 4, 5, 6, 7, 12, 35, 100])
    assert all_of(every(run, step)) == [(k // step, *rest) for k, *rest in elements(run) if k % step == 0]
    assert elements(flipped(run, size)) == sorted((size - 1 - k, *rest) for k, *rest in elements(run))
    assert elements(tidy(run)) == elements(run)
    found = []
    for high, low in split(run, step):
        found += [(h * step + k, a + c, b + d) for h, a, b in elements(high) for k, c, d in elements(low)]
        assert all(0 <= k < step for k, *_ in elements(low))
    assert sorted(found) == elements(run)


@given(seed=st.integers(0, 1 << 32))
def test_a_window_makes_two_parts_a_digit(seed):
    draw = random.Random(seed)
    run, size = drawn(draw)
    begin, end = sorted(draw.randrange(-2, size + 3) for _ in range(2))
    assert len(list(within(run, begin, end))) <= max(1, 2 * len(run.digits))


# --- extents that no loop ends with ---------------------------------------------------------------------------------


def test_windows_of_huge_extents():
    one = Run(0, (Digit(HUGE, 1, 1),))
    assert list(within(one, 5, HUGE - 3)) == [Run(5, (Digit(HUGE - 8, 1, 1),), 5)]
    two = Run(0, (Digit(HUGE, 10, 7), Digit(3, 2, 100)))
    parts = list(within(two, 12, 10 * HUGE - 7))
    assert [len(part.digits) for part in parts] == [2, 1, 1]
    assert parts[0] == Run(20, (Digit(HUGE - 3, 10, 7), Digit(3, 2, 100)), 14)


@pytest.mark.parametrize(
    ("run", "step", "count"),
    [
        (Run(3, (Digit(HUGE, 1, 1),)), HUGE // 2, 1),
        (Run(0, (Digit(HUGE, 7, 1),)), 1_000_003, 1),
        (Run(0, (Digit(HUGE, 10, 1), Digit(10, 1, 1 << 50))), 10_000_000_000, 1),
        (Run(0, (Digit(50, HUGE, 1), Digit(HUGE - 1, 1, 9))), HUGE // 3 * 7, 22),
        (Run(1, (Digit(HUGE, 2, 1),)), 1_000_000, 0),
    ],
    ids=range(5),
)
def test_steps_through_huge_extents(run, step, count):
    parts = list(every(run, step))
    assert len(parts) == count
    for part in parts:
        ends = [part.first, part.first + part.reach]
        assert all(next(within(run, end * step, end * step + 1)).first == end * step for end in ends)


def test_a_search_that_would_be_long_is_not_begun():
    with pytest.raises(TooManyPartsError):
        list(every(Run(0, (Digit(HUGE, HUGE + 1, 1), Digit(HUGE, 1, 1))), 1_000_003))
