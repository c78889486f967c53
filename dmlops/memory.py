"""How much memory dmlops holds, and how to make it give some back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from dmlops import _core

if TYPE_CHECKING:
    from dmlops._annotations import DeviceLike

__all__ = ["MemoryInfo", "empty_cache", "memory_info"]


class MemoryInfo(NamedTuple):
    """What dmlops holds of a device's memory, as ``dmlops.memory_info`` returns it. All fields are numbers of bytes."""

    used: int
    """Bytes in live results and device arrays. Each allocation is rounded up, by at most an eighth or to a whole page.
    Results of less than 64 KiB are not counted."""

    pool_bytes: int
    """Bytes of freed memory that is pooled for later results."""

    pool_limit: int
    """The largest value that `pool_bytes` may have once the device has finished its queued work. On the host it is raised
    while a result beyond the limit is pooled, see ``memory_info``."""

    available: int
    """Bytes that can be allocated besides, as far as the driver or the system knows; 0 if unknown."""

    unused: int = 0
    """Bytes of slabs that no array uses. Small arrays on a Vulkan device share slabs, see ``memory_info``."""


def memory_info(device: DeviceLike | None = None) -> MemoryInfo:
    """Return how much memory dmlops uses on a device, and how much of it is pooled.

    When a result of 64 KiB or more is freed, its memory is pooled, up to a limit, and used for later results. To get fresh
    memory from the system takes about as long as an operator takes to fill it.

    Parameters
    ----------
    device : int, str or Device, optional
        The device to report on; ``dmlops.devices`` lists what is accepted. Default: the host, whose memory holds the results
        that are NumPy arrays.

    Returns
    -------
    MemoryInfo
        A named tuple of `used`, `pool_bytes`, `pool_limit`, `available` and `unused`.

    Raises
    ------
    ValueError
        `device` names no device, or the environment variable ``DMLOPS_CACHE`` is no size.
    NoDeviceError
        `device` names a Vulkan device, and there is none.

    See Also
    --------
    empty_cache : give the pooled memory back.

    Notes
    -----
    Pooled memory that nobody has used for ten seconds goes back to the system, from the host's pool and from those of devices.

    The limit of the host's pool is 256 MiB, or a tenth of the memory that the process may use if that is less: the least of the
    machine's, what its control groups (a container) allow, and ``RLIMIT_AS``. A change of these is seen within some seconds.
    `available` knows of all three. The environment variable
    ``DMLOPS_CACHE`` sets another limit: a number of bytes, optionally with the suffix ``K``, ``M`` or ``G`` (powers of 1024),
    or 0 for no pool. The variable is read once, when the first result is made.

    The limit of a GPU with memory of its own is a quarter of that memory. A device that shares the host's memory, such as a CPU
    driver or integrated graphics, has a limit of 256 MiB or a tenth of the memory that the process may use. Queued work may
    still use the pooled memory of a Vulkan device. Such memory is freed after that work only.

    Arrays on a Vulkan device that are no larger than 1 MiB, or 1/4096 of its memory, share slabs with others of about their
    size. What is free in a slab serves the next such array. It counts as `unused` until the last array of the slab is freed;
    then the slab is pooled. All that dmlops has allocated on a device for arrays is ``used + pool_bytes + unused``.

    If a device cannot read NumPy's memory directly, each thread that calls at the same time as others also keeps staging
    buffers of 16 MiB in all, until ``empty_cache()``.

    Results on the host are ordinary arrays whose data belong to a NumPy data handler named ``"dmlops"``. If the program has
    set a handler of its own, that one allocates the results and nothing is pooled. Of a result larger than the limit, on
    Linux only the first pages are pooled, for the next such result that is no larger. The addresses of the other pages stay
    reserved, which counts only towards limits on a process's virtual memory.

    Once three such results in a row used the same memory (four, where smaller results fill the pool), all of it is pooled, if
    it is at most a quarter of the memory that the process may use and ``DMLOPS_CACHE`` is not set. `pool_limit` is
    raised by as much meanwhile. If no such result asks for it within ten seconds, it is freed. Until then the system takes it
    without writing it to disk as soon as the machine or the process's control group (a container) runs short of memory.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> before = dmlops.memory_info()
    >>> result = dmlops.slice(np.zeros(2**20, np.float32), offsets=[0], sizes=[2**20], device="host")
    >>> dmlops.memory_info().used - before.used
    4194304
    >>> before.pool_bytes <= before.pool_limit
    True
    """
    return MemoryInfo(*_core._memory_info(device))


def empty_cache() -> None:
    """Free the pooled memory of the host and of every device.

    Also frees the staging buffers through which arrays are transferred to devices. Waits for queued work. Live arrays are not
    affected.

    Raises
    ------
    VulkanError
        Queued work failed on a device. A device that was lost has no pool, and raises no error here.

    See Also
    --------
    memory_info : how much is pooled.

    Examples
    --------
    >>> import dmlops
    >>> dmlops.empty_cache()
    >>> dmlops.memory_info().pool_bytes
    0
    """
    _core._empty_cache()


def _limits(text: str, machine: int) -> tuple[int, int]:
    """Find the host's pool limit and the largest result that may be pooled whole beyond it.

    dmlops._core calls this when it begins, and when the memory changes that the process may use.

    Parameters
    ----------
    text : str
        ``DMLOPS_CACHE``; empty where it is not set.
    machine : int
        Bytes of memory that the process may use; 0 if unknown.
    """
    if not text:
        return min(256 << 20, machine // 10 or 256 << 20), machine // 4
    size = re.fullmatch(r"([0-9]{1,30}) *(?:([kmg])i?b?)?", text, re.IGNORECASE | re.ASCII)
    limit = int(size[1]) << 10 * " kmg".index((size[2] or " ").lower()) if size else -1
    if not 0 <= limit < 2**63:
        raise ValueError(f"DMLOPS_CACHE must be a number of bytes, like 1000000, 256M or 1GiB, or 0 for no cache, not {text!r}")
    return limit, 0
