"""DirectML's data-movement operators for NumPy arrays, run as Vulkan compute kernels.

    >>> import numpy as np, dmlops
    >>> dmlops.slice(np.arange(10), offsets=[1], sizes=[8], strides=[-3])
    array([8, 5, 2])

The operators are ``reverse_subsequences``, ``depth_to_space``, ``space_to_depth`` and ``slice``; ``window`` turns a
NumPy key into the arguments of ``slice``, ``devices`` lists where they can run, and ``dmlops.reference`` has each of
them in a few lines of NumPy. ``asarray`` puts an array on a device, where all of them leave it; ``DeviceArray.numpy`` gives it
back. ``memory_info`` and ``empty_cache`` show and clear the memory kept for later results.
Importing touches no Vulkan: the first call does.
"""

from dmlops._core import (
    Device,
    DeviceArray,
    DeviceLostError,
    MemoryInfo,
    NoDeviceError,
    OutOfDeviceMemoryError,
    VulkanError,
)
from dmlops.arrays import asarray, empty, from_dlpack, synchronize
from dmlops.memory import empty_cache, memory_info
from dmlops.operators import depth_to_space, devices, reverse_subsequences, slice, space_to_depth, window

__version__ = "0.1.0"

# Without `slice`: `from dmlops import *` would shadow the builtin.
__all__ = [
    "Device",
    "DeviceArray",
    "DeviceLostError",
    "MemoryInfo",
    "NoDeviceError",
    "OutOfDeviceMemoryError",
    "VulkanError",
    "asarray",
    "depth_to_space",
    "devices",
    "empty",
    "empty_cache",
    "from_dlpack",
    "memory_info",
    "reference",
    "reverse_subsequences",
    "space_to_depth",
    "synchronize",
    "window",
]


def __getattr__(name):
    if name == "reference":  # most programs never ask for it
        import importlib

        return importlib.import_module("dmlops.reference")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted(set(globals()) | {"reference"})
