"""Elements that are chosen when a function is called, by indices in arrays that are its arguments.

Indices say where a plan begins to read, and nothing else of it. So a program has a plan for each index, and a call only adds
the bytes that the index stands for. What may be mirrored for each index has a plan for either direction.

Layouts are made of sums and multiples of source strides. While an array is chosen its source strides are therefore numbers of
several digits in one int: bytes, how far the element's entry of the indices is, and, for each mirror, how many bytes further on
the mirrored element lies.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlops._core import DeviceArray
from dmlops.entries import checked
from dmlops.fusion.graph import Input, Node, View, pack
from dmlops.fusion.layout import Piece
from dmlops.fusion.order import operands_first
from dmlops.fusion.resized import Seen, seen
from dmlops.fusion.runs import Digit, Run
from dmlops.fusion.traced import Traced, constant_from, refuse
from dmlops.late_imports import imported
from dmlops.operators.crop_places import starting

__all__ = [
    "MOST_ENTRIES",
    "SELECTED",
    "Along",
    "Chosen",
    "Entry",
    "Index",
    "Kept",
    "Selection",
    "Slots",
    "index_inputs",
    "unchecked",
]

MOST_ENTRIES = 4096  # of the indices of one array: there is a plan for each
SELECTED = 1 << 20  # inputs: the source of a piece that is chosen has a multiple of it

_DIGIT = 80  # bits


def _digits(value: int) -> Iterator[int]:
    """Bytes, entries, and the differences of mirrors."""
    while True:
        digit = (value + (1 << _DIGIT - 1)) % (1 << _DIGIT) - (1 << _DIGIT - 1)
        yield digit
        value = (value - digit) // (1 << _DIGIT)


def _entries(value: int) -> int:
    return next(itertools.islice(_digits(value), 1, None))


def _bytes(value: int, variant: int) -> int:
    """The bytes of a number where those mirrors are on that are bits of the variant."""
    digits = _digits(value)
    total = next(digits)
    next(digits)
    while variant:
        total += next(digits) * (variant & 1)
        variant >>= 1
    return total


def _mirrored(number: int, difference: int) -> int:
    """What a mirror adds to a number of bytes."""
    return difference * (1 << _DIGIT * (2 + number))


# --- indices --------------------------------------------------------------------------------------------------------


class Index:
    """Integers, or bools, that are known when the function is called: an argument, a view of it, or a constant."""

    def __init__(self, value: Any) -> None:
        self.of_input: Seen | None = None
        self.array: Any = None
        if isinstance(value, Traced):
            self.of_input = seen(value._node, {})
            if self.of_input is None:
                advice = "compute it before the fused function, and pass it as an argument"
                refuse("an index that the function computes", advice)
        else:
            self.array = constant_from(value)
        known = value if self.array is None else self.array
        self.shape, self.dtype = known.shape, known.dtype

    @property
    def input(self) -> int | None:
        """The number of the argument; None of a constant."""
        return None if self.of_input is None else self.of_input.source.number

    @property
    def views(self) -> tuple[View, ...]:
        """Those of the argument, one after the other."""
        return () if self.of_input is None else self.of_input.views

    def of(self, arrays: Sequence[Any]) -> Any:
        """The values, where those are the inputs."""
        if self.of_input is None:
            return self.array
        array = arrays[self.of_input.source.number]
        return self.of_input.of(array.numpy() if isinstance(array, DeviceArray) else np.asarray(array))


class Along(NamedTuple):
    """An axis on which indices choose; `size` of them are right, from 0 on.

    Without `extent` one below 0 counts from the end, as in NumPy. With it so many elements are read from the index on.
    """

    axis: int
    by: Index
    size: int
    extent: int | None = None

    def checked(self, values: Any) -> Any:
        """As indices from the beginning, which are right; raises what NumPy raises, or ValueError."""
        if self.extent is None:
            return checked(values, self.axis, self.size)
        return starting(values, self.axis, self.extent, self.size + self.extent - 1)


class Entry(NamedTuple):
    """An axis of the result that indices have."""

    extent: int


class Kept(NamedTuple):
    """An axis of the result that the array has: so many indices of it, and the number of its mirror."""

    axis: int
    extent: int
    mirror: int | None = None


class Chosen(Node):
    """What indices choose of an array. The axes of `dims` that indices have are those to which all indices are broadcast.

    `given` are the arrays that the indices and mirrors are views of. `looked_at`: whether wrong indices raise, as they do in
    NumPy also where nothing is chosen by them.
    """

    def __init__(
        self,
        of: Node,
        along: Sequence[Along],
        mirrors: Sequence[Index],
        dims: Sequence[Entry | Kept],
        given: Sequence[Index | None] = (),
        looked_at: bool = True,
    ) -> None:
        super().__init__([one.extent for one in dims], of.dtype)
        self.operands, self.along, self.mirrors, self.dims = (of,), tuple(along), tuple(mirrors), tuple(dims)
        self.entries = tuple(one.extent for one in dims if isinstance(one, Entry))
        self.looked_at = looked_at and 0 not in self.entries
        if np.prod(self.entries, dtype=object) > MOST_ENTRIES:
            refuse(
                f"an array of more than {MOST_ENTRIES:,} indices that is an argument",
                "call dmlops.take before the fused function, or after it",
            )

        self.indices = [*(one.by for one in self.along), *self.mirrors, *(one for one in given if one is not None)]

    def selection(self, pieces: Sequence[Piece], number: int) -> tuple[Selection, Piece] | None:
        """How the array is read, and its piece; None where it is not one piece with all indices of the axes in their order."""
        read = {one.axis for one in self.along} | {
            one.axis for one in self.dims if isinstance(one, Kept) and (one.mirror is not None or self._is_cut(one))
        }
        if len(pieces) != 1 or not 0 <= pieces[0].source < SELECTED:
            return None
        piece, strides = pieces[0], {}
        for axis in read:
            run, size = piece.dims[axis], self.operands[0].shape[axis]
            digit = run.digits[0] if run.digits else Digit(1, 1, 0)
            if run.first or len(run.digits) > 1 or digit.extent != size or digit.weight != 1 or digit.row:
                return None
            strides[axis] = digit.src
        selection = Selection(self, tuple(strides[one.axis] for one in self.along))
        return selection, self._piece(piece, strides, number)

    def _is_cut(self, one: Kept) -> bool:
        return one.extent != self.operands[0].shape[one.axis]

    def _piece(self, piece: Piece, strides: dict[int, int], number: int) -> Piece:
        dims, src = [], piece.src
        advance = iter(pack(self.entries, 1))
        for one in self.dims:
            if isinstance(one, Entry):
                dims.append(Run(0, (Digit(one.extent, 1, next(advance) << _DIGIT),) if one.extent > 1 else ()))
                continue
            if one.axis not in strides:
                dims.append(piece.dims[one.axis])
                continue
            stride = strides[one.axis]
            if one.mirror is not None:
                src += _mirrored(one.mirror, (one.extent - 1) * stride)
                stride += _mirrored(one.mirror, -2 * stride)
            dims.append(Run(0, (Digit(one.extent, 1, stride),) if one.extent > 1 else ()))
        return Piece(piece.source + SELECTED * (number + 1), src, tuple(dims), piece.table, piece.row)


class Selection(NamedTuple):
    """An array that is chosen, and the bytes between the indices of each axis on which indices choose."""

    node: Chosen
    strides: tuple[int, ...]

    def described(self) -> Any:
        """What compares: which inputs choose on which axes, by which strides."""
        along = [(one.axis, one.size, one.extent) for one in self.node.along]
        return self.strides, along, [(one.input, one.shape, len(one.views)) for one in self.node.indices]

    def of(self, arrays: Sequence[Any]) -> tuple[Any, Any]:
        """The variant, and the bytes further on, for each entry of the indices."""
        shape = self.node.entries
        offsets = np.zeros(shape, np.int64)
        for along, stride in zip(self.node.along, self.strides, strict=True):
            offsets += along.checked(along.by.of(arrays)) * stride
        variants = np.zeros(shape, np.int64)
        for number, mirror in enumerate(self.node.mirrors):
            variants |= mirror.of(arrays).astype(np.int64) << number
        return variants.reshape(-1), offsets.reshape(-1)


# --- plans ----------------------------------------------------------------------------------------------------------


def unpacked(piece: Piece, variant: int) -> Piece:
    """The piece with bytes alone."""
    dims = [
        run  # as most are, of each entry's piece
        if all([_bytes(digit.src, variant) == digit.src for digit in run.digits])
        else run._replace(digits=tuple([digit._replace(src=_bytes(digit.src, variant)) for digit in run.digits]))
        for run in piece.dims
    ]
    return piece._replace(src=_bytes(piece.src, variant), dims=tuple(dims))


def by_entry(piece: Piece) -> Iterator[tuple[Piece, int]]:
    """A piece for each entry that chooses in it, with the entry's number."""
    outer = [
        (axis, digit) for axis, run in enumerate(piece.dims) for digit in run.digits if digit.extent > 1 and _entries(digit.src)
    ]
    inner = [
        run._replace(digits=tuple([digit for digit in run.digits if not _entries(digit.src)])) if run.digits else run
        for run in piece.dims
    ]
    for at in itertools.product(*(range(digit.extent) for _, digit in outer)):
        dims, src, row = list(inner), piece.src, piece.row
        for (axis, digit), k in zip(outer, at, strict=True):
            dims[axis] = dims[axis]._replace(first=dims[axis].first + k * digit.weight)
            src, row = src + k * digit.src, row + k * digit.row
        yield piece._replace(src=src, row=row, dims=tuple(dims)), _entries(src)


class Slots(NamedTuple):
    """What a pass needs to know of the selections: for each of its steps one of them, below 0 for none, and the entry."""

    selections: tuple[Selection, ...]
    of_step: tuple[int, ...]
    entries: tuple[int, ...]

    @property
    def variants(self) -> int:
        """Of each step."""
        return 1 << max((len(one.node.mirrors) for one in self.selections), default=0)

    def described(self) -> Any:
        """What compares."""
        return self.of_step, self.entries, [one.described() for one in self.selections]

    def chosen(self, arrays: Sequence[Any]) -> bytes | None:
        """What dmlops._core takes as selections."""
        if not self.selections:
            return None
        made = np.zeros((len(self.of_step), 2), np.int64)
        which, entries = np.array(self.of_step), np.array(self.entries)
        for number, one in enumerate(self.selections):
            steps = which == number
            for column, values in enumerate(one.of(arrays)):
                made[steps, column] = values[entries[steps]]
        return made.tobytes()


def unchecked(nodes: Sequence[Node], slots: Sequence[Slots]) -> tuple[Along, ...]:
    """The axes on which indices choose what no plan reads, such as what has no elements; else a selection checks them."""
    read = {selection.node for one in slots for selection in one.selections}
    chosen = [one for one in nodes if isinstance(one, Chosen) and one.looked_at and one not in read]
    return tuple([along for one in chosen for along in one.along])


# --- proofs ---------------------------------------------------------------------------------------------------------


def index_inputs(results: Sequence[Node]) -> set[int]:
    """The inputs that are indices."""
    nodes = [one for one in operands_first(results) if isinstance(one, Chosen)]
    return {index.input for one in nodes for index in one.indices if index.input is not None}


def right_indices(results: Sequence[Node], inputs: Sequence[Input], seed: int) -> dict[int, Any]:
    """Values for the inputs that are indices, each of which is right, and others for each seed."""
    random, found = imported("numpy.random").default_rng(seed), {}
    for number in sorted(index_inputs(results)):
        shape, dtype = inputs[number].shape, inputs[number].dtype
        if dtype.kind == "b":
            found[number] = random.integers(0, 2, shape).astype(bool)
            continue
        sizes, wraps = np.full(shape, 128, np.int64), np.ones(shape, bool)
        for one in operands_first(results):
            for along in one.along if isinstance(one, Chosen) else ():
                by = along.by.of_input
                if by is not None and by.source.number == number:
                    view = by.of(sizes)
                    np.minimum(view, along.size, out=view)
                    by.of(wraps)[...] &= along.extent is None and dtype.kind == "i"
        values = random.integers(0, np.maximum(sizes, 1))
        found[number] = np.asarray(values - sizes * (wraps & (random.random(shape) < 0.3))).astype(dtype)
    return found
