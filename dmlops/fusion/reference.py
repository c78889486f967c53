"""A fused function run by NumPy: dmlops' operators in it run as their twins in dmlops.reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dmlops._core import DeviceArray
from dmlops.fusion import structure

__all__ = ["run"]


class _Plain(np.ndarray[Any, np.dtype[Any]]):
    """A NumPy array that has dmlops' operators run as their twins."""

    @staticmethod
    def __dmlops_function__(name: str, inputs: Any, others: Any) -> Any:
        from dmlops import reference
        from dmlops.resizing.described import resampled

        if name == "resample":
            return resampled(inputs, *others[:3]).view(_Plain)
        *own, _out, _device, _how = others
        twin: Any = getattr(reference, name)
        result = twin(inputs, *own[: _POSITIONAL[name]], **dict(zip(_KEYWORDS[name], own[_POSITIONAL[name] :], strict=True)))
        return structure.rebuilt(result, lambda array: array.view(_Plain))


_POSITIONAL = dict.fromkeys(("tile", "join", "transpose", "depth_to_space", "space_to_depth", "upsample"), 1)
_POSITIONAL |= {"split": 2, "padding": 2, "reverse_subsequences": 2, "slice": 3, "slice_grad": 4}
_KEYWORDS: dict[str, tuple[str, ...]] = dict.fromkeys(_POSITIONAL, ())
_KEYWORDS |= dict.fromkeys(("depth_to_space", "space_to_depth"), ("order", "layout"))
_KEYWORDS |= {"upsample": ("layout",), "padding": ("mode", "value"), "reverse_subsequences": ("batch_axis",)}
_KEYWORDS |= {"slice": ("output_sizes",)}


def run(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call the function with NumPy arrays."""

    def plain(value: Any) -> Any:
        array = structure.array_from(value)
        if array is None:
            return value
        return (array.numpy() if isinstance(array, DeviceArray) else np.asarray(array)).view(_Plain)

    def base(value: Any) -> Any:
        return np.asarray(value) if isinstance(value, (np.ndarray, np.generic)) else value

    return structure.rebuilt(function(*structure.rebuilt(args, plain), **structure.rebuilt(kwargs, plain)), base)
