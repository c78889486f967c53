"""``python -m dmlops explain CALL``: what a call becomes on a device, and why. Nothing is moved."""

from __future__ import annotations

import argparse
import ast
import inspect
import itertools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from dmlops import _core, operators
from dmlops.array_methods import new_shape, reshaped
from dmlops.device import Device
from dmlops.entries import integers
from dmlops.errors import in_one_line, printable, shown
from dmlops.explained import MOST_PIECES, Plan, microseconds, said_of_auto, said_of_estimates, text_of, weighed
from dmlops.names_of_users import found as found_by_name
from dmlops.names_of_users import like
from dmlops.operators.axes import new_axis
from dmlops.operators.encoding import places
from dmlops.other_forms import canonical
from dmlops.other_names import advice
from dmlops.traffic import Traffic

TAKEN_BY_EVERY_CALL = ("out", "device", "progress")


def _arguments(operator: str) -> dict[str, Any]:
    parameters = inspect.signature(getattr(operators, operator)).parameters.values()
    needed = ("sizes",)  # which only a key replaces, and no literal is one
    return {
        each.name: ... if each.default is each.empty or each.name in needed else each.default
        for each in parameters
        if each.name not in TAKEN_BY_EVERY_CALL
    }


# Each operator's arguments in the order of its C function, with their defaults; those without are `...`.
OPERATORS: dict[str, dict[str, Any]] = {operator: _arguments(operator) for operator in operators.__all__}
# Those that are traced, as fused functions are.
COMPOSED = (*operators.COMPOSED, "rearrange", "repeat")
EVERY_OPERATOR = (*OPERATORS, *COMPOSED)
CLASSES = ("cpu-class", "gpu-class")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dmlops explain",
        description="Says where a call runs and why, how long that is estimated to take, and what it reads and writes.",
    )
    parser.add_argument(
        "call",
        help='for example "slice(uint8[512,512,3], [8,8,0], [496,496,3])"; an array is DTYPE[SHAPE], or a view of it; '
        "MODULE:FUNCTION(...) is a fused function",
    )
    parser.add_argument(
        "--device",
        help=f"an index, a name, a type or auto; {' or '.join(CLASSES)} need no device (default: the default device)",
    )
    parser.add_argument("--plans", action="store_true", help="print each step's plan, its pieces, their kernels and why, too")
    options = parser.parse_args(arguments)
    return attempted(lambda: (0, words(options.call, options.device, options.plans)))


def attempted(run: Callable[[], tuple[int, object]]) -> int:
    """Print what a command finds, and return its status. Where it fails, or the user's code, one line says why: status 2."""
    try:
        status, found = run()
    except BrokenPipeError:  # of what the user's code prints
        raise
    except (Exception, SystemExit) as error:
        print(printable(f"error: {in_one_line(error)}"), file=sys.stderr)
        return 2
    print("\n".join(map(printable, str(found).splitlines())))
    return status


def steps(call: str, device: object = None) -> list[tuple[int | None, int, Plan, list[dict[str, Any]]]]:
    """The first steps of a call that move something.

    Each is the index of the input that it reads, or None where it repeats one item; the index of the result that it writes; the
    plan, as (item, src_offset, axes, reversed); and its first pieces.
    """
    return list(_explained(call, device)[0])


def estimates(call: str, device: object = None) -> tuple[float, float]:
    """Nanoseconds of a call between NumPy arrays, estimated, on the host and on the device: "auto" compares them."""
    _, on_host, on_device = _explained(call, device)
    return on_host, on_device


def _explained(call: str, device: object) -> Any:
    """The steps of a call, and the estimates of it on the host and on the device."""
    if (operator := name_of(call)) in _SCATTERS:
        raise ValueError(f"{operator} has no plan before its indices are known: {_SCATTERS_RUN}")
    if operator == "one_hot":
        return _one_hot(call, device)
    operator, (first, *others) = parse(call)
    if operator in _GATHERS:
        mode, (indices, axis, batch_dims) = _GATHERS[operator][0], _GATHERS[operator][1](*others)
        found = _core._gather(_placed(*first), indices, axis, batch_dims, mode, None, device, "explain")
        if indices.flags.writeable:  # the literal's: the call itself refuses those out of range; its items have no bytes
            _core._gather(first[0], indices, axis, batch_dims, mode, None, "host", None)
        return found
    placed = list(itertools.starmap(_placed, first)) if isinstance(first, list) else _placed(*first)
    return getattr(_core, f"_{operator}")(placed, *others, None, device, "explain")


# What the C function of gathers is told: which one is meant; indices, axis and batch_dims.
_GATHERS: dict[str, tuple[str, Callable[..., Any]]] = {
    "take": ("take", lambda indices, axis, batch_dims: (indices, axis, batch_dims)),
    "take_along_axis": ("along", lambda indices, axis: (indices, axis, 0)),
    "gather_nd": ("tuples", lambda indices, batch_dims: (indices, None, batch_dims)),
}
ONE_HOT = "one_hot: rows of an identity matrix are taken, in one pass"


def _one_hot(call: str, device: object) -> Any:
    """What `_explained` gives, of one_hot: a take of windows of one line, which has a one in its middle."""
    args, kwargs = arguments_of(call, lambda value: value)
    try:
        given = inspect.signature(operators.one_hot).bind(*args, **kwargs)
    except TypeError as error:
        raise ValueError(f"one_hot: {error}") from None
    given.apply_defaults()
    indices, depth, axis, on, off, dtype = list(given.arguments.values())[:6]
    here = _entries("indices", indices)
    size, _ = new_axis(depth, axis, here.ndim + 1)
    pair = np.array([off, on], dtype).dtype
    rows = pair, (size + 1, size), (-pair.itemsize, pair.itemsize), size * pair.itemsize
    taken = places(here, size) if here.flags.writeable else np.broadcast_to(np.int64(0), here.shape)
    return _core._gather(rows, taken, 0, 0, "take", None, device, "explain")


_SCATTERS = ("put_along_axis", "scatter_nd")
_SCATTERS_RUN = "on the host NumPy writes to a copy, on a device it is a join and a take, which can be explained"


def plan_and_pieces(call: str, device: object = None) -> tuple[Plan, list[dict[str, Any]]]:
    """The plan of a call that is one step, and its first pieces."""
    ((_, _, plan, pieces),) = steps(call, device)
    return plan, pieces


def words(call: str, device: object = None, plans: bool = False) -> str:
    """The text that the command prints: what matters to who calls; with `plans` what `explain` says, too."""
    from dmlops.fusion.explanation import Place

    name = name_of(call)
    if _is_traced(name):
        explanation = _explained_as_fused(name, call, device)
        return repr(explanation) if plans else f"{explanation.words}\n{HINT}"
    by_cost = weighed(device)
    if by_cost and by_cost.type == "host":
        return _by_cost(call, by_cost)
    place = None if by_cost or device in CLASSES else Place.of((), device, False)
    on_host = place is not None and "host" in (place.device, getattr(place.device, "type", None))
    found, host, there = _explained(call, "cpu-class" if on_host and not plans else by_cost or device)
    lines = [ONE_HOT] * (name == "one_hot") + ([] if place is None else [place.why])
    if by_cost:
        on_host, said = said_of_auto(by_cost, host, there)
        lines.append(said)
    elif on_host:
        lines.append(f"estimated to take {microseconds(host)}")
    elif host and there:
        lines.append(said_of_estimates(host, there))
    found = list(found)
    more = " or more" * (len(found) == MOST_PIECES)
    lines.append(f"one pass{f' of {len(found)}{more} steps' * (len(found) > 1)}: {_traffic(found)}{more}")
    return "\n".join([*lines, *([HINT] if not plans else [] if on_host else [text_of(found)])])


HINT = "estimates, not measured: `compare` measures; --plans prints the plans and kernels, too"


def _traffic(found: list[Any]) -> Traffic:
    traffic = Traffic()
    for src, _, (item, _, axes, _), _ in found:
        traffic.add(0 if src is None else item, item, axes)
    return traffic


def name_of(call: str) -> str:
    name = _plain(call.partition("(")[0].strip())
    if "(" not in call and (":" in name or name in EVERY_OPERATOR):
        raise ValueError(f"{shown(call)} is no call: it needs arguments, as in {name}(uint8[8,480,640,3])")
    return name


def _plain(name: str) -> str:
    """A name of dmlops' own without its module, however it is written."""
    return name if ":" in name.removeprefix("dmlops:") else name.removeprefix("dmlops:").removeprefix("dmlops.")


def no_operator(call: str) -> str:
    """The text for a call of what is neither an operator nor MODULE:FUNCTION."""
    name = call.partition("(")[0].strip()
    module, dot, function = name.rpartition(".")
    plain = _plain(name)
    near = like(plain, EVERY_OPERATOR) or advice(plain, ())
    meant = f"; did you mean {module}:{function}?" if dot and module != "dmlops" else near
    return f"{shown(call)} is no call of MODULE:FUNCTION, nor of an operator{meant or ': ' + ', '.join(EVERY_OPERATOR)}"


def _is_traced(name: str) -> bool:
    return ":" in name or (name in COMPOSED and name != "one_hot")


def explain(call: str, device: object = None) -> str:
    """The plans and kernels of a call, as text; of fused functions the words, too."""
    name = name_of(call)
    if _is_traced(name):
        return repr(_explained_as_fused(name, call, device))
    if by_cost := weighed(device):
        return _by_cost(call, by_cost)
    text = text_of(steps(call, device))
    return f"{ONE_HOT}\n{text}" if name == "one_hot" else text


def _explained_as_fused(name: str, call: str, device: object) -> Any:
    """Of operators that are several movements, and of fused functions: MODULE:FUNCTION."""
    args, kwargs = arguments_of(call, with_memory)
    return fused(name).explain(*args, device=device, **kwargs)


def arguments_of(call: str, array: Callable[[Any], Any]) -> tuple[list[Any], dict[str, Any]]:
    """What stands in the parentheses of a call; `array` makes an array of what is said of one, or of a list of them."""

    def value(node: ast.expr) -> Any:
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError):
            return array(_value(node))

    try:
        tree = ast.parse(f"function({call.partition('(')[2]}", mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{shown(call)} is no call: {error.msg}") from None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise ValueError(f"{shown(call)} is no call")
    kwargs = {str(one.arg): value(one.value) for one in tree.keywords}
    for name in TAKEN_BY_EVERY_CALL:
        if name in kwargs:
            raise ValueError(f"a call as text takes no {name}{': --device names one' if name == 'device' else ''}")
    return [value(one) for one in tree.args], kwargs


def fused(name: str) -> Any:
    """A fused function, or an operator as one."""
    from dmlops.fusion.fused import Fused

    module, colon, path = name.rpartition(":")
    found = found_by_name(module if colon else "dmlops", path)
    if isinstance(found, type):
        raise ValueError(f"{name} is a class: name a function, or a static method, as in {name}.METHOD")
    if isinstance(found, Fused) or colon:
        return found if isinstance(found, Fused) else Fused(found)

    def operator(*args: Any, **kwargs: Any) -> Any:
        return found(*args, **kwargs)

    operator.__name__ = path
    signature = inspect.signature(found)
    own = [one for one in signature.parameters.values() if one.name not in TAKEN_BY_EVERY_CALL]
    operator.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]  # errors name what it takes
    return Fused(operator, automatic=False)


def with_memory(value: Any) -> Any:
    """Arrays of zeros, whose memory nobody touches but of those that choose."""
    if isinstance(value, list):
        return [with_memory(one) for one in value]
    dtype, shape, strides, before = _placed(value, _dtype(value))
    reach = sum((size - 1) * step for size, step in zip(shape, strides, strict=True) if step > 0)
    if value.size == 0:
        return np.empty(shape, dtype)
    memory = np.zeros(before + reach + dtype.itemsize, np.uint8)
    return np.ndarray(shape, dtype, memory, before, strides)


def _by_cost(call: str, device: Device) -> str:
    if device.type == "host":
        _explained(call, CLASSES[0])  # which refuses what is no call
        return said_of_auto(device, 0, 0)[1]
    on_host, said = said_of_auto(device, *estimates(call, device))
    return said if on_host else f"{said}\n{explain(call, device)}"


# --- the text of a call -----------------------------------------------------------------------------------------------


MOST_ENTRIES = 2**27  # of lengths or indices, which may have to be made; other arrays have no memory
METHODS = ("transpose", "reshape", "squeeze", "swapaxes")  # that make views, as T does


class Array:
    """What is said of an array: DTYPE[SHAPE]."""

    def __init__(self, dtype: str, shape: tuple[int, ...]) -> None:
        try:
            self.dtype, self.shape = np.dtype(dtype), shape
        except TypeError as error:
            raise ValueError(f"{error}: an array is DTYPE[SHAPE], for example uint8[8,480,640,3]") from None
        if not all(type(size) is int and size >= 0 for size in shape) or len(shape) > 64:
            raise ValueError(f"{shown(shape)} is no shape of an array: ints of 0 or more, at most 64")
        if math.prod(max(1, size) for size in shape) * max(1, self.dtype.itemsize) >= 2**62:
            raise ValueError(f"{shown(shape)} is no shape of an array: it would have 2**62 bytes or more")
        if self.dtype.hasobject or self.dtype.subdtype:
            raise ValueError(f"{self.dtype} is no dtype of plain bytes and of one element")

    def without_memory(self) -> np.ndarray[Any, np.dtype[Any]]:
        """An array of that shape and its strides, whose items have no bytes to read.

        Its dtype's metadata has `dtype`, and `start`: the address of the first item.
        """
        strides = [math.prod(self.shape[k + 1 :]) * self.dtype.itemsize for k in range(len(self.shape))]
        array = np.lib.stride_tricks.as_strided(np.zeros(1, "V0"), self.shape, strides, writeable=False)
        no_bytes = np.dtype("V0", metadata={"dtype": self.dtype, "start": array.ctypes.data})
        return array.view(no_bytes)


def _dtype(array: np.ndarray[Any, Any]) -> np.dtype[Any]:
    dtype: np.dtype[Any] = (array.dtype.metadata or {})["dtype"]
    return dtype


def _placed(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> tuple[np.dtype[Any], tuple[int, ...], tuple[int, ...], int]:
    """What the extension takes as an array without memory: also the bytes before it, where it is a view."""
    return dtype, array.shape, array.strides, array.ctypes.data - (array.dtype.metadata or {})["start"]


def parse(call: str) -> tuple[str, list[Any]]:
    """An operator and its arguments, in order. Runs nothing of the text."""
    try:
        return _parsed(call, ast.parse(call.strip().removeprefix("dmlops:"), mode="eval").body)
    except SyntaxError as error:
        raise ValueError(f"{shown(call)} is no call: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise ValueError(f"{shown(call)} is no call: it is nested too deeply") from None


def _parsed(call: str, tree: ast.expr) -> tuple[str, list[Any]]:
    name = ast.unparse(tree.func).removeprefix("dmlops.") if isinstance(tree, ast.Call) else ""
    if not isinstance(tree, ast.Call) or name not in OPERATORS:
        raise ValueError(no_operator(call))
    defaults = OPERATORS[name]
    names = [*itertools.islice(defaults, len(tree.args)), *(str(keyword.arg) for keyword in tree.keywords)]
    if len(tree.args) > len(defaults) or not set(names) <= set(defaults):
        raise ValueError(f"{name} takes {', '.join(defaults)}")
    for twice in (each for each in names if names.count(each) > 1):
        raise ValueError(f"{name} is given {twice} twice")
    values = map(_value, [*tree.args, *(keyword.value for keyword in tree.keywords)])
    arguments = defaults | dict(zip(names, values, strict=True))
    if any(value is ... for value in arguments.values()):
        raise ValueError(f"{name} needs {', '.join(key for key, value in arguments.items() if value is ...)}")
    first = next(iter(defaults))
    arrays = arguments[first] if first == "inputs" else [arguments[first]]
    if not isinstance(arrays, (list, tuple)) or not all(isinstance(array, np.ndarray) for array in arrays):
        raise ValueError(f"{first} must be {'a list of ' * (first == 'inputs')}DTYPE[SHAPE], for example float32[1,64,256,256]")
    for key in _ENTRIES & arguments.keys():
        arguments[key] = _entries(key, arguments[key])
    if name in _GATHERS and arguments.get("axis", 0) is None:  # of all elements in C order
        arrays, arguments["axis"] = [reshaped(arrays[0], (arrays[0].size,))], 0
    canonical(name, arrays[0] if arrays else None, arguments)
    described = [(array, _dtype(array)) for array in arrays]
    arguments[first] = described if first == "inputs" else described[0]
    for other in (key for key in list(arguments)[1:] if key not in _ENTRIES and _has_array(arguments[key])):
        raise ValueError(f"{other} must be a literal, since an array has no elements here")
    return name, list(arguments.values())


_ENTRIES = {"sequence_lengths", "indices"}  # arguments that may be arrays, whose elements are not looked at


def _entries(key: str, value: Any) -> Any:
    """Lengths or indices, as literals or as an array that has their dtype and shape."""
    if isinstance(value, list) and _has_array(value):
        raise ValueError(f"{key} must be DTYPE[SHAPE] or a literal")
    if not isinstance(value, np.ndarray):
        return integers(value) if key == "indices" else value
    if value.size > MOST_ENTRIES:
        raise ValueError(f"{key} has {value.size} entries, more than the {MOST_ENTRIES} that explain takes")
    entries = np.broadcast_to(np.zeros((), _dtype(value)), value.shape)
    return integers(entries) if key == "indices" else entries


def _has_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or (isinstance(value, list) and any(map(_has_array, value)))


def _value(node: ast.expr) -> Any:
    """A literal, an array or a view of one, or a list of those."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(entry) for entry in node.elts]
    if isinstance(node, ast.Subscript) and _is_dtype(node.value):
        shape = _literal(node.slice)
        dtype = ast.unparse(node.value).strip("'").removeprefix("np.").removeprefix("numpy.")
        return Array(dtype, shape if isinstance(shape, tuple) else (shape,)).without_memory()
    method = node.func if isinstance(node, ast.Call) else node
    if not isinstance(method, (ast.Subscript, ast.Attribute)):
        return _literal(node)
    array = _value(method.value)
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{_text(node)} is no view of DTYPE[SHAPE]")
    if isinstance(node, ast.Subscript):
        return _indexed(array, node.slice)
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return array.T
    if not isinstance(node, ast.Call) or not isinstance(method, ast.Attribute) or method.attr not in METHODS:
        raise ValueError(f"{_text(node)} is no view: an array has brackets, T and the methods {', '.join(METHODS)}")
    args, kwargs = map(_literal, node.args), {str(keyword.arg): _literal(keyword.value) for keyword in node.keywords}
    if method.attr == "reshape":
        return reshaped(array, new_shape(array, *args, **kwargs))
    view: Any = getattr(array, method.attr)(*args, **kwargs)
    return view


def _is_dtype(node: ast.expr) -> bool:
    """Whether it is a name, a text, or a name of NumPy's."""
    of_numpy = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy")
    return of_numpy or isinstance(node, (ast.Name, ast.Constant))


def _indexed(array: np.ndarray[Any, Any], key: ast.expr) -> np.ndarray[Any, Any]:
    entries = [_entry(entry) for entry in (key.elts if isinstance(key, ast.Tuple) else [key])]
    view: np.ndarray[Any, Any] = array[(*entries, *([] if ... in entries else [...]))]  # with `...` it is never an element
    return view


def _entry(node: ast.expr) -> Any:
    """An entry of a key: an int, None, `...` or a slice."""
    if isinstance(node, ast.Slice):
        bounds = [None if bound is None else _literal(bound) for bound in (node.lower, node.upper, node.step)]
        return slice(*bounds)
    entry = None if ast.unparse(node) in ("np.newaxis", "numpy.newaxis") else _literal(node)
    if type(entry) is not int and entry is not None and entry is not ...:
        raise ValueError(f"{_text(node)} is no index: an array takes ints, slices, None and ...")
    return entry


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        raise ValueError(f"{_text(node)} is neither DTYPE[SHAPE] nor a literal") from None


def _text(node: ast.expr) -> str:
    return shown(node, ast.unparse)
