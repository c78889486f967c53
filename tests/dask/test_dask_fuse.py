"""Fused functions of Dask arrays: a call for each chunk of the batch, where each item is treated alike; else an error."""

import dask.array as da
import dmlops
import numpy as np
import pytest
from dmlops.structure import leaves

from strategies import content

MEAN = np.array([0.4, 0.5, 0.6], np.float32)
PHOTOS = np.random.default_rng(0).integers(0, 256, (7, 6, 8, 3), np.uint8)
ROWS = np.arange(7 * 4, dtype=np.uint8).reshape(7, 4)


def normalized(x):
    return np.moveaxis(x[:, 1:-1, ::-1] / np.float32(255) - MEAN, -1, 1)


def patches(x):
    """More rows than items."""
    n, h, w, c = x.shape
    x = x.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(n * h * w // 4, 4 * c).astype(np.float16)


def several(x):
    return {"padded": np.pad(x, ((0, 0), (1, 1), (0, 0), (0, 0)), "reflect"), "parts": (x[:, 0], np.ones_like(x))}


def same(x):
    return x


def one_by_one(x):
    return np.stack([np.concatenate([one[::-1], one]) for one in x])


def flat(x):
    return x.ravel() > 3


@pytest.mark.parametrize("chunks", [7, 3, 1, (2, 2, 3), (0, 4, 3)], ids=str)
@pytest.mark.parametrize("function", [normalized, patches, several, same, one_by_one, flat], ids=lambda one: one.__name__)
def test_each_chunk_is_a_call(device, function, chunks):
    fused = dmlops.fuse(function)
    x = da.from_array(PHOTOS, chunks=(chunks, 4, -1, -1))
    results, expected = fused(x, device=device), function(PHOTOS)
    if isinstance(expected, dict):
        assert results.keys() == expected.keys() and isinstance(results["parts"], tuple)
    for result, array in zip(leaves(results), leaves(expected), strict=True):
        assert isinstance(result, da.Array) and (result.shape, result.dtype) == (array.shape, array.dtype)
        assert len(result.chunks[0]) == len(x.chunks[0])
        computed = result.compute(scheduler="threads")
        assert computed.dtype == array.dtype and content(computed) == content(array)


def test_other_arguments(device):
    """A second Dask array gets the chunks of the first; a NumPy array is the same for all; others are constants."""

    def beside(x, labels, row, *, end):
        return np.concatenate([x[:, :end], labels, np.broadcast_to(row, (len(x), len(row)))], 1)

    row = np.array([9, 8, 7], np.uint8)
    result = dmlops.fuse(beside)(da.from_array(ROWS, chunks=(3, 2)), row=row, labels=da.from_array(ROWS, chunks=5), end=2)
    assert result.chunks == ((3, 3, 1), (9,))
    assert np.array_equal(result.compute(scheduler="threads"), beside(ROWS, ROWS, row, end=2))


@pytest.mark.driverless
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[::-1],
        lambda x: x[1:],
        lambda x: x.T,
        lambda x: np.roll(x, 1, 0),
        lambda x: x[[0, 0, 1, 2, 3, 4, 5]],
        lambda x: np.repeat(x, 2, 0)[:7],
        lambda x: np.pad(x, ((0, 1), (0, 0))),
        lambda x: np.concatenate([x[:1]] * 7),
        lambda x: x.reshape(4, 7),
        lambda x: x.reshape(-1)[5],
        lambda x: x * (np.arange(len(x))[:, None] + 1),  # the constant varies with the item
        lambda x: x[:, ::-1] if len(x) > 3 else x,  # a large batch is treated otherwise
        lambda x: x + np.uint8(len(x)),
        lambda x: np.concatenate([x, np.full((len(x), 1), len(x), np.uint8)], 1),
        lambda x: np.concatenate([x, np.arange(len(x), dtype=np.uint8)[:, None]], 1),
    ],
)
def test_what_mixes_the_batch_is_refused(function):
    said = "does not do the same to each item|cannot reshape|out of bounds"
    with pytest.raises((ValueError, IndexError), match=said):
        dmlops.fuse(function)(da.from_array(ROWS, chunks=(2, 4)), device="host")


@pytest.mark.driverless
def test_what_is_refused():
    fused = dmlops.fuse(normalized)
    x = da.from_array(PHOTOS, chunks=3)
    with pytest.raises(TypeError, match="neither out nor progress"):
        fused(x, out=np.empty((7, 3, 4, 8), np.float32))
    with pytest.raises(TypeError, match="such as a block"):
        fused.prove(x)
    with pytest.raises(ValueError, match="one size of the first axis"):
        dmlops.fuse(lambda x, y: (x, y))(x, x[:3])
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        fused(x[x[:, 0, 0, 0] > 3])


def test_an_empty_batch():
    result = dmlops.fuse(patches)(da.from_array(PHOTOS[:0], chunks=3), device="host")
    assert result.shape == (0, 12) and result.dtype == np.float16 and result.compute().shape == (0, 12)


@pytest.mark.driverless
def test_nothing_is_allocated_before_it_is_computed():
    photos = da.zeros((1 << 24, 224, 224, 3), dtype=np.uint8, chunks=(1 << 10, 224, 224, 3))
    result = dmlops.fuse(normalized)(photos)
    assert result.shape == (1 << 24, 3, 222, 224) and len(result.chunks[0]) == 1 << 14
