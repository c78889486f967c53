"""Types of arguments, for annotations only."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from types import EllipsisType
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias

import numpy as np

from dmlops._core import DeviceArray
from dmlops.device import Device

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
AnyArray: TypeAlias = Array | DeviceArray
DeviceLike: TypeAlias = SupportsIndex | str | Device
IntSequence: TypeAlias = Iterable[SupportsIndex]
Ints: TypeAlias = SupportsIndex | IntSequence
Slice: TypeAlias = builtins.slice | EllipsisType
Order: TypeAlias = Literal["DCR", "CRD"]
Layout: TypeAlias = Literal["NCHW", "NHWC"]
PaddingMode: TypeAlias = Literal["constant", "edge", "reflection", "symmetric", "wrap"]
Scalar: TypeAlias = complex | str | bytes | np.generic


class SupportsDLPack(Protocol):
    def __dlpack__(self) -> object: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
