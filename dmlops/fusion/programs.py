"""The programs of a function: as many as it may keep, those that were used last."""

from __future__ import annotations

from typing import Any

__all__ = ["Programs"]


class _Entry:
    __slots__ = ("kept", "nbytes", "program", "used")

    def __init__(self, program: Any, kept: Any, nbytes: int, used: int) -> None:
        self.program, self.kept, self.nbytes, self.used = program, kept, nbytes, used


class Programs:
    """A cache without a lock.

    Keys are made of Python's own types, so each operation of the dict is one step under the GIL. Two threads may compile the
    same program; either will do. What is evicted may run finalizers, which may call the function again.
    """

    def __init__(self) -> None:
        self._entries: dict[Any, _Entry] = {}
        self._clock = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def nbytes(self) -> int:
        return sum(one.nbytes for _, one in self._now())

    def get(self, key: Any) -> Any:
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._clock = entry.used = self._clock + 1
        return entry.program

    def put(self, key: Any, program: Any, kept: Any, nbytes: int, most: int, most_bytes: int) -> None:
        """Keep a program, and what its key needs alive; evict those that were not used for longest."""
        self._clock += 1
        new = self._entries[key] = _Entry(program, kept, nbytes, self._clock)
        now = self._now()
        count, total = len(now), sum(one.nbytes for _, one in now)
        for old, entry in sorted(now, key=lambda one: one[1].used):
            if (count <= most and total <= most_bytes) or entry is new:
                break
            count, total = count - 1, total - entry.nbytes
            self._entries.pop(old, None)

    def _now(self) -> list[tuple[Any, _Entry]]:
        """All entries, while other threads may change them."""
        found = ((key, self._entries.get(key)) for key in list(self._entries))
        return [(key, entry) for key, entry in found if entry is not None]
