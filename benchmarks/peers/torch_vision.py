"""torchvision's functions, for the pipelines."""

from pipelines import MEAN, STD

from .peer import Unsupported
from .pytorch import PyTorch, pipeline_of


class TorchVision(PyTorch):
    name = "torchvision"
    distributions = ("torchvision",)

    def __init__(self, threads, device=None):
        from torchvision.transforms.v2 import functional

        super().__init__(threads, device)
        self.functional = functional

    def prepare(self, operator, x):
        if operator.kind != "pipeline":
            raise Unsupported("measured with pipelines only")

        def normalise(tensor):
            floats = self.functional.to_dtype(tensor, self.torch.float32, scale=True)
            return self.functional.normalize(floats, MEAN.tolist(), STD.tolist())

        function = pipeline_of(self.torch, operator, normalise)
        return lambda: self.give(function(self.take(x)))
