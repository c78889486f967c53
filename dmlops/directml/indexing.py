"""Operators with a tensor of indices: gathers, scatters, MAX_UNPOOLING and ONE_HOT: their rules, and how they run."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import dmlops
from dmlops._annotations import AnyArray
from dmlops._core import DeviceArray
from dmlops.directml import descs
from dmlops.directml.checks import Checks
from dmlops.directml.running import Runner, copied, empty_like
from dmlops.directml.tables import INDICES
from dmlops.directml.tensor import TENSOR_DESC
from dmlops.indices import flat

__all__ = ["RULES", "RUNNERS"]


# --- rules --------------------------------------------------------------------------------------------------------------


def _integers(check: Checks, tensor: TENSOR_DESC) -> None:
    check.type_to_run("IndicesTensor", tensor, INDICES)


def _meant(check: Checks, field: str, count: int, low: int, name: str, tensor: TENSOR_DESC) -> list[int] | None:
    """The last `count` sizes of a tensor; those before must be 1."""
    if not check.that(low <= count <= tensor.rank, field, count, f"{low} to the DimensionCount of {name}, {tensor.rank}"):
        return None
    sizes = list(tensor.Sizes)
    leading = sizes[: tensor.rank - count]
    fine = check.that(all(size == 1 for size in leading), f"{name}.Sizes", sizes, f"1 on all axes but the last {count}")
    return sizes[tensor.rank - count :] if fine else None


def _aligned(check: Checks, name: str, tensor: TENSOR_DESC, sizes: Sequence[int], rule: str) -> None:
    """The sizes must be those of the tensor, right-aligned: ones in front are added, or cropped."""
    rank = tensor.rank
    cropped = list(sizes)
    while len(cropped) > rank and cropped[0] == 1:
        cropped = cropped[1:]
    padded = [1] * (rank - len(cropped)) + cropped
    check.that(list(tensor.Sizes) == padded, f"{name}.Sizes", list(tensor.Sizes), f"{padded}: {rule}")


def _gather(check: Checks, desc: descs.GATHER_OPERATOR_DESC) -> None:
    _integers(check, desc.IndicesTensor)
    indices = _meant(check, "IndexDimensions", desc.IndexDimensions, 0, "IndicesTensor", desc.IndicesTensor)
    if not check.axis(desc.Axis, desc.InputTensor) or indices is None:
        return
    sizes = [*desc.InputTensor.Sizes[: desc.Axis], *indices, *desc.InputTensor.Sizes[desc.Axis + 1 :]]
    _aligned(check, "OutputTensor", desc.OutputTensor, sizes, "InputTensor.Sizes with those of the indices in place of Axis")
    _some(check, desc.InputTensor.Sizes[desc.Axis], indices)


def _some(check: Checks, size: int, indices: Sequence[int]) -> None:
    """Indices need an element that they can name."""
    check.that(size > 0 or math.prod(indices) == 0, "IndicesTensor.Sizes", list(indices), "no indices of an axis of size 0")


def _along(check: Checks, desc: Any, written: str) -> None:
    """The sizes of indices are those of the input but on the axis; `written` has the same as the indices."""
    _integers(check, desc.IndicesTensor)
    tensor = desc.IndicesTensor
    if check.axis(desc.Axis, desc.InputTensor):
        sizes = list(desc.InputTensor.Sizes)
        sizes[desc.Axis] = tensor.Sizes[desc.Axis]
        check.sizes("IndicesTensor", tensor, sizes, "those of InputTensor, but on Axis")
        _some(check, desc.InputTensor.Sizes[desc.Axis], tensor.Sizes)
    check.sizes(written, getattr(desc, written), tensor.Sizes, "those of IndicesTensor")


def _gather_elements(check: Checks, desc: descs.GATHER_ELEMENTS_OPERATOR_DESC) -> None:
    _along(check, desc, "OutputTensor")


def _scatter(check: Checks, desc: descs.SCATTER_ELEMENTS_OPERATOR_DESC | descs.SCATTER_OPERATOR_DESC) -> None:
    _along(check, desc, "UpdatesTensor")
    check.sizes("OutputTensor", desc.OutputTensor, desc.InputTensor.Sizes, "those of InputTensor")


def _tuples(check: Checks, desc: Any, name: str) -> None:
    """The sizes of what tuples of indices name: those of the indices but the last, then the input's that no tuple names."""
    _integers(check, desc.IndicesTensor)
    source = _meant(check, "InputDimensionCount", desc.InputDimensionCount, 1, "InputTensor", desc.InputTensor)
    indices = _meant(check, "IndicesDimensionCount", desc.IndicesDimensionCount, 1, "IndicesTensor", desc.IndicesTensor)
    if source is None or indices is None:
        return
    batch = getattr(desc, "BatchDimensionCount", 0)
    most = min(len(source), len(indices)) - 1
    if not check.that(batch <= most, "BatchDimensionCount", batch, f"0 to {most}, below the counts of input and indices"):
        return
    same = indices[:batch] == source[:batch]
    check.that(same, "IndicesTensor.Sizes", indices, f"{source[:batch]} on the axes of the batch, as InputTensor")
    entries, field = indices[-1], f"IndicesTensor.Sizes[{desc.IndicesTensor.rank - 1}]"
    if check.that(
        1 <= entries <= len(source) - batch, field, entries, f"1 to {len(source) - batch}, the axes that a tuple can name"
    ):
        rule = "IndicesTensor.Sizes but the last, then InputTensor.Sizes behind those that a tuple names"
        _aligned(check, name, getattr(desc, name), [*indices[:-1], *source[batch + entries :]], rule)
        named = 0 if 0 in source[batch : batch + entries] else 1
        _some(check, named, indices[:-1])


def _gather_nd(check: Checks, desc: descs.GATHER_ND_OPERATOR_DESC | descs.GATHER_ND1_OPERATOR_DESC) -> None:
    _tuples(check, desc, "OutputTensor")


def _scatter_nd(check: Checks, desc: descs.SCATTER_ND_OPERATOR_DESC) -> None:
    _tuples(check, desc, "UpdatesTensor")
    check.sizes("OutputTensor", desc.OutputTensor, desc.InputTensor.Sizes, "those of InputTensor")


def _unpool(check: Checks, desc: descs.MAX_UNPOOLING_OPERATOR_DESC) -> None:
    check.sizes("IndicesTensor", desc.IndicesTensor, desc.InputTensor.Sizes, "those of InputTensor")
    check.type_to_run("IndicesTensor", desc.IndicesTensor, ("UINT64", "UINT32"))
    _some(check, math.prod(desc.OutputTensor.Sizes), desc.IndicesTensor.Sizes)


def _one_hot(check: Checks, desc: descs.ONE_HOT_OPERATOR_DESC) -> None:
    _integers(check, desc.IndicesTensor)
    count = math.prod(desc.ValuesTensor.Sizes)
    check.that(count >= 2, "ValuesTensor.Sizes", list(desc.ValuesTensor.Sizes), "2 elements or more")
    if check.axis(desc.Axis, desc.OutputTensor, "OutputTensor"):
        sizes = list(desc.OutputTensor.Sizes)
        sizes[desc.Axis] = 1
        check.sizes("IndicesTensor", desc.IndicesTensor, sizes, "those of OutputTensor, but 1 on Axis")


RULES: dict[str, Callable[[Checks, Any], None]] = {
    "GATHER": _gather,
    "GATHER_ELEMENTS": _gather_elements,
    "GATHER_ND": _gather_nd,
    "GATHER_ND1": _gather_nd,
    "SCATTER_ELEMENTS": _scatter,
    "SCATTER": _scatter,
    "SCATTER_ND": _scatter_nd,
    "MAX_UNPOOLING": _unpool,
    "ONE_HOT": _one_hot,
}


# --- how they run -------------------------------------------------------------------------------------------------------


def _ranked(array: AnyArray, rank: int) -> AnyArray:
    """A view of another rank: axes of size 1 in front are added, or left out."""
    more = rank - array.ndim
    view: AnyArray = array[(None,) * more + (...,)] if more > 0 else array[(0,) * -more + (...,)]
    return view


def _into(made: Callable[..., AnyArray], rank: int, desc: Any, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    """Run what makes an array of a rank for an OutputTensor of another: the sizes are right-aligned."""
    out: AnyArray = empty_like(bound["InputTensor"], desc.OutputTensor) if where["out"] is None else where["out"]
    made(out=_ranked(out, rank), device=where["device"])
    return out


def _run_gather(desc: descs.GATHER_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    source, indices = bound["InputTensor"], _ranked(bound["IndicesTensor"], desc.IndexDimensions)
    made = functools.partial(dmlops.take, source, indices, desc.Axis)
    return _into(made, source.ndim - 1 + indices.ndim, desc, bound, where)


def _run_gather_elements(desc: descs.GATHER_ELEMENTS_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    result: AnyArray = dmlops.take_along_axis(bound["InputTensor"], bound["IndicesTensor"], desc.Axis, **where)
    return result


def _run_gather_nd(desc: Any, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    source = _ranked(bound["InputTensor"], desc.InputDimensionCount)
    indices = _ranked(bound["IndicesTensor"], desc.IndicesDimensionCount)
    batch = getattr(desc, "BatchDimensionCount", 0)
    made = functools.partial(dmlops.gather_nd, source, indices, batch_dims=batch)
    return _into(made, indices.ndim - 1 + source.ndim - batch - indices.shape[-1], desc, bound, where)


def _run_scatter(desc: Any, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    """Where indices are equal, the last one in C order wins, which DirectML does not promise."""
    updates = bound["UpdatesTensor"]
    result: AnyArray = dmlops.put_along_axis(bound["InputTensor"], bound["IndicesTensor"], updates, desc.Axis, **where)
    return result


def _run_scatter_nd(desc: descs.SCATTER_ND_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    source = _ranked(bound["InputTensor"], desc.InputDimensionCount)
    indices = _ranked(bound["IndicesTensor"], desc.IndicesDimensionCount)
    updates = _ranked(bound["UpdatesTensor"], indices.ndim - 1 + source.ndim - indices.shape[-1])
    return _into(functools.partial(dmlops.scatter_nd, source, indices, updates), source.ndim, desc, bound, where)


def _run_unpool(desc: descs.MAX_UNPOOLING_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    source, sizes = bound["InputTensor"], tuple(desc.OutputTensor.Sizes)
    zeros: AnyArray = np.broadcast_to(np.zeros((), source.dtype), (math.prod(sizes),))
    if isinstance(source, DeviceArray):
        zeros = dmlops.empty((math.prod(sizes),), source.dtype, device=source.device)
        zeros[...] = 0
    indices = flat(bound["IndicesTensor"])
    made: AnyArray = dmlops.put_along_axis(zeros, indices, flat(source), 0, device=where["device"]).reshape(sizes)
    return made if where["out"] is None else copied(made, where)


def _run_one_hot(desc: descs.ONE_HOT_OPERATOR_DESC, bound: dict[str, Any], where: dict[str, Any]) -> AnyArray:
    values, axis = bound["ValuesTensor"], desc.Axis
    off, on = (values.numpy() if isinstance(values, DeviceArray) else values).reshape(-1)[:2]
    indices = bound["IndicesTensor"][(slice(None),) * axis + (0, ...)]
    depth, dtype = desc.OutputTensor.Sizes[axis], desc.OutputTensor.dtype
    result: AnyArray = dmlops.one_hot(indices, depth, axis=axis, on=on, off=off, dtype=dtype, **where)
    return result


RUNNERS: dict[str, Runner] = {
    "GATHER": _run_gather,
    "GATHER_ELEMENTS": _run_gather_elements,
    "GATHER_ND": _run_gather_nd,
    "GATHER_ND1": _run_gather_nd,
    "SCATTER_ELEMENTS": _run_scatter,
    "SCATTER": _run_scatter,
    "SCATTER_ND": _run_scatter_nd,
    "MAX_UNPOOLING": _run_unpool,
    "ONE_HOT": _run_one_hot,
}
