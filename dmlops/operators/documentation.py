"""What several operators, or recipes, document alike.

A docstring of theirs names such a parameter or error without a text, several in one line. Each gets its text when the package
is imported, so that ``help`` has all of it.
"""

from __future__ import annotations

import re

__all__ = ["whole"]

_ENTRIES = {
    "input": """\
input : array_like or DeviceArray
    Any rank, any strides, and any dtype whose elements are plain bytes.""",
    "input : channels": """\
input : array_like or DeviceArray
    Batch axes, channels and spatial axes, in the order of `layout`. Any strides, and any dtype whose elements are plain
    bytes.""",
    "input : images": """\
input : array_like or DeviceArray
    Images of bytes, uint8: two axes are height and width, any others batch or channels. Any strides.""",
    "block_size": """\
block_size : int or sequence of int
    An int is the block size of every spatial axis; axis 0 is then the only batch axis, and the rank is 4 or more. A
    sequence has one block size for each spatial axis; there may then be any number of batch axes, also none.""",
    "layout": """\
layout : {"NCHW", "NHWC"}, optional
    Whether channels precede the spatial axes (``"NCHW"``) or follow them (``"NHWC"``). There may be more or fewer spatial
    axes than the two letters H and W.""",
    "batch_dims": """\
batch_dims : int, default 0
    So many first axes of `input` and `indices` are of the same sizes and go together: each index of these has indices of
    its own.""",
    "axes : channels last": """\
axes : sequence of int, optional
    The axes of height and width. Default: (-3, -2), channels last; of two axes both.""",
    "out": """\
out : numpy.ndarray or DeviceArray, optional
    The array for the result: of the same kind and dtype as the input, of the result's shape, writable, with any strides. It
    may share memory with the other arguments. Default: a new array.""",
    "device": """\
device : int, str or Device, optional
    The device to run on; ``dmlops.devices`` lists what is accepted. Default: the device of the input if it is a device
    array, else ``dmlops.default_device()``.""",
    "device : pictures": """\
device : int, str or Device, optional
    Where resizes, movements and tables run. By default ``"auto"``: the host or the best Vulkan device, whichever is
    estimated to take less time, so that no driver is needed. ``set_default_device`` and ``DMLOPS_DEVICE`` come first.""",
    "progress": """\
progress : bool or function, optional
    For calls of many seconds: True draws a bar, by tqdm where it is installed. A function is called after each 128 MiB or
    so with two ints, the bytes done and all bytes. Either way the call waits for its work, also with device arrays.""",
    "TypeError : images": """\
TypeError
    An argument has the wrong type: an `input` of another dtype than uint8, a `size` of floats.""",
    "TypeError : indices": """\
TypeError
    An argument has the wrong type: `indices` of floats or bools, a float in place of an int, an input of Python objects.""",
    "IndexError : read": """\
IndexError
    An index in a NumPy array is out of range: the first one is named, and nothing is written.
    `input` has no elements along `axis`.""",
    "IndexError : written": """\
IndexError
    An index is out of range: the first one is named, and nothing is written.""",
    "AxisError": """\
numpy.exceptions.AxisError
    `axis` is out of range.""",
    "OverflowError": """\
OverflowError
    An int does not fit into 64 bits.""",
    "NoDeviceError": """\
NoDeviceError
    There is no usable Vulkan device, and `device` is not ``"host"``.""",
    "VulkanError": """\
VulkanError
    The device failed.""",
}


_NAMES = "|".join(map(re.escape, _ENTRIES))
_WITHOUT_TEXTS = re.compile(rf"^( *)((?:{_NAMES})(?:, (?:{_NAMES}))*)$(?!\n\1 )", re.MULTILINE)


def whole(docstring: str | None) -> str | None:
    """The docstring with all texts; None where Python runs without docstrings."""
    return docstring and _WITHOUT_TEXTS.sub(_entries, docstring)


def _entries(found: re.Match[str]) -> str:
    indent, names = found.groups()
    lines = [line for name in names.split(", ") for line in _ENTRIES[name].split("\n")]
    return "\n".join(indent + line for line in lines)
