"""NumPy's functions of each element alone, of traced arrays."""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

import numpy as np

from dmlops.fusion import numpy_indices
from dmlops.fusion.expressions import VALUE, Varying
from dmlops.fusion.formula_checks import check_call
from dmlops.fusion.formulas import UnsupportedError
from dmlops.fusion.graph import Parameter
from dmlops.fusion.interned import expression_of
from dmlops.fusion.maps import MAPPED_ITEMS, Map, constant_of, items_of, mapped
from dmlops.fusion.derived import evaluated, record_map
from dmlops.fusion.traced import Trace, Traced, constant_from, refuse

__all__ = [
    "FUNCTIONS",
    "OPERATORS",
    "astype",
    "by_operator",
    "call_map",
    "call_ufunc",
    "look_up",
    "moved_as_map",
    "take_along_axis",
]

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


# Operators of arrays that do more than the ufuncs whose names are in messages: roots, structures, incomparable dtypes.
OPERATORS: dict[Any, Any] = {
    operator.pow: np.power,
    operator.eq: np.equal,
    operator.ne: np.not_equal,
    operator.lt: np.less,
    operator.le: np.less_equal,
    operator.gt: np.greater,
    operator.ge: np.greater_equal,
}


def by_operator(trace: Trace, function: Any, one: Any, other: Any) -> Any:
    """An operator of arrays, whose functions are `OPERATORS`; of what NumPy has as a scalar, that of scalars."""
    if function is operator.pow and all(not isinstance(each, Traced) or each._node.is_scalar for each in (one, other)):
        function = power
    return call_map(trace, function, (one, other), {})


def power(one: Any, other: Any) -> Any:
    """NumPy's scalars have none of the short cuts of arrays, such as square roots."""
    if np.ndim(one) == np.ndim(other) == 0:
        return np.asarray(_scalar(one) ** _scalar(other))
    pairs = np.broadcast(one, other)
    operands = [itertools.repeat(_scalar(each)) if np.ndim(each) == 0 else each.flat for each in (one, other)]
    powers = list(itertools.islice(map(operator.pow, *operands), pairs.size))
    return np.array(powers).reshape(pairs.shape)


def _scalar(value: Any) -> Any:
    return value[()] if isinstance(value, np.ndarray) else value


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
    if trace.derived is not None:
        computed = evaluated(trace, function, args, kwargs)
        if computed is not NotImplemented:
            return computed
    name = f"numpy.{OPERATORS.get(function, function).__name__}"
    arguments = [*enumerate(args), *kwargs.items()]
    _check_given(name, function, dict(arguments), whole)
    arrays = [value for _, value in arguments if isinstance(value, Traced) and not isinstance(value._node, Parameter)]
    traced = [one for one in arrays if constant_of(one._node) is None] or arrays[:1]
    sources = {id(source): source for source in map(_source, traced)}
    if len(sources) > 1:
        refuse(
            f"{name} of several traced arrays",
            "the elements of one can be mapped, as numpy.where(x > 10, x, 0) does, but not combined with those of another; a "
            "constant is a default, a variable of a closure, or an argument of at most 4096 bytes",
        )
    (source,) = sources.values()
    shapes = {one.shape for one in arrays}
    shape = np.broadcast_shapes(*shapes) if len(shapes) > 1 else shapes.pop()

    def argument(value: Any, place: Any) -> Any:
        value = value._node.value if isinstance(value, Traced) and isinstance(value._node, Parameter) else value
        if isinstance(value, Traced):
            constant = None if any(value is one for one in traced) else constant_of(value._node)
            if constant is not None:  # one element has as many axes as the array: older versions of NumPy look at that
                constant = constant.reshape((1,) * value.ndim) if constant.ndim == 0 else constant
                return Varying(constant) if value.ndim else constant
            return value._node.expression if isinstance(value._node, Map) else VALUE
        if isinstance(value, (str, bytes, np.dtype)) or not (np.iterable(value) or isinstance(value, np.ndarray)):
            return value
        array = constant_from(value)
        return Varying(array) if array.ndim > 0 and place not in whole else array

    if items_of(source) - {*MAPPED_ITEMS}:
        _check_operands(name, source, arguments)
    expression = expression_of(
        function,
        tuple([argument(value, place) for place, value in enumerate(args)]),
        {key: argument(value, key) for key, value in kwargs.items()},
    )
    try:
        made = mapped(source, expression, shape)
        if items_of(source) - {*MAPPED_ITEMS}:
            several = made if isinstance(made, tuple) else (made,)
            check_call(expression, (len(several[0].shape), source.dtype))
    except UnsupportedError as error:
        refuse(f"{name} of items of {max(items_of(source))} bytes{f' {error}' if str(error) else ''}", _ADVICE)
    except NotImplementedError as error:
        refuse(f"{name} here ({error})")
    for node in made if isinstance(made, tuple) else (made,):
        node.is_scalar = node.shape == ()
    if trace.derived is not None:
        record_map(trace, expression, (args, kwargs), whole, made)
    return trace.record(moved_as_map, (traced[0],), {}, made)


def _check_given(name: str, function: Any, given: dict[Any, Any], whole: tuple[Any, ...]) -> None:
    """Refuse what is no map, by the arguments' places and names."""
    if given.get("out") is not None:
        refuse(f"{name} with out", "leave it out")
    if function is np.where and len(given) == 1:
        refuse("numpy.where of a condition alone", "how much it selects depends on values")
    if function is np.nan_to_num and not given.get(1, given.get("copy", True)):
        refuse("numpy.nan_to_num with copy=False", "leave it out, and use the result")
    for place in given.keys() & set(whole):
        if isinstance(given[place], Traced) and not isinstance(given[place]._node, Parameter):
            said = place if isinstance(place, str) else f"argument {place + 1}"
            refuse(f"a traced array as {said} of {name}", "use a constant")


_PLAIN = (bool, int, float, complex, str, bytes, list, tuple, type(None), type, np.generic, np.dtype, Traced)


def _check_operands(name: str, source: Any, arguments: list[tuple[Any, Any]]) -> None:
    """Formulas are of numbers, and of operands that have no say of their own in what NumPy does."""
    if source.dtype.kind not in "biuf":
        refuse(f"{name} of {source.dtype}", _ADVICE)
    for place, value in arguments:
        if place in ("sig", "signature"):
            refuse(f"{name} with {place}", "give dtype")
        if type(value) is not np.ndarray and not isinstance(value, _PLAIN):
            refuse(f"{name} of a {type(value).__name__}", _ADVICE)


def _source(array: Traced) -> Any:
    return array._node.source if isinstance(array._node, Map) else array._node


_ADVICE = (
    "only items of one byte or two have few enough values for a table, and of others the host computes some exact operations, "
    "such as + - * / and clip: apply it before the fused function, or after it"
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
    plain = all(one.metadata is None and one.kind != "V" for one in (x.dtype, new))  # then what is equal is the same
    return call_map(trace, (_cast if plain else _cast.__wrapped__)(x.dtype, new), (x,), {})


@functools.lru_cache(256)
def _cast(old: np.dtype[Any], new: np.dtype[Any]) -> Any:
    def cast(values: Any) -> Any:
        return values.astype(new)

    cast.__name__ = cast.__qualname__ = f"astype from {old} to {new}"
    setattr(cast, "casts", True)
    return cast


def take_along_axis(trace: Trace, function: Any, arr: Any, indices: Any, axis: Any = -1) -> Any:
    """Of a traced array, or of a constant vector by a traced one: NumPy tells no traced indices of what numpy.take does."""
    if isinstance(arr, Traced) and isinstance(indices, Traced):
        return numpy_indices.take_along_axis(trace, arr, indices, axis)
    if not isinstance(indices, Traced) or isinstance(arr, Traced) or np.ndim(arr) != 1 or indices.ndim != 1:
        refuse("numpy.take_along_axis of other arguments than a constant vector and a traced one")
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    return look_up(trace, arr, indices, "numpy.take_along_axis")


def look_up(trace: Trace, table: Any, indices: Traced, name: str) -> Any:
    """The rows of a constant table that indices select: one of them more axes than indices have."""
    rows = constant_from(table)
    values = np.iinfo(indices.dtype)
    if values.min < -len(rows) or values.max >= len(rows):
        advice = f"use a table that has a row for every index, {values.max + 1} here"
        refuse(f"{name} of {len(rows)} rows by {indices.dtype}", advice)
    places = indices[(..., *(None,) * (rows.ndim - 1))]
    columns = np.ix_(*map(np.arange, rows.shape[1:])) if rows.ndim > 1 else ()

    def taken(places: Any, *columns: Any) -> Any:
        return rows[(places, *columns)]

    taken.__name__ = name.rpartition(".")[2]
    return call_map(trace, taken, (places, *columns), {})
