"""What is kept of earlier calls: what was used last, bounded by number and bytes, without a lock."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import Any

__all__ = ["Kept"]


class _Entry:
    __slots__ = ("nbytes", "used", "value")

    def __init__(self, value: Any, nbytes: int, used: int) -> None:
        self.value, self.nbytes, self.used = value, nbytes, used


class Kept:
    """A cache of what was used last.

    Keys are made of Python's own types, so each operation of the dict is one step under the GIL. Two threads may make the same
    value; either will do. A lock would be held for ever in the child of a fork. A quarter is evicted at once, so that a put
    takes a microsecond or two.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self.most, self.most_bytes = most, most_bytes
        self._entries: dict[Hashable, _Entry] = {}
        self._clock = itertools.count()
        self._added = 0  # bytes since the last eviction, and those kept then; threads may miss each other's

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> Any:
        entry = self._entries.get(key)
        if entry is None:
            return None
        entry.used = next(self._clock)
        return entry.value

    def put(self, key: Hashable, value: Any, nbytes: int) -> None:
        """Keep a value, unless it is larger than all that may be kept."""
        if nbytes > self.most_bytes:
            return
        self._entries[key] = _Entry(value, nbytes, next(self._clock))
        self._added += nbytes
        if len(self._entries) > self.most or self._added > self.most_bytes:
            self._evict()

    def _evict(self) -> None:
        count = total = 0
        # The keys at once, which makes no other object: the collector may run what puts, and so may other threads.
        kept = [(key, entry) for key in list(self._entries) if (entry := self._entries.get(key)) is not None]
        for key, entry in sorted(kept, key=lambda item: -item[1].used):
            count, total = count + 1, total + entry.nbytes
            if count > max(1, self.most * 3 // 4) or (count > 1 and total > self.most_bytes * 3 // 4):
                self._entries.pop(key, None)
                total -= entry.nbytes
        self._added = total
