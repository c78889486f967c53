"""What ``python -m dmlops`` says of drivers: where each device comes from, why a driver is passed over, what to install.

The Vulkan loader does not tell which driver a device belongs to. So each driver that it would find is opened without it, in
another process, since a driver that is broken may end the process that loads it.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterator

from dmlops import _core, driver_search
from dmlops.device import GPUS, Device

__all__ = ["crash", "report"]

SECONDS = 30  # for all drivers together, and for each one alone

# Prints one line for each driver, at once: the process may not live to open the next one.
PROBE = """
import json, sys
from dmlops import _core
for library in sys.argv[1:]:
    path, reason, devices = _core._probe_driver(library)
    about = [[device.name, device.driver, device.api_version] for device in devices]
    print("driver", json.dumps([path, reason, about]), flush=True)
"""
# An error that Python raises is no crash: it is raised here, too.
LISTING = """
try:
    import dmlops
    dmlops.devices()
finally:
    print("came back", flush=True)
"""
NO_LAYERS = {"VK_LOADER_LAYERS_DISABLE": "~implicit~"}
FATAL = 0x8000_0000  # Windows' statuses of processes that crash begin here; that of an access violation is 0xC0000005


@dataclasses.dataclass(frozen=True)
class Driver:
    """A driver that the loader would find, and what opening it gave."""

    manifest: str
    library: str
    reason: str = ""
    devices: tuple[tuple[str, str, str], ...] = ()

    def has(self, device: Device) -> bool:
        return (device.name, device.driver, device.api_version) in self.devices


def crash() -> list[str]:
    """List the devices in another process first, where a driver that ends the process, or never comes back, does no harm.

    Returns
    -------
    list of str
        Lines that say which driver did; none if none did.
    """
    ending = _ending_of_listing({})
    if not ending:
        return []
    lines = [f"To list the devices {ending}. The drivers, each opened alone:"]
    for driver in _probed(driver_search.manifests()):
        found = ", ".join(name for name, _, _ in driver.devices)
        lines.append(f"  {driver.library} ({driver.manifest}): {driver.reason or f'it has {found}'}")
    if not _ending_of_listing(NO_LAYERS):
        return [
            *lines,
            "With VK_LOADER_LAYERS_DISABLE=~implicit~ it works: a layer is at fault, as overlays and recorders add one.",
        ]
    return [*lines, "VK_DRIVER_FILES, set to the manifest of one that works, leaves the others out."]


def _ending_of_listing(changes: dict[str, str]) -> str:
    """How a process ends badly that lists the devices with changes of the environment; empty if it does not."""
    command = [sys.executable, "-c", LISTING]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False, env=os.environ | changes)
    except subprocess.TimeoutExpired:
        return f"takes longer than {SECONDS} seconds"
    except OSError:
        return ""
    came_back = b"came back" in done.stdout and 0 <= done.returncode < FATAL
    return "" if came_back else f"ends the process with {_status(done.returncode)}"


def _status(code: int) -> str:
    return f"status 0x{code:X}" if code >= FATAL else f"status {code}"


def report(devices: list[Device]) -> Iterator[str]:
    """Yield the lines that follow the table of devices.

    Parameters
    ----------
    devices : list of Device
        The Vulkan devices, without the host.

    Yields
    ------
    str
        A line of text.
    """
    ways, of_devices = _core._ways()
    by_loader = any(not direct for direct, _, _ in ways)
    drivers = _probed(driver_search.manifests()) if by_loader else []
    if devices:
        yield "Where the devices come from:"
    used = set()
    for device, way in zip(devices, of_devices, strict=True):
        direct, library, _ = ways[way]
        if direct:
            yield f"  {device.index}  {os.path.normpath(library)}, without the loader: the driver of {_package()}"
            continue
        fitting = [driver for driver in drivers if driver.has(device)]
        used |= {driver.manifest for driver in fitting}
        files = " or ".join(f"{driver.library} ({driver.manifest})" for driver in fitting)
        yield f"  {device.index}  {files or 'a driver that no manifest names'}, by the loader {library}"
    passed_over = list(_passed_over(devices, [driver for driver in drivers if driver.manifest not in used]))
    if passed_over:
        yield "Passed over:"
        yield from (f"  {line}" for line in passed_over)
    yield from _cuda(devices)
    yield from _advice(devices)


def _package() -> str:
    return f"{driver_search.COMPANION.replace('_', '-')}, in {driver_search.companion()}"


def _passed_over(devices: list[Device], drivers: list[Driver]) -> Iterator[str]:
    """What gave no device, and why."""
    ways, _ = _core._ways()
    for direct, library, reason in ways:
        if reason and direct:
            yield f"{os.path.normpath(library)}, the driver of {_package()}: {reason}"
        elif reason:
            yield f"the loader{f' {library}' if library else ''}: {reason}"
    told = driver_search.told_by()
    of_drivers = [name for name in told if name != "VK_INSTANCE_LAYERS"]
    if of_drivers and driver_search.elevated():
        yield f"what {of_drivers[0]} names: the loader ignores it where a process runs as administrator"
    for name in of_drivers:
        for path in filter(None, os.environ[name].split(os.pathsep)):
            if not os.path.exists(path):
                yield f"{path}, which {name} names: there is no such file"
    if all(direct for direct, _, _ in ways):
        yield "the Vulkan loader and its drivers: there is no GPU, and the CPU has a driver already"
    elif all(not direct for direct, _, _ in ways) and driver_search.companion():
        why = f"{told[0]} is set, so the loader alone is asked" if told else "its folder has no manifest of a driver"
        yield f"{_package()}: {why}"
    for driver in drivers:
        yield f"{driver.library} ({driver.manifest}): {driver.reason or _why_not(driver, devices)}"


def _why_not(driver: Driver, devices: list[Device]) -> str:
    """Why none of the devices that a driver has is listed as its own."""
    names = ", ".join(name for name, _, _ in driver.devices)
    if any(device.name in names for device in devices):  # Dozen's name of a GPU contains that of the GPU's own driver
        return f"it has {names}, which another driver has, too"
    if any(name.startswith("llvmpipe") for name, _, _ in driver.devices):
        return f"it has {names}: the CPU, which another driver has, too"
    return f"it has {names}, but the loader leaves it out"


def _cuda(devices: list[Device]) -> Iterator[str]:
    """Whether CUDA's libraries share arrays of a device that CUDA may have, too, and if not, why."""
    for device in devices:
        if device.usable and "nvidia" in f"{device.name} {device.driver}".lower():
            found = _core._dlpack_cuda(device)
            how = f"not shared with CUDA: {found}" if isinstance(found, str) else f"shared with CUDA's device {found}"
            yield f"Arrays of device {device.index} are {how}."


def _advice(devices: list[Device]) -> Iterator[str]:
    """What to install, where something is missing that could be there."""
    nodes = driver_search.gpu_nodes()
    gpus = [device for device in devices if device.type in GPUS]
    if nodes and not gpus:
        yield f"There is a GPU ({nodes[0]}) without a Vulkan driver: install its vendor's, and the Vulkan loader."


def _probed(found: list[tuple[str, str]]) -> list[Driver]:
    """Open each driver in another process; one that ends it is left out and the others are opened in a new one."""
    drivers = [Driver(manifest, library, "" if library else _no_manifest(manifest)) for manifest, library in found]
    answers: dict[str, tuple[str, str, list[list[str]]]] = {}
    left = list(dict.fromkeys(driver.library for driver in drivers if driver.library))
    while left:
        said, ending = _run_probe(left)
        for library, answer in zip(left, said, strict=False):
            answers[library] = answer
        left = left[len(said) :]
        if left:
            answers[left[0]] = (left[0], ending, [])
            left = left[1:]
    made = []
    for driver in drivers:
        if driver.library:
            path, reason, devices = answers[driver.library]
            known = tuple((name, text, version) for name, text, version in devices)
            driver = dataclasses.replace(driver, library=path, reason=reason, devices=known)
        made.append(driver)
    return made


def _no_manifest(path: str) -> str:
    unlike = os.path.exists(path) and not os.path.isfile(path)
    return "it is no file: a FIFO makes the loader wait for ever" if unlike else "it is no manifest of a driver"


def _run_probe(libraries: list[str]) -> tuple[list[tuple[str, str, list[list[str]]]], str]:
    """What a process said of the first libraries, as far as it came, and how it ended."""
    command = [sys.executable, "-c", PROBE, *libraries]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
        output, ending = done.stdout, f"opening it ends the process with {_status(done.returncode)}"
    except subprocess.TimeoutExpired as error:
        text = error.stdout or b""
        output = text.decode(errors="replace") if isinstance(text, bytes) else text
        ending = f"opening it takes longer than {SECONDS} seconds"
    except OSError as error:
        output, ending = "", f"it could not be opened in another process: {error}"
    return [tuple(json.loads(line[7:])) for line in output.splitlines() if line.startswith("driver [")], ending
