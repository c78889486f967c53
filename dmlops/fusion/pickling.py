"""How fused functions are pickled: as the pickler would pickle the function itself, by name or by value."""

from __future__ import annotations

import sys
import types
from typing import Any, Protocol

from dmlops.fusion.arguments import OfFunction

__all__ = ["carrier_of", "reduced"]

_SUFFIX = ".carrier"  # an attribute of fused functions


class Pickled(OfFunction, Protocol):
    """What is kept of a fused function."""

    max_programs: int
    max_bytes: int

    @property
    def carrier(self) -> Any: ...


def reduced(fused: Pickled, protocol: Any) -> Any:
    """What ``__reduce_ex__`` returns.

    A fused function that is found by its name goes as its *carrier*: a function that pickle finds by name, too, and that
    cloudpickle takes by value where it takes functions so, as those of ``__main__``. Others are made again of what they were
    made of.
    """
    function = fused._function
    name = getattr(function, "__qualname__", "")
    if _found(getattr(function, "__module__", None), name) is not fused:
        return _made, (type(fused), function, fused.max_programs, fused.max_bytes)
    if not isinstance(function, types.FunctionType) or int(protocol) < 4:  # older ones know no dotted names
        return name
    return _loaded, (type(fused), fused.carrier, fused.max_programs, fused.max_bytes)


def carrier_of(fused: Pickled) -> Any:
    """The same function under a name of its own."""
    function: Any = fused._function
    made = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    for name in ("__kwdefaults__", "__annotations__", "__doc__", "__module__"):
        setattr(made, name, getattr(function, name))
    made.__dict__.update(function.__dict__)
    made.__qualname__ = function.__qualname__ + _SUFFIX
    return made


def _found(module: str | None, name: str) -> Any:
    found: Any = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _made(kind: Any, function: Any, max_programs: int, max_bytes: int) -> Any:
    made = kind(function)
    made.max_programs, made.max_bytes = max_programs, max_bytes
    return made


def _loaded(kind: Any, carrier: Any, max_programs: int, max_bytes: int) -> Any:
    """The fused function that is here under that name, if the carrier is its; else a new one."""
    name = carrier.__qualname__.removesuffix(_SUFFIX)
    found = _found(carrier.__module__, name)
    if getattr(found, "carrier", None) is carrier:
        return found
    carrier.__qualname__ = name
    return _made(kind, carrier, max_programs, max_bytes)
