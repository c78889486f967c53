"""Numbers that remember how they were computed: what a computation with them does, as a straight line of code for others."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

__all__ = ["Number", "Recorder"]


class Recorder:
    """The lines of a computation: each computes a number once, or is a guard, which holds for the numbers it was recorded with.

    For other numbers for which all guards hold, the computation takes the same way.
    """

    def __init__(self) -> None:
        self.lines: list[tuple[str, tuple[str, ...], str]] = []  # the name of a number, or "", its operands, the code
        self._known: dict[Any, Number] = {}
        self._guards: set[Any] = set()

    def number(self, value: int, name: str) -> Any:
        return Number(self, value, name)

    def computed(self, symbol: str, one: Any, other: Any, value: int) -> Number:
        key = symbol, _name(one), _name(other)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Number(self, value, f"t{len(self._known)}")
            self.lines.append((found.name, _names(one, other), f"{found.name} = {key[1]} {symbol} {key[2]}"))
        return found

    def guard(self, symbol: str, one: Any, other: Any, truth: bool) -> None:
        key = symbol, _name(one), _name(other)
        if key not in self._guards:
            self._guards.add(key)
            self.lines.append(("", _names(one, other), f"if {'not ' * truth}{key[1]} {symbol} {key[2]}: return None"))

    def source(self, parameters: int, results: list[Any]) -> str:
        """A function `run` of p0, p1, ..., that packs the results, or returns None where a guard does not hold."""
        used = {one.name for one in results if isinstance(one, Number)}
        kept = []
        for name, operands, line in reversed(self.lines):
            if not name or name in used:
                used.update(operands)
                kept.append(f"    {line}\n")
        names = ", ".join([f"p{k}" for k in range(parameters)])
        made = ", ".join([_name(one) for one in results])
        return f"def run({names}):\n{''.join(reversed(kept))}    return pack({made})\n"


def _name(value: Any) -> str:
    return value.name if type(value) is Number else f"({int(value)})" if value < 0 else str(int(value))


def _names(*values: Any) -> tuple[str, ...]:
    return tuple([one.name for one in values if type(one) is Number])


def _value(number: Any) -> int:
    return number.value if type(number) is Number else number


class Number:
    """An int of a recorder. What needs a plain int gets one, and a guard that it is this one."""

    __slots__ = ("name", "recorder", "value")

    def __init__(self, recorder: Recorder, value: int, name: str) -> None:
        self.recorder, self.value, self.name = recorder, value, name

    def __repr__(self) -> str:
        return f"{self.name}={self.value}"

    def __hash__(self) -> int:
        return 0  # so that a dict compares numbers, and what is unequal is guarded, too

    def __index__(self) -> int:
        self.recorder.guard("==", self, self.value, True)
        return self.value

    __int__ = __index__

    def __bool__(self) -> bool:
        self.recorder.guard("!=", self, 0, self.value != 0)
        return self.value != 0

    def __neg__(self) -> Any:
        return operator.sub(0, self)

    def __pos__(self) -> Any:
        return self

    def __divmod__(self, other: Any) -> Any:
        return operator.floordiv(self, other), operator.mod(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return operator.floordiv(other, self), operator.mod(other, self)


def _is(value: Any, plain: int) -> bool:
    return type(value) is int and value == plain


def _same(one: Any, other: Any) -> bool:
    """Whether both are the same number, whatever it is."""
    return type(one) is type(other) is Number and one.name == other.name


def _folded(symbol: str, one: Any, other: Any) -> Any:
    """What an operation with 0 or 1 results in, for every number; None where it has to be computed."""
    if symbol == "+":
        return other if _is(one, 0) else one if _is(other, 0) else None
    if symbol == "-":
        return 0 if _same(one, other) else one if _is(other, 0) else None
    if symbol == "*":
        if _is(one, 0) or _is(other, 0):
            return 0
        return other if _is(one, 1) else one if _is(other, 1) else None
    if _is(other, 1):
        return one if symbol == "//" else 0
    return None


def _operation(symbol: str, function: Callable[[int, int], int], turned: bool) -> Any:
    def method(self: Number, by: Any) -> Any:
        if type(by) is not int and type(by) is not Number:
            if type(by) is not bool:
                return NotImplemented
            by = int(by)
        one, other = (by, self) if turned else (self, by)
        found = _folded(symbol, one, other)
        return self.recorder.computed(symbol, one, other, function(_value(one), _value(other))) if found is None else found

    return method


def _comparison(symbol: str, function: Callable[[int, int], bool]) -> Any:
    def method(self: Number, other: Any) -> Any:
        if _same(self, other):
            return symbol in ("==", "<=", ">=")
        if type(other) is not int and type(other) is not Number:
            return NotImplemented
        truth = function(self.value, _value(other))
        self.recorder.guard(symbol, self, other, truth)
        return truth

    return method


_OPERATIONS = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%"}
_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}

for _short, _symbol in _OPERATIONS.items():
    setattr(Number, f"__{_short}__", _operation(_symbol, getattr(operator, _short), turned=False))
    setattr(Number, f"__r{_short}__", _operation(_symbol, getattr(operator, _short), turned=True))
for _short, _symbol in _COMPARISONS.items():
    setattr(Number, f"__{_short}__", _comparison(_symbol, getattr(operator, _short)))
