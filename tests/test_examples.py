"""The six worked examples of the DirectML documentation, number for number."""

import numpy as np
import pytest

import dmlops

TWELVE = np.arange(1, 13, dtype=np.float32).reshape(1, 1, 3, 4)
SIXTEEN = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
# Eight channels of 2 x 3, each beginning nine after the one before.
EIGHT = (np.arange(8).reshape(1, 8, 1, 1) * 9 + np.arange(6).reshape(1, 1, 2, 3)).astype(np.uint32)


@pytest.fixture(params=["device", "reference"])
def operators(request, device):
    """The package's operators on a device, and their NumPy twins."""
    if request.param == "reference":
        return lambda name, *args, **kwargs: getattr(dmlops.reference, name)(*args, **kwargs)
    return lambda name, *args, **kwargs: getattr(dmlops, name)(*args, device=device, **kwargs)


def same(result, expected, dtype):
    expected = np.array(expected, dtype)
    assert result.dtype == dtype
    assert result.shape == expected.shape
    assert result.tolist() == expected.tolist()


def test_reverse_subsequences_along_the_last_axis(operators):
    lengths = np.array([[[[2], [4], [3]]]], np.uint32)
    result = operators("reverse_subsequences", TWELVE, lengths, 3)
    same(result, [[[[2, 1, 3, 4], [8, 7, 6, 5], [11, 10, 9, 12]]]], np.float32)


def test_reverse_subsequences_along_a_different_axis(operators):
    lengths = np.array([[[[2, 3, 1, 0]]]], np.uint32)
    result = operators("reverse_subsequences", TWELVE, lengths, 2)
    same(result, [[[[5, 10, 3, 4], [1, 6, 7, 8], [9, 2, 11, 12]]]], np.float32)


def test_depth_to_space_depth_column_row(operators):
    result = operators("depth_to_space", EIGHT, 2, order="DCR")
    expected = [
        [[0, 18, 1, 19, 2, 20], [36, 54, 37, 55, 38, 56], [3, 21, 4, 22, 5, 23], [39, 57, 40, 58, 41, 59]],
        [[9, 27, 10, 28, 11, 29], [45, 63, 46, 64, 47, 65], [12, 30, 13, 31, 14, 32], [48, 66, 49, 67, 50, 68]],
    ]
    same(result, [expected], np.uint32)
    same(operators("space_to_depth", result, 2, order="DCR"), EIGHT, np.uint32)


def test_depth_to_space_column_row_depth(operators):
    result = operators("depth_to_space", EIGHT, 2, order="CRD")
    expected = [
        [[0, 9, 1, 10, 2, 11], [18, 27, 19, 28, 20, 29], [3, 12, 4, 13, 5, 14], [21, 30, 22, 31, 23, 32]],
        [[36, 45, 37, 46, 38, 47], [54, 63, 55, 64, 56, 65], [39, 48, 40, 49, 41, 50], [57, 66, 58, 67, 59, 68]],
    ]
    same(result, [expected], np.uint32)
    same(operators("space_to_depth", result, 2, order="CRD"), EIGHT, np.uint32)


def test_slice_with_positive_strides(operators):
    result = operators("slice", SIXTEEN, [0, 0, 0, 1], [1, 1, 4, 3], [1, 1, 2, 2])
    same(result, [[[[2, 4], [10, 12]]]], np.float32)


def test_slice_with_negative_strides(operators):
    result = operators("slice", SIXTEEN, [0, 0, 0, 1], [1, 1, 4, 3], [1, 1, -2, 2])
    same(result, [[[[14, 16], [6, 8]]]], np.float32)
