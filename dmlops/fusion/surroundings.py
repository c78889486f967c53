"""What a function brings along: globals, variables of closures, defaults, attributes, as far as its code names them."""

from __future__ import annotations

import contextlib
import dis
import functools
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from dmlops import structure
from dmlops.fusion.traced import Traced
from dmlops.late_imports import there

__all__ = ["changed", "generators", "names", "random_states", "tokens", "values"]

_MOST_FUNCTIONS = 64  # that are followed
_MOST_BYTES = 1 << 20  # of arrays that are compared by value: others are by identity
_MOST_ITEMS = 1000  # of containers that are looked into

_NUMBERS = (bool, int, float, complex, np.generic)

_ABSENT = object()


# --- where values are -----------------------------------------------------------------------------------------------


def _functions(function: Any) -> Iterator[Any]:
    """A function, and functions of Python that its code names, and theirs."""
    waiting, seen = [function], set[int]()
    while waiting and len(seen) < _MOST_FUNCTIONS:
        one = waiting.pop(0)
        one = getattr(one, "_function", one) if _is_ours(one) else one
        if id(one) in seen or _is_library(one):
            continue
        seen.add(id(one))
        yield one
        waiting += [value for _, value in _named(one) if callable(value)]


def values(function: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """What is named by the code of a function and by that of functions of Python that it calls, with its name there."""
    found: dict[str, Any] = {}
    for one in _functions(function):
        found |= {name: value for name, value in _named(one) if name not in found}
    for leaf in structure.leaves([list(args), list(kwargs.values())]):
        if not isinstance(leaf, Traced) and structure.array_from(leaf) is None:
            found[f"an argument of type {type(leaf).__name__}"] = leaf
            attributes = _names_of(getattr(function, "__code__", None))
            found |= dict(_attributes(leaf, attributes))
    return found


def names(function: Any) -> frozenset[str]:
    """What is named by the code of a function and by that of functions of Python that it calls."""
    codes = (getattr(one, "__code__", None) or getattr(type(one).__call__, "__code__", None) for one in _functions(function))
    return frozenset[str]().union(*map(_names_of, codes))


def _is_ours(function: Any) -> bool:
    return type(function).__module__.partition(".")[0] == "dmlops"


def _is_library(function: Any) -> bool:
    return (getattr(function, "__module__", None) or "").partition(".")[0] in ("numpy", "dmlops", "einops", "builtins")


def _names_of(code: Any) -> frozenset[str]:
    """What a code names, with the functions in it."""
    return _names_of_code(code) if isinstance(code, types.CodeType) else frozenset()


@functools.lru_cache(1024)
def _names_of_code(code: types.CodeType) -> frozenset[str]:
    return frozenset(code.co_names).union(*map(_names_of, code.co_consts))


def _attributes(value: Any, names: Any = None) -> list[tuple[str, Any]]:
    """The attributes of a module or an instance; those of these names."""
    try:
        found = vars(value)
    except TypeError:  # it has none
        return []
    if names is None:
        return list(found.copy().items())  # other threads may change it
    return [(name, value) for name in names if (value := found.get(name, _ABSENT)) is not _ABSENT]


def _named(function: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(function, functools.partial):
        yield "a partial's function", function.func
        yield from ((f"argument {k + 1} of a partial", one) for k, one in enumerate(function.args))
        yield from function.keywords.items()
        return
    if isinstance(function, types.MethodType):
        names = _names_of(getattr(function.__func__, "__code__", None))
        yield from _attributes(function.__self__, names)
        function = function.__func__
    elif not isinstance(function, (type, types.FunctionType, types.BuiltinFunctionType)):  # an instance that is called
        method = getattr(type(function), "__call__", None)
        yield from _attributes(function, _names_of(getattr(method, "__code__", None)))
        function = method
    if not isinstance(function, types.FunctionType):
        return
    names = _names_of(function.__code__)
    for name in sorted(names):
        value = function.__globals__.get(name, _ABSENT)
        if value is _ABSENT:
            continue
        yield name, value
        if isinstance(value, types.ModuleType):
            yield from ((f"{name}.{each}", one) for each, one in _attributes(value, names))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not yet bound
            continue
    arguments = function.__code__.co_varnames[: function.__code__.co_argcount]
    defaults = function.__defaults__ or ()
    yield from zip(arguments[len(arguments) - len(defaults) :], defaults, strict=True)
    yield from (function.__kwdefaults__ or {}).items()


# --- what they are --------------------------------------------------------------------------------------------------


def tokens(brought: dict[str, Any]) -> dict[str, Any]:
    """What tells each value from another: its bytes, those of what is in it, or itself."""
    left = _Left()
    return {name: _token(value, left) for name, value in brought.items()}


class _Unread(NamedTuple):
    """What was not looked into: it may be equal to what was."""

    identity: int


class _Left:
    """How much is looked at: a trace takes time for what it brings along, but not for a data set in a global."""

    def __init__(self) -> None:
        self.items, self.bytes = _MOST_ITEMS, _MOST_BYTES

    def take(self, items: int, size: int) -> bool:
        """Whether so much is left."""
        if items > self.items or size > self.bytes:
            return False
        self.items, self.bytes = self.items - items, self.bytes - size
        return True


def _token(value: Any, left: _Left, depth: int = 4) -> Any:
    if isinstance(value, np.ndarray) and not value.dtype.hasobject and left.take(1, value.nbytes):
        return value.dtype, value.shape, hash(value.tobytes())
    if isinstance(value, _NUMBERS):
        return type(value), value if isinstance(value, int) else np.asarray(value).tobytes()
    if value is None or isinstance(value, (str, bytes)):
        return type(value), value
    if isinstance(value, (list, tuple, set, frozenset)) and depth and left.take(len(value), 0):
        return type(value), [_token(one, left, depth - 1) for one in list(value)]  # a copy: other threads may change it
    if isinstance(value, dict) and depth and left.take(len(value), 0):
        return dict, [(_token(key, left, 0), _token(one, left, depth - 1)) for key, one in dict.copy(value).items()]
    if isinstance(value, (np.ndarray, list, tuple, set, frozenset, dict)):
        return _Unread(id(value))
    try:
        return weakref.ref(value)
    except TypeError:
        return type(value), id(value)


def changed(before: dict[str, Any], function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[list[str], list[str]]:
    """The names of what is something else now; and those of numbers, arrays and text among it, which make a difference.

    What the function itself binds, as a counter, is its own affair. So may be what has changed in a list.
    """
    now = values(function, args, kwargs)
    tokens_now = tokens(now)
    names = [name for name, token in before.items() if name in now and not _same(token, tokens_now[name])]
    bound = set().union(*(_bound_by(getattr(one, "__code__", None)) for one in _functions(function))) if names else set()
    names = [name for name in names if name not in bound]
    return names, [name for name in names if isinstance(now[name], (*_NUMBERS, np.ndarray, str, bytes))]


def _bound_by(code: Any) -> set[str]:
    """The globals and the variables of closures that a code binds."""
    if not isinstance(code, types.CodeType):
        return set()
    own = {one.argval for one in dis.get_instructions(code) if one.opname in ("STORE_GLOBAL", "STORE_DEREF")}
    return own.union(*map(_bound_by, code.co_consts))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, _Unread) != isinstance(other, _Unread):
        return True
    if isinstance(one, weakref.ref):
        return isinstance(other, weakref.ref) and one() is other() is not None
    if isinstance(one, (list, tuple)):
        return isinstance(other, type(one)) and len(one) == len(other) and all(map(_same, one, other))
    return bool(type(one) is type(other) and one == other)


# --- random numbers -------------------------------------------------------------------------------------------------


# Of values that are none, and hold none as an attribute.
_NO_GENERATORS = frozenset((*_NUMBERS[:4], str, type(None), np.ndarray, types.ModuleType, types.FunctionType, np.ufunc, type))


def generators(brought: dict[str, Any]) -> dict[str, Any]:
    """The generators of random numbers among values, and among the attributes of values."""
    found: dict[str, Any] = {}
    kinds = _kinds_of_generators()
    for name, value in brought.items():
        if type(value) in _NO_GENERATORS:
            continue
        inner = [] if isinstance(value, (type, types.ModuleType, types.FunctionType)) else list(_attributes(value))
        named = [(name, value), *((f"{name}.{key}", each) for key, each in inner)]
        found |= {label: one for label, one in named if isinstance(one, kinds)}
    return found


def _kinds_of_generators() -> tuple[Any, ...]:
    """Those that anybody can have made: where a module is being imported, by another thread, there are none so far."""
    kinds = [there("random", "Random"), *(there("numpy.random", name) for name in ("RandomState", "Generator", "BitGenerator"))]
    return tuple(one for one in kinds if one is not None)


def random_states(own: dict[str, Any]) -> dict[str, Any]:
    """The state of each source of random numbers that a function may draw from: its own, and those of all."""
    found = {label: _state(one) for label, one in own.items()}
    of_python, of_numpy = there("random", "getstate"), there("numpy.random", "get_state")
    if of_python is not None:
        found["random"] = of_python()
    if of_numpy is not None:
        found["numpy.random"] = _flat(of_numpy(legacy=False))
    return found


def _state(value: Any) -> Any:
    if hasattr(value, "getstate"):  # of Python
        with contextlib.suppress(NotImplementedError):  # the system's has none
            return value.getstate()
        return object()
    if hasattr(value, "get_state"):  # NumPy's RandomState
        return _flat(value.get_state(legacy=False))
    return _flat(getattr(value, "bit_generator", value).state)


def _flat(state: Any) -> Any:
    """A state that compares: with bytes for its arrays."""
    if isinstance(state, dict):
        return [(key, _flat(one)) for key, one in state.items()]
    return state.tobytes() if isinstance(state, np.ndarray) else state
