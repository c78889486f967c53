"""How the extension runs and counts a call of an operator."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from dmlops import _core
from dmlops.late_imports import late

if TYPE_CHECKING:
    from dmlops._annotations import Progress

__all__ = ["PART", "how", "row_of", "tracked"]

PART = -1  # of another call, and not counted

row_of = functools.cache(_core._row)  # the number of the row where calls of a name are counted


def tracked(name: str, progress: Progress) -> Any:
    """How the extension runs a call that reports its progress."""
    with late():
        from dmlops.progress import tracked as progress_of

    return progress_of(name, progress, row_of(name))


def how(name: str, progress: Progress | None) -> Any:
    """How the extension runs a call: it reports its progress, or only counts the call under this name."""
    return row_of(name) if progress is None else tracked(name, progress)
