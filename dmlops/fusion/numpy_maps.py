"""NumPy's functions of each element alone, of traced arrays."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from dmlops.fusion.maps import MAPPED_ITEMS, VALUE, Expression, Map, Varying, constant_of, items_of, mapped
from dmlops.fusion.traced import Trace, Traced, constant_from, refuse

__all__ = ["FUNCTIONS", "astype", "call_map", "call_ufunc", "moved_as_map", "take_along_axis"]

# Functions that are no ufuncs, with those of their arguments that are not broadcast: their places and names.
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "where": (),
    "clip": (3, "out"),
    "round": (1, 2, "decimals", "out"),
    "around": (1, 2, "decimals", "out"),
    "fix": (1, "out"),
    "real": (),
    "imag": (),
    "angle": (),
    "nan_to_num": (1, 2, 3, 4, "copy", "nan", "posinf", "neginf"),
    "interp": (1, 2, 3, 4, 5, "xp", "fp", "left", "right", "period"),
    "digitize": (1, "bins"),
    "searchsorted": (0, "a", "sorter"),
    "isin": (1, "test_elements"),
    "i0": (),
    "sinc": (),
    "astype": (1, "dtype"),
}


def call_ufunc(trace: Trace, ufunc: Any, method: str, inputs: Any, kwargs: Any) -> Any:
    """A ufunc of one traced array and of constants that are broadcast against it."""
    name = f"numpy.{ufunc.__name__}"
    if method != "__call__":
        refuse(f"{name}.{method}")
    if ufunc.signature is not None:
        refuse(name)
    if kwargs.get("out") is not None or kwargs.get("where", True) is not True:
        refuse(f"{name} with out or where", "leave them out; numpy.where chooses between values")
    return call_map(trace, ufunc, inputs, kwargs)


def call_map(trace: Trace, function: Any, args: Any, kwargs: Any, whole: tuple[Any, ...] = ()) -> Any:
    """Record a function of each element alone; `whole` has the arguments that are not broadcast."""
    name = f"numpy.{function.__name__}"
    arguments = [*enumerate(args), *kwargs.items()]
    given = dict(arguments)
    if given.get("out") is not None:
        refuse(f"{name} with out", "leave it out")
    if function is np.where and len(given) == 1:
        refuse("numpy.where of a condition alone", "how much it selects depends on values")
    if function is np.nan_to_num and not given.get(1, given.get("copy", True)):
        refuse("numpy.nan_to_num with copy=False", "leave it out, and use the result")
    for place in given.keys() & set(whole):
        if isinstance(given[place], Traced):
            refuse(
                f"a traced array as {place if isinstance(place, str) else f'argument {place + 1}'} of {name}", "use a constant"
            )
    arrays = [value for _, value in arguments if isinstance(value, Traced)]
    traced = [one for one in arrays if constant_of(one._node) is None] or arrays[:1]
    bases = {id(base): base for base in map(_base, traced)}
    if len(bases) > 1 or len({one.shape for one in traced}) > 1:
        refuse(
            f"{name} of several traced arrays",
            "the elements of one can be mapped, as numpy.where(x > 10, x, 0) does, but not combined with those of another; a "
            "constant is a default, a variable of a closure, or an argument of at most 4096 bytes",
        )
    (base,) = bases.values()
    if items_of(base) - {*MAPPED_ITEMS}:
        _refuse_items(name, items_of(base))

    def argument(value: Any, place: Any) -> Any:
        if isinstance(value, Traced):
            constant = None if any(value is one for one in traced) else constant_of(value._node)
            if constant is not None:
                return constant if constant.ndim == 0 else Varying(constant)
            return value._node.expression if isinstance(value._node, Map) else VALUE
        if isinstance(value, (str, bytes, np.dtype)) or not (np.iterable(value) or isinstance(value, np.ndarray)):
            return value
        array = constant_from(value)
        return Varying(array) if array.ndim > 0 and place not in whole else array

    expression = Expression(
        function,
        [argument(value, place) for place, value in enumerate(args)],
        {key: argument(value, key) for key, value in kwargs.items()},
    )
    try:
        made = mapped(base, expression)
    except NotImplementedError as error:
        refuse(f"{name} here ({error})")
    return trace.record(moved_as_map, (traced[0],), {}, made)


def _base(array: Traced) -> Any:
    return array._node.operands[0] if isinstance(array._node, Map) else array._node


def _refuse_items(name: str, items: frozenset[int]) -> NoReturn:
    refuse(
        f"{name} of items of {max(items)} bytes",
        "only items of one byte or two have few enough values for a table: apply it before the fused function, or after it",
    )


def moved_as_map(*_: Any) -> Any:
    """Marks the step of a map: it moves no elements, but may repeat them."""
    raise NotImplementedError


def astype(trace: Trace, function: Any, x: Any, dtype: Any, casting: Any = "unsafe") -> Any:
    """The method of arrays."""
    new = np.dtype(dtype)
    if new == x.dtype:
        return x
    if not np.can_cast(x.dtype, new, casting):
        raise TypeError(f"Cannot cast array data from {x.dtype!r} to {new!r} according to the rule {casting!r}")

    def cast(values: Any) -> Any:
        return values.astype(new)

    cast.__name__ = f"astype from {x.dtype} to {new}"
    return call_map(trace, cast, (x,), {})


def take_along_axis(trace: Trace, function: Any, arr: Any, indices: Any, axis: Any = -1) -> Any:
    """Of a constant vector by a traced one: NumPy does not tell traced indices of what numpy.take does."""
    if not isinstance(indices, Traced) or isinstance(arr, Traced) or np.ndim(arr) != 1 or indices.ndim != 1:
        refuse("numpy.take_along_axis of other arguments than a constant vector and a traced one")
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    table, values = np.array(arr), np.iinfo(indices.dtype)
    if values.min < -table.size or values.max >= table.size:
        refuse(f"numpy.take_along_axis of {table.size} elements by {indices.dtype}", "use a vector that has every index")

    def look_up(places: Any) -> Any:
        return table[places]

    look_up.__name__ = "take_along_axis"
    return call_map(trace, look_up, (indices,), {})
