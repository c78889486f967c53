"""OpenCV's resize."""

from .peer import Peer, Unsupported


class OpenCvResize(Peer):
    name = "OpenCV resize"
    distributions = ("opencv-python-headless",)

    def __init__(self, threads, device=None):
        import cv2

        cv2.setNumThreads(threads)
        self.cv2 = cv2

    def resize(self, operator, x):
        if operator.library != "opencv":
            raise Unsupported("has other bits")
        height, width = operator.size
        chosen = getattr(self.cv2, f"INTER_{operator.filter.upper()}")
        return lambda: self.cv2.resize(x, (width, height), interpolation=chosen)
