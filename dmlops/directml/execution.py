"""Running a description: each operator is one call of a public function of dmlops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import dmlops
from dmlops._annotations import AnyArray, Array, DeviceLike
from dmlops._core import DeviceArray
from dmlops.directml import descs, elementwise, indexing, sampling
from dmlops.directml.binding import Bindings, bind
from dmlops.directml.enums import DML_DEPTH_SPACE_ORDER, DML_PADDING_MODE
from dmlops.directml.running import Runner, copied, empty_like, scalar_of, truncated
from dmlops.directml.tensor import OPERATOR_DESC, TENSOR_DESC
from dmlops.directml.validation import validate

__all__ = ["execute"]


def execute(
    desc: OPERATOR_DESC,
    bindings: Bindings,
    *,
    feature_level: str | int | None = "6_4",
    device: DeviceLike | None = None,
) -> dict[str, Any]:
    """Run the operator that a description describes.

    Parameters
    ----------
    desc : OPERATOR_DESC
        The description: ``SLICE1_OPERATOR_DESC(...)``.
    bindings : dict of arrays by the names of fields
        An array for each input, or a list of arrays for `InputTensors`. An array either has the shape and type of its tensor,
        or is a one-dimensional buffer, of the tensor's type or of bytes, that the tensor's sizes and strides are laid over. It
        may be larger than they need.

        Outputs may be bound too. They are written where the shape or the strides say, and no byte beside that changes. Input
        and output may share memory. A device array must have the shape of its tensor.
    feature_level : str, int or None, optional
        The feature level whose rules are checked first, as by `validate`. None checks only what is needed to run.
    device : int, str or Device, optional
        The device to run on; ``dmlops.devices`` lists what is accepted. Default: ``dmlops.default_device()``.

    Returns
    -------
    dict
        The outputs by the names of fields: the arrays bound, or new C-contiguous ones. `OutputTensors` is a list.

    Raises
    ------
    DirectMLError
        `desc` breaks rules of the feature level, or the operator computes, or `bindings` do not fit.
    TypeError
        An argument has the wrong type.
    IndexError
        An index is out of range. Gathers clamp indices in a device array instead; ONE_HOT takes any.
    NoDeviceError
        There is no usable Vulkan device, and `device` is not ``"host"``.

    Examples
    --------
    >>> import numpy as np, dmlops.directml as dml
    >>> x, y = dml.TENSOR_DESC("FLOAT32", [1, 1, 2, 3]), dml.TENSOR_DESC("FLOAT32", [1, 1, 2, 2])
    >>> desc = dml.SLICE1_OPERATOR_DESC(x, y, 4, [0, 0, 0, 0], [1, 1, 2, 3], [1, 1, 1, -2])
    >>> dml.execute(desc, {"InputTensor": np.arange(6, dtype=np.float32)})["OutputTensor"]
    array([[[[2., 0.],
             [5., 3.]]]], dtype=float32)
    """
    validate(desc, feature_level)
    bound = bind(desc, bindings)
    (name,) = {field for field, _, _ in desc.tensors() if field.startswith("Output")}
    result = RUNNERS[desc.operator](desc, bound, {"out": bound[name], "device": device})
    given = bindings.get(name)
    if isinstance(result, list):
        arrays = [None] * len(result) if given is None else given
        return {name: [made if array is None else array for array, made in zip(arrays, result, strict=True)]}
    return {name: result if given is None else given}


def _slice(desc: descs.SLICE_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    sizes = [(size - 1) * stride + 1 if size else 0 for size, stride in zip(desc.Sizes, desc.Strides, strict=True)]
    result: AnyArray = dmlops.slice(bound["InputTensor"], desc.Offsets, sizes, desc.Strides, **where)
    return result


def _slice1(desc: descs.SLICE1_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    window = _exact_window(desc, desc.OutputTensor)
    result: AnyArray = dmlops.slice(bound["InputTensor"], *window, **where)
    return result


def _slice_grad(desc: descs.SLICE_GRAD_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    window = _exact_window(desc, desc.InputGradientTensor)
    result: AnyArray = dmlops.slice_grad(bound["InputGradientTensor"], desc.OutputGradientTensor.Sizes, *window, **where)
    return result


def _exact_window(
    desc: descs.SLICE1_OPERATOR_DESC | descs.SLICE_GRAD_OPERATOR_DESC, part: TENSOR_DESC
) -> tuple[list[int], list[int], list[int]]:
    """The window cut down to what `part` has of it, since DirectML lets a part be smaller than the window."""
    offsets, sizes = [], []
    for axis, stride in enumerate(desc.InputWindowStrides):
        offset, size = desc.InputWindowOffsets[axis], desc.InputWindowSizes[axis]
        used = (part.Sizes[axis] - 1) * abs(stride) + 1 if part.Sizes[axis] else 0
        offsets.append(offset + size - used if stride < 0 else offset)
        sizes.append(used)
    return offsets, sizes, list(desc.InputWindowStrides)


def _order(desc: Any) -> Any:
    return "CRD" if getattr(desc, "Order", 0) == DML_DEPTH_SPACE_ORDER.COLUMN_ROW_DEPTH else "DCR"


def _depth_to_space(desc: descs.DEPTH_TO_SPACE1_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    result: AnyArray = dmlops.depth_to_space(bound["InputTensor"], desc.BlockSize, order=_order(desc), **where)
    return result


def _space_to_depth(desc: descs.SPACE_TO_DEPTH1_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    result: AnyArray = dmlops.space_to_depth(bound["InputTensor"], desc.BlockSize, order=_order(desc), **where)
    return result


def _reverse(desc: descs.REVERSE_SUBSEQUENCES_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    lengths = bound["SequenceLengthsTensor"]
    result: AnyArray = dmlops.reverse_subsequences(bound["InputTensor"], lengths, desc.Axis, **where)
    return result


def _padding(
    desc: descs.PADDING_OPERATOR_DESC | descs.PADDING1_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]
) -> AnyArray:
    mode: Any = DML_PADDING_MODE.of(desc.PaddingMode).name.lower()
    if mode == "constant":
        if isinstance(desc, descs.PADDING1_OPERATOR_DESC):
            where["value"] = scalar_of(desc.PaddingValue, desc.OutputTensor)
        else:
            where["value"] = truncated(desc.PaddingValue, desc.OutputTensor)
    result: AnyArray = dmlops.padding(bound["InputTensor"], desc.StartPadding, desc.EndPadding, mode=mode, **where)
    return result


def _tile(desc: descs.TILE_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    result: AnyArray = dmlops.tile(bound["InputTensor"], desc.Repeats, **where)
    return result


def _join(desc: descs.JOIN_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    result: AnyArray = dmlops.join(bound["InputTensors"], desc.Axis, **where)
    return result


def _split(desc: descs.SPLIT_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> list[AnyArray]:
    sizes = [tensor.Sizes[desc.Axis] for tensor in desc.OutputTensors]
    outputs = where["out"]
    if all(output is None for output in outputs):
        where["out"] = None
    elif any(output is None for output in outputs):
        source = bound["InputTensor"]
        made = [empty_like(source, tensor) for tensor in desc.OutputTensors]
        where["out"] = [new if output is None else output for output, new in zip(outputs, made, strict=True)]
    return list(dmlops.split(bound["InputTensor"], desc.Axis, sizes, **where))


def _fill(desc: descs.FILL_VALUE_CONSTANT_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    value = scalar_of(desc.Value, desc.OutputTensor)
    return copied(np.broadcast_to(value, tuple(desc.OutputTensor.Sizes)), where)


def _sequence(desc: descs.FILL_VALUE_SEQUENCE_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    """Integers wrap round, as in C. Floats are computed in double precision and rounded once."""
    tensor = desc.OutputTensor
    count = np.arange(math.prod(tensor.Sizes))
    with np.errstate(all="ignore"):
        if tensor.dtype.kind == "f":
            start, delta = (float(scalar_of(value, tensor)) for value in (desc.ValueStart, desc.ValueDelta))
            values: Array = start + count * delta
        else:
            first, step = (np.uint64(_wrapped(value, tensor)) for value in (desc.ValueStart, desc.ValueDelta))
            values = first + count.astype(np.uint64) * step
        values = values.astype(tensor.dtype)
    return copied(values.reshape(tuple(tensor.Sizes)), where)


def _wrapped(value: Any, tensor: TENSOR_DESC) -> int:
    """An integer modulo 2**64; bytes are one of the tensor's type."""
    return int(scalar_of(value, tensor) if isinstance(value, bytes) else value) % 2**64


def _upsample(desc: descs.UPSAMPLE_2D_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    source, out = bound["InputTensor"], where["out"]
    scale = (desc.ScaleSize.Height, desc.ScaleSize.Width)
    if desc.InputTensor.rank > 2:
        result: AnyArray = dmlops.upsample(source, scale, **where)
        return result
    out = empty_like(source, desc.OutputTensor) if out is None else out
    dmlops.upsample(source[None], scale, out=out[None], device=where["device"])  # with an axis of channels
    return out


def _diagonal(desc: descs.DIAGONAL_MATRIX_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    filled = _diagonals(desc.OutputTensor) == desc.Offset
    line = np.where(filled, truncated(desc.Value, desc.OutputTensor), desc.OutputTensor.dtype.type(0))
    return copied(_along_diagonals(line, desc.OutputTensor), where)


def _diagonal1(desc: descs.DIAGONAL_MATRIX1_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    value = scalar_of(desc.Value, desc.OutputTensor)
    begin, end = desc.DiagonalFillBegin, desc.DiagonalFillEnd
    numbers = _diagonals(desc.OutputTensor)
    filled = (numbers >= begin) & (numbers < end) if begin <= end else (numbers >= begin) | (numbers < end)
    if desc.InputTensor is None:
        line = np.where(filled, value, desc.OutputTensor.dtype.type(0))
        return copied(_along_diagonals(line, desc.OutputTensor), where)
    result = copied(bound["InputTensor"], where)
    if isinstance(result, DeviceArray):
        host = result.numpy()
        np.copyto(host, value, where=_along_diagonals(filled, desc.OutputTensor))
        result[...] = host
    else:
        np.copyto(result, value, where=_along_diagonals(filled, desc.OutputTensor))
    return result


def _diagonals(tensor: TENSOR_DESC) -> Array:
    """The number of each diagonal, column minus row, from the bottom left to the top right."""
    height, width = tensor.Sizes[-2:]
    return np.arange(1 - height, width) if all(tensor.Sizes) else np.arange(0)


def _along_diagonals(line: Array, tensor: TENSOR_DESC) -> Array:
    """A view of the tensor's shape that has the same entry of `line` all along each diagonal."""
    height, width = tensor.Sizes[-2:]
    if 0 in tensor.Sizes:
        return np.empty(tuple(tensor.Sizes), line.dtype)
    step = line.strides[0]
    matrix = np.lib.stride_tricks.as_strided(line[height - 1 :], (height, width), (-step, step))
    return np.broadcast_to(matrix, tuple(tensor.Sizes))


RUNNERS: dict[str, Runner] = {
    "SLICE": _slice,
    "SLICE1": _slice1,
    "SLICE_GRAD": _slice_grad,
    "DEPTH_TO_SPACE": _depth_to_space,
    "DEPTH_TO_SPACE1": _depth_to_space,
    "SPACE_TO_DEPTH": _space_to_depth,
    "SPACE_TO_DEPTH1": _space_to_depth,
    "REVERSE_SUBSEQUENCES": _reverse,
    "PADDING": _padding,
    "PADDING1": _padding,
    "TILE": _tile,
    "JOIN": _join,
    "SPLIT": _split,
    "FILL_VALUE_CONSTANT": _fill,
    "UPSAMPLE_2D": _upsample,
    "DIAGONAL_MATRIX": _diagonal,
    "DIAGONAL_MATRIX1": _diagonal1,
    "FILL_VALUE_SEQUENCE": _sequence,
    **sampling.RUNNERS,
    **elementwise.RUNNERS,
    **indexing.RUNNERS,
}
