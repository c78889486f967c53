"""Sliding windows, resizing, rolling and one-hot encoding: functions made of movements equal their twins, to the byte."""

import itertools
import math
from fractions import Fraction

import dmlops
import numpy as np
import pytest
from dmlops import operators, reference
from dmlops.operators.nearest import COORDINATES, ROUNDINGS, line, nearest_of, pattern_of, progressions_of
from hypothesis import given
from hypothesis import strategies as st

import strategies
from strategies import FEWER


LINES = {
    "by the way of a library": st.builds(
        lambda mode, size, count, scale: (line(mode, size, count, scale or Fraction(count, size)), size, count),
        st.sampled_from(COORDINATES),
        st.integers(1, 24),
        st.integers(1, 40),
        st.none() | st.fractions(Fraction(1, 9), 9, max_denominator=9),
    ),
    "anywhere": st.tuples(
        st.tuples(st.fractions(-9, 30, max_denominator=6), st.fractions(0, 9, max_denominator=9)),
        st.integers(1, 24),
        st.integers(1, 40),
    ),
}
ROUNDED = {
    "floor": math.floor,
    "ceil": math.ceil,
    "round_prefer_floor": lambda at: math.ceil(at - Fraction(1, 2)),
    "round_prefer_ceil": lambda at: math.floor(at + Fraction(1, 2)),
}


def indices_of(progressions):
    return [index + k * step for index, step, count in progressions for k in range(count)]


@pytest.mark.driverless
@pytest.mark.parametrize("kind", LINES)
@given(data=st.data(), rounding=st.sampled_from(ROUNDINGS))
def test_patterns_are_the_nearest_indices_one_by_one(kind, data, rounding):
    (first, step), size, count = data.draw(LINES[kind])
    right = [min(max(ROUNDED[rounding](first + k * step), 0), size - 1) for k in range(count)]
    nearest = nearest_of(first, step, rounding, size, count)
    assert nearest.indices().tolist() == right
    head, period, times, apart, tail = pattern_of(nearest)
    middle = [index + at * apart for at in range(times) for index in indices_of(period)]
    assert indices_of(head) + middle + indices_of(tail) == right


@pytest.mark.driverless
def test_patterns_take_time_in_periods():
    for size, count in ((1 << 60, 3 << 58), (3, (1 << 60) + 1), (3 << 40, 5 << 40), ((1 << 50) + 2, (1 << 49) + 1)):
        pattern = pattern_of(nearest_of(*line("half_pixel", size, count, Fraction(count, size)), "floor", size, count))
        assert len(pattern.all) <= 9
        made = sum(one[2] for one in (*pattern.head, *pattern.tail)) + pattern.times * sum(one[2] for one in pattern.period)
        assert made == count


@pytest.mark.driverless
@given(indices=st.lists(st.integers(0, 6)))
def test_indices_as_progressions(indices):
    progressions = list(progressions_of(np.array(indices, int)))
    assert indices_of(progressions) == indices and len(progressions) <= (len(indices) + 1) // 2


@st.composite
def encodings(draw):
    """Indices of any integers, some of them out of range."""
    shape, depth = draw(st.lists(st.integers(0, 5), max_size=3)), draw(st.integers(0, 7))
    kind = draw(st.sampled_from(strategies.LENGTH_DTYPES))
    random = np.random.default_rng(draw(strategies.seeds))
    low = 0 if kind.kind == "u" else -depth - 2
    indices = random.integers(low, depth + 3, shape).astype(kind)
    if indices.size:
        indices.flat[0] = draw(st.sampled_from([indices.flat[0], np.iinfo(kind).max, np.iinfo(kind).min]))
    kwargs = {"axis": draw(st.integers(-len(shape) - 1, len(shape)))}
    if draw(st.booleans()):
        kwargs |= {"on": draw(st.sampled_from([1, True, 7])), "off": draw(st.sampled_from([0, 3]))}
    if draw(st.booleans()):
        kwargs["dtype"] = draw(st.sampled_from(["u1", ">i4", "f2", "f8", "c16", "S3"]))
    return indices, depth, kwargs


@given(call=encodings(), data=st.data())
@FEWER
def test_one_hot(devices, call, data):
    indices, depth, kwargs = call
    expected = reference.one_hot(indices, depth, **kwargs)
    out = data.draw(strategies.specs(expected.shape, expected.dtype, distinct=True))
    for device in devices:
        result = dmlops.one_hot(indices, depth, **kwargs, device=device)
        assert result.dtype == expected.dtype and result.shape == expected.shape and result.flags.c_contiguous
        assert strategies.content(result) == strategies.content(expected)
        into = out.build()
        assert dmlops.one_hot(indices, depth, **kwargs, device=device, out=into) is into
        assert strategies.content(into) == strategies.content(expected)
        resident = dmlops.one_hot(dmlops.asarray(indices, device=device), depth, **kwargs)
        assert isinstance(resident, dmlops.DeviceArray) and resident.device == dmlops.asarray(0, device=device).device
        assert strategies.content(resident.numpy()) == strategies.content(expected)


def test_each_function_has_calls():
    assert sorted(strategies.COMPOSED) == sorted(name for name in operators.COMPOSED if name != "one_hot")


@pytest.mark.parametrize("name", strategies.COMPOSED)
@given(data=st.data())
@FEWER
def test_random_calls(devices, name, data):
    call = data.draw(strategies.COMPOSED[name]())
    expected = call.expected(reference)
    out = data.draw(strategies.specs(expected.shape, expected.dtype, distinct=True))
    for device in devices:
        result = call.run(dmlops, device=device)
        assert result.dtype == expected.dtype and result.shape == expected.shape
        assert strategies.content(result) == strategies.content(expected)
        assert result.flags.c_contiguous and result.flags.owndata
        into = out.build()
        assert call.run(dmlops, device=device, out=into) is into
        assert strategies.content(into) == strategies.content(expected)
        resident = call.run(dmlops, dmlops.asarray(call.build(), device=device))
        assert isinstance(resident, dmlops.DeviceArray)
        assert strategies.content(resident.numpy()) == strategies.content(expected)


# --- resizing: every rule, on sizes that go up and down -----------------------------------------------------------------


@pytest.mark.driverless
@pytest.mark.parametrize("coordinates", [*COORDINATES, (0.5, -0.5), (0, 0), (0.25, [0.5])])
def test_every_rounding_of_every_coordinate(coordinates):
    for rounding, size, count in itertools.product(ROUNDINGS, (1, 2, 3, 7, 8), (1, 2, 3, 5, 8, 16, 21)):
        x = np.arange(size, dtype=">i2")  # not the machine's byte order, which has to stay
        how = {"coordinates": coordinates, "rounding": rounding}
        ours, expected = dmlops.resize_nearest(x, [count], **how, device="host"), reference.resize_nearest(x, [count], **how)
        assert ours.dtype == expected.dtype and np.array_equal(ours, expected), (rounding, size, count)


def test_a_scale_is_the_quotient_that_it_stands_for():
    """A third in single precision is more than a third: every third position would otherwise round down to its neighbour."""
    x = np.arange(3000)
    for scale in (np.float32(1 / 3), 1 / 3, Fraction(1, 3)):
        how = {"scales": scale, "coordinates": "asymmetric", "rounding": "floor", "device": "host"}
        assert np.array_equal(dmlops.resize_nearest(x, **how), x[::3])
    assert dmlops.resize_nearest(x, scales=0.3334, device="host").size == math.floor(3000 * 0.3334)


def test_what_other_libraries_call_nearest():
    """By their formulas: of Pillow and OpenCV's INTER_NEAREST_EXACT, and of OpenCV's INTER_NEAREST."""
    for size, count in itertools.product((5, 8, 480), (3, 16, 224)):
        x = np.arange(size)
        centres = [min((2 * k + 1) * size // (2 * count), size - 1) for k in range(count)]
        exact = dmlops.resize_nearest(x, [count], rounding="round_prefer_ceil", device="host")
        assert exact.tolist() == centres
        corners = [k * size // count for k in range(count)]
        assert dmlops.resize_nearest(x, [count], coordinates="asymmetric", rounding="floor", device="host").tolist() == corners


def test_sizes_and_scales_may_differ():
    """As for DirectML: beyond the scaled input the last element is repeated, and what is too much is cropped."""
    for count, expected in ((3, [0, 0, 1]), (10, [0, 0, 1, 1, 2, 2, 3, 3, 3, 3])):
        assert dmlops.resize_nearest(np.arange(4), [count], scales=2, device="host").tolist() == expected


# --- the rest ------------------------------------------------------------------------------------------------------------


def test_they_are_traced_and_compared(device):
    @dmlops.fuse
    def chain(x):
        x = dmlops.roll(x, (1, -2), (0, 1))
        x = dmlops.resize_nearest(x, (9, 4), rounding="floor")
        return dmlops.sliding_windows(x, (2, 3), strides=2)

    x = np.arange(5 * 6, dtype=np.float32).reshape(5, 6)
    expected = reference.roll(x, (1, -2), (0, 1))
    expected = reference.resize_nearest(expected, (9, 4), rounding="floor")
    expected = reference.sliding_windows(expected, (2, 3), strides=2)
    assert np.array_equal(chain(x, device=device), expected)
    for name, args in (("roll", (3, 0)), ("resize_nearest", ((7, 7),)), ("sliding_windows", (2,))):
        assert dmlops.compare(name, x, *args, devices=device, repeat=1)
    told = []
    dmlops.roll(x, 1, device=device, progress=lambda done, whole: told.append((done, whole)))
    assert told[-1] == (x.nbytes, x.nbytes)


def test_lists_are_arrays(device):
    assert dmlops.roll([1, 2, 3], 1, device=device).tolist() == [3, 1, 2]
    assert dmlops.sliding_windows([1, 2, 3], 2, device=device).tolist() == [[1, 2], [2, 3]]
    assert dmlops.resize_nearest([[1, 2]], scales=2, device=device).tolist() == [[1, 1, 2, 2]] * 2


X = np.zeros((3, 4))
WRONG = [
    ("one_hot", ([1.5], 3), TypeError, "indices must be of an integer dtype, not float64"),
    ("one_hot", ([1], 3.0), TypeError, "depth must be an int, not float"),
    ("one_hot", ([1], -1), ValueError, "depth must be 0 or more, not -1"),
    ("sliding_windows", (X, 4), ValueError, "a window of 4 elements is larger than axis 0 of size 3"),
    ("sliding_windows", (X, (1, 1, 1)), ValueError, "sizes must have an int of 1 or more for each of 2 axes"),
    ("sliding_windows", (X, (1, 0)), ValueError, "sizes must have an int of 1 or more"),
    ("sliding_windows", (X, 1.0), TypeError, "sizes must be an int, not float"),
    ("sliding_windows", (X, [True, 1]), TypeError, r"sizes\[0\] must be an int, not bool"),
    ("sliding_windows", (X, 1, (0, -2)), ValueError, "axes must name each axis once"),
    ("sliding_windows", (X, 1, 2), np.exceptions.AxisError, "axis 2 is out of bounds for array of dimension 2"),
    ("resize_nearest", (X,), ValueError, "sizes or scales must be given"),
    ("resize_nearest", (X, (2,)), ValueError, "sizes must have an int of 0 or more for each of 2 axes"),
    ("resize_nearest", (X, (2, -1)), ValueError, "sizes must have an int of 0 or more for each of 2 axes"),
    ("resize_nearest", (X, (2, 2.5)), TypeError, r"sizes\[1\] must be an int, not float"),
    ("resize_nearest", (X[:0], (2, 2)), ValueError, "an axis of size 0 has no element"),
    ("roll", (X, 1.5), TypeError, "shift must be an int, not float"),
    ("roll", (X, 1, 2), np.exceptions.AxisError, "axis 2 is out of bounds"),
    ("roll", (X, (1, 2), (0, 1, 0)), ValueError, "mismatch"),
    ("roll", (np.array([None]), 1), TypeError, "input must have elements that are plain bytes; those of dtype object are not"),
    ("sliding_windows", ([np.array([1]), np.array([None])], 1), TypeError, "input must have elements that are plain bytes"),
    ("roll", ([[1], [2, 3]], 1), ValueError, "input makes no array"),
    ("roll", ("photo.png", 1), TypeError, "input must be an array, not str; a file is read first"),
]


@pytest.mark.driverless
@pytest.mark.parametrize("name, args, error, message", WRONG)
def test_wrong_arguments(name, args, error, message):
    with pytest.raises(error, match=message):
        getattr(dmlops, name)(*args, device="host")


@pytest.mark.driverless
@pytest.mark.parametrize(
    "how, error, message",
    [
        ({"scales": 0}, ValueError, "scales must be above 0"),
        ({"scales": math.inf}, ValueError, "scales must be finite"),
        ({"scales": (1, 2, 3)}, ValueError, "scales must have a number for each of 2 axes"),
        ({"scales": "2"}, TypeError, "scales must be an int, a float or a Fraction, not str"),
        ({"scales": 2, "coordinates": "corners"}, ValueError, "coordinates must be one of half_pixel"),
        ({"scales": 2, "coordinates": (1, 2, 3)}, ValueError, "coordinates must be a name or two offsets"),
        ({"scales": 2, "rounding": "round"}, ValueError, "rounding must be one of round_prefer_floor"),
    ],
)
def test_wrong_ways_to_resize(how, error, message):
    with pytest.raises(error, match=message):
        dmlops.resize_nearest(X, **how, device="host")
