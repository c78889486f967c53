"""Random cases of resizing as Pillow, OpenCV and torchvision do it: what tests/peers/resizing_child.py and dmlops are given."""

import importlib.util
import math

import dmlops
import numpy as np

import support

FILTERS = ["nearest", "box", "bilinear", "hamming", "bicubic", "lanczos", "mks2013", "mks2021"]
MODES = ["nearest", "nearest-exact", "linear", "linear-exact", "area", "cubic", "lanczos4"]
INTERPOLATIONS = ["nearest", "nearest-exact", "bilinear", "bicubic", "lanczos"]

_spec = importlib.util.spec_from_file_location("resizing_child", support.ROOT / "tests" / "peers" / "resizing_child.py")
child = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(child)


def _side(random, largest):
    return random.randint(1, random.choice([8, 40, largest, largest]))


def _sizes(random, largest):
    """Of an image and of its result: some in whole factors, some the same one way."""
    old, new = [_side(random, largest) for _ in "yx"], [_side(random, largest) for _ in "yx"]
    for axis in (0, 1):
        if random.random() < 0.15:
            new[axis] = old[axis]
    if random.random() < 0.15:
        new = [max(1, size // random.choice([2, 3, 4])) for size in old]
        old = [size * random.choice([1, 2, 2, 3]) for size in new]
    return old, new


def _box(random, old, new):
    left, top = random.uniform(0, old[1]), random.uniform(0, old[0])
    if random.random() < 0.3:
        left, top = int(left), int(top)
        right, bottom = min(old[1], left + new[1]), min(old[0], top + new[0])
    else:
        right, bottom = random.uniform(left, old[1]), random.uniform(top, old[0])
    return [left, top, right, bottom] if right - left > 1e-3 and bottom - top > 1e-3 else None


def pillow(random, largest=120, filters=FILTERS):
    old, new = _sizes(random, largest)
    channels = random.randint(1, 4)
    arguments = {"size": new, "resample": random.choice(filters), "alpha": channels in (2, 4)}
    if random.random() < 0.4:
        arguments["box"] = _box(random, old, new)
    if random.random() < 0.4:
        arguments["reducing_gap"] = random.choice([1.0, 1.5, 2.0, 3.0])
    return {"shape": [*old, channels], "arguments": arguments}


def opencv(random, largest=120):
    old, new = _sizes(random, largest)
    arguments = {"interpolation": random.choice(MODES), "ipp": False}
    fx, fy = (random.choice([0.5, 0.25, 1 / 3, 2, 3, random.uniform(0.05, 3)]) for _ in "xy")
    if random.random() < 0.3 and round(old[0] * fy) and round(old[1] * fx):
        arguments |= {"fx": fx, "fy": fy}
    else:
        arguments["size"] = new
    channels = random.choice([1, 2, 3, 4, random.randint(5, 9)])
    if channels > 4 and arguments["interpolation"] == "area":  # of so many, OpenCV takes whole factors alone
        factor, arguments = random.choice([2, 2, 3]), {"interpolation": "area", "ipp": False, "size": new}
        old = [size * factor for size in new]
    return {"shape": [*old, channels], "arguments": arguments}


def torchvision(random, largest=120):
    old, new = _sizes(random, largest)
    new[1] = max(new[1], 2)  # one column is a bug that is not copied
    interpolation = random.choice(INTERPOLATIONS)
    antialias = interpolation == "lanczos" or random.random() < 0.6
    size = new
    if random.random() < 0.15:
        size = random.randint(2, largest)
        long = math.ceil(size * max(old) / min(old))
        size = new if long > 4 * largest else size
    arguments = {"size": size, "interpolation": interpolation, "antialias": antialias}
    return {"shape": [*old, random.randint(1, 5)], "arguments": arguments}


DRAW = {"pillow": pillow, "opencv": opencv, "torchvision": torchvision}


def resized(library, case, of=dmlops, **more):
    """What dmlops, or its reference, makes of a case."""
    x = child.picture(case["shape"], case["seed"]).reshape(case["shape"])
    function = getattr(of, f"resize_{library}")
    axes = {"axes": (0, 1)} if library == "torchvision" else {}
    return np.asarray(function(x, **case["arguments"], **axes, **more))
