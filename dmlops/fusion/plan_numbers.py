"""What a program's plans make of numbers, by NumPy: where each element of a result is read, and by which row of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmlops.fusion.compiler import Pass, Placed
from dmlops.fusion.formulas import run_bytes, values_of
from dmlops.fusion.graph import Node
from dmlops.fusion.numbering import NOTHING, Numbering, Numbers
from dmlops.fusion.resized import ResizePass

__all__ = ["PlanNumbers"]

_ROWS = 4096  # of a formula's constants at once


class PlanNumbers:
    """Runs plans on the numbers of a numbering. Here the maps of an element are rows of tables."""

    def __init__(self, numbering: Numbering) -> None:
        self.numbering = numbering
        self.rows: list[bytes] = [b""]
        self.known: dict[bytes, int] = {}
        self.resized: list[tuple[Node, Numbers]] = []  # what is resized, as passes read it

    @property
    def tables(self) -> int:
        return len(self.rows) - 1

    def by_plans(self, passes: list[list[Any]]) -> list[Numbers]:
        """Of the results; the steps of each pass are given as the device is given them."""
        arrays: list[Numbers] = []  # those of the intermediate results
        for one, steps in zip(self.numbering.compiled.program.passes, passes, strict=True):
            if isinstance(one, ResizePass):
                arrays.append(self.run_resize(one, arrays))
            else:
                arrays += self.run_pass(one, steps, arrays)
        return arrays[len(arrays) - len(self.numbering.compiled.results) :]

    def run_resize(self, one: ResizePass, arrays: list[Numbers]) -> Numbers:
        """What is resized is compared later; the results are those of the same node in NumPy."""
        given = len(self.numbering.first)
        source = one.seen.source.number
        read = self.numbering.of_node[self.numbering.compiled.inputs[source]] if source < given else arrays[source - given]
        (operand,) = one.node.operands
        self.resized.append((operand, Numbers(*map(one.seen.of, read))))
        return Numbers(*(np.ascontiguousarray(one.windowed(each)) for each in self.numbering.of_node[one.node]))

    def run_pass(self, one: Pass, steps: list[Any], arrays: list[Numbers]) -> list[Numbers]:
        results = [Numbers(np.full(node.shape, NOTHING), np.zeros(node.shape, np.int64)) for node in one.nodes]
        written = [0] * len(results)
        constants = _Constants(self.numbering, one)
        for src, dst, item, src_offset, dst_offset, entries, axes in steps:
            size = one.nodes[dst].dtype.itemsize
            read, write, rows = np.array(src_offset), np.array(dst_offset), np.array(entries)
            for extent, src_stride, dst_stride, entry_stride in [*axes, (item // size, size, size, 0)] if size else []:
                read = read[..., None] + np.arange(extent) * src_stride
                write = write[..., None] + np.arange(extent) * dst_stride
                rows = rows[..., None] + np.arange(extent) * entry_stride
            if size == 0 or read.size == 0:
                continue
            maps: Any = np.int64(0)
            if src < 0:
                places = constants.at(read)
            elif src < len(self.numbering.first):
                places = read + self.numbering.first[src]
            else:
                read = read // one.inputs[src][0].itemsize
                places, maps = (each.reshape(-1)[read] for each in arrays[src - len(self.numbering.first)])
            if entries >= 0:
                if np.any(maps):
                    raise ValueError("an element goes through two tables")
                maps = self.looked_up(rows, size << 8 * one.inputs[src][0].itemsize, one)
            results[dst].places.reshape(-1)[write // size] = places
            results[dst].maps.reshape(-1)[write // size] = maps
            written[dst] += read.size
        for node, result, count in zip(one.nodes, results, written, strict=True):
            if node in self.numbering.compiled.results and node.dtype.itemsize and count != result.places.size:
                raise ValueError(f"{count} elements are written to a result that has {result.places.size}")
        return results

    def looked_up(self, rows: Any, size: int, one: Pass) -> Any:
        """The numbers of rows, which begin at these bytes of the pass' constants; of a table's row, that has so many."""
        kinds, inverse = np.unique(rows, return_inverse=True)
        placed = one.formula_at(int(kinds[0]))
        if placed is None:
            made = [one.constants_bytes[row : row + size] for row in kinds.tolist()]
        else:
            made = self.computed(placed, kinds, one.constants_bytes)
        numbers = []
        for found in made:
            if found not in self.known:
                self.known[found] = len(self.rows)
                self.rows.append(found)
            numbers.append(self.known[found])
        return np.array(numbers)[inverse].reshape(rows.shape)

    def computed(self, placed: Placed, rows: Any, constants: bytes) -> list[bytes]:
        """What a formula makes of some values, for each row of its constants."""
        item, code, source = placed.item, constants[placed.code :], placed.formula.source
        made: list[bytes] = []
        for some in np.array_split(rows, 1 + len(rows) // _ROWS):
            read = np.frombuffer(b"".join(constants[row : row + item] for row in some.tolist()), np.uint8).reshape(-1, item)
            made += [values.tobytes() for values in run_bytes(placed.formula, read, code, values_of(source))]
        return made

    def value(self, place: int, row: int, dtype: Any) -> bytes:
        """A constant, or the entries for every value of an element; nothing where bytes are moved."""
        if place > 0:
            return self.rows[row]
        return self.numbering.constants[-1 - place] if place else bytes(dtype.itemsize)


class _Constants:
    """The places of a pass' constants, by their bytes."""

    def __init__(self, numbering: Numbering, one: Pass) -> None:
        self.offsets = np.array([offset for offset, _ in one.constants])
        self.items = [max(1, node.dtype.itemsize) for _, node in one.constants]
        self.places = [numbering.numbers_of(node).places.reshape(-1) for _, node in one.constants]

    def at(self, read: Any) -> Any:
        which = np.searchsorted(self.offsets, read, "right") - 1
        found = np.full(read.shape, NOTHING)
        for k in np.unique(which):
            chosen = which == k
            found[chosen] = self.places[k][(read[chosen] - self.offsets[k]) // self.items[k]]
        return found
