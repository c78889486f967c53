"""Everyday image and text preprocessing with dmlops, on photographs that scikit-image and scikit-learn carry.

Prints a table of what was run, and writes a picture of every result beside its input. Usage:

    python examples/demo.py [--device NAME] [--output demo.png]
"""

import argparse
import contextlib
import io
import os
import time
from dataclasses import dataclass

import numpy as np
from skimage import data
from sklearn.datasets import load_sample_images

import dmlops
import sheet


@dataclass
class Step:
    """One call: what it is for, how a reader would write it, and the same in NumPy."""

    title: str
    code: str
    operator: str
    input: np.ndarray
    run: callable
    numpy: callable
    # Pictures of the input and of the result: a list of (caption, image) each.
    show: callable

    def measure(self, device):
        self.result = self.run(self.input, device)
        expected = np.ascontiguousarray(self.numpy(self.input))
        same = self.result.dtype == expected.dtype and self.result.shape == expected.shape
        self.equal = same and self.result.tobytes() == expected.tobytes()
        self.ms = best_ms(lambda: self.run(self.input, device))
        self.numpy_ms = best_ms(lambda: np.ascontiguousarray(self.numpy(self.input)))


def best_ms(call, repeats=15):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def shape(array):
    return "x".join(map(str, array.shape))


def pair(x, y):
    return [(f"input {shape(x)}", x), (f"result {shape(y)}", y)]


# --- slice: crop, mirror, subsample -------------------------------------------------------------------------------


def crop(photo):
    return Step(
        "Crop",
        "dmlops.slice(photo, offsets=(30, 10, 0), sizes=(250, 300, 3))",
        "slice",
        photo,
        lambda x, device: dmlops.slice(x, (30, 10, 0), (250, 300, 3), device=device),
        lambda x: x[30:280, 10:310],
        lambda x, y: [(f"input {shape(x)}", sheet.outlined(x, 10, 30, 300, 250)), (f"result {shape(y)}", y)],
    )


def mirror(photo):
    return Step(
        "Mirror",
        "dmlops.slice(photo, (0, 0, 0), photo.shape, strides=(1, -1, 1))",
        "slice",
        photo,
        lambda x, device: dmlops.slice(x, (0, 0, 0), x.shape, (1, -1, 1), device=device),
        lambda x: x[:, ::-1],
        pair,
    )


def subsample(photo):
    return Step(
        "Every sixth pixel",
        "dmlops.slice(photo, *dmlops.slice_from_key(photo.shape, np.s_[::6, ::6]))",
        "slice",
        photo,
        lambda x, device: dmlops.slice(x, *dmlops.slice_from_key(x.shape, np.s_[::6, ::6]), device=device),
        lambda x: x[::6, ::6],
        lambda x, y: [(f"input {shape(x)}", x), (f"result {shape(y)}, shown three times as large", sheet.enlarged(y, 3))],
    )


# --- space_to_depth, depth_to_space: patches and back -------------------------------------------------------------


def patchify(photo):
    block = 64
    rows, columns = (size // block for size in photo.shape[:2])

    def numpy(x):
        return x.reshape(rows, block, columns, block, 3).swapaxes(1, 2).reshape(rows, columns, -1)

    def show(x, y):
        patches = y.reshape(rows, columns, block, block, 3)
        return [(f"input {shape(x)}", x), (f"result {shape(y)}: {rows * columns} patches", sheet.tiled(patches, 14))]

    return Step(
        "Patchify, as a vision transformer does",
        'dmlops.space_to_depth(photo, (64, 64), layout="NHWC")',
        "space_to_depth",
        photo,
        lambda x, device: dmlops.space_to_depth(x, (block, block), layout="NHWC", device=device),
        numpy,
        show,
    )


def unpatchify(patches, photo):
    block = 64
    rows, columns = patches.shape[:2]

    def show(x, y):
        assert np.array_equal(y, photo)
        tiles = sheet.tiled(x.reshape(rows, columns, block, block, 3), 14)
        return [(f"input {shape(x)}", tiles), (f"result {shape(y)}: bit for bit the photograph", y)]

    return Step(
        "... and back",
        'dmlops.depth_to_space(patches, (64, 64), layout="NHWC")',
        "depth_to_space",
        patches,
        lambda x, device: dmlops.depth_to_space(x, (block, block), layout="NHWC", device=device),
        lambda x: x.reshape(rows, columns, block, block, 3).swapaxes(1, 2).reshape(rows * block, columns * block, 3),
        show,
    )


def focus(photo):
    """YOLO's first layer: neither DCR nor CRD, but space_to_depth of the picture with its spatial axes swapped."""
    x = np.ascontiguousarray(photo.transpose(2, 0, 1)[None], np.float32) / 255

    def show(x, y):
        quarters = [sheet.to_bytes(part.transpose(1, 2, 0)) for part in np.split(y[0], 4)]
        names = ["top-left", "bottom-left", "top-right", "bottom-right"]
        whole = sheet.to_bytes(x[0].transpose(1, 2, 0))
        labelled = sheet.tiled(np.stack(quarters).reshape(2, 2, *quarters[0].shape), 20, names)
        return [(f"input {shape(x)}", whole), (f"result {shape(y)}: channels 0-2, 3-5, 6-8, 9-11", labelled)]

    return Step(
        "YOLO's Focus",
        "dmlops.space_to_depth(x.swapaxes(2, 3), 2).swapaxes(2, 3)",
        "space_to_depth",
        x,
        lambda x, device: dmlops.space_to_depth(x.swapaxes(2, 3), 2, device=device).swapaxes(2, 3),
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
        lambda x: x.reshape(1, height // 3, width // 3, 3, 3, 3).transpose(0, 1, 3, 2, 4, 5).reshape(1, height, width, 3),
        show,
    )


# --- reverse_subsequences: each line to its own length -------------------------------------------------------------


def lines_of_text():
    """The Zen of Python as a padded batch of bytes, and the length of each line."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        import this  # noqa: F401
    lines = [line for line in printed.getvalue().splitlines() if line]
    lengths = np.array([len(line) for line in lines])
    return np.array(lines, f"S{lengths.max()}").view("S1").reshape(len(lines), -1), lengths


def reverse_text(batch, lengths):
    def numpy(x):
        y = x.copy()
        for line, length in zip(y, lengths):
            line[:length] = line[:length][::-1]
        return y

    return Step(
        "Reverse each line of a padded batch to its own length",
        "dmlops.reverse_subsequences(batch, lengths, axis=1, batch_axis=0)",
        "reverse_subsequences",
        batch,
        lambda x, device: dmlops.reverse_subsequences(x, lengths, 1, batch_axis=0, device=device),
        numpy,
        lambda x, y: [(f"input {shape(x)}, padding shaded", sheet.text(x)), (f"result {shape(y)}", sheet.text(y))],
    )


def reverse_rows(photo):
    rows, columns = photo.shape[:2]
    lengths = np.linspace(0, columns, rows).astype(np.int64)

    def numpy(x):
        y = x.copy()
        for row, length in zip(y, lengths):
            row[:length] = row[:length][::-1].copy()
        return y

    def show(x, y):
        return [(f"input {shape(x)}", sheet.stepped(x, lengths)), (f"result {shape(y)}", sheet.stepped(y, lengths))]

    return Step(
        "Reverse each row of a photograph up to the line",
        "dmlops.reverse_subsequences(photo, lengths, axis=1, batch_axis=0)",
        "reverse_subsequences",
        photo,
        lambda x, device: dmlops.reverse_subsequences(x, lengths, 1, batch_axis=0, device=device),
        numpy,
        show,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="number, name or type of a device, or host (default: dmlops.default_device())")
    parser.add_argument("--output", default="demo.png", help="where the picture goes (default: %(default)s)")
    options = parser.parse_args()
    try:
        device = dmlops.asarray(0, device=options.device).device
    except (ValueError, dmlops.NoDeviceError) as error:
        raise SystemExit(f"{error}\nTo run the demo without Vulkan: DMLOPS_DEVICE=host make demo") from None
    name = device.name

    temple, flower = load_sample_images().images
    astronaut = data.astronaut()
    steps = [crop(temple), mirror(data.coffee()), subsample(flower), patchify(astronaut)]
    steps[-1].measure(device)
    steps += [
        unpatchify(steps[-1].result, astronaut),
        focus(data.chelsea()[:, :450]),
        channels_last(flower),
        reverse_rows(data.rocket()),
        reverse_text(*lines_of_text()),
    ]

    line = "{:<21} {:<18} {:<18} {:<8} {:<28} {:>8} {:>9}  {}"
    print(line.format("operator", "input", "result", "dtype", "device", "ms", "NumPy ms", "equal to NumPy"))
    for step in steps:
        step.measure(device)
        ms, numpy_ms = f"{step.ms:.3f}", f"{step.numpy_ms:.3f}"
        equal = "yes" if step.equal else "NO"
        shapes = shape(step.input), shape(step.result)
        print(line.format(step.operator, *shapes, str(step.input.dtype), name[:28], ms, numpy_ms, equal))

    faster = sum(step.numpy_ms < step.ms for step in steps)
    print(
        f"\nNumPy is faster in {faster} of {len(steps)}: one photograph is little work, and a call costs some 0.1 ms on a CPU "
        "driver."
    )
    print("Larger batches, and arrays that stay on a device, are what dmlops is for: see the README's section on speed.")

    sheet.draw(steps, f"dmlops {dmlops.__version__} on {name}").save(options.output, optimize=True)
    print(f"\nEvery result beside its input: {os.path.abspath(options.output)}")
    raise SystemExit(not all(step.equal for step in steps))


if __name__ == "__main__":
    main()
