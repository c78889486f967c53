"""Resizing against Pillow, OpenCV and torchvision themselves: random cases, by several of their versions.

Older versions are installed into build/resizing, each into a folder of its own, from the index; where that fails, or Python is
too new for a version, the test is skipped. DMLOPS_RESIZING_CASES is the number of cases of each, 300 by default, and
DMLOPS_RESIZING_LARGEST the largest side, 300.
"""

import fcntl
import importlib.util
import os
import random
import subprocess
import sys

import pytest

import record_resizing
import resizing_cases
import support

CASES = int(os.environ.get("DMLOPS_RESIZING_CASES", "300"))
LARGEST = int(os.environ.get("DMLOPS_RESIZING_LARGEST", "300"))
OLD_NUMPY = "numpy==1.26.4"
VERSIONS = [
    ("pillow", "12.3.0", []),
    ("pillow", "12.2.0", []),
    ("pillow", "12.1.1", []),
    ("pillow", "11.3.0", []),
    ("pillow", "10.4.0", []),
    ("pillow", "10.0.1", []),
    ("opencv-python-headless", "4.14.0.94", []),
    ("opencv-python-headless", "4.10.0.84", []),
    ("opencv-python-headless", "4.8.1.78", [OLD_NUMPY]),
    ("opencv-python-headless", "4.7.0.72", [OLD_NUMPY]),
    ("opencv-python-headless", "4.6.0.66", [OLD_NUMPY]),
    ("opencv-python-headless", "4.5.5.64", [OLD_NUMPY]),
    ("opencv-python-headless", "3.4.18.65", [OLD_NUMPY]),
]


def installed(package, version, others):
    """The folder into which a version is installed; one process at a time does it."""
    folder = support.ROOT / "build" / "resizing" / f"{package}-{version}-{sys.version_info[0]}.{sys.version_info[1]}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--only-binary=:all:", "--target", folder]
            done = subprocess.run([*pip, f"{package}=={version}", *others], stderr=subprocess.PIPE, text=True)
            if done.returncode:
                pytest.skip(f"{package} {version} cannot be installed: {done.stderr.splitlines()[-1]}")
            (folder / "done").touch()
    return folder


def drawn(library, version, count, **options):
    source = random.Random(f"{library} {version} {count} {LARGEST}")
    return [resizing_cases.DRAW[library](source, LARGEST, **options) | {"seed": source.randrange(10**6)} for _ in range(count)]


def compare(library, cases, device, version="", folders=()):
    """Every case by the library, and by dmlops as that version of it."""
    said, digests = record_resizing.digests(library, cases, folders=folders)
    assert said.startswith(version)
    if library == "torchvision" and not said.endswith(("AVX2", "AVX512")):
        cases = [case for case in cases if case["arguments"]["interpolation"] != "bilinear"]
        digests = [digest for case, digest in zip(cases, digests) if case["arguments"]["interpolation"] != "bilinear"]
    options = {} if library == "torchvision" else {"version": said}
    wrong = []
    for case, digest in zip(cases, digests, strict=True):
        if resizing_cases.child.digest(resizing_cases.resized(library, case, device=device, **options)) != digest:
            wrong.append(case)
    assert not wrong, f"{len(wrong)} of {len(cases)} differ from {library} {said}, as {wrong[:3]}"


@pytest.mark.parametrize("library, module", [("pillow", "PIL"), ("opencv", "cv2"), ("torchvision", "torchvision")])
def test_the_newest(device, library, module):
    assert importlib.util.find_spec(module), f"{module} is not installed"
    compare(library, drawn(library, "newest", CASES), device)


@pytest.mark.parametrize("package, version, others", VERSIONS, ids=[f"{package}-{version}" for package, version, _ in VERSIONS])
def test_older_ones(device, package, version, others):
    library = package.partition("-")[0]
    options = {"filters": resizing_cases.FILTERS[:6]} if library == "pillow" else {}
    folder = installed(package, version, others)
    compare(library, drawn(library, version, CASES, **options), device, version.rpartition(".")[0], [folder])


OPENCV = [("", []), ("4.14.0.94", []), ("4.8.1.78", [OLD_NUMPY]), ("3.4.18.65", [OLD_NUMPY])]


@pytest.mark.parametrize("version, others", OPENCV, ids=[version or "newest" for version, _ in OPENCV])
def test_halves_of_opencv(device, version, others):
    """OpenCV rounds them by a loop for some numbers of channels and by another for others, by vectors and behind them."""
    cases = []
    for interpolation in ("linear", "area", "linear-exact"):
        for channels in (*range(1, 10), 12, 16, 17):
            for seed, (height, width) in enumerate([(1, 1), (2, 7), (3, 16), (1, 33), (5, 130)], 1):
                arguments = {"interpolation": interpolation, "ipp": False}
                half, cut = {"size": [height, width]}, {"fx": 0.5, "fy": 0.5}
                cases.append({"shape": [2 * height, 2 * width, channels], "arguments": arguments | half, "seed": seed})
                cases.append({"shape": [2 * height + 1, 2 * width + 1, channels], "arguments": arguments | cut, "seed": seed})
    folders = [installed("opencv-python-headless", version, others)] if version else ()
    compare("opencv", cases, device, version.rpartition(".")[0], folders)


@pytest.mark.parametrize("version", ["", "12.3.0", "12.2.0", "12.1.1"])
def test_tall_images_of_pillow(device, version):
    """Versions differ in the order of passes where an image gets many times lower."""
    source = random.Random(version)
    cases = []
    for _ in range(CASES // 3):
        width = source.randint(1, 4)
        height = width * source.choice([101, 100, 150, 60])
        size = [source.choice([1, height // 7, height - 1, height]), source.randint(1, 9)]
        arguments = {"size": size, "resample": source.choice(resizing_cases.FILTERS[1:6]), "alpha": False}
        if source.random() < 0.5:
            arguments["box"] = [0, source.uniform(0, 9), width, height - source.uniform(0, 9)]
        cases.append({"shape": [height, width, 3], "arguments": arguments, "seed": source.randrange(10**6)})
    compare("pillow", cases, device, version, [installed("pillow", version, [])] if version else ())


def test_one_column_is_right_where_torchvision_is_not(device):
    """PyTorch fills a result of one column with copies of its first row."""
    case = {"shape": [9, 8, 3], "seed": 1}
    for name in ("bilinear", "bicubic"):
        two = resizing_cases.resized(
            "torchvision", case | {"arguments": {"size": [4, 1], "interpolation": name, "antialias": True}}, device=device
        )
        assert len({row.tobytes() for row in two}) > 1
