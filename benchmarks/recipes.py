"""`dmlops.recipes` beside the same with OpenCV and NumPy, in turns, in one process: medians of CPU time.

    make .venv-check/dmlops
    .venv-check/bin/python benchmarks/recipes.py [--into JSON] [FUNCTION...]

One picture at a time, from an array to an array, on one CPU with one thread for each. The other code is
tests/peers/recipe_twins.py, with its results left as they are. With `--into` the JSON
of a run of `make bench` gets the figures, and its headline says them.
"""

import os
import statistics
import sys
import time
from pathlib import Path

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before dmlops and OpenCV count CPUs

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "peers")]

import cv2  # noqa: E402
import recipe_twins  # noqa: E402
import summary  # noqa: E402
from dmlops import recipes  # noqa: E402

from processor_cases import photo  # noqa: E402

ROUNDS = 41
SIZES = {"paddleocr_recognition": [(60, 420)], "easyocr_recognition": [(60, 420)], "insightface_recognition": [(112, 112)]}


def in_turns(*contenders):
    """The median of each, in milliseconds of CPU time."""
    times = [[] for _ in contenders]
    for turn in range(ROUNDS + 2):
        for taken, contender in zip(times, contenders, strict=True):
            start = time.process_time()
            contender()
            if turn > 1:
                taken.append(time.process_time() - start)
    return [statistics.median(taken) * 1e3 for taken in times]


def main(names, into=None):
    rows = []
    cv2.setNumThreads(1)
    print(f"{'function':26}{'picture':>12}{'dmlops':>9}{'OpenCV':>9}{'times':>7}")
    for name in names:
        ours, theirs = getattr(recipes, name), getattr(recipe_twins, name)
        for height, width in SIZES.get(name, [(480, 640), (1080, 1920)]):
            picture = photo(height, width)
            picture = picture[..., 0].copy() if name == "easyocr_recognition" else picture
            ms, other = in_turns(lambda: ours([picture]), lambda: theirs([picture]))  # noqa: B023
            print(f"{name:26}{f'{height} x {width}':>12}{ms:9.3f}{other:9.3f}{other / ms:7.1f}", flush=True)
            rows.append({"name": name, "picture": f"{height} x {width}", "by": "OpenCV and NumPy", "ms": ms, "other_ms": other})
    if into:
        summary.add(into, "recipes", rows)


if __name__ == "__main__":
    given = sys.argv[1:]
    into = summary.taken_into(given)
    main(given or sorted(recipes.__all__), into)
