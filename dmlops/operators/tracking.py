"""The argument `progress` of the operators, as the extension takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dmlops._annotations import Progress

__all__ = ["tracked"]


def tracked(name: str, progress: Progress) -> Any:
    """How the extension runs a call that reports its progress."""
    from dmlops.progress import tracked as progress_of

    return progress_of(name, progress)
