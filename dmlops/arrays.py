"""Arrays that stay on a device: making them, and waiting for them."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING

from dmlops import _core, dlpack
from dmlops._core import DeviceArray

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from dmlops._annotations import DeviceLike, Input, Ints, SupportsDLPack

__all__ = ["asarray", "empty", "from_dlpack", "synchronize"]

_LEGACY_STREAM = 1  # of CUDA, as DLPack names it: what the copy is ordered by

# Devices must be idle before the interpreter ends its threads, and when modules are freed the driver may be unloaded already.
atexit.register(_core._shutdown)


def asarray(
    obj: Input | DeviceArray,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    copy: bool | None = None,
) -> DeviceArray:
    """Put an array on a device.

    Parameters
    ----------
    obj : array_like or DeviceArray
        Data on the host is copied before the call returns. A device array that is on `device` already is returned itself; one
        that is on another device is transferred.
    dtype : dtype, optional
        The result's dtype. Data on the host is converted as ``numpy.asarray`` converts it; a device array must have this
        dtype.
    device : int, str or Device, optional
        The device for the result; ``dmlops.devices`` lists what is accepted. Default: the device of `obj` if it is a device
        array, else ``dmlops.default_device()``.
    copy : bool, optional
        True: always make a new array. False: never copy, and raise ValueError where a copy is needed. Default: copy where it
        is needed.

    Returns
    -------
    DeviceArray
        `obj` itself, or a new C-contiguous array.

    Raises
    ------
    TypeError
        The dtype's elements are not plain bytes, or `dtype` differs from that of a device array.
    ValueError
        ``copy=False`` where a copy is needed; `device` names no device.
    NoDeviceError
        There is no usable Vulkan device, and `device` is not ``"host"``.
    OutOfDeviceMemoryError
        The device has too little free memory.

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
    return _core._asarray(obj, dtype, device, copy if copy is None else bool(copy))


def empty(shape: Ints, dtype: DTypeLike | None = float, *, device: DeviceLike | None = None) -> DeviceArray:
    """Make an array on a device without initialising its elements.

    Parameters
    ----------
    shape : int or sequence of int
        The number of elements along each axis.
    dtype : dtype, optional
        The type of the elements. Default: float64.
    device : int, str or Device, optional
        The device for the result; ``dmlops.devices`` lists what is accepted. Default: ``dmlops.default_device()``.

    Returns
    -------
    DeviceArray
        A new C-contiguous array.

    Raises
    ------
    TypeError
        The dtype's elements are not plain bytes.
    ValueError
        A size is negative; `device` names no device.
    OverflowError
        A size does not fit into 64 bits.
    NoDeviceError
        There is no usable Vulkan device, and `device` is not ``"host"``.
    OutOfDeviceMemoryError
        The device has too little free memory.

    Examples
    --------
    >>> import dmlops
    >>> out = dmlops.empty((2, 3), "f4")
    >>> out.nbytes
    24
    """
    return _core._empty(shape, dtype, device)


def from_dlpack(
    x: SupportsDLPack | DeviceArray, /, *, device: DeviceLike | None = None, copy: bool | None = None
) -> DeviceArray:
    """Put an array of another library on a device, by the DLPack protocol.

    Parameters
    ----------
    x : object with ``__dlpack__`` and ``__dlpack_device__``
        Its data is copied. It must be in the host's memory, or in CUDA's on the GPU that is `device`, where the copy stays on
        the GPU. A device array of dmlops is accepted too.
    device : int, str or Device, optional
        The device for the result; ``dmlops.devices`` lists what is accepted. Default: the device of `x` if it is a device
        array of dmlops, else ``dmlops.default_device()``.
    copy : bool, optional
        False is possible only for a device array of dmlops that is on `device` already.

    Returns
    -------
    DeviceArray
        A new C-contiguous array, or `x`.

    Raises
    ------
    TypeError
        `x` does not have the methods of the protocol.
    BufferError
        The data is neither in the host's memory nor on the device, or CUDA fails; NumPy has no dtype for its elements
        (bfloat16 and the kinds of float8 need the package ``ml_dtypes``); a size is negative; shape or data is missing, or
        leaves the address space; ``copy=False`` for data of another library.
    ValueError
        `device` names no device; ``copy=False`` for a device array that is on another one.
    NoDeviceError
        There is no usable Vulkan device, and `device` is not ``"host"``.

    Examples
    --------
    >>> import numpy as np, dmlops
    >>> dmlops.from_dlpack(np.arange(3)).numpy()
    array([0, 1, 2])
    """
    if isinstance(x, DeviceArray):
        return asarray(x, device=device, copy=copy)
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(f"x must have __dlpack__ and __dlpack_device__, which {type(x).__name__} lacks")
    kind, index = map(int, x.__dlpack_device__())
    if kind not in (dlpack.CPU, dlpack.CUDA):
        raise BufferError(f"only data in the host's memory can be read, not that of DLPack's device {kind, index}")
    asked: dict[str, int] = {}
    if kind == dlpack.CUDA:
        found = _core._dlpack_cuda(device)
        if found != index:
            why = found if isinstance(found, str) else f"the device is {dlpack.CUDA, found}"
            raise BufferError(f"the data of DLPack's device {kind, index} cannot be read: {why}")
        asked["stream"] = _LEGACY_STREAM
    if copy is not None and not copy:
        raise BufferError("copy must not be False: data of another library is always copied")
    try:
        capsule = x.__dlpack__(max_version=(1, 1), **asked)  # type: ignore[call-arg]
    except TypeError:  # the producer implements a version before DLPack 1
        capsule = x.__dlpack__(**asked)
    return _core._from_dlpack(capsule, device)


def synchronize(device: DeviceLike | None = None) -> None:
    """Wait until all queued work is done.

    Parameters
    ----------
    device : int, str or Device, optional
        The device to wait for; ``dmlops.devices`` lists what is accepted. Default: all devices.

    Raises
    ------
    ValueError
        `device` names no device.
    NoDeviceError
        `device` names a Vulkan device, and there is none.
    DeviceLostError
        The device was lost, and no earlier call has reported it. Its arrays raise the error whenever they are used.

    Examples
    --------
    >>> import dmlops
    >>> dmlops.synchronize()
    """
    _core._synchronize(device)
