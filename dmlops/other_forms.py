"""Forms of arguments that other libraries have: keys of NumPy's, widths of numpy.pad, names of padding modes."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from dmlops.slice_keys import slice_from_key

__all__ = ["canonical", "mode_of", "widths_of", "window_of"]

MODES = {"reflect": "reflection", "replicate": "edge", "circular": "wrap"}


def mode_of(mode: Any) -> Any:
    """The mode of padding that a name means."""
    return MODES.get(mode, mode) if isinstance(mode, str) else mode


def widths_of(input: Any, widths: Any) -> tuple[Any, Any]:
    """What is added before and after each axis, of numpy.pad's form; what is none stays as it is, and is refused later."""
    try:
        pairs = np.broadcast_to(np.asarray(widths), (len(np.shape(input)), 2))
    except ValueError:
        return widths, None
    return (pairs[:, 0].tolist(), pairs[:, 1].tolist()) if pairs.dtype.kind in "iu" else (widths, None)


def window_of(input: Any, key: Any, strides: Any) -> tuple[Any, Any, Any]:
    """The offsets, sizes and strides of a key; what is none stays as it is, and is refused later."""
    if not any(entry is Ellipsis or isinstance(entry, builtins.slice) for entry in (key if isinstance(key, tuple) else (key,))):
        return key, None, strides
    if strides is not None:
        raise TypeError("strides must be None where a key is given: its slices have steps")
    return slice_from_key(np.shape(input), key)


def canonical(operator: str, input: Any, arguments: dict[str, Any]) -> None:
    """Change the arguments of an operator, by name, to those that its C function takes."""
    if operator == "padding":
        arguments["mode"] = mode_of(arguments["mode"])
        if arguments["end_padding"] is None:
            arguments["start_padding"], arguments["end_padding"] = widths_of(input, arguments["start_padding"])
    if operator == "slice" and arguments["sizes"] is None:
        window = window_of(input, arguments["offsets"], arguments["strides"])
        arguments |= dict(zip(("offsets", "sizes", "strides"), window, strict=True))
