"""The arguments of fused functions, and what is said of wrong ones."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from dmlops import structure
from dmlops._core import DeviceArray
from dmlops.fusion.compiled import Compiled
from dmlops.fusion.graph import Input
from dmlops.fusion.traced import refuse
from dmlops.refused_arrays import no_array as not_an_array
from dmlops.refused_arrays import not_plain

__all__ = [
    "OfFunction",
    "are_shared",
    "bind",
    "constant",
    "constants_to_try",
    "firsts",
    "name_of",
    "no_array",
    "no_iterator",
    "of_objects",
    "signature_of",
    "with_inputs",
    "with_places",
]

RESERVED = ("out", "device", "progress")
MOST_BYTES_BY_VALUE = 4096  # of an argument that becomes a constant


class OfFunction(Protocol):
    """A fused function, as far as it is its function."""

    __name__: str
    _function: Callable[..., Any]
    _signature: inspect.Signature


# --- functions ------------------------------------------------------------------------------------------------------


def signature_of(function: Any) -> inspect.Signature:
    """Raises TypeError for what is no function, ValueError where it has a parameter that every operator takes."""
    if structure.is_array(function):
        raise TypeError("fuse takes a function, not an array: write dmlops.fuse(function)(array)")
    if not callable(function):
        raise TypeError(f"fuse takes a function, not {type(function).__name__}")
    try:
        signature = inspect.signature(function)
    except ValueError:
        name = name_of(function)
        raise TypeError(f"the parameters of {name} are not known: write dmlops.fuse(lambda x: {name}(x))") from None
    for name in RESERVED:
        if name in signature.parameters:
            said = f"a fused function has no parameter of its own that is called {name}: every operator takes it"
            raise ValueError(f"{said}; rename that of {name_of(function)}, or fuse a function that calls it without {name}")
    return signature


def name_of(function: Callable[..., Any]) -> str:
    """The function's name; that of a partial object's function; of other callables the type's."""
    while isinstance(function, functools.partial) and not hasattr(function, "__name__"):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def bind(fused: OfFunction, args: Any, kwargs: Any) -> inspect.BoundArguments:
    """Raises TypeError with the function's name, and the parameter that was meant."""
    try:
        return fused._signature.bind(*args, **kwargs)
    except TypeError as error:
        message = f"{fused.__name__}() {error}"
    names = [*fused._signature.parameters, *RESERVED]
    for wrong in kwargs.keys() - names:
        for meant in difflib.get_close_matches(wrong, names, 1):
            message += f"; did you mean {meant!r}?"
    raise TypeError(message)


# --- arrays among the arguments -------------------------------------------------------------------------------------


def with_places(arguments: Any, places: Sequence[Any]) -> Any:
    """The arguments with something else in place of each array."""
    left = iter(places)
    return structure.rebuilt(arguments, lambda value: next(left) if structure.is_array(value) else value)


def with_inputs(arguments: Any, compiled: Compiled) -> Any:
    """Those of a call, with an Input in place of each array that is no constant: a constant is the call's, with its strides."""
    places = iter(structure.leaves((compiled.args, compiled.kwargs)))

    def place(value: Any) -> Any:
        own = next(places)
        if isinstance(value, np.ndarray) and not isinstance(own, Input):
            return value
        return own if structure.is_array(value) else value

    return structure.rebuilt(arguments, place)


def constants_to_try(arrays: Sequence[Any]) -> list[tuple[int, ...]]:
    """Which of several arrays may be constants: none; small ones of floats, since integers may be indices; all small ones."""
    small = _small_ones(arrays)
    floats = tuple(number for number in small if arrays[number].dtype.kind in "fc")
    return list(dict.fromkeys([(), floats, small]))


def _small_ones(arrays: Sequence[Any]) -> tuple[int, ...]:
    """Those of NumPy's; if all are small, not the first."""
    small = [number for number, one in enumerate(arrays) if type(one) is np.ndarray and one.nbytes <= MOST_BYTES_BY_VALUE]
    if len(small) == len(arrays):  # and what is the same as the first
        small = [number for number in small if arrays[number] is not arrays[0]]
    return tuple(small)


def constant(array: Any) -> Any:
    """A copy that the function cannot change."""
    if isinstance(array, DeviceArray):
        refuse("a device array whose values are needed", "pass a NumPy array, or bind it: as a default, or in a closure")
    made = np.array(array)
    made.flags.writeable = False
    return made


def are_shared(arrays: Sequence[Any]) -> bool:
    """Whether one of them is there twice."""
    return len(set(map(id, arrays))) < len(arrays)


def firsts(arrays: Sequence[Any]) -> tuple[int, ...]:
    """For each the number of the first that is the same one."""
    found: dict[int, int] = {}
    return tuple(found.setdefault(id(one), number) for number, one in enumerate(arrays))


# --- what is no array -----------------------------------------------------------------------------------------------


def no_array(fused: OfFunction, args: Any, kwargs: Any) -> TypeError:
    """Make the error for arguments without an array: what is wrong with the first, as operators say it."""
    first = next(iter(fused._signature.bind(*args, **kwargs).arguments.items()), None)
    said = "" if first is None else f": {_why_no_array(*first)}"
    return TypeError(f"{fused!r} has no array among its arguments{said}")


def _why_no_array(name: str, value: Any) -> Exception | str:
    if isinstance(value, str):
        return not_plain(name, value)
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as cause:
        return not_an_array(name, value, cause)
    if array.dtype.hasobject:
        return not_plain(name, array)
    if array.ndim:
        return f"{name} is a {type(value).__name__}; numpy.asarray({name}) makes an array of it"
    return f"{name} must be an array, not {type(value).__name__}"


def of_objects(fused: OfFunction, args: Any, kwargs: Any) -> TypeError:
    """Make the error for an array of Python objects."""
    for name, value in fused._signature.bind(*args, **kwargs).arguments.items():
        for one in structure.leaves(value):
            array = structure.array_from(one)
            if array is not None and array.dtype.hasobject:
                return not_plain(name, array)
    return TypeError(f"{fused!r} takes arrays of plain bytes, not of Python objects")


def no_iterator(fused: OfFunction, args: Any, kwargs: Any, iterator: Any) -> TypeError:
    """Make the error for what can be read once, so that a trace would read it, and no later call."""
    name = "an argument"
    for own, value in fused._signature.bind(*args, **kwargs).arguments.items():
        if any(one is iterator for one in structure.leaves(value)):
            name = own
    return TypeError(f"{name} must be an array, not {type(iterator).__name__}; list({name}) makes a list of its elements")
