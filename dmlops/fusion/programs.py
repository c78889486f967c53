"""The programs of a function: as many as it may keep, those that were used last."""

from __future__ import annotations

import heapq
import itertools
from typing import Any

__all__ = ["Programs"]

_OFTEN = 256  # entries, after which their bytes are counted anew


class _Entry:
    __slots__ = ("kept", "nbytes", "program", "used")

    def __init__(self, program: Any, kept: Any, nbytes: int, used: int) -> None:
        self.program, self.kept, self.nbytes, self.used = program, kept, nbytes, used


class Programs:
    """A cache without a lock, of programs and of what they have in common.

    Keys are made of Python's own types, so each operation of the dict, and of the heap, is one step under the GIL. Two threads
    may compile the same program; either will do. What is evicted may run finalizers, which may call the function again. The
    heap has an item for each entry, by its last use when the item was made: what was used since is put back when it comes up.
    So to keep one more takes as long whatever is kept.
    """

    def __init__(self) -> None:
        self._entries: dict[Any, _Entry] = {}
        self._heap: list[tuple[int, int, Any]] = []
        self._numbers = itertools.count()
        self._clock = self._nbytes = 0
        self.evicted = 0  # how many have been

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def nbytes(self) -> int:
        found = (self._entries.get(key) for key in list(self._entries))  # while other threads may change them
        return sum(entry.nbytes for entry in found if entry is not None)

    def get(self, key: Any) -> Any:
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._clock = entry.used = self._clock + 1
        return entry.program

    def put(self, key: Any, program: Any, kept: Any, nbytes: int, most: int, most_bytes: int) -> int:
        """Keep a program, and what its key needs alive; evict those that were not used for longest. How many were."""
        self._clock += 1
        new, number = _Entry(program, kept, nbytes, self._clock), next(self._numbers)
        old = self._entries.get(key)
        self._entries[key] = new
        # Threads may lose bytes of one another's here.
        self._nbytes = self._nbytes + nbytes - (0 if old is None else old.nbytes) if number % _OFTEN else self.nbytes
        heapq.heappush(self._heap, (new.used, number, key))
        evicted = 0
        while len(self._entries) > most or self._nbytes > most_bytes:
            count = self._evict_one(new)
            if count is None:
                break
            evicted += count
        self.evicted += evicted
        return evicted

    def _evict_one(self, new: _Entry) -> bool | None:
        """Whether it was one, and no item of the heap alone; None where there is none beside the new one."""
        try:
            used, number, key = heapq.heappop(self._heap)
        except IndexError:
            return None
        entry = self._entries.get(key)
        if entry is not None and (entry is new or entry.used != used):
            heapq.heappush(self._heap, (entry.used, number, key))
            return False if entry is not new or used != entry.used else None
        if entry is None or self._entries.pop(key, None) is None:
            return False
        self._nbytes -= entry.nbytes
        return True
