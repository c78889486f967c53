"""Everyday image and text preprocessing with dmlops, on photographs that scikit-image and scikit-learn carry.

Prints a table of what was run, each step on one photograph and on a batch of 32, and writes a picture of every result beside
its input. Usage:

    python examples/demo.py [--device NAME] [--output demo.png]
"""

import argparse
import contextlib
import functools
import io
import math
import os
import time
from dataclasses import dataclass

import numpy as np
from skimage import data
from sklearn.datasets import load_sample_images

import dmlops
import sheet


BATCH = 32
SECONDS = 0.2  # of each measurement


@dataclass
class Step:
    """One call on a batch: what it is for, how a reader would write it, and the same in NumPy."""

    title: str
    code: str
    operator: str
    input: np.ndarray  # of one
    run: callable  # of a batch and a device
    numpy: callable  # of a batch
    # Pictures of the input and of the result: a list of (caption, image) each.
    show: callable

    def measure(self, device):
        """Milliseconds of the device, of "auto" and of NumPy, for one and for a batch; and whether all results are equal."""
        self.equal, self.ms = True, {}
        for count in (1, BATCH):
            x = np.repeat(self.input, count, axis=0)
            expected = np.ascontiguousarray(self.numpy(x))
            results = [self.run(x, where) for where in (device, "auto")]
            self.equal = self.equal and all(map(functools.partial(same, expected), results))
            calls = [functools.partial(self.run, x, where) for where in (device, "auto")]
            self.ms[count] = best_ms([*calls, lambda x=x: np.ascontiguousarray(self.numpy(x))])
        self.result = self.run(self.input, device)


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def best_ms(calls):
    """The least milliseconds of each call; they take turns."""
    times = [[] for _ in calls]
    until = time.perf_counter() + SECONDS * len(calls)
    while len(times[0]) < 3 or time.perf_counter() < until:
        for call, found in zip(calls, times):
            start = time.perf_counter()
            call()
            found.append(time.perf_counter() - start)
    return [1000 * min(found) for found in times]


def shape(array):
    return "x".join(map(str, array.shape))


def pair(x, y):
    return [(f"input {shape(x)}", x[0]), (f"result {shape(y)}", y[0])]


# --- slice: crop, mirror, subsample -------------------------------------------------------------------------------


def crop(photo):
    return Step(
        "Crop",
        "dmlops.slice(photos, offsets=(0, 30, 10, 0), sizes=(len(photos), 250, 300, 3))",
        "slice",
        photo[None],
        lambda x, device: dmlops.slice(x, (0, 30, 10, 0), (len(x), 250, 300, 3), device=device),
        lambda x: x[:, 30:280, 10:310],
        lambda x, y: [(f"input {shape(x)}", sheet.outlined(x[0], 10, 30, 300, 250)), (f"result {shape(y)}", y[0])],
    )


def mirror(photo):
    return Step(
        "Mirror",
        "dmlops.slice(photos, (0, 0, 0, 0), photos.shape, strides=(1, 1, -1, 1))",
        "slice",
        photo[None],
        lambda x, device: dmlops.slice(x, (0, 0, 0, 0), x.shape, (1, 1, -1, 1), device=device),
        lambda x: x[:, :, ::-1],
        pair,
    )


def subsample(photo):
    return Step(
        "Every sixth pixel",
        "dmlops.slice(photos, *dmlops.slice_from_key(photos.shape, np.s_[:, ::6, ::6]))",
        "slice",
        photo[None],
        lambda x, device: dmlops.slice(x, *dmlops.slice_from_key(x.shape, np.s_[:, ::6, ::6]), device=device),
        lambda x: x[:, ::6, ::6],
        lambda x, y: [(f"input {shape(x)}", x[0]), (f"result {shape(y)}, shown three times as large", sheet.enlarged(y[0], 3))],
    )


# --- space_to_depth, depth_to_space: patches and back -------------------------------------------------------------


def patchify(photo):
    block = 64
    rows, columns = (size // block for size in photo.shape[:2])

    def numpy(x):
        return x.reshape(-1, rows, block, columns, block, 3).swapaxes(2, 3).reshape(-1, rows, columns, 3 * block**2)

    def show(x, y):
        patches = y.reshape(rows, columns, block, block, 3)
        return [(f"input {shape(x)}", x[0]), (f"result {shape(y)}: {rows * columns} patches", sheet.tiled(patches, 14))]

    return Step(
        "Patchify, as a vision transformer does",
        'dmlops.space_to_depth(photos, 64, layout="NHWC")',
        "space_to_depth",
        photo[None],
        lambda x, device: dmlops.space_to_depth(x, block, layout="NHWC", device=device),
        numpy,
        show,
    )


def unpatchify(patches, photo):
    block = 64
    rows, columns = patches.shape[1:3]

    def numpy(x):
        return x.reshape(-1, rows, columns, block, block, 3).swapaxes(2, 3).reshape(-1, rows * block, columns * block, 3)

    def show(x, y):
        assert np.array_equal(y[0], photo)
        tiles = sheet.tiled(x.reshape(rows, columns, block, block, 3), 14)
        return [(f"input {shape(x)}", tiles), (f"result {shape(y)}: bit for bit the photograph", y[0])]

    return Step(
        "... and back",
        'dmlops.depth_to_space(patches, 64, layout="NHWC")',
        "depth_to_space",
        patches,
        lambda x, device: dmlops.depth_to_space(x, block, layout="NHWC", device=device),
        numpy,
        show,
    )


def focus(photo):
    """YOLO's first layer: the block's columns, then its rows, come before the channels. That is neither DCR nor CRD, but a
    transpose of the picture whose rows and columns are split."""
    x = np.ascontiguousarray(photo.transpose(2, 0, 1)[None], np.float32) / 255

    def show(x, y):
        quarters = [sheet.to_bytes(part.transpose(1, 2, 0)) for part in np.split(y[0], 4)]
        names = ["top-left", "bottom-left", "top-right", "bottom-right"]
        whole = sheet.to_bytes(x[0].transpose(1, 2, 0))
        labelled = sheet.tiled(np.stack(quarters).reshape(2, 2, *quarters[0].shape), 20, names)
        return [(f"input {shape(x)}", whole), (f"result {shape(y)}: channels 0-2, 3-5, 6-8, 9-11", labelled)]

    def run(x, device):
        n, _, h, w = x.shape
        blocks = x.reshape(n, 3, h // 2, 2, w // 2, 2)
        return dmlops.transpose(blocks, (0, 5, 3, 1, 2, 4), device=device).reshape(n, 12, h // 2, w // 2)

    return Step(
        "YOLO's Focus",
        "dmlops.transpose(x.reshape(n, 3, h // 2, 2, w // 2, 2), (0, 5, 3, 1, 2, 4)).reshape(n, 12, h // 2, w // 2)",
        "transpose",
        x,
        run,
        lambda x: np.concatenate([x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]], axis=1),
        show,
    )


def channels_last(photo):
    """The sub-pixel layer of an upscaling network: nine small pictures become one of three times the size."""
    height, width = (size // 3 * 3 for size in photo.shape[:2])
    photo = photo[:height, :width]
    parts = [photo[i::3, j::3] for i in range(3) for j in range(3)]
    x = np.concatenate(parts, axis=2)[None]

    def show(x, y):
        small = np.stack([x[0, ..., 3 * k : 3 * k + 3] for k in range(9)]).reshape(3, 3, *parts[0].shape)
        return [(f"input {shape(x)}: nine pictures", sheet.tiled(small, 8)), (f"result {shape(y)}", y[0])]

    return Step(
        "Pixel shuffle, channels last",
        'dmlops.depth_to_space(x, 3, layout="NHWC")',
        "depth_to_space",
        x,
        lambda x, device: dmlops.depth_to_space(x, 3, layout="NHWC", device=device),
        lambda x: x.reshape(-1, height // 3, width // 3, 3, 3, 3).swapaxes(2, 3).reshape(-1, height, width, 3),
        show,
    )


# --- reverse_subsequences: each line to its own length -------------------------------------------------------------


def lines_of_text():
    """The short lines of the Zen of Python as a batch of one padded page of bytes, and the length of each line."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        import this  # noqa: F401
    lines = [line for line in printed.getvalue().splitlines() if 0 < len(line) <= 40]
    lengths = np.array([len(line) for line in lines])
    return np.array(lines, f"S{lengths.max()}").view("S1").reshape(1, len(lines), -1), lengths


def reverse_text(page, lengths):
    return Step(
        "Reverse each line of a padded page to its own length",
        "dmlops.reverse_subsequences(pages, lengths, axis=2)  # lengths: (1, lines, 1)",
        "reverse_subsequences",
        page,
        lambda x, device: dmlops.reverse_subsequences(x, lengths[None, :, None], 2, device=device),
        lambda x: reversed_rows(x, lengths),
        lambda x, y: [(f"input {shape(x)}, padding shaded", sheet.text(x[0])), (f"result {shape(y)}", sheet.text(y[0]))],
    )


def reversed_rows(batch, lengths):
    y = batch.copy()
    for page in y:
        for row, length in zip(page, lengths):
            row[:length] = row[:length][::-1].copy()
    return y


def reverse_rows(photo):
    rows, columns = photo.shape[:2]
    lengths = np.linspace(0, columns, rows).astype(np.int64)

    def show(x, y):
        return [(f"input {shape(x)}", sheet.stepped(x[0], lengths)), (f"result {shape(y)}", sheet.stepped(y[0], lengths))]

    return Step(
        "Reverse each row up to the line",
        "dmlops.reverse_subsequences(photos, lengths, axis=2)  # lengths: (1, height, 1, 1)",
        "reverse_subsequences",
        photo[None],
        lambda x, device: dmlops.reverse_subsequences(x, lengths[None, :, None, None], 2, device=device),
        lambda x: reversed_rows(x, lengths),
        show,
    )


# --- fuse: NumPy code in one pass ---------------------------------------------------------------------------------


def normalized(photos):
    """What a classifier wants: a crop of the centre, channels first, mean and deviation by channel."""
    x = np.moveaxis(photos[:, 16:-16, 16:-16], -1, 1) / np.float32(255)
    mean, deviation = (np.float32(numbers).reshape(3, 1, 1) for numbers in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    return (x - mean) / deviation


def preprocess(photo):
    fused = dmlops.fuse(normalized)

    def show(x, y):
        planes = sheet.to_bytes((y[0] - y[0].min()) / np.ptp(y[0]))
        tiles = sheet.tiled(np.repeat(planes[None, ..., None], 3, axis=-1), 14)
        return [(f"input {shape(x)}", x[0]), (f"result {shape(y)} of float32, its three planes", tiles)]

    return Step(
        "Prepare for a classifier, in one pass",
        "dmlops.fuse(normalized)(photos)  # crop, NCHW, (x / 255 - mean) / deviation",
        "fuse",
        photo[None],
        lambda x, device: fused(x, device=device),
        normalized,
        show,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="number, name or type of a device, or host (default: dmlops.default_device())")
    parser.add_argument("--output", default="demo.png", help="where the picture goes (default: %(default)s)")
    parser.add_argument("--only", nargs="+", help="steps whose titles begin so (default: all)")
    options = parser.parse_args()
    try:
        device = dmlops.asarray(0, device=options.device).device
    except (ValueError, dmlops.NoDeviceError) as error:
        raise SystemExit(f"{error}\nTo run the demo without Vulkan: DMLOPS_DEVICE=host make demo") from None
    temple, flower = load_sample_images().images
    astronaut = data.astronaut()
    steps = [crop(temple), mirror(data.coffee()), subsample(flower), patchify(astronaut)]
    steps += [
        unpatchify(steps[-1].run(steps[-1].input, device), astronaut),
        focus(data.chelsea()[:, :450]),
        channels_last(flower),
        reverse_rows(data.rocket()),
        reverse_text(*lines_of_text()),
        preprocess(astronaut[::2, ::2]),
    ]
    steps = [step for step in steps if not options.only or step.title.startswith(tuple(options.only))]
    print_table(steps, device)
    sheet.draw(steps, f"dmlops {dmlops.__version__} on {device.name}").save(options.output, optimize=True)
    print(f"\nEvery result beside its input: {os.path.abspath(options.output)}")
    raise SystemExit(not all(step.equal for step in steps))


def print_table(steps, device):
    """Milliseconds of each step, which is measured here."""
    line = "{:<54} {:<16}" + " {:>8}" * 6 + "  {}"
    print(f"Milliseconds. Vulkan: {device.name}, {device.driver}.")
    print("auto: there or in plain C on the host, whichever is estimated to take less.\n")
    print(line.format("", "", "one", "", "", f"{BATCH}", "", "", "equal"))
    print(line.format("step", "one input", *("Vulkan", "auto", "NumPy") * 2, "to NumPy"))
    for step in steps:
        step.measure(device)
        times = (f"{ms:.3f}" if ms < 10 else f"{ms:.1f}" for count in step.ms for ms in step.ms[count])
        print(line.format(step.title, shape(step.input), *times, "yes" if step.equal else "NO"))
    one, many = (geometric_mean(step.ms[count][2] / step.ms[count][1] for step in steps) for count in (1, BATCH))
    equal = "Every result equals NumPy's to the bit" if all(step.equal for step in steps) else "SOME RESULTS DIFFER"
    print(
        f"\n{equal}. With auto, NumPy takes {one:.1f} times as long for one photograph and {many:.1f} times for {BATCH}\n"
        'of them (geometric means). dmlops.set_default_device("auto") is all it takes; examples/preprocessing.ipynb goes on.'
    )


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


if __name__ == "__main__":
    main()
