"""torch.compile, for the pipelines."""

from .peer import Unsupported
from .pytorch import PyTorch, pipeline_of


class TorchCompile(PyTorch):
    name = "torch.compile"

    def prepare(self, operator, x):
        if operator.kind != "pipeline":
            raise Unsupported("measured with pipelines only")
        self.torch._dynamo.reset()
        function = self.torch.compile(pipeline_of(self.torch, operator), dynamic=False)
        return lambda: self.give(function(self.take(x)))
