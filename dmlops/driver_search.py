"""Where dmlops looks for Vulkan drivers: the loader's manifests, and that of the companion. dmlops._core calls `search`."""

from __future__ import annotations

import contextlib
import glob
import json  # not at the first call: a child that is forked while another thread imports would wait for that thread
import os
import sys

from dmlops import companion

__all__ = ["VARIABLES", "gpu_nodes", "manifests", "search", "told_by"]

# The variables that tell the loader what to load. Where one is set the companion is left out.
VARIABLES = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES", "VK_INSTANCE_LAYERS")
GPU_NODES = ("/dev/dri/renderD*", "/dev/nvidia*", "/dev/kfd", "/dev/dxg")


def search() -> tuple[bytes, bytes, bool, bytes]:
    """Find out what is opened to find devices.

    Returns
    -------
    tuple of bytes, bytes, bool and bytes
        The library of a driver that is used without the loader, if any; the libraries of Mesa's CPU driver that the loader
        would open, one a line; whether the loader comes first, as it does where there may be a GPU; which of the variables
        is set that tell the loader what to load, if any.
    """
    driver, told = "", told_by()
    if not told:
        with contextlib.suppress(Exception):  # what is wrong with the companion, or with the import system, leaves it out
            driver = next((library for _, library in _in_path(companion.folder()) if library), "")
    lavapipe = [library for _, library in manifests() if os.path.basename(library).startswith("libvulkan_lvp")]
    loader_first = not sys.platform.startswith("linux") or bool(gpu_nodes())
    return os.fsencode(driver), os.fsencode("\n".join(lavapipe)), loader_first, os.fsencode(told[0] if told else "")


def told_by() -> list[str]:
    """List those of the variables that are set."""
    return [name for name in VARIABLES if os.environ.get(name)]


def gpu_nodes() -> list[str]:
    """List the files by which Linux shows this process a GPU. None is opened."""
    return [node for pattern in GPU_NODES for node in sorted(glob.glob(pattern))]


def manifests() -> list[tuple[str, str]]:
    """Find the manifests that the loader finds, small JSON files that name the drivers.

    Returns
    -------
    list of tuple of str
        The path of each manifest, and what it names: a path, or a file's name for the system to find; empty where it names
        nothing. None on Windows, whose loader looks into the registry.
    """
    if os.name == "nt":
        return []
    files = os.environ.get("VK_DRIVER_FILES", os.environ.get("VK_ICD_FILENAMES"))
    paths = _split(os.environ.get("VK_ADD_DRIVER_FILES") if files is None else files)
    if files is None:  # LoaderDriverInterface.md, "Driver Discovery on Linux"
        home = os.environ.get("HOME")
        paths += _folders("XDG_CONFIG_HOME", home, "/.config/vulkan/icd.d")
        paths += _folders("XDG_CONFIG_DIRS", "/etc/xdg", "/vulkan/icd.d")
        paths += ["/etc/vulkan/icd.d"]
        paths += _folders("XDG_DATA_HOME", home, "/.local/share/vulkan/icd.d")
        paths += _folders("XDG_DATA_DIRS", "/usr/local/share:/usr/share", "/vulkan/icd.d")
    return [found for path in paths for found in _in_path(path)]


def _split(paths: str | None, suffix: str = "") -> list[str]:
    return [path + suffix for path in (paths or "").split(":") if path]


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
    """A relative path begins at the manifest; a bare name is the dynamic linker's to find."""
    if not os.path.isfile(manifest):  # to open a FIFO would wait for ever
        return ""
    try:
        with open(manifest, "rb") as file:
            named = json.loads(file.read(1 << 16))["ICD"]["library_path"]
        os.fsencode(named)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return ""
    usable = isinstance(named, str) and "\0" not in named and "\n" not in named
    return (os.path.join(os.path.dirname(manifest), named) if "/" in named else named) if usable else ""
