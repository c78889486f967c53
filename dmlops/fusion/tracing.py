"""Running a function: with traced arrays, and as it is, with NumPy's."""

from __future__ import annotations

import contextlib
import dis
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

from dmlops import _core
from dmlops.fusion import surroundings
from dmlops.fusion.traced import RefusedError, Trace, of_thread, refuse, user_line

__all__ = ["is_untraced", "run", "untraced"]

_MOST_RUNS = 5  # until no random number is drawn: threads draw some, too


def run(trace: Trace, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function with traced arrays, and return what it returns.

    RefusedError where the function has caught one, or has drawn random numbers.
    """
    for _ in range(_MOST_RUNS):
        trace.steps.clear()
        values = surroundings.values(function, args, kwargs)
        trace.brought = surroundings.tokens(values)
        generators = surroundings.generators(values)
        before = surroundings.random_states(generators)
        returned = _run(trace, function, args, kwargs)
        if generators:  # it may have replaced them
            generators = surroundings.generators(surroundings.values(function, args, kwargs))
        after = surroundings.random_states(generators)
        drawn = [name for name, state in before.items() if after.get(name, state) != state]
        if not drawn:
            return returned
        if threading.active_count() == 1:
            break
    others = "" if threading.active_count() == 1 else "; if only other threads draw, let them wait for its first call"
    refuse(
        f"a function that draws random numbers ({', '.join(drawn)})",
        f"the trace would keep the first ones: draw them outside and pass them in{others}",
    )


def _run(trace: Trace, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    outer, of_thread.trace = of_thread.trace, trace
    try:
        returned = function(*args, **kwargs)
    except RefusedError:
        raise
    except Exception as error:
        if _is_of_others(error):
            text = f"another library cannot take a traced array ({type(error).__name__}: {error})"
            advice = "write it by NumPy's functions, or call it before the fused function"
            raise RefusedError("another library", f"{text}: {advice}", user_line(error)) from error
        if trace.refused:
            raise trace.refused[0] from error  # since that was caught, this came
        raise
    finally:
        of_thread.trace = outer
    if trace.refused:
        raise trace.refused[0]
    return returned


def _is_of_others(error: Exception) -> bool:
    """Whether it is of a library that does not know traced arrays: it names their type, or wants NumPy's."""
    package = type(error).__module__.partition(".")[0]
    if package == "builtins":
        return isinstance(error, (TypeError, ValueError)) and re.search(r"\bTraced\b", str(error)) is not None
    return package not in ("numpy", "dmlops", "einops") and "numpy array" in str(error) and not _is_raised_by_python(error)


def _is_raised_by_python(error: Exception) -> bool:
    """Whether a statement `raise` of Python code has raised it, not a function in C."""
    tb = error.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    return tb is not None and dis.opname[tb.tb_frame.f_code.co_code[tb.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")


class _OfThread(threading.local):
    untraced = False


_of_thread = _OfThread()


@contextlib.contextmanager
def untraced() -> Iterator[None]:
    """In this thread, fused functions are the functions themselves, and operators of NumPy's arrays run on the host."""
    before, _of_thread.untraced = _of_thread.untraced, True
    _core._set_host_here(True)
    try:
        yield
    finally:
        _of_thread.untraced = before
        _core._set_host_here(before)


def is_untraced() -> bool:
    """Whether fused functions are the functions themselves here."""
    return _of_thread.untraced
