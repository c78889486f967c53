"""einops of traced arrays, where einops is imported."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from dmlops.fusion.traced import Traced, refuse

__all__ = ["register"]

_registered = False


def register() -> None:
    """Tell einops of traced arrays, once."""
    global _registered
    if _registered or "einops" not in sys.modules:
        return
    from einops import _backends

    class Backend(_backends.AbstractBackend):  # type: ignore[misc]
        framework_name = "dmlops"

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, Traced)

        def transpose(self, x: Any, axes: Any) -> Any:
            return np.transpose(x, axes)

        def stack_on_zeroth_dimension(self, tensors: Any) -> Any:
            return np.stack(tensors)

        def add_axis(self, x: Any, new_position: int) -> Any:
            return np.expand_dims(x, new_position)

        def tile(self, x: Any, repeats: Any) -> Any:
            return np.tile(x, repeats)

        def concat(self, tensors: Any, axis: int) -> Any:
            return np.concatenate(tensors, axis)

        def reduce(self, x: Any, operation: str, axes: Any) -> Any:
            refuse(f"einops.reduce by {operation}")

        def is_float_type(self, x: Any) -> bool:
            return bool(x.dtype.kind == "f")

    _registered = True
