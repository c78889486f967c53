"""Arrays as a fused function sees them while it is traced: they know their shape and dtype, and record what is done to them."""

from __future__ import annotations

import difflib
import functools
import linecache
import operator
import sys
import threading
import traceback
import types
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np

from dmlops._core import DeviceArray
from dmlops.fusion.graph import Constant, Node, in_brackets
from dmlops.structure import leaves, rebuilt

__all__ = [
    "RefusedError",
    "Step",
    "Trace",
    "Traced",
    "axis_of",
    "constant_from",
    "name_of",
    "naming_the_line",
    "node_of",
    "of_thread",
    "refuse",
    "refuse_places",
    "user_line",
]


class Step:
    """One call that was recorded: NumPy's function or the twin of an operator, its arguments, its results."""

    def __init__(self, function: Any, args: Any, kwargs: Any, result: Any, where: Line) -> None:
        self.function, self.args, self.kwargs, self.result, self.where = function, _copied(args), _copied(kwargs), result, where


def _copied(value: Any) -> Any:
    """Arguments whose lists and arrays are copies: what the caller's become later is not seen."""
    return value if all(type(one) is Traced for one in value) else rebuilt(value, _copy)


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, (np.ndarray, bytearray)) else value


class Trace:
    """What one run of a function has recorded.

    `refused` are the errors for what cannot be traced, also those that the function has caught. `brought` is what the function
    has brought along; see `surroundings`. `derived` says what is made of parameters, where there are some; see `parameters`.
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.refused: list[RefusedError] = []
        self.brought: dict[str, Any] = {}
        self.derived: list[Any] | None = None
        self.ended = False

    def call(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Record a call of a function of NumPy's. `recording` knows them."""
        raise NotImplementedError

    def call_ufunc(self, ufunc: Any, method: str, inputs: Any, kwargs: Any) -> Any:
        """Record a call of a ufunc."""
        raise NotImplementedError

    def call_operator(self, name: str, inputs: Any, others: Any) -> Any:
        """Record a call of an operator of dmlops'."""
        raise NotImplementedError

    def own(self, value: Any) -> Any:
        """The same; traced arrays in it that are another call's are refused, and all once the trace has ended."""
        for one in leaves(value):
            if isinstance(one, Traced) and (one._trace is not self or self.ended):
                refuse("a traced array that was kept from another call", "pass it as an argument")
        return value

    def array(self, node: Node) -> Traced:
        return Traced(self, node)

    def lift(self, value: Any, dtype: Any = None) -> Traced:
        """An array that joins traced ones: itself traced, or a constant."""
        if isinstance(value, Traced):
            return self.own(value)  # type: ignore[no-any-return]
        array = constant_from(value, dtype)
        if array.dtype.hasobject:
            refuse("an array of Python objects")
        return Traced(self, Constant(array))

    def record(self, function: Any, args: Any, kwargs: Any, result: Any) -> Any:
        """Make traced arrays of the nodes that a step results in; each gets the line of the user's function."""
        where = line_of_user()
        results = self._traced(result, where)
        self.steps.append(Step(function, args, kwargs, results, where))
        return results

    def _traced(self, made: Any, where: Line) -> Any:
        if isinstance(made, (list, tuple)):
            return type(made)([self._traced(one, where) for one in made])
        waiting = [made]
        while waiting:
            node = waiting.pop()
            if not node.where:
                node.where = where
                waiting += node.operands
        return Traced(self, made)


_NOT_OF_USERS = ("dmlops", "numpy", "einops", "contextlib", "runpy")


class Line(NamedTuple):
    """A line of a file. Its text is read when it is printed."""

    file: str
    number: int

    def __str__(self) -> str:
        if not self.file:
            return ""
        code = linecache.getline(self.file, self.number).strip()
        return f"{self.file}:{self.number}" + f": {code}" * bool(code)


def line_of_user() -> Line:
    """The innermost line of the call that is neither dmlops', NumPy's nor einops'; empty where a command calls NumPy's."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and not _is_of_user(frame):
        frame = frame.f_back
    return Line(frame.f_code.co_filename, frame.f_lineno) if frame is not None else Line("", 0)


def _is_of_user(frame: types.FrameType) -> bool:
    names = frame.f_globals
    return _is_name_of_user(names.get("__package__") or names.get("__name__", ""))  # __main__ may be dmlops' own


@functools.lru_cache(1024)
def _is_name_of_user(module: str) -> bool:
    return module.partition(".")[0] not in _NOT_OF_USERS


def user_line(error: BaseException | None = None) -> str:
    """The innermost line that is neither dmlops', NumPy's nor einops': of the call, or of an error's traceback."""
    if error is None:
        return str(line_of_user())
    for frame, number in reversed(list(traceback.walk_tb(error.__traceback__))):
        if _is_of_user(frame):
            return str(Line(frame.f_code.co_filename, number))
    return ""


class naming_the_line:  # noqa: N801, since it is called as a function
    """Errors of NumPy's and of operators say which line of the user's function they come from."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, tb: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, RefusedError):
            if of_thread.trace is not None and of_thread.trace.derived is not None:
                RefusedError("an error", str(error))  # of parameters: with values there may be none, so none is to be caught
            named = _with_line(error)
            if named is not error:
                raise named.with_traceback(tb) from None


def _with_line(error: Any) -> Any:
    if getattr(error, "names_line", False):
        return error
    named = error
    if isinstance(error, np.exceptions.AxisError) and error.axis is not None and error.ndim is not None:
        argument = str(error).removesuffix(str(np.exceptions.AxisError(error.axis, error.ndim)))
        where = [part for part in (user_line(), argument.removesuffix(": ")) if part]
        named = np.exceptions.AxisError(error.axis, error.ndim, ": ".join(where) or None)
    elif len(error.args) == 1 and str(error) == error.args[0]:
        error.args = (f"{error}{in_brackets(user_line())}",)
    else:
        error.add_note(user_line())
    named.names_line = True
    return named


class _OfThread(threading.local):
    trace: Trace | None = None


of_thread = _OfThread()  # the trace that is being recorded


class RefusedError(TypeError):
    """What cannot be traced; `what` names it."""

    def __init__(self, what: str, text: str, line: str | None = None) -> None:
        super().__init__(f"{text}{in_brackets(line or user_line())}")
        self.what = what
        if of_thread.trace is not None:
            of_thread.trace.refused.append(self)


def refuse(what: str, advice: str = "end the fused function before it, or apply it before the fused function") -> NoReturn:
    """Raise the TypeError for what cannot be fused."""
    raise RefusedError(what, f"{what} cannot be fused: {advice}")


def refuse_places(name: str, *places: Any) -> None:
    """Refuse a call that is given `out`, `device` or `progress`, which all of a fused function share."""
    if any(one is not None for one in places):
        refuse(f"{name} with out, device or progress", "give them to the fused function")


def name_of(function: Any) -> str:
    """A function's name for messages."""
    module = getattr(function, "__module__", None) or "numpy.ndarray"
    return f"{module}.{function.__name__}"


def node_of(value: Any, function: Any) -> Node:
    """The node of an argument that must be a traced array."""
    if not isinstance(value, Traced):
        refuse(f"{name_of(function)} of these arguments")
    return value._node


def axis_of(axis: Any, x: Node) -> int:
    """An axis counted from the front."""
    at, rank = operator.index(axis), len(x.shape)
    if not -rank <= at < rank:
        raise np.exceptions.AxisError(at, rank)
    return at % rank


def constant_from(value: Any, dtype: Any = None) -> Any:
    """A copy of an array that the function brings along: what that becomes later is not seen."""
    if isinstance(value, DeviceArray):
        refuse("a device array that is no argument", "make it an argument of the fused function")
    if isinstance(value, np.ndarray) and value.__array_priority__ > 0:  # what it is combined with becomes one, too
        refuse(f"a constant of type {type(value).__name__}", "pass a plain NumPy array")
    return np.array(value, getattr(value, "dtype", None) if dtype is None else dtype)


_NO_VALUES = "a traced array knows its shape and dtype, not its values, so {} has no meaning in a fused function"


class Traced:
    """An array of a trace."""

    __array_priority__ = 100.0
    __slots__ = ("_node", "_trace")

    def __init__(self, trace: Trace, node: Node) -> None:
        self._trace, self._node = trace, node

    # --- what is known ---

    @property
    def shape(self) -> tuple[int, ...]:
        return self._node.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._node.dtype

    @property
    def ndim(self) -> int:
        return len(self._node.shape)

    @property
    def size(self) -> int:
        return self._node.size

    @property
    def itemsize(self) -> int:
        return self._node.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self._node.nbytes

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[k] for k in range(self.shape[0]))

    def __repr__(self) -> str:
        return f"<traced array, shape={self.shape}, dtype={self.dtype}>"

    # --- movements ---

    def __getitem__(self, key: Any) -> Any:
        return self.__array_function__(operator.getitem, (), (self, key), {})

    @property
    def T(self) -> Any:
        return np.transpose(self)

    @property
    def mT(self) -> Any:
        return np.swapaxes(self, -1, -2)

    @property
    def real(self) -> Any:
        return np.real(self)

    @property
    def imag(self) -> Any:
        return np.imag(self)

    def reshape(self, *shape: Any, order: Any = "C", copy: Any = None) -> Any:
        new = shape[0] if len(shape) == 1 else shape
        return self.__array_function__(np.reshape, (), (self, new), {"order": order, "copy": copy})

    def transpose(self, *axes: Any) -> Any:
        return np.transpose(self, axes[0] if len(axes) == 1 else axes or None)

    def flatten(self, order: Any = "C") -> Any:
        return np.ravel(self, order)

    def conj(self) -> Any:
        """The array itself where it is not complex; numpy.conj makes integers of bools."""
        if self.dtype.kind not in "biufc":
            raise TypeError("cannot conjugate non-numeric dtype")
        return np.conj(self) if self.dtype.kind == "c" else self

    conjugate = conj

    def view(self, dtype: Any) -> Any:
        return self.__array_function__(np.ndarray.view, (), (self, dtype), {})

    def astype(self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True) -> Any:
        return self.__array_function__(np.ndarray.astype, (), (self, dtype), {"casting": casting})

    def __getattr__(self, name: str) -> Any:
        """NumPy's methods that are functions of the same name, too."""
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(f"a traced array has no attribute {name!r}{_advice(name)}", name=name, obj=self)
        if name in (
            "tolist",
            "item",
            "tobytes",
            "tofile",
            "dump",
            "dumps",
            "data",
            "ctypes",
            "flat",
            "strides",
            "flags",
            "base",
        ):
            raise RefusedError(name, _NO_VALUES.format(name))
        function = getattr(np, name, None)
        if not callable(function):
            refuse(f"numpy.ndarray.{name}")
        return lambda *args, **kwargs: function(self, *args, **kwargs)

    # --- NumPy's protocols ---

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        with naming_the_line():
            return self._trace.call(func, *self._trace.own((args, kwargs)))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        with naming_the_line():
            return self._trace.call_ufunc(ufunc, method, *self._trace.own((inputs, kwargs)))

    @staticmethod
    def __dmlops_function__(name: str, inputs: Any, others: Any) -> Any:
        trace = next(one._trace for one in leaves(inputs) if isinstance(one, Traced))
        with naming_the_line():
            return trace.call_operator(name, inputs, others)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> NoReturn:
        name = getattr(func, "__name__", str(func))
        there = f"write numpy.{name}, or " if callable(getattr(np, name, None)) else ""
        refuse(f"torch.{name}", f"{there}end the fused function before it")

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise RefusedError(
            "making a NumPy array",
            f"{_NO_VALUES.format('making a NumPy array of it')}; leave out numpy.asarray and "
            "numpy.ascontiguousarray, which are not needed here; for table[x] and numpy.take(table, x) write "
            "dmlops.take(table, x, 0), and for numpy.eye(K)[x] dmlops.one_hot(x, K)",
        )

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        refuse("assignment to elements", "join or pad arrays instead, or assign after the fused function")


# What NumPy's arrays have in place of attributes of other libraries' tensors.
_BESIDE = {
    "permute": ".transpose(...)",
    "float": ".astype(numpy.float32)",
    "double": ".astype(numpy.float64)",
    "half": ".astype(numpy.float16)",
    "byte": ".astype(numpy.uint8)",
    "int": ".astype(numpy.int32)",
    "long": ".astype(numpy.int64)",
    "bool to type cast": ".astype(...)",
    "unsqueeze": "numpy.expand_dims(x, axis)",
    "contiguous clone detach cpu cuda numpy get": "x itself",
    "flip fliplr flipud rot90 roll moveaxis expand_dims stack concatenate pad tile split where": "numpy.{0}(x, ...)",
    "cat": "numpy.concatenate",
    "chunk unbind": "numpy.split",
    "expand": "numpy.broadcast_to",
    "clamp": ".clip(...)",
}
_BESIDE_BY_NAME = {name: there.format(name) for names, there in _BESIDE.items() for name in names.split()}


def _advice(name: str) -> str:
    """The end of the text for an attribute that NumPy's arrays lack, and the line."""
    if name.startswith("_"):
        of_numpys = name in ("__array_interface__", "__array_struct__", "__dlpack__")
        return ": it is no NumPy array; call what wants one before the fused function, or after it" * of_numpys
    near = difflib.get_close_matches(name, dir(np.ndarray), 1, 0.75)
    there = _BESIDE_BY_NAME.get(name) or (f".{near[0]}" if near else None)
    return (f"; did you mean {there}?" if there else "") + in_brackets(user_line())


_WAY_OUT = {
    "__bool__": "numpy.where(x > 0, a, b) chooses for each element, and what decides for all of them can be an argument",
    "__contains__": "numpy.isin compares each element",
}


def _without_values(name: str) -> Any:
    advice = _WAY_OUT.get(name, "compute the number before the fused function, and pass it as an argument")

    def method(self: Traced, *args: Any) -> NoReturn:
        raise RefusedError("an array's values", f"{_NO_VALUES.format(name.strip('_') + '()')}: {advice}")

    return method


for _name in ("__bool__", "__int__", "__float__", "__complex__", "__index__", "__contains__"):
    setattr(Traced, _name, _without_values(_name))


def _add_operators() -> None:
    """Python's operators are recorded as they are written; those in place would change an array that others see."""
    binary = "add sub:subtract mul:multiply truediv:true_divide floordiv:floor_divide mod:remainder divmod matmul"
    binary += " lshift:left_shift rshift:right_shift and:bitwise_and or:bitwise_or xor:bitwise_xor"
    functions = {short: getattr(np, long or short) for short, _, long in (names.partition(":") for names in binary.split())}
    for name, function in {**functions, "pow": operator.pow}.items():
        setattr(Traced, f"__{name}__", _operator(function))
        setattr(Traced, f"__r{name}__", _operator(function, turned=True))
        setattr(Traced, f"__i{name}__", _in_place)
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Traced, f"__{name}__", _operator(getattr(operator, name)))
    for names in "neg:negative pos:positive abs:absolute invert".split():
        short, _, long = names.partition(":")
        setattr(Traced, f"__{short}__", lambda self, function=getattr(np, long or short): function(self))
    setattr(Traced, "__hash__", object.__hash__)


def _operator(function: Any, turned: bool = False) -> Any:
    """Of two operands, the method for a function of NumPy's or of operator's; `turned`: the array is the second one."""

    def method(self: Traced, other: Any) -> Any:
        if getattr(type(other), "__array_ufunc__", self) is None:  # by NumPy's protocol: it has its own operators
            return NotImplemented
        operands = (other, self) if turned else (self, other)
        return function(*operands) if isinstance(function, np.ufunc) else self.__array_function__(function, (), operands, {})

    return method


def _in_place(self: Traced, other: Any) -> NoReturn:
    refuse("arithmetic in place", "write x = x + 1 in place of x += 1")


_add_operators()
