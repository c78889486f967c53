"""Programs of sizes that were never seen: what the compiler did for others, done again with other numbers.

The user's function runs for each combination of shapes. What follows, from nodes to steps, depends on the sizes by few
comparisons. So for a graph that was compiled before, up to numbers, the compiler runs once with numbers that remember how they
were computed (`numbers`). That gives a straight line of code with guards: one of the ways that the compiler may take. A way is
kept only if it gives the plain compiler's steps for the numbers at hand. A pass that resizes has a window of four numbers.
Programs with other passes before the last one are compiled.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from dmlops.fusion.chosen import Selection, Slots
from dmlops.fusion.graph import Arrays, Constant, Node
from dmlops.fusion.maps import Map
from dmlops.fusion.numbers import Recorder
from dmlops.fusion.programs import Programs
from dmlops.fusion.resized import Resize
from dmlops.fusion.sights import Sight, rebuilt

__all__ = ["Made", "Way", "recorded_ways", "remember", "replayed"]

MOST_WAYS = 8  # of one structure
_MOST_INTS = 2000  # of a program's steps
_MOST_STRUCTURES = 256
_MOST_BYTES = 16 << 20


class Made(NamedTuple):
    """What a compiler makes of a graph in its last pass: the steps' ints, and what a pass has beside them."""

    steps: Any
    constants: tuple[tuple[int, Constant], ...]
    constants_bytes: bytes
    slots: Slots
    indices: tuple[int, ...]
    like: int
    formulas: tuple[Any, ...]


# The arrays that passes resize, and which part of each is made.
Windows: TypeAlias = Sequence[tuple[Resize, tuple[int, int, int, int]]]


class Way(NamedTuple):
    """One way of the compiler: `run` makes ints of numbers, or None where they take another way.

    The ints are the windows of the arrays that passes resize, the strides of the selections, and the steps of the last pass.
    """

    run: Callable[..., bytes | None]
    resized: tuple[int, ...]  # places of these arrays in the order of nodes
    chosen: tuple[tuple[int, int], ...]  # likewise of those that selections choose, and how many strides these have
    made: Made | None  # without steps and selections; None where the last pass resizes

    def split(self, ints: bytes, order: Sequence[Node]) -> tuple[Windows, bytes, Made | None]:
        """Windows, steps, and what the last pass has beside them, for a graph whose nodes have that order."""
        if not self.resized and not self.chosen:
            return (), ints, self.made
        numbers = memoryview(ints).cast("q")
        windows: list[Any] = [(order[place], tuple(numbers[4 * k : 4 * k + 4])) for k, place in enumerate(self.resized)]
        at, selections = 4 * len(windows), []
        for place, count in self.chosen:
            node: Any = order[place]
            selections.append(Selection(node, tuple(numbers[at : at + count])))
            at += count
        made = self.made and self.made._replace(slots=self.made.slots._replace(selections=tuple(selections)))
        return windows, ints[8 * at :], made


class _Ways:
    """Those of a structure; `sights` counts how often it was compiled."""

    def __init__(self) -> None:
        self.recorded: list[Way] = []
        self.sights = 0


_structures = Programs()


def recorded_ways() -> int:
    """How many are kept, of all structures."""
    return sum(len(_structures.get(key).recorded) for key in list(_structures._entries))


def replayed(sight: Sight) -> tuple[bytes, Way] | None:
    """The ints of a graph, by a way that was recorded."""
    ways = _structures.get(sight.key)
    for one in ways.recorded if ways is not None else ():
        try:
            ints = one.run(*sight.numbers)
        except (ZeroDivisionError, struct.error):
            continue
        if ints is not None:
            return ints, one
    return None


_Compiled = Callable[[Arrays, Sequence[Node]], "tuple[Windows, Made | None]"]


def remember(
    sight: Sight, inputs: Arrays, results: Sequence[Node], compiled: _Compiled, is_right: Callable[[bytes, Way], bool]
) -> None:
    """Record the way of a graph that was compiled plainly, when its structure is seen again.

    `compiled` is the compiler, for one pass behind those that resize; `is_right` compares with what it has made of plain
    numbers.
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
        ints = one.run(*sight.numbers)
        right = ints is not None and is_right(ints, one)
    except Exception:  # whatever numbers cannot do, or the extension refuses: the plain program is there
        right = False
    if right:
        ways.recorded = [*ways.recorded, one][:MOST_WAYS]
    else:
        ways.sights = -MOST_WAYS  # not at once again


def _size_of(sight: Sight) -> int:
    constants = sum(node.nbytes for node in sight.order if isinstance(node, Constant))
    return 64 * len(sight.key) + MOST_WAYS * constants


def _recorded(sight: Sight, inputs: Arrays, results: Sequence[Node], compiled: _Compiled) -> Way:
    recorder = Recorder()
    numbers = iter([recorder.number(value, f"p{k}") for k, value in enumerate(sight.numbers)])
    arrays, order = rebuilt(sight, inputs, numbers)
    places = {node: place for place, node in enumerate(order)}
    new = dict(zip(sight.order, order, strict=True))
    windows, made = compiled(arrays, [new[one] for one in results])
    selections = made.slots.selections if made else ()
    strides = [stride for one in selections for stride in one.strides]
    ints = [*(number for _, window in windows for number in window), *strides, *(made.steps if made else ())]
    if len(ints) > _MOST_INTS:
        raise ValueError("too many steps for code of one line after the other")
    space: dict[str, Any] = {"pack": struct.Struct(f"={len(ints)}q").pack}
    exec(compile(recorder.source(len(sight.numbers), ints), "<steps of a program>", "exec"), space)
    resized = tuple([places[node] for node, _ in windows])
    chosen = tuple([(places[one.node], len(one.strides)) for one in selections])
    return Way(space["run"], resized, chosen, made and made._replace(steps=(), slots=made.slots._replace(selections=())))
