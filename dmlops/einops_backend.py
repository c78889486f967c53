"""What einops is told of device arrays and of traced ones, once it is imported."""

from __future__ import annotations

import importlib.machinery
import sys
from typing import Any

from dmlops.late_imports import late

__all__ = ["register_when_imported"]

_BACKENDS = "einops._backends"


def register_when_imported() -> None:
    """Register now if einops is imported, else when it is."""
    if _BACKENDS in sys.modules:
        _register(sys.modules[_BACKENDS])
    elif not any(isinstance(one, _Watch) for one in sys.meta_path):
        sys.meta_path.insert(0, _Watch())


class _Watch:
    """A finder that registers behind the import of einops' backends, and leaves."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != _BACKENDS:
            return None
        # A new list: a thread that goes through the old one meanwhile would miss the finder behind.
        sys.meta_path = [one for one in sys.meta_path if one is not self]
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: Any) -> None:
                execute(module)
                _register(module)

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


_registered: Any = None  # einops finds the class while there is a reference to it


def _register(backends: Any) -> None:
    global _registered
    if _registered is not None and issubclass(_registered, backends.AbstractBackend):
        return
    import numpy as np

    from dmlops._core import DeviceArray
    from dmlops.arrays import asarray

    class Backend(backends.AbstractBackend):  # type: ignore[misc]
        """NumPy's functions, which both kinds of array have."""

        framework_name = "dmlops"

        def is_appropriate_type(self, tensor: Any) -> bool:
            traced = sys.modules.get("dmlops.fusion.traced")
            return isinstance(tensor, DeviceArray) or (traced is not None and isinstance(tensor, traced.Traced))

        def from_numpy(self, x: Any) -> Any:
            return asarray(x)

        def to_numpy(self, x: Any) -> Any:
            return x.numpy()

        def arange(self, start: int, stop: int) -> Any:
            return asarray(np.arange(start, stop))

        def reshape(self, x: Any, shape: Any) -> Any:
            if not isinstance(x, DeviceArray):
                return x.reshape(shape)
            with late():
                from dmlops.fusion import on_devices

            return on_devices.reshape(x, shape)

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
            raise TypeError(
                f"einops.reduce by {operation} computes, and dmlops only moves elements: give it what .numpy() gives"
            )

        def is_float_type(self, x: Any) -> bool:
            return bool(x.dtype.kind == "f")

    _registered = Backend
