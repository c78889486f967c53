"""Prepares images and arrays for models in few passes on any CPU or GPU, with the bits of NumPy, Pillow, OpenCV or torchvision.

    >>> import numpy as np, dmlops
    >>> dmlops.slice(np.arange(10), offsets=[1], sizes=[8], strides=[-3])
    array([8, 5, 2])

Operators
    ``reverse_subsequences``, ``depth_to_space``, ``space_to_depth``, ``slice``, ``slice_grad``, ``padding``, ``tile``,
    ``upsample``, ``transpose``, ``join``, ``split``, ``take``, ``take_along_axis``, ``gather_nd``, ``put_along_axis`` and
    ``scatter_nd``. ``slice_from_key`` converts a NumPy index to the arguments of ``slice``. ``resize_pillow``,
    ``resize_opencv`` and ``resize_torchvision`` resize with the bits of these libraries. ``crops``,
    ``sliding_windows``, ``resize_nearest``, ``roll`` and ``one_hot`` are made of others, and so are ``rearrange`` and
    ``repeat``, which take patterns of einops. ``dmlops.reference`` has each operator in a few lines of NumPy.
NumPy code in one pass
    ``fuse`` makes one pass of a function that moves, casts and scales, however many steps it has, and proves it.
A model's own preprocessing
    ``preprocessing`` reads a model's configuration, and gives what its framework gives, to the bit. ``recipes`` has functions
    for projects without one: Ultralytics, mmdetection, PaddleOCR, EasyOCR and InsightFace.
Devices
    ``devices`` lists them; ``default_device`` returns the one that is used where none is named. ``compare`` runs an operator
    on each of them and in NumPy.
Arrays that stay on a device
    ``asarray``, ``empty`` and ``from_dlpack`` make a ``DeviceArray``. Operators that take one return one, and queue their work.
    ``DeviceArray.numpy`` waits for the work and returns a NumPy array; ``synchronize`` waits for all work.
Memory
    ``memory_info`` reports how much is used and pooled; ``empty_cache`` frees what is pooled.

Importing the package does not load Vulkan: the first call does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    from dmlops._core import DeviceArray
except ModuleNotFoundError as error:
    if error.name != "dmlops._core":
        raise
    message = "this dmlops is a source folder without its extension: run `make demo`, or start Python elsewhere"
    raise ImportError(message) from error
import dmlops.array_methods  # completes DeviceArray, as does
import dmlops.array_protocols
import dmlops.indices  # which operators look up in their calls, as they do
import dmlops.resizing.running
from dmlops.arrays import asarray, empty, from_dlpack, synchronize
from dmlops.device import Device
from dmlops.device_list import default_device, devices, set_default_device
from dmlops.einops_backend import register_when_imported as _register_when_imported
from dmlops.errors import DeviceLostError, NoDeviceError, OutOfDeviceMemoryError, UnsupportedError, VulkanError
from dmlops.late_imports import imported as _imported
from dmlops.memory import MemoryInfo, empty_cache, memory_info
from dmlops.operators import (
    crops,
    depth_to_space,
    gather_nd,
    join,
    one_hot,
    padding,
    put_along_axis,
    resize_nearest,
    resize_opencv,
    resize_pillow,
    resize_torchvision,
    reverse_subsequences,
    roll,
    scatter_nd,
    slice_grad,
    sliding_windows,
    space_to_depth,
    split,
    take,
    take_along_axis,
    tile,
    transpose,
    upsample,
)
from dmlops.operators import slice as slice
from dmlops.slice_keys import slice_from_key, window

if TYPE_CHECKING:
    from dmlops import array_api as array_api
    from dmlops import dask as dask
    from dmlops import directml as directml
    from dmlops import onnx as onnx
    from dmlops import recipes as recipes
    from dmlops import reference as reference
    from dmlops.comparison import compare as compare
    from dmlops.counting import CallCount as CallCount
    from dmlops.counting import Counters as Counters
    from dmlops.counting import counters as counters
    from dmlops.fusion.fused import fuse as fuse
    from dmlops.processors.preprocessor import preprocessing as preprocessing
    from dmlops.rearranging import rearrange as rearrange
    from dmlops.rearranging import repeat as repeat
    from dmlops.warming import warm_up as warm_up

__version__ = "0.2.0"

# Without `slice`: `from dmlops import *` would shadow the builtin.
__all__ = [
    "CallCount",
    "Counters",
    "Device",
    "DeviceArray",
    "DeviceLostError",
    "MemoryInfo",
    "NoDeviceError",
    "OutOfDeviceMemoryError",
    "UnsupportedError",
    "VulkanError",
    "array_api",
    "asarray",
    "compare",
    "counters",
    "crops",
    "default_device",
    "depth_to_space",
    "devices",
    "empty",
    "empty_cache",
    "from_dlpack",
    "fuse",
    "gather_nd",
    "join",
    "memory_info",
    "one_hot",
    "padding",
    "preprocessing",
    "put_along_axis",
    "rearrange",
    "recipes",
    "reference",
    "repeat",
    "resize_nearest",
    "resize_opencv",
    "resize_pillow",
    "resize_torchvision",
    "reverse_subsequences",
    "roll",
    "scatter_nd",
    "set_default_device",
    "slice_from_key",
    "slice_grad",
    "sliding_windows",
    "space_to_depth",
    "split",
    "synchronize",
    "take",
    "take_along_axis",
    "tile",
    "transpose",
    "upsample",
    "warm_up",
    "window",
]


_register_when_imported()

_LATE = {
    "CallCount": "dmlops.counting",
    "Counters": "dmlops.counting",
    "array_api": "dmlops",
    "compare": "dmlops.comparison",
    "counters": "dmlops.counting",
    "dask": "dmlops",
    "directml": "dmlops",
    "fuse": "dmlops.fusion.fused",
    "onnx": "dmlops",
    "preprocessing": "dmlops.processors.preprocessor",
    "rearrange": "dmlops.rearranging",
    "recipes": "dmlops",
    "reference": "dmlops",
    "repeat": "dmlops.rearranging",
    "warm_up": "dmlops.warming",
}

if not TYPE_CHECKING:  # a type checker would take every name for an attribute

    def __getattr__(name: str) -> Any:
        """Import on first use what most programs never use."""
        if name in _LATE:
            if _LATE[name] == __name__:
                return _imported(f"{__name__}.{name}")
            return getattr(_imported(_LATE[name]), name)
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from dmlops.other_names import advice

        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{advice(name, __all__)}")


def __dir__() -> list[str]:
    """What is public, and those of the subpackages that are imported."""
    return sorted({*__all__, "slice", "__all__", "__doc__", "__version__", *({"dask", "directml", "onnx"} & set(globals()))})
