"""The order of what is made of others: arrays of a trace, and calls of an expression."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

__all__ = ["operands_first"]


class _Made(Protocol):
    @property
    def operands(self) -> tuple[Any, ...]: ...


T = TypeVar("T", bound=_Made)


def operands_first(results: Iterable[T], is_known: Callable[[T], bool] = lambda _: False) -> list[T]:
    """Results, and all that they are made of, each once, but for what is known; without recursion, since chains are long."""
    found: dict[T, None] = {}
    waiting = [one for one in results if not is_known(one)]
    while waiting:
        missing = [one for one in waiting[-1].operands if one not in found and not is_known(one)]
        if missing:
            waiting += missing
        else:
            found[waiting.pop()] = None
    return list(found)
