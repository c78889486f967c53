"""The class Device, and which device a name means. dmlops._core imports this module, so it does not import that."""

from __future__ import annotations

import dataclasses

from dmlops.errors import NoDeviceError

__all__ = ["Device"]


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Device:
    """A device that operators can run on. ``dmlops.devices()`` lists them, and every `device` argument takes one.

    Attributes
    ----------
    index : int or None
        The device's number, which is also its position in ``dmlops.devices()``. The host has none.
    name : str
        What the driver calls the device, or ``"host"``.
    type : str
        ``"discrete"``, ``"integrated"``, ``"virtual"``, ``"cpu"``, ``"other"`` or ``"host"``.
    driver : str
        Name and version of the driver.
    api_version : str
        The Vulkan version that the device supports, such as ``"1.3.255"``; empty for the host.
    memory : int
        Size in bytes of the largest heap of the device's own memory; for the host, of the machine's memory. 0 if unknown.
    usable : bool
        Whether operators can run on the device.
    reason : str
        What an unusable device lacks; empty for a usable one.
    chosen_by : str
        In the result of ``dmlops.default_device()``, what made this device the default; empty elsewhere. Comparisons ignore it.
    """

    index: int | None
    name: str
    type: str
    driver: str
    api_version: str
    memory: int
    usable: bool
    reason: str
    chosen_by: str = dataclasses.field(default="", compare=False)

    def __repr__(self) -> str:
        shown = ["index", "name", "type"]
        shown += ["reason"] if self.reason else []
        shown += ["chosen_by"] if self.chosen_by else []
        return f"Device({', '.join(f'{field}={getattr(self, field)!r}' for field in shown)})"


GPUS = ("discrete", "integrated", "virtual")
TYPES = (*GPUS, "cpu", "other", "gpu")


def choose(source: str, value: object, wanted: int | str | Device, devices: list[Device], missing: str) -> int | None:
    """Find the one device that is meant. dmlops._core calls this.

    Parameters
    ----------
    source : str
        Where the caller wrote it: ``"device"`` or ``"DMLOPS_DEVICE"``.
    value : object
        What was written there, for messages.
    wanted : int or str or Device
        The same, with any integer as an int.
    devices : list of Device
        All devices, the best first and the host last.
    missing : str
        Why there is no Vulkan device, if there is none.

    Returns
    -------
    int or None
        The index of the device; None for the host.
    """
    *vulkan, host = devices
    if wanted == host:
        return None
    said = f"{source}={value!r}"
    way_out = 'device="host"' if source == "device" else "DMLOPS_DEVICE=host"
    if not vulkan:
        raise NoDeviceError(f"{said}: {missing}; python -m dmlops says more ({way_out} runs without Vulkan)")
    if isinstance(wanted, str):
        fitting = _named(wanted.lower(), vulkan)
    else:
        fitting = [one for one in vulkan if wanted in (one, one.index)]
    if not fitting:
        no_gpu = isinstance(wanted, str) and wanted.lower() in ("gpu", *GPUS)
        words = "'auto', 'host'; python -m dmlops says why no GPU is there" if no_gpu else "'auto', 'gpu', 'host'"
        raise ValueError(f"{said} matches no device; choose one of: {_listed(vulkan)}, {words}")
    if len(fitting) > 1:
        raise ValueError(f"{said} matches several devices: {_listed(fitting)}, choose one by its number or whole name")
    if not fitting[0].usable:
        raise ValueError(f"{said}: {fitting[0].name} is not usable: {fitting[0].reason} ({way_out} runs without it)")
    return fitting[0].index


def _named(name: str, devices: list[Device]) -> list[Device]:
    """The device that `name`, in lower case, means; several where it is a part of the names of different models."""
    if name.isascii() and name.isdigit():
        return [one for one in devices if str(one.index) == (name.lstrip("0") or "0")]
    if name in TYPES:
        return [one for one in devices if name == one.type or (name == "gpu" and one.type in GPUS)][:1]
    whole = [one for one in devices if one.name.lower() == name]
    part = [one for one in devices if any(map(str.isalnum, name)) and name in one.name.lower()]
    usable = [one for one in part if one.usable]
    several = len({one.name.lower() for one in usable}) > 1
    return whole[:1] or (usable if several else part[:1])


def _listed(devices: list[Device]) -> str:
    return ", ".join(f"{one.index} = '{one.name}' ({one.type if one.usable else 'not usable'})" for one in devices)
