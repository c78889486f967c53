"""From a trace to programs: the pieces of each result, in as few passes as it takes."""

from __future__ import annotations

import array
import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmlops import _core
from dmlops.fusion import layout, maps, replay
from dmlops.fusion.chosen import SELECTED, Along, Chosen, Selection, Slots, by_entry, index_inputs, unchecked, unpacked
from dmlops.fusion.formulas import Formula
from dmlops.fusion.graph import Arrays, Constant, Input, Node, pack
from dmlops.fusion.layout import Piece
from dmlops.fusion.maps import Map
from dmlops.fusion.order import operands_first
from dmlops.fusion.reads import boxes_of
from dmlops.fusion.resized import Resize, ResizePass, Seen, Source, seen
from dmlops.fusion.runs import Digit, TooManyPartsError
from dmlops.fusion.sights import sight_of
from dmlops.operators.tracking import PART

__all__ = [
    "MOST_PIECES",
    "NoBytesError",
    "Pass",
    "Program",
    "TemplateCompiler",
    "compile_nodes",
    "compile_plainly",
    "is_same",
    "with_pieces",
]

MOST_PIECES = 256  # of one array; where a step would make more, an intermediate result is written first
_MOST_AXES = 130  # of a step: DML_MAX_AXES


class Placed(NamedTuple):
    """A formula in a program's bytes: where its rows of constants begin, the bytes of each, and where its code begins."""

    formula: Formula
    first: int
    item: int
    code: int


class Pass(NamedTuple):
    """One program of the extension.

    Its inputs are those of the function, then the intermediate results of the passes before it. It makes one intermediate
    result, or all results. `why` says why an intermediate result is needed.
    """

    program: Any
    nodes: tuple[Node, ...]
    pieces: tuple[list[Piece], ...]
    inputs: tuple[Any, ...]
    constants: tuple[tuple[int, Constant], ...]  # each with its offset in the program's bytes
    constants_bytes: bytes  # and the tables behind them
    why: str
    slots: Slots
    indices: tuple[int, ...]  # those of the inputs that no plan reads; each is an empty one of input `like` to the extension
    like: int
    formulas: tuple[Placed, ...]

    def formula_at(self, row: int) -> Placed | None:
        """The formula whose constants lie at a byte of the program's; None where a table does."""
        return next((one for one in self.formulas if one.first <= row < one.first + one.item * one.formula.rows), None)

    def steps(self, indices: Any) -> list[Any]:
        """The plans, as a device is given them; `indices` are the values of those inputs."""
        return _core._compiled_steps(self.program, self.slots.chosen(indices))

    def variants_of_steps(self) -> list[Any]:
        """All variants of the plans, whatever indices choose."""
        count = len(self.slots.of_step)
        chosen = [np.array([[variant, 0]] * count, np.int64).tobytes() for variant in range(self.slots.variants)]
        return [_core._compiled_steps(self.program, each) for each in chosen]

    def run(self, arrays: Sequence[Any], out: Any, device: Any, how: Any) -> list[Any]:
        if not self.slots.selections and not self.indices:
            return _core._run_compiled(self.program, arrays, out, device, how)
        chosen = self.slots.chosen(arrays) if how != "explain" else None
        arrays = list(arrays)
        for number in self.indices:
            arrays[number] = arrays[self.like][:0] if how != "explain" else self.no_indices()
        return _core._run_compiled(self.program, arrays, out, device, how, chosen)

    def no_indices(self) -> Any:
        dtype, shape, strides = self.inputs[self.like]
        return dtype, (0, *shape[1:]), strides


class Program(NamedTuple):
    """What the function becomes for inputs of these shapes, dtypes and strides."""

    passes: tuple[Pass | ResizePass, ...]
    unchecked: tuple[Along, ...] = ()  # indices that no pass looks at

    @property
    def is_of_the_host(self) -> bool:
        """Whether the host alone can run it."""
        return any(isinstance(one, Pass) and one.formulas for one in self.passes)

    def run(self, inputs: Sequence[Any], out: Any, device: Any, how: Any) -> list[Any]:
        if self.unchecked and how != "explain":
            _check(self.unchecked, inputs)
        if len(self.passes) == 1:
            return self.passes[0].run(inputs, out, device, how)
        arrays = list(inputs)
        part = (*how[:2], PART) if isinstance(how, tuple) else how if how == "explain" else PART
        for one in self.passes[:-1]:
            arrays += one.run(arrays, None, device, part)
        return self.passes[-1].run(arrays, out, device, how)

    def check_indices(self, inputs: Sequence[Any]) -> None:
        """Raise what a run raises for indices that are out of range."""
        passes = [one for one in self.passes if isinstance(one, Pass)]
        _check([along for one in passes for each in one.slots.selections for along in each.node.along], inputs)
        _check(self.unchecked, inputs)


def _check(axes: Iterable[Along], inputs: Sequence[Any]) -> None:
    for along in axes:
        along.checked(along.by.of(inputs))


def compile_nodes(inputs: Arrays, results: Sequence[Node]) -> Program:
    """Compile the nodes of a trace for inputs that have a dtype, a shape and strides: as others of the same structure were."""
    sight = sight_of(inputs, results)
    if sight is not None and (found := replay.replayed(sight)) is not None:
        try:
            return _replayed(inputs, results, sight.order, *found)
        except ValueError:  # the extension refuses what is not whole
            pass
    program = compile_plainly(inputs, results)
    if sight is not None and all(isinstance(one, ResizePass) for one in program.passes[:-1]):
        order = sight.order

        def is_right(ints: bytes, way: replay.Way) -> bool:
            return is_same(_replayed(inputs, results, order, ints, way), program)

        replay.remember(sight, inputs, results, _compiled, is_right)
    return program


def _replayed(inputs: Arrays, results: Sequence[Node], order: Sequence[Node], ints: bytes, way: replay.Way) -> Program:
    """The program whose numbers a way has made."""
    windows, steps, made = way.split(ints, order)
    passes: list[Pass | ResizePass] = []
    arrays, sources = list(inputs), dict[Node, Source]()
    for node, window in windows:
        of: Any = seen(node.operands[0], sources)  # a view, as it was when the way was recorded
        passes.append(_resize_pass(of, node, window, arrays, sources))
    if made is None:
        passes[-1] = passes[-1]._replace(nodes=tuple(results), why="")
        return Program(tuple(passes), unchecked(order, []))
    passes.append(_pass(arrays, results, (), steps, made))
    return Program(tuple(passes), unchecked(order, [made.slots]))


def compile_plainly(inputs: Arrays, results: Sequence[Node]) -> Program:
    """Likewise, whatever was compiled before."""
    return _Compiler(inputs).compile(results)


def is_same(one: Program, other: Program) -> bool:
    """Whether two programs of the same inputs are the same, byte for byte."""
    return len(one.passes) == len(other.passes) and all(map(_is_same_pass, one.passes, other.passes))


def _is_same_pass(one: Pass | ResizePass, other: Pass | ResizePass) -> bool:
    shapes = [[(node.dtype, node.shape) for node in each.nodes] for each in (one, other)]
    if shapes[0] != shapes[1] or one.constants_bytes != other.constants_bytes:
        return False
    if isinstance(one, ResizePass) or isinstance(other, ResizePass):
        return isinstance(one, ResizePass) and isinstance(other, ResizePass) and one.described() == other.described()
    beside = [(each.slots.described(), each.indices, each.like) for each in (one, other)]
    return beside[0] == beside[1] and one.variants_of_steps() == other.variants_of_steps()


def with_pieces(program: Program, inputs: Arrays, results: Sequence[Node]) -> Program:
    """The same, with the pieces that explanations show: a program whose numbers were replayed has none."""
    if all(one.pieces for one in program.passes):
        return program
    plain = compile_plainly(inputs, results)
    passes = [one._replace(pieces=other.pieces) for one, other in zip(program.passes, plain.passes, strict=True)]
    return program._replace(passes=tuple(passes))


def _compiled(inputs: Arrays, results: Sequence[Node]) -> tuple[replay.Windows, replay.Made | None]:
    """What passes resize, and what the last pass moves behind that."""
    compiler = _Compiler(inputs)
    compiler.before_maps, compiler.indices = _before_maps(results), index_inputs(results)
    compiler.resize(results)
    resized = [one for one in compiler.passes if isinstance(one, ResizePass)]
    pieces = [compiler.pieces(node, compiler.known) for node in results]
    made = None if compiler.is_resized(results, pieces) else compiler.made_of(pieces)
    return [(one.node, one.window) for one in resized], made


def _resize_pass(of: Seen, node: Resize, window: Any, arrays: list[Any], sources: dict[Node, Source]) -> ResizePass:
    """A pass that makes a window of an array, which becomes a source, and is read as an array behind the others."""
    shape, first = list(node.shape), [0] * len(node.shape)
    for axis, begin, count in zip(node.axes, window[::2], window[1::2], strict=True):
        shape[axis], first[axis] = count, begin
    made = Node(shape, node.dtype)
    sources[node] = Source(len(arrays), tuple(first))
    one = ResizePass(of, node, window, (made,), (), tuple(arrays), f"resizing ({node.where})")
    arrays.append(_as_input(made))
    return one


def _pass(
    inputs: Arrays, nodes: Sequence[Node], pieces: Sequence[list[Piece]], steps: bytes, made: replay.Made, why: str = ""
) -> Pass:
    of = Pass(None, tuple(nodes), tuple(pieces), tuple(inputs), made.constants, made.constants_bytes, why, *made[3:])
    arrays = [*inputs, *map(_as_input, nodes)]
    for number in of.indices:
        arrays[number] = of.no_indices()
    program = _core._compile(tuple(arrays), len(inputs), steps, made.constants_bytes, of.slots.variants)
    return of._replace(program=program)


class _TooManyPiecesError(Exception):
    def __init__(self, node: Node) -> None:
        self.node = node


class NoBytesError(TypeError):
    """A map of an intermediate result whose elements are no bytes: of arrays of other shapes it may work."""

    def __init__(self, node: Node) -> None:
        super().__init__(f"more than one pass is needed in front of a map: end the fused function before it ({node.where})")


class _Form(NamedTuple):
    """What to write of an array, its pieces, and those of the array after that."""

    node: Node
    pieces: list[Piece]
    after: list[Piece]


class _Compiler:
    def __init__(self, inputs: Arrays) -> None:
        self.inputs = [(dtype, tuple(shape), tuple(strides)) for dtype, shape, strides in inputs]
        self.known: dict[Node, list[Piece]] = {}
        self.constants: list[Constant] = []
        self.tables: list[maps.Table] = []
        self.selections: list[Selection] = []
        self.indices: set[int] = set()
        self.passes: list[Pass | ResizePass] = []
        self.intermediate: dict[Node, list[Piece]] = {}
        self.before_maps: set[Node] = set()

    def compile(self, results: Sequence[Node]) -> Program:
        self.before_maps = _before_maps(results)
        self.indices = index_inputs(results)
        self.resize(results)
        pieces = self.all_pieces(results)
        if not self.is_resized(results, pieces):
            self.passes.append(self.make_pass(results, pieces, ""))
        slots = [one.slots for one in self.passes if isinstance(one, Pass)]
        return Program(tuple(self.passes), unchecked(operands_first(results), slots))

    def all_pieces(self, nodes: Sequence[Node]) -> list[list[Piece]]:
        """Those of several arrays, after as many passes as it takes."""
        while True:
            try:
                return [self.pieces(node, self.known) for node in nodes]
            except _TooManyPiecesError as error:
                self.write_intermediate(error.node)

    # --- pieces ---

    def pieces(self, node: Node, known: dict[Node, list[Piece]]) -> list[Piece]:
        """Those of a node; and of all before it, which are known then."""
        for one in operands_first([node], known.__contains__):
            known[one] = self.made(one, [known[operand] for operand in one.operands])
        return known[node]

    def made(self, node: Node, operands: list[list[Piece]]) -> list[Piece]:
        if node.size == 0:
            return []
        if isinstance(node, Input):
            _, shape, strides = self.inputs[node.index]
            return layout.whole(node.index, shape, strides)
        if isinstance(node, Constant):
            self.constants.append(node)
            return layout.whole(-len(self.constants), node.shape, pack(node.shape, node.dtype.itemsize))
        if isinstance(node, Map):
            return [self.mapped(piece, node) for piece in operands[0]]
        if isinstance(node, Chosen):
            return self.chosen(node, operands[0])
        most = max(MOST_PIECES, node.fewest)
        found = self.gathered(node, operands, 4 * most)
        if found is None or len(found) > most or any(map(_has_too_many_axes, found)):
            raise _TooManyPiecesError(node)
        return found

    def gathered(self, node: Node, operands: list[list[Piece]], most: int) -> list[Piece] | None:
        """The pieces that a movement makes; None where it makes more. To make all, and gather them, may take long."""
        try:
            found = list(itertools.islice(node.pieces(operands), most + 1))
        except TooManyPartsError:
            return None
        return layout.gather(found) if len(found) <= most else None

    def chosen(self, node: Chosen, pieces: list[Piece]) -> list[Piece]:
        found = node.selection(pieces, len(self.selections))
        if found is None:
            raise _TooManyPiecesError(node)
        self.selections.append(found[0])
        return [found[1]]

    def mapped(self, piece: Piece, node: Map) -> Piece:
        if piece.source < 0:
            constant, mapped = maps.map_constant(piece, node, self.constants[-1 - piece.source].array)
            self.constants.append(Constant(constant))
            return mapped._replace(source=-len(self.constants))
        item = self.item_of(piece)
        return maps.map_piece(piece, node, self.tables, item)

    def item_of(self, piece: Piece) -> int:
        """The bytes of an element of the input that a piece reads."""
        item: int = self.inputs[piece.source % SELECTED][0].itemsize
        return item

    # --- resizing ---

    def resize(self, results: Sequence[Node]) -> None:
        """A pass for each array that is resized, of which it makes what the results need."""
        resized = [node for node in operands_first(results) if isinstance(node, Resize)]
        boxes = boxes_of(results) if resized else {}
        sources: dict[Node, Source] = {}
        for node in resized:
            if node not in boxes:
                self.known[node] = self.intermediate[node] = []
                continue
            of = self.seen(node, sources)
            source, window = len(self.inputs), node.window(boxes[node])
            one = _resize_pass(of, node, window, self.inputs, sources)
            (made,) = one.nodes
            pieces = layout.whole(source, made.shape, pack(made.shape, made.dtype.itemsize))
            for axis, begin in zip(node.axes, window[::2], strict=True):
                pieces = [piece.shifted(axis, begin) for piece in pieces]
            self.passes.append(one._replace(pieces=(pieces,)))
            self.known[node] = self.intermediate[node] = pieces

    def seen(self, node: Resize, sources: dict[Node, Source]) -> Seen:
        """What is resized, as a view of an array that is there: if need be, of one that a pass writes first."""
        (operand,) = node.operands
        found = seen(operand, sources)
        if found is None:
            (pieces,) = self.all_pieces([operand])
            source = Source(len(self.inputs), (0,) * len(operand.shape))
            after = layout.whole(source.number, operand.shape, pack(operand.shape, operand.dtype.itemsize))
            self.write(operand, _Form(operand, pieces, after), f"resizing reads whole elements ({node.where})")
            self.known[operand] = after
            sources[operand] = source
            found = Seen(source, ())
        return found

    def is_resized(self, results: Sequence[Node], pieces: Sequence[list[Piece]]) -> bool:
        """Whether the last pass resizes, and makes the only result: its bytes, and its axes, some perhaps of one index."""
        last = self.passes[-1] if self.passes else None
        if len(results) != 1 or not isinstance(last, ResizePass):
            return False
        shape, dtype = results[0].shape, results[0].dtype
        if shape != last.nodes[0].shape:
            return False
        if pieces[0] != layout.whole(len(self.inputs) - 1, shape, pack(shape, dtype.itemsize)) or dtype != last.node.dtype:
            return False
        self.passes[-1] = last._replace(nodes=tuple(results), why="")
        return True

    # --- more passes ---

    def write_intermediate(self, node: Node) -> None:
        """Write a small array before a node after which its pieces are few: what is larger is nearer to it, and helps more."""
        many = f"{type(node).__name__.lower()} would have more than {MOST_PIECES} pieces"
        why = f"{many} ({node.where}); after this array, they are few"
        if isinstance(node, Chosen):
            why = f"indices that are arguments choose of what lies in memory as one array ({node.where})"
        before = operands_first([node], self.is_there)[:-1]
        arrays = [one for one in before if one in self.known and self.forms(one)]
        arrays.sort(key=lambda one: (self.forms(one)[0].node.nbytes, -len(self.known[one])))
        low, high, found = 0, len(arrays), None
        while low < high:
            middle = (low + high) // 2
            tried = self.tried(node, arrays[middle], before)
            if tried is None:
                low = middle + 1
            else:
                high, found = middle, tried
        if found:
            self.write(arrays[high], found[0], why)
            self.known = self.others(before, arrays[high]) | found[1]
            return
        to_write = dict.fromkeys(one for one in node.operands if one not in self.intermediate and self.forms(one))
        if not to_write:
            raise NoBytesError(node)
        for one in to_write:
            self.write(one, self.forms(one)[-1], why)  # with its tables, where possible: nothing has fewer pieces
        for one in to_write:
            self.known = self.others(before, one)
        self.known |= self.intermediate

    def tried(self, node: Node, one: Node, before: Sequence[Node]) -> tuple[_Form, dict[Node, list[Piece]]] | None:
        """How to write that array, and the pieces of all after that; None where those of the node are still too many."""
        for form in self.forms(one):
            known = self.pieces_after(node, one, form, before)
            if known is not None:
                return form, known
        return None

    def pieces_after(self, node: Node, one: Node, form: _Form, before: Sequence[Node]) -> dict[Node, list[Piece]] | None:
        known = self.others(before, one) | {one: form.after}
        tables, constants = len(self.tables), len(self.constants)
        self.inputs.append(_as_input(form.node))
        try:
            self.pieces(node, known)
        except (_TooManyPiecesError, NoBytesError):
            del self.tables[tables:], self.constants[constants:]
            return None
        finally:
            self.inputs.pop()
        return known

    def is_there(self, node: Node) -> bool:
        """Whether an array is there when a pass begins."""
        return isinstance(node, (Input, Constant)) or node in self.intermediate

    def others(self, before: Sequence[Node], one: Node) -> dict[Node, list[Piece]]:
        """The pieces that are known of what is not made of that one; `before` has operands first."""
        made = {one}
        for node in before:
            if not made.isdisjoint(node.operands):
                made.add(node)
        return {node: pieces for node, pieces in self.known.items() if node not in made}

    def forms(self, node: Node) -> list[_Form]:
        """How an array can be written.

        Where there are tables, what is written are the items before them. The tables stay for the passes that follow, and so do
        constants, for which zeros are written: the extension takes programs alone that write their results whole. Behind that
        comes the array itself, where no map that follows needs the items.
        """
        pieces, source = self.known[node], len(self.inputs)
        itself = _Form(node, pieces, layout.whole(source, node.shape, pack(node.shape, node.dtype.itemsize)))
        if all(piece.table < 0 for piece in pieces):
            return [itself]
        found = [itself] if node.dtype.itemsize in maps.MAPPED_ITEMS or node not in self.before_maps else []
        items = {self.item_of(piece) for piece in pieces if piece.source >= 0}
        if len(items) > 1:
            return found
        inner = Node(node.shape, np.dtype(f"u{items.pop()}"))
        strides = pack(node.shape, inner.dtype.itemsize)
        if len({(piece.table, piece.row) for piece in pieces}) == 1 and not any(map(_has_rows, pieces)):
            after = [
                piece._replace(table=pieces[0].table, row=pieces[0].row) for piece in layout.whole(source, node.shape, strides)
            ]
        else:
            after = [piece if piece.source < 0 else _relocated(piece, source, strides) for piece in pieces]
        return [_Form(inner, [piece._replace(table=-1) for piece in pieces], after), *found]

    def zeros(self, piece: Piece, like: Node) -> Piece:
        """In place of a piece of a constant."""
        self.constants.append(Constant(np.zeros((), like.dtype)))
        still = [run._replace(digits=tuple(digit._replace(src=0, row=0) for digit in run.digits)) for run in piece.dims]
        return Piece(-len(self.constants), 0, tuple(still))

    def write(self, node: Node, form: _Form, why: str) -> None:
        inner, pieces, after = form
        if inner is not node:
            pieces = [piece if piece.source >= 0 else self.zeros(piece, inner) for piece in pieces]
        self.passes.append(self.make_pass([inner], [pieces], why))
        self.intermediate[node] = after
        self.inputs.append(_as_input(inner))

    def make_pass(self, nodes: Sequence[Node], pieces: Sequence[list[Piece]], why: str) -> Pass:
        made = self.made_of(pieces)
        return _pass(self.inputs, nodes, pieces, array.array("q", made.steps).tobytes(), made, why)

    def made_of(self, pieces: Sequence[list[Piece]]) -> replay.Made:
        """The steps that move the pieces of each result, and their constants."""
        used = sorted({-1 - piece.source for each in pieces for piece in each if piece.source < 0})
        offsets, constants = {}, bytearray()

        def placed(some: bytes) -> int:
            constants.extend(bytes(-len(constants) % 16) + some)
            return len(constants) - len(some)

        for number in used:
            offsets[-1 - number] = placed(self.constants[number].array.tobytes())
        numbers = sorted({piece.table for each in pieces for piece in each if piece.table >= 0})
        tables, same = {-1: (-1, -1)}, maps.without_repeats(self.tables, numbers)
        formulas: list[Placed] = []
        for number in dict.fromkeys(same.values()):
            first = placed(self.tables[number].content)
            computed = self.tables[number].arithmetic(first)
            tables[number] = first, -1 if computed is None else placed(computed)
            if formula := self.tables[number].formula:
                formulas.append(Placed(formula, first, self.tables[number].entries.shape[1], tables[number][1]))
        parts = list(_parts(pieces))
        slots = self.slots([(number, entry) for _, _, number, entry in parts])
        steps: list[int] = []
        for dst, piece, _, _ in parts:
            table = tables[same.get(piece.table, -1)]
            item = self.item_of(piece) if piece.table >= 0 else 0
            for variant in range(slots.variants):
                one = unpacked(piece, variant) if slots.selections else piece
                steps.extend(_step(one, dst, one.src + offsets.get(piece.source, 0), item, table))
        where = tuple((offset, self.constants[-1 - source]) for source, offset in offsets.items())
        return replay.Made(steps, where, bytes(constants), slots, *self.unread(parts), tuple(formulas))

    def slots(self, parts: Sequence[tuple[int, int]]) -> Slots:
        """Of parts that have a number of a selection, and an entry."""
        used = sorted({number for number, _ in parts if number >= 0})
        places = {-1: -1} | {number: place for place, number in enumerate(used)}
        selections = tuple([self.selections[number] for number in used])
        entries = tuple([operator.index(entry) for _, entry in parts])
        return Slots(selections, tuple([places[number] for number, _ in parts]), entries)

    def unread(self, parts: Sequence[tuple[int, Piece, int, int]]) -> tuple[tuple[int, ...], int]:
        """The inputs that are indices, and not read by a plan; and one that is, which stands in for them."""
        indices = self.indices - {piece.source for _, piece, _, _ in parts}
        like = next((k for k, (_, shape, _) in enumerate(self.inputs) if shape and k not in indices), -1)
        return (tuple(sorted(indices)), like) if like >= 0 else ((), -1)


class TemplateCompiler(_Compiler):
    """Makes one pass, and remembers how its tables are made, so that they can be made again of other maps."""

    def __init__(self, inputs: Arrays) -> None:
        super().__init__(inputs)
        self.mapped_pieces: list[tuple[Piece, Map, int]] = []
        self.one_pass: tuple[Sequence[Node], Sequence[list[Piece]]] = (), ()

    def mapped(self, piece: Piece, node: Map) -> Piece:
        if piece.source < 0 or self.item_of(piece) not in maps.MAPPED_ITEMS:
            raise NotImplementedError("a constant is mapped, or a formula")
        made = super().mapped(piece, node)
        self.mapped_pieces.append((piece, node, self.item_of(piece)))
        return made

    def write(self, node: Node, form: _Form, why: str) -> None:
        raise NotImplementedError("several passes")

    def make_pass(self, nodes: Sequence[Node], pieces: Sequence[list[Piece]], why: str) -> Pass:
        self.one_pass = nodes, pieces
        return super().make_pass(nodes, pieces, why)

    def again(self, others: Mapping[Any, Map]) -> Program:
        """The program with other maps in place of some. Raises where it has several passes."""
        (_,) = self.passes
        other = _Compiler(self.inputs)
        other.constants, other.selections, other.indices = self.constants, self.selections, self.indices
        for piece, node, item in self.mapped_pieces:
            maps.map_piece(piece, others.get(node, node), other.tables, item)
        return Program((other.make_pass(*self.one_pass, ""),))


def _parts(pieces: Sequence[list[Piece]]) -> Iterator[tuple[int, Piece, int, int]]:
    """What steps are made of: the result, the piece, the number of its selection, if any, and the entry that it stands for."""
    for dst, each in enumerate(pieces):
        for piece in each:
            if piece.source < SELECTED:
                yield dst, piece, -1, 0
                continue
            number, source = divmod(piece.source, SELECTED)
            for one, entry in by_entry(piece):
                yield dst, one._replace(source=source), number - 1, entry


def _before_maps(results: Sequence[Node]) -> set[Node]:
    """The arrays that maps are made of, directly or by movements and other maps."""
    return set(operands_first([one.operands[0] for one in operands_first(results) if isinstance(one, Map)]))


def _as_input(node: Node) -> tuple[np.dtype[Any], tuple[int, ...], tuple[int, ...]]:
    """An intermediate result, as the passes after it read it."""
    return node.dtype, node.shape, tuple(pack(node.shape, node.dtype.itemsize))


def _relocated(piece: Piece, source: int, strides: Sequence[int]) -> Piece:
    """The piece's elements where they lie in a result, as an input of the passes that follow."""
    dims = []
    for run, stride in zip(piece.dims, strides, strict=True):
        dims.append(run._replace(digits=tuple(digit._replace(src=digit.weight * stride) for digit in run.digits)))
    src = sum(run.first * stride for run, stride in zip(piece.dims, strides, strict=True))
    return piece._replace(source=source, src=src, dims=tuple(dims))


def _has_rows(piece: Piece) -> bool:
    return any(digit.row for run in piece.dims for digit in run.digits)


def _has_too_many_axes(piece: Piece) -> bool:
    return sum(max(1, len(run.digits)) for run in piece.dims) > _MOST_AXES


def _step(piece: Piece, dst: int, src: int, item: int, table: tuple[int, int]) -> Iterator[int]:
    """A piece as the extension reads it; `table`: where this and its arithmetic begin."""
    axes = []
    for dim, run in enumerate(piece.dims):
        first = run.first
        for extent, weight, stride, row in run.digits or [Digit(1, 0, 0)] * (first > 0):
            axes.append((dim, first, extent, weight, stride, row))
            first = 0
    entries, computed = table
    yield from (max(piece.source, -1), dst, src, item, entries, piece.row, computed, len(axes))
    for axis in axes:
        yield from axis
