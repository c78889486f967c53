"""`dmlops.preprocessing` beside transformers: CPU time on one core, one thread each, in turns.

    make .venv-processors/dmlops
    .venv-processors/bin/python benchmarks/processors.py [--sizes | --threads | --into JSON] [CLASS...]

From arrays to arrays: one picture of 480 x 640, one of 1080 x 1920, and a list of eight of different sizes. With `--sizes`:
what a size costs that was never seen. With `--threads`: pictures a second by sixteen threads on all cores, and by one. With
`--into`: the JSON of a run of `make bench` gets the figures, and its headline says them.
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
import summary  # noqa: E402

CLASSES = "ViT CLIP Detr Sam Qwen2VL LlavaNext Idefics3 Donut".split()
EIGHT = [(480, 640), (427, 640), (640, 480), (500, 375), (333, 500), (600, 800), (375, 500), (640, 427)]
ROUNDS, LONG = 15, 2.0
RANDOM = np.random.default_rng(0)


def picture(height, width):
    return RANDOM.integers(0, 256, (height, width, 3), np.uint8)


def in_turns(*contenders, rounds=ROUNDS):
    """The median CPU time of each, in milliseconds; of fewer rounds where these take long."""
    times = [[] for _ in contenders]
    for turn in range(rounds + 2):
        if turn > 6 and sum(map(sum, times)) > LONG:
            break
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


def beside_originals(names, into=None):
    inputs = {"480 x 640": picture(480, 640), "1080p": picture(1080, 1920), "eight": [picture(*size) for size in EIGHT]}
    gains, rows_of_report = {}, []
    print(f"{'class':12}{'backend':13}" + "".join(f"{label:>12}{'original':>10}{'times':>7}" for label in inputs))
    for name, backend, ours in rows(names):
        theirs = originals.processor(name, backend, {})
        tensors = "np" if backend == "pil" else "pt"
        cells = ""
        for label, photos in inputs.items():
            ms, other = in_turns(lambda: ours(photos), lambda: theirs(photos, return_tensors=tensors))  # noqa: B023
            by = "Pillow" if backend == "pil" else "torchvision"
            rows_of_report.append({"name": name, "picture": label, "by": by, "ms": ms, "other_ms": other})
            gains.setdefault(backend, []).append(other / ms)
            cells += f"{ms:12.2f}{other:10.2f}{other / ms:7.1f}"
        print(f"{name.removesuffix('ImageProcessor'):12}{backend:13}{cells}", flush=True)
    for backend, found in gains.items():
        print(f"{backend}: {geometric_mean(found):.1f} times in the geometric mean, {min(found):.1f} at least")
    if into:
        summary.add(into, "processors", rows_of_report)


def sizes_never_seen(names):
    """Around 480 x 640, in turns: each of some sizes once, and others again and again, of which no picture is in the cache."""
    again, never = [[picture(480 - k % 8, 640 - k // 8) for k in some] for some in (range(60, 120), range(60))]
    print(f"{'class':12}{'backend':13}{'seen':>10}{'never':>10}{'more':>7}")
    for name, backend, ours in rows(names):
        for photo in again:
            ours(photo)
        old, new = iter(again), iter(never)
        seen, once = in_turns(lambda: ours(next(old)), lambda: ours(next(new)), rounds=51)  # noqa: B023
        print(f"{name.removesuffix('ImageProcessor'):12}{backend:13}{seen:10.3f}{once:10.3f}{once / seen - 1:7.0%}", flush=True)


def threads(names):
    """As a server has them: each thread prepares pictures of several sizes, one at a time."""
    photos = [picture(*size) for size in EIGHT]
    print(f"pictures a second, {os.cpu_count()} CPUs, and a second of CPU time")
    print(f"{'class':12}{'backend':13}{'one':>10}{'sixteen':>10}{'gain':>7}{'one, CPU':>10}{'sixteen':>10}{'gain':>7}")
    for name, backend, ours in rows(names):
        cells = ""
        for one, sixteen in zip(rate(ours, photos, 1), rate(ours, photos, 16), strict=True):
            cells += f"{one:10.0f}{sixteen:10.0f}{sixteen / one:7.2f}"
        print(f"{name.removesuffix('ImageProcessor'):12}{backend:13}{cells}", flush=True)


def rate(ours, photos, count, seconds=1.5):
    done, cpu = [0] * count, time.process_time()
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
    return sum(done) / (time.perf_counter() - until + seconds), sum(done) / (time.process_time() - cpu)


if __name__ == "__main__":
    given = sys.argv[1:]
    into = summary.taken_into(given)
    wanted = [name for name in given if not name.startswith("--")] or CLASSES
    if MODES:
        (sizes_never_seen if "--sizes" in MODES else threads)(wanted)
    else:
        beside_originals(wanted, into)
