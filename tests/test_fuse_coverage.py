"""Compiled programs are refused when they are made, unless their steps write every element of every result once."""

import array
import itertools
import random

import numpy as np
import pytest
from dmlops import _core
from hypothesis import given
from hypothesis import strategies as st

pytestmark = [pytest.mark.driverless]

FILL = -1


def made(shapes, steps, dtype="u1"):
    """A program of steps (result, [(dim, first, extent, stride), ...]) that write a constant."""
    ints = array.array("q")
    for dst, axes in steps:
        ints.extend((FILL, dst, 0, 0, -1, 0, -1, len(axes)))
        for axis in axes:
            ints.extend((*axis, 0, 0))
    arrays = tuple((np.dtype(dtype), tuple(shape), (0,) * len(shape)) for shape in shapes)
    return _core._compile(arrays, 0, ints.tobytes(), bytes(16))


def is_taken(shapes, steps, dtype="u1"):
    try:
        made(shapes, steps, dtype)
    except ValueError as error:
        assert "does not write every element of result" in str(error)
        return False
    return True


def indices(axes, dim):
    """Those of one dimension that a step writes; one several times, if its digits say so."""
    own = [axis for axis in axes if axis[0] == dim]
    return [
        sum(first + k * stride for (_, first, _, stride), k in zip(own, at, strict=True))
        for at in itertools.product(*(range(axis[2]) for axis in own))
    ]


def counts(shape, steps, result=0):
    """How often each element is written, counted one by one."""
    found = np.zeros(shape, int)
    for dst, axes in steps:
        if dst == result:
            np.add.at(found, np.ix_(*(indices(axes, dim) for dim in range(len(shape)))), 1)
    return found


# --- by hand --------------------------------------------------------------------------------------------------------

WHOLE = {
    "at once": ((6, 4), [[(0, 0, 6, 1), (1, 0, 4, 1)]]),
    "even and odd": ((6, 4), [[(0, at, 3, 2), (1, 0, 4, 1)] for at in (0, 1)]),
    "digits": ((24,), [[(0, at, 3, 8), (0, 0, 2, 2)] for at in (0, 1, 4, 5)]),
    "one by one": ((3,), [[(0, at, 1, 0)] for at in (2, 0, 1)]),
    "digits that are not nested": ((6,), [[(0, 0, 2, 2), (0, 0, 2, 3)], [(0, 1, 2, 3)]]),
    "no axes": ((), [[]]),
    "an axis of one index": ((1, 2), [[(1, 0, 2, 1)]]),
    "nothing": ((3, 0), []),
    "a large one": ((1 << 20, 1 << 20), [[(0, at, 1 << 19, 2), (1, 0, 1 << 20, 1)] for at in (0, 1)]),
}
WRONG = {
    "a hole": ((6,), [[(0, 0, 5, 1)]]),
    "nothing written": ((6,), []),
    "twice": ((6,), [[(0, 0, 6, 1)]] * 2),
    "twice here and never there": ((6,), [[(0, 0, 5, 1)], [(0, 3, 1, 0)]]),
    "twice here and never there, in the same row": ((4, 4), [[(0, 0, 4, 1), (1, 0, 3, 1)], [(0, 0, 4, 1), (1, 1, 1, 0)]]),
    "the sums of all indices are right": ((6,), [[(0, 0, 1, 0)], [(0, 2, 2, 1)], [(0, 2, 2, 1)], [(0, 5, 1, 0)]]),
    "an index several times": ((6,), [[(0, 0, 2, 0), (0, 0, 6, 1)]]),
    "an index so often that it is once, modulo the prime": ((6,), [[(0, 0, 1 << 61, 0), (0, 0, 6, 1)]]),
    "digits that meet": ((6,), [[(0, 0, 3, 1), (0, 0, 2, 2)], [(0, 5, 1, 0)]]),
    "a step to what is empty": ((0,), [[]]),
    "one of 2**40": ((1 << 20, 1 << 20), [[(0, 0, 1 << 20, 1), (1, 0, (1 << 20) - 1, 1)]]),
}


@pytest.mark.parametrize("name", WHOLE)
def test_right_programs_are_taken(name):
    shape, steps = WHOLE[name]
    assert is_taken([shape], [(0, axes) for axes in steps])


@pytest.mark.parametrize("name", WRONG)
def test_wrong_programs_are_refused(name):
    shape, steps = WRONG[name]
    assert not is_taken([shape], [(0, axes) for axes in steps])


def test_each_of_several_results_is_looked_at():
    whole = [(0, 0, 6, 1)]
    assert is_taken([(6,), (6,)], [(1, whole), (0, whole)])
    with pytest.raises(ValueError, match="every element of result 0"):
        made([(6,), (6,)], [(1, whole), (1, whole)])
    with pytest.raises(ValueError, match="every element of result 1"):
        made([(6,), (6,)], [(0, whole), (1, [(0, 0, 3, 2)])])


def test_items_without_bytes_need_not_be_written():
    assert is_taken([(6,)], [], "V0")


# --- by chance ------------------------------------------------------------------------------------------------------


def partition(draw, boxes, most):
    """Cut boxes at random: a box has digits (extent, weight) and a first index in each dimension."""
    for _ in range(most):
        box = boxes.pop(draw.randrange(len(boxes)))
        dim = draw.randrange(len(box))
        first, digits = box[dim]
        large = [k for k, digit in enumerate(digits) if digit[0] > 1]
        if not large:
            boxes.append(box)
            continue
        k = draw.choice(large)
        extent, weight = digits[k]
        ways = ["cut", "cut", "split"] if extent % 2 == 0 else ["cut", "residues"]
        way = draw.choice(ways)
        if way == "split":
            by = draw.choice([by for by in range(2, extent + 1) if extent % by == 0])
            parts = [(first, [(by, weight), (extent // by, weight * by)])]
        elif way == "cut":
            at = draw.randrange(1, extent)
            parts = [(first, [(at, weight)]), (first + at * weight, [(extent - at, weight)])]
        else:
            step = draw.randrange(2, extent + 1)
            parts = [(first + at * weight, [(-(-(extent - at) // step), weight * step)]) for at in range(step)]
        for start, changed in parts:
            boxes.append([*box[:dim], (start, [*digits[:k], *changed, *digits[k + 1 :]]), *box[dim + 1 :]])
    return boxes


def axes_of(box):
    axes = []
    for dim, (first, digits) in enumerate(box):
        for extent, weight in digits or [(1, 1)]:
            axes.append([dim, first, extent, weight])
            first = 0
    return axes


def spoiled(draw, shape, steps):
    """The steps with one number changed, so that they still stay within the result; or one twice, or left out."""
    changed = [[list(axis) for axis in axes] for axes in steps]
    way = draw.randrange(6)
    if way == 0:
        changed.append(draw.choice(changed))
    elif way == 1:
        del changed[draw.randrange(len(changed))]
    elif any(changed):
        axis = draw.choice(draw.choice([axes for axes in changed if axes]))
        axis[draw.choice([1, 2, 3])] += draw.choice([-1, 1])
    for axes in changed:
        for dim, size in enumerate(shape):
            own = [axis for axis in axes if axis[0] == dim]
            reach = sum(first + (extent - 1) * stride for _, first, extent, stride in own)
            if reach >= size or any(min(axis) < 0 or axis[2] < 1 for axis in own):
                return steps
    return changed


@given(seed=st.integers(0, 1 << 32))
def test_programs_by_chance_are_taken_if_they_are_right(seed):
    draw = random.Random(seed)
    shape = [draw.choice([1, 2, 3, 5, 8, 12, 16]) for _ in range(draw.randrange(4))]
    boxes = partition(draw, [[(0, [(size, 1)]) for size in shape]], draw.randrange(12) if shape else 0)
    steps = [axes_of(box) for box in boxes]
    draw.shuffle(steps)
    assert (counts(shape, [(0, axes) for axes in steps]) == 1).all()
    assert is_taken([shape], [(0, axes) for axes in steps])
    wrong = [(0, axes) for axes in spoiled(draw, shape, steps)]
    assert is_taken([shape], wrong) == (counts(shape, wrong) == 1).all()
