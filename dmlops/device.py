"""The class Device. It imports nothing of the package, since dmlops._core needs it."""

from __future__ import annotations

import dataclasses

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
