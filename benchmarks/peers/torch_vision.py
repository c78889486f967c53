"""torchvision's functions, for pipelines and resizing."""

import contextlib

from pipelines import MEAN, STD

from .peer import Unsupported
from .pytorch import PyTorch, pipeline_of


class TorchVision(PyTorch):
    name = "torchvision"
    distributions = ("torchvision",)

    def __init__(self, threads, device=None):
        super().__init__(threads, device)
        self.define_operators()
        from torchvision.transforms.v2 import InterpolationMode, functional

        self.functional, self.modes = functional, InterpolationMode

    def define_operators(self):
        """torchvision of PyPI is built for CUDA: beside a CPU torch it lacks operators, of which it needs the schemas."""
        with contextlib.suppress(RuntimeError):  # it has them
            self.library = self.torch.library.Library("torchvision", "FRAGMENT")
            for name in ("nms", "qnms"):
                self.library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

    def prepare(self, operator, x):
        if operator.kind == "resize":
            return self.resize(operator, x)
        if operator.kind != "pipeline":
            raise Unsupported("measured with pipelines and resizing only")

        def normalise(tensor):
            floats = self.functional.to_dtype(tensor, self.torch.float32, scale=True)
            return self.functional.normalize(floats, MEAN.tolist(), STD.tolist())

        function = pipeline_of(self.torch, operator, normalise)
        return lambda: self.give(function(self.take(x)))

    def resize(self, operator, x):
        """Of a photograph as decoders leave it, a tensor with the memory order channels_last."""
        if operator.library != "torchvision":
            raise Unsupported("has other bits")

        def call():
            tensor = self.torch.from_numpy(x).permute(2, 0, 1)
            made = self.functional.resize(tensor, list(operator.size), self.modes(operator.filter), antialias=True)
            return made.permute(1, 2, 0).contiguous().numpy()

        return call
