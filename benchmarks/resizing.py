"""Resizing beside Pillow, PyTorch and OpenCV, in turns, in one process: medians, and how many times as fast dmlops is.

python benchmarks/resizing.py                        one thread; the CPU time of the thread, which other work disturbs less
python benchmarks/resizing.py --threads 2            wall time, with two threads for each
python benchmarks/resizing.py --kernels vnni avx2    kernels of the host by name, beside the one that is chosen
python benchmarks/resizing.py --device llvmpipe      another device: wall time
"""

import argparse
import os
import statistics
import time

import cv2
import dmlops
import numpy as np
import torch
from dmlops import _core
from PIL import Image

# Rows and columns before and after, and the filter. Pillow and PyTorch first.
PILLOW = {
    "1080p to 256 x 455": ((1080, 1920), (256, 455), "bicubic"),
    "480 x 640 to 224": ((480, 640), (224, 224), "bilinear"),
    "224 to 384": ((224, 224), (384, 384), "bicubic"),
    "12 MP to 512 x 683": ((3000, 4000), (512, 683), "bilinear"),
    "720p to 336": ((720, 1280), (336, 336), "lanczos"),
}
OPENCV = {
    "1080p to 360 x 640": ((1080, 1920), (360, 640), "linear"),
    "480 x 640 to 224": ((480, 640), (224, 224), "linear"),
    "224 to 384": ((224, 224), (384, 384), "linear"),
    "720p to half": ((720, 1280), (360, 640), "linear"),
    "1080p to 256 x 455, area": ((1080, 1920), (256, 455), "area"),
    "480 x 640 to 224, lanczos4": ((480, 640), (224, 224), "lanczos4"),
}
# The last is the side of the crop.
FLOATS = {
    "1080p to 256 x 455": ((1080, 1920), (256, 455), 224),
    "480 x 640 to 256 x 341": ((480, 640), (256, 341), 224),
    "720p to 336 x 597": ((720, 1280), (336, 597), 336),
    "224 to 384": ((224, 224), (384, 384), 384),
}
MODES = {"linear": cv2.INTER_LINEAR, "area": cv2.INTER_AREA, "lanczos4": cv2.INTER_LANCZOS4}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="host")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--kernels", nargs="*", default=[], choices=_core._resize_kernels())
    return parser.parse_args()


def in_turns(contenders, rounds, clock):
    """The median of each, in milliseconds."""
    times = {name: [] for name in contenders}
    for _ in range(rounds + 1):
        for name, call in contenders.items():
            start = clock()
            call()
            times[name].append((clock() - start) / 1e6)
    return {name: statistics.median(found[1:]) for name, found in times.items()}


def by_kernel(kernel, function, *args, **kwargs):
    _core._resize_by(kernel)
    try:
        return function(*args, **kwargs)
    finally:
        _core._resize_by(None)


def ours(options, function, x, size, chosen, **kwargs):
    """What dmlops has: by the kernel that is chosen, and by those that are named. Results have memory, as others' have."""
    names = {"dmlops": None} | {f"dmlops by {kernel}": kernel for kernel in options.kernels}
    calls = {}
    for name, kernel in names.items():
        calls[name] = lambda kernel=kernel: by_kernel(kernel, function, x, size, chosen, device=options.device, **kwargs)
    return calls


def beside_pillow(options, before, after, chosen):
    x = np.random.default_rng(0).integers(0, 256, (*before, 3), np.uint8)
    planes = np.ascontiguousarray(x.transpose(2, 0, 1))
    image, modes = Image.fromarray(x), {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS}
    last = torch.from_numpy(x).permute(2, 0, 1)[None]
    first = torch.from_numpy(planes)[None]

    def torch_by(tensor):
        return torch.nn.functional.interpolate(tensor, after, mode=chosen, antialias=True)

    return {
        "Pillow": lambda: image.resize(after[::-1], modes[chosen]),
        "torch, channels last": lambda: torch_by(last),
        "torch, planes": lambda: torch_by(first),
        **ours(options, dmlops.resize_pillow, x, after, chosen),
        "dmlops, planes": lambda: dmlops.resize_torchvision(planes, after, chosen, device=options.device),
    }


def beside_opencv(options, before, after, chosen):
    x = np.random.default_rng(0).integers(0, 256, (*before, 3), np.uint8)
    return {
        "OpenCV": lambda: cv2.resize(x, after[::-1], interpolation=MODES[chosen]),
        **ours(options, dmlops.resize_opencv, x, after, chosen),
    }


def beside_opencv_with_floats(options, before, after, crop):
    """A crop of the middle, and normalised floats in planes, behind OpenCV's linear resize."""
    x = np.random.default_rng(0).integers(0, 256, (*before, 3), np.uint8)
    top, left = ((size - crop) // 2 for size in after)
    mean, std = (np.array(values, np.float32) for values in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    table = (np.arange(256, dtype=np.uint8)[None, :, None] / np.float32(255) - mean) / std

    def resized():
        return np.ascontiguousarray(cv2.resize(x, after[::-1])[top : top + crop, left : left + crop])

    @dmlops.fuse
    def ours_of(x):
        x = dmlops.resize_opencv(x, after, "linear")[top : top + crop, left : left + crop].transpose(2, 0, 1)
        return (x / np.float32(255) - mean[:, None, None]) / std[:, None, None]

    return {
        "OpenCV LUT": lambda: np.ascontiguousarray(cv2.LUT(resized(), table).transpose(2, 0, 1)),
        "OpenCV blob": lambda: cv2.dnn.blobFromImage(resized(), 1 / 255, (crop, crop), (123.7, 116.3, 103.5)),
        "dmlops": lambda: ours_of(x, device=options.device),
    }


def geometric(ratios):
    return statistics.geometric_mean(ratios) if ratios else float("nan")


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    cv2.setNumThreads(options.threads)
    os.sched_setaffinity(0, set(list(os.sched_getaffinity(0))[: options.threads]))
    alone = options.threads == 1 and options.device == "host"
    clock = time.thread_time_ns if alone else time.perf_counter_ns
    print(f"{'CPU' if alone else 'wall'} time, {options.threads} threads, {options.device}, medians of {options.rounds}")
    tables = (("Pillow", PILLOW, beside_pillow), ("OpenCV", OPENCV, beside_opencv))
    for title, cells, contenders in (*tables, ("floats", FLOATS, beside_opencv_with_floats)):
        ratios = {}
        for name, cell in cells.items():
            found = in_turns(contenders(options, *cell), options.rounds, clock)
            print(f"{name} {cell[2]}:", ", ".join(f"{who} {ms:.3f}" for who, ms in found.items()), "ms", flush=True)
            for who, ms in found.items():
                if not who.startswith("dmlops"):
                    own = "dmlops, planes" if who == "torch, planes" else "dmlops"
                    ratios.setdefault(who, []).append(ms / found[own])
        for who, times in ratios.items():
            print(f"{title} cells: {geometric(times):.2f} times as fast as {who}, at least {min(times):.2f}", flush=True)


if __name__ == "__main__":
    main()
