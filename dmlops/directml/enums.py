"""DirectML's enumerations. A call takes a member, a full name, a suffix or a number: ``DML_PADDING_MODE("EDGE")``."""

from __future__ import annotations

import enum
from typing import Self

import numpy as np

from dmlops.directml.tables import LEVELS

__all__ = [
    "DML_AXIS_DIRECTION",
    "DML_DEPTH_SPACE_ORDER",
    "DML_INTERPOLATION_MODE",
    "DML_PADDING_MODE",
    "DML_TENSOR_DATA_TYPE",
    "DML_TENSOR_FLAGS",
    "level_name",
]


class Named(enum.IntEnum):
    """An enumeration whose members are also found by name, with or without the prefix that DirectML.h gives them."""

    @classmethod
    def _missing_(cls, value: object) -> Named | None:
        if isinstance(value, str):
            return cls.__members__.get(value.removeprefix(cls._prefix()))
        return None

    @classmethod
    def of(cls, value: str | int) -> Self:
        """The member of a name or number, for type checkers, which take it that only numbers can be given to the class."""
        return cls(value)  # type: ignore[arg-type]

    @classmethod
    def _prefix(cls) -> str:
        return cls.__name__.removesuffix("S") + "_"  # the members of DML_TENSOR_FLAGS are DML_TENSOR_FLAG_...

    @property
    def full_name(self) -> str:
        return self._prefix() + self.name

    def __str__(self) -> str:
        return self.name


class DML_TENSOR_DATA_TYPE(Named):
    """The type of a tensor's elements."""

    UNKNOWN = 0
    FLOAT32 = 1
    FLOAT16 = 2
    UINT32 = 3
    UINT16 = 4
    UINT8 = 5
    INT32 = 6
    INT16 = 7
    INT8 = 8
    FLOAT64 = 9
    UINT64 = 10
    INT64 = 11
    UINT4 = 12
    INT4 = 13

    @property
    def dtype(self) -> np.dtype[np.generic] | None:
        """NumPy's dtype; None for UNKNOWN and for what NumPy lacks: UINT4, INT4."""
        return None if self.name in ("UNKNOWN", "UINT4", "INT4") else np.dtype(self.name.lower())


class DML_TENSOR_FLAGS(Named):
    """Options of a tensor. DirectML copies a tensor that is OWNED_BY_DML when the operator is initialised."""

    NONE = 0
    OWNED_BY_DML = 1


class DML_DEPTH_SPACE_ORDER(Named):
    """Where the position in a block stands among the channels: before them, or after them."""

    DEPTH_COLUMN_ROW = 0
    COLUMN_ROW_DEPTH = 1


class DML_PADDING_MODE(Named):
    """What fills a padding."""

    CONSTANT = 0
    EDGE = 1
    REFLECTION = 2
    SYMMETRIC = 3
    WRAP = 4


class DML_INTERPOLATION_MODE(Named):
    """How the elements between those of the input are chosen."""

    NEAREST_NEIGHBOR = 0
    LINEAR = 1


class DML_AXIS_DIRECTION(Named):
    """Towards which end of an axis a position between two elements is rounded."""

    INCREASING = 0
    DECREASING = 1


def level_name(level: str | int) -> str:
    """Return a feature level as ``"6_4"``; it may be given so, as ``"DML_FEATURE_LEVEL_6_4"``, or as ``0x6400``.

    Raises
    ------
    ValueError
        There is no such level.
    """
    if isinstance(level, str):
        name = level.removeprefix("DML_FEATURE_LEVEL_")
    else:
        name = next((name for name, number in LEVELS.items() if number == level and level is not True), "")
    if name not in LEVELS:
        raise ValueError(f"feature_level is {level!r}; allowed: {', '.join(LEVELS)}, or None")
    return name
