"""Formulas: maps of items of more than two bytes, as a few exact operations that the host computes.

No table has all values of such items. So an expression becomes a program of typed instructions, which csrc/plan/formula.h
describes. `lowering` makes it, and `formula_checks` compares it with NumPy.
"""

from __future__ import annotations

import functools
import struct
from typing import Any, NamedTuple

import numpy as np

from dmlops import _core
from dmlops.late_imports import imported
from dmlops.operators.tracking import PART
from dmlops.quiet import quiet

__all__ = [
    "BOOL",
    "F32",
    "I32",
    "I64",
    "MEMORY",
    "NUMBERS",
    "OPERATIONS",
    "Formula",
    "Instruction",
    "UnsupportedError",
    "code_of",
    "number_of",
    "run",
    "run_bytes",
    "some_values",
    "values_of",
]

F32, F64, I32, I64 = range(4)  # DML_F32, ... of csrc/plan/formula.h
NUMBERS = [np.dtype(code) for code in ("f4", "f8", "i4", "i8")]

# What memory holds, DML_IN_..., and the number of a register that holds it, by a dtype's kind and bytes.
MEMORY = {"b1": 0, "u1": 0, "i1": 1, "u2": 2, "i2": 3, "i4": 4, "u4": 5, "i8": 6, "f2": 7, "f4": 8, "f8": 9}
_HELD = {"i4": I32, "i8": I64, "f4": F32, "f8": F64, "u4": I64, "f2": F32}
BOOL = np.dtype(bool)

_NAMES = (
    "constant load store cast narrow widen where add subtract multiply divide minimum maximum raise lower less less_equal"
)
_NAMES += " greater greater_equal equal not_equal and or xor negative absolute sqrt floor ceil trunc rint"
OPERATIONS = {name: code for code, name in enumerate(_NAMES.split())}  # DML_DO_...

_MOST_REGISTERS, _MOST_INSTRUCTIONS = 24, 256


class UnsupportedError(NotImplementedError):
    """No formula has this; the message says what."""


def code_of(dtype: np.dtype[Any]) -> str:
    code = f"{dtype.kind}{dtype.itemsize}"
    if code not in MEMORY or not dtype.isnative:
        raise UnsupportedError(f"of {dtype}")
    return code


def number_of(dtype: np.dtype[Any]) -> int:
    """What a register that holds it has."""
    return _HELD.get(code_of(dtype), I32)


class Instruction(NamedTuple):
    """Its operands are values: constants from -1 downwards, the element 0, and what instructions make from 1 on."""

    name: str
    number: int
    operands: tuple[int, ...]
    other: int = 0  # DML_IN_..., or a number that is cast


class Formula(NamedTuple):
    """What becomes of an element; of each constant there is one for each row."""

    source: np.dtype[Any]
    dtype: np.dtype[Any]
    code: tuple[Instruction, ...]
    constants: tuple[Any, ...]
    result: int

    @property
    def rows(self) -> int:
        return len(self.constants[0]) if self.constants else 1

    def fields(self) -> Any:
        return np.dtype([(f"c{k}", one.dtype) for k, one in enumerate(self.constants)], align=True)

    def packed(self) -> Any:
        """The constants of each row, as the extension reads them."""
        if not self.constants:
            return np.zeros((1, 1), np.uint8)
        rows = np.zeros(self.rows, self.fields())
        for k, one in enumerate(self.constants):
            rows[f"c{k}"] = one
        return rows.view(np.uint8).reshape(self.rows, -1)

    def chosen(self, rows: Any) -> Formula:
        """With these rows of constants."""
        return self._replace(constants=tuple(one[rows] for one in self.constants))

    def to_bytes(self, key: int = 0, table: int = 0) -> bytes:
        """The dml_formula, wherever its table is."""
        packed = self.packed()
        fields = self.fields().fields
        at = {-1 - k: k for k in range(len(self.constants))}
        made = [
            struct.pack("=6BH", 0, NUMBERS.index(one.dtype), k, 0, 0, 0, fields[f"c{k}"][1])
            for k, one in enumerate(self.constants)
        ]
        last = {value: place for place, one in enumerate(self.code) for value in one.operands}
        last[self.result] = len(self.code)
        free = [k for k in reversed(range(_MOST_REGISTERS)) if k not in at.values()]

        def taken(value: int) -> int:
            if not free:
                raise UnsupportedError("of so many values at once")
            at[value] = free.pop()
            return at[value]

        made.append(struct.pack("=6BH", 1, number_of(self.source), taken(0), MEMORY[code_of(self.source)], 0, 0, 0))
        for place, one in enumerate(self.code):
            to = taken(place + 1)  # apart from the operands
            operands = [at[value] for value in one.operands]
            second = [one.other] if one.name in ("cast", "narrow") else []
            a, b, c = (*operands, *second, 0, 0, 0)[:3]
            made.append(struct.pack("=6BH", OPERATIONS[one.name], one.number, to, a, b, c, 0))
            for value in {*one.operands, place + 1}:
                if value >= 0 and last.get(value, place) == place:
                    free.append(at[value])
        made.append(struct.pack("=6BH", 2, number_of(self.dtype), 0, at[self.result], MEMORY[code_of(self.dtype)], 0, 0))
        if len(made) > _MOST_INSTRUCTIONS:
            raise UnsupportedError("of so many calls")
        return struct.pack("=4I", packed.shape[1], len(self.constants), len(made), 0) + b"".join(made)


def run(formula: Formula, values: Any) -> Any:
    """What the host makes of values, by each row of constants."""
    return run_bytes(formula, formula.packed(), formula.to_bytes(), values)


def run_bytes(formula: Formula, rows: Any, code: bytes, values: Any) -> Any:
    """The same of rows and code as a program has them."""
    kept = rows.tobytes()
    kept += bytes(-len(kept) % 16)
    item = formula.source.itemsize
    step = (0, 0, 0, item, 0, 0, len(kept), 2, 0, 0, len(rows), 1, 0, 1, 1, 0, len(values), 1, item, 0)
    made_item = formula.dtype.itemsize
    likes = (
        (formula.source, (len(values),), (item,)),
        (formula.dtype, (len(rows), len(values)), (len(values) * made_item, made_item)),
    )
    program = _core._compile(likes, 1, np.array(step, np.int64).tobytes(), kept + code)
    (made,) = _core._run_compiled(program, [np.ascontiguousarray(values, formula.source)], None, "host", PART)
    return made


# --- values ---------------------------------------------------------------------------------------------------------

_SOME: tuple[float, ...] = (0.0, 1.0, 2.0, 0.5, 1.5, 2.5, 255.0, 255.5, 256.0, 127.0, 128.0, 65504.0, 65520.0)
_SOME += (1e-7, 6e-8, 6e-5, 1e-3, 0.1, 1 / 3, 16777217.0, 32767.0, 65535.0, 65536.0, 2.0**31, 2.0**31 - 1, 2.0**32, 2.0**63)
_SOME += (1e10, 1e-40, 1e-45, 5e-324, 1e300, 3.4e38, 1.8e308, np.inf)
_NANS = {4: (0x7FC00000, 0x7FC12345, 0x7F812345, 0x7F800001), 8: (0x7FF8 << 48, (0x7FF8 << 48) + 0x12345, (0x7FF0 << 48) + 1)}


def values_of(dtype: np.dtype[Any]) -> Any:
    """Values by which proofs compare formulas."""
    return some_values(dtype.str, 100)


@functools.lru_cache(maxsize=32)
def some_values(code: str, random: int = 400) -> Any:
    """Values of a dtype that bring out differences, and random ones: of all bits, and of those between."""
    dtype = np.dtype(code)
    source = imported("numpy.random").default_rng(0)
    with quiet():
        if dtype.kind == "b":
            return np.array([False, True])
        bits = source.integers(0, 256, (random, dtype.itemsize), np.uint8).view(dtype).reshape(-1)
        if dtype.kind == "f":
            special = [np.array(_SOME, dtype), np.array(_NANS.get(dtype.itemsize, ()), f"u{dtype.itemsize}").view(dtype)]
            special += [-one for one in special] + [source.normal(0, scale, random // 4).astype(dtype) for scale in (1, 200)]
            near = special[0][np.isfinite(special[0])]
            special += [np.nextafter(near, np.array(to, dtype)) for to in (np.inf, -np.inf)]
        else:
            ends = np.iinfo(dtype)
            some = [0, 1, 2, 3, 7, 10, 127, 128, 255, 256, 32767, 32768, 65535, 65536]
            some += [ends.max, ends.max - 1, ends.min, ends.min + 1]
            some += [-one for one in some] + list(range(-40, 40, 3))
            special = [np.array([one for one in some if ends.min <= one <= ends.max], dtype)]
            special.append(source.integers(-300 if ends.min else 0, 300, random // 4).astype(dtype))
        return np.concatenate([*special, bits])
