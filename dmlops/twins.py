"""What makes a twin of an operator of a function of NumPy arrays: it takes device arrays too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from dmlops import _core
from dmlops._core import DeviceArray

__all__ = ["twin_of"]

_Operator = TypeVar("_Operator", bound=Callable[..., Any])


def _each(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with the arguments; where these are lists, with their entries in turn."""
    if isinstance(arguments[0], (list, tuple)):
        return [function(*entries) for entries in zip(*arguments, strict=True)]
    return function(*arguments)


def _downloaded(argument: Any) -> Any:
    downloaded = _each(lambda entry: entry.numpy() if isinstance(entry, DeviceArray) else entry, argument)
    return tuple(downloaded) if isinstance(argument, tuple) else downloaded


def _devices(*arguments: Any) -> Iterator[Any]:
    """Yield the devices of the device arrays among the arguments, and among the lists among them."""
    for argument in arguments:
        if isinstance(argument, DeviceArray):
            yield argument.device
        elif isinstance(argument, (list, tuple)):
            yield from _devices(*argument)


def twin_of(_operator: Callable[[], _Operator]) -> Callable[[Callable[..., Any]], _Operator]:
    """Give a function of NumPy arrays the operator's type, and let it take device arrays too.

    The operator is only named: twins stand below operators, and import none.
    """

    def decorate(twin: Callable[..., Any]) -> _Operator:
        @functools.wraps(twin)
        def either(*args: Any, out: Any = None, **kwargs: Any) -> Any:
            device = next(_devices(*args, *kwargs.values()), None)
            if device is None:
                return twin(*args, out=out, **kwargs)
            result = twin(*map(_downloaded, args), **{name: _downloaded(argument) for name, argument in kwargs.items()})
            if out is None:
                return _each(lambda array: _core._asarray(array, None, device, None), result)
            _each(lambda array, target: target.__setitem__(..., array), result, out)
            return out

        return cast(_Operator, either)

    return decorate
