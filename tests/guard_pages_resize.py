"""Resizes images that end, or begin, where inaccessible pages lie, also between their rows, with each kernel of the host.

Run by test_resize_kernels.py in a process of its own.
"""

import faulthandler
import mmap

import numpy as np
from dmlops import _core

from guard_pages import PAGE, Fenced, forbid


PILLOW, OPENCV = 0, 2


def resampling(rng, before, after, items):
    if rng.integers(2):
        return _core._resampling(PILLOW, 3, before, after, (0.0, 0.0), tuple(map(float, before)), items, True)
    return _core._resampling(OPENCV, int(rng.integers(5)), before, after, (0.0, 0.0), (0.0, 0.0), items, False)


def run(kernels, x, made, axes, out, **kwargs):
    for kernel in kernels:
        _core._resize_by(kernel)
        out[...] = 0
        _core._resample(x, made, axes, None, out, "host", None, **kwargs)
        yield kernel, out


def whole_images(kernels, rng):
    """Without gaps, first and last in their pages."""
    source, target = Fenced(8), Fenced(8)
    source.inside[:] = rng.integers(0, 256, source.inside.size, np.uint8)
    byte, count = np.dtype(np.uint8), 0
    for _ in range(400):
        before = tuple(int(n) for n in rng.integers(1, 70, 2))
        after = tuple(int(n) for n in rng.integers(1, 70, 2))
        if rng.integers(4) == 0:  # OpenCV's halves have kernels of their own
            after = (max(before[0] // 2, 1), max(before[1] // 2, 1))
            before = (2 * after[0], 2 * after[1])
        items = int(rng.integers(1, 6))
        made = resampling(rng, before, after, items)
        for at_end in (True, False) if made else ():
            x = source.place((*before, items), byte, at_end)
            out = target.place((*after, items), byte, at_end)
            expected = _core._resample(x.copy(), made, (0, 1), None, None, "host", None)
            for kernel, result in run(kernels, x, made, (0, 1), out):
                print(count, kernel, before, after, items, at_end, flush=True)  # the last line names the case that crashed
                assert np.array_equal(result, expected)
                count += 1
    return count


def rows_of_their_own(kernels, rng, rows=12):
    """Each row of the input and of the result is flush against a page that may not be touched."""
    count = 0
    memories = [np.frombuffer(mmap.mmap(-1, 2 * 4 * rows * PAGE), np.uint8) for _ in range(2)]
    memories[0][:] = rng.integers(0, 256, memories[0].size, np.uint8)
    for memory in memories:
        for row in range(4 * rows):
            forbid(memory, (2 * row + 1) * PAGE, PAGE)
    for width in (1, 2, 3, 5, 11, 16, 17, 63, 64, 65, 200):
        for items in (1, 2, 3, 4, 5):
            after = (int(rng.integers(1, 4 * rows)), int(rng.integers(1, 300)))
            after = (rows // 2, width // 2) if width % 2 == 0 else after
            made = resampling(rng, (rows, width), after, items)
            start, end = (PAGE - n * items for n in (width, after[1]))
            x = np.ndarray((rows, width, items), np.uint8, memories[0], start, (2 * PAGE, items, 1))
            out = np.ndarray((*after, items), np.uint8, memories[1], end, (2 * PAGE, items, 1))
            expected = _core._resample(x.copy(), made, (0, 1), None, None, "host", None)
            for kernel, result in run(kernels, x, made, (0, 1), out):
                print(count, kernel, width, items, after, flush=True)
                assert np.array_equal(result, expected)
                count += 1
    return count


def main():
    faulthandler.enable()
    rng, kernels = np.random.default_rng(4), _core._resize_kernels()
    count = whole_images(kernels, rng) + rows_of_their_own(kernels, rng)
    print(count, "cases, all right")


if __name__ == "__main__":
    main()
