"""Runs the operators on arrays that end where inaccessible pages begin, and on some that have such between their elements. Run
by test_out.py in a process of its own.

Usage: python guard_pages.py DEVICE
"""

import ctypes
import faulthandler
import itertools
import mmap
import sys

import dmlops
import numpy as np
from dmlops import reference

from strategies import content, parts

PAGE = mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def forbid(data, begin, size):
    """Whole pages that may be neither read nor written from now on."""
    if libc.mprotect(data.ctypes.data + begin, size, 0):
        raise OSError(ctypes.get_errno(), "mprotect")


class Fenced:
    """`pages` accessible pages between two inaccessible ones."""

    def __init__(self, pages):
        self.memory = mmap.mmap(-1, (pages + 2) * PAGE)
        self.bytes = np.frombuffer(self.memory, np.uint8)
        self.inside = self.bytes[PAGE : (pages + 1) * PAGE]
        for page in (0, pages + 1):
            forbid(self.bytes, page * PAGE, PAGE)

    def place(self, shape, dtype, at_end):
        size = int(np.prod(shape)) * dtype.itemsize
        offset = self.inside.size - size if at_end else 0
        return np.ndarray(shape, dtype, self.inside, offset)


def calls(rng, dtype):
    rows, width = int(rng.integers(1, 9)), int(rng.integers(1, 200))
    width = min(width, 3 * PAGE // (8 * dtype.itemsize))
    left, right = (int(n) for n in rng.integers(0, width // 4 + 1, 2))
    for stride in (1, 2, -1, -2, 3):
        yield "slice", (rows, width), ([0, left], [rows, width - left - right], [1, stride])
    yield "reverse_subsequences", (rows, width), (rng.integers(0, width + 2, (rows, 1)), 1)
    yield "reverse_subsequences", (rows, width), (rng.integers(0, rows + 2, (1, width)), 0)
    half = max(1, width // 2)
    yield "depth_to_space", (4, max(1, rows // 2), max(1, half // 2)), ([2, 2],)
    yield "space_to_depth", (1, 2 * max(1, rows // 2), 2 * max(1, half // 2)), ([2, 2],)
    small = max(1, width // 6)
    for mode in ("constant", "edge", "reflection", "symmetric", "wrap"):
        yield "padding", (rows, small), ([0, left % (3 * small)], [0, right % small]), {"mode": mode}
    yield "tile", (rows, small), ([2, 3],)
    yield "upsample", (rows, small), ([3],)
    yield "transpose", (rows, width), ()
    yield "slice_grad", (rows, small), ([rows, 2 * small + left], [0, left], [rows, 2 * small], [-1, 2])
    yield "join", (rows, half), (1,)
    yield "split", (rows, width), (1, [left, width - left])


def gaps(device, images=64, rows=16, pitch=1024, apart=1 << 16):
    """Half rows of images, between which lie pages that may not be read: a look ahead of a row has to stay in its image."""
    memory = mmap.mmap(-1, images * apart)
    data = np.frombuffer(memory, np.uint8)
    data.reshape(images, apart)[:, : rows * pitch] = np.random.default_rng(6).integers(0, 256, rows * pitch, np.uint8)
    x = np.lib.stride_tricks.as_strided(data[512:], (images, rows, 512), (apart, pitch, 1))
    expected = {step: x[:, :: step[0], :: step[1]].copy() for step in ((1, 1), (1, -1), (-1, 1), (-1, -1))}
    for image in range(images - 1):
        forbid(data, image * apart + rows * pitch, apart - rows * pitch)
    for (down, right), result in expected.items():
        print("gaps", down, right, flush=True)
        assert np.array_equal(dmlops.slice(x, [0, 0, 0], x.shape, [1, down, right], device=device), result)


def pages_of_their_own(device, rows=20):
    """Short rows, each flush against a page that may not be read: words that two of them share need no more bytes."""
    memory = mmap.mmap(-1, 2 * rows * PAGE)
    data = np.frombuffer(memory, np.uint8)
    data[:] = np.random.default_rng(7).integers(0, 256, data.size, np.uint8)
    for row in range(rows):
        forbid(data, (2 * row + 1) * PAGE, PAGE)
    dmlops._core._override("kernel", 2)  # words
    for item, step, width in itertools.product((1, 2, 4, 8), (1, 2, 15, -1, -2, -15), (2, 7, 33)):
        extent = (width - 1) * abs(step) + 1
        for start in (0, PAGE - extent * item):
            x = np.ndarray((rows, extent), f"u{item}", memory, start, (2 * PAGE, item))
            print("pages of their own", item, step, width, start, flush=True)
            result = dmlops.slice(x, [0, 0], x.shape, [1, step], device=device)
            assert np.array_equal(result, x[:, ::step])
            for count in (2, 3, 4, 7, 8, rows):  # rows put together, as channels are
                assert np.array_equal(dmlops.transpose(x[:count], device=device), x[:count].T)
    dmlops._core._override("kernel", -1)


def main(device):
    faulthandler.enable()
    device = int(device) if device.isdigit() else device
    gaps(device)
    pages_of_their_own(device)
    rng = np.random.default_rng(5)
    source, target = Fenced(3), Fenced(3)
    source.inside[:] = rng.integers(0, 256, source.inside.size, np.uint8)
    count = 0
    for itemsize in (1, 2, 3, 4, 8, 12, 16) * 12:
        dtype = np.dtype(f"V{itemsize}")
        for name, shape, args, *kwargs in calls(rng, dtype):
            kwargs = dict(*kwargs)
            for at_end in (True, False):
                x = source.place(shape, dtype, at_end)
                first = [x, x] if name == "join" else x
                expected = getattr(reference, name)(first, *args, **kwargs)
                shapes = [part.shape for part in parts(expected)]
                outs = [target.place(part, dtype, at_end ^ bool(k)) for k, part in enumerate(shapes)]
                print(count, name, shape, dtype, at_end, flush=True)  # the last line names the case that crashed
                getattr(dmlops, name)(first, *args, **kwargs, out=outs if name == "split" else outs[0], device=device)
                assert content(outs) == content(parts(expected)), (name, shape, args, dtype)
                count += 1
    print(count, "cases, all right")


if __name__ == "__main__":
    main(sys.argv[1])
