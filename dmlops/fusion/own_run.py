"""The function itself beside its program: both run on arrays of the shapes, and their results are compared.

A trace does not see types, errors that are caught, or random numbers; a function that looks at them may go another way for
NumPy's arrays. So it runs untraced, on values that bring out differences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dmlops import structure
from dmlops.bits import copied, differ, strided
from dmlops.fusion import surroundings, tracing
from dmlops.fusion.chosen import Index, right_indices
from dmlops.fusion.compiled import Compiled
from dmlops.fusion.expressions import evaluate
from dmlops.fusion.graph import Constant, Input, Node
from dmlops.fusion.maps import MAPPED_ITEMS, Map
from dmlops.fusion.numbering import Numbering, Numbers
from dmlops.fusion.numpy_maps import moved_as_map
from dmlops.fusion.traced import Traced
from dmlops.late_imports import imported
from dmlops.operators.tracking import PART
from dmlops.quiet import quiet

__all__ = ["DifferenceError", "OwnRun"]

_MOST_RUNS = 256
_MOST_WORK = 1 << 24  # bytes of all runs, with the next one for each step
_STEP_WORK = 1 << 12


class DifferenceError(ValueError):
    """The function gives something else than its program."""


class OwnRun:
    """Runs a function and its program."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled, self.function, self.args, self.kwargs = compiled, compiled.function, compiled.args, compiled.kwargs
        self.changed, self.data = surroundings.changed(compiled.trace.brought, self.function, self.args, self.kwargs)

    def check(self, numbering: Numbering, expected: Sequence[Numbers]) -> int:
        """Compare the results of some runs; how many. DifferenceError with the first difference."""
        mapped = any(step.function is moved_as_map for step in self.compiled.trace.steps)
        count = self.runs(mapped)
        for number in range(count):
            right = right_indices(self.compiled.results, self.compiled.inputs, number)
            given = [_Given(spec, number, k, right.get(k)) for k, spec in enumerate(self.inputs())]
            results = self.of_function(given)
            if number == 0:
                text = "another run of it gives {1}: does it draw random numbers?"
                self.compare(self.of_function(given), results, None, text)
            ours = self.compiled.program.run([one.strided for one in given], None, "host", PART)
            own = _Tolerance(self, given, numbering, expected) if mapped else None
            self.compare(ours, results, own, "the program gives {1}" + self.hint())
        if self.data:
            names = ", ".join(self.data)
            raise DifferenceError(f"what the function brings along was something else when it was traced: {names}")
        return count

    def inputs(self) -> list[Any]:
        return list(self.compiled.program.passes[0].inputs[: len(self.compiled.inputs)])

    def runs(self, mapped: bool) -> int:
        """So many that each element has every value of a byte, where there are maps, and few where arrays are large."""
        if not mapped:
            return 2
        arrays = [*self.compiled.inputs, *self.compiled.results]
        work = sum(one.nbytes for one in arrays) + _STEP_WORK * (1 + len(self.compiled.trace.steps))
        return max(3, min(_MOST_RUNS, _MOST_WORK // work))

    def hint(self) -> str:
        if self.changed:
            return f"; it brings along what was something else when it was traced: {', '.join(self.changed)}"
        return "; a trace sees no types, and nothing that changes between calls"

    def of_function(self, given: Sequence[_Given]) -> list[Any]:
        copies: dict[int, Any] = {}

        def array(value: Any) -> Any:
            if not isinstance(value, (Input, np.ndarray)):
                return value
            if id(value) not in copies:  # what is passed twice is one array
                copies[id(value)] = copied(given[value.index].strided if isinstance(value, Input) else value)
            return copies[id(value)]

        args, kwargs = structure.rebuilt(self.args, array), structure.rebuilt(self.kwargs, array)
        try:
            with tracing.untraced(), quiet():
                returned = self.function(*args, **kwargs)
        except Exception as error:
            raise DifferenceError(f"the function itself raises {type(error).__name__}: {error}{self.hint()}") from error
        return [one for one in structure.leaves(returned) if isinstance(one, (np.ndarray, np.generic))]

    def compare(self, ours: Sequence[Any], results: Sequence[Any], own: _Tolerance | None, text: str) -> None:
        """Raise for the first difference; `text` says what the others are, as {1}."""
        if len(ours) != len(results):
            raise DifferenceError(f"the function itself gives {len(results)} arrays, " + text.format(0, len(ours)))
        for number, (one, other) in enumerate(zip(ours, results, strict=True)):
            for what in ("dtype", "shape"):
                pair = [getattr(each, what) for each in (other, one)]
                if pair[0] != pair[1]:
                    raise DifferenceError(f"result {number} of the function itself has {what} {pair[0]}, {text.format(*pair)}")
            one, other = np.asarray(one), np.asarray(other)
            places = np.flatnonzero(differ(one, other))
            if places.size and own is not None:
                places = own.left(number, places, one, other)
            if places.size:
                at = tuple(int(k) for k in np.unravel_index(int(places[0]), one.shape))
                pair = [repr(each[at]) for each in (other, one)]
                raise DifferenceError(f"result {number} of the function itself is {pair[0]} at {at}, {text.format(*pair)}")


# --- values ---------------------------------------------------------------------------------------------------------


class _Given:
    """Values for an input: an array with its strides."""

    def __init__(self, spec: Any, number: int, index: int, indices: Any) -> None:
        dtype, shape, strides = spec
        self.strided, self.memory, self.first = strided(shape, dtype, strides)
        random = imported("numpy.random").default_rng(index)  # for each run the same
        self.strided[...] = _values(dtype, shape, random, number) if indices is None else indices


_SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 2.5, 1e-7, 255.5, -3e9)


def _values(dtype: np.dtype[Any], shape: Any, random: np.random.Generator, number: int) -> Any:
    """Values of each kind; items of one byte or two are others in each run, until they have been all."""
    if dtype.names is not None:
        made = np.zeros(shape, dtype)
        for name in dtype.names:
            made[name] = _values(made[name].dtype, made[name].shape, random, number)
        return made
    if dtype.kind == "U":
        codes = random.integers(32, 127, (*shape, dtype.itemsize // 4), np.uint32)
        return codes.astype(np.dtype(np.uint32).newbyteorder(dtype.byteorder)).view(dtype).reshape(shape)
    if dtype.type in (np.longdouble, np.clongdouble) or (number == 0 and dtype.kind in "fc" and dtype.itemsize > 1):
        with np.errstate(over="ignore"):
            return random.choice(np.array(_SPECIAL), shape).astype(dtype)
    made = random.integers(0, 256, (*shape, dtype.itemsize), np.uint8)
    if dtype.itemsize in (1, 2):
        item = np.dtype(f"u{dtype.itemsize}")
        made = (made.view(item) + np.array(40503 * number % (1 << 16)).astype(item)).view(np.uint8)
    if dtype.kind == "b":
        made &= 1
    if dtype.kind in "fc" and dtype.itemsize > 2 and number == 1:
        made[::3] |= 0x7F  # NaNs of many payloads, and both signs
    return made.view(dtype).reshape(shape) if dtype.itemsize else np.zeros(shape, dtype)


# --- what NumPy itself leaves open ----------------------------------------------------------------------------------


class _Tolerance:
    """Differences that are NumPy's own: the bits of some functions depend on strides and on the place in memory.

    An element may differ where the program has what the recorded maps give for its value in a contiguous array of all values,
    and the function has what the recorded steps give for these very arrays.
    """

    def __init__(self, run: OwnRun, given: Sequence[_Given], numbering: Numbering, expected: Sequence[Numbers]) -> None:
        self.compiled, self.given, self.numbering, self.expected = run.compiled, given, numbering, expected
        self.replayed: list[Any] | None = None

    def left(self, number: int, places: Any, ours: Any, results: Any) -> Any:
        """Of the places where results differ, those where they should not."""
        right = [self.of_table(number, place, ours) for place in places.tolist()]
        places = places[~np.array(right)] if not all(right) else places
        if not all(right):
            return places
        if self.replayed is None:
            self.replayed = _replayed(self.compiled, [one.strided for one in self.given])
        wrong = differ(np.asarray(self.replayed[number], results.dtype), results).reshape(-1)[places]
        return places[wrong]

    def of_table(self, number: int, place: int, ours: Any) -> bool:
        """Whether the program has what NumPy computes for a contiguous array of all values."""
        numbers = self.expected[number]
        at = int(numbers.places.reshape(-1)[place])
        chain = int(np.broadcast_to(numbers.maps, numbers.places.shape).reshape(-1)[place])
        if chain == 0:
            return False
        entries = np.frombuffer(self.numbering.value(at, chain, ours.dtype), ours.dtype)
        if at >= min(self.numbering.resized, default=at + 1):  # whose value is not known here
            return not differ(entries, np.full_like(entries, ours.reshape(-1)[place])).all()
        if at > 0:
            index = self.numbering.input_of(at)
            offset = self.given[index].first + at - self.numbering.first[index]
            item = self.compiled.inputs[index].dtype.itemsize
            memory = self.given[index].memory[offset : offset + item].tobytes()
            if item in MAPPED_ITEMS:
                entries = entries[int.from_bytes(memory, "little") :]
            else:
                entries = self.numbering.evaluated(memory, chain, ours.dtype)
        return not differ(entries[:1], ours.reshape(-1)[place : place + 1]).any()


def _replayed(compiled: Compiled, arrays: Sequence[Any]) -> list[Any]:
    """The results of the recorded steps, each applied to arrays by NumPy."""
    of_node: dict[Node, Any] = dict(zip(compiled.inputs, arrays, strict=True))

    def value(node: Node) -> Any:
        if isinstance(node, Map) and node not in of_node:
            of_node[node] = _mapped(node, of_node)
        return node.array if isinstance(node, Constant) else of_node[node]

    def array(argument: Any) -> Any:
        if isinstance(argument, Index):
            return argument.of(arrays)
        return value(argument._node) if isinstance(argument, Traced) else argument

    for step in compiled.trace.steps:
        if step.function is moved_as_map:
            continue
        made = structure.leaves(step.result)
        args, kwargs = structure.rebuilt(step.args, array), structure.rebuilt(step.kwargs, array)
        results = structure.leaves(step.function(*args, **kwargs))
        for one, result in zip(made, results, strict=True):
            of_node[one._node] = result if result.dtype == one.dtype else result.view(one.dtype)
    return [value(node) for node in compiled.results]


def _mapped(node: Map, of_node: dict[Node, Any]) -> Any:
    base = node.operands[0]
    while base not in of_node and not isinstance(base, Constant):
        base = base.operands[0]  # it is repeated
    values = base.array if isinstance(base, Constant) else of_node[base]
    made = evaluate(node.expression, values, lambda one: one.array)
    return np.broadcast_to(np.asarray(made, node.dtype), node.shape)
