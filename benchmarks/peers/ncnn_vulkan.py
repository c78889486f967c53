"""ncnn's PixelShuffle layer on Vulkan: float32 images one after the other."""

import numpy as np

from .peer import Peer, Unsupported

NETWORK = "7767517\n2 2\nInput in 0 1 x\nPixelShuffle shuffle 1 1 x y 0={block} 1={mode}\n"
MODES = {"CRD": 0, "DCR": 1}
INEXACT = ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_packed", "bf16_storage")


class Ncnn(Peer):
    name = "ncnn"
    distributions = ("ncnn",)
    where = "vulkan"

    def __init__(self, threads, device=None):
        import ncnn

        self.ncnn, self.threads = ncnn, threads
        names = [ncnn.get_gpu_info(index).device_name() for index in range(ncnn.get_gpu_count())]
        fitting = [index for index, name in enumerate(names) if str(device or "").lower() in name.lower()]
        if not fitting:
            raise Unsupported("no Vulkan device that ncnn can use")
        self.index = fitting[0]

    def depth_to_space(self, operator, x):
        if x.dtype != np.float32 or operator.layout != "NCHW":
            raise Unsupported("ncnn's PixelShuffle takes float32 in NCHW only")
        ncnn, net = self.ncnn, self.ncnn.Net()
        net.opt.use_vulkan_compute = True
        net.opt.num_threads = self.threads
        for option in INEXACT:
            setattr(net.opt, f"use_{option}", False)
        net.set_vulkan_device(self.index)
        net.load_param_mem(NETWORK.format(block=operator.block, mode=MODES[operator.order]))
        net.load_model_mem("")
        shape = operator.steps(x.shape)[2]
        aligned = x.shape[2] * x.shape[3] * x.itemsize % 16 == 0  # as ncnn wants each channel to begin

        def call():
            result = np.empty(shape, x.dtype)
            for image, target in zip(x, result):
                extractor = net.create_extractor()
                extractor.input("x", ncnn.Mat(image) if aligned else ncnn.Mat(image).clone())
                target[...] = np.array(extractor.extract("y")[1], copy=False)
            return result

        return call
