"""Mesa's cache of compiled shaders: where the process has no place for it, Mesa is told so before it complains."""

from __future__ import annotations

import contextlib
import os

with contextlib.suppress(ImportError):  # expanduser imports it: not while a child is forked. Windows has none.
    import pwd  # noqa: F401

__all__ = ["VARIABLES", "leave_out_unusable"]

# Mesa obeys these before it looks for a folder.
VARIABLES = ("MESA_SHADER_CACHE_DISABLE", "MESA_GLSL_CACHE_DISABLE", "MESA_SHADER_CACHE_DIR", "MESA_GLSL_CACHE_DIR")


def leave_out_unusable() -> None:
    """Turn Mesa's cache off in this process if there is no place for it.

    Mesa would have no cache then, either, but would say so twice on standard error, whenever a device is opened.
    What the user has set is left alone, and so is ``os.environ``: a process that is started with a copy of it, and another
    home, has Mesa's cache.
    """
    if os.name == "posix" and not any(name in os.environ for name in VARIABLES) and not _usable():
        os.putenv("MESA_SHADER_CACHE_DISABLE", "true")


def _usable() -> bool:
    """Tell whether Mesa finds or makes its folder (disk_cache_generate_cache_dir in its sources)."""
    caches, home = os.environ.get("XDG_CACHE_HOME"), os.path.expanduser("~")
    made = [os.path.join(home, ".cache"), home] if caches is None else [caches]  # Mesa makes these, in their parent
    places = [*made, os.path.dirname(made[-1])]
    return _writable(os.path.join(made[0], "mesa_shader_cache_db")) or _writable(next(filter(os.path.lexists, places), ""))


def _writable(path: str) -> bool:
    return os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK)
