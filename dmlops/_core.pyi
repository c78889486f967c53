import builtins
from collections.abc import Iterator
from types import EllipsisType
from typing import ClassVar, NamedTuple, Protocol, SupportsIndex, final, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

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
    available: int

class VulkanError(RuntimeError):
    result: str | None

class OutOfDeviceMemoryError(VulkanError, MemoryError): ...
class DeviceLostError(VulkanError): ...
class NoDeviceError(VulkanError): ...

_Key = SupportsIndex | builtins.slice | EllipsisType | None

@final
class DeviceArray:
    __array_ufunc__: ClassVar[None]
    __hash__: ClassVar  # by identity
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def device(self) -> Device: ...
    @property
    def T(self) -> DeviceArray: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[DeviceArray]: ...
    def __getitem__(self, key: _Key | tuple[_Key, ...], /) -> DeviceArray: ...
    def __setitem__(self, key: _Key | tuple[_Key, ...], value: ArrayLike | DeviceArray, /) -> None: ...
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def reshape(self, *shape: SupportsIndex | tuple[SupportsIndex, ...]) -> DeviceArray: ...
    def transpose(self, *axes: SupportsIndex | tuple[SupportsIndex, ...] | None) -> DeviceArray: ...
    def copy(self) -> DeviceArray: ...
    def numpy(self, out: np.ndarray | None = None) -> np.ndarray: ...
    def wait(self) -> None: ...

# All arguments are positional; dmlops.operators has the public signatures.

@overload
def reverse_subsequences(
    input: ArrayLike,
    sequence_lengths: ArrayLike,
    axis: int,
    batch_axis: int | None,
    out: np.ndarray | None,
    device: int | str | Device | None,
    /,
) -> np.ndarray: ...
@overload
def reverse_subsequences(
    input: DeviceArray,
    sequence_lengths: ArrayLike | DeviceArray,
    axis: int,
    batch_axis: int | None,
    out: DeviceArray | None,
    device: int | str | Device | None,
    /,
) -> DeviceArray: ...

class _BlockOperator(Protocol):
    @overload
    def __call__(
        self,
        input: ArrayLike,
        block_size: object,
        order: str,
        layout: str,
        out: np.ndarray | None,
        device: int | str | Device | None,
        /,
    ) -> np.ndarray: ...
    @overload
    def __call__(
        self,
        input: DeviceArray,
        block_size: object,
        order: str,
        layout: str,
        out: DeviceArray | None,
        device: int | str | Device | None,
        /,
    ) -> DeviceArray: ...

depth_to_space: _BlockOperator
space_to_depth: _BlockOperator

@overload
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
@overload
def slice(
    input: DeviceArray,
    offsets: object,
    sizes: object,
    strides: object,
    output_sizes: object,
    out: DeviceArray | None,
    device: int | str | Device | None,
    /,
) -> DeviceArray: ...
def devices() -> list[Device]: ...

# Why there is no Vulkan device; None if there is one.
def missing() -> str | None: ...
def empty_dispatch(device: object, /) -> None: ...
def _override(name: str, value: int, /) -> None: ...
def _abandoned() -> int: ...
def _counts(device: object, /) -> tuple[int, int, int]: ...
def memory_info(device: int | str | Device | None, /) -> MemoryInfo: ...
def empty_cache() -> None: ...
def asarray(
    obj: ArrayLike | DeviceArray,
    dtype: DTypeLike | None,
    device: int | str | Device | None,
    copy: bool | None,
    /,
) -> DeviceArray: ...
def empty(shape: object, dtype: DTypeLike, device: int | str | Device | None, /) -> DeviceArray: ...
def from_dlpack(capsule: object, device: int | str | Device | None, /) -> DeviceArray: ...
def synchronize(device: int | str | Device | None, /) -> None: ...
