"""PyTorch on a CUDA device, from and to NumPy."""

from .peer import Unsupported
from .pytorch import PyTorch


class PyTorchCuda(PyTorch):
    name = "PyTorch CUDA"
    where = "cuda"

    def __init__(self, threads, device=None):
        super().__init__(threads, device)
        if not self.torch.cuda.is_available():
            raise Unsupported("no CUDA device")

    def take(self, x):
        return self.torch.from_numpy(x).to("cuda")

    def give(self, tensor):
        return tensor.contiguous().cpu().numpy()
