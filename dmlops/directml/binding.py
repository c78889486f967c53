"""How arrays and buffers are bound to the tensors of a description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from dmlops._annotations import AnyArray, Array
from dmlops._core import DeviceArray
from dmlops.directml.errors import DirectMLError, Problem
from dmlops.directml.fields import shown
from dmlops.directml.tensor import OPERATOR_DESC, TENSOR_DESC

__all__ = ["Bindings", "bind", "lay_over"]

Bindings: TypeAlias = Mapping[str, AnyArray | Sequence[AnyArray | None] | None]


def lay_over(tensor: TENSOR_DESC, buffer: Array) -> Array:
    """View a one-dimensional array, which is large enough, with the sizes and strides of a tensor."""
    step = buffer.strides[0]
    strides = tuple(stride * step for stride in tensor.strides)
    return np.lib.stride_tricks.as_strided(buffer, tuple(tensor.Sizes), strides)


def bind(desc: OPERATOR_DESC, bindings: Bindings) -> dict[str, Any]:
    """Return for each field of tensors what to read or write: a view, None for an output to be made, or a list of those."""
    if not isinstance(bindings, Mapping):
        raise TypeError(f"bindings is {type(bindings).__name__}; allowed: a dict of arrays by the names of fields")
    tensors: dict[str, list[tuple[str, TENSOR_DESC]]] = {}
    for name, place, tensor in desc.tensors():
        tensors.setdefault(name, []).append((place, tensor))
    problems = [
        Problem(f"bindings[{name!r}]", "bound", f"only {', '.join(tensors)}") for name in bindings if name not in tensors
    ]
    bound: dict[str, Any] = {}
    for name, places in tensors.items():
        given = bindings.get(name)
        if places[0][0] == name:  # a single tensor
            bound[name] = _one(name, name, places[0][1], given, problems)
        else:
            bound[name] = _several(name, places, given, problems)
    if problems:
        raise DirectMLError(f"bindings of DML_{type(desc).__name__}", problems)
    return bound


def _several(name: str, places: list[tuple[str, TENSOR_DESC]], given: Any, problems: list[Problem]) -> list[AnyArray | None]:
    if given is None:
        given = [None] * len(places)
    if isinstance(given, np.ndarray | DeviceArray) or not isinstance(given, Sequence):
        raise TypeError(f"bindings[{name!r}] is {type(given).__name__}; allowed: a list of {len(places)} arrays")
    if len(given) != len(places):
        problems.append(Problem(f"len(bindings[{name!r}])", str(len(given)), f"{len(places)}, as many as in {name}"))
        return []
    return [_one(name, place, tensor, array, problems) for (place, tensor), array in zip(places, given, strict=True)]


def _one(name: str, place: str, tensor: TENSOR_DESC, array: Any, problems: list[Problem]) -> AnyArray | None:
    """The array as the tensor that it is bound to. What is wrong is added to `problems`."""
    output = name.startswith("Output")
    if array is None:
        if not output:
            problems.append(Problem(f"bindings[{place!r}]", "missing", "an array, as for every input"))
        return None
    if isinstance(array, DeviceArray):
        return _device_array(place, tensor, array, problems)
    if not isinstance(array, np.ndarray):
        raise TypeError(f"bindings[{place!r}] is {type(array).__name__}; allowed: a numpy.ndarray or DeviceArray")
    buffer: Array = np.asarray(array)
    if output and not buffer.flags.writeable:
        problems.append(Problem(f"bindings[{place!r}]", "read-only", "a writable array for an output"))
    if buffer.dtype == tensor.dtype and buffer.shape == tuple(tensor.Sizes):
        return buffer
    if buffer.ndim != 1 or buffer.dtype not in (tensor.dtype, np.uint8):
        what = f"{buffer.dtype} of shape {buffer.shape}"
        allowed = f"{tensor.dtype} of shape {tuple(tensor.Sizes)}, or a one-dimensional buffer of {tensor.dtype} or bytes"
        problems.append(Problem(f"bindings[{place!r}]", what, allowed))
        return None
    needed = max(tensor.extent * tensor.dtype.itemsize, tensor.TotalTensorSizeInBytes or 0)
    if buffer.nbytes < needed:
        problems.append(Problem(f"bindings[{place!r}]", f"a buffer of {buffer.nbytes} bytes", f"{needed} bytes or more"))
        return None
    if buffer.dtype != tensor.dtype:
        if not buffer.flags.c_contiguous:
            problems.append(Problem(f"bindings[{place!r}]", "a buffer of bytes with gaps", "one without"))
            return None
        buffer = buffer[: buffer.size // tensor.dtype.itemsize * tensor.dtype.itemsize].view(tensor.dtype)
    return lay_over(tensor, buffer)


def _device_array(place: str, tensor: TENSOR_DESC, array: DeviceArray, problems: list[Problem]) -> DeviceArray | None:
    """A device array has strides of its own, so it is bound only where it has the shape of the tensor."""
    if array.dtype == tensor.dtype and array.shape == tuple(tensor.Sizes):
        return array
    what = f"a DeviceArray, {array.dtype} of shape {shown(array.shape)}"
    problems.append(Problem(f"bindings[{place!r}]", what, f"{tensor.dtype} of shape {tuple(tensor.Sizes)}"))
    return None
