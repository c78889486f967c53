"""From an expression to a formula: the instructions of each call.

Which dtypes the operations have is what NumPy has made of one element.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from dmlops.fusion.expressions import VALUE, Expression, Varying, first_of, sample_of
from dmlops.fusion.formulas import (
    BOOL,
    F64,
    I32,
    I64,
    MEMORY,
    NUMBERS,
    Formula,
    Instruction,
    UnsupportedError,
    code_of,
    number_of,
)
from dmlops.fusion.order import operands_first
from dmlops.quiet import quiet

__all__ = ["COMPARISONS", "Element", "begun", "check_lowered", "constant_of", "continued", "dtype_of", "promoted"]

Element = tuple[int, np.dtype[Any]]  # the axes of what an expression is applied to, and its dtype

# Operations of the dtype of their result.
_BINARY: dict[Any, str] = {
    np.add: "add",
    np.subtract: "subtract",
    np.multiply: "multiply",
    np.minimum: "minimum",
    np.maximum: "maximum",
    np.bitwise_and: "and",
    np.bitwise_or: "or",
    np.bitwise_xor: "xor",
}
_OF_FLOATS: dict[Any, str] = {np.sqrt: "sqrt", np.floor: "floor", np.ceil: "ceil", np.trunc: "trunc", np.rint: "rint"}
_UNARY: dict[Any, str] = {np.negative: "negative", np.absolute: "absolute", np.fabs: "absolute"}
_OF_BOOLS = {"add": "or", "multiply": "and", "minimum": "and", "maximum": "or", "and": "and", "or": "or", "xor": "xor"}
COMPARISONS: dict[Any, str] = {
    function: name
    for name, pair in {
        "less": (np.less, operator.lt),
        "less_equal": (np.less_equal, operator.le),
        "greater": (np.greater, operator.gt),
        "greater_equal": (np.greater_equal, operator.ge),
        "equal": (np.equal, operator.eq),
        "not_equal": (np.not_equal, operator.ne),
    }.items()
    for function in pair
}


class _Builder:
    """Instructions for a chain of calls. A value has a dtype; constants are what `constant` makes of them, for each row."""

    def __init__(self, before: Formula, constant: Callable[[Any], Any]) -> None:
        self.before, self.constant = before, constant
        self.code, self.constants = list(before.code), list(before.constants)
        self.known: dict[Any, int] = {}

    def add(self, name: str, number: int, *operands: int, other: int = 0) -> int:
        self.code.append(Instruction(name, number, operands, other))
        return len(self.code)

    def fixed(self, value: Any, dtype: np.dtype[Any]) -> int:
        """A constant of that dtype."""
        if type(value) is int and dtype.kind in "iu" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
            raise UnsupportedError(f"and of {value}, which {dtype} cannot hold")
        with quiet():
            numbers = np.asarray(self.constant(value)).astype(dtype).astype(NUMBERS[number_of(dtype)]).reshape(-1)
        key = numbers.dtype.str, numbers.tobytes()
        if key not in self.known:
            self.constants.append(numbers)
            self.known[key] = -len(self.constants)
        return self.known[key]

    def cast(self, value: int, dtype: np.dtype[Any], new: np.dtype[Any]) -> int:
        if dtype == new:
            return value
        one, other = number_of(dtype), number_of(new)
        if new == BOOL:
            return self.add("not_equal", one, value, self.fixed(0, dtype))
        if (code_of(dtype), code_of(new)) == ("f8", "f2"):
            raise UnsupportedError("from float64 to float16")
        if (code_of(dtype), code_of(new)) == ("f2", "f8"):
            return self.add("widen", F64, value)
        if one != other:
            value = self.add("cast", other, value, other=one)
        return self.narrow(value, new) if not np.can_cast(dtype, new) or new.itemsize < 4 else value

    def narrow(self, value: int, dtype: np.dtype[Any]) -> int:
        """What is left of a value in memory of that dtype."""
        if f"{dtype.kind}{dtype.itemsize}" in ("f4", "f8", "i4", "i8", "b1"):
            return value
        return self.add("narrow", number_of(dtype), value, other=MEMORY[code_of(dtype)])


class _Call:
    """One call, whose operands are values or constants."""

    def __init__(
        self, builder: _Builder, one: Expression, element: Element, of: Callable[[Any], tuple[int, np.dtype[Any]] | None]
    ) -> None:
        self.builder, self.one, self.element, self.dtype = builder, one, element, dtype_of(one, element)
        self.number = number_of(self.dtype)
        self.args = [(argument, of(argument)) for argument in one.args]
        self.kwargs = one.kwargs

    def operand(self, k: int, dtype: np.dtype[Any]) -> int:
        """An operand, cast to a dtype."""
        argument, known = self.args[k]
        if known is not None:
            return self.builder.cast(*known, dtype)
        return self.builder.fixed(argument, dtype)

    def is_true(self, k: int) -> int:
        return self.operand(k, BOOL)

    def lowered(self) -> int:
        function, kwargs, count = self.one.function, self.kwargs, len(self.args)
        if kwargs and not (function is np.clip and {*kwargs} <= {"a_min", "a_max", "min", "max"}):
            raise UnsupportedError("with these arguments")
        if getattr(function, "casts", False) or function is np.positive:
            return self.operand(0, self.dtype)
        if function in COMPARISONS and count == 2:
            return self.compared(COMPARISONS[function])
        if function is np.where and count == 3:
            chosen = [self.operand(k, self.dtype) for k in (1, 2)]
            return self.builder.add("where", self.number, self.is_true(0), *chosen)
        if function is np.clip:
            return self.clipped()
        if function in (np.logical_and, np.logical_or) and count == 2:
            return self.builder.add("and" if function is np.logical_and else "or", I32, self.is_true(0), self.is_true(1))
        if function is np.logical_not and count == 1:
            return self.builder.add("xor", I32, self.is_true(0), self.builder.fixed(1, BOOL))
        if function is np.isnan and count == 1:
            known = self.args[0][1]
            if known is not None and known[1].kind == "f":
                return self.builder.add("not_equal", number_of(known[1]), known[0], known[0])
        return self.calculated()

    def calculated(self) -> int:
        """An operation of the dtype of its result."""
        function, count = self.one.function, len(self.args)
        name = _BINARY.get(function)
        if name is not None and count == 2:
            return self.binary(_OF_BOOLS.get(name, "") if self.dtype == BOOL else name)
        if count == 2 and (
            (function is np.divide and self.dtype.kind == "f") or (function is np.floor_divide and self.dtype.kind in "iu")
        ):
            return self.binary("divide")
        if function is np.square or (function is operator.pow and self.dtype.kind == "f" and self.squares()):
            value = self.operand(0, self.dtype)
            return self.builder.narrow(self.builder.add("multiply", self.number, value, value), self.dtype)
        if function is np.invert and count == 1:
            ones = self.builder.fixed(1 if self.dtype == BOOL else -1, np.dtype("i8") if self.number == I64 else np.dtype("i4"))
            return self.builder.narrow(self.builder.add("xor", self.number, self.operand(0, self.dtype), ones), self.dtype)
        name = _UNARY.get(function) or (_OF_FLOATS.get(function) if self.dtype.kind == "f" else None)
        if name is None or count != 1 or self.dtype == BOOL:
            raise UnsupportedError("")
        return self.builder.narrow(self.builder.add(name, self.number, self.operand(0, self.dtype)), self.dtype)

    def squares(self) -> bool:
        exponent = self.args[1][0]
        return type(exponent) in (int, float) and exponent == 2 and self.args[1][1] is None

    def binary(self, name: str) -> int:
        if not name or (name in ("and", "or", "xor") and self.dtype.kind == "f"):
            raise UnsupportedError("")
        operands = [self.operand(k, self.dtype) for k in (0, 1)]
        if name in ("add", "multiply") and self.dtype.kind == "f":
            for value in operands:
                if value < 0 and np.isnan(self.builder.constants[-1 - value]).any():
                    raise UnsupportedError("of a NaN that is a constant: strides decide which NaN NumPy keeps")
        return self.builder.narrow(self.builder.add(name, self.number, *operands), self.dtype)

    def compared(self, name: str) -> int:
        """In the dtype to which NumPy would promote for a sum."""
        loop = promoted(self.one, self.element)
        return self.builder.add(name, number_of(loop), self.operand(0, loop), self.operand(1, loop))

    def clipped(self) -> int:
        value = self.operand(0, self.dtype)
        bounds = [argument for argument, _ in self.args[1:]] + [None] * (3 - len(self.args))
        for k, names in enumerate((("a_min", "min"), ("a_max", "max"))):
            for name in names:
                bounds[k] = self.kwargs.get(name, bounds[k])
        for name, bound in zip(("raise", "lower"), bounds, strict=True):
            if bound is None:
                continue
            if isinstance(bound, Expression) or bound is VALUE:
                raise UnsupportedError("between bounds that are no constants")
            fixed = self.builder.fixed(bound, self.dtype)
            numbers = self.builder.constants[-1 - fixed]
            if self.dtype.kind == "f" and (np.isnan(numbers).any() or (isinstance(bound, Varying) and (numbers == 0).any())):
                raise UnsupportedError("with a bound of NaN, or an array of bounds that has a zero")
            value = self.builder.add(name, self.number, value, fixed)
        return value


def dtype_of(one: Expression, element: Element) -> Any:
    """The dtype of what a call makes."""
    made = sample_of(one, *element)
    if isinstance(made, tuple):
        raise UnsupportedError("")
    return made.dtype


def promoted(one: Expression, element: Element) -> Any:
    """The dtype in which NumPy adds what a call compares."""
    rank, dtype = element

    def sample(argument: Any) -> Any:
        if isinstance(argument, Expression):
            return sample_of(argument, *element)
        if isinstance(argument, Varying):
            return first_of(argument)
        return np.zeros((1,) * rank, dtype) if argument is VALUE else argument

    try:
        with quiet():
            return np.dtype(np.add(*map(sample, one.args)).dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise UnsupportedError("of these operands") from error


def _lower(builder: _Builder, expression: Expression, element: Element, value: int) -> int:
    """Add the calls of an expression, of a value; the value of the last."""
    known: dict[Expression, tuple[int, np.dtype[Any]]] = {}

    def of(argument: Any) -> tuple[int, np.dtype[Any]] | None:
        if isinstance(argument, Expression):
            return known[argument]
        return (value, element[1]) if argument is VALUE else None

    for one in operands_first([expression]):
        known[one] = _Call(builder, one, element, of).lowered(), dtype_of(one, element)
    return known[expression][0]


def check_lowered(one: Expression, element: Element) -> None:
    """Raise UnsupportedError unless a call has instructions."""

    def of(argument: Any) -> tuple[int, np.dtype[Any]] | None:
        if isinstance(argument, Expression):
            return 0, dtype_of(argument, element)
        return (0, element[1]) if argument is VALUE else None

    builder = _Builder(begun(element[1]), constant_of)
    _Call(builder, one, element, of).lowered()


def constant_of(value: Any) -> Any:
    """What an expression has as a constant: a number, or all elements of an array."""
    return value.array if isinstance(value, Varying) else value


def begun(dtype: np.dtype[Any]) -> Formula:
    """The element as it is."""
    return Formula(dtype, dtype, (), (), 0)


def continued(before: Formula, expression: Expression, element: Element, rows: int, constant: Callable[[Any], Any]) -> Formula:
    """More calls, of what the formula makes; `constant` makes a number of a constant, or one for each row."""
    builder = _Builder(before, lambda value: np.broadcast_to(np.asarray(constant(value)).reshape(-1), rows))
    result = _lower(builder, expression, element, before.result)
    constants = tuple(np.ascontiguousarray(np.broadcast_to(one, rows)) for one in builder.constants)
    made = Formula(before.source, dtype_of(expression, element), tuple(builder.code), constants, result)
    if result < 0:
        raise UnsupportedError("that is a constant")
    made.to_bytes()  # whether there are enough registers
    return made
