"""What maps of all shapes have in common: equal calls are one expression, and equal pieces of it one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dmlops.fusion.expressions import VALUE, Expression, Varying
from dmlops.fusion.keys import IteratorError, bytes_of, key_of_constant
from dmlops.fusion.programs import Programs

__all__ = ["expression_of"]

_MOST = 512  # expressions
_MOST_BYTES = 8 << 20  # of their constants

_expressions = Programs()


def expression_of(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Expression:
    """The expression of a call; of a call that is equal the same one, which knows its sample and its tables."""
    kept: list[Any] = [function]
    key = _key_of(function, args, kwargs, kept)
    found = None if key is None else _expressions.get(key)
    if found is None:
        found = Expression(function, args, kwargs)
        if key is not None:
            found.shared = True
            own = [one.array.nbytes for one in (*args, *kwargs.values()) if isinstance(one, Varying)]
            _expressions.put(key, found, kept, sum(own), _MOST, _MOST_BYTES)
    return found


def _key_of(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], kept: list[Any]) -> Any:
    """None where a call is like no other: of a function that was made for it, or of what is not looked into."""
    if not isinstance(function, np.ufunc) and "<locals>" in getattr(function, "__qualname__", "<locals>"):
        return None
    others: list[Any] = []
    try:
        parts = [_key_of_argument(one, others, kept) for one in (*args, *kwargs.values())]
    except IteratorError:
        return None
    return None if others else (id(function), tuple(parts), tuple(kwargs))


def _key_of_argument(value: Any, others: list[Any], kept: list[Any]) -> Any:
    if value is VALUE:
        return "value"
    if isinstance(value, Expression):
        kept.append(value)
        return "expression", id(value)
    if isinstance(value, Varying):
        dtype = value.array.dtype
        return "varying", value.array.shape, bytes_of(value.array), key_of_constant(dtype, others, kept)
    return key_of_constant(value, others, kept)
