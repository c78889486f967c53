"""CuPy on a CUDA device, from and to NumPy."""

from .peer import Peer


class CuPy(Peer):
    name = "CuPy"
    distributions = ("cupy-cuda13x", "cupy-cuda12x", "cupy")
    where = "cuda"

    def __init__(self, threads, device=None):
        import cupy

        cupy.cuda.Device(0).use()
        self.cupy = cupy

    def depth_to_space(self, operator, x):
        return lambda: self.cupy.asnumpy(operator.numpy(self.cupy.asarray(x)))

    space_to_depth = slice = padding = tile = upsample = join = depth_to_space

    def reverse(self, operator, x):
        cupy, lengths = self.cupy, operator.lengths(x.shape)

        def call():
            position, length = cupy.arange(x.shape[1]), cupy.asarray(lengths)[:, None]
            index = cupy.where(position < length, length - 1 - position, position)
            return cupy.asnumpy(cupy.asarray(x)[cupy.arange(len(x))[:, None], index])

        return call
