"""lavapipe, Mesa's Vulkan driver for CPUs, as one shared library that needs nothing but libc.

Importing this module loads nothing. A program gives `driver_path` to ``dlopen``, or `manifest_path` to a Vulkan loader.
"""

import importlib.metadata
import json
from pathlib import Path
from typing import Any

__all__ = ["__version__", "build_info", "driver_path", "licence_files", "manifest_path"]

#: Mesa's version, and the number of the build of it.
__version__ = "25.0.7.1"

_FOLDER = Path(__file__).resolve().parent


def driver_path() -> Path:
    """Return the path of the driver.

    Returns
    -------
    pathlib.Path
        A shared library that exports ``vk_icdGetInstanceProcAddr``, ``vk_icdNegotiateLoaderICDInterfaceVersion`` and
        ``vk_icdGetPhysicalDeviceProcAddr``, and no other symbol.
    """
    return _FOLDER / "libvulkan_lvp.so"


def manifest_path() -> Path:
    """Return the path of the driver's manifest, which a Vulkan loader reads.

    Returns
    -------
    pathlib.Path
        A JSON file, to be named in the environment variable ``VK_DRIVER_FILES``.
    """
    return _FOLDER / "lvp_icd.json"


def build_info() -> dict[str, Any]:
    """Return what the driver was built from.

    Returns
    -------
    dict
        ``mesa`` and ``llvm``, their versions; ``suite``, the Debian release whose compiler built it; ``patches``, the
        names of the changes to Mesa, in the order they were made.
    """
    info: dict[str, Any] = json.loads((_FOLDER / "build.json").read_text())
    return info


def licence_files() -> list[Path]:
    """Return the licences of all that is linked into the driver.

    Returns
    -------
    list of pathlib.Path
        Text files of the installed package.
    """
    files = importlib.metadata.files("dmlops-lavapipe") or []
    return sorted(Path(str(file.locate())) for file in files if "licences" in file.parts)
