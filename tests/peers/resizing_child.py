"""What Pillow, OpenCV or torchvision give: cases of resizing_cases.py on standard input, a digest for each on standard output.

    python resizing_child.py pillow < cases

The first line is the library's version. It imports nothing of the project, so that it runs with any version of a library.
"""

import hashlib
import json
import sys

import numpy as np

PILLOW_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
OPENCV_NAMES = ["nearest", "linear", "cubic", "area", "lanczos4", "linear-exact", "nearest-exact"]


def picture(shape, seed):
    """Bytes that are the same everywhere; of every fourth seed black and white ones."""
    count = shape[0] * shape[1] * shape[2]
    x = np.frombuffer(hashlib.shake_256(str(seed).encode()).digest(count), np.uint8)
    return (x >> 7) * np.uint8(255) if seed % 4 == 0 else x


def digest(x):
    return hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()[:32]


def pillow():
    import PIL
    from PIL import Image

    def run(x, size, resample, box=None, reducing_gap=None, alpha=False):
        image = Image.fromarray(x[..., 0] if x.shape[2] == 1 else x, PILLOW_MODES[x.shape[2]])
        number = getattr(Image.Resampling, resample.upper())
        return np.asarray(image.resize(tuple(size[::-1]), number, box and tuple(box), reducing_gap))

    return PIL.__version__, run


def opencv():
    import cv2

    if hasattr(cv2, "ipp"):
        cv2.ipp.setUseIPP(False)

    def run(x, size=None, interpolation="linear", fx=None, fy=None, ipp=False):
        return cv2.resize(x, size and size[::-1], None, fx or 0, fy or 0, OPENCV_NAMES.index(interpolation))

    return cv2.__version__, run


def torchvision():
    import torch

    # What registers operators in C++, which are not used here, fails where they are of another build of torch.
    torch.library.register_fake = lambda *_, **__: lambda function: function
    from torchvision.transforms import InterpolationMode
    from torchvision.transforms.v2 import functional

    def run(x, size, interpolation, antialias):
        tensor = torch.from_numpy(np.ascontiguousarray(x.transpose(2, 0, 1)))
        size = [size] if isinstance(size, int) else list(size)
        result = functional.resize(tensor, size, InterpolationMode(interpolation), antialias=antialias)
        return result.numpy().transpose(1, 2, 0)

    return torch.__version__ + " " + torch.backends.cpu.get_cpu_capability(), run


if __name__ == "__main__":
    version, run = globals()[sys.argv[1]]()
    print(version)
    for line in sys.stdin:
        case = json.loads(line)
        x = picture(case["shape"], case["seed"]).reshape(case["shape"])
        print(digest(run(x, **case["arguments"])))
