"""Where dmlops looks for Vulkan drivers: the loader's manifests, and that of the companion. dmlops._core calls `search`.

Where the process has no place for Mesa's cache of compiled shaders, Mesa is told so before it complains.
"""

from __future__ import annotations

import contextlib
import glob
import importlib.util
import itertools
import json  # not at the first call: a child that is forked while another thread imports would wait for that thread
import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

with contextlib.suppress(ImportError):  # expanduser imports it: not while a child is forked. Windows has none.
    import pwd  # noqa: F401

__all__ = [
    "COMPANION",
    "VARIABLES",
    "companion",
    "elevated",
    "gpu_nodes",
    "manifests",
    "registered",
    "resolve",
    "search",
    "told_by",
]

COMPANION = "dmlops_lavapipe"  # the driver for the CPU that is a package of its own
# The variables that tell the loader what to load. Where one is set the companion is left out.
VARIABLES = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES", "VK_INSTANCE_LAYERS")
GPU_NODES = ("/dev/dri/renderD*", "/dev/nvidia*", "/dev/kfd", "/dev/dxg")
# Windows' registry: the classes of display adapters and of software components, and what belongs to no device.
CLASSES = r"SYSTEM\CurrentControlSet\Control\Class"
ADAPTERS = ("{4d36e968-e325-11ce-bfc1-08002be10318}", "{5c4c3332-344d-483c-8739-259e934c9cc8}")
OTHER_DRIVERS = r"SOFTWARE\Khronos\Vulkan\Drivers"
# Homebrew's loader looks here besides.
HOMEBREW = ("/opt/homebrew/etc", "/opt/homebrew/share", "/usr/local/etc")
# Mesa obeys these before it looks for a folder for its cache.
CACHE = ("MESA_SHADER_CACHE_DISABLE", "MESA_GLSL_CACHE_DISABLE", "MESA_SHADER_CACHE_DIR", "MESA_GLSL_CACHE_DIR")


def search() -> tuple[bytes, bytes, bool, bytes]:
    """Find out what is opened to find devices.

    Returns
    -------
    tuple of bytes, bytes, bool and bytes
        The library of a driver that is used without the loader, if any; the libraries of Mesa's CPU driver that the loader
        would open, one a line; whether the loader comes first, as it does where there may be a GPU; which of the variables
        is set that tell the loader what to load, if any.
    """
    _leave_out_unusable_cache()  # before a driver reads the environment
    driver, told = "", told_by()
    if not told:
        with contextlib.suppress(Exception):  # what is wrong with the companion, or with the import system, leaves it out
            driver = next((library for _, library in _in_path(companion()) if library), "")
    lavapipe = [library for _, library in manifests() if os.path.basename(library).startswith("libvulkan_lvp")]
    loader_first = not sys.platform.startswith("linux") or bool(gpu_nodes())
    return os.fsencode(driver), os.fsencode("\n".join(lavapipe)), loader_first, os.fsencode(told[0] if told else "")


def companion() -> str:
    """Find the folder of the companion, which holds the driver and its manifest, without importing it.

    Returns
    -------
    str
        The folder; empty where the package is not installed.
    """
    try:
        spec = importlib.util.find_spec(COMPANION)
    except (ImportError, ValueError):  # ValueError: something else is in sys.modules under the name
        return ""
    return os.path.dirname(spec.origin) if spec and spec.origin else ""


def told_by() -> list[str]:
    """List those of the variables that are set."""
    return [name for name in VARIABLES if os.environ.get(name)]


def gpu_nodes() -> list[str]:
    """List the files by which Linux shows this process a GPU. None is opened."""
    return [node for pattern in GPU_NODES for node in sorted(glob.glob(pattern))]


def elevated() -> bool:
    """Tell whether this process runs as Windows' administrator. The loader then takes no drivers from the environment."""
    if os.name != "nt":
        return False
    ctypes: Any = importlib.import_module("ctypes")  # with names that only Windows has
    return bool(ctypes.windll.shell32.IsUserAnAdmin())


def manifests() -> list[tuple[str, str]]:
    """Find the manifests that the loader finds, small JSON files that name the drivers.

    Returns
    -------
    list of tuple of str
        The path of each manifest, and what it names: a path, or a file's name for the system to find; empty where it names
        nothing.
    """
    files = os.environ.get("VK_DRIVER_FILES", os.environ.get("VK_ICD_FILENAMES"))
    paths = _split(os.environ.get("VK_ADD_DRIVER_FILES") if files is None else files)
    if files is None:
        paths += registered(importlib.import_module("winreg")) if os.name == "nt" else _usual_folders()
    return [found for path in paths for found in _in_path(path)]


def registered(winreg: Any) -> list[str]:
    """List the manifests that Windows' registry names (LoaderDriverInterface.md, "Driver Discovery on Windows").

    Parameters
    ----------
    winreg : module
        Python's module of that name.

    Returns
    -------
    list of str
        Their paths; a removed driver's are there, too.
    """
    machine = winreg.HKEY_LOCAL_MACHINE
    paths: list[str] = []
    for adapters in (rf"{CLASSES}\{name}" for name in ADAPTERS):
        for device in _entries(winreg, machine, adapters, winreg.EnumKey):
            with contextlib.suppress(OSError), winreg.OpenKey(machine, rf"{adapters}\{device}") as key:
                named, kind = winreg.QueryValueEx(key, "VulkanDriverName")
                paths += {winreg.REG_SZ: [named], winreg.REG_MULTI_SZ: named}.get(kind) or []
    for hive in (machine, winreg.HKEY_CURRENT_USER):
        paths += [name for name, disabled, _ in _entries(winreg, hive, OTHER_DRIVERS, winreg.EnumValue) if disabled == 0]
    return paths


def _entries(winreg: Any, hive: Any, key: str, read: Any) -> Iterator[Any]:
    """The keys, or the values, in a key of the registry; none if it cannot be read."""
    with contextlib.suppress(OSError), winreg.OpenKey(hive, key) as opened:
        for number in itertools.count():  # an OSError is the end
            yield read(opened, number)


def _usual_folders() -> list[str]:
    """LoaderDriverInterface.md, "Driver Discovery on Linux"; on macOS the same."""
    home = os.environ.get("HOME")
    paths = _folders("XDG_CONFIG_HOME", home, "/.config/vulkan/icd.d")
    paths += _folders("XDG_CONFIG_DIRS", "/etc/xdg", "/vulkan/icd.d")
    paths += ["/etc/vulkan/icd.d"]
    paths += [f"{folder}/vulkan/icd.d" for folder in HOMEBREW if sys.platform == "darwin"]
    paths += _folders("XDG_DATA_HOME", home, "/.local/share/vulkan/icd.d")
    return paths + _folders("XDG_DATA_DIRS", "/usr/local/share:/usr/share", "/vulkan/icd.d")


def _split(paths: str | None, suffix: str = "") -> list[str]:
    return [path + suffix for path in (paths or "").split(os.pathsep) if path]


def _folders(variable: str, fallback: str | None, suffix: str) -> list[str]:
    folders = os.environ.get(variable)
    return _split(folders, "/vulkan/icd.d") if folders else _split(fallback, suffix)


def _in_path(path: str) -> list[tuple[str, str]]:
    """A manifest, or all in a folder."""
    names = [path]
    if os.path.isdir(path) and not path.endswith(".json"):
        with contextlib.suppress(OSError):
            names = [os.path.join(path, name) for name in os.listdir(path)]
    return [(name, _library(name)) for name in names if name.endswith(".json") and os.path.exists(name)]


def _library(manifest: str) -> str:
    if not os.path.isfile(manifest):  # to open a FIFO would wait for ever
        return ""
    try:
        with open(manifest, "rb") as file:
            named = json.loads(file.read(1 << 16))["ICD"]["library_path"]
        os.fsencode(named)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return ""
    usable = isinstance(named, str) and "\0" not in named and "\n" not in named
    return resolve(manifest, named) if usable else ""


def resolve(manifest: str, named: str, path: ModuleType = os.path) -> str:
    """Find the library that a manifest names.

    Parameters
    ----------
    manifest : str
        The path of the manifest.
    named : str
        What it names: a relative path begins at the manifest, a bare name is the system's to find.
    path : module, optional
        The system's rules for paths: ``posixpath`` or ``ntpath``.

    Returns
    -------
    str
        A path, or the bare name.
    """
    return str(path.join(path.dirname(manifest), named)) if path.dirname(named) else named


def _leave_out_unusable_cache() -> None:
    """Turn Mesa's cache off in this process if there is no place for it.

    Mesa would have no cache then, either, but would say so twice on standard error, whenever a device is opened.
    What the user has set is left alone, and so is ``os.environ``: a process that is started with a copy of it, and another
    home, has Mesa's cache.
    """
    if os.name == "posix" and not any(name in os.environ for name in CACHE) and not _cache_is_usable():
        os.putenv("MESA_SHADER_CACHE_DISABLE", "true")


def _cache_is_usable() -> bool:
    """Tell whether Mesa finds or makes its folder (disk_cache_generate_cache_dir in its sources)."""
    caches, home = os.environ.get("XDG_CACHE_HOME"), os.path.expanduser("~")
    made = [os.path.join(home, ".cache"), home] if caches is None else [caches]  # Mesa makes these, in their parent
    places = [*made, os.path.dirname(made[-1])]
    return _writable(os.path.join(made[0], "mesa_shader_cache_db")) or _writable(next(filter(os.path.lexists, places), ""))


def _writable(path: str) -> bool:
    return os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK)
