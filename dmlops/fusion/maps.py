"""Maps: functions of each element alone, as tables.

Of one byte there are 256 values, of two 65,536. So NumPy itself evaluates a chain of calls on all of them, once for each index
of the axes along which the chain's constants vary: that is a table, and its bits are NumPy's. Maps and movements commute: a map
of moved elements becomes one table for each piece, whose rows advance along the piece's own axes.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlops.fusion import arithmetic, formula_checks, lowering, movements
from dmlops.fusion.expressions import BY_VALUE, Expression, Varying, called, evaluate, sample_of
from dmlops.fusion.formulas import Formula, UnsupportedError, run
from dmlops.fusion.graph import Constant, Input, Node, View, in_brackets, pack
from dmlops.fusion.layout import Piece
from dmlops.fusion.order import operands_first
from dmlops.fusion.programs import Programs
from dmlops.fusion.runs import Digit, Run
from dmlops.quiet import quiet

__all__ = [
    "MAPPED_ITEMS",
    "Map",
    "Table",
    "dtype_made",
    "evaluate_row",
    "items_of",
    "map_constant",
    "map_piece",
    "mapped",
]

MOST_BYTES = 4 << 20  # of a table

MAPPED_ITEMS = (1, 2)  # bytes


def evaluate_row(node: Map, values: Any, constant_of: Callable[[Varying], Any]) -> Any:
    """The values of a node's expression, for a row of elements, which is the last axis."""
    if not _is_by_value(node.source):
        return evaluate(node.expression, values, constant_of)
    row = values[(0,) * (values.ndim - 1)]  # all rows are the same: it is one element
    order, constants = operands_first([node.expression]), {one: constant_of(one) for one in node.expression.varying}
    made = []
    with quiet():
        for k in range(row.size):
            known: dict[Expression, Any] = {}
            for one in order:
                known[one] = called(one, row[k : k + 1].reshape(()), constants.__getitem__, known)
            made.append(np.atleast_1d(known[node.expression]))
    dtypes = sorted(map(str, {one.dtype for one in made}))
    if len(dtypes) > 1:
        raise TypeError(f"this version of NumPy chooses the dtype by the value: {' or '.join(dtypes)}")
    return np.concatenate(made, axis=-1)


class Table:
    """Entries for every value, in each row, and arithmetic that may give the same; or a formula, and its rows of constants."""

    def __init__(self, entries: Any, computed: arithmetic.Arithmetic | Formula | None) -> None:
        self.entries, self.computed = entries, computed

        self._content = self._digest = b""  # until they are asked for: Python 3.11's cached_property would hold a lock

    @property
    def content(self) -> bytes:
        self._content = self._content or bytes(self.entries.tobytes())
        return self._content

    @property
    def digest(self) -> bytes:
        """Equal where dtype, entries and arithmetic are."""
        if not self._digest:
            made = hashlib.blake2b(self.content, digest_size=16)
            made.update(self.entries.dtype.str.encode())
            if self.computed is not None:
                made.update(self.computed.to_bytes(0, 0))
            self._digest = made.digest()
        return self._digest

    @property
    def formula(self) -> Formula | None:
        return self.computed if isinstance(self.computed, Formula) else None

    def arithmetic(self, first: int) -> bytes | None:
        """As the extension reads it; `first`: where the entries begin. Equal tables have equal keys."""
        return None if self.computed is None else self.computed.to_bytes(int.from_bytes(self.digest[:8], "little"), first)


class Map(Node):
    """What an expression makes of each element."""

    def __init__(self, of: Node, source: Node, expression: Expression, dtype: np.dtype[Any]) -> None:
        super().__init__(of.shape, dtype)
        self.operands, self.expression = (of,), expression
        self.source = source  # what is broadcast to its shape
        self.constants = expression.varying

    @property
    def axes(self) -> list[int]:
        """Those along which constants vary."""
        rank = len(self.shape)
        found = {k + rank - one.array.ndim for one in self.constants for k, size in enumerate(one.array.shape) if size > 1}
        return sorted(found)


def dtype_made(node: Map) -> np.dtype[Any]:
    """The dtype that the node's expression makes of an element."""
    rank = 0 if _is_by_value(node.source) else len(node.shape)
    found: np.dtype[Any] = sample_of(node.expression, rank, node.operands[0].dtype).dtype
    return found


def mapped(source: Node, expression: Expression, shape: Sequence[int]) -> Node | tuple[Node, ...]:
    """The node of an expression of an array's elements, broadcast to a shape; several where there are several results."""
    shapes = {source.shape, *(one.array.shape for one in expression.varying)}
    if not all(_fits(one, shape) for one in shapes):
        shape = np.broadcast_shapes(tuple(shape), *shapes)
    base = source if shape == source.shape else movements.broadcast(source, shape)
    sample = sample_of(expression, 0 if _is_by_value(source) else len(shape), base.dtype)
    several = sample if isinstance(sample, tuple) else (sample,)
    if any(np.shape(found) != (1,) * len(shape) or found.dtype.hasobject for found in several):
        raise NotImplementedError("its result is not one element for each")
    if isinstance(sample, tuple):
        parts = [Expression(lambda several, k: several[k], (expression, k), {}) for k in range(len(sample))]
        return tuple(Map(base, source, part, found.dtype) for part, found in zip(parts, sample, strict=True))
    return Map(base, source, expression, sample.dtype)


def _fits(one: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether an array is broadcast to a shape as it is."""
    last = shape[max(0, len(shape) - len(one)) :]
    return len(one) == len(last) and all(size in (1, other) for size, other in zip(one, last, strict=True))


def _is_by_value(source: Node) -> bool:
    """Whether NumPy looks at an element's value for the dtype of what is made of it."""
    return BY_VALUE and source.shape == ()


def items_of(node: Node) -> frozenset[int]:
    """The bytes of an element of each input that an array is made of; each node is looked at once, and knows them then."""
    for one in operands_first([node], lambda one: one.items is not None):
        own = {one.dtype.itemsize} if isinstance(one, Input) else set()
        one.items = frozenset(own.union(*(operand.items or () for operand in one.operands)))
    return node.items or frozenset()


def constant_of(node: Node) -> Any:
    """The element of an array that is one constant, repeated, or all of a constant; else None."""
    if isinstance(node, View) and all(along.axis is None for along in node.dims):
        node = node.operands[0]
        return node.array if isinstance(node, Constant) and node.shape == () else None
    return node.array if isinstance(node, Constant) else None


# --- tables of pieces -----------------------------------------------------------------------------------------------


class _Inner(NamedTuple):
    """The digits of a piece along which something varies, and the positions of all their indices on each axis."""

    digits: list[tuple[int, int, Digit]]  # with the axis, and the place in its run
    extents: tuple[int, ...]

    def along(self, k: int, first: int, step: int) -> Any:
        """Numbers that advance along one of them."""
        shape = [1] * len(self.extents)
        shape[k] = self.extents[k]
        return first + operator.index(step) * np.arange(self.extents[k]).reshape(shape)

    def total(self, first: int, steps: Sequence[int]) -> Any:
        numbers = np.full((1,) * len(self.extents), operator.index(first))
        for k, step in enumerate(steps):
            numbers = numbers + self.along(k, 0, step)
        return numbers


def _inner(piece: Piece, node: Map, counts: Callable[[Digit], bool]) -> _Inner:
    axes = node.axes
    digits = [
        (axis, k, digit._replace(extent=operator.index(digit.extent)))
        for axis, run in enumerate(piece.dims)
        for k, digit in enumerate(run.digits)
        if axis in axes or counts(digit)
    ]
    return _Inner(digits, tuple(digit.extent for _, _, digit in digits))


def _check(node: Map, entries: int, item: int) -> None:
    if entries * item > MOST_BYTES:
        raise TypeError(
            f"the constants of this function vary along so many positions that its table would have {entries:,} entries of "
            f"{node.dtype}; at most {MOST_BYTES:,} bytes can be fused: apply it before the fused function, or after it"
            f"{in_brackets(node.where)}"
        )


def _varied(node: Map, piece: Piece, inner: _Inner, one: Varying) -> Any:
    """A constant for all indices of the inner digits."""
    index = []
    for k, size in enumerate(one.array.shape):
        axis = k + len(node.shape) - one.array.ndim
        steps = [digit.weight if at == axis and size > 1 else 0 for at, _, digit in inner.digits]
        index.append(inner.total(piece.dims[axis].first if size > 1 else 0, steps))
    return one.array[tuple(index)]


def _evaluated(node: Map, piece: Piece, inner: _Inner, values: Any) -> Any:
    """The values of the node's expression, for all indices of the inner digits; the last axis of values is behind them."""

    def constant(one: Varying) -> Any:
        return np.asarray(_varied(node, piece, inner, one))[..., None]

    try:
        made = evaluate_row(node, values, constant)
    except (ValueError, TypeError, ArithmeticError) as error:
        raise TypeError(f"NumPy fails for values that elements may have: {error}{in_brackets(node.where)}") from error
    return np.ascontiguousarray(np.broadcast_to(made, inner.extents + values.shape[-1:]), node.dtype)


def _moved(piece: Piece, inner: _Inner, change: Callable[[Digit, int], Digit], unit: int) -> tuple[Run, ...]:
    """The piece's runs where its inner digits advance through a C-contiguous array of theirs, and the others do not."""
    strides = {(axis, k): stride for (axis, k, _), stride in zip(inner.digits, pack(inner.extents, unit), strict=True)}
    return tuple(
        run._replace(digits=tuple(change(digit, strides.get((axis, k), 0)) for k, digit in enumerate(run.digits)))
        for axis, run in enumerate(piece.dims)
    )


def all_values(item: int) -> Any:
    """Every value of one byte, or of two, as unsigned integers."""
    return np.arange(1 << 8 * item).astype(f"<u{item}")


def map_piece(piece: Piece, node: Map, tables: list[Table], item: int) -> Piece:
    """Of elements of an input of `item` bytes, or of what a table makes of them: a piece with a new table."""
    base = node.operands[0].dtype
    inner = _inner(piece, node, lambda digit: digit.row != 0)
    _check(node, math.prod(inner.extents) << (8 * item if item in MAPPED_ITEMS else 0), node.dtype.itemsize)
    before = tables[piece.table] if piece.table >= 0 else None
    numbers = [(axis, digit.extent, digit.weight, digit.row) for axis, _, digit in inner.digits]
    digits = tuple(map(operator.index, itertools.chain.from_iterable(numbers)))
    firsts = tuple([operator.index(piece.dims[axis].first) for axis in node.axes])
    what = item, base, node.dtype, len(node.shape), _is_by_value(node.source)
    key = id(node.expression), what, digits, firsts, operator.index(piece.row), id(before)
    table = _tables.get(key)
    if table is None:
        table = _table(piece, node, before, inner, item) if item in MAPPED_ITEMS else _formula(piece, node, before, inner)
        _tables.put(key, table, (node.expression, before), 2 * table.entries.nbytes, _MOST_TABLES, _MOST_BYTES_OF_TABLES)
    tables.append(table)
    dims = _moved(piece, inner, lambda digit, stride: digit._replace(row=stride), 1)
    return piece._replace(dims=dims, table=len(tables) - 1, row=0)


_MOST_TABLES, _MOST_BYTES_OF_TABLES = 1024, 32 << 20

_tables = Programs()  # by an expression, and what of a piece they depend on: no source, and hardly a size


def _table(piece: Piece, node: Map, before: Table | None, inner: _Inner, item: int) -> Table:
    """What a node's expression makes of every value, or of the entries of the table before it."""
    base = node.operands[0].dtype
    if before is None:
        values = all_values(item).view(base).reshape((1,) * len(inner.extents) + (-1,))
        computed = arithmetic.begun(base, math.prod(inner.extents))
    else:
        rows = inner.total(piece.row, [digit.row for _, _, digit in inner.digits])
        values, computed = before.entries.view(base)[rows], None
        if isinstance(before.computed, arithmetic.Arithmetic) and before.entries.dtype == base:
            computed = before.computed._replace(constants=before.computed.constants[rows.reshape(-1)])
    entries = _evaluated(node, piece, inner, values).reshape(-1, 1 << 8 * item)
    computed = arithmetic.continued(
        computed,
        node.expression.operations(),
        node.dtype,
        lambda one: _varied(node, piece, inner, one) if isinstance(one, Varying) else one,
    )
    return Table(entries, computed)


def _formula(piece: Piece, node: Map, before: Table | None, inner: _Inner) -> Table:
    """What a node's expression makes of elements with too many values for a table, or of what the formula before it does."""
    known, base = None if before is None else before.formula, node.operands[0].dtype
    if known is None:
        known = lowering.begun(base)
    else:
        known = known.chosen(inner.total(piece.row, [digit.row for _, _, digit in inner.digits]).reshape(-1))

    def constant(one: Any) -> Any:
        return np.broadcast_to(_varied(node, piece, inner, one), inner.extents) if isinstance(one, Varying) else one

    def expected(rows: Any, values: Any) -> Any:
        read = run(known.chosen(rows if known.constants else [0]), values).view(base)
        return evaluate(node.expression, read, lambda one: constant(one).reshape(-1)[rows][:, None])

    try:
        made = lowering.continued(known, node.expression, (len(node.shape), base), math.prod(inner.extents), constant)
        formula_checks.compare(made, expected)
    except UnsupportedError as error:
        raise TypeError(f"a map cannot be fused {error}{in_brackets(node.where)}") from error
    return Table(made.packed(), made)


def map_constant(piece: Piece, node: Map, constant: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], Piece]:
    """Of a constant's elements: the new constant, and the piece whose source it is, but for the source's number."""
    inner = _inner(piece, node, lambda digit: digit.src != 0)
    _check(node, math.prod(inner.extents), node.dtype.itemsize)
    places = inner.total(piece.src, [digit.src for _, _, digit in inner.digits])
    base = node.operands[0].dtype
    values = constant.reshape(-1).view(base)[places // max(1, constant.itemsize)]
    made = _evaluated(node, piece, inner, np.asarray(values)[..., None])[..., 0]
    dims = _moved(piece, inner, lambda digit, stride: Digit(digit.extent, digit.weight, stride), made.itemsize)
    return made, piece._replace(src=0, dims=dims)


def without_repeats(tables: Sequence[Table], numbers: Sequence[int]) -> dict[int, int]:
    """For each of these tables, the first one that is equal to it."""
    first: dict[Any, int] = {}
    if len(numbers) == 1:
        return {numbers[0]: numbers[0]}
    return {k: first.setdefault(_key(tables[k]), k) for k in numbers}


def _key(table: Table) -> Any:
    return table.entries.dtype.str, table.content, None if table.formula is None else table.formula.to_bytes()
