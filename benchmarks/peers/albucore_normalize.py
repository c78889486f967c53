"""albucore's normalize, of each photograph."""

import numpy as np
from pipelines import MEAN, STD

from .image_library import ImageLibrary


class Albucore(ImageLibrary):
    name = "albucore"
    distributions = ("albucore",)

    def __init__(self, threads, device=None):
        import albucore

        self.albucore = albucore
        self.mean, self.factor = 255 * MEAN, (1 / (255 * STD)).astype(np.float32)

    def normalised(self, x):
        return np.stack([self.albucore.normalize(np.ascontiguousarray(one), self.mean, self.factor) for one in x])
