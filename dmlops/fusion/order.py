"""The order of what is made of others: arrays of a trace, and calls of an expression."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

__all__ = ["operands_first"]


class _Made(Protocol):
    @property
    def operands(self) -> tuple[Any, ...]: ...


T = TypeVar("T", bound=_Made)


def operands_first(results: Iterable[T]) -> list[T]:
    """Results, and all that they are made of, each once."""
    found: dict[T, None] = {}
    waiting = list(results)
    while waiting:
        missing = [one for one in waiting[-1].operands if one not in found]
        if missing:
            waiting += missing
        else:
            found[waiting.pop()] = None
    return list(found)
