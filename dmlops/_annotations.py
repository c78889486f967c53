"""Types of arguments, for annotations only.

An operator has three overloads: DeviceArray in, DeviceArray out; ``NDArray[T]`` in, ``NDArray[T]`` out; whatever else
``numpy.asarray`` takes (`Input`) in, ``NDArray[Any]`` out. `out` is of the result's type in each. The last two cannot be one:
mypy finds no T in ``NDArray[T] | Input``, since an array is an `Input` too.
"""

from __future__ import annotations

import builtins
import datetime
import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from types import EllipsisType
from typing import Any, Generic, Literal, Protocol, SupportsIndex, TypeAlias, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dmlops._core import DeviceArray
from dmlops.device import Device

T = TypeVar("T", bound=np.generic)
_Out = TypeVar("_Out")


class SupportsArrayInterface(Protocol):
    """What numpy.asarray takes though its own annotations lack it: the images of Pillow, for one."""

    @property
    def __array_interface__(self) -> Mapping[str, Any]: ...


class SupportsIntArray(Protocol):
    def __array__(self) -> NDArray[np.integer[Any]]: ...


class SupportsDLPack(Protocol):
    def __dlpack__(self) -> object: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


Array: TypeAlias = NDArray[Any]
AnyArray: TypeAlias = Array | DeviceArray
Input: TypeAlias = ArrayLike | SupportsArrayInterface  # no DeviceArray: see _core.pyi
NestedInts: TypeAlias = "Sequence[SupportsIndex | NDArray[np.integer[Any]] | NestedInts]"
Lengths: TypeAlias = "SupportsIntArray | NestedInts"
Indices: TypeAlias = "SupportsIndex | Lengths"
Values: TypeAlias = ArrayLike
DeviceLike: TypeAlias = SupportsIndex | str | Device
IntSequence: TypeAlias = Iterable[SupportsIndex]
Ints: TypeAlias = SupportsIndex | IntSequence
Slice: TypeAlias = builtins.slice | EllipsisType
Order: TypeAlias = Literal["DCR", "CRD"]
Layout: TypeAlias = Literal["NCHW", "NHWC"]
Key: TypeAlias = Slice | tuple[Slice, ...]
PadWidths: TypeAlias = SupportsIndex | Iterable[Iterable[SupportsIndex]]
PaddingMode: TypeAlias = Literal["constant", "edge", "reflection", "symmetric", "wrap", "reflect", "replicate", "circular"]
Scalar: TypeAlias = complex | str | bytes | np.generic | datetime.date | datetime.timedelta | None
Number: TypeAlias = float | Fraction | np.integer[Any] | np.floating[Any]
Scales: TypeAlias = Number | Iterable[Number]
Rounding: TypeAlias = Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
Coordinates: TypeAlias = (
    Literal[
        "half_pixel",
        "half_pixel_symmetric",
        "pytorch_half_pixel",
        "align_corners",
        "asymmetric",
        "tf_half_pixel_for_nn",
    ]
    | tuple[Scales, Scales]
)
Progress: TypeAlias = bool | Callable[[int, int], object]
Box: TypeAlias = Iterable[Number]
# The libraries' constants are enumerations, or ints.
PillowFilter: TypeAlias = (
    Literal["nearest", "box", "bilinear", "hamming", "bicubic", "lanczos", "mks2013", "mks2021"] | SupportsIndex
)
OpenCVInterpolation: TypeAlias = (
    Literal["nearest", "nearest-exact", "linear", "linear-exact", "area", "cubic", "lanczos4"] | SupportsIndex
)
TorchvisionInterpolation: TypeAlias = Literal["nearest", "nearest-exact", "bilinear", "bicubic", "lanczos"] | enum.Enum


class Options(TypedDict, Generic[_Out], total=False):
    """What every operator takes last, by name."""

    out: _Out | None
    device: DeviceLike | None
    progress: Progress | None
