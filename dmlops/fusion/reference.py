"""A fused function run by NumPy: dmlops' operators in it run as their twins in dmlops.reference."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import dmlops.reference as reference  # not from dmlops, which would wait for late imports
from dmlops import structure
from dmlops._core import DeviceArray
from dmlops.resizing.described import resampled

__all__ = ["run", "twin_call"]


class _Plain(np.ndarray[Any, np.dtype[Any]]):
    """A NumPy array that has dmlops' operators run as their twins."""

    @staticmethod
    def __dmlops_function__(name: str, inputs: Any, others: Any) -> Any:
        if name == "resample":
            return resampled(inputs, *others[:3]).view(_Plain)
        *own, _out, _device, _how = others
        twin, named = twin_call(name, own)
        return structure.rebuilt(twin(inputs, **named), lambda array: array.view(_Plain))


def twin_call(name: str, own: Sequence[Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """An operator's twin, and the arguments by name that it takes beside its input: in the order of the extension.

    The twin is the function of NumPy arrays alone: ints that lie on a device say nothing of where the result belongs.
    """
    twin = inspect.unwrap(getattr(reference, name))
    on_host = [one.numpy() if isinstance(one, DeviceArray) else one for one in own]
    return twin, dict(zip(_parameters(twin), on_host, strict=True))


@functools.cache
def _parameters(twin: Callable[..., Any]) -> list[str]:
    """All but the input, `out`, `device` and `progress`."""
    return list(inspect.signature(twin).parameters)[1:-3]


def run(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call the function with NumPy arrays."""

    made: dict[int, Any] = {}  # what is passed twice is one array

    def plain(value: Any) -> Any:
        array = structure.array_from(value)
        if array is None:
            return value
        if id(value) not in made:
            made[id(value)] = (array.numpy() if isinstance(array, DeviceArray) else np.asarray(array)).view(_Plain)
        return made[id(value)]

    def base(value: Any) -> Any:
        return np.asarray(value) if isinstance(value, (np.ndarray, np.generic)) else value

    return structure.rebuilt(function(*structure.rebuilt(args, plain), **structure.rebuilt(kwargs, plain)), base)
