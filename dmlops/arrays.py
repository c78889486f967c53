"""Arrays that stay on a device: making them, and waiting for them."""

from dmlops import _core

__all__ = ["asarray", "empty", "from_dlpack", "synchronize"]

_DLPACK_CPU = 1


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """Put an array on a device.

    Parameters
    ----------
    obj : array_like or DeviceArray
        Data on the host is always copied, and read before this returns. An array that is on the device already is returned as it
        is; one on another device is transferred.
    dtype : dtype, optional
        Of the result. Data on the host is converted as ``numpy.asarray`` does it; a device array must have this dtype.
    device : int, str or Device, optional
        A place in ``dmlops.devices()``, part of a device's name, or one of its entries. By default the one that `obj` is on,
        else the environment variable ``DMLOPS_DEVICE``, else the best device.
    copy : bool, optional
        True: make a new array in any case. False: never.

    Returns
    -------
    DeviceArray
        C-contiguous where it is new.

    Raises
    ------
    TypeError
        A dtype whose elements are not plain bytes, or another one than a device array has.
    ValueError
        ``copy=False`` where only a copy will do; an unknown `device`.
    NoDeviceError
        There is no Vulkan device, and none was named.
    OutOfDeviceMemoryError
        The device has no room for it.

    See Also
    --------
    DeviceArray.numpy : the way back.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> a = dmlops.asarray(np.arange(6).reshape(2, 3))
    >>> a.shape, a[:, ::-1].numpy().tolist()
    ((2, 3), [[2, 1, 0], [5, 4, 3]])
    >>> a[0] = 7
    >>> a.numpy().tolist()
    [[7, 7, 7], [3, 4, 5]]
    """
    return _core.asarray(obj, dtype, device, copy)


def empty(shape, dtype=float, *, device=None):
    """Make an array on a device whose elements are undefined.

    Parameters
    ----------
    shape : int or sequence of int
        Elements along each axis.
    dtype : dtype, optional
        What an element is; float64 by default.
    device : int, str or Device, optional
        A place in ``dmlops.devices()``, part of a device's name, or one of its entries. By default the environment variable
        ``DMLOPS_DEVICE``, else the best device.

    Returns
    -------
    DeviceArray
        A new C-contiguous array.

    Raises
    ------
    TypeError
        A dtype whose elements are not plain bytes.
    ValueError
        A negative size, or an unknown `device`.
    OverflowError
        A size that does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and ``device="host"`` was not asked for.
    OutOfDeviceMemoryError
        The device has no room for it.

    Examples
    --------
    >>> import dmlops
    >>> out = dmlops.empty((2, 3), "f4")
    >>> out.nbytes
    24
    """
    return _core.empty(shape, dtype, device)


def from_dlpack(x, /, *, device=None, copy=None):
    """Put an array of another library on a device, by the DLPack protocol.

    Parameters
    ----------
    x : object
        With ``__dlpack__`` and ``__dlpack_device__``, and data in the host's memory, which is copied; or a device array of
        dmlops.
    device : int, str or Device, optional
        A place in ``dmlops.devices()``, part of a device's name, or one of its entries. By default the environment variable
        ``DMLOPS_DEVICE``, else the best device; for a device array, the one it is on.
    copy : bool, optional
        False is possible only for a device array that is on `device`.

    Returns
    -------
    DeviceArray
        A new C-contiguous array, or `x`.

    Raises
    ------
    TypeError
        `x` does not know the protocol.
    BufferError
        Data on another device than the CPU, elements that NumPy has no dtype for (bfloat16 and the kinds of float8 need the
        package ``ml_dtypes``), negative sizes, ``copy=False`` for data on the host.
    ValueError
        An unknown `device`; ``copy=False`` for a device array on another one.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> dmlops.from_dlpack(np.arange(3)).numpy()
    array([0, 1, 2])
    """
    if isinstance(x, _core.DeviceArray):
        return _core.asarray(x, None, device, copy)
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(f"x must have __dlpack__ and __dlpack_device__, which {type(x).__name__} lacks")
    place = x.__dlpack_device__()
    if place[0] != _DLPACK_CPU:
        raise BufferError(f"only data in the host's memory can be read, not that of DLPack's device {tuple(map(int, place))}")
    if copy is not None and not copy:
        raise BufferError("copy must not be False: data on the host is always copied")
    try:
        capsule = x.__dlpack__(max_version=(1, 1))
    except TypeError:  # a producer from before DLPack 1
        capsule = x.__dlpack__()
    return _core.from_dlpack(capsule, device)


def synchronize(device=None):
    """Wait until all that was queued is done.

    Parameters
    ----------
    device : int, str or Device, optional
        A place in ``dmlops.devices()``, part of a device's name, or one of its entries. By default, all of them.

    Raises
    ------
    ValueError
        An unknown `device`.
    DeviceLostError
        The device was lost, and no other call has said so; its arrays say so whenever they are used.

    Examples
    --------
    >>> import dmlops
    >>> dmlops.synchronize()
    """
    _core.synchronize(device)
