"""`dmlops.crops` beside torchvision v2, Albumentations and a loop: 32 random crops and flips of 224 x 224, in turns.

    pip install torch torchvision albumentations, in an environment that has dmlops
    python benchmarks/crops.py [--threads]

From a batch of bytes to a batch of bytes, and to floats, channels first, normalised by channel. Medians of CPU time on one
core, with one thread for each; with `--threads` of wall time, on all cores.
"""

import os
import statistics
import sys
import time

ALL = "--threads" in sys.argv
if hasattr(os, "sched_setaffinity") and not ALL:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before dmlops and PyTorch count CPUs

import albumentations  # noqa: E402
import dmlops  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from torchvision.transforms.v2 import functional  # noqa: E402

COUNT, LARGE, SIZE, ROUNDS = 32, 256, 224, 41
MEAN, STD = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
RANDOM = np.random.default_rng(0)
IMAGES = RANDOM.integers(0, 256, (COUNT, LARGE, LARGE, 3), np.uint8)
TENSORS = torch.from_numpy(IMAGES).permute(0, 3, 1, 2)  # as PyTorch has images that are read channels last
STARTS = RANDOM.integers(0, LARGE - SIZE + 1, (COUNT, 2))
FLIP = RANDOM.random(COUNT) < 0.5
clock = time.perf_counter if ALL else time.process_time


def loop():
    out = np.empty((COUNT, SIZE, SIZE, 3), np.uint8)
    for image, (top, left), flip, into in zip(IMAGES, STARTS.tolist(), FLIP, out, strict=True):
        crop = image[top : top + SIZE, left : left + SIZE]
        into[...] = crop[:, ::-1] if flip else crop
    return out


def ours():
    return dmlops.crops(IMAGES, STARTS, SIZE, FLIP, device="host")


def by_torchvision():
    crops = []
    for image, (top, left), flip in zip(TENSORS, STARTS.tolist(), FLIP, strict=True):
        crop = functional.crop(image, top, left, SIZE, SIZE)
        crops.append(functional.horizontal_flip(crop) if flip else crop)
    return torch.stack(crops)


def by_albumentations():
    crops = []
    for image, (top, left), flip in zip(IMAGES, STARTS.tolist(), FLIP, strict=True):
        crop = albumentations.Crop(left, top, left + SIZE, top + SIZE, p=1).apply(image, (left, top, left + SIZE, top + SIZE))
        crops.append(albumentations.HorizontalFlip(p=1).apply(crop) if flip else crop)
    return np.stack(crops)


@dmlops.fuse
def floats(images, starts, flip, mean, std):
    x = np.moveaxis(dmlops.crops(images, starts, SIZE, flip), -1, 1)
    return (x / np.float32(255) - mean[:, None, None]) / std[:, None, None]


def ours_floats():
    return floats(IMAGES, STARTS, FLIP, MEAN, STD, device="host")


def loop_floats():
    x = np.moveaxis(loop(), -1, 1)
    return np.ascontiguousarray((x / np.float32(255) - MEAN[:, None, None]) / STD[:, None, None])


def torchvision_floats():
    return functional.normalize(functional.to_dtype(by_torchvision(), torch.float32, scale=True), MEAN.tolist(), STD.tolist())


def albumentations_floats():
    normalised = albumentations.Normalize(MEAN.tolist(), STD.tolist())
    return np.ascontiguousarray(np.moveaxis(np.stack([normalised.apply(one) for one in by_albumentations()]), -1, 1))


def main():
    torch.set_num_threads(os.cpu_count() if ALL else 1)
    assert np.array_equal(ours(), loop()) and np.array_equal(by_torchvision().permute(0, 2, 3, 1).numpy(), ours())
    assert np.array_equal(by_albumentations(), ours())
    assert np.array_equal(ours_floats(), loop_floats()) and np.allclose(torchvision_floats(), ours_floats(), atol=1e-5)
    to_bytes = ours, loop, by_torchvision, by_albumentations
    to_floats = ours_floats, loop_floats, torchvision_floats, albumentations_floats
    for several in (to_bytes, to_floats):
        times = {one: [] for one in several}
        for turn in range(ROUNDS + 2):
            for one in several:
                start = clock()
                one()
                if turn > 1:
                    times[one].append(clock() - start)
        print("  ".join(f"{one.__name__} {statistics.median(taken) * 1e3:.2f} ms" for one, taken in times.items()), flush=True)


if __name__ == "__main__":
    main()
