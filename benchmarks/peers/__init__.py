"""The others who can do this, one file each, in the form their users would write.

A peer turns (operator, input) into a function without arguments that takes the NumPy array and gives a
fresh one, or raises `Unsupported` with the reason. Sessions, kernels and the like are prepared outside
that function; whatever depends on the data (moving it in and out, index arrays) happens inside.
"""

import importlib
from dataclasses import dataclass, field

from .peer import Peer, Unsupported

CLASSES = {  # in the order of the table
    "numpy_expression": "NumPy",
    "numpy_by_hand": "NumPyByHand",
    "pytorch": "PyTorch",
    "onnx_runtime": "OnnxRuntime",
    "open_vino": "OpenVino",
    "tensor_flow": "TensorFlow",
    "ncnn_vulkan": "Ncnn",
    "taichi_vulkan": "Taichi",
    "wgpu_vulkan": "Wgpu",
    "torch_compile": "TorchCompile",
    "torch_vision": "TorchVision",
    "pillow": "Pillow",
    "opencv_resize": "OpenCvResize",
    "opencv_lut": "OpenCvLut",
    "opencv_blob": "OpenCvBlob",
    "albucore_normalize": "Albucore",
    "pytorch_cuda": "PyTorchCuda",
    "cupy_cuda": "CuPy",
}

__all__ = ["Peer", "Peers", "Unsupported", "describe", "load"]


@dataclass
class Peers:
    present: list = field(default_factory=list)
    absent: dict = field(default_factory=dict)  # name -> why

    @property
    def names(self):
        return [peer.name for peer in self.present] + list(self.absent)


def peer_class(module):
    return getattr(importlib.import_module(f"{__name__}.{module}"), CLASSES[module])


def load(threads, device=None, cuda=False):
    """Start every peer that can be. `cuda` says whether peers on CUDA are to take part."""
    peers = Peers()
    for module in CLASSES:
        name = module
        try:
            cls = peer_class(module)
            name = cls.name
            if cls.where == "cuda" and not cuda:
                raise Unsupported("takes part only where dmlops is not held to a driver on the CPU")
            peers.present.append(cls(threads, device))
        except Exception as error:
            peers.absent[name] = reason(error)
    return peers


def reason(error):
    """An exception in one line, without paths."""
    lines = str(error).strip().splitlines() or [""]
    words = [word for word in lines[0].split() if not ("/" in word and word.lstrip("('\"").startswith("/"))]
    text = " ".join(words)[:200]
    return text if isinstance(error, Unsupported) else f"{type(error).__name__}: {text}".rstrip(": ")


def describe(peers):
    return {
        **{peer.name: {"version": peer.version, "where": peer.where, "idiomatic": peer.idiomatic} for peer in peers.present},
        **{name: {"version": None, "reason": why} for name, why in peers.absent.items()},
    }
