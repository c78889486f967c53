"""Imports in the middle of calls: a fork waits for those that other threads have begun.

A module that is imported while another thread forks is never finished in the child, which would wait for it for ever. So
what is imported in a call that is no error is imported by the functions below, or in a ``with late:``.
"""

from __future__ import annotations

import _thread
import importlib
import os
import sys
from typing import Any

__all__ = ["imported", "late", "there"]

late = _thread.RLock()

if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(before=late.acquire, after_in_parent=late.release, after_in_child=late.release)


def imported(name: str) -> Any:
    """Import a module, if it is not imported yet."""
    with late:
        return importlib.import_module(name)


def there(module: str, name: str) -> Any:
    """An attribute of a module; None where nobody has imported it, or not so far."""
    return getattr(sys.modules.get(module), name, None)
