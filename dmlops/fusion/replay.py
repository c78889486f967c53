"""Programs of sizes that were never seen: what the compiler did for others, done again with other numbers.

The user's function runs for each combination of shapes. What follows, from nodes to steps, depends on the sizes by few
comparisons. So for a graph that was compiled before, up to numbers, the compiler runs once with numbers that remember how they
were computed (`numbers`): that is a straight line of code with guards, one for each way that the compiler may take. It is taken
only if it gives the plain compiler's steps for the numbers at hand.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dmlops.fusion.chosen import Slots
from dmlops.fusion.graph import Arrays, Constant, Input, Join, Node, Reshape, View
from dmlops.fusion.keys import bytes_of
from dmlops.fusion.layout import Along
from dmlops.fusion.maps import Map
from dmlops.fusion.numbers import Recorder
from dmlops.fusion.order import operands_first
from dmlops.fusion.programs import Programs

__all__ = ["Made", "Way", "Sight", "recorded_ways", "remember", "replayed", "sight_of"]

MOST_WAYS = 8  # of one structure
_MOST_INTS = 2000  # of a program's steps
_MOST_STRUCTURES = 256
_MOST_BYTES = 16 << 20


class Sight(NamedTuple):
    """A graph: its structure, its numbers, and its nodes, operands first."""

    key: Any
    numbers: list[int]
    order: list[Node]


class Made(NamedTuple):
    """What a compiler makes of a graph in one pass: the steps' ints, and what a pass has beside them."""

    steps: Any
    constants: tuple[tuple[int, Constant], ...]
    constants_bytes: bytes
    slots: Slots
    indices: tuple[int, ...]
    like: int
    formulas: tuple[Any, ...]


class Way(NamedTuple):
    """One way of the compiler: `run` makes steps of numbers, as bytes, or None where they take another way."""

    run: Callable[..., bytes | None]
    made: Made


class _Ways:
    """Those of a structure; `sights` counts how often it was compiled."""

    def __init__(self) -> None:
        self.recorded: list[Way] = []
        self.sights = 0


_structures = Programs()


def recorded_ways() -> int:
    """How many are kept, of all structures."""
    return sum(len(_structures.get(key).recorded) for key in list(_structures._entries))


# --- structures -----------------------------------------------------------------------------------------------------


def sight_of(inputs: Arrays, results: Sequence[Node]) -> Sight | None:
    """None where a graph is compiled plainly: of empty arrays, of windows, of maps that no other call has."""
    order = operands_first(results)
    number = {node: place for place, node in enumerate(order)}
    key: list[Any] = []
    numbers: list[int] = []
    for node in order:
        describe = _DESCRIBED.get(type(node))
        if describe is None or 0 in node.shape or not describe(node, inputs, key, numbers):
            return None
        key += [number[one] for one in node.operands]
    key += ["results", *(number[one] for one in results)]
    return Sight(tuple(key), list(map(int, numbers)), order)


def _is_whole(along: Along, size: int) -> bool:
    return along.extent == size and (along.step == 1 or (along.step == -1 and along.start == size - 1))


def _view(node: View, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    shape = node.operands[0].shape
    key += ("view", len(node.dims))
    for along in node.dims:
        axis, start, step, extent = along
        if axis is None:
            key.append("new" if extent == 1 else "repeated")
            numbers += [extent] * (extent != 1)
        elif _is_whole(along, shape[axis]):
            key += (axis, step)
        else:
            key += ("cut", axis, step)
            numbers += (start, extent)
    key.append("fixed")
    for axis, at in node.fixed.items():
        key += ("at", axis) if at else (axis,)
        numbers += [at] * (at != 0)
    return True


def _reshape(node: Reshape, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    key += ("reshape", len(node.shape), node.dtype)
    numbers += node.shape
    return True


def _join(node: Join, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    key += ("join", node.axis, len(node.operands))
    return True


def _map(node: Map, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    key += ("map", id(node.expression), node.dtype, node.source.shape == ())
    return node.expression.shared


def _input(node: Input, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    dtype, shape, strides = inputs[node.index]
    key += ("input", node.index, dtype, len(shape))
    numbers += shape
    numbers += strides
    return True


def _constant(node: Constant, inputs: Arrays, key: list[Any], numbers: list[int]) -> bool:
    key += ("constant", node.dtype, node.shape, bytes_of(node.array))
    return True


_DESCRIBED: dict[type, Any] = {View: _view, Reshape: _reshape, Join: _join, Map: _map, Input: _input, Constant: _constant}


# --- the same graph of other numbers --------------------------------------------------------------------------------


def _rebuilt(sight: Sight, inputs: Arrays, results: Sequence[Node], recorder: Recorder) -> tuple[list[Any], list[Node]]:
    """The inputs and results of a graph whose numbers remember; they are taken in the order in which they were described."""
    left = iter([recorder.number(value, f"p{k}") for k, value in enumerate(sight.numbers)])
    arrays, new = list[Any](inputs), dict[Node, Node]()
    for node in sight.order:
        operands = [new[one] for one in node.operands]
        made = node
        if isinstance(node, View):
            made = _rebuilt_view(node, operands[0], left)
        elif isinstance(node, Reshape):
            made = Reshape(operands[0], [next(left) for _ in node.shape], node.dtype)
        elif isinstance(node, Join):
            made = Join(operands, node.axis)
        elif isinstance(node, Map):
            made = Map(operands[0], node.source, node.expression, node.dtype)
        elif isinstance(node, Input):
            shape, strides = ([next(left) for _ in node.shape] for _ in range(2))
            arrays[node.index] = node.dtype, tuple(shape), tuple(strides)
            made = Input(node.index, shape, node.dtype, strides)
        made.where = node.where
        new[node] = made
    return arrays, [new[one] for one in results]


def _rebuilt_view(node: View, operand: Node, left: Any) -> View:
    dims = []
    for along in node.dims:
        axis, _, step, extent = along
        if axis is None:
            dims.append(Along(None, 0, 1, 1 if extent == 1 else next(left)))
        elif _is_whole(along, node.operands[0].shape[axis]):
            size = operand.shape[axis]
            dims.append(Along(axis, 0 if step == 1 else size - 1, step, size))
        else:
            start = next(left)
            dims.append(Along(axis, start, step, next(left)))
    return View(operand, dims, {axis: next(left) if at else 0 for axis, at in node.fixed.items()})


# --- recording and replaying ----------------------------------------------------------------------------------------


def replayed(sight: Sight) -> tuple[bytes, Made] | None:
    """The steps of a graph, by a way that was recorded."""
    ways = _structures.get(sight.key)
    for one in ways.recorded if ways is not None else ():
        try:
            steps = one.run(*sight.numbers)
        except (ZeroDivisionError, struct.error):
            continue
        if steps is not None:
            return steps, one.made
    return None


def remember(
    sight: Sight,
    inputs: Arrays,
    results: Sequence[Node],
    compiled: Callable[[Arrays, Sequence[Node]], Made],
    is_right: Callable[[bytes, Made], bool],
) -> None:
    """Record the way of a graph that was compiled plainly, when its structure is seen again.

    `compiled` is the compiler, for one pass; `is_right` compares with what it has made of plain numbers.
    """
    ways = _structures.get(sight.key)
    if ways is None:
        ways = _Ways()
        kept = [node.expression for node in sight.order if isinstance(node, Map)]
        _structures.put(sight.key, ways, kept, _size_of(sight), _MOST_STRUCTURES, _MOST_BYTES)
    ways.sights += 1
    if ways.sights == 1 or len(ways.recorded) >= MOST_WAYS:
        return
    try:
        one = _recorded(sight, inputs, results, compiled)
        steps = one.run(*sight.numbers)
        right = steps is not None and is_right(steps, one.made)
    except Exception:  # whatever numbers cannot do, or the extension refuses: the plain program is there
        right = False
    if right:
        ways.recorded = [*ways.recorded, one][:MOST_WAYS]
    else:
        ways.sights = -MOST_WAYS  # not at once again


def _size_of(sight: Sight) -> int:
    constants = sum(node.nbytes for node in sight.order if isinstance(node, Constant))
    return 64 * len(sight.key) + MOST_WAYS * constants


def _recorded(
    sight: Sight, inputs: Arrays, results: Sequence[Node], compiled: Callable[[Arrays, Sequence[Node]], Made]
) -> Way:
    recorder = Recorder()
    made = compiled(*_rebuilt(sight, inputs, results, recorder))
    steps = list(made.steps)
    if len(steps) > _MOST_INTS:
        raise ValueError("too many steps for code of one line after the other")
    space: dict[str, Any] = {"pack": struct.Struct(f"={len(steps)}q").pack}
    exec(compile(recorder.source(len(sight.numbers), steps), "<steps of a program>", "exec"), space)
    return Way(space["run"], made._replace(steps=()))
