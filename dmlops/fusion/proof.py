"""Proofs that a program equals its function in NumPy.

A movement does not look at values. So one run on numbers, a different one for each element, decides for every input: NumPy's
own functions are applied to the numbers, step by step as they were recorded, and the number that they put at each place of a
result is compared with the byte that the program's plans read there, as the device is given them. Beside each number goes
another one that says which maps its element has gone through, with which constants. It stands for a row of entries, which NumPy
computes once more, and which are compared with the row of the table that the plans use there.

This compares the program with what was recorded. Then the function itself runs untraced beside the program, on arrays of these
shapes; see `own_run`.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np

from dmlops.bits import differ
from dmlops.fusion.compiled import Compiled
from dmlops.fusion.compiler import Pass
from dmlops.fusion.graph import in_brackets
from dmlops.fusion.numbering import Numbering, Numbers
from dmlops.fusion.own_run import DifferenceError, OwnRun
from dmlops.fusion.plan_numbers import PlanNumbers
from dmlops.fusion.resized import ResizePass
from dmlops.resizing.described import resampled

__all__ = ["Proof", "ProofError", "prove"]


class ProofError(AssertionError):
    """A program differs from its function; the message has the first difference."""


@dataclasses.dataclass(frozen=True)
class Proof:
    """What ``prove`` has found to be equal. It prints as a sentence.

    Attributes
    ----------
    function : str
        The function's name.
    steps : int
        The calls that were recorded, each of which NumPy has run on numbers.
    passes, pieces : int
        The programs, and the plans in them.
    elements : int
        The elements of all results, each of which was compared.
    entries : int
        The entries of tables, and mapped constants, each of which NumPy has computed for the comparison.
    formulas : int
        The maps of items of more than two bytes. No table has all values of those: each formula was compared with NumPy for
        special values and random ones.
    resizes : int
        The resizes, each of which was compared with sums by NumPy for random bytes.
    runs : int
        How often the function itself has run beside the program, with other values each time.
    milliseconds : float
        How long the proof took.
    """

    function: str
    steps: int
    passes: int
    pieces: int
    elements: int
    entries: int
    formulas: int
    resizes: int
    runs: int
    milliseconds: float

    def __str__(self) -> str:
        formulas = f"{_many(self.formulas, 'formula')} had special and random values" if self.formulas else ""
        resizes = f"{_many(self.resizes, 'resize')} had random bytes" if self.resizes else ""
        some = " and ".join(filter(None, (formulas, resizes)))
        return (
            f"{self.function} is equal to NumPy for every array of these shapes and dtypes{some and ', where '}{some}: "
            f"{_many(self.elements, 'element')} "
            f"of {_many(self.steps, 'step')} and {self.entries:,} entries of tables, in {_many(self.passes, 'pass')} of "
            f"{_many(self.pieces, 'piece')}, and {_many(self.runs, 'run')} of the function itself "
            f"({self.milliseconds:.1f} ms)"
        )

    __repr__ = __str__


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}" + ("" if count == 1 else "es" if word.endswith("s") else "s")


def prove(name: str, compiled: Compiled) -> Proof:
    """Raise ProofError with the first difference, if there is one."""
    start = time.perf_counter()
    try:
        numbering = Numbering(compiled)
        expected = numbering.by_numpy()
        steps = [one.steps(numbering.indices) for one in compiled.program.passes]
        plans = PlanNumbers(numbering)
        found = plans.by_plans(steps)
    except ValueError as error:
        raise ProofError(str(error)) from error
    entries = 0
    for number, (one, other, node) in enumerate(zip(found, expected, compiled.results, strict=True)):
        if node.dtype.itemsize:
            entries += _compare(f"result {number}", one, other, numbering, plans, node.dtype)
    for operand, read in plans.resized:
        entries += _compare("what is resized", read, numbering.numbers_of(operand), numbering, plans, operand.dtype)
    resizes = _check_resizing(compiled)
    elements = sum(one.places.size for one in expected)
    try:
        runs = OwnRun(compiled).check(numbering, expected)
    except DifferenceError as error:
        raise ProofError(str(error)) from error
    formulas = sum(len(one.formulas) for one in compiled.program.passes if isinstance(one, Pass))
    counts = len(compiled.trace.steps), len(steps), sum(map(len, steps)), elements, entries, formulas, resizes, runs
    return Proof(name, *counts, 1000 * (time.perf_counter() - start))


def _compare(name: str, found: Numbers, expected: Numbers, numbering: Numbering, plans: PlanNumbers, dtype: Any) -> int:
    """The entries that were compared."""
    if found.places.shape != expected.places.shape:
        raise ProofError(f"{name} has shape {found.places.shape}, NumPy has {expected.places.shape}")
    constant = expected.places <= 0
    differ = np.where(constant, found.places > 0, found.places != expected.places)
    if differ.any():
        place = _first(differ)
        names = [numbering.named(int(one.places[place])) for one in (found, expected)]
        raise ProofError(f"{name} has {names[0]} at {place}, NumPy has {names[1]}")
    if constant.size == 0 or (not constant.any() and plans.tables == 0 and numbering.chains == 1):
        return 0
    # Elements of an input are equal if their tables are, whatever they are; constants are compared one by one.
    columns = [np.where(constant, one.places, 1) for one in (found, expected)]
    columns += [np.broadcast_to(one.maps, one.places.shape) for one in (found, expected)]
    keys = np.stack([column.reshape(-1) for column in columns])
    kinds, first = _unique(keys)
    entries = 0
    for (found_place, expected_place, row, chain), at in zip(kinds.T.tolist(), first.tolist(), strict=True):
        ours = plans.value(found_place, row, dtype)
        right = numbering.value(expected_place, chain, dtype)
        if ours != right and _first_wrong(ours, right, dtype) is not None:
            place = tuple(int(k) for k in np.unravel_index(at, found.places.shape))
            raise ProofError(f"{name} has other values than NumPy at {place}: {_shown(ours, right, dtype)}")
        entries += len(right) // dtype.itemsize
    return entries


def _check_resizing(compiled: Compiled) -> int:
    """Compare what passes resize with sums by NumPy, of random bytes; of a batch, of the first image. How many there are."""
    random = np.random.default_rng(0)
    passes = [one for one in compiled.program.passes if isinstance(one, ResizePass)]
    for one in passes:
        (operand,), axes = one.node.operands, one.node.axes
        shape = [size if axis >= min(axes) else min(size, 1) for axis, size in enumerate(operand.shape)]
        array = random.integers(0, 256, shape, np.uint8)
        found, right = one.resized(array, None, "host", None), resampled(array, one.node.resampling, axes, one.window)
        if not np.array_equal(found, right):
            place = _first(found != right)
            text = f"what is resized is {found[place]} at {place}, sums by NumPy give {right[place]}"
            raise ProofError(f"{text}{in_brackets(one.node.where)}")
    return len(passes)


def _unique(keys: Any) -> tuple[Any, Any]:
    """The different columns, and where each is first; neighbours are mostly alike."""
    changes = np.flatnonzero(np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)]))
    kept = keys[:, changes]
    codes, most = np.zeros(len(changes), np.int64), 1
    for row, low, high in zip(kept, kept.min(axis=1).tolist(), kept.max(axis=1).tolist(), strict=True):
        codes, most = codes * (high - low + 1) + (row - low), most * (high - low + 1)
    if most < 1 << 63:  # a number for each column, which sorts faster than columns do
        first = np.unique(codes, return_index=True)[1]
        return kept[:, first], changes[first]
    kinds, first = np.unique(kept, axis=1, return_index=True)
    return kinds, changes[first]


def _first(differ: Any) -> tuple[int, ...]:
    return tuple(int(k) for k in np.unravel_index(int(differ.argmax()), differ.shape))


def _first_wrong(ours: bytes, right: bytes, dtype: Any) -> int | None:
    """The first element that differs in a bit that means something."""
    if len(ours) != len(right):
        return 0
    wrong = differ(np.frombuffer(ours, dtype), np.frombuffer(right, dtype))
    return int(wrong.argmax()) if wrong.any() else None


def _shown(ours: bytes, right: bytes, dtype: Any) -> str:
    at = (_first_wrong(ours, right, dtype) or 0) * dtype.itemsize
    one, other = (np.frombuffer(some[at : at + dtype.itemsize], dtype) for some in (ours, right))
    return f"{one} in place of {other}"
