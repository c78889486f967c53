"""What a size costs that a fused function has never seen: CPU time of a call's key, trace and program, beside a size it knows.

`python benchmarks/fused_sizes.py` prints, for each function, microseconds of a new size, and of one seen, on the host.
`python benchmarks/fused_sizes.py loop [PROGRAMS]` runs 400 sizes in random order beside one size, with so many programs kept.
"""

import random
import statistics
import sys
import time

import dmlops
import numpy as np

MEAN = np.float32([0.485, 0.456, 0.406]).reshape(3, 1, 1)
STD = np.float32([0.229, 0.224, 0.225]).reshape(3, 1, 1)


def reverse(x):
    return x[::-1]


def roll(x):
    return np.roll(x, 5, 0)


def letterbox(x):
    h, w = x.shape[:2]
    size = max(h, w)
    top, left = (size - h) // 2, (size - w) // 2
    return np.pad(x, ((top, size - h - top), (left, size - w - left), (0, 0)), constant_values=114)


def concatenate(x):
    return np.concatenate([x, x[:, ::-1]], 1)


def patchify(x):
    h, w = x.shape[0] // 16, x.shape[1] // 16
    return x[: 16 * h, : 16 * w].reshape(h, 16, w, 16, 3).transpose(0, 2, 1, 3, 4).reshape(h * w, -1)


def normalise(x):
    x = np.moveaxis(x[2:-2, 2:-2, ::-1], -1, 0)
    return (x.astype(np.float32) / 255 - MEAN) / STD


def patches(x):
    h, w = x.shape[0] // 16 * 16, x.shape[1] // 16 * 16
    x = np.moveaxis(x[:h, :w, ::-1], -1, 0)
    x = (x.astype(np.float32) / 255 - MEAN) / STD
    return dmlops.space_to_depth(x[None], 16)


FUNCTIONS = (reverse, roll, letterbox, concatenate, patchify, normalise, patches)
RESIZED = [lambda x: np.moveaxis(dmlops.resize_pillow(x, (64, 64), "bilinear")[4:-4, 4:-4, ::-1], -1, 0).astype(np.float32)]
RESIZED[0].__name__ = "resize"


def sizes(count, seed=0):
    """Of photographs, each once, in random order."""
    every = [(h, w) for h in range(40, 140) for w in range(40, 140)]
    random.Random(seed).shuffle(every)
    return every[:count]


def microseconds(function, count=400):
    """Of a new size, and of one seen: medians of CPU time; the arrays are small, so that little is moved."""
    fused = dmlops.fuse(function)
    fused.max_programs = count
    arrays = [np.zeros((*size, 3), np.uint8) for size in sizes(count)]
    times = ([], [])
    for run in times:
        for x in arrays:
            start = time.process_time_ns()
            fused(x, device="host")
            run.append((time.process_time_ns() - start) / 1000)
    return [statistics.median(run[count // 4 :]) for run in times]


def loop(function, programs=64, count=400):
    """CPU microseconds of a call: of as many sizes in random order, and of one of the same bytes, the median of 5 epochs."""
    fused, one = dmlops.fuse(function), dmlops.fuse(function)
    fused.max_programs = programs
    few = np.zeros((480, 640, 3), np.uint8)
    every = [np.zeros((h + 430, w + 590, 3), np.uint8) for h, w in sizes(count)]
    pixels = statistics.mean(x.nbytes for x in every) / few.nbytes
    times = ([], [])
    for _ in range(5):
        for run, called, arrays in zip(times, (fused, one), (every, [few] * count), strict=True):
            start = time.process_time_ns()
            for x in random.sample(arrays, count):
                called(x, device="host")
            run.append((time.process_time_ns() - start) / 1000 / count)
    return statistics.median(times[0]) / pixels, statistics.median(times[1])


def main(mode="new", programs=64):
    for function in (*FUNCTIONS, *RESIZED):
        new, seen = loop(function, int(programs)) if mode == "loop" else microseconds(function)
        print(f"{function.__name__:12s} {new:8.0f} {seen:8.0f} us  x {new / seen:.2f}  + {new - seen:.0f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
