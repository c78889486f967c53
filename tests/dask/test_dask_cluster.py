"""Larger than memory: an array in a Zarr store is cropped, mirrored and cut into patches on a cluster, into another store.

The cluster has two workers of 1 GiB each, one of which is killed on the way.
"""

import math
import os
import pathlib
import signal

import dask.array as da
import distributed
import dmlops
import dmlops.dask
import numpy as np
import pytest

MIB = 2**20
BLOCK = 2
TOP, BOTTOM, SIDE = 99, 101, 60  # what the crop leaves out: its chunks do not align with the blocks


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "1GiB", "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def values(bands, rows, columns):
    """The bytes at these positions: different from chunk to chunk, and easy to compress."""
    bands, rows, columns = (np.asarray(part, np.int64) for part in (bands, rows, columns))
    parts = np.ix_(bands * 37, rows // 8 + rows // 2048, 3 * (columns // 16) + columns // 4096)
    return sum(part.astype(np.uint8) for part in parts)


def source_block(block_info=None):
    return values(*(range(begin, end) for begin, end in block_info[None]["array-location"]))


def is_right(block, shape, block_info=None):
    """Whether a block of the result has the right bytes, [[[bool]]]."""
    bands, height, width = shape
    (low, high), rows, columns = block_info[0]["array-location"]
    right = True
    for channel in range(low, high):
        (down, right_), band = divmod(channel // bands, BLOCK), channel % bands
        from_rows = TOP + BLOCK * np.arange(*rows) + down
        from_columns = width - SIDE - 1 - (BLOCK * np.arange(*columns) + right_)
        right &= np.array_equal(block[channel - low], values([band], from_rows, from_columns)[0])
    return np.full((1, 1, 1), right)


def killed_once(block, killer, marker, block_id=None):
    """Kills the worker that computes the block `killer`, the first time."""
    if block_id == killer:
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            pass
    return block


def peak_memory():
    """Bytes of memory that this process has had at most, and its id."""
    status = pathlib.Path("/proc/self/status").read_text()
    return os.getpid(), int(status.partition("VmHWM:")[2].split()[0]) * 1024


LARGE = pytest.param((4, 32768, 65536), 2048, marks=[pytest.mark.soak, pytest.mark.timeout(7200)], id="8 GiB")


@pytest.mark.posix
@pytest.mark.parametrize("shape, chunk", [pytest.param((4, 1024, 2048), 256, id="8 MiB"), LARGE])
def test_from_zarr_to_zarr(client, tmp_path, capsys, shape, chunk):
    bands, height, width = shape
    chunks = tuple((n // size) * (size,) for n, size in zip(shape, (bands, chunk, chunk)))
    source = da.map_blocks(source_block, chunks=chunks, dtype=np.uint8, meta=np.empty((0,) * 3, np.uint8))
    source.to_zarr(str(tmp_path / "source"))

    x = da.from_zarr(str(tmp_path / "source"))
    assert x.nbytes == math.prod(shape)
    middle = tuple(n // 2 for n in x.numblocks)
    x = x.map_blocks(killed_once, middle, str(tmp_path / "killed"), dtype=x.dtype, meta=x._meta)
    key = np.s_[:, TOP : height - BOTTOM, width - SIDE - 1 : SIDE - 1 : -1]
    mirrored = dmlops.dask.slice(x, *dmlops.slice_from_key(shape, key), device="cpu")
    patches = dmlops.dask.space_to_depth(mirrored, (BLOCK, BLOCK), device="cpu")
    patches = patches.rechunk((-1, chunk // BLOCK, chunk // BLOCK))  # a store has chunks of one size

    before = dict(client.run(peak_memory).values())
    written = client.compute(patches.to_zarr(str(tmp_path / "patches"), compute=False))
    distributed.progress(written, notebook=False)
    written.result()
    client.wait_for_workers(2)
    after = dict(client.run(peak_memory).values())
    assert "100%" in capsys.readouterr().out
    with capsys.disabled():
        print(f"\n{x.nbytes / MIB:.0f} MiB; peaks of the workers' memory: {[round(peak / MIB) for peak in after.values()]} MiB")

    assert (tmp_path / "killed").exists()
    assert len(set(before) & set(after)) == 1  # one was killed, and the other had memory enough
    assert max(after.values()) < 1024 * MIB

    result = da.from_zarr(str(tmp_path / "patches"))
    assert result.shape == (bands * BLOCK**2, (height - TOP - BOTTOM) // BLOCK, (width - 2 * SIDE) // BLOCK)
    ones = tuple((1,) * n for n in result.numblocks)
    right = result.map_blocks(is_right, shape, chunks=ones, dtype=bool, meta=np.empty((0,) * 3, bool))
    assert right.all().compute()


def test_a_device_array_among_the_blocks(client):
    def upload(block):
        return dmlops.asarray(block, device="host")

    x = da.ones((2, 4, 2, 2), chunks=(1, 4, 2, 2)).map_blocks(upload, meta=np.empty((0,) * 4))
    with pytest.raises(TypeError, match="pass NumPy blocks"):
        dmlops.dask.depth_to_space(x, 2).compute()


def test_the_device_of_the_workers(client):
    x = da.ones((2, 4, 2, 2), chunks=(1, 4, 2, 2))
    with pytest.raises(ValueError, match="no such device"):
        dmlops.dask.depth_to_space(x, 2, device="no such device").compute()
    device = next(device for device in dmlops.devices() if device.usable)
    for name in (device, device.name, device.index, "host"):
        assert dmlops.dask.depth_to_space(x, 2, device=name).compute().shape == (2, 1, 4, 4)
