"""A trace that knows what it can record: NumPy's functions and dmlops' operators."""

from __future__ import annotations

from typing import Any

# Here, since a signal's handler or a fork in another thread may come while the first call of a fused function imports.
from dmlops.fusion import numpy_functions, numpy_maps, operators
from dmlops.fusion.traced import Trace

__all__ = ["Recording"]


class Recording(Trace):
    """What one run of a function records."""

    def call(self, function: Any, args: Any, kwargs: Any) -> Any:
        return numpy_functions.call(self, function, args, kwargs)

    def call_ufunc(self, ufunc: Any, method: str, inputs: Any, kwargs: Any) -> Any:
        return numpy_maps.call_ufunc(self, ufunc, method, inputs, kwargs)

    def call_operator(self, name: str, inputs: Any, others: Any) -> Any:
        return operators.call(self, name, inputs, others)
