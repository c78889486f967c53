"""torchvision's functions, for pipelines and resizing."""

from pipelines import MEAN, STD

from .peer import Unsupported
from .pytorch import PyTorch, pipeline_of


class TorchVision(PyTorch):
    name = "torchvision"
    distributions = ("torchvision",)

    def __init__(self, threads, device=None):
        from torchvision.transforms.v2 import InterpolationMode, functional

        super().__init__(threads, device)
        self.functional, self.modes = functional, InterpolationMode

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
