"""Operators of each element alone, which move as they are or by a table of all values: their rules, and how they run."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import dmlops
from dmlops._annotations import AnyArray, Array
from dmlops._core import DeviceArray
from dmlops.directml import descs
from dmlops.directml.checks import Checks
from dmlops.directml.enums import DML_TENSOR_DATA_TYPE
from dmlops.directml.errors import DirectMLError, Problem
from dmlops.directml.running import Runner, copied, scalar_of
from dmlops.directml.tables import FLOATS, LEVELS, NO_ZERO_POINT
from dmlops.directml.tensor import SCALE_BIAS, TENSOR_DESC
from dmlops.operators.sampling import fused

__all__ = ["RULES", "RUNNERS"]

BYTES = ("INT8", "UINT8")
MOST_TABLES = 1024  # of 256 values each
TABLES = "dmlops computes only tables of all 256 values"


# --- rules --------------------------------------------------------------------------------------------------------------


def _same(check: Checks, desc: Any) -> None:
    check.sizes("OutputTensor", desc.OutputTensor, desc.InputTensor.Sizes, "those of InputTensor")


def _identity(check: Checks, desc: descs.ELEMENT_WISE_IDENTITY_OPERATOR_DESC) -> None:
    _same(check, desc)
    if desc.ScaleBias is not None and desc.InputTensor.data_type.name not in BYTES:
        scale, bias = desc.ScaleBias.Scale, desc.ScaleBias.Bias
        allowed = f"None, as x * Scale + Bias is computation: of other types than {', '.join(BYTES)}, dmlops moves only"
        check.computes("ScaleBias", f"{{Scale: {scale:g}, Bias: {bias:g}}}", allowed)


def _cast(check: Checks, desc: descs.CAST_OPERATOR_DESC) -> None:
    _same(check, desc)
    kind, to = desc.InputTensor.data_type, desc.OutputTensor.data_type
    if kind.dtype is None or to.dtype is None or kind == to:
        return
    table = kind.dtype.itemsize <= 2 and (kind.dtype.kind != "f" or to.dtype.kind == "f")
    if not table:
        allowed = f"an integer of 8 or 16 bits, FLOAT16 for floats, or {to}: a cast of others is computation"
        check.computes("InputTensor.DataType", str(kind), allowed)


def _clip(check: Checks, desc: Any) -> None:
    _same(check, desc)
    if isinstance(desc, descs.ELEMENT_WISE_CLIP1_OPERATOR_DESC):
        kind = DML_TENSOR_DATA_TYPE.of(desc.MinMaxDataType)
        check.same_type("MinMaxDataType", kind, desc.OutputTensor)
        check.scalar("Min", desc.Min, kind)
        check.scalar("Max", desc.Max, kind)
    else:
        for name in ("Min", "Max"):
            value = getattr(desc, name)
            check.that(not math.isnan(value), name, value, "a number")
    _bytes_only(check, desc.InputTensor)


def _bytes_only(check: Checks, tensor: TENSOR_DESC) -> None:
    if tensor.data_type.name not in BYTES:
        check.computes("InputTensor.DataType", str(tensor.data_type), f"{', '.join(BYTES)}: {TABLES}")


def _dequantize(check: Checks, desc: descs.ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC) -> None:
    _same(check, desc)
    check.sizes("ScaleTensor", desc.ScaleTensor, desc.InputTensor.Sizes, "those of InputTensor")
    if desc.ZeroPointTensor is not None:
        check.sizes("ZeroPointTensor", desc.ZeroPointTensor, desc.InputTensor.Sizes, "those of InputTensor")
    elif check.level:
        fine = LEVELS[check.level] >= LEVELS[NO_ZERO_POINT]
        check.that(fine, "ZeroPointTensor", None, f"a tensor; None from feature level {NO_ZERO_POINT} on")
    kind = desc.ScaleTensor.data_type
    check.that(
        kind == desc.OutputTensor.data_type,
        "OutputTensor.DataType",
        desc.OutputTensor.data_type,
        f"{kind}, that of ScaleTensor",
    )
    check.type_to_run("ScaleTensor", desc.ScaleTensor, FLOATS)
    _bytes_only(check, desc.InputTensor)


RULES: dict[str, Callable[[Checks, Any], None]] = {
    "ACTIVATION_IDENTITY": _same,
    "ELEMENT_WISE_IDENTITY": _identity,
    "CAST": _cast,
    "ELEMENT_WISE_CLIP": _clip,
    "ELEMENT_WISE_CLIP1": _clip,
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": _dequantize,
}


# --- how they run: functions of arrays, which fuse makes tables of -------------------------------------------------------


def _scaled(x: Any, scale_bias: SCALE_BIAS) -> Any:
    """In single precision, one rounding for each of the two; the result is cut to an integer that the type holds."""
    limits = np.iinfo(x.dtype)
    made = x.astype(np.float32) * np.float32(scale_bias.Scale) + np.float32(scale_bias.Bias)
    return np.clip(np.nan_to_num(np.trunc(made)), limits.min, limits.max).astype(x.dtype)


def _clipped(x: Any, scale_bias: SCALE_BIAS | None, low: int, high: int) -> Any:
    x = x if scale_bias is None else _scaled(x, scale_bias)
    return np.maximum(np.minimum(x, x.dtype.type(high)), x.dtype.type(low))


def _as_type(x: Any, dtype: str) -> Any:
    return x.astype(dtype)


def _run_identity(desc: Any, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    scale_bias = getattr(desc, "ScaleBias", None)
    if scale_bias is None:
        return copied(bound["InputTensor"], where)
    result: AnyArray = fused(_scaled)(bound["InputTensor"], scale_bias, **where)
    return result


def _run_cast(desc: descs.CAST_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    if desc.InputTensor.data_type == desc.OutputTensor.data_type:
        return copied(bound["InputTensor"], where)
    result: AnyArray = fused(_as_type)(bound["InputTensor"], desc.OutputTensor.dtype.str, **where)
    return result


def _run_clip(desc: Any, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    limits = np.iinfo(desc.InputTensor.dtype)
    low, high = (_limit(value, desc.InputTensor, int(limits.min), int(limits.max)) for value in (desc.Min, desc.Max))
    result: AnyArray = fused(_clipped)(bound["InputTensor"], desc.ScaleBias, low, high, **where)
    return result


def _limit(value: Any, tensor: TENSOR_DESC, least: int, most: int) -> int:
    """A limit as an integer of the tensor's type: a FLOAT is cut, and the nearest that there is if it is beyond all."""
    if isinstance(value, bytes):
        return int(scalar_of(value, tensor))
    return int(min(max(value, least), most))


def _run_dequantize(
    desc: descs.ELEMENT_WISE_DEQUANTIZE_LINEAR_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]
) -> AnyArray:
    scale = _varying(bound["ScaleTensor"])
    zero = np.zeros((), np.int32) if desc.ZeroPointTensor is None else _varying(bound["ZeroPointTensor"]).astype(np.int32)
    count = math.prod(np.broadcast_shapes(scale.shape, zero.shape))
    if count > MOST_TABLES:
        allowed = f"at most {MOST_TABLES} different ones along the axes on which they differ: {TABLES} for each"
        problem = Problem("ScaleTensor, ZeroPointTensor", f"{count} scales and zero points", allowed, "", computes=True)
        raise DirectMLError(f"bindings of DML_{type(desc).__name__}", [problem])
    result: AnyArray = _dequantizing(_hashable(zero), _hashable(scale))(bound["InputTensor"], **where)
    return result


@functools.lru_cache(maxsize=64)
def _dequantizing(*constants: tuple[str, tuple[int, ...], bytes]) -> Any:
    """The function of constants that `_hashable` describes: made once, with all programs that it has."""
    zero, scale = (np.frombuffer(data, dtype).reshape(shape) for dtype, shape, data in constants)

    @dmlops.fuse
    def dequantize(x: Any) -> Any:
        return ((x.astype(np.int32) - zero).astype(np.float32) * scale.astype(np.float32)).astype(scale.dtype)

    return dequantize


def _hashable(array: Array) -> tuple[str, tuple[int, ...], bytes]:
    return array.dtype.str, array.shape, array.tobytes()


def _varying(array: AnyArray) -> Array:
    """A tensor of constants with size 1 on the axes along which all are the same."""
    values = array.numpy() if isinstance(array, DeviceArray) else array
    for axis, size in enumerate(values.shape):
        first = values[(slice(None),) * axis + (slice(1),)]
        same = size > 1 and (values.strides[axis] == 0 or np.array_equal(values, np.broadcast_to(first, values.shape), True))
        values = first if same else values
    return values


RUNNERS: dict[str, Runner] = {
    "ACTIVATION_IDENTITY": _run_identity,
    "ELEMENT_WISE_IDENTITY": _run_identity,
    "CAST": _run_cast,
    "ELEMENT_WISE_CLIP": _run_clip,
    "ELEMENT_WISE_CLIP1": _run_clip,
    "ELEMENT_WISE_DEQUANTIZE_LINEAR": _run_dequantize,
}
