"""`dmlops.preprocessing` beside transformers, in turns, in one process: the least times, and how many times as fast dmlops is.

    make .venv-processors/dmlops
    .venv-processors/bin/python benchmarks/processors.py [CLASS...]

One picture of 480 x 640 at a time, from an array to an array, on one CPU with one thread for each.
"""

import os
import sys
import time
from pathlib import Path

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before dmlops and PyTorch count CPUs

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "processors")]

import dmlops  # noqa: E402
import numpy as np  # noqa: E402
import originals  # noqa: E402

import processor_cases as cases  # noqa: E402

CLASSES = "ViT CLIP Siglip ConvNext Detr Segformer Sam Qwen2VL Idefics3 LlavaNext LlavaOnevision Gemma3 Pixtral".split()
ROUNDS = 21


def in_turns(*contenders):
    """The least time of each, in milliseconds."""
    times = [[] for _ in contenders]
    for turn in range(ROUNDS + 2):
        for taken, contender in zip(times, contenders, strict=True):
            start = time.perf_counter()
            contender()
            if turn > 1:
                taken.append(time.perf_counter() - start)
    return [min(taken) * 1e3 for taken in times]


def main(names):
    picture = np.random.default_rng(0).integers(0, 256, (480, 640, 3), np.uint8)
    print(f"{'class':20}{'backend':13}{'dmlops':>9}{'original':>10}{'times':>7}")
    for name, backend in cases.rows():
        if name.removesuffix("ImageProcessor") not in names:
            continue
        ours = dmlops.preprocessing(cases.source(name, {}), backend=backend)
        theirs = originals.processor(name, backend, {})
        tensors = "np" if backend == "pil" else "pt"
        ms, other = in_turns(lambda: ours(picture), lambda: theirs(picture, return_tensors=tensors))  # noqa: B023
        print(f"{name.removesuffix('ImageProcessor'):20}{backend:13}{ms:9.2f}{other:10.2f}{other / ms:7.1f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or CLASSES)
