"""Imports in the middle of calls: a fork waits for those that other threads have begun.

A module that is imported while another thread forks is never finished in the child, which would wait for it for ever. So
what is imported in a call that is no error is imported by the functions below, or in a ``with late():``.
"""

from __future__ import annotations

import _thread
import importlib
import os
import signal
import sys
from typing import Any

__all__ = ["imported", "late", "there"]

_PATIENCE = 10.0  # seconds; then an import or a fork goes on without the lock: its holder may wait for the one who waits

_lock = _thread.RLock()
_forking: dict[int, list[Any]] = {}  # by thread: what it has acquired for forks, None where it has waited in vain
_interrupted: list[int] = []  # threads that were, while they waited to fork


def _before_fork() -> None:
    lock, held = _lock, None
    try:
        if lock.acquire(timeout=_PATIENCE):
            held = lock
    except KeyboardInterrupt:  # which Python would drop here: the parent has it behind the fork
        _interrupted.append(_thread.get_ident())
    finally:
        _forking.setdefault(_thread.get_ident(), []).append(held)


def _acquired() -> Any:
    """What this thread has acquired for its fork: nothing, too, where another one has registered these functions meanwhile."""
    return (_forking.get(_thread.get_ident()) or [None]).pop()


def _after_fork_in_parent() -> None:
    held = _acquired()
    if held is not None:
        held.release()
    if _interrupted:
        _interrupted.clear()
        _thread.start_new_thread(os.kill, (os.getpid(), signal.SIGINT))


def _after_fork_in_child() -> None:
    global _lock
    _interrupted.clear()
    held = _acquired()
    if held is not None:
        held.release()
    else:  # it is a thread's that is not here
        _lock = _thread.RLock()


def _watch_forks() -> None:
    if hasattr(os, "register_at_fork"):  # Windows has no fork
        os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)


_watch_forks()
_is_behind_logging = False


class late:  # a class, since calls enter it often: a generator takes twice as long
    """Imports in it are finished before a fork."""

    __slots__ = ("_held",)

    def __enter__(self) -> None:
        global _is_behind_logging
        if not _is_behind_logging and there("logging", "captureWarnings") is not None:
            # A fork acquires what was registered last first. The lock of logging may be needed by an import that it waits for.
            _is_behind_logging = True
            _watch_forks()
        lock = _lock
        self._held = lock if lock.acquire(timeout=_PATIENCE) else None

    def __exit__(self, *_: object) -> None:
        if self._held is not None:
            self._held.release()


def imported(name: str) -> Any:
    """Import a module, if it is not imported yet."""
    with late():
        return importlib.import_module(name)


def there(module: str, name: str) -> Any:
    """An attribute of a module; None where nobody has imported it, or not so far."""
    return getattr(sys.modules.get(module), name, None)
