"""`dmlops.preprocessing` beside transformers: CPU time on one core, one thread each, in turns.

    make .venv-processors/dmlops
    .venv-processors/bin/python benchmarks/processors.py [--sizes | --threads] [CLASS...]

From arrays to arrays: one picture of 480 x 640, one of 1080 x 1920, and a list of eight of different sizes. With `--sizes`:
what a size costs that was never seen. With `--threads`: pictures a second by sixteen threads on all cores, and by one.
"""

import os
import sys
import threading
import time
from pathlib import Path
from statistics import geometric_mean, median

MODES = {"--sizes", "--threads"} & set(sys.argv)
if hasattr(os, "sched_setaffinity") and "--threads" not in MODES:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before dmlops and PyTorch count CPUs

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "processors")]

import dmlops  # noqa: E402
import numpy as np  # noqa: E402
import originals  # noqa: E402

import processor_cases as cases  # noqa: E402

CLASSES = "ViT CLIP Detr Sam Qwen2VL LlavaNext Idefics3 Donut".split()
EIGHT = [(480, 640), (427, 640), (640, 480), (500, 375), (333, 500), (600, 800), (375, 500), (640, 427)]
ROUNDS = 15
RANDOM = np.random.default_rng(0)


def picture(height, width):
    return RANDOM.integers(0, 256, (height, width, 3), np.uint8)


def in_turns(*contenders, rounds=ROUNDS):
    """The median CPU time of each, in milliseconds."""
    times = [[] for _ in contenders]
    for turn in range(rounds + 2):
        for taken, contender in zip(times, contenders, strict=True):
            start = time.process_time()
            contender()
            if turn > 1:
                taken.append(time.process_time() - start)
    return [median(taken) * 1e3 for taken in times]


def rows(names):
    for name, backend in cases.rows():
        if name.removesuffix("ImageProcessor") in names:
            yield name, backend, dmlops.preprocessing(cases.source(name, {}), backend=backend)


def beside_originals(names):
    inputs = {"480 x 640": picture(480, 640), "1080p": picture(1080, 1920), "eight": [picture(*size) for size in EIGHT]}
    gains = {}
    print(f"{'class':12}{'backend':13}" + "".join(f"{label:>12}{'original':>10}{'times':>7}" for label in inputs))
    for name, backend, ours in rows(names):
        theirs = originals.processor(name, backend, {})
        tensors = "np" if backend == "pil" else "pt"
        cells = ""
        for photos in inputs.values():
            ms, other = in_turns(lambda: ours(photos), lambda: theirs(photos, return_tensors=tensors))  # noqa: B023
            gains.setdefault(backend, []).append(other / ms)
            cells += f"{ms:12.2f}{other:10.2f}{other / ms:7.1f}"
        print(f"{name.removesuffix('ImageProcessor'):12}{backend:13}{cells}", flush=True)
    for backend, found in gains.items():
        print(f"{backend}: {geometric_mean(found):.1f} times in the geometric mean, {min(found):.1f} at least")


def sizes_never_seen(names):
    """Around 480 x 640: each size once, and one of them again and again, in turns."""
    print(f"{'class':12}{'backend':13}{'seen':>10}{'never':>10}{'more':>7}")
    for name, backend, ours in rows(names):
        never = iter([picture(480 - k % 8, 640 - k // 8) for k in range(1, 60)])
        seen, new = in_turns(lambda: ours(picture_seen), lambda: ours(next(never)), rounds=51)  # noqa: B023
        print(f"{name.removesuffix('ImageProcessor'):12}{backend:13}{seen:10.3f}{new:10.3f}{new / seen - 1:7.0%}", flush=True)


picture_seen = picture(480, 640)


def threads(names):
    """As a server has them: each thread prepares pictures of several sizes, one at a time."""
    photos = [picture(*size) for size in EIGHT]
    print(f"{'class':12}{'backend':13}{'one':>10}{'sixteen':>10}{'gain':>7}  pictures a second, {os.cpu_count()} CPUs")
    for name, backend, ours in rows(names):
        one, sixteen = (rate(ours, photos, count) for count in (1, 16))
        print(f"{name.removesuffix('ImageProcessor'):12}{backend:13}{one:10.0f}{sixteen:10.0f}{sixteen / one:7.2f}", flush=True)


def rate(ours, photos, count, seconds=1.5):
    done = [0] * count
    until = time.perf_counter() + seconds

    def work(number):
        while time.perf_counter() < until:
            ours(photos[done[number] % len(photos)])
            done[number] += 1

    workers = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(done) / (time.perf_counter() - until + seconds)


if __name__ == "__main__":
    wanted = [name for name in sys.argv[1:] if not name.startswith("--")] or CLASSES
    run = sizes_never_seen if "--sizes" in MODES else threads if "--threads" in MODES else beside_originals
    run(wanted)
