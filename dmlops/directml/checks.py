"""The collector of broken rules, and the rules that all descriptions share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from dmlops.directml import tables
from dmlops.directml.enums import DML_INTERPOLATION_MODE, DML_TENSOR_DATA_TYPE, DML_TENSOR_FLAGS
from dmlops.directml.errors import Problem
from dmlops.directml.fields import shown
from dmlops.directml.tensor import OPERATOR_DESC, TENSOR_DESC

__all__ = ["Checks"]

MAX_RANK = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32  # DirectML's limits are lower


class Checks:
    """Collects what is wrong with a description.

    `level` is a feature level, or None to check only what is needed to run. `agree` is True once all tensors are found to have
    the same rank, which the rules of operators rely on.
    """

    def __init__(self, desc: OPERATOR_DESC, level: str | None) -> None:
        self.desc, self.level = desc, level
        self.page = tables.PAGES[desc.operator]
        self.problems: list[Problem] = []

    def that(self, holds: bool, field: str, value: object, allowed: str, document: str | None = None) -> bool:
        if not holds:
            self.problems.append(Problem(field, shown(value), allowed, self.page if document is None else document))
        return holds

    def computes(self, field: str, value: str, allowed: str) -> None:
        self.problems.append(Problem(field, value, allowed, "", computes=True))

    def positive(self, value: int, field: str) -> None:
        """DirectML has no empty axes. Where only running counts, they are fine."""
        if self.level:
            self.that(value > 0, field, value, "1 or more")

    def nearest(self, mode: object) -> None:
        if mode == DML_INTERPOLATION_MODE.LINEAR:
            allowed = "NEAREST_NEIGHBOR, as interpolation is computation: dmlops runs data movement only"
            self.computes("InterpolationMode", "LINEAR", allowed)

    def type_to_run(self, name: str, tensor: TENSOR_DESC, types: Sequence[str]) -> None:
        """The types of a tensor where only running counts; those of a feature level are in the table of data types."""
        if not self.level:
            self.that(tensor.data_type.name in types, f"{name}.DataType", tensor.data_type, ", ".join(types))

    def sizes(self, name: str, tensor: TENSOR_DESC, sizes: Sequence[int], rule: str) -> None:
        self.that(tuple(tensor.Sizes) == tuple(sizes), f"{name}.Sizes", list(tensor.Sizes), f"{list(sizes)}: {rule}")

    def counts(self, field: str, count: int, *names: str) -> bool:
        """The tensors' rank, the count, and the length of each array must be the same."""
        rank = self.rank()
        fine = self.that(count == rank, field, count, f"{rank}, the DimensionCount of the tensors")
        for name in names:
            length = len(getattr(self.desc, name))
            fine &= self.that(length == rank, f"len({name})", length, f"{rank}, the DimensionCount of the tensors")
        return fine

    def rank(self) -> int:
        return next(tensor.rank for _, _, tensor in self.desc.tensors())

    def axis(self, axis: int, tensor: TENSOR_DESC, name: str = "InputTensor") -> bool:
        return self.that(axis < tensor.rank, "Axis", axis, f"less than the DimensionCount of {name}, {tensor.rank}")

    def same_type(self, field: str, kind: DML_TENSOR_DATA_TYPE, tensor: TENSOR_DESC) -> None:
        self.that(kind == tensor.data_type, field, kind, f"{tensor.data_type}, the DataType of OutputTensor")

    def scalar(self, field: str, value: object, kind: DML_TENSOR_DATA_TYPE) -> None:
        """The value of a DML_SCALAR_UNION must be one of its data type."""
        dtype = kind.dtype
        if dtype is None:
            return  # the tensor's own data type is refused
        if isinstance(value, bytes):
            self.that(len(value) >= dtype.itemsize, field, value, f"at least {dtype.itemsize} bytes for {kind}")
        elif dtype.kind == "f":
            assert isinstance(value, int | float)
            self.that(_float_fits(value, dtype), field, value, f"a number that {kind} holds")
        else:
            limits = np.iinfo(cast(Any, dtype))
            allowed = f"an integer that {kind} holds, {limits.min} to {limits.max}"
            self.that(isinstance(value, int) and limits.min <= value <= limits.max, field, value, allowed)

    def float_value(self, field: str, value: float, tensor: TENSOR_DESC) -> None:
        """A FLOAT is truncated to the tensor's data type: 10.6 becomes 10."""
        dtype = tensor.data_type.dtype
        if dtype is not None and dtype.kind != "f":
            limits = np.iinfo(cast(Any, dtype))
            fits = math.isfinite(value) and limits.min <= math.trunc(value) <= limits.max
            self.that(fits, field, value, f"a number that {tensor.data_type} holds, {limits.min} to {limits.max}")

    def tensors(self) -> bool:
        """Check each tensor alone and all together; return True where the rules of the operator can be checked."""
        named = list(self.desc.tensors())
        for name, place, tensor in named:
            self._tensor(name, place, tensor)
        _, place, first = named[0]
        own = tables.own_types(self.desc.operator)
        _, typed_place, typed = next(entry for entry in named if entry[0] not in own)
        agree = first.rank <= MAX_RANK
        for name, other_place, other in named[1:]:
            if name not in tables.OTHER_RANKS.get(self.desc.operator, ()):
                allowed = f"{first.rank}, that of {place}"
                agree &= self.that(other.rank == first.rank, f"{other_place}.DimensionCount", other.rank, allowed)
            if name not in own:
                allowed = f"{typed.data_type}, that of {typed_place}"
                self.that(other.data_type == typed.data_type, f"{other_place}.DataType", other.data_type, allowed)
        return agree

    def _tensor(self, name: str, place: str, tensor: TENSOR_DESC) -> None:
        output = name.startswith("Output")
        if tensor.rank > MAX_RANK:
            self.that(False, f"{place}.DimensionCount", tensor.rank, f"at most {MAX_RANK}, as NumPy has it", tables.TENSOR_PAGE)
            return
        if self.level:
            self._support(name, place, tensor, self.level)
            self._limits(place, tensor, output)
        else:
            self.that(tensor.data_type.dtype is not None, f"{place}.DataType", tensor.data_type, "a type that NumPy has")
        if tensor.Strides is not None:
            count = len(tensor.Strides)
            self.that(count == tensor.rank, f"len({place}.Strides)", count, f"{tensor.rank}, as Sizes", tables.TENSOR_PAGE)
            if count != tensor.rank:
                return
        if output:
            self.that(
                not _overlaps(tensor),
                f"{place}.Strides",
                list(tensor.strides),
                "strides that give each element its own place",
                "",
            )
        if tensor.TotalTensorSizeInBytes is not None and tensor.data_type.dtype is not None:
            least = -(-tensor.extent * tensor.dtype.itemsize // 4) * 4 if self.level else tensor.extent * tensor.dtype.itemsize
            total = tensor.TotalTensorSizeInBytes
            fine = total >= least and (total % 4 == 0 or not self.level)
            allowed = f"{least} or more{', in multiples of 4' if self.level else ''}"
            self.that(fine, f"{place}.TotalTensorSizeInBytes", total, allowed, tables.SIZE_PAGE)

    def _support(self, name: str, place: str, tensor: TENSOR_DESC, level: str) -> None:
        support = tables.support_at(self.desc.operator, level)
        if support is None:
            return  # that the operator does not exist yet is told once, not for every tensor
        low, high = support.ranks
        ranks = f"{low} to {high}" if low < high else str(low)
        self.that(low <= tensor.rank <= high, f"{place}.DimensionCount", tensor.rank, f"{ranks} at feature level {level}")
        types = support.others.get(name, support.types)
        allowed = f"{', '.join(types)} at feature level {level}"
        self.that(tensor.data_type.name in types, f"{place}.DataType", tensor.data_type, allowed)

    def _limits(self, place: str, tensor: TENSOR_DESC, output: bool) -> None:
        for axis, size in enumerate(tensor.Sizes):
            self.that(size > 0, f"{place}.Sizes[{axis}]", size, "1 or more", tables.TENSOR_PAGE)
        most = tables.MAX_ELEMENTS
        elements = math.prod(tensor.Sizes)
        self.that(elements <= most, f"{place}.Sizes", list(tensor.Sizes), f"at most {most} elements", tables.TENSOR_PAGE)
        if tensor.Strides is not None and len(tensor.Strides) == tensor.rank and elements <= most:
            span = tensor.extent
            self.that(span <= most, f"{place}.Strides", list(tensor.Strides), f"a span of at most {most}", tables.TENSOR_PAGE)
        if output:
            flags = DML_TENSOR_FLAGS.of(tensor.Flags)
            self.that(flags == DML_TENSOR_FLAGS.NONE, f"{place}.Flags", flags, "NONE for an output", tables.FLAGS_PAGE)
        alignment, dtype = tensor.GuaranteedBaseOffsetAlignment, tensor.data_type.dtype
        if alignment and dtype is not None:
            fine = alignment & (alignment - 1) == 0 and alignment >= dtype.itemsize
            allowed = f"0, or a power of two from {dtype.itemsize}"
            self.that(fine, f"{place}.GuaranteedBaseOffsetAlignment", alignment, allowed, tables.TENSOR_PAGE)


def _overlaps(tensor: TENSOR_DESC) -> bool:
    """True where two elements share a place. No two do where each stride steps over all that the smaller ones span."""
    span = 1
    axes = sorted((stride, size) for size, stride in zip(tensor.Sizes, tensor.strides, strict=True) if size > 1)
    for stride, size in axes:
        if stride < span:
            break
        span += (size - 1) * stride
    else:
        return False
    if 0 in tensor.Sizes:
        return False
    if math.prod(tensor.Sizes) > min(2**20, tensor.extent):
        return True  # more elements than places; or interleaved in a way that is not looked into
    places = np.zeros(1, np.int64)
    for stride, size in axes:
        places = np.add.outer(places, np.arange(size) * stride).ravel()
    return len(np.unique(places)) < len(places)


def _float_fits(value: float, dtype: np.dtype[np.generic]) -> bool:
    """True for infinities and NaN, and for numbers that do not become infinite."""
    try:
        number = float(value)
    except OverflowError:
        return False
    with np.errstate(over="ignore"):
        return not math.isfinite(number) or bool(np.isfinite(np.array(number).astype(dtype)))
