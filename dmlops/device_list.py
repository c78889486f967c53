"""Which devices there are, and which one runs the calls that name none."""

from __future__ import annotations

import dataclasses
import os

from dmlops import _core
from dmlops.device import Device

__all__ = ["DeviceList", "default_device", "devices"]


class DeviceList(list[Device]):
    """A list of devices. Notebooks show it as a table."""

    def _repr_html_(self) -> str:
        from dmlops import tables

        rows = []
        for device in self:
            memory = f"{device.memory / 2**30:.1f} GiB" if device.memory else ""
            number = "" if device.index is None else str(device.index)
            rows.append([number, device.name, device.type, device.driver, memory, device.reason or "yes"])
        return tables.as_html(["device", "name", "type", "driver", "memory", "usable"], rows)


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

    Notes
    -----
    A `device` argument, and the environment variable ``DMLOPS_DEVICE``, accept any of these:

    - the number of a device: its index in this list. The host has no number;
    - a device's name, or a part of it that fits no other model. Among several devices of one model the first is used;
    - a type, which means the first usable device of it: ``"discrete"``, ``"integrated"``, ``"virtual"``, ``"cpu"`` or
      ``"other"``, and ``"gpu"`` for the first of the first three;
    - ``"host"``.

    Upper and lower case do not matter. The argument also accepts an entry of this list, and the variable a number in digits.

    Examples
    --------
    >>> import dmlops
    >>> dmlops.devices()[-1]
    Device(index=None, name='host', type='host')
    """
    return DeviceList(_core._devices())


def default_device() -> Device:
    """Return the device that runs a call which names none, and whose input is not on a device.

    Returns
    -------
    Device
        The device that the environment variable ``DMLOPS_DEVICE`` names, else the first usable Vulkan device. Its field
        `chosen_by` says which of the two it was.

    Raises
    ------
    NoDeviceError
        There is no usable Vulkan device. The host is used only where it is named.
    ValueError
        ``DMLOPS_DEVICE`` names no device, several, or one that cannot be used.

    See Also
    --------
    devices : all devices, and the names that they have.

    Examples
    --------
    >>> import dmlops
    >>> device = dmlops.default_device()
    >>> device.usable, device in dmlops.devices()
    (True, True)
    """
    variable = os.environ.get("DMLOPS_DEVICE")
    chosen_by = f"DMLOPS_DEVICE={variable}" if variable else "best usable Vulkan device"
    return dataclasses.replace(_core._default_device(), chosen_by=chosen_by)
