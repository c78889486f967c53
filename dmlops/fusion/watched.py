"""Parameters as a function sees them: traced arrays that notice whether the function asks what they are.

In a trace a number is no number. A function that chooses by the type of an argument, by its text, or by what an attribute or a
dict has for it, would take another way with parameters than with values, and two values need not show it. So whoever is not
dmlops and asks for such a thing gets an answer, but the trace is refused in the end.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from dmlops.fusion import surroundings
from dmlops.fusion.traced import RefusedError, Traced

__all__ = ["Watched", "asks_for_types"]

_OF_PROTOCOLS = ("__array_priority__", "__array_ufunc__", "__array_function__", "__dmlops_function__")


def _look(what: str) -> None:
    """Refuse the trace, also where the function goes on, if others than dmlops have called a method of Watched."""
    if sys._getframe(2).f_globals.get("__name__", "").partition(".")[0] != "dmlops":
        RefusedError(what, f"a parameter is no number: {what} is not known")


class Watched(Traced):
    """A parameter of a trace."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        """`isinstance` asks for ``__class__`` where the type is another one."""
        value = object.__getattribute__(self, "_node").value
        is_of_both = hasattr(value, name) and (hasattr(Traced, name) or hasattr(np.ndarray, name))
        if name == "__class__" or not (is_of_both or name in _OF_PROTOCOLS):
            _look(f"its attribute {name}")
        return super().__getattribute__(name)

    def __hash__(self) -> int:
        _look("its hash")
        return object.__hash__(self)

    def __repr__(self) -> str:
        _look("its text")
        return super().__repr__()

    def __format__(self, form: str) -> str:
        _look("its text")
        return format(super().__repr__(), form)


def asks_for_types(function: Any) -> bool:
    """Whether a function, or one that it names, calls ``type``, which nobody notices."""
    return "type" in surroundings.names(function)
