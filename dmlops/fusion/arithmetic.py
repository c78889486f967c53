"""Arithmetic in place of tables: casts, and operations of float32, which a device computes faster than it looks up entries.

What is found here is a candidate. Each device computes all of a table's entries once, and keeps to the table if one differs.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["OPERATIONS", "Arithmetic", "begun", "continued"]

# DML_OPERATION_... of shaders/abi.h, where the constant is the second operand, and where it is the first.
OPERATIONS = {np.add: (1, 1), np.subtract: (2, 3), np.multiply: (4, 4), np.divide: (5, 6)}
_SIGNED, _COMPUTED = 1 << 16, 1 << 17

_MOST = 4  # operations: DML_MOST_OPERATIONS
_MOST_ROWS = 64


class Arithmetic(NamedTuple):
    """Operations, four bits each, and for each row of a table the constant of each."""

    signed: bool  # bytes are read as signed integers
    operations: tuple[int, ...]
    constants: Any

    def to_bytes(self, key: int, table: int) -> bytes:
        """A dml_arithmetic of csrc/plan/plan.h, of a table that begins there. A device tries it once for each key."""
        code = sum(one << 4 * place for place, one in enumerate(self.operations)) + self.signed * _SIGNED + _COMPUTED
        return struct.pack("=QqII", key, table, code, len(self.constants)) + bytes(self.constants)


def begun(dtype: np.dtype[Any], rows: int) -> Arithmetic | None:
    """What reads elements as they are; None where these are no integers of one byte."""
    return Arithmetic(dtype.kind == "i", (), np.zeros((rows, _MOST), np.float32)) if dtype in (np.uint8, np.int8) else None


def continued(
    before: Arithmetic | None, operations: Sequence[Any] | None, dtype: np.dtype[Any], constant: Callable[[Any], Any]
) -> Arithmetic | None:
    """More operations, whose results are cast to a dtype; None where a device has none like them.

    Each is a function of NumPy, whether the constant is its first operand, and the constant, of which `constant` makes a
    number, or one for each row.
    """
    if before is None or operations is None or dtype not in (np.float32, np.float16):
        return None
    first = len(before.operations)
    if first + len(operations) > _MOST or len(before.constants) > _MOST_ROWS:
        return None
    constants = before.constants.copy()
    for place, (_, _, value) in enumerate(operations, first):
        numbers = np.asarray(constant(value))
        if numbers.dtype.kind not in "biuf":
            return None
        with np.errstate(all="ignore"):
            constants[:, place] = numbers.reshape(-1)
    return Arithmetic(
        before.signed, before.operations + tuple(OPERATIONS[function][turned] for function, turned, _ in operations), constants
    )
