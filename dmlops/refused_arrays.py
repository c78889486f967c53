"""What is no array of plain bytes: the errors, which name what would do. dmlops._core calls these."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np

from dmlops.dlpack import CPU

READ = "a file is read first, as numpy.asarray(PIL.Image.open(name)) does"
LOOKED_AT = 1000  # elements of an array of Python objects
# What arrays of Python objects become, where all elements are of these types; None becomes NaN, or NaT.
DTYPES: list[tuple[str, Any, bool]] = [
    ("bool", (bool, np.bool_), False),
    ("int64", numbers.Integral, False),
    ("float64", numbers.Number, True),
    ("complex128", numbers.Number, True),
    ("str", str, False),
    ("bytes", bytes, False),
    ("datetime64[us]", (datetime.date, np.datetime64), True),
    ("timedelta64[us]", (datetime.timedelta, np.timedelta64), True),
]


def no_array(name: str, argument: object, cause: ValueError | TypeError) -> ValueError | TypeError:
    """Make the error for an argument of which NumPy made no array; one of another type than NumPy's own stays."""
    if type(cause) not in (ValueError, TypeError):
        return cause
    ragged = isinstance(argument, (list, tuple)) and any(word in str(cause) for word in ("inhomogeneous", "broadcast"))
    hint = "; pad them to one shape first" if ragged else _by_dlpack(argument)
    error = type(cause)(f"{name} makes no array: {str(cause).rstrip('.')}{hint}")
    error.__cause__ = cause
    return error


def _by_dlpack(argument: Any) -> str:
    try:
        kind, _ = argument.__dlpack_device__()
        if kind == CPU and hasattr(argument, "__dlpack__"):
            argument.__dlpack__()  # raises for sparse tensors, for one
    except Exception:
        return ""
    return "; dmlops.from_dlpack takes it" if kind == CPU else ""


def is_lazy(value: Any) -> bool:
    """Whether it is a Dask array, by Dask's protocol for collections."""
    return hasattr(type(value), "__dask_graph__")


def lazy(name: str, argument: Any) -> TypeError:
    """Make the error for an array of Dask or Zarr, which may be larger than memory."""
    package = type(argument).__module__.partition(".")[0]
    whole = f"{name}.compute()" if package == "dask" else f"{name}[...]"
    of = "" if package == "dask" else f", of dask.array.from_zarr({name}),"
    return TypeError(
        f"{name} must be an array in memory, not one of {package.capitalize()}: the functions of dmlops.dask{of} take it chunk "
        f"by chunk; {whole} loads all of it"
    )


def not_plain(name: str, argument: Any) -> TypeError:
    """Make the error for an array whose elements are no plain bytes, and for a str.

    Parameters
    ----------
    name : str
        The argument's.
    argument : numpy.ndarray or str
        What was given, or what NumPy made of it: a 0-d array holds an object of which NumPy makes nothing else.
    """
    if isinstance(argument, str):
        return TypeError(f"{name} must be an array, not str; {READ}")
    if argument.dtype != object:
        return TypeError(_of_elements(name, argument) + _of_dtype(name, argument))
    elements = argument.flat[:LOOKED_AT].tolist()
    dtype = _dtype_for(elements)
    if dtype:
        return TypeError(f"{_of_elements(name, argument)}: numpy.asarray({name}, dtype={dtype!r}) converts them")
    return TypeError(_alone(name, elements[0]) if argument.ndim == 0 else _of_several(name, argument, elements))


def _of_elements(name: str, array: Any) -> str:
    return f"{name} must have elements that are plain bytes; those of dtype {array.dtype} are not"


def _of_dtype(name: str, array: Any) -> str:
    if array.dtype.names is None:  # NumPy's StringDType, of which no dtype without a length is made
        length = max(map(len, map(str, array.flat)), default=1) or 1
        return f": numpy.asarray({name}, dtype='U{length}') converts them"
    holders = [field for field in array.dtype.names if array.dtype[field].hasobject]
    return f": leave out or convert {', '.join(map(repr, holders))}"


def _dtype_for(elements: list[Any]) -> str | None:
    """A dtype that all can be converted to, those that are None included."""
    some = [element for element in elements if element is not None]
    for dtype, types, none in DTYPES if some else ():
        if all(isinstance(element, types) for element in some) and (none or len(some) == len(elements)):
            try:
                np.array(elements, object).astype(dtype)
            except (TypeError, ValueError, OverflowError):
                continue
            return dtype
    return None


def _of_several(name: str, array: Any, elements: list[Any]) -> str:
    first = next((element for element in elements if element is not None), None)
    if isinstance(first, np.ndarray):
        alike = len({getattr(element, "shape", None) for element in elements}) == 1
        return f"{name} is an array of arrays; {'' if alike else 'pad them to one shape first, then '}np.stack them into one"
    if isinstance(first, (list, tuple)):
        return f"{name} is an array of lists; pad them to one shape first"
    return _of_elements(name, array) + ("" if first is None else f"; the first is of type {type(first).__name__}")


def _alone(name: str, value: Any) -> str:
    if value is None:
        return f"{name} is None, not an array"
    if hasattr(value, "__fspath__"):
        return f"{name} is a path; {READ}"
    remedy = _by_dlpack(value)
    if hasattr(value, "toarray"):
        remedy = f"; {name}.toarray() makes one"  # of SciPy's sparse matrices
    elif isinstance(value, Mapping):
        remedy = "; pass one of its values"
    elif isinstance(value, Set):
        remedy = f"; sorted({name}) gives its elements an order"
    elif not remedy and isinstance(value, Iterable):
        remedy = f"; list({name}) makes a list of its elements"
    return f"{name} must be an array, not {type(value).__name__}{remedy}"
