"""Taichi on Vulkan: a kernel over NumPy arrays, one invocation an element of the result."""

import numpy as np

from .peer import Peer, Unsupported


class Taichi(Peer):
    name = "Taichi"
    distributions = ("taichi",)
    where = "vulkan"

    def __init__(self, threads, device=None):
        import taichi

        if device is not None:
            raise Unsupported("Taichi takes the first Vulkan device and cannot be told another by name")
        taichi.init(arch=taichi.vulkan, log_level=taichi.ERROR, offline_cache=False)
        if taichi.cfg.arch != taichi.vulkan:
            raise Unsupported("Taichi found no Vulkan device")
        self.kernel = make_kernel(taichi)

    def depth_to_space(self, operator, x):
        if operator.layout != "NCHW":
            raise Unsupported("the kernel is written for NCHW")
        shape = operator.steps(x.shape)[2]
        channels = shape[1]
        # Channel (row * b + column) * C' + c of DCR, c * b * b + row * b + column of CRD.
        spread, step = (channels, 1) if operator.order == "DCR" else (1, operator.block**2)

        def call():
            result = np.empty(shape, x.dtype)
            self.kernel(x, result, operator.block, spread, step)
            return result

        return call


def make_kernel(ti):
    @ti.kernel
    def shuffle(
        x: ti.types.ndarray(),
        y: ti.types.ndarray(),
        b: ti.template(),
        spread: ti.template(),
        step: ti.template(),
    ):
        for n, c, h, w in ti.ndrange(y.shape[0], y.shape[1], y.shape[2], y.shape[3]):
            y[n, c, h, w] = x[n, (h % b * b + w % b) * spread + c * step, h // b, w // b]

    return shuffle
