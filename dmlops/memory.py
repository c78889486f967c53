"""What dmlops holds of memory, and how to make it let go."""

from dmlops import _core

__all__ = ["empty_cache", "memory_info"]


def memory_info(device=None):
    """Say how much memory dmlops uses, and how much it keeps for later.

    The memory of large results (64 KiB and more) is kept when they are freed, up to a bound, and used for the next ones:
    the system takes as long to provide fresh memory as an operator takes to fill it.

    Parameters
    ----------
    device : int, str or Device, optional
        A place in ``dmlops.devices()``, part of a device's name, or one of its entries. By default the host, in whose
        memory the results are that are NumPy arrays.

    Returns
    -------
    MemoryInfo
        A tuple with named fields: `used`, the bytes of live results (of 64 KiB and more, as long as anything is kept at all) and device
        arrays, each rounded up by at most an eighth, or to a page; `pooled`, the bytes kept for the next ones; `bound`, the most that is kept; `available`, the bytes that could be had
        beyond these, as far as the driver or the system knows.

    Raises
    ------
    ValueError
        An unknown `device`, or a ``DMLOPS_CACHE`` that is no size.

    See Also
    --------
    empty_cache : give back what is kept.

    Notes
    -----
    The bound is 256 MiB, or a tenth of the machine's, or the device's, memory if that is less. For the host's the environment variable ``DMLOPS_CACHE``
    sets another one: a number of bytes, which may end in ``K``, ``M`` or ``G`` (of 1024), or 0 to keep nothing. It is
    read once, when the first result is made.

    Memory of a Vulkan device that is kept may still be in use by work that was queued; it is given up only after that.

    Where a device does not read NumPy's memory where it lies, buffers of 16 MiB in all are kept besides, for each thread that calls at the same
    time as others, until ``empty_cache()``.

    Results on the host are ordinary arrays, whose data belong to a NumPy data handler named ``"dmlops"``. Of a result
    larger than the bound only the beginning is kept, on Linux, for the next such result that is no larger, and the addresses of the rest,
    which are memory only to limits on a process' virtual memory. Where a program has set a handler
    of its own, results are left to it and nothing is kept.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> before = dmlops.memory_info()
    >>> result = dmlops.slice(np.zeros(2**20, np.float32), offsets=[0], sizes=[2**20], device="host")
    >>> dmlops.memory_info().used - before.used
    4194304
    >>> before.pooled <= before.bound
    True
    """
    return _core.memory_info(device)


def empty_cache():
    """Give the memory that is kept for later results back, the host's and every device's.

    So are the buffers by way of which arrays went to devices and back. Live arrays are not affected. Waits for work that is queued.

    Raises
    ------
    VulkanError
        A device failed at that work. One that was lost keeps nothing, and is no error here.

    See Also
    --------
    memory_info : how much is kept.

    Examples
    --------
    >>> import dmlops
    >>> dmlops.empty_cache()
    >>> dmlops.memory_info().pooled
    0
    """
    _core.empty_cache()
