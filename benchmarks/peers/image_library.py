"""Libraries of image processing, for the pipelines: they normalise photographs with channels last, NumPy does the rest."""

import numpy as np

from .peer import Peer, Unsupported


class ImageLibrary(Peer):
    def pipeline(self, operator, x):
        if operator.dtype != "float32":
            raise Unsupported("gives float32")

        def call():
            floats = self.normalised(operator.moved(x))
            return np.ascontiguousarray(operator.arranged(np.moveaxis(floats, -1, 1)))

        return call

    def normalised(self, x):
        """Photographs (n, h, w, 3) as floats."""
        raise NotImplementedError
