"""Running a function: with traced arrays, and as it is, with NumPy's."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from dmlops.fusion.traced import Trace

__all__ = ["is_untraced", "run", "untraced"]


class _OfThread(threading.local):
    untraced = False


_of_thread = _OfThread()


def run(trace: Trace, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function with traced arrays, and return what it returns."""
    return function(*args, **kwargs)


@contextlib.contextmanager
def untraced() -> Iterator[None]:
    """In this thread, fused functions are the functions themselves."""
    before, _of_thread.untraced = _of_thread.untraced, True
    try:
        yield
    finally:
        _of_thread.untraced = before


def is_untraced() -> bool:
    """Whether fused functions are the functions themselves here."""
    return _of_thread.untraced
