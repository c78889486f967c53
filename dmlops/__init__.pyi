import builtins
from collections.abc import Iterable
from types import EllipsisType
from typing import Any, Literal, Protocol, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from typing_extensions import CapsuleType

from dmlops import reference as reference
from dmlops._core import Device as Device
from dmlops._core import DeviceArray as DeviceArray
from dmlops._core import DeviceLostError as DeviceLostError
from dmlops._core import MemoryInfo as MemoryInfo
from dmlops._core import NoDeviceError as NoDeviceError
from dmlops._core import OutOfDeviceMemoryError as OutOfDeviceMemoryError
from dmlops._core import VulkanError as VulkanError

__version__: str

_Array = np.ndarray[Any, np.dtype[Any]]
_Device = SupportsIndex | str | Device | None
_Entries = Iterable[SupportsIndex]
_Ints = SupportsIndex | _Entries
_Slices = builtins.slice | EllipsisType

class _SupportsDLPack(Protocol):
    def __dlpack__(self) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

# Device arrays are array-like too, hence the remark in the first of each.
@overload
def reverse_subsequences(  # type: ignore[overload-overlap]
    input: DeviceArray,
    sequence_lengths: ArrayLike | DeviceArray,
    axis: SupportsIndex,
    *,
    batch_axis: SupportsIndex | None = None,
    out: DeviceArray | None = None,
    device: _Device = None,
) -> DeviceArray: ...
@overload
def reverse_subsequences(
    input: ArrayLike,
    sequence_lengths: ArrayLike,
    axis: SupportsIndex,
    *,
    batch_axis: SupportsIndex | None = None,
    out: _Array | None = None,
    device: _Device = None,
) -> _Array: ...

class _BlockOperator(Protocol):
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        input: DeviceArray,
        block_size: _Ints,
        *,
        order: Literal["DCR", "CRD"] = "DCR",
        layout: Literal["NCHW", "NHWC"] = "NCHW",
        out: DeviceArray | None = None,
        device: _Device = None,
    ) -> DeviceArray: ...
    @overload
    def __call__(
        self,
        input: ArrayLike,
        block_size: _Ints,
        *,
        order: Literal["DCR", "CRD"] = "DCR",
        layout: Literal["NCHW", "NHWC"] = "NCHW",
        out: _Array | None = None,
        device: _Device = None,
    ) -> _Array: ...

depth_to_space: _BlockOperator
space_to_depth: _BlockOperator

@overload
def slice(  # type: ignore[overload-overlap]
    input: DeviceArray,
    offsets: _Entries,
    sizes: _Entries,
    strides: _Entries | None = None,
    *,
    output_sizes: _Entries | None = None,
    out: DeviceArray | None = None,
    device: _Device = None,
) -> DeviceArray: ...
@overload
def slice(
    input: ArrayLike,
    offsets: _Entries,
    sizes: _Entries,
    strides: _Entries | None = None,
    *,
    output_sizes: _Entries | None = None,
    out: _Array | None = None,
    device: _Device = None,
) -> _Array: ...
def window(
    shape: _Entries, key: _Slices | tuple[_Slices, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]: ...
def devices() -> list[Device]: ...
def asarray(
    obj: ArrayLike | DeviceArray, /, *, dtype: DTypeLike | None = None, device: _Device = None, copy: bool | None = None
) -> DeviceArray: ...
def empty(shape: _Ints, dtype: DTypeLike = ..., *, device: _Device = None) -> DeviceArray: ...
def from_dlpack(x: _SupportsDLPack, /, *, device: _Device = None, copy: bool | None = None) -> DeviceArray: ...
def synchronize(device: _Device = None) -> None: ...
def memory_info(device: _Device = None) -> MemoryInfo: ...
def empty_cache() -> None: ...
