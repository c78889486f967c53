"""OpenCV's blobFromImagesWithParams: mean and scale by channel, channels first."""

import numpy as np
from pipelines import MEAN, STD, Pipeline

from .peer import Peer, Unsupported


class OpenCvBlob(Peer):
    name = "OpenCV blob"
    distributions = ("opencv-python-headless",)

    def __init__(self, threads, device=None):
        import cv2

        cv2.setNumThreads(threads)
        self.cv2 = cv2

    def pipeline(self, operator, x):
        if operator.dtype != "float32":
            raise Unsupported("gives float32")
        cv2, swap = self.cv2, operator.name == "swap"
        params = cv2.dnn.Image2BlobParams()
        params.scalefactor = (1 / (255 * STD.astype(float))).tolist() + [1.0]
        params.mean = (255 * MEAN.astype(float)).tolist() + [0.0]
        params.swapRB = swap
        inner = Pipeline("plain") if swap else operator

        def call():
            blob = cv2.dnn.blobFromImagesWithParams([np.ascontiguousarray(one) for one in inner.moved(x)], params)
            return np.ascontiguousarray(operator.arranged(blob))

        return call
