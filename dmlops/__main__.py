"""The command line: ``python -m dmlops`` lists the devices; COMMANDS below has the other commands."""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib.util
import itertools
import os
import platform
import sys
import time
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import dmlops
from dmlops import _core, doctor, explain
from dmlops.errors import printable

# As the first page and the package's summary have it; `-OO` leaves out docstrings.
WHAT_IT_IS = (
    "Prepares images and arrays for models in few passes on any CPU or GPU, "
    "with the bits of NumPy, Pillow, OpenCV or torchvision."
)
# The arguments of one call of an operator, by position and by name.
Call: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]


def main(arguments: list[str] | None = None) -> int:
    for name in ("stdout", "stderr"):  # None where the file is closed, as by `>&-`
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        with contextlib.suppress(AttributeError):  # a stream of the caller's
            getattr(sys, name).reconfigure(errors="backslashreplace")
    parser = argparse.ArgumentParser(prog="python -m dmlops", description=WHAT_IT_IS)
    parser.add_argument("--version", action="version", version=f"dmlops {dmlops.__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    for name, (_, text) in COMMANDS.items():
        commands.add_parser(name, help=text, add_help=False)
    try:
        try:
            options, rest = parser.parse_known_args(arguments)
            return COMMANDS[options.command or "info"][0](rest)
        finally:  # also where --help exits
            sys.stdout.flush()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except OSError as error:  # a full disk; or the reader has gone
        if not _reader_has_gone(error):
            print(f"error: {error}", file=sys.stderr)
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def info(arguments: list[str]) -> int:
    _parse_none("info", arguments)
    print(f"dmlops {dmlops.__version__}, Python {platform.python_version()}, NumPy {np.__version__}")
    if crash := doctor.crash():
        print("\n".join(map(printable, crash)))
        return 1
    devices, missing = _core._devices()
    count = len(devices) - 1  # without the host
    print(printable(f"Vulkan: {missing or f'{count} device' + 's' * (count != 1)}"))
    print(printable(f"DMLOPS_DEVICE: {os.environ.get('DMLOPS_DEVICE') or 'not set'}"))
    try:
        default = dmlops.default_device()
        print(printable(f"Default device, marked *: {default.name} ({default.chosen_by})"))
        print('Where arrays come from NumPy and go back to it, device="auto" or DMLOPS_DEVICE=auto is mostly faster: it runs')
        print("each call there or on the host, by cost, as fused functions do. Arrays that stay on a device need no choice.")
    except (ValueError, dmlops.NoDeviceError) as error:
        default = None
        why = 'device="host" and DMLOPS_DEVICE=host run without Vulkan' if missing else error
        print(printable(f"Default device: none; {why}"))
    print()
    rows = [("", "index", "name", "type", "driver", "Vulkan", "memory", "usable")]
    for device in devices:
        rows.append(
            (
                "*" if device == default else "",
                "-" if device.index is None else str(device.index),
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
        print(printable("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()))
    print()
    for line in doctor.report(devices[:-1]):
        print(printable(line))
    return 0


def run(arguments: list[str]) -> int:
    from dmlops.directml.runner import main as run_model  # other commands do without its modules

    return run_model(arguments)


def preprocessing(arguments: list[str]) -> int:
    from dmlops.processors.command import main as describe

    return describe(arguments)


def selftest(arguments: list[str]) -> int:
    _parse_none("selftest", arguments)
    devices, missing = _core._devices()
    if missing:
        print(f"Vulkan: {missing}")
    failures = 0
    for device in devices:
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
    left_out = "" if importlib.util.find_spec("einops") else " rearrange and repeat, which need einops;"
    left_out += " preprocessing, dmlops.recipes, dmlops.dask, dmlops.directml, dmlops.onnx"
    print(f"left out:{left_out}; device arrays and views of them, DLPack, progress")
    return 1 if failures else 0


def compare(arguments: list[str]) -> int:
    from dmlops import commands  # other commands do without its modules

    return commands.compare(arguments)


def prove(arguments: list[str]) -> int:
    from dmlops import commands

    return commands.prove(arguments)


# The name of a command: the function that runs it, which gets the arguments behind the name; what the help says.
COMMANDS: dict[str, tuple[Callable[[list[str]], int], str]] = {
    "info": (info, "print versions, devices, the driver of each and why others were passed over; the default command"),
    "selftest": (selftest, "compare every operator, and fused functions, on every device with NumPy"),
    "explain": (explain.main, "say where a call runs and why, and what it reads and writes; with --plans its kernels"),
    "compare": (compare, "run a fused function, MODULE:FUNCTION, or an operator on each device and in NumPy"),
    "prove": (prove, "prove that a fused function equals NumPy's for every array of these shapes"),
    "preprocessing": (preprocessing, "print what a model's folder says of its pictures; compare with the original"),
    "run": (run, "run a model of DirectML's test tool, DxDispatch"),
}


def _reader_has_gone(error: OSError, system: str = os.name) -> bool:
    """Tell `| head` from other errors of writing; Windows calls it an invalid argument."""
    return isinstance(error, BrokenPipeError) or (system == "nt" and error.errno == errno.EINVAL)


def _parse_none(command: str, arguments: list[str]) -> None:
    """Accept no arguments but --help."""
    text = COMMANDS[command][1]
    parser = argparse.ArgumentParser(prog=f"python -m dmlops {command}", description=f"{text[0].upper()}{text[1:]}.")
    parser.parse_args(arguments)


def _first_problem(name: str, calls: list[Call], device: dmlops.Device) -> str | None:
    """Describe the first call whose result differs from the reference's; None if there is none."""
    function, twin = _function_and_twin(name)
    for args, keywords in calls:
        first = next(one for argument in args for one in _arrays(argument) if isinstance(one, np.ndarray))
        what = f"with {first.dtype} {first.shape}, strides {first.strides}"
        expected = _arrays(twin(*args, **keywords))
        try:
            result = _arrays(function(*args, **keywords, device=device))
        except Exception as error:  # whatever fails is a finding
            return f"{what}: {type(error).__name__}: {error}"
        if [(array.shape, array.tobytes()) for array in result] != [(array.shape, array.tobytes()) for array in expected]:
            return f"{what}: differs from NumPy"
    return None


def _function_and_twin(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """What is tested, and what gives the same in NumPy."""
    if name == "fuse":

        def function(traced: Callable[..., Any], *args: Any, device: Any) -> Any:
            return dmlops.fuse(traced)(*args, device=device)

        return function, lambda traced, *args: dmlops.fuse(traced).reference(*args)
    if name in ("rearrange", "repeat"):
        return getattr(dmlops, name), getattr(importlib.import_module("einops"), name)
    return getattr(dmlops, name), getattr(dmlops.reference, name)


def _arrays(arrays: Any) -> list[np.ndarray[Any, np.dtype[Any]]]:
    """What `join` takes and `split` gives is a list."""
    return arrays if isinstance(arrays, list) else [arrays]


def _cases() -> dict[str, list[Call]]:
    """Calls of each operator that together run every kernel: item sizes, unaligned rows, strides, reversal."""
    cases: dict[str, list[Call]] = {name: [] for name in explain.OPERATORS}
    picks = np.random.default_rng(2).integers(-37, 37, (5, 131))
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
            ((odd, *dmlops.slice_from_key(odd.shape, key)), {})
            for key in (np.s_[:], np.s_[1:-1, 3:], np.s_[:, ::2], np.s_[::-1, ::-1], np.s_[::2, ::-3], np.s_[5:5])
        ]
        cases["slice"] += [((odd.T[1:], [0, 1], [130, 36], [2, -5]), {"output_sizes": [60, 7]})]
        cases["padding"] += [((odd, [1, 200], [40, 3]), {"mode": mode}) for mode in ("edge", "reflection", "symmetric", "wrap")]
        cases["padding"] += [((odd[:, ::-1], [3, 3], [0, 5]), {"value": odd[0, 0]})]
        cases["tile"] += [((odd, [2, 3]), {}), ((batch.T, [1, 3, 2]), {})]
        cases["join"] += [(([odd, odd[:, ::-1], odd[:, :5]], 1), {}), (([batch, batch[:2]], 0), {})]
        cases["split"] += [((odd, 1, [100, 0, 31]), {}), ((batch.T, 0, [1, 2]), {})]
        cases["transpose"] += [((odd,), {}), ((batch, (2, 0, 1)), {}), ((image, (0, 2, 3, 1)), {})]
        cases["upsample"] += [((image, 2), {}), ((batch, (3, 2)), {"layout": "NHWC"})]
        cases["slice_grad"] += [((odd, [40, 400], [3, 1], [37, 391], [1, -3]), {})]
        cases["take"] += [((odd, picks[:2, :3], 0), {}), ((odd.T, picks[0], 1), {}), ((odd, picks), {})]
        cases["take_along_axis"] += [((odd, picks, 0), {}), ((odd[:5, ::-1], picks.astype(np.int16), 1), {})]
        cases["put_along_axis"] += [((odd, picks, odd[:5, ::-1], 0), {})]
        cases["gather_nd"] += [((odd, picks[:, :2]), {}), ((image[:, 0, :, 0], picks[:, :1] % 2), {})]
        cases["scatter_nd"] += [((odd, picks[:, :2], odd[0, :5]), {})]
    return cases | _resizes() | _composed() | _fused()


def _composed() -> dict[str, list[Call]]:
    """Calls of what is several movements in one pass. einops' patterns are tested where einops is."""
    image, odd = _noise("u1", (2, 12, 8, 18)), _noise("f4", (37, 131))
    picks = np.random.default_rng(3).integers(-9, 9, (5, 13))
    places = np.arange(37)[:, None] % 33
    cases: dict[str, list[Call]] = {
        "roll": [((odd, 5), {}), ((image, (1, -2), (1, 3)), {}), ((odd[:, ::-1], -40, 1), {})],
        "sliding_windows": [((odd, 30, 1), {"strides": 12}), ((image[..., ::-1], (3, 4), (2, 3)), {})],
        "resize_nearest": [((odd, (50, 60)), {}), ((image, (4, 36)), {"axes": (2, 3), "coordinates": "asymmetric"})],
        "crops": [((image, [[1, 9], [4, 0]], (4, 9), [True, False]), {"axes": (2, 3)}), ((odd, places, (99,)), {})],
        "one_hot": [((picks, 9), {}), ((picks, 7), {"axis": 0, "on": 2, "off": -1, "dtype": "i2"})],
    }
    if importlib.util.find_spec("einops"):
        cases["rearrange"] = [((image, "n c (h p) (w q) -> n (h w) (p q c)"), {"p": 4, "q": 6}), ((odd, "a b -> b 1 a"), {})]
        cases["repeat"] = [((image, "n c h w -> n (h 2) (w 3) c"), {}), ((odd, "a b -> (k a) b"), {"k": 2})]
    return cases


def _fused() -> dict[str, list[Call]]:
    """Functions of several steps: movements, tables, a resize, several results."""

    def prepared(x: Any) -> Any:
        padded = np.pad(x[:, 1:-1, ::-1], ((0, 0), (2, 1), (0, 2)), "reflect")
        return ((padded - np.float32(7)) / np.float32(3)).transpose(2, 0, 1)

    def parts(x: Any) -> Any:
        return [np.roll(x, 5, 1).T, np.concatenate([x, x[::-1]])[:, ::2], np.repeat(x, 3, 0).reshape(-1)]

    def resized(x: Any) -> Any:
        return dmlops.resize_pillow(x, (20, 24), "bicubic")[2:18, ::-1].transpose(2, 0, 1) / np.float32(255)

    photo = _noise("u1", (33, 47, 3))
    calls: list[Call] = [((function, view), {}) for function in (prepared, resized) for view in (photo, photo[::-1])]
    return {"fuse": [*calls, *(((parts, _noise(code, (37, 24))), {}) for code in ("u1", "f2", "f8"))]}


def _resizes() -> dict[str, list[Call]]:
    """Calls that resize up and down, by each kind of sum."""
    image, planes = _noise("u1", (3, 37, 50, 3)), _noise("u1", (2, 41, 53))
    pillow: list[Call] = [((image, (17, 61), name), {}) for name in ("box", "bilinear", "bicubic", "lanczos", "nearest")]
    pillow += [((image[:, ::-1], (30, 11)), {"box": (1.5, 2, 40.25, 37)}), ((image, (4, 5)), {"reducing_gap": 1.5})]
    modes = ("linear", "linear-exact", "area", "cubic", "lanczos4", "nearest")
    opencv: list[Call] = [((image, (20, 73), name), {"ipp": False}) for name in modes]
    opencv += [((image, size, "area"), {}) for size in ((11, 13), (60, 70))] + [((image[:, :36], (18, 25)), {})]
    torchvision: list[Call] = [((planes, (17, 61), name), {}) for name in ("bilinear", "bicubic", "lanczos")]
    torchvision += [((planes.transpose(0, 2, 1), 20, "bicubic"), {"antialias": False})]
    return {"resize_opencv": opencv, "resize_pillow": pillow, "resize_torchvision": torchvision}


def _noise(dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, np.dtype[Any]]:
    random = np.random.default_rng(1)
    itemsize = np.dtype(dtype).itemsize
    return random.integers(1, 255, (*shape, itemsize), np.uint8).view(dtype)[..., 0]


if __name__ == "__main__":
    sys.exit(main())
