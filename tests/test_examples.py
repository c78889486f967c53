"""The worked examples of the DirectML documentation, number for number."""

import numpy as np
import pytest

import dmlops

TWELVE = np.arange(1, 13, dtype=np.float32).reshape(1, 1, 3, 4)
SIXTEEN = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
# Eight channels of 2 x 3, each beginning nine after the one before.
EIGHT = (np.arange(8).reshape(1, 8, 1, 1) * 9 + np.arange(6).reshape(1, 1, 2, 3)).astype(np.uint32)

# What each page of padding starts from.
ROWS = np.array([[[[1, 2, 3, 4], [5, 6, 7, 8], [1, 2, 3, 4], [5, 6, 7, 8]]]], np.float32)


@pytest.fixture(params=["device", "reference"])
def operators(request, device):
    """The package's operators on a device, and their NumPy twins."""
    if request.param == "reference":
        return lambda name, *args, **kwargs: getattr(dmlops.reference, name)(*args, **kwargs)
    return lambda name, *args, **kwargs: getattr(dmlops, name)(*args, device=device, **kwargs)


def same(result, expected, dtype):
    expected = np.array(expected, dtype)
    assert type(result) is np.ndarray and result.dtype == dtype
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


def test_slice_grad_puts_back_what_slice_took(operators):
    window = ([0, 0], [4, 4], [2, 2])
    letters = np.array([list("abcd"), list("efgh"), list("ijkl"), list("mnop")])
    taken = operators("slice", letters, *window)
    same(taken, [["a", "c"], ["i", "k"]], "U1")
    result = operators("slice_grad", taken, [4, 4], *window)
    same(result, [["a", "", "c", ""], [""] * 4, ["i", "", "k", ""], [""] * 4], "U1")


PADDED = {
    "constant": "9999999999 9912349999 9956789999 9912349999 9956789999 9999999999 9999999999 9999999999",
    "edge": "1112344444 1112344444 5556788888 1112344444 5556788888 5556788888 5556788888 5556788888",
    "reflection": "7656787656 3212343212 7656787656 3212343212 7656787656 3212343212 7656787656 3212343212",
    "symmetric": "2112344321 2112344321 6556788765 2112344321 6556788765 6556788765 2112344321 6556788765",
}


@pytest.mark.parametrize("mode", PADDED)
def test_padding(operators, mode):
    result = operators("padding", ROWS, [0, 0, 1, 2], [0, 0, 3, 4], mode=mode, value=9)
    same(result, [[[[int(digit) for digit in row] for row in PADDED[mode].split()]]], np.float32)


def test_padding_by_wrapping(operators):
    """Which no page shows."""
    result = operators("padding", ROWS, [0, 0, 0, 2], [0, 0, 0, 5], mode="wrap")
    same(result, [[[[int(digit) for digit in row] for row in ("34123412341", "78567856785") * 2]]], np.float32)


def test_tile(operators):
    same(operators("tile", np.array([[1, 2], [3, 4]]), [1, 2]), [[1, 2, 1, 2], [3, 4, 3, 4]], int)


def test_join_along_the_only_axis(operators):
    left = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 2, 3)
    right = np.arange(7, 15, dtype=np.float32).reshape(1, 1, 2, 4)
    expected = [[[[1, 2, 3, 7, 8, 9, 10], [4, 5, 6, 11, 12, 13, 14]]]]
    same(operators("join", [left, right], 3), expected, np.float32)
    for part, original in zip(operators("split", np.array(expected, np.float32), 3, [3, 4]), (left, right), strict=True):
        same(part, original, np.float32)


def test_join_along_any_axis(operators):
    inputs = [np.arange(first, first + 4, dtype=np.float32).reshape(1, 1, 2, 2) for first in (1, 5, 9)]
    whole = np.arange(1, 13).reshape(6, 2)
    same(operators("join", inputs, 1), whole.reshape(1, 3, 2, 2), np.float32)
    same(operators("join", inputs, 2), whole.reshape(1, 1, 6, 2), np.float32)
    same(operators("join", inputs, 3), [[[[1, 2, 5, 6, 9, 10], [3, 4, 7, 8, 11, 12]]]], np.float32)
    for axis, size in ((1, 1), (2, 2), (3, 2)):
        parts = operators("split", operators("join", inputs, axis), axis, [size] * 3)
        for part, original in zip(parts, inputs, strict=True):
            same(part, original, np.float32)


def test_upsample(operators):
    same(operators("upsample", [[[[1, 2], [3, 4]]]], 2), [[[[1, 1, 2, 2], [1, 1, 2, 2], [3, 3, 4, 4], [3, 3, 4, 4]]]], int)


def test_transpose(operators):
    """As an identity whose strides are permuted."""
    same(operators("transpose", TWELVE, [0, 1, 3, 2]), [[[[1, 5, 9], [2, 6, 10], [3, 7, 11], [4, 8, 12]]]], np.float32)
