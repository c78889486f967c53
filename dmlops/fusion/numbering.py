"""A number for each element, and what NumPy makes of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dmlops import structure
from dmlops.fusion.chosen import Index, right_indices
from dmlops.fusion.compiled import Compiled
from dmlops.fusion.formulas import values_of
from dmlops.fusion.graph import Constant, Node, in_brackets
from dmlops.fusion.maps import MAPPED_ITEMS, Map, all_values, evaluate_row
from dmlops.fusion.numpy_maps import moved_as_map
from dmlops.fusion.resized import Resize
from dmlops.fusion.traced import Step, Traced
from dmlops.resizing.described import resampled

__all__ = ["NOTHING", "Numbering", "Numbers"]

NOTHING = np.iinfo(np.int64).min  # the place of an element that no plan writes


class Numbers(NamedTuple):
    """Of an array: where each element comes from, and which maps it has gone through, 0 for none."""

    places: Any
    maps: Any

    @classmethod
    def unmapped(cls, places: Any) -> Numbers:
        """Of elements that have gone through no map."""
        return cls(places, np.broadcast_to(np.int64(0), places.shape))


class _Chain(NamedTuple):
    """Maps that an element has gone through: those of `before`, then a node's, with the node's constants."""

    before: int
    node: Map
    constants: dict[Any, Any]


class Numbering:
    """Numbers elements, and runs NumPy on the numbers.

    The place of an input's element is its byte, counted through all inputs from 1. That of a constant is below 0, and 0 if its
    bytes are zeros.
    """

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.of_node: dict[Node, Numbers] = {}
        self.first: list[int] = []  # the place of each input's first element
        self.constants: list[bytes] = []
        self.known_chains: list[_Chain | None] = [None]
        self.known_values: dict[Any, bytes] = {}
        self.resized: dict[int, Resize] = {}  # by the place of the first element
        at = 1
        for node, (dtype, shape, strides) in zip(compiled.inputs, compiled.program.passes[0].inputs, strict=False):
            offsets = np.zeros(() if all(shape) else shape, np.int64)
            for size, stride in zip(shape, strides, strict=True) if all(shape) else ():
                offsets = offsets[..., None] + np.arange(size) * (stride if dtype.itemsize else 0)
            self.first.append(at - int(offsets.min(initial=0)))
            at = self.first[-1] + int(offsets.max(initial=0)) + dtype.itemsize
            self.of_node[node] = Numbers.unmapped(offsets + self.first[-1])
        self.next = at
        right = right_indices(compiled.results, compiled.inputs, 0)
        self.indices = [right.get(number) for number in range(len(compiled.inputs))]

    @property
    def chains(self) -> int:
        return len(self.known_chains)

    def numbers_of(self, node: Node) -> Numbers:
        if node not in self.of_node and isinstance(node, Map):
            self.of_node[node] = self.mapped(node)
        if node not in self.of_node and isinstance(node, Constant):
            size = max(1, node.dtype.itemsize)
            items = node.array.tobytes()
            places = []
            for at in range(0, node.size * size, size):
                item = items[at : at + size]
                self.constants += [item] * any(item)
                places.append(-len(self.constants) if any(item) else 0)
            self.of_node[node] = Numbers.unmapped(np.array(places, np.int64).reshape(node.shape))
        return self.of_node[node]

    def input_of(self, place: int) -> int:
        """The number of the input whose element has this place."""
        return max(k for k, first in enumerate(self.first) if k == 0 or first <= place)

    def named(self, place: int) -> str:
        if place == NOTHING:
            return "nothing"
        if place <= 0:
            return "a constant"
        if first := max((first for first in self.resized if first <= place), default=0):
            return f"element {place - first} of what is resized{in_brackets(self.resized[first].where)}"
        index = self.input_of(place)
        return f"byte {place - self.first[index]} of input {index}"

    # --- what NumPy makes of them ---

    def by_numpy(self) -> list[Numbers]:
        for step in self.compiled.trace.steps:
            if step.function is moved_as_map:
                continue  # its numbers are asked for if it is moved, or a result: a map of maps is one expression
            if step.function is resampled:
                self.of_node[step.result._node] = self.new(step.result._node)
                continue
            places, maps = (self.run(step, kind) for kind in (0, 1))
            for traced, place, chain in zip(structure.leaves(step.result), places, maps, strict=True):
                if np.shape(place) != traced.shape:
                    raise ValueError(f"an array has shape {traced.shape}, NumPy has {np.shape(place)}{in_brackets(step.where)}")
                self.of_node[traced._node] = Numbers(np.asarray(place), np.asarray(chain))
        return [self.numbers_of(node) for node in self.compiled.results]

    def new(self, node: Resize) -> Numbers:
        """Each element of what is resized has a place of its own: it is none of those that it is made of."""
        places = np.arange(self.next, self.next + node.size).reshape(node.shape)
        self.resized[self.next] = node
        self.next += node.size
        return Numbers.unmapped(places)

    def run(self, step: Step, kind: int) -> list[Any]:
        """NumPy's function, applied to the places of its arguments, or to their maps."""

        def numbers(value: Any) -> Any:
            if isinstance(value, Index):
                return value.of(self.indices)
            return self.numbers_of(value._node)[kind] if isinstance(value, Traced) else value

        if kind == 1 and self.chains == 1:
            return [np.broadcast_to(np.int64(0), one.shape) for one in structure.leaves(step.result)]
        return structure.leaves(
            step.function(*structure.rebuilt(step.args, numbers), **structure.rebuilt(step.kwargs, numbers))
        )

    def mapped(self, node: Map) -> Numbers:
        """Elements stay where they are; each different combination of maps and constants is a new chain."""
        base = self.base(node.operands[0])
        keys = np.broadcast_to(base.maps, node.shape)
        picks: list[Any] = [keys]
        for constant in node.constants:
            numbers = np.arange(constant.array.size).reshape(constant.array.shape)
            picks.append(np.broadcast_to(numbers, node.shape))
        # Along an axis on which none of them varies, one index is enough.
        index = tuple(slice(0, 1) if all(one.strides[k] == 0 for one in picks) else slice(None) for k in range(len(node.shape)))
        few = np.stack([np.ascontiguousarray(one[index]).reshape(-1) for one in picks])
        kinds, inverse = np.unique(few, axis=1, return_inverse=True)
        begin = len(self.known_chains)
        for before, *at in kinds.T.tolist():
            values = {one: one.array.reshape(-1)[k : k + 1] for one, k in zip(node.constants, at, strict=True)}
            self.known_chains.append(_Chain(before, node, values))
        chains = (begin + inverse.reshape(-1)).reshape(keys[index].shape)
        return Numbers(np.broadcast_to(base.places, node.shape), np.broadcast_to(chains, node.shape))

    def base(self, node: Node) -> Numbers:
        """Of what is mapped, which was repeated, once or several times, if the constants have more axes."""
        while node not in self.of_node and not isinstance(node, (Constant, Map)):
            node = node.operands[0]
        return self.numbers_of(node)

    # --- values ---

    def value(self, place: int, chain: int, dtype: Any) -> bytes:
        """What a chain makes of a constant, or of every value of an input's elements, as bytes."""
        key = (min(place, 1), chain, dtype)
        if key not in self.known_values:
            if place > 0 and chain == 0:
                self.known_values[key] = b""
            else:
                item = b"" if place > 0 else self.constants[-1 - place] if place else bytes(64 * 1024)
                self.known_values[key] = self.evaluated(item, chain, dtype).tobytes()
        return self.known_values[key]

    def evaluated(self, item: bytes, chain: int, dtype: Any) -> Any:
        """Of one item, or, if that is empty, of every value of the dtype; of some where there are too many."""
        chains, link = [], self.known_chains[chain]
        while link is not None:
            chains.append(link)
            link = self.known_chains[link.before]
        if chains:
            dtype = chains[-1].node.operands[0].dtype
        if item:
            values: Any = np.frombuffer(item[: dtype.itemsize], np.uint8)
        else:
            values = all_values(dtype.itemsize) if dtype.itemsize in MAPPED_ITEMS else values_of(dtype)
        for one in reversed(chains):
            values = values.view(one.node.operands[0].dtype)
            made = evaluate_row(one.node, values, one.constants.__getitem__)
            values = np.ascontiguousarray(np.broadcast_to(made, values.shape), one.node.dtype)
        return values
