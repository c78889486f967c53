"""Arguments of calls, checked: whole numbers, and the arrays that results are written to."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dmlops.errors import shown
from dmlops.processors.plans import Pixels, Plan

__all__ = ["outputs", "whole"]


def whole(value: Any, name: str, least: int = 1) -> int:
    """An int of `least` or more, of Python or NumPy."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be an int, not {shown(value)}")
    if number < least:
        raise ValueError(f"{name} must be {least} or more, not {shown(number)}")
    if number >= 2**31:
        raise ValueError(f"{name} must be below {2**31}, not {shown(number)}")
    return number


def outputs(out: Any, plan: Plan, names: Sequence[str], but: str) -> dict[str, Any]:
    """Where results are written, by their names. Raises before anything is written; `but` joins wrong names and right ones."""
    if out is None:
        return {}
    if not isinstance(out, Mapping):
        raise TypeError(f"out must be a dict of arrays, such as {{{names[0]!r}: array}}, not {type(out).__name__}")
    if unknown := sorted(map(repr, set(out) - set(names))):
        raise ValueError(f"out has {', '.join(unknown)}{but}{', '.join(map(repr, names))}")
    for name, given in out.items():
        _check(given, plan[name], f"out[{name!r}]")
    return dict(out)


def _check(given: Any, result: Any, where: str) -> None:
    if isinstance(result, list):
        if not isinstance(given, (list, tuple)):
            raise TypeError(f"{where} must be a list of {len(result)} arrays, not {type(given).__name__}")
        if len(given) != len(result):
            raise ValueError(f"out has {len(given)} arrays, the result {len(result)}: {where}")
        for number, (into, one) in enumerate(zip(given, result, strict=True)):
            _check(into, one, f"{where}[{number}]")
        return
    if not hasattr(result, "shape"):
        raise TypeError(f"{where} is for {shown(result)}, which is no array: leave it out")
    if not isinstance(given, np.ndarray):
        raise TypeError(f"{where} must be a C-contiguous array of NumPy, not {type(given).__name__}")
    if (given.shape, given.dtype) != (result.shape, result.dtype):
        raise ValueError(f"out is {given.dtype} {given.shape}, the result {result.dtype} {result.shape}: {where}")
    if not given.flags.writeable:
        raise ValueError(f"{where} must be writable")
    if isinstance(result, Pixels) and not given.flags.c_contiguous:
        raise ValueError(f"{where} must be a C-contiguous array of NumPy")
