"""What the runners of operators share: copies, new arrays, and scalars of a tensor's type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import dmlops
from dmlops._annotations import AnyArray
from dmlops._core import DeviceArray
from dmlops.directml.tensor import TENSOR_DESC

__all__ = ["Runner", "copied", "empty_like", "scalar_of", "truncated"]

# What a runner gets: the description, the views of its tensors by field, and where to run: `out=` and `device=` are passed on.
Runner: TypeAlias = Callable[[Any, dict[str, Any], dict[str, Any]], Any]


def copied(source: AnyArray, where: dict[str, Any]) -> AnyArray:
    """Copy a whole array; one of host memory also into a device array."""
    if isinstance(where["out"], DeviceArray) and not isinstance(source, DeviceArray):
        where["out"][...] = source
        return where["out"]
    result: AnyArray = dmlops.slice(source, [0] * source.ndim, source.shape, **where)
    return result


def empty_like(source: AnyArray, tensor: TENSOR_DESC) -> AnyArray:
    if isinstance(source, DeviceArray):
        return dmlops.empty(tuple(tensor.Sizes), source.dtype, device=source.device)
    return np.empty(tuple(tensor.Sizes), source.dtype)


def scalar_of(value: Any, tensor: TENSOR_DESC) -> Any:
    """The value of a DML_SCALAR_UNION as a scalar of the tensor's type."""
    if isinstance(value, bytes):
        return np.frombuffer(value, tensor.dtype, 1)[0]
    return tensor.dtype.type(value)


def truncated(value: float, tensor: TENSOR_DESC) -> Any:
    """A FLOAT as a scalar of the tensor's type, as C converts it: 10.6 becomes 10."""
    with np.errstate(over="ignore"):
        single = np.float32(value)
        return tensor.dtype.type(single) if tensor.dtype.kind == "f" else tensor.dtype.type(int(single))
