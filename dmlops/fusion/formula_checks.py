"""Formulas beside NumPy: an operation is compared when it is first used, and each formula when it is made.

Both run on values that bring out differences, and on random ones.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from dmlops.bits import differ
from dmlops.fusion.expressions import BY_VALUE, VALUE, Expression, Varying, evaluate
from dmlops.fusion.formulas import Formula, UnsupportedError, run, some_values
from dmlops.fusion.lowering import COMPARISONS, Element, begun, check_lowered, constant_of, continued, dtype_of, promoted

__all__ = ["check_call", "compare"]

_ROWS = 24  # of constants, with which an operation is compared

_compared: dict[Any, str] = {}  # for each operation, how it differs


def check_call(one: Expression, element: Element) -> None:
    """Raise UnsupportedError unless a call, the last of an expression, can be in a formula; its operands have been checked."""
    if BY_VALUE and element[0] == 0:
        raise UnsupportedError("without axes, in this version of NumPy")
    try:
        check_lowered(one, element)
        key = _key(one, element)
        if key not in _compared:
            _compared[key] = _difference(one, element)
    except (TypeError, ValueError, OverflowError) as error:
        raise UnsupportedError("of these operands") from error
    if _compared[key]:
        raise UnsupportedError(_compared[key])


def compare(formula: Formula, expected: Callable[[Any, Any], Any]) -> None:
    """Compare some rows of a formula with what NumPy makes of the same values; UnsupportedError where they differ."""
    chosen = np.array(sorted(set(np.linspace(0, formula.rows - 1, 6).astype(int).tolist())))
    values = some_values(formula.source.str)
    wrong = _first_difference(run(formula.chosen(chosen), values), expected(chosen, values), values)
    if wrong:
        raise UnsupportedError(wrong)


def _first_difference(ours: Any, right: Any, values: Any) -> str:
    right = np.broadcast_to(right, ours.shape)
    wrong = differ(ours, np.ascontiguousarray(right, ours.dtype))
    if not wrong.any():
        return ""
    row, at = (int(k) for k in np.unravel_index(int(wrong.argmax()), wrong.shape))
    return f"on this machine: of {values[at]!r} it is {ours[row, at]!r}, NumPy has {right[row, at]!r}"


# --- one operation ----------------------------------------------------------------------------------------------------


def _is_made(argument: Any) -> bool:
    return argument is VALUE or isinstance(argument, Expression)


def _dtype(argument: Any, one: Expression, element: Element) -> Any:
    """Of an operand; of a number that is a constant, what NumPy takes it for."""
    if _is_made(argument):
        return element[1] if argument is VALUE else dtype_of(argument, element)
    if isinstance(argument, Varying):
        return argument.array.dtype
    return promoted(one, element) if one.function in COMPARISONS else dtype_of(one, element)


def _key(one: Expression, element: Element) -> Any:
    name = getattr(one.function, "__qualname__", None) or one.function.__name__
    exponent = one.args[1:] if one.function is operator.pow else ()
    kinds = tuple((_is_made(argument), _dtype(argument, one, element).str) for argument in one.args)
    return name, getattr(one.function, "__module__", ""), kinds, dtype_of(one, element).str, repr(exponent)


def _difference(one: Expression, element: Element) -> str:
    """The first difference between an operation and NumPy's, of pairs of values; nothing where there is none."""
    if one.function is np.clip:
        return ""  # its bounds decide: the formula is compared
    order = itertools.count(1)
    first = next(_dtype(argument, one, element) for argument in one.args if _is_made(argument))
    carrier = first if first.itemsize >= 4 else np.dtype("f4" if first.kind == "f" else "i4")  # that memory has
    value: Any = VALUE if carrier == first else _cast(first)
    args: list[Any] = []
    for argument in one.args:
        if _is_made(argument) and value not in args:
            args.append(value)
        elif one.function is operator.pow:
            args.append(argument)
        else:
            args.append(Varying(_few_values(_dtype(argument, one, element), 7 * next(order))))
    call = Expression(one.function, args, {})
    values = some_values(carrier.str)
    if carrier != first and first.kind == "f":
        values = values[np.isfinite(values)]
    right = np.atleast_2d(evaluate(call, values, lambda varying: varying.array))
    if right.dtype != dtype_of(one, element):
        return ""  # NumPy promotes by value: the formula is compared
    rows = _ROWS if call.varying else 1
    made = continued(begun(carrier), call, (2, carrier), rows, constant_of)
    return _first_difference(run(made, values), right, values)


def _cast(new: np.dtype[Any]) -> Expression:
    def cast(values: Any) -> Any:
        return values.astype(new)

    setattr(cast, "casts", True)
    return Expression(cast, [VALUE], {})


def _few_values(dtype: np.dtype[Any], shift: int) -> Any:
    """For a constant: one a row. Which of two NaNs an operation keeps is another question."""
    values = some_values(dtype.str, 40)
    if dtype.kind == "f":
        values = values[~np.isnan(values)]
    return np.roll(values, shift)[np.linspace(0, len(values) - 1, _ROWS).astype(int), None]
