"""The structs that DirectML's descriptions are made of."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from dmlops.directml.enums import DML_TENSOR_DATA_TYPE
from dmlops.directml.fields import CONVERT, DATA_TYPE, FLAGS, FLOAT, UINT, UINT64, UINTS, Record, instance, sequence

__all__ = ["OPERATOR_DESC", "SCALE_BIAS", "SIZE_2D", "TENSOR_DESC"]


@dataclass(frozen=True)
class TENSOR_DESC(Record):
    """A tensor in a buffer: ``DML_BUFFER_TENSOR_DESC``. Fields with a default come last; DimensionCount is left out.

    Attributes
    ----------
    DataType : DML_TENSOR_DATA_TYPE
        The type of the elements.
    Sizes : tuple of int
        The shape.
    Strides : tuple of int or None
        For each axis, how many elements of the buffer lie between two neighbours; 0 broadcasts. None: packed, C-contiguous.
    Flags : DML_TENSOR_FLAGS
    TotalTensorSizeInBytes : int or None
        The least size of the buffer. None: as little as the sizes and strides need.
    GuaranteedBaseOffsetAlignment : int
        The alignment of the binding in bytes, or 0.

    Examples
    --------
    >>> import dmlops.directml as dml
    >>> tensor = dml.TENSOR_DESC("FLOAT16", [1, 1, 3, 5], Strides=[15, 1, 5, 1])
    >>> tensor.Sizes, tensor.size_in_bytes
    ((1, 1, 3, 5), 32)
    """

    DataType: DATA_TYPE
    Sizes: UINTS
    Strides: UINTS | None = None
    Flags: FLAGS = "NONE"
    TotalTensorSizeInBytes: UINT64 | None = None
    GuaranteedBaseOffsetAlignment: UINT = 0

    @property
    def data_type(self) -> DML_TENSOR_DATA_TYPE:
        return DML_TENSOR_DATA_TYPE.of(self.DataType)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """NumPy's dtype of the elements; ValueError where NumPy has none."""
        dtype = self.data_type.dtype
        if dtype is None:
            raise ValueError(f"NumPy has no {self.data_type}")
        return dtype

    @property
    def rank(self) -> int:
        return len(self.Sizes)

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides in elements, also where `Strides` is None."""
        if self.Strides is not None:
            return tuple(self.Strides)
        packed = itertools.accumulate(reversed(self.Sizes[1:]), operator.mul, initial=1)
        return tuple(packed)[::-1] if self.Sizes else ()

    @property
    def extent(self) -> int:
        """How many elements of the buffer the tensor spans, gaps included."""
        if 0 in self.Sizes:
            return 0
        return 1 + sum((size - 1) * stride for size, stride in zip(self.Sizes, self.strides, strict=True))

    @property
    def size_in_bytes(self) -> int:
        """`TotalTensorSizeInBytes`, or where that is None what ``DMLCalcBufferTensorSize`` returns."""
        if self.TotalTensorSizeInBytes is not None:
            return self.TotalTensorSizeInBytes
        return -(-self.extent * self.dtype.itemsize // 4) * 4


@dataclass(frozen=True)
class SCALE_BIAS(Record):
    """``x * Scale + Bias``."""

    Scale: FLOAT
    Bias: FLOAT


@dataclass(frozen=True)
class SIZE_2D(Record):
    """A width and a height."""

    Width: UINT
    Height: UINT


CONVERT["TENSOR_DESC"] = instance(TENSOR_DESC)
CONVERT["TENSOR_DESC | None"] = instance(TENSOR_DESC, "a TENSOR_DESC, or None")
CONVERT["Sequence[TENSOR_DESC]"] = sequence(instance(TENSOR_DESC), "a sequence of TENSOR_DESC")
CONVERT["SCALE_BIAS | None"] = instance(SCALE_BIAS, "a SCALE_BIAS, or None")
CONVERT["SIZE_2D"] = instance(SIZE_2D)


@dataclass(frozen=True)
class OPERATOR_DESC(Record):
    """What all descriptions of operators have in common."""

    @property
    def operator(self) -> str:
        """The name of the operator without prefix: ``"SLICE1"``."""
        return type(self).__name__.removesuffix("_OPERATOR_DESC")

    @property
    def scalar_type(self) -> DML_TENSOR_DATA_TYPE:
        """The data type of the operator's DML_SCALAR_UNIONs."""
        (name,) = (field.name for field in fields(self) if str(field.type) == "DATA_TYPE")
        return DML_TENSOR_DATA_TYPE.of(getattr(self, name))

    def tensors(self) -> Iterator[tuple[str, str, TENSOR_DESC]]:
        """For each tensor that is given: its field, its place, as in ``InputTensors[1]``, and its description."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, TENSOR_DESC):
                yield field.name, field.name, value
            elif isinstance(value, tuple) and "TENSOR_DESC" in str(field.type):
                for index, tensor in enumerate(value):
                    yield field.name, f"{field.name}[{index}]", tensor
