"""Preprocessing of photographs, as fused functions: the operator of the cells `pipelines`, with the shapes they have."""

import functools
from dataclasses import dataclass

import numpy as np

MEAN = np.array([0.485, 0.456, 0.406], np.float32)
STD = np.array([0.229, 0.224, 0.225], np.float32)
BORDER, GREY, PATCH = 32, 114, 8  # rows of a letterbox at each side, their bytes; pixels of a patch's side
MARGIN = 8  # pixels that a crop takes away
TITLES = {
    "crop": "crop",
    "mirror": "mirror",
    "swap": "BGR to RGB",
    "patches": "ViT patches",
    "letterbox": "letterbox",
    "focus": "YOLO's Focus",
}
SIZES = ((1, 224, 224), (8, 224, 224), (32, 224, 224), (1, 640, 640), (1, 1080, 1920), (4, 1080, 1920))


@dataclass(frozen=True)
class Pipeline:
    """uint8 NHWC to float NCHW: pixels moved, divided by 255, normalised by channel, and perhaps moved again."""

    name: str
    dtype: str = "float32"
    kind = "pipeline"

    def share_read(self, shape, itemsize):
        return 1.0

    def ours(self, dmlops, x, device):
        return _fused(self)(x, device=device)

    def numpy(self, x):
        return np.ascontiguousarray(self.function(x))

    def function(self, x):
        """As people write it; also what dmlops.fuse is given."""
        x = np.moveaxis(self.moved(x), -1, 1)
        x = (x / np.float32(255) - MEAN.reshape(3, 1, 1)) / STD.reshape(3, 1, 1)
        return self.arranged(x).astype(self.dtype)

    def moved(self, x):
        """Photographs, channels last."""
        if self.name == "crop":
            return x[:, MARGIN:-MARGIN, MARGIN:-MARGIN]
        if self.name == "mirror":
            return x[:, :, ::-1]
        if self.name == "swap":
            return x[..., ::-1]
        if self.name == "letterbox":
            return np.pad(x, ((0, 0), (BORDER, BORDER), (0, 0), (0, 0)), constant_values=GREY)
        return x

    def arranged(self, x):
        """Channels first."""
        n, c, h, w = x.shape
        if self.name == "patches":
            x = x.reshape(n, c, h // PATCH, PATCH, w // PATCH, PATCH).transpose(0, 2, 4, 1, 3, 5)
            return x.reshape(n, h * w // PATCH**2, c * PATCH**2)
        if self.name == "focus":
            return np.concatenate([x[..., row::2, column::2] for column in (0, 1) for row in (0, 1)], 1)
        return x


@functools.cache
def _fused(pipeline):
    import dmlops

    return dmlops.fuse(pipeline.function)
