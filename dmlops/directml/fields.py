"""How a description takes its fields: what is given becomes ints, floats, tuples and members of enumerations, or is refused.

Fields are annotated with the names of C types, as DirectML.h has them, and ``CONVERT`` has a function for each.
"""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from dmlops import errors
from dmlops.directml import enums
from dmlops.directml.errors import DirectMLError, Problem
from dmlops.directml.tables import HEADER

UINT: TypeAlias = int
UINT64: TypeAlias = int
INT: TypeAlias = int
FLOAT: TypeAlias = float
UINTS: TypeAlias = Sequence[int]
INTS: TypeAlias = Sequence[int]
SCALAR_UNION: TypeAlias = int | float | bytes | np.number[Any]
DATA_TYPE: TypeAlias = enums.DML_TENSOR_DATA_TYPE | str | int
FLAGS: TypeAlias = enums.DML_TENSOR_FLAGS | str | int
ORDER: TypeAlias = enums.DML_DEPTH_SPACE_ORDER | str | int
PADDING_MODE: TypeAlias = enums.DML_PADDING_MODE | str | int
INTERPOLATION_MODE: TypeAlias = enums.DML_INTERPOLATION_MODE | str | int
AXIS_DIRECTION: TypeAlias = enums.DML_AXIS_DIRECTION | str | int
FLOATS: TypeAlias = Sequence[float]
BOOL: TypeAlias = bool | int


_Kind = TypeVar("_Kind", bound=enums.Named)


class Refused(Exception):
    """A value that a field does not take: what is allowed, and which entry of a sequence is wrong."""

    def __init__(self, value: object, allowed: str, entry: str = "") -> None:
        self.value, self.allowed, self.entry = value, allowed, entry


def shown(value: object) -> str:
    """The value for a message: members of enumerations by name."""
    return errors.shown(value, str if isinstance(value, enums.Named) else repr)


def integer(low: int, high: int, allowed: str) -> Callable[[Any], int]:
    """A converter for ints between two limits, both included."""

    def convert(value: Any) -> int:
        if isinstance(value, bool | np.bool_):
            raise Refused(value, allowed)
        try:
            number = operator.index(value)
        except TypeError:
            raise Refused(value, allowed) from None
        if not low <= number <= high:
            raise Refused(number, allowed)
        return number

    return convert


def sequence(convert_entry: Callable[[Any], Any], allowed: str) -> Callable[[Any], tuple[Any, ...]]:
    """A converter for sequences; the entries are converted one by one."""

    def convert(value: Any) -> tuple[Any, ...]:
        if isinstance(value, str | bytes | Mapping | set | frozenset) or not np.iterable(value):
            raise Refused(value, allowed)
        entries = []
        for index, entry in enumerate(value):
            try:
                entries.append(convert_entry(entry))
            except Refused as refused:
                raise Refused(refused.value, refused.allowed, f"[{index}]{refused.entry}") from None
        return tuple(entries)

    return convert


def enumeration(kind: type[_Kind]) -> Callable[[Any], _Kind]:
    """A converter for members of an enumeration, given as members, full names, suffixes or numbers."""
    allowed = ", ".join(f"{member.name} ({member.value})" for member in kind)

    def convert(value: Any) -> _Kind:
        if isinstance(value, bool | float | np.bool_) or (isinstance(value, enums.Named) and not isinstance(value, kind)):
            raise Refused(value, allowed)
        try:
            return kind(value)
        except (ValueError, TypeError):
            raise Refused(value, allowed) from None

    return convert


def number(value: Any) -> float:
    if isinstance(value, bool | np.bool_ | str | bytes):
        raise Refused(value, "a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        raise Refused(value, "a number") from None


def scalar(value: Any) -> int | float | bytes:
    """A number, or the bytes of one, as in DML_SCALAR_UNION."""
    if isinstance(value, bytes):
        if not 1 <= len(value) <= 8:
            raise Refused(value, "1 to 8 bytes")
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    return number(value)


def boolean(value: Any) -> bool:
    """A BOOL: 0 and 1 are false and true, as in C."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise Refused(value, "False or True")


uint = integer(0, 2**32 - 1, "an unsigned 32-bit integer")
signed = integer(-(2**31), 2**31 - 1, "a signed 32-bit integer")

CONVERT: dict[str, Callable[[Any], Any]] = {
    "UINT": uint,
    "INT": signed,
    "FLOAT": number,
    "FLOATS": sequence(number, "a sequence of numbers"),
    "BOOL": boolean,
    "UINTS": sequence(uint, "a sequence of unsigned 32-bit integers"),
    "UINTS | None": sequence(uint, "a sequence of unsigned 32-bit integers, or None"),
    "INTS": sequence(signed, "a sequence of signed 32-bit integers"),
    "UINT64 | None": integer(0, 2**64 - 1, "an unsigned 64-bit integer, or None"),
    "SCALAR_UNION": scalar,
    "DATA_TYPE": enumeration(enums.DML_TENSOR_DATA_TYPE),
    "FLAGS": enumeration(enums.DML_TENSOR_FLAGS),
    "ORDER": enumeration(enums.DML_DEPTH_SPACE_ORDER),
    "PADDING_MODE": enumeration(enums.DML_PADDING_MODE),
    "INTERPOLATION_MODE": enumeration(enums.DML_INTERPOLATION_MODE),
    "AXIS_DIRECTION": enumeration(enums.DML_AXIS_DIRECTION),
}


class Record:
    """A C struct: a frozen dataclass that converts what it is given. All fields that are wrong are told at once."""

    def __post_init__(self) -> None:
        problems = []
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            kind = str(field.type)
            if value is None and kind.endswith("| None"):
                continue
            try:
                converted = CONVERT[kind](value)
            except Refused as refused:
                problems.append(Problem(field.name + refused.entry, shown(refused.value), refused.allowed, HEADER))
            else:
                object.__setattr__(self, field.name, converted)
        if problems:
            raise DirectMLError(type(self).__name__, problems)


def instance(kind: type[Any], allowed: str | None = None) -> Callable[[Any], Any]:
    """A converter for a struct within a struct."""

    def convert(value: Any) -> Any:
        if not isinstance(value, kind):
            raise Refused(value, allowed or f"a {kind.__name__}")
        return value

    return convert
