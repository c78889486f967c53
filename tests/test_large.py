"""Arrays beyond the limits of a binding, of an allocation, and of 32-bit arithmetic."""

import math
import os

import dmlops
import numpy as np
import pytest
from dmlops import reference

import support

pytestmark = [pytest.mark.slow, pytest.mark.many_bytes]

MIB = 2**20


def random(shape, dtype):
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    return np.frombuffer(np.random.default_rng(3).bytes(size), dtype).reshape(shape)


def same(result, expected):
    """Compares piece by piece: `expected` may be a view, and neither fits into memory twice."""
    assert result.shape == expected.shape
    if result.ndim == 1:
        step = 64 * MIB
        return all(np.array_equal(result[i : i + step], expected[i : i + step]) for i in range(0, len(result), step))
    step = max(1, 64 * MIB // max(1, result[:1].nbytes))
    if step == 1 and result.ndim > 1 and result[:1].nbytes > 256 * MIB:
        return all(same(a, b) for a, b in zip(result, expected))
    return all(np.array_equal(result[i : i + step], expected[i : i + step]) for i in range(0, len(result), step))


@pytest.fixture(scope="module")
def x(request):
    itemsize = np.dtype(request.param).itemsize
    return random((1, 8, 2500, 140 * MIB // itemsize // 20_000), request.param)


# To the host, an array of this size is like any other of many pages.
KINDS = [(device, dtype) for device, dtype in (("vulkan", "u1"), ("vulkan", "u4"), ("host", "u4")) if device in support.DEVICES]


@pytest.mark.parametrize("device, x", KINDS, indirect=True)
class Test140MiB:
    """Above the 128 MiB that Vulkan promises of a binding."""

    def test_mirrored(self, x, device):
        assert same(dmlops.slice(x, [0] * 4, list(x.shape), [1, 1, -1, -1], device=device), x[:, :, ::-1, ::-1])

    def test_every_second_column(self, x, device):
        assert same(dmlops.slice(x, [0] * 4, list(x.shape), [1, 1, 1, 2], device=device), x[..., ::2])

    def test_cropped(self, x, device):
        sizes = [1, 8, x.shape[2] - 3, x.shape[3] - 4]
        assert same(dmlops.slice(x, [0, 0, 1, 3], sizes, device=device), x[:, :, 1:-2, 3:-1])

    def test_depth_to_space(self, x, device):
        expected = x.reshape(1, 2, 2, 2, *x.shape[2:]).transpose(0, 3, 4, 1, 5, 2)
        result = dmlops.depth_to_space(x, 2, device=device)
        assert same(result.reshape(expected.shape), expected)

    def test_space_to_depth(self, x, device):
        x = x[..., : x.shape[3] // 2 * 2]
        result = dmlops.space_to_depth(x, 2, device=device)
        assert same(result, reference.space_to_depth(x, 2))

    def test_reversed_along_the_last_axis(self, x, device):
        lengths = np.random.default_rng(1).integers(0, x.shape[3] + 1, (1, 8, 2500, 1))
        result = dmlops.reverse_subsequences(x, lengths, 3, device=device)
        assert same(result, reference.reverse_subsequences(x, lengths, 3))

    def test_reversed_along_one_axis_of_everything(self, x, device):
        flat = x.reshape(-1)
        result = dmlops.reverse_subsequences(flat, [flat.size - 5], 0, device=device)
        assert same(result[:-5], flat[:-5][::-1]) and same(result[-5:], flat[-5:])

    def test_padded(self, x, device):
        pads = [0, 0, 3, 5], [0, 0, 2, 7]
        for mode in ("constant", "reflection"):
            result = dmlops.padding(x, *pads, mode=mode, device=device)
            assert same(result[:, :, 3:-2, 5:-7], x)
            assert same(result[:, :, :4, :], reference.padding(x[:, :, :5], *pads, mode=mode)[:, :, :4])
            assert same(result[:, :, :, -8:], reference.padding(x[..., -9:], *pads, mode=mode)[..., -8:])

    def test_joined_and_split(self, x, device):
        result = dmlops.join([x[..., 3:], x[..., :3]], 3, device=device)
        assert same(result[..., :-3], x[..., 3:]) and same(result[..., -3:], x[..., :3])
        left, right = dmlops.split(x, 2, [700, 1800], device=device)
        assert same(left, x[:, :, :700]) and same(right, x[:, :, 700:])

    def test_transposed(self, x, device):
        assert same(dmlops.transpose(x, (0, 2, 3, 1), device=device), x.transpose(0, 2, 3, 1))

    def test_tiled_and_upsampled(self, x, device):
        x = x[..., : x.shape[3] // 4]
        result = dmlops.tile(x, (1, 1, 1, 4), device=device)
        assert all(same(result[..., k * x.shape[3] : (k + 1) * x.shape[3]], x) for k in range(4))
        result = dmlops.upsample(x, 2, device=device)
        assert same(result[:, :, ::2, 1::2], x) and same(result[:, :, 1::2, ::2], x)

    def test_gradient_of_a_slice(self, x, device):
        x = x[:, :, ::4]
        window = (1, 8, 4 * x.shape[2], x.shape[3]), [0] * 4, [1, 8, 4 * x.shape[2], x.shape[3]], [1, 1, -4, -1]
        result = dmlops.slice_grad(x, *window, device=device)
        assert same(result[:, :, ::-4, ::-1], x)
        assert not result[:, :, :3].any() and not result[:, :, 4:7].any() and not result[:, :, -4:-1].any()

    def test_gathered_and_scattered(self, x, device):
        x = x.reshape(-1, x.shape[3])
        rows = np.random.default_rng(2).permutation(len(x))
        result = dmlops.take(x, rows, 0, device=device)
        assert same(result, x[rows])
        assert same(dmlops.scatter_nd(result, rows[:, None], result, device=device), x)

    def test_rolled(self, x, device):
        result = dmlops.roll(x, (1000, -3), (2, 3), device=device)
        assert same(result[:, :, 1000:, :-3], x[:, :, :-1000, 3:]) and same(result[:, :, :1000, -3:], x[:, :, -1000:, :3])

    def test_transposed_input(self, x, device):
        x = x[0, 0].T
        assert same(dmlops.slice(x, [0, 0], list(x.shape), device=device), x)


def test_first_and_last_of_a_huge_span(device):
    """Two elements, farther apart than any window reaches."""
    x = np.zeros(300 * MIB, np.uint8)
    x[0], x[-1] = 1, 2
    assert dmlops.slice(x, [0], [x.size], [x.size - 1], device=device).tolist() == [1, 2]
    assert dmlops.slice(x, [0], [x.size], [1 - x.size], device=device).tolist() == [2, 1]


def test_broadcast_to_more_than_there_is(device):
    x = np.broadcast_to(np.arange(256, dtype=np.uint8), (600_000, 256))
    result = dmlops.slice(x, [0, 0], [600_000, 256], [1, -1], device=device)
    assert (result == np.arange(255, -1, -1, dtype=np.uint8)).all()


N = 2**32 + 4096 * 3


@pytest.fixture(scope="module")
def huge():
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert free > 3 * N, f"{3 * N >> 30} GiB of free memory are needed here, {free >> 30} are there"
    tile = np.random.default_rng(9).integers(0, 256, 2**26 + 9973, np.uint8)  # its period divides no window
    return np.resize(tile, N)


@pytest.mark.soak
class TestAbove4GiB:
    """Over 2**32 elements of one byte each."""

    def test_reversed_by_slice(self, huge, device):
        assert same(dmlops.slice(huge, [0], [N], [-1], device=device), huge[::-1])

    def test_every_third(self, huge, device):
        assert same(dmlops.slice(huge, [5], [N - 5], [3], device=device), huge[5::3])

    def test_cropped(self, huge, device):
        image = huge.reshape(-1, 4096)
        result = dmlops.slice(image, [1, 1], [len(image) - 2, 4094], device=device)
        assert same(result, image[1:-1, 1:-1])

    def test_depth_to_space_and_back(self, huge, device):
        deep = huge.reshape(1, 4, -1, 1024)
        wide = dmlops.depth_to_space(deep, 2, device=device)
        h, w = deep.shape[2:]
        assert same(wide.reshape(h, 2, w, 2), deep.reshape(2, 2, h, w).transpose(2, 0, 3, 1))
        assert same(dmlops.space_to_depth(wide, 2, device=device)[0], deep[0])

    def test_reverse_subsequences_of_rows(self, huge, device):
        rows = huge.reshape(-1, 4096)
        result = dmlops.reverse_subsequences(rows, np.full((len(rows), 1), 4000, np.uint16), 1, device=device)
        assert same(result[:, :4000], rows[:, 3999::-1]) and same(result[:, 4000:], rows[:, 4000:])

    def test_reverse_subsequences_of_one_row(self, huge, device):
        result = dmlops.reverse_subsequences(huge, [N - 3], 0, device=device)
        assert same(result[:-3], huge[:-3][::-1]) and same(result[-3:], huge[-3:])

    def test_joined_of_parts(self, huge, device):
        parts = dmlops.split(huge, 0, [5, N // 2, N - 5 - N // 2], device=device)
        assert same(parts[0], huge[:5]) and same(parts[1], huge[5 : 5 + N // 2]) and same(parts[2], huge[5 + N // 2 :])
        assert same(dmlops.join(parts[1:], 0, device=device), huge[5:])

    def test_padded(self, huge, device):
        result = dmlops.padding(huge, [5], [2**20 + 3], mode="wrap", device=device)
        assert same(result[5 : N + 5], huge) and same(result[:5], huge[-5:]) and same(result[N + 5 :], huge[: 2**20 + 3])

    def test_taken(self, huge, device):
        rows = huge.reshape(-1, 4096)
        index = np.random.default_rng(4).permutation(len(rows))
        assert same(dmlops.take(rows, index, 0, device=device), rows[index])
        assert same(
            dmlops.take(huge, [N - 1, 2**32 + 1, 2**32 - 1, 5], 0, device=device), huge[[N - 1, 2**32 + 1, 2**32 - 1, 5]]
        )

    def test_transposed(self, huge, device):
        image = huge.reshape(3, -1, 1024)
        assert same(dmlops.transpose(image, (1, 2, 0), device=device), image.transpose(1, 2, 0))

    def test_gradient_of_a_slice(self, huge, device):
        result = dmlops.slice_grad(huge[: N // 2], [N + 3], [2], [N], [-2], device=device)
        assert same(result[3 : N + 3 : 2][: N // 2], huge[: N // 2][::-1]) and not result[:3].any() and not result[4::2].any()
