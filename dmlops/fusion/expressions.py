"""Expressions: what a chain of calls makes of each element, evaluated by NumPy."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dmlops.fusion import arithmetic
from dmlops.fusion.order import operands_first
from dmlops.quiet import quiet

__all__ = ["BY_VALUE", "VALUE", "Expression", "Varying", "called", "evaluate", "first_of", "sample_of"]

_MOST_SAMPLES = 64  # of an expression

BY_VALUE = (np.int64(0) + np.zeros(1, np.int8)).dtype == np.int8  # before NumPy 2, which promotes what has no axes by its value

VALUE = object()  # stands for the element in an expression


class Varying:
    """A constant array that is broadcast against the elements."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array


class Expression:
    """A call of a function; among its arguments are VALUE, expressions, varying constants, and what is passed on as it is.

    An expression may be an argument of several others, and expressions nest as deep as functions are long. So each is looked at
    once, and nothing here recurs.
    """

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.function, self.args, self.kwargs = function, tuple(args), kwargs
        arguments = (*self.args, *kwargs.values())
        self.operands = tuple(one for one in arguments if isinstance(one, Expression))
        constants = [one for one in arguments if isinstance(one, Varying)]
        inner = [operand.varying for operand in self.operands]
        # Those of this call and of the calls in it, each once; most calls share their operand's.
        self.varying: tuple[Varying, ...] = (
            inner[0] if len(inner) == 1 and not constants else tuple(dict.fromkeys(itertools.chain(*inner, constants)))
        )
        self.shared = False  # whether equal calls have the same expression
        self.samples: dict[Any, Any] = {}  # what it makes of an element, by the number of its axes and its dtype

    def operations(self) -> list[Any] | None:
        """The calls as `arithmetic` has them, casts left out; None where one is something else."""
        found: list[Any] = []
        at = self
        while at is not VALUE:
            places = [k for k, one in enumerate(at.args) if one is VALUE or isinstance(one, Expression)]
            if len(places) != 1:
                return None
            if not getattr(at.function, "__name__", "").startswith("astype"):
                if at.function not in arithmetic.OPERATIONS or len(at.args) != 2:
                    return None
                found.append((at.function, places[0] == 1, at.args[1 - places[0]]))
            at = at.args[places[0]]
        return found[::-1]


def evaluate(expression: Expression, values: Any, constant_of: Callable[[Varying], Any]) -> Any:
    """The value of an expression, by NumPy, for an array of elements."""
    order = operands_first([expression])
    left = collections.Counter(itertools.chain.from_iterable(one.operands for one in order))
    known: dict[Expression, Any] = {}
    with quiet():
        for one in order:
            known[one] = called(one, values, constant_of, known)
            left.subtract(one.operands)
            for operand in one.operands:
                if left[operand] == 0:
                    known.pop(operand, None)  # values of thousands of calls would fill the memory
    return known[expression]


def called(one: Expression, values: Any, constant_of: Callable[[Varying], Any], known: dict[Expression, Any]) -> Any:
    """The value of a call, whose operands' values are known."""

    def of(argument: Any) -> Any:
        if isinstance(argument, Expression):
            return known[argument]
        if isinstance(argument, Varying):
            return constant_of(argument)
        return values if argument is VALUE else argument

    return one.function(*map(of, one.args), **{name: of(argument) for name, argument in one.kwargs.items()})


def first_of(constant: Varying) -> Any:
    """One element, with as many axes; of an empty constant a zero."""
    array = constant.array
    return array[(slice(1),) * array.ndim] if array.size else np.zeros((1,) * array.ndim, array.dtype)


def sample_of(expression: Expression, rank: int, dtype: np.dtype[Any]) -> Any:
    """What an expression makes of an array of one element. That of its operands is known, unless constants have added axes."""
    key = rank, dtype
    if key in expression.samples:
        return expression.samples[key]
    one = np.zeros((1,) * rank, dtype)
    known = {operand: operand.samples[key] for operand in expression.operands if key in operand.samples}
    if len(known) < len(set(expression.operands)):
        made = evaluate(expression, one, first_of)
    else:
        with quiet():
            made = called(expression, one, first_of, known)
    if len(expression.samples) < _MOST_SAMPLES:
        expression.samples[key] = made
    return made
