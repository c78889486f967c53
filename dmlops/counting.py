"""What dmlops has done in this process: counts for monitoring."""

from __future__ import annotations

from typing import Any, NamedTuple

from dmlops import _core

__all__ = ["CallCount", "Counters", "counters"]


class CallCount(NamedTuple):
    """Calls of one operator, or of the fused functions of one name, on one device; see ``dmlops.counters``."""

    name: str
    """That of the operator or fused function."""

    device: int | str
    """The device's number, or ``"host"``: what `device=` takes. Of ``"auto"``, what was chosen."""

    calls: int
    """Those that have returned. Those that raised are not counted."""

    bytes: int
    """Bytes of their results."""


class Counters(NamedTuple):
    """What dmlops has done since the process began, or was forked, as ``dmlops.counters`` returns it.

    All but the two peaks only grow.
    """

    calls: tuple[CallCount, ...]
    """Calls by name and device. One counts when it returns: its work may still be queued on the device."""

    programs_found: int
    """Calls of fused functions that found a program for their arguments."""

    programs_made: int
    """Programs that fused functions have compiled: the function was traced, or the program derived from another."""

    programs_dropped: int
    """Programs that were dropped because a function had more than its ``max_programs`` or ``max_bytes`` allow."""

    kernels_compiled: int
    """Kernels that drivers were asked for. They compile them, or have them in a cache of their own."""

    compile_seconds: float
    """How long that took, in seconds. lavapipe compiles a part of a kernel when it first runs: that is waited for."""

    queue_waits: int
    """How often a thread has waited for queued work of a device: for its result, or for room in the queue."""

    queue_wait_seconds: float
    """How long threads waited, in seconds: of all threads together."""

    imports: int
    """How often memory of NumPy arrays was imported, so that a device reads or writes it without a copy."""

    imported_bytes: int
    """Bytes of that memory."""

    staged_chunks: int
    """How often a piece of NumPy arrays went through staging buffers, since it was not imported."""

    staged_bytes: int
    """Bytes that the host has copied to these buffers and will have copied from them."""

    pool_hits: int
    """Results of 64 KiB and more, and device arrays, that got memory of a pool."""

    pool_misses: int
    """Those that needed fresh memory."""

    host_peak_bytes: int
    """The most bytes that such results on the host, with device arrays on ``"host"``, have had at once."""

    device_peak_bytes: int
    """The most bytes that arrays on Vulkan devices have had at once, on all together."""


def counters() -> Counters:
    """Return what dmlops has counted in this process: calls, programs, compilations, waits, transfers and memory.

    Returns
    -------
    Counters
        A named tuple. It does not change; a later call returns other numbers.

    See Also
    --------
    memory_info : what is in use now, of one device.

    Notes
    -----
    Counting is exact, whatever threads call. A forked child counts from zero. Nothing resets the counts: monitoring takes
    differences.

    ``upload``, ``download`` and ``copy`` are transfers to, from and between device arrays, such as ``asarray``, ``numpy()``
    and assignments. A function that calls others in turn counts these, too: ``one_hot`` counts as ``take``. Each pass of
    ``preprocessing`` and of recipes counts as ``preprocessing``. Fused functions of equal names count together; of more than
    1,000 names, the last ones count as ``others``.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> before = {(one.name, one.device): one for one in dmlops.counters().calls}
    >>> y = dmlops.transpose(np.zeros((4, 5), np.uint8), device="host")
    >>> after = {(one.name, one.device): one for one in dmlops.counters().calls}
    >>> old, new = before.get(("transpose", "host")), after["transpose", "host"]
    >>> new.calls - (old.calls if old else 0), new.bytes - (old.bytes if old else 0)
    (1, 20)
    >>> dmlops.counters().queue_wait_seconds >= 0
    True
    """
    calls, numbers = _core._counters()
    counts = tuple(CallCount(name, "host" if device is None else device, *rest) for name, device, *rest in calls)
    found: dict[str, Any] = dict(zip(Counters._fields[1:], numbers, strict=True))
    return Counters(counts, **{name: number / 1e9 if name.endswith("_seconds") else number for name, number in found.items()})
