"""Calls of `dmlops.recipes` that tests compare: with what is recorded, and with cv2 and NumPy."""

import dataclasses
import json
import pathlib
import random
import warnings

import numpy as np
from dmlops import recipes

from processor_cases import digest, photo

DIGESTS = pathlib.Path(__file__).parent / "golden" / "recipes.json"


@dataclasses.dataclass
class Case:
    name: str
    sizes: list[tuple[int, int]]
    options: dict
    channels: int = 3

    def __str__(self):
        options = ", ".join(f"{key}={value}" for key, value in self.options.items())
        options += f"; {self.channels} channels" if self.channels != 3 else ""
        return f"{self.name}({', '.join(f'{h}x{w}' for h, w in self.sizes)}{'; ' if options else ''}{options})"

    def photos(self):
        found = [photo(*size, seed) for seed, size in enumerate(self.sizes)]
        if self.channels > 3:
            more = -(-self.channels // 3)
            found = [np.concatenate([one, *[photo(*one.shape[:2], seed) for seed in range(9, 8 + more)]], 2) for one in found]
            found = [np.ascontiguousarray(one[..., : self.channels]) for one in found]
        return [np.ascontiguousarray(one[..., 0]) for one in found] if self.name == "easyocr_recognition" else found

    def made(self, **more):
        """The results in their order."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of imgsz
            return tuple(getattr(recipes, self.name)(self.photos(), **self.options, **more).values())


def digested(results):
    return digest({str(number): as_array(one) for number, one in enumerate(results)})


def as_array(result):
    """Tuples of tuples become arrays, where the numbers of a list are alike."""
    return result if isinstance(result, list) and hasattr(result[0], "dtype") else np.asarray(result)


def cases():
    for size in ((60, 80), (80, 60), (37, 91), (64, 64), (128, 96)):
        yield Case("ultralytics", [size], {"imgsz": 128})
        yield Case("mmdetection", [size], {"scale": (133, 80)})
        yield Case("paddleocr_detection", [size], {})
        yield Case("paddleocr_recognition", [size], {})
        yield Case("easyocr_detection", [size], {})
        yield Case("easyocr_recognition", [size], {})
        yield Case("insightface_detection", [size], {"input_size": (128, 128)})
        yield Case("insightface_recognition", [size], {})
    mixed = [(60, 80), (50, 90), (60, 80)]
    for more in ({}, {"rect": False}, {"half": True}, {"scale_fill": True}, {"center": False, "padding_value": 0}):
        yield Case("ultralytics", mixed[:2], {"imgsz": (96, 130), **more})
        yield Case("ultralytics", mixed[::2], {"imgsz": 100, "stride": 16, **more})
    yield Case("ultralytics", [(20, 30)], {"imgsz": 64, "scaleup": False})
    yield Case("ultralytics", [(1, 300)], {"imgsz": 64})
    for channels in (4, 5, 8):  # halved, by OpenCV's rules for so many channels
        yield Case("ultralytics", [(128, 96), (60, 80)], {"imgsz": 64}, channels)
    for more in ({}, {"keep_ratio": False}, {"pad_size": (150, 160), "pad_val": 114}, {"mean": None, "std": None}):
        yield Case("mmdetection", mixed, {"scale": (133, 80), **more})
    yield Case("mmdetection", mixed, {"scale": 64, "pad_to_square": True, "pad_val": (1, 2, 3), "pad_value": 0.25})
    rtmdet = {"mean": (103.53, 116.28, 123.675), "std": (57.375, 57.12, 58.395), "bgr_to_rgb": False}
    yield Case("mmdetection", mixed, {"scale": (64, 64), "pad_size": (64, 64), "pad_val": 114, "pad_size_divisor": 1, **rtmdet})
    for more in ({"limit_type": "max"}, {"limit_type": "resize_long", "limit_side_len": 100}, {"max_side_limit": 70}):
        yield Case("paddleocr_detection", mixed, more)
    yield Case("paddleocr_detection", [(20, 30)], {"mean": (0.5, 0.4, 0.3), "std": (0.1, 0.2, 0.3), "scale": 1 / 127.5})
    yield Case("paddleocr_recognition", [(20, 30), (20, 150), (7, 3)], {})
    yield Case("paddleocr_recognition", [(4, 300), (9, 30)], {"rec_image_shape": (3, 32, 100)})
    yield Case("easyocr_detection", mixed, {"mag_ratio": 1.7, "canvas_size": 100})
    yield Case("easyocr_detection", mixed[::2], {"mean": (0.5, 0.4, 0.3), "variance": (0.1, 0.2, 0.3)})
    yield Case("easyocr_recognition", [(20, 30), (20, 150), (70, 33)], {})
    yield Case("easyocr_recognition", [(20, 31), (20, 20)], {"img_h": 32})
    yield Case("insightface_detection", mixed, {"input_size": (96, 64)})
    yield Case("insightface_detection", mixed, {"input_size": (64, 64), "input_mean": 123.675, "input_std": 58.4})
    yield Case("insightface_recognition", [(112, 112), (50, 60)], {})
    yield Case("insightface_recognition", mixed, {"input_size": (40, 30), "input_mean": 0, "input_std": 1})


def drawn(count, seed):
    """Random sizes and options."""
    source = random.Random(seed)
    names = sorted(recipes.__all__)
    for number in range(count):
        name = names[number % len(names)]
        sizes = [(source.randint(9, 200), source.randint(9, 200)) for _ in range(source.choice((1, 1, 2, 3)))]
        sizes = [source.choice(sizes) for _ in sizes]
        channels = source.choice((3, 3, 4, 5, 8)) if name == "ultralytics" else 3
        yield Case(name, sizes, DRAW[name](source), channels)


def numbers(source):
    return tuple(round(source.uniform(0.05, 1.0), 3) for _ in range(3))


DRAW = {
    "ultralytics": lambda s: {
        "imgsz": s.choice((s.randint(40, 300), (s.randint(40, 300), s.randint(40, 300)))),
        "rect": s.random() < 0.5,
        "stride": s.choice((8, 16, 32, 64)),
        "half": s.random() < 0.3,
        "scale_fill": s.random() < 0.2,
        "scaleup": s.random() < 0.7,
        "center": s.random() < 0.7,
        "padding_value": s.choice((114, s.randint(0, 255))),
    },
    "mmdetection": lambda s: {
        "scale": (s.randint(40, 300), s.randint(40, 300)),
        "keep_ratio": s.random() < 0.7,
        "pad_to_square": s.random() < 0.3,
        "pad_val": s.randint(0, 255),
        "mean": tuple(255 * one for one in numbers(s)),
        "std": tuple(255 * one for one in numbers(s)),
        "bgr_to_rgb": s.random() < 0.7,
        "pad_size_divisor": s.choice((1, 7, 32)),
        "pad_value": s.choice((0, 0.5)),
    },
    "paddleocr_detection": lambda s: {
        "limit_side_len": s.randint(30, 300),
        "limit_type": s.choice(("min", "max", "resize_long")),
        "max_side_limit": s.choice((4000, s.randint(100, 300))),
        "mean": numbers(s),
        "std": numbers(s),
    },
    "paddleocr_recognition": lambda s: {"rec_image_shape": (3, s.randint(20, 64), s.randint(40, 400))},
    "easyocr_detection": lambda s: {"canvas_size": s.randint(100, 300), "mag_ratio": s.uniform(0.7, 3)},
    "easyocr_recognition": lambda s: {"img_h": s.randint(20, 64)},
    "insightface_detection": lambda s: {
        "input_size": (s.randint(40, 300), s.randint(40, 300)),
        "input_std": s.choice((128.0, 127.5, s.uniform(1, 200))),
    },
    "insightface_recognition": lambda s: {"input_size": (s.randint(20, 130), s.randint(20, 130))},
}


def recorded():
    return json.loads(DIGESTS.read_text())
