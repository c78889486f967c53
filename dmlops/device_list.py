"""Which devices there are, and which one runs the calls that name none."""

from __future__ import annotations

import dataclasses
import os

from dmlops import _core
from dmlops.device import Device

__all__ = ["DeviceList", "default_device", "devices", "set_default_device"]


class DeviceList(list[Device]):
    """A list of devices. Notebooks show it as a table."""

    def _repr_html_(self) -> str:
        from dmlops import printed_tables

        rows = []
        for device in self:
            memory = f"{device.memory / 2**30:.1f} GiB" if device.memory else ""
            number = "" if device.index is None else str(device.index)
            rows.append([number, device.name, device.type, device.driver, memory, device.reason or "yes"])
        return printed_tables.as_html(["device", "name", "type", "driver", "memory", "usable"], rows)


def devices() -> DeviceList:
    """List the devices that operators can run on.

    Usable Vulkan devices come first: discrete GPUs, integrated GPUs, virtual GPUs, CPUs (Mesa's lavapipe), others; within a
    type, the one with more memory first. Vulkan devices that cannot be used follow, with the reason. The last entry is the
    host, which runs operators in plain C and needs no Vulkan.

    Returns
    -------
    list of Device
        One entry for each device. Notebooks show it as a table.

    See Also
    --------
    default_device : the device that is used where none is named.
    set_default_device : choose it.

    Notes
    -----
    A `device` argument, and the environment variable ``DMLOPS_DEVICE``, accept any of these:

    - the number of a device: its index in this list. The host has no number;
    - a device's name, or a part of it that fits no other model. Among several devices of one model the first is used;
    - a type, which means the first usable device of it: ``"discrete"``, ``"integrated"``, ``"virtual"``, ``"cpu"`` or
      ``"other"``, and ``"gpu"`` for the first of the first three;
    - ``"host"``;
    - ``"auto"``: for NumPy arrays the host where a call is estimated to take less time there than on the best usable Vulkan
      device, upload and download included, else that device; for arrays on a device, that device. ``asarray`` and ``empty`` put
      arrays on the best usable Vulkan device. Without one, all is done on the host.

    Upper and lower case do not matter. The argument also accepts an entry of this list, and the variable a number in digits.

    Examples
    --------
    >>> import dmlops
    >>> dmlops.devices()[-1]
    Device(index=None, name='host', type='host')
    """
    return DeviceList(_core._devices()[0])


def default_device() -> Device:
    """Return the device that runs a call of an operator which names none, and whose input is not on a device.

    Fused functions and preprocessing take ``"auto"`` where neither `set_default_device` nor ``DMLOPS_DEVICE`` names a device.

    Returns
    -------
    Device
        The device that `set_default_device` was given, else that which the environment variable ``DMLOPS_DEVICE`` names, else
        the first usable Vulkan device. Its field `chosen_by` says which of these it was. Where it was ``"auto"``: the device
        that arrays are put on, while calls with NumPy arrays run there or on the host.

    Raises
    ------
    NoDeviceError
        There is no usable Vulkan device. The host is used only where it is named, or where ``"auto"`` is.
    ValueError
        ``DMLOPS_DEVICE`` names no device, several, or one that cannot be used.

    See Also
    --------
    devices : all devices, and the names that they have.
    set_default_device : choose another.

    Examples
    --------
    >>> import dmlops
    >>> device = dmlops.default_device()
    >>> device.usable, device in dmlops.devices()
    (True, True)
    """
    device, automatic = _core._default_device()
    variable = os.environ.get("DMLOPS_DEVICE")
    chosen_by = _set_by or (f"DMLOPS_DEVICE={variable}" if variable else "best usable Vulkan device")
    if automatic:
        chosen_by += ": NumPy arrays are moved there or on the host, by cost"
    return dataclasses.replace(device, chosen_by=chosen_by)


_set_by = ""  # the call that chose the default, as a text


def set_default_device(device: str | int | Device | None) -> None:
    """Choose the device of all calls of this process that name none, and whose input is not on a device.

    Those of fused functions and of preprocessing are among them.

    Parameters
    ----------
    device : str, int, Device or None
        As any argument `device`: ``"auto"``, ``"host"``, a number, a name, a type or an entry of ``dmlops.devices()``. None
        ends an earlier choice: ``DMLOPS_DEVICE`` counts again, or the best usable Vulkan device.

    Raises
    ------
    NoDeviceError
        There is no Vulkan device, and neither ``"host"`` nor ``"auto"`` is meant.
    TypeError
        `device` is of another type.
    ValueError
        `device` names no device, several, or one that cannot be used. The earlier choice stays.

    See Also
    --------
    default_device : the device that is chosen.
    devices : all devices, and what ``"auto"`` means.

    Examples
    --------
    >>> import dmlops
    >>> dmlops.set_default_device("auto")
    >>> dmlops.default_device().chosen_by
    "set_default_device('auto'): NumPy arrays are moved there or on the host, by cost"
    >>> dmlops.set_default_device(None)
    """
    global _set_by
    _core._set_default_device(device)
    _set_by = "" if device is None else f"set_default_device({device!r})"
