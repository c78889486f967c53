"""OpenCV's LUT: a table for each channel, which NumPy has made."""

import numpy as np
from pipelines import MEAN, STD

from .image_library import ImageLibrary


class OpenCvLut(ImageLibrary):
    name = "OpenCV LUT"
    distributions = ("opencv-python-headless",)

    def __init__(self, threads, device=None):
        import cv2

        cv2.setNumThreads(threads)
        self.cv2 = cv2
        values = np.arange(256, dtype=np.uint8)[None, :, None]
        self.table = (values / np.float32(255) - MEAN) / STD

    def normalised(self, x):
        rows = np.ascontiguousarray(x).reshape(-1, *x.shape[2:])
        return self.cv2.LUT(rows, self.table).reshape(x.shape)
