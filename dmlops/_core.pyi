from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

class Device(NamedTuple):
    index: int
    name: str
    type: str
    driver: str
    api_version: str
    memory: int
    usable: bool
    reason: str

class MemoryInfo(NamedTuple):
    used: int
    pooled: int
    bound: int

class VulkanError(RuntimeError):
    result: str | None

class OutOfDeviceMemoryError(VulkanError, MemoryError): ...
class DeviceLostError(VulkanError): ...
class NoDeviceError(VulkanError): ...

# All arguments are positional; dmlops.operators has the public signatures.

def reverse_subsequences(
    input: ArrayLike,
    sequence_lengths: ArrayLike,
    axis: int,
    batch_axis: int | None,
    out: np.ndarray | None,
    device: int | str | Device | None,
    /,
) -> np.ndarray: ...
def depth_to_space(
    input: ArrayLike,
    block_size: object,
    order: str,
    layout: str,
    out: np.ndarray | None,
    device: int | str | Device | None,
    /,
) -> np.ndarray: ...
def space_to_depth(
    input: ArrayLike,
    block_size: object,
    order: str,
    layout: str,
    out: np.ndarray | None,
    device: int | str | Device | None,
    /,
) -> np.ndarray: ...
def slice(
    input: ArrayLike,
    offsets: object,
    sizes: object,
    strides: object,
    output_sizes: object,
    out: np.ndarray | None,
    device: int | str | Device | None,
    /,
) -> np.ndarray: ...
def devices() -> list[Device]: ...

# Why there is no Vulkan device; None if there is one.
def missing() -> str | None: ...
def empty_dispatch(device: object, /) -> None: ...
def _override(name: str, value: int, /) -> None: ...
def _abandoned() -> int: ...
def _counts(device: object, /) -> tuple[int, int, int]: ...
def memory_info(device: int | str | Device | None, /) -> MemoryInfo: ...
def empty_cache() -> None: ...
