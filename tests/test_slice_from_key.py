"""dmlops.slice_from_key: a NumPy key of slices, as the arguments of dmlops.slice."""

import builtins

import dmlops
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

ends = st.none() | st.integers(-12, 12) | st.sampled_from([10**6, -(10**6), 2**62, -(2**63), 2**80, -(2**80)])
steps = st.none() | st.integers(-6, 6).filter(bool) | st.sampled_from([2**62, -(2**62), 10**6])


@st.composite
def keys(draw):
    shape = draw(st.lists(st.integers(0, 9), max_size=5))
    key = [builtins.slice(draw(ends), draw(ends), draw(steps)) for _ in range(draw(st.integers(0, len(shape))))]
    if draw(st.booleans()):
        key.insert(draw(st.integers(0, len(key))), ...)
    bare = len(key) == 1 and draw(st.booleans())
    return tuple(shape), key[0] if bare else tuple(key)


@given(drawn=keys())
def test_equals_numpy_indexing(devices, drawn):
    shape, key = drawn
    x = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    for device in devices:
        result = dmlops.slice(x, *dmlops.slice_from_key(shape, key), device=device)
        assert result.shape == x[key].shape
        assert np.array_equal(result, x[key])


@given(drawn=keys())
def test_gives_three_sequences_of_ints(drawn):
    shape, key = drawn
    parts = dmlops.slice_from_key(shape, key)
    assert len(parts) == 3
    for part in parts:
        assert len(part) == len(shape) and all(type(value) is int for value in part)


def test_of_the_documentation():
    x = np.arange(60).reshape(3, 4, 5)
    key = np.s_[..., 1:-1, ::-1]
    assert np.array_equal(dmlops.slice(x, *dmlops.slice_from_key(x.shape, key), device="host"), x[key])


@pytest.mark.parametrize("key", [0, np.int64(1), None, (np.s_[:], 0), (None, ...), (np.s_[:], [0, 1]), "a", 1.5, True])
def test_other_keys_are_type_errors(key):
    with pytest.raises(TypeError):
        dmlops.slice_from_key((3, 4), key)


@pytest.mark.parametrize("key", [np.s_[1.0:], np.s_[:"a"], np.s_[::1.5]])
def test_slices_of_other_things_are_type_errors(key):
    with pytest.raises(TypeError):
        dmlops.slice_from_key((3, 4), key)


@pytest.mark.parametrize(
    "shape, key, text",
    [
        (5, np.s_[:], "shape must be a sequence of ints, not int"),
        (np.zeros((4, 6)), np.s_[:], "shape must be a sequence of ints, not an array: pass array.shape"),
        (np.zeros((4, 6), int), np.s_[:], "pass array.shape"),
        (np.zeros(4), np.s_[:], "pass array.shape"),
        (np.int64(4), np.s_[:], "pass array.shape"),
        ((5.0,), np.s_[:], r"shape\[0\] must be an int, not float"),
        ((4, True), np.s_[:], r"shape\[1\] must be an int, not bool"),
        ((4,), np.s_[:2.5], "the stop of a slice in key must be an int, not float"),
        ((4, np.arange(2)), np.s_[:], r"shape\[1\] must be an int, not ndarray"),
        ((4,), np.s_[np.arange(2) :], "the start of a slice in key must be an int, not ndarray"),
        ((4,), np.s_[dmlops.asarray([1, 2], device="host") :], "the start of a slice in key must be an int, not DeviceArray"),
    ],
)
def test_type_errors_say_what_was_wrong(shape, key, text):
    with pytest.raises(TypeError, match=text):
        dmlops.slice_from_key(shape, key)


def test_sizes_that_no_axis_has():
    for size in (-1, 2**70, 10**5000):
        with pytest.raises(ValueError, match="shape must have sizes"):
            dmlops.slice_from_key((size,), np.s_[:])


def test_errors_of_an_index_are_passed_on():
    class Wrong:
        def __index__(self):
            raise TypeError("of the caller")

    with pytest.raises(TypeError, match="of the caller"):
        dmlops.slice_from_key((4,), np.s_[: Wrong()])


@pytest.mark.parametrize("key", [(..., ...), np.s_[:, :, :], np.s_[::0]])
def test_keys_that_numpy_refuses_too(key):
    with pytest.raises((IndexError, ValueError)):
        np.zeros((3, 4))[key]
    with pytest.raises((IndexError, ValueError)):
        dmlops.slice_from_key((3, 4), key)


def test_a_device_array_in_place_of_its_shape(device):
    for x in (np.zeros((4, 6)), np.zeros(4, int)):
        with pytest.raises(TypeError, match="pass array.shape"):
            dmlops.slice_from_key(dmlops.asarray(x, device=device), np.s_[:])


def test_a_shape_may_be_an_array_of_ints():
    assert dmlops.slice_from_key(np.array([4, 6]) // 2, np.s_[1:]) == dmlops.slice_from_key((2, 3), np.s_[1:])


def test_the_old_name_warns():
    with pytest.warns(DeprecationWarning, match="slice_from_key") as caught:
        parts = dmlops.window((3, 4), np.s_[1:])
    assert parts == dmlops.slice_from_key((3, 4), np.s_[1:]) and caught[0].filename == __file__
