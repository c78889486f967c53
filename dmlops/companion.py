"""Where dmlops-lavapipe is, the driver for the CPU that is a package of its own. driver_search asks."""

from __future__ import annotations

import importlib.util
import os

__all__ = ["NAME", "folder"]

NAME = "dmlops_lavapipe"


def folder() -> str:
    """Find the package's folder, which holds the driver and its manifest, without importing it.

    Returns
    -------
    str
        The folder; empty where the package is not installed.
    """
    try:
        spec = importlib.util.find_spec(NAME)
    except (ImportError, ValueError):  # ValueError: something else is in sys.modules under the name
        return ""
    return os.path.dirname(spec.origin) if spec and spec.origin else ""
