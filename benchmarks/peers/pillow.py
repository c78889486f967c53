"""Pillow's resize, from a NumPy array to a new one."""

import numpy as np

from .peer import Peer, Unsupported


class Pillow(Peer):
    name = "Pillow"
    distributions = ("pillow",)

    def __init__(self, threads, device=None):
        from PIL import Image

        self.image = Image

    def resize(self, operator, x):
        if operator.library != "pillow":
            raise Unsupported("has other bits")
        height, width = operator.size
        chosen = self.image.Resampling[operator.filter.upper()]
        return lambda: np.array(self.image.fromarray(x).resize((width, height), chosen))
