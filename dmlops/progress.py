"""How far a long call has come: the argument `progress` of the operators."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from dmlops.late_imports import imported

if TYPE_CHECKING:
    from dmlops._annotations import Progress

__all__ = ["Bar", "tracked"]

PORTION_BYTES = 128 << 20  # tens of milliseconds of work: long enough that portions cost nothing, short enough for a bar


def tracked(name: str, progress: Progress, row: int) -> tuple[Any, int, int] | int:
    """Make what tells the extension how a call runs.

    Parameters
    ----------
    name : str
        The operator's name.
    progress : bool, or function of two ints
        The argument `progress` of the call.
    row : int
        Where the call is counted.

    Returns
    -------
    int or tuple
        `row` if nothing is reported. Else the function of the bytes done and all bytes, the bytes of a portion, and `row`.
    """
    if progress is False:
        return row
    if progress is True:
        return Bar(name), PORTION_BYTES, row
    if not callable(progress):
        raise TypeError(f"progress must be a bool, or a function of the bytes done and of all bytes, not {progress!r}")
    return progress, PORTION_BYTES, row


class Bar:
    """A function for `progress` that draws a bar: tqdm's where it is installed, else a percentage on the standard error.

    Without a standard error, as under ``pythonw``, it draws nothing. What cannot be drawn never fails the call.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.bar: Any = None
        try:
            self.tqdm: Any = imported("tqdm.auto").tqdm
        except ImportError:
            self.tqdm = None

    def __call__(self, done: int, total: int) -> None:
        if sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):  # full or closed
                self._draw(done, total)

    def _draw(self, done: int, total: int) -> None:
        if self.tqdm is None:
            end = "\n" if done == total else ""
            print(f"\r{self.name}: {100 * done // total} %", end=end, file=sys.stderr, flush=True)
            return
        if self.bar is None:
            self.bar = self.tqdm(total=total, desc=self.name, unit="B", unit_scale=True, unit_divisor=1024)
        self.bar.update(done - self.bar.n)
        if done == total:
            self.bar.close()
