"""``python -m dmlops``: versions and devices. ``python -m dmlops selftest``: every operator on every device."""

import argparse
import itertools
import platform
import sys
import time

import numpy as np

import dmlops
from dmlops import _core, explain


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["explain"]:
        return explain.main(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m dmlops", description="DirectML's operators on Vulkan.")
    parser.add_argument(
        "command",
        nargs="?",
        choices=["info", "selftest", "explain"],
        default="info",
        help="info: print versions and devices (default); selftest: compare every operator on every device with NumPy; "
        "explain CALL: what a call becomes on a device, and why",
    )
    command = parser.parse_args(arguments).command
    return selftest() if command == "selftest" else info()


def info():
    print(f"dmlops {dmlops.__version__}, Python {platform.python_version()}, NumPy {np.__version__}")
    devices = dmlops.devices()
    print(f"Vulkan: {_core.missing() or _count(len(devices) - 1, 'device')}")
    print()
    rows = [("index", "name", "type", "driver", "Vulkan", "memory", "usable")]
    for device in devices:
        rows.append(
            (
                str(device.index),
                device.name,
                device.type,
                device.driver,
                device.api_version or "-",
                f"{device.memory / 2**30:.1f} GiB" if device.memory else "-",
                "yes" if device.usable else f"no: {device.reason}",
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def selftest():
    if _core.missing():
        print(f"Vulkan: {_core.missing()}")
    failures = 0
    for device in dmlops.devices():
        if not device.usable:
            print(f"skip  {device.name}: {device.reason}")
            continue
        for name, calls in _cases().items():
            began = time.perf_counter()
            problem = _first_problem(name, calls, device)
            milliseconds = (time.perf_counter() - began) * 1e3
            failures += problem is not None
            verdict = "ok   " if problem is None else "FAIL "
            line = f"{verdict} {device.name}: {name}, {len(calls)} calls, {milliseconds:.0f} ms"
            print(f"{line}: {problem}" if problem else line)
    return 1 if failures else 0


def _count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _first_problem(name, calls, device):
    """What is wrong with the first call that does not do what its twin does; None if all do."""
    for args, keywords in calls:
        what = f"with {args[0].dtype} {args[0].shape}, strides {args[0].strides}"
        expected = getattr(dmlops.reference, name)(*args, **keywords)
        try:
            result = getattr(dmlops, name)(*args, **keywords, device=device)
        except Exception as error:  # a device that fails is what this looks for
            return f"{what}: {type(error).__name__}: {error}"
        if result.shape != expected.shape or result.tobytes() != expected.tobytes():
            return f"{what}: differs from NumPy"
    return None


def _cases():
    """Calls of each operator that between them take every kind of path: item sizes, odd rows, strides, reversal."""
    cases = {"reverse_subsequences": [], "depth_to_space": [], "space_to_depth": [], "slice": []}
    for dtype in ("u1", "f2", "S3", ">f4", "c8", "f8", "c16"):
        image, odd, batch = _noise(dtype, (2, 12, 8, 18)), _noise(dtype, (37, 131)), _noise(dtype, (5, 29, 3))
        lengths = [0, 1, 28, 29, 17]
        cases["reverse_subsequences"] += [
            ((batch, lengths, 1), {"batch_axis": 0}),
            ((odd, (np.arange(37) * 4)[:, None], 1), {}),
            ((odd[::-1, ::3], [[5]], 0), {}),
            ((batch.T, lengths, 1), {"batch_axis": -1}),
        ]
        for block, order, layout in itertools.product((1, 2, (2, 3)), ("DCR", "CRD"), ("NCHW", "NHWC")):
            picture = image if layout == "NCHW" else np.moveaxis(image, 1, -1)
            for name in ("depth_to_space", "space_to_depth"):
                cases[name].append(((picture, block), {"order": order, "layout": layout}))
        cases["slice"] += [
            ((odd, *dmlops.window(odd.shape, key)), {})
            for key in (np.s_[:], np.s_[1:-1, 3:], np.s_[:, ::2], np.s_[::-1, ::-1], np.s_[::2, ::-3], np.s_[5:5])
        ]
        cases["slice"] += [((odd.T[1:], [0, 1], [130, 36], [2, -5]), {"output_sizes": [60, 7]})]
    return cases


def _noise(dtype, shape):
    dtype = np.dtype(dtype)
    random = np.random.default_rng(1)
    return random.integers(1, 255, (*shape, dtype.itemsize), np.uint8).view(dtype)[..., 0]


if __name__ == "__main__":
    sys.exit(main())
